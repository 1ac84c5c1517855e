//! Services: `systemctl`, `docker`, `fail2ban-client`.

use crate::host::simulated::world::{ProgramResult, World};

/// Services that are there, and whether they run in the beginning; some only with their package.
const UNITS: [(&str, bool, &str, &str); 10] = [
    ("ssh", true, "", "OpenBSD Secure Shell server"),
    ("sshd", true, "", "OpenBSD Secure Shell server"),
    ("walinuxagent", true, "", "Azure Linux Agent"),
    ("systemd-resolved", true, "", "Network Name Resolution"),
    ("systemd-networkd", true, "", "Network Configuration"),
    ("cron", true, "", "Regular background program processing daemon"),
    ("ufw", true, "", "Uncomplicated firewall"),
    ("nftables", false, "", "nftables"),
    ("docker", true, "docker.io", "Docker Application Container Engine"),
    ("fail2ban", true, "fail2ban", "Fail2Ban Service"),
];

fn unit(name: &str) -> &str {
    name.strip_suffix(".service").unwrap_or(name)
}

/// Whether a service runs; nothing where there is none of that name.
fn runs(world: &World, machine: &str, name: &str) -> Option<bool> {
    let guest = world.guests.get(machine)?;
    let (own, first, package, _) = UNITS.iter().find(|(own, ..)| *own == unit(name))?;
    let chains = guest.firewall.chain_names();
    // What left its chains is there, whoever put them.
    let traces = match *own {
        "fail2ban" => chains.iter().any(|chain| chain.starts_with("f2b-")),
        "docker" => chains.iter().any(|chain| chain.starts_with("DOCKER")),
        _ => false,
    };
    if guest.missing.contains(*package) && !traces {
        return None;
    }
    Some(guest.units.get(*own).copied().unwrap_or(*first))
}

/// Answers `systemctl` and `service`.
pub(super) fn systemctl(world: &mut World, machine: &str, program: &str, words: &[String]) -> ProgramResult {
    let mut named: Vec<&str> =
        words.iter().filter(|word| !word.starts_with('-')).map(String::as_str).collect();
    if program == "service" && named.len() > 1 {
        named.swap(0, 1);
    }
    let Some((verb, names)) = named.split_first() else { return ProgramResult::default() };
    let mut called = ProgramResult::default();
    if matches!(*verb, "daemon-reload" | "list-units" | "list-unit-files") {
        return called;
    }
    for name in names {
        let name = unit(name);
        let state = runs(world, machine, name);
        match (*verb, state) {
            ("is-active", state) => {
                let running = state == Some(true);
                called.out.push_str(if running { "active\n" } else { "inactive\n" });
                called.code = if running { 0 } else { 3 };
            }
            ("is-enabled", Some(_)) => called.out.push_str("enabled\n"),
            ("is-enabled", None) => {
                called.err.push_str(&format!(
                    "Failed to get unit file state for {name}.service: No such file or directory\n"
                ));
                called.code = 1;
            }
            ("status", None) => {
                called.err.push_str(&format!("Unit {name}.service could not be found.\n"));
                called.code = 4;
            }
            ("status", Some(running)) => {
                let about = UNITS.iter().find(|(own, ..)| *own == name).map_or("", |(.., about)| *about);
                let (dot, active) =
                    if running { ("●", "active (running)") } else { ("○", "inactive (dead)") };
                called.out.push_str(&format!("{dot} {name}.service - {about}\n     Loaded: loaded (/lib/systemd/system/{name}.service; enabled; vendor preset: enabled)\n     Active: {active}\n"));
                called.code = if running { 0 } else { 3 };
            }
            ("start" | "stop" | "restart" | "reload" | "enable" | "disable" | "mask" | "unmask", None) => {
                called
                    .err
                    .push_str(&format!("Failed to {verb} {name}.service: Unit {name}.service not found.\n"));
                called.code = 5;
            }
            ("start" | "stop" | "restart" | "reload", Some(_)) => {
                if let Some(guest) = world.guests.get_mut(machine) {
                    guest.units.insert(name.to_owned(), *verb != "stop");
                }
            }
            ("enable" | "disable" | "mask" | "unmask" | "show" | "cat", _) => {}
            (other, _) => {
                called.err.push_str(&format!("Unknown command verb {other}.\n"));
                called.code = 1;
            }
        }
    }
    called
}

