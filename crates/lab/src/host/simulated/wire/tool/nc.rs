//! `nc`, and the file that a shell opens to connect.

use std::fmt::Write as _;
use std::time::Duration;

use super::option::Options;
use crate::host::simulated::wire::journal::Exchange;
use crate::host::simulated::wire::net::{Net, SECOND};
use crate::host::simulated::world::{ProgramResult, World};
use crate::host::stage::Protocol;

/// A kernel tries for so long.
pub(super) const CONNECT_TIMEOUT: u64 = 134 * SECOND;
/// The most ports of a range.
const MAX_PORTS: usize = 1_024;

/// Tries connections.
pub(super) fn nc(world: &mut World, machine: &str, argv: &[String]) -> ProgramResult {
    let known = [
        "z", "v", "u", "n", "l", "k", "N", "4", "6", "d", "C", "h", "w=", "p=", "s=", "i=", "q=", "X=", "x=",
    ];
    let options = Options::read(argv, &known);
    if let Some(bad) = &options.unknown {
        return ProgramResult::failed(
            1,
            format!("nc: invalid option -- '{bad}'\nusage: nc [-46CDdFhklNnrStUuvZz] [destination] [port]\n"),
        );
    }
    if options.has(&["l"]) {
        return ProgramResult { took: Duration::from_secs(3_600), code: 143, ..ProgramResult::default() };
    }
    let [host, ports, ..] = options.rest.as_slice() else {
        return ProgramResult::failed(1, "usage: nc [-46CDdFhklNnrStUuvZz] [destination] [port]\n");
    };
    let Some(range) = range(ports) else {
        return ProgramResult::failed(1, format!("nc: port number invalid: {ports}\n"));
    };
    let mut net = Net::new(world, machine, "nc");
    let to = match net.resolve(host) {
        Ok(to) => to,
        Err(unresolved) => {
            let first = range.first().copied().unwrap_or(0);
            let err = format!("nc: getaddrinfo for host \"{host}\" port {first}: {}\n", unresolved.text);
            return ProgramResult { err, code: 1, took: net.took(), ..ProgramResult::default() };
        }
    };
    let shown = if *host == to.to_string() { host.clone() } else { format!("{host} ({to})") };
    let patience = options.seconds(&["w"]);
    let mut err = String::new();
    let mut code = 1;
    for port in range {
        let udp = options.has(&["u"]);
        let kind = if udp { "udp" } else { "tcp" };
        let trial = if udp { datagram(&mut net, to, port) } else { connect(&mut net, to, port, patience) };
        let line = match trial {
            Trial::Up => {
                code = 0;
                format!("Connection to {shown} {port} port [{kind}/{}] succeeded!\n", service(port, udp))
            }
            Trial::Refused if udp => continue,
            Trial::Refused => {
                format!("nc: connect to {shown} port {port} ({kind}) failed: Connection refused\n")
            }
            Trial::Silent if patience.is_some() => {
                format!("nc: connect to {shown} port {port} ({kind}) timed out: Operation now in progress\n")
            }
            Trial::Silent => {
                format!("nc: connect to {shown} port {port} ({kind}) failed: Connection timed out\n")
            }
        };
        if options.has(&["v"]) || !line.starts_with("Connection") && !options.has(&["z"]) {
            err.push_str(&line);
        }
    }
    ProgramResult { out: String::new(), err, code, took: net.took() }
}

/// What became of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trial {
    Up,
    Refused,
    Silent,
}

/// Tries a connection, and lets the time pass that it takes.
pub(super) fn connect(net: &mut Net<'_>, to: std::net::IpAddr, port: u16, patience: Option<u64>) -> Trial {
    let most = patience.unwrap_or(CONNECT_TIMEOUT).min(CONNECT_TIMEOUT);
    let outcome = net.tcp(to, port, Vec::new(), most).1.outcome;
    match (outcome.connected, outcome.refused) {
        (Some(took), _) => {
            net.passed += took;
            Trial::Up
        }
        (None, Some(took)) => {
            net.passed += took;
            Trial::Refused
        }
        (None, None) => {
            net.passed += most;
            Trial::Silent
        }
    }
}

fn datagram(net: &mut Net<'_>, to: std::net::IpAddr, port: u16) -> Trial {
    let line = net.line(to, Protocol::Udp, port);
    let act = Exchange::Datagram { request: vec![b'X'], answer: None, think: 0 };
    let refused = net.say(&line, act).outcome.refused.is_some();
    net.passed += SECOND;
    if refused { Trial::Refused } else { Trial::Up }
}

fn range(text: &str) -> Option<Vec<u16>> {
    let (low, high) = text.split_once('-').unwrap_or((text, text));
    let (low, high): (u16, u16) = (low.parse().ok()?, high.parse().ok()?);
    (low >= 1 && low <= high).then(|| (low..=high).take(MAX_PORTS).collect())
}

fn service(port: u16, udp: bool) -> &'static str {
    match port {
        22 if !udp => "ssh",
        25 if !udp => "smtp",
        53 => "domain",
        80 if !udp => "http",
        443 => "https",
        123 if udp => "ntp",
        3_306 if !udp => "mysql",
        3_389 => "ms-wbt-server",
        5_432 if !udp => "postgresql",
        6_379 if !udp => "redis",
        8_080 => "http-alt",
        _ => "*",
    }
}

/// Opens `/dev/tcp/HOST/PORT`.
pub(super) fn file(world: &mut World, machine: &str, argv: &[String]) -> ProgramResult {
    let (Some(host), Some(port)) = (argv.get(1), argv.get(2)) else {
        return ProgramResult::failed(1, "bash: /dev/tcp: No such file or directory\n");
    };
    let mut net = Net::new(world, machine, "tcp");
    let mut err = String::new();
    let text = match (net.resolve(host), port.parse::<u16>()) {
        (Ok(to), Ok(port)) => match connect(&mut net, to, port, None) {
            Trial::Up => return ProgramResult { took: net.took(), ..ProgramResult::default() },
            Trial::Refused => "Connection refused",
            Trial::Silent => "Connection timed out",
        },
        (Ok(_), Err(_)) => {
            let _ = writeln!(err, "bash: {port}: Servname not supported for ai_socktype");
            "Invalid argument"
        }
        (Err(unresolved), _) => {
            let _ = writeln!(err, "bash: {host}: {}", unresolved.text);
            "Invalid argument"
        }
    };
    if err.is_empty() {
        let _ = writeln!(err, "bash: connect: {text}");
    }
    let _ = writeln!(err, "bash: line 1: /dev/tcp/{host}/{port}: {text}");
    ProgramResult { out: String::new(), err, code: 1, took: net.took() }
}
