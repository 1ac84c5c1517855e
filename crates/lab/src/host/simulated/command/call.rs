//! Which command answers to which name.

use super::{file, iptables, link, nft, package, route, socket, system, tc, unit};
use crate::host::simulated::world::{ProgramResult, World};
use crate::host::stage::Protocol;

/// Programs that are there from the beginning, with their folders.
const SBIN: [&str; 26] = [
    "arp",
    "bridge",
    "conntrack",
    "ethtool",
    "ifconfig",
    "ip",
    "ip6tables",
    "ip6tables-legacy",
    "ip6tables-legacy-save",
    "ip6tables-nft",
    "ip6tables-restore",
    "ip6tables-save",
    "ipset",
    "iptables",
    "iptables-legacy",
    "iptables-legacy-save",
    "iptables-nft",
    "iptables-nft-save",
    "iptables-restore",
    "iptables-save",
    "nft",
    "sysctl",
    "tc",
    "tcpdump",
    "ufw",
    "dmesg",
];
const BIN: [&str; 28] = [
    "apt",
    "apt-get",
    "curl",
    "dig",
    "getent",
    "host",
    "hostname",
    "id",
    "journalctl",
    "kill",
    "lsof",
    "nc",
    "netstat",
    "nproc",
    "nslookup",
    "ping",
    "pkill",
    "ps",
    "python3",
    "resolvectl",
    "ss",
    "systemctl",
    "tracepath",
    "uname",
    "update-alternatives",
    "uptime",
    "whoami",
    "bash",
];

/// Answers a command that reads or changes a machine; nothing where there is none of that name.
pub(super) fn call(world: &mut World, machine: &str, argv: &[String], input: &str) -> Option<ProgramResult> {
    let (program, words) = argv.split_first()?;
    let name = program.rsplit('/').next().unwrap_or(program);
    if let Some(tool) = iptables::Tool::named(name, world.guests.get(machine)?.backend) {
        return Some(iptables::call(world, machine, tool, words, input));
    }
    Some(match name {
        "nft" => nft::call(world, machine, words, input),
        "tc" => tc::call(world, machine, words),
        "ip" => match words.iter().find(|word| !word.starts_with('-')).map(String::as_str) {
            Some(word) if "route".starts_with(word) || word == "routel" => route::call(world, machine, words),
            Some("rule" | "ru") => route::rules(words),
            _ => link::call(world, machine, words),
        },
        "ethtool" => link::ethtool(words),
        "ss" | "netstat" => socket::call(world, machine, words),
        "lsof" => socket::lsof(world, machine, words),
        "kill" | "pkill" => socket::kill(world, machine, name, words),
        "apt-get" | "apt" => package::apt(world, machine, words),
        "systemctl" | "service" => unit::systemctl(world, machine, name, words),
        "docker" => unit::docker(world, machine, words),
        "fail2ban-client" => unit::fail2ban(world, machine, words),
        "sysctl" => file::sysctl(world, machine, words),
        "update-alternatives" => system::alternatives(world, machine, words),
        "timeout" => return timeout(world, machine, words, input),
        "iperf" | "qperf" if matches!(words.first().map(String::as_str), Some("-v" | "--version" | "-V")) => {
            package::version(name)
        }
        _ => return system::call(world, machine, name, words),
    })
}

/// Runs a program that is ended after a time; of what it prints line by line its share is there.
fn timeout(world: &mut World, machine: &str, words: &[String], input: &str) -> Option<ProgramResult> {
    let (time, argv) = words.split_first()?;
    let limit = crate::host::script::duration(time)?;
    let mut called = crate::host::simulated::wire::call(world, machine, argv, input)
        .or_else(|| call(world, machine, argv, input))?;
    if called.took > limit {
        let lines: Vec<&str> = called.out.split_inclusive('\n').collect();
        let share = limit.as_secs_f64() / called.took.as_secs_f64().max(1e-9);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a share of a count"
        )]
        let kept = (lines.len() as f64 * share) as usize;
        called.out = lines.iter().take(kept).copied().collect();
        (called.took, called.code) = (limit, 124);
        called.err.clear();
    }
    Some(called)
}

/// Says where a program lies on a machine.
pub(super) fn find(world: &World, machine: &str, program: &str) -> Option<String> {
    let guest = world.guests.get(machine)?;
    if let Some(package) = package::of(program) {
        return (!guest.missing.contains(package)).then(|| {
            if program == "tcpdump" { format!("/usr/sbin/{program}") } else { format!("/usr/bin/{program}") }
        });
    }
    if SBIN.contains(&program) {
        return Some(format!("/usr/sbin/{program}"));
    }
    BIN.contains(&program).then(|| format!("/usr/bin/{program}"))
}

/// Whether a machine lacks a program that it could have.
pub(super) fn lacks(world: &World, machine: &str, program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    package::of(name)
        .is_some_and(|package| world.guests.get(machine).is_some_and(|guest| guest.missing.contains(package)))
}

/// Returns a file that is made up as it is read.
pub(super) fn read(world: &World, machine: &str, path: &str) -> Option<String> {
    file::read(world, machine, path)
}

/// Says where a program listens that was started with these words.
pub(super) fn listens(argv: &[String]) -> Vec<(Protocol, u16)> {
    let program = argv.first().map_or("", |program| program.rsplit('/').next().unwrap_or(program));
    let after = |flag: &str| {
        let at = argv.iter().position(|word| word == flag)?;
        argv.get(at + 1)?.parse::<u16>().ok()
    };
    let has = |flag: &str| {
        argv.iter().any(|word| {
            word == flag
                || word.starts_with('-')
                    && !word.starts_with("--")
                    && word.contains(flag.trim_start_matches('-'))
        })
    };
    match program {
        "qperf" => vec![(Protocol::Tcp, after("-lp").or_else(|| after("--listen_port")).unwrap_or(19_765))],
        "iperf" if has("-s") => {
            vec![(if has("-u") { Protocol::Udp } else { Protocol::Tcp }, after("-p").unwrap_or(5_001))]
        }
        "nc" | "ncat" if has("-l") => {
            let port = after("-p").or_else(|| argv.iter().skip(1).find_map(|word| word.parse().ok()));
            port.map(|port| (if has("-u") { Protocol::Udp } else { Protocol::Tcp }, port))
                .into_iter()
                .collect()
        }
        "python3" | "python" if argv.iter().any(|word| word == "http.server") => {
            let port = argv.iter().find_map(|word| word.parse().ok()).unwrap_or(8_000);
            vec![(Protocol::Tcp, port)]
        }
        _ => Vec::new(),
    }
}
