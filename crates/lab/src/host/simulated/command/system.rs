//! What a machine says about itself.

use super::socket::number;
use crate::host::simulated::guest::Backend;
use crate::host::simulated::world::{ProgramResult, World};

/// Answers; nothing where there is no such program.
pub(super) fn call(world: &mut World, machine: &str, name: &str, words: &[String]) -> Option<ProgramResult> {
    let first = words.first().map(String::as_str);
    Some(match name {
        "hostname" => match first {
            Some("-I" | "--all-ip-addresses") => {
                let nics = world.machine(machine).into_iter().flat_map(|machine| &machine.nics);
                let addresses: String =
                    nics.flat_map(|nic| &nic.addresses).map(|(address, _)| format!("{address} ")).collect();
                ProgramResult::printed(format!("{addresses}\n"))
            }
            _ => ProgramResult::printed(format!("{machine}\n")),
        },
        "uname" => match first {
            Some("-r") => ProgramResult::printed("5.15.0-1061-azure\n"),
            Some("-m" | "-p" | "-i") => ProgramResult::printed("x86_64\n"),
            Some("-n") => ProgramResult::printed(format!("{machine}\n")),
            Some("-a") => ProgramResult::printed(format!(
                "Linux {machine} 5.15.0-1061-azure #70-Ubuntu SMP x86_64 x86_64 x86_64 GNU/Linux\n"
            )),
            _ => ProgramResult::printed("Linux\n"),
        },
        "uptime" => {
            let seconds = world.now.as_millis().rem_euclid(86_400_000) / 1_000;
            ProgramResult::printed(format!(
                " {:02}:{:02}:{:02} up  2:00,  0 users,  load average: 0.00, 0.01, 0.00\n",
                seconds / 3_600,
                seconds / 60 % 60,
                seconds % 60
            ))
        }
        "whoami" => ProgramResult::printed("root\n"),
        "id" => ProgramResult::printed(match first {
            Some("-u" | "-g") => "0\n",
            Some("-un" | "-gn") => "root\n",
            _ => "uid=0(root) gid=0(root) groups=0(root)\n",
        }),
        "nproc" => ProgramResult::printed("2\n"),
        "ps" => {
            let mut out =
                "USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND\n".to_owned();
            let mut line = |pid: u32, what: &str| {
                out.push_str(&format!(
                    "root      {pid:>6}  0.0  0.2  15432  9012 ?        Ss   00:00   0:00 {what}\n"
                ))
            };
            line(1, "/sbin/init");
            line(712, "/usr/bin/python3 -u /usr/sbin/waagent -daemon");
            line(812, "sshd: /usr/sbin/sshd -D [listener] 0 of 10-100 startups");
            for service in world.stage.services.iter().filter(|service| service.machine == machine) {
                line(number(service), &service.program);
            }
            for process in world.guests.get(machine).into_iter().flat_map(|guest| &guest.processes) {
                line(process.pid, &process.argv.join(" "));
            }
            ProgramResult::printed(out)
        }
        "conntrack" => match first {
            Some("-L" | "--dump") => ProgramResult {
                err: "conntrack v1.4.6 (conntrack-tools): 0 flow entries have been shown.\n".to_owned(),
                ..ProgramResult::default()
            },
            Some("-C" | "--count") => ProgramResult::printed("0\n"),
            _ => ProgramResult::failed(2, "conntrack v1.4.6 (conntrack-tools): Bad parameter\n"),
        },
        "ipset" => match first {
            Some("list" | "-L" | "save" | "-S") => ProgramResult::default(),
            _ => ProgramResult::failed(1, "ipset v7.15: No command specified.\n"),
        },
        "ufw" => ProgramResult::printed("Status: inactive\n"),
        "dmesg" | "journalctl" | "bridge" | "arp" => ProgramResult::default(),
        "resolvectl" => ProgramResult::printed(
            "Global\n       Protocols: -LLMNR -mDNS -DNSOverTLS DNSSEC=no/unsupported\nresolv.conf mode: stub\n\nLink 2 (eth0)\n    Current Scopes: DNS\nCurrent DNS Server: 168.63.129.16\n       DNS Servers: 168.63.129.16\n        DNS Domain: internal.cloudapp.net\n",
        ),
        _ => return None,
    })
}

/// Answers `update-alternatives`.
pub(super) fn alternatives(world: &mut World, machine: &str, words: &[String]) -> ProgramResult {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let Some(guest) = world.guests.get_mut(machine) else { return ProgramResult::default() };
    let (verb, name) = match words.as_slice() {
        [verb, name, ..] => (*verb, *name),
        _ => {
            return ProgramResult::failed(
                2,
                "update-alternatives: error: need --display, --query, --list, --get-selections, --config, --set, --set-selections, --install, --remove, --all, --remove-all or --auto\n",
            );
        }
    };
    if !matches!(name, "iptables" | "ip6tables") {
        return ProgramResult::failed(2, format!("update-alternatives: error: no alternatives for {name}\n"));
    }
    let own = |backend| match backend {
        Backend::Nft => format!("/usr/sbin/{name}-nft"),
        Backend::Legacy => format!("/usr/sbin/{name}-legacy"),
    };
    match (verb, words.get(2)) {
        ("--set", Some(place)) => {
            let Some(backend) =
                [Backend::Nft, Backend::Legacy].into_iter().find(|backend| own(*backend) == *place)
            else {
                return ProgramResult::failed(
                    2,
                    format!(
                        "update-alternatives: error: alternative {place} for {name} not registered; not setting\n"
                    ),
                );
            };
            guest.backend = backend;
            ProgramResult::printed(format!(
                "update-alternatives: using {place} to provide /usr/sbin/{name} ({name}) in manual mode\n"
            ))
        }
        ("--query", _) => {
            let slaves = |end: &str| {
                format!(
                    "Slaves:\n {name}-restore /usr/sbin/{name}{end}-restore\n {name}-save /usr/sbin/{name}{end}-save\n"
                )
            };
            let status = if guest.backend == Backend::Nft { "auto" } else { "manual" };
            ProgramResult::printed(format!(
                "Name: {name}\nLink: /usr/sbin/{name}\n{}Status: {status}\nBest: /usr/sbin/{name}-nft\nValue: {}\n\nAlternative: /usr/sbin/{name}-legacy\nPriority: 10\n{}\nAlternative: /usr/sbin/{name}-nft\nPriority: 20\n{}",
                slaves(""),
                own(guest.backend),
                slaves("-legacy"),
                slaves("-nft")
            ))
        }
        ("--display" | "--list", _) => {
            ProgramResult::printed(format!("{}\n{}\n", own(Backend::Legacy), own(Backend::Nft)))
        }
        (other, _) => {
            ProgramResult::failed(2, format!("update-alternatives: error: unknown option '{other}'\n"))
        }
    }
}
