//! `dig`.

use std::fmt::Write as _;
use std::net::IpAddr;

use super::option::Options;
use crate::host::simulated::wire::net::{Net, SECOND};
use crate::host::simulated::wire::path::NameLookup;
use crate::host::simulated::world::{ProgramResult, World};

struct DigArgs {
    name: String,
    server: Option<String>,
    kind: String,
    short: bool,
    patience: u64,
    tries: u64,
    words: String,
}

/// Asks a name server, and tells all of its answer.
pub(super) fn dig(world: &mut World, machine: &str, argv: &[String]) -> ProgramResult {
    let order = read(argv);
    let mut net = Net::new(world, machine, "dig");
    let server: Option<IpAddr> = match &order.server {
        None => None,
        Some(server) => match net.resolve(server) {
            Ok(server) => Some(server),
            Err(_) => {
                let err = format!("dig: couldn't get address for '{server}': not found\n");
                return ProgramResult { err, code: 10, took: net.took(), ..ProgramResult::default() };
            }
        },
    };
    let kind = match order.kind.as_str() {
        "AAAA" => 28,
        "MX" => 15,
        "NS" => 2,
        "TXT" => 16,
        _ => 1,
    };
    let mut asked = net.ask(server, &order.name, kind);
    for _ in 1..order.tries {
        if asked.code.is_some() {
            break;
        }
        net.passed += order.patience;
        asked = net.ask(server, &order.name, kind);
    }
    if asked.code.is_none() {
        net.passed += order.patience;
        let line = format!(";; communications error to {}#53: timed out\n", asked.server);
        let all = line.repeat(usize::try_from(order.tries).unwrap_or(1));
        let head = if order.short {
            String::new()
        } else {
            format!("\n; <<>> DiG 9.18.28 <<>> {}\n;; global options: +cmd\n", order.words)
        };
        let out = format!("{all}{head};; no servers could be reached\n");
        return ProgramResult { out, code: 9, took: net.took(), ..ProgramResult::default() };
    }
    let round = asked.line.round() + 300_000;
    net.passed += round;
    let id = net.chance.below(65_535);
    let out = if order.short { short(&asked, kind) } else { long(&order, &asked, kind, id, round) };
    ProgramResult { out, took: net.took(), ..ProgramResult::default() }
}

fn read(argv: &[String]) -> DigArgs {
    let mut order = DigArgs {
        name: ".".to_owned(),
        server: None,
        kind: "A".to_owned(),
        short: false,
        patience: 5 * SECOND,
        tries: 3,
        words: argv.iter().skip(1).take(32).cloned().collect::<Vec<_>>().join(" "),
    };
    let mut words = argv.iter().skip(1).take(64);
    while let Some(word) = words.next() {
        if let Some(server) = word.strip_prefix('@') {
            order.server = Some(server.to_owned());
        } else if let Some(option) = word.strip_prefix('+') {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            let number = value.parse::<u64>().ok().filter(|number| (1..=120).contains(number));
            match (name, number) {
                ("short", _) => order.short = true,
                ("time" | "timeout", Some(number)) => order.patience = number * SECOND,
                ("tries", Some(number)) => order.tries = number.min(10),
                ("retry", Some(number)) => order.tries = (number + 1).min(10),
                _ => {}
            }
        } else if matches!(word.as_str(), "-t" | "-q" | "-p" | "-b" | "-c" | "-x") {
            let value = words.next();
            match (word.as_str(), value) {
                ("-t", Some(kind)) => order.kind = kind.to_uppercase(),
                ("-q", Some(name)) => order.name.clone_from(name),
                _ => {}
            }
        } else if !word.starts_with('-') {
            let upper = word.to_uppercase();
            if matches!(upper.as_str(), "A" | "AAAA" | "MX" | "NS" | "TXT" | "SOA" | "ANY") {
                order.kind = upper;
            } else {
                order.name.clone_from(word);
            }
        }
    }
    order
}

fn fitting(asked: &NameLookup, kind: u16) -> impl Iterator<Item = &IpAddr> {
    asked.found.iter().filter(move |found| match kind {
        1 => found.is_ipv4(),
        28 => found.is_ipv6(),
        _ => false,
    })
}

fn short(asked: &NameLookup, kind: u16) -> String {
    fitting(asked, kind).map(|found| format!("{found}\n")).collect()
}

fn long(order: &DigArgs, asked: &NameLookup, kind: u16, id: u64, round: u64) -> String {
    let name = format!("{}.", order.name.trim_end_matches('.'));
    let count = fitting(asked, kind).count();
    let status = asked.code.unwrap_or("SERVFAIL");
    let mut out =
        format!("\n; <<>> DiG 9.18.28 <<>> {}\n;; global options: +cmd\n;; Got answer:\n", order.words);
    let _ = writeln!(out, ";; ->>HEADER<<- opcode: QUERY, status: {status}, id: {id}");
    let _ = writeln!(out, ";; flags: qr rd ra; QUERY: 1, ANSWER: {count}, AUTHORITY: 0, ADDITIONAL: 1\n");
    out.push_str(";; OPT PSEUDOSECTION:\n; EDNS: version: 0, flags:; udp: 1232\n;; QUESTION SECTION:\n");
    let _ = writeln!(out, ";{name:<23}\tIN\t{}\n", order.kind);
    if count > 0 {
        out.push_str(";; ANSWER SECTION:\n");
        for found in fitting(asked, kind) {
            let _ = writeln!(out, "{name:<24}60\tIN\t{}\t{found}", order.kind);
        }
        out.push('\n');
    }
    let server = asked.server;
    let _ =
        writeln!(out, ";; Query time: {} msec\n;; SERVER: {server}#53({server}) (UDP)\n", round / 1_000_000);
    out
}

/// Examines the databases of names; nothing where another one is asked for.
pub(super) fn getent(world: &mut World, machine: &str, argv: &[String]) -> Option<ProgramResult> {
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
    Some(ProgramResult { out, code, took: net.took(), ..ProgramResult::default() })
}

/// Asks a name server.
pub(super) fn nslookup(world: &mut World, machine: &str, argv: &[String]) -> ProgramResult {
    let words: Vec<&String> = argv.iter().skip(1).filter(|word| !word.starts_with('-')).collect();
    let Some(name) = words.first() else { return ProgramResult::default() };
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
    ProgramResult { out, code, took: net.took(), ..ProgramResult::default() }
}

/// Asks a name server, in fewer words.
pub(super) fn host(world: &mut World, machine: &str, argv: &[String]) -> ProgramResult {
    let options = Options::read(argv, &["t=", "W=", "R=", "a", "v", "4", "6"]);
    let Some(name) = options.rest.first() else {
        return ProgramResult::failed(1, "Usage: host [-aCdilrTvVw] hostname [server]\n");
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
    ProgramResult { out, code, took: net.took(), ..ProgramResult::default() }
}
