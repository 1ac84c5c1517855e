//! This machine, as one that has no network but the lab: its probes are answered, never run.

use std::net::IpAddr;

use ghost_base::Timestamp;

/// What is printed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct ProgramOutput {
    /// Standard output.
    pub(super) out: Vec<u8>,
    /// Standard error.
    pub(super) err: String,
    /// The exit code.
    pub(super) exit: i32,
}

impl ProgramOutput {
    pub(super) fn printed(out: impl Into<String>) -> Self {
        Self { out: out.into().into_bytes(), err: String::new(), exit: 0 }
    }

    pub(super) fn failed(exit: i32, err: impl Into<String>) -> Self {
        let mut err = err.into();
        err.push('\n');
        Self { out: Vec::new(), err, exit }
    }
}

const LOOPBACK: &str = "1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN group default qlen 1000\n    \
link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00\n    inet 127.0.0.1/8 scope host lo\n       valid_lft forever preferred_lft forever\n";

/// Answers a command that asks this machine.
pub(super) fn answer(program: &str, words: &[String], now: Timestamp) -> ProgramOutput {
    let host = words.iter().rev().find(|word| !word.starts_with('-')).map_or("", String::as_str);
    let named = host.parse::<IpAddr>().is_err();
    match program {
        "ping" | "ping6" if named => {
            ProgramOutput::failed(2, format!("ping: {host}: Temporary failure in name resolution"))
        }
        "ping" | "ping6" => ProgramOutput::failed(2, "ping: connect: Network is unreachable"),
        "dig" | "delv" => ProgramOutput {
            out: b";; connection timed out; no servers could be reached\n".to_vec(),
            err: String::new(),
            exit: 9,
        },
        "nslookup" | "host" => ProgramOutput {
            out: b";; connection timed out; no servers could be reached\n\n".to_vec(),
            err: String::new(),
            exit: 1,
        },
        "getent" => ProgramOutput { out: Vec::new(), err: String::new(), exit: 2 },
        "traceroute" | "tracepath" | "mtr" | "tcptraceroute" => {
            ProgramOutput::failed(1, "connect: Network is unreachable")
        }
        "nc" | "ncat" | "netcat" => ProgramOutput::failed(1, "nc: connect: Network is unreachable"),
        "telnet" => {
            ProgramOutput::failed(1, "telnet: Unable to connect to remote host: Network is unreachable")
        }
        "curl" => ProgramOutput::failed(7, "curl: (7) Failed to connect: Network is unreachable"),
        "wget" => ProgramOutput::failed(4, "wget: failed: Network is unreachable."),
        "openssl" => ProgramOutput::failed(1, "connect: Network is unreachable"),
        "ssh" => ProgramOutput::failed(255, "ssh: connect to host: Network is unreachable"),
        "iperf" | "iperf3" | "qperf" => {
            ProgramOutput::failed(1, format!("{program}: Network is unreachable"))
        }
        "ip" => ip(words),
        "ifconfig" => ProgramOutput::printed(
            "lo: flags=73<UP,LOOPBACK,RUNNING>  mtu 65536\n        inet 127.0.0.1  netmask 255.0.0.0\n",
        ),
        "route" | "netstat" | "ss" | "arp" | "lsof" => ProgramOutput::default(),
        "date" => ProgramOutput::printed(format!("{now}\n")),
        "hostname" | "uname" => ProgramOutput::printed("ghost-lab\n"),
        "true" | "sleep" => ProgramOutput::default(),
        "echo" => ProgramOutput::printed(format!("{}\n", words.join(" "))),
        name => ProgramOutput::failed(
            127,
            format!("{name}: nothing runs on this machine: commands are answered by a lab"),
        ),
    }
}

fn ip(words: &[String]) -> ProgramOutput {
    let object = words.iter().find(|word| !word.starts_with('-')).map_or("", String::as_str);
    match object {
        "a" | "addr" | "address" | "l" | "link" => ProgramOutput::printed(LOOPBACK),
        "r" | "ro" | "route" if words.iter().any(|word| word == "get") => {
            ProgramOutput::failed(2, "RTNETLINK answers: Network is unreachable")
        }
        _ => ProgramOutput::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_a_route_reaches_nobody() {
        let now = Timestamp::from_millis(0);
        let ask = |text: &str| {
            let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
            let said = answer(&words[0], &words[1..], now);
            (said.exit, format!("{}{}", String::from_utf8(said.out).unwrap(), said.err))
        };
        assert_eq!(ask("ping -c 1 10.0.1.5"), (2, "ping: connect: Network is unreachable\n".to_owned()));
        assert_eq!(ask("ping web"), (2, "ping: web: Temporary failure in name resolution\n".to_owned()));
        assert_eq!(ask("dig example.com").0, 9);
        assert_eq!(ask("ip route get 10.0.1.5").0, 2);
        assert!(ask("ip addr").1.contains("127.0.0.1"));
        assert_eq!(ask("rm -rf /").0, 127);
    }
}
