//! Packages: asked for, installed, removed.

use std::net::IpAddr;
use std::time::Duration;

use crate::host::simulated::wire;
use crate::host::simulated::world::{ProgramResult, World};
use crate::host::stage::Protocol;

/// Programs and their packages, with their versions.
const PACKAGES: [(&str, &str, &str); 8] = [
    ("iperf", "iperf", "2.1.5+dfsg1-1"),
    ("qperf", "qperf", "0.4.11-2"),
    ("tcpdump", "tcpdump", "4.99.1-3ubuntu0.2"),
    ("docker", "docker.io", "24.0.7-0ubuntu2~22.04.1"),
    ("fail2ban-client", "fail2ban", "0.11.2-6"),
    ("conntrack", "conntrack", "1:1.4.6-2build2"),
    ("ipset", "ipset", "7.15-1build1"),
    ("ethtool", "ethtool", "1:5.16-1ubuntu0.1"),
];

/// Returns the package of a program.
pub(super) fn of(program: &str) -> Option<&'static str> {
    PACKAGES.iter().find(|(own, ..)| *own == program).map(|(_, package, _)| *package)
}

/// Says its version, as the program does.
pub(super) fn version(program: &str) -> ProgramResult {
    match program {
        // Version 2 says it on standard error.
        "iperf" => ProgramResult {
            err: "iperf version 2.1.5 (3 December 2021) pthreads\n".to_owned(),
            ..ProgramResult::default()
        },
        _ => ProgramResult::printed("qperf 0.4.11\n"),
    }
}

/// Answers `apt-get` and `apt`.
pub(super) fn apt(world: &mut World, machine: &str, words: &[String]) -> ProgramResult {
    let named: Vec<&str> = words
        .iter()
        .filter(|word| !word.starts_with('-') && !word.contains('='))
        .map(String::as_str)
        .collect();
    let Some((verb, names)) = named.split_first() else {
        return ProgramResult::failed(1, "E: Invalid operation\n");
    };
    match *verb {
        "update" | "install" if !reaches(world, machine) => ProgramResult {
            out: "Ign:1 http://azure.archive.ubuntu.com/ubuntu jammy InRelease\nErr:1 http://azure.archive.ubuntu.com/ubuntu jammy InRelease\n  Could not connect to azure.archive.ubuntu.com:80 (20.106.104.242), connection timed out\nReading package lists...\n".to_owned(),
            err: "W: Failed to fetch http://azure.archive.ubuntu.com/ubuntu/dists/jammy/InRelease  Could not connect to azure.archive.ubuntu.com:80 (20.106.104.242), connection timed out\n".to_owned(),
            code: if *verb == "install" { 100 } else { 0 },
            took: Duration::from_secs(120),
        },
        "update" => ProgramResult {
            out: "Hit:1 http://azure.archive.ubuntu.com/ubuntu jammy InRelease\nReading package lists...\n".to_owned(),
            took: Duration::from_secs(4),
            ..ProgramResult::default()
        },
        "install" | "remove" | "purge" => change(world, machine, *verb == "install", names),
        "upgrade" | "autoremove" | "clean" | "autoclean" => {
            ProgramResult::printed("Reading package lists...\nBuilding dependency tree...\nReading state information...\n0 upgraded, 0 newly installed, 0 to remove and 0 not upgraded.\n")
        }
        other => ProgramResult::failed(100, format!("E: Invalid operation {other}\n")),
    }
}

fn change(world: &mut World, machine: &str, install: bool, names: &[&str]) -> ProgramResult {
    let Some(guest) = world.guests.get_mut(machine) else { return ProgramResult::default() };
    let mut out =
        "Reading package lists...\nBuilding dependency tree...\nReading state information...\n".to_owned();
    let base = [
        "iproute2",
        "iptables",
        "nftables",
        "curl",
        "netcat-openbsd",
        "dnsutils",
        "lsof",
        "net-tools",
        "python3",
    ];
    if let Some(unknown) = names
        .iter()
        .find(|name| !base.contains(name) && !PACKAGES.iter().any(|(_, package, _)| package == *name))
    {
        return ProgramResult {
            out,
            err: format!("E: Unable to locate package {unknown}\n"),
            code: 100,
            ..ProgramResult::default()
        };
    }
    let mut changed = 0;
    let mut took = Duration::from_secs(1);
    for name in names {
        let version = PACKAGES.iter().find(|(_, package, _)| package == name).map(|(.., version)| *version);
        let Some(version) = version else {
            out.push_str(&format!("{name} is already the newest version.\n"));
            continue;
        };
        let there = !guest.missing.contains(*name);
        if there == install {
            out.push_str(&if install {
                format!("{name} is already the newest version ({version}).\n")
            } else {
                format!("Package '{name}' is not installed, so not removed\n")
            });
            continue;
        }
        changed += 1;
        took += Duration::from_secs(6);
        if install {
            guest.missing.remove(*name);
            out.push_str(&format!("The following NEW packages will be installed:\n  {name}\nSelecting previously unselected package {name}.\nUnpacking {name} ({version}) ...\nSetting up {name} ({version}) ...\n"));
        } else {
            guest.missing.insert((*name).to_owned());
            out.push_str(&format!(
                "The following packages will be REMOVED:\n  {name}\nRemoving {name} ({version}) ...\n"
            ));
        }
    }
    let (new, gone) = if install { (changed, 0) } else { (0, changed) };
    out.push_str(&format!("0 upgraded, {new} newly installed, {gone} to remove and 0 not upgraded.\n"));
    ProgramResult { out, took, ..ProgramResult::default() }
}

/// Whether the machine finds those who have packages, and hears their answers.
fn reaches(world: &mut World, machine: &str) -> bool {
    let open = |world: &mut World, to: [u8; 4], protocol, port| {
        matches!(wire::reaches(world, machine, IpAddr::from(to), protocol, port), wire::FirstPacket::Open(_))
    };
    open(world, [168, 63, 129, 16], Protocol::Udp, 53) && open(world, [20, 106, 104, 242], Protocol::Tcp, 80)
}
