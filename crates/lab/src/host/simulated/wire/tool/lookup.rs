//! `getent`, `nslookup`, `host`.

use std::fmt::Write as _;
use std::net::IpAddr;

use super::option::Options;
use crate::host::simulated::wire::net::{Net, SECOND};
use crate::host::simulated::world::{Called, World};

/// Looks into the databases of names; nothing where another one is asked for.
pub(super) fn getent(world: &mut World, machine: &str, argv: &[String]) -> Option<Called> {
    let base = argv.get(1).filter(|base| matches!(base.as_str(), "hosts" | "ahosts" | "ahostsv4"))?;
    let mut net = Net::new(world, machine, "getent");
    let mut out = String::new();
    let mut code = 0;
    for name in argv.iter().skip(2).take(64) {
        match net.resolve(name) {
            Ok(to) if base == "hosts" => {
                let _ = writeln!(out, "{:<15} {name}", to.to_string());
            }
            Ok(to) => {
                let to = to.to_string();
                let _ = writeln!(out, "{to:<15} STREAM {name}\n{to:<15} DGRAM  \n{to:<15} RAW    ");
            }
            Err(_) => code = 2,
        }
    }
    Some(Called { out, code, took: net.took(), ..Called::default() })
}

/// Asks a name server.
pub(super) fn nslookup(world: &mut World, machine: &str, argv: &[String]) -> Called {
    let words: Vec<&String> = argv.iter().skip(1).filter(|word| !word.starts_with('-')).collect();
    let Some(name) = words.first() else { return Called::default() };
    let server: Option<IpAddr> = words.get(1).and_then(|server| server.parse().ok());
    let mut net = Net::new(world, machine, "nslookup");
    let asked = net.ask(server, name, 1);
    let server = asked.server;
    let head = format!("Server:\t\t{server}\nAddress:\t{server}#53\n\n");
    let (out, code) = match (asked.code, asked.found.first()) {
        (Some(_), Some(found)) => {
            (format!("{head}Non-authoritative answer:\nName:\t{name}\nAddress: {found}\n\n"), 0)
        }
        (Some(why), None) => (format!("{head}** server can't find {name}: {why}\n\n"), 1),
        (None, _) => {
            net.passed += 15 * SECOND;
            let line = format!(";; communications error to {server}#53: timed out\n");
            (format!("{}\n;; no servers could be reached\n\n", line.repeat(3)), 1)
        }
    };
    net.passed += asked.line.round();
    Called { out, code, took: net.took(), ..Called::default() }
}

/// Asks a name server, in fewer words.
pub(super) fn host(world: &mut World, machine: &str, argv: &[String]) -> Called {
    let options = Options::read(argv, &["t=", "W=", "R=", "a", "v", "4", "6"]);
    let Some(name) = options.rest.first() else {
        return Called::failed(1, "Usage: host [-aCdilrTvVw] hostname [server]\n");
    };
    let server: Option<IpAddr> = options.rest.get(1).and_then(|server| server.parse().ok());
    let mut net = Net::new(world, machine, "host");
    let asked = net.ask(server, name, 1);
    let (out, code) = match (asked.code, asked.found.first()) {
        (Some(_), Some(found)) => (format!("{name} has address {found}\n"), 0),
        (Some("NXDOMAIN"), None) => (format!("Host {name} not found: 3(NXDOMAIN)\n"), 1),
        (Some(_), None) => (format!("Host {name} not found: 2(SERVFAIL)\n"), 1),
        (None, _) => {
            net.passed += 10 * SECOND;
            let line = format!(";; communications error to {}#53: timed out\n", asked.server);
            (format!("{}{line};; no servers could be reached\n", line), 1)
        }
    };
    net.passed += asked.line.round();
    Called { out, code, took: net.took(), ..Called::default() }
}
