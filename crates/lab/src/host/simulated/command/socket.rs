//! `ss`, `netstat`, `lsof`, `kill`.

use crate::host::simulated::wire::{self, FirstPacket};
use crate::host::simulated::world::{ProgramResult, World};
use crate::host::stage::{Protocol, Service, TrafficFlow};

/// Somebody who listens.
struct Listener {
    protocol: Protocol,
    local: String,
    port: u16,
    program: String,
    pid: u32,
}

/// Returns the number of a service's program: it stays what it is when another one ends.
pub(super) fn number(service: &Service) -> u32 {
    let protocol = if service.protocol == Protocol::Udp { 70_000 } else { 0 };
    1_201 + protocol + u32::from(service.port)
}

fn listeners(world: &World, machine: &str) -> Vec<Listener> {
    let mut all = vec![
        Listener {
            protocol: Protocol::Udp,
            local: "127.0.0.53%lo".to_owned(),
            port: 53,
            program: "systemd-resolve".to_owned(),
            pid: 486,
        },
        Listener {
            protocol: Protocol::Tcp,
            local: "127.0.0.53%lo".to_owned(),
            port: 53,
            program: "systemd-resolve".to_owned(),
            pid: 486,
        },
        Listener {
            protocol: Protocol::Tcp,
            local: "0.0.0.0".to_owned(),
            port: 22,
            program: "sshd".to_owned(),
            pid: 812,
        },
    ];
    for service in world.stage.services.iter().filter(|service| service.machine == machine) {
        if service.protocol == Protocol::Icmp {
            continue;
        }
        all.push(Listener {
            protocol: service.protocol,
            local: service.address.map_or_else(|| "0.0.0.0".to_owned(), |address| address.to_string()),
            port: service.port,
            program: service.program.clone(),
            pid: number(service),
        });
    }
    for process in world.guests.get(machine).into_iter().flat_map(|guest| &guest.processes) {
        let program = process.argv.first().map_or("", |word| word.rsplit('/').next().unwrap_or(word));
        all.extend(process.listens.iter().map(|(protocol, port)| Listener {
            protocol: *protocol,
            local: "0.0.0.0".to_owned(),
            port: *port,
            program: program.to_owned(),
            pid: process.pid,
        }));
    }
    all
}

/// Returns the connections that a machine's own calls leave behind: closed ones wait, and those of which nobody answers go on trying.
fn connections(world: &World, machine: &str) -> Vec<String> {
    let flows: Vec<TrafficFlow> = world
        .stage
        .flows
        .iter()
        .filter(|flow| flow.machine == machine && flow.protocol == Protocol::Tcp)
        .cloned()
        .collect();
    if flows.is_empty() {
        return Vec::new();
    }
    // The look itself counts nowhere.
    let mut world = world.clone();
    let own = world.machine(machine).and_then(|machine| machine.nics.first()?.addresses.first().copied());
    let Some((own, _)) = own else { return Vec::new() };
    let mut lines = Vec::new();
    for (flow, port) in flows.iter().zip(45_100_u16..) {
        let state = match wire::reaches(&mut world, machine, flow.to, flow.protocol, flow.port) {
            FirstPacket::Open(_) => "TIME-WAIT",
            FirstPacket::Silent => "SYN-SENT",
            // A refused one is gone at once.
            FirstPacket::Refused => continue,
        };
        lines
            .push(format!("{state:<9} 0      0      {own:>18}:{port:<5} {:>13}:{:<5}\n", flow.to, flow.port));
    }
    lines
}