/// Answers `docker`.
pub(super) fn docker(world: &World, machine: &str, words: &[String]) -> ProgramResult {
    if runs(world, machine, "docker") != Some(true) {
        return ProgramResult::failed(
            1,
            "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?\n",
        );
    }
    let words: Vec<&str> = words.iter().map(String::as_str).filter(|word| !word.starts_with('-')).collect();
    match words.as_slice() {
        ["ps", ..] => ProgramResult::printed(
            "CONTAINER ID   IMAGE          COMMAND                  CREATED       STATUS       PORTS     NAMES\n",
        ),
        ["network", "ls", ..] => ProgramResult::printed(
            "NETWORK ID     NAME      DRIVER    SCOPE\n3f1b2c4d5e6f   bridge    bridge    local\n8a9b0c1d2e3f   host      host      local\n7c6d5e4f3a2b   none      null      local\n",
        ),
        ["version" | "info", ..] => ProgramResult::printed("Server:\n Version: 24.0.7\n"),
        other => ProgramResult::failed(
            1,
            format!(
                "docker: '{}' is not a docker command.\nSee 'docker --help'\n",
                other.first().unwrap_or(&"")
            ),
        ),
    }
}

/// Answers `fail2ban-client`: what is banned is what stands in the chains of its jails.
pub(super) fn fail2ban(world: &mut World, machine: &str, words: &[String]) -> ProgramResult {
    if runs(world, machine, "fail2ban") != Some(true) {
        return ProgramResult::failed(
            255,
            "ERROR  Failed to access socket path: /var/run/fail2ban/fail2ban.sock. Is fail2ban running?\n",
        );
    }
    let Some(guest) = world.guests.get_mut(machine) else { return ProgramResult::default() };
    let jails: Vec<String> = guest
        .firewall
        .chain_names()
        .into_iter()
        .filter_map(|chain| chain.strip_prefix("f2b-").map(str::to_owned))
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["status"] => ProgramResult::printed(format!(
            "Status\n|- Number of jail:\t{}\n`- Jail list:\t{}\n",
            jails.len(),
            jails.join(", ")
        )),
        ["status", jail] if jails.iter().any(|own| own == jail) => {
            let banned = guest.firewall.sources(&format!("f2b-{jail}"));
            ProgramResult::printed(format!(
                "Status for the jail: {jail}\n|- Filter\n|  |- Currently failed:\t0\n|  |- Total failed:\t{}\n|  `- File list:\t/var/log/auth.log\n`- Actions\n   |- Currently banned:\t{}\n   |- Total banned:\t{}\n   `- Banned IP list:\t{}\n",
                banned.len() * 5,
                banned.len(),
                banned.len(),
                banned.join(" ")
            ))
        }
        ["set", jail, "unbanip", addresses @ ..] if jails.iter().any(|own| own == jail) => {
            let count = addresses
                .iter()
                .map(|address| guest.firewall.drop_source(&format!("f2b-{jail}"), address))
                .sum::<usize>();
            ProgramResult::printed(format!("{count}\n"))
        }
        ["unban", addresses @ ..] => {
            let mut count = 0;
            for jail in &jails {
                count += addresses
                    .iter()
                    .map(|address| guest.firewall.drop_source(&format!("f2b-{jail}"), address))
                    .sum::<usize>();
            }
            ProgramResult::printed(format!("{count}\n"))
        }
        ["status" | "set" | "get", jail, ..] => ProgramResult::failed(
            255,
            format!(
                "2026-01-01 00:00:00,000 fail2ban                [1901]: ERROR   NOK: ('{jail}',)\nSorry but the jail '{jail}' does not exist\n"
            ),
        ),
        ["ping"] => ProgramResult::printed("Server replied: pong\n"),
        ["version"] => ProgramResult::printed("0.11.2\n"),
        _ => ProgramResult::failed(255, "ERROR  NOK: ('Invalid command',)\n"),
    }
}