/// Answers `ss` and `netstat`.
pub(super) fn call(world: &World, machine: &str, words: &[String]) -> ProgramResult {
    let letters: String = words
        .iter()
        .filter(|word| word.starts_with('-'))
        .flat_map(|word| word.trim_start_matches('-').chars())
        .collect();
    let has = |letter: char, long: &str| letters.contains(letter) || words.iter().any(|word| word == long);
    let all = listeners(world, machine);
    if words.iter().any(|word| word == "-s" || word == "--summary") {
        let count = |protocol| all.iter().filter(|listener| listener.protocol == protocol).count();
        let (tcp, udp) = (count(Protocol::Tcp), count(Protocol::Udp));
        return ProgramResult::printed(format!(
            "Total: {}\nTCP:   {tcp} (estab 0, closed 0, orphaned 0, timewait 0)\n\nTransport Total     IP        IPv6\nRAW\t  0         0         0        \nUDP\t  {udp}         {udp}         0        \nTCP\t  {tcp}         {tcp}         0        \nINET\t  {}         {}         0        \nFRAG\t  0         0         0        \n\n",
            tcp + udp,
            tcp + udp,
            tcp + udp
        ));
    }
    let both = !has('t', "--tcp") && !has('u', "--udp");
    let (tcp, udp) = (both || has('t', "--tcp"), both || has('u', "--udp"));
    let only_established = !has('l', "--listening") && !has('a', "--all");
    let programs = has('p', "--processes");
    let wide = tcp && udp;
    let sport = words.iter().find_map(|word| {
        word.rsplit(':')
            .next()
            .filter(|_| word.contains(':'))?
            .trim_end_matches([')', ' '])
            .parse::<u16>()
            .ok()
    });
    let mut out = String::new();
    if !words.iter().any(|word| word.contains('H') && word.starts_with('-') && !word.starts_with("--")) {
        let first = if wide { "Netid " } else { "" };
        out.push_str(&format!(
            "{first}{:<6} {:<6} {:<6} {:>18}:{:<5} {:>13}:{:<5}{}\n",
            "State", "Recv-Q", "Send-Q", "Local Address", "Port", "Peer Address", "Port", "Process"
        ));
    }
    if tcp && !has('l', "--listening") && sport.is_none() {
        let first = if wide { format!("{:<6}", "tcp") } else { String::new() };
        let mut connections = connections(world, machine);
        // What is over is shown to whoever asks for all.
        connections.retain(|line| !only_established || !line.starts_with("TIME-WAIT"));
        out.extend(connections.into_iter().map(|line| format!("{first}{line}")));
    }
    for listener in &all {
        let chosen = match listener.protocol {
            Protocol::Tcp => tcp,
            Protocol::Udp => udp,
            Protocol::Icmp => false,
        };
        if only_established || !chosen || sport.is_some_and(|port| port != listener.port) {
            continue;
        }
        let (name, state, queue) =
            if listener.protocol == Protocol::Tcp { ("tcp", "LISTEN", 128) } else { ("udp", "UNCONN", 0) };
        let first = if wide { format!("{name:<6}") } else { String::new() };
        let users = if programs {
            format!("users:((\"{}\",pid={},fd=3))", listener.program, listener.pid)
        } else {
            String::new()
        };
        out.push_str(&format!(
            "{first}{state:<6} {:<6} {queue:<6} {:>18}:{:<5} {:>13}:{:<5}{users}\n",
            0, listener.local, listener.port, "0.0.0.0", "*"
        ));
    }
    ProgramResult::printed(out)
}

/// Answers `lsof -i :PORT`; of several ports each is asked for by its own option, as the program itself wants it.
pub(super) fn lsof(world: &World, machine: &str, words: &[String]) -> ProgramResult {
    let quiet =
        words.iter().any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains('t'));
    let mut ports = Vec::new();
    for word in words {
        let text = word.rsplit_once(':').map(|(_, ports)| ports);
        let Some(text) = text else { continue };
        for part in word.split(',').skip(1).chain(text.split(',').take(1)) {
            match part.trim_start_matches("tcp").trim_start_matches(':').parse::<u16>() {
                Ok(port) if !part.starts_with(':') => ports.push(port),
                _ => {
                    return ProgramResult::failed(
                        1,
                        format!("lsof: unacceptable port specification in: -i {word}\n"),
                    );
                }
            }
        }
    }
    let found: Vec<Listener> =
        listeners(world, machine).into_iter().filter(|listener| ports.contains(&listener.port)).collect();
    if found.is_empty() {
        return ProgramResult { code: 1, ..ProgramResult::default() };
    }
    let mut out = if quiet {
        String::new()
    } else {
        "COMMAND    PID USER   FD   TYPE DEVICE SIZE/OFF NODE NAME\n".to_owned()
    };
    for listener in found {
        if quiet {
            out.push_str(&format!("{}\n", listener.pid));
        } else {
            out.push_str(&format!(
                "{:<9} {:>4} root    3u  IPv4  21733      0t0  TCP *:{} (LISTEN)\n",
                listener.program.get(..9).unwrap_or(&listener.program),
                listener.pid,
                listener.port
            ));
        }
    }
    ProgramResult::printed(out)
}

/// Ends programs.
pub(super) fn kill(world: &mut World, machine: &str, name: &str, words: &[String]) -> ProgramResult {
    let named: Vec<&String> = words.iter().filter(|word| !word.starts_with('-')).collect();
    let services = &mut world.stage.services;
    let Some(guest) = world.guests.get_mut(machine) else { return ProgramResult::default() };
    if name == "pkill" {
        let before = guest.processes.len() + services.len();
        services.retain(|service| {
            service.machine != machine
                || !named.iter().any(|pattern| service.program.contains(pattern.as_str()))
        });
        guest.processes.retain(|process| {
            let line = process.argv.join(" ");
            !named.iter().any(|pattern| line.contains(pattern.as_str()))
        });
        return if guest.processes.len() + services.len() < before {
            ProgramResult::default()
        } else {
            ProgramResult { code: 1, ..ProgramResult::default() }
        };
    }
    let mut called = ProgramResult::default();
    for text in named {
        let Ok(pid) = text.parse::<u32>() else {
            called.err.push_str(&format!("bash: kill: {text}: arguments must be process or job IDs\n"));
            called.code = 1;
            continue;
        };
        let before = guest.processes.len() + services.len();
        guest.processes.retain(|process| process.pid != pid);
        services.retain(|service| service.machine != machine || number(service) != pid);
        if guest.processes.len() + services.len() == before {
            called.err.push_str(&format!("bash: kill: ({pid}) - No such process\n"));
            called.code = 1;
        }
    }
    called
}
