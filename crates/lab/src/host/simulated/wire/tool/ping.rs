//! `ping`.

use std::fmt::Write as _;

use super::option::Options;
use crate::host::simulated::wire::conversation::{Echo, PacketKind};
use crate::host::simulated::wire::journal::Exchange;
use crate::host::simulated::wire::net::{Net, SECOND};
use crate::host::simulated::wire::path::{Line, Location, location};
use crate::host::simulated::world::{ProgramResult, World};
use crate::host::stage::{Oddity, Protocol};

/// The most echoes; without a number a person would have pressed Ctrl-C.
const MAX_ECHOES: u64 = 2_000;
/// The path is computed anew for this many echoes; then it is known.
const ECHOES_PER_PATH: u64 = 40;

const KNOWN_OPTIONS: [&str; 26] = [
    "c=", "i=", "W=", "w=", "s=", "M=", "I=", "t=", "Q=", "p=", "l=", "m=", "S=", "T=", "n", "q", "v", "4",
    "6", "D", "A", "O", "b", "f", "R", "r",
];

/// Asks for echoes.
pub(super) fn ping(world: &mut World, machine: &str, argv: &[String]) -> ProgramResult {
    let options = Options::read(argv, &KNOWN_OPTIONS);
    if let Some(bad) = &options.unknown {
        return ProgramResult::failed(
            2,
            format!("ping: invalid option -- '{bad}'\n\nUsage\n  ping [options] <destination>\n"),
        );
    }
    if let Some(bad) = &options.incomplete {
        return ProgramResult::failed(2, format!("ping: option requires an argument -- '{bad}'\n"));
    }
    let Some(host) = options.rest.last() else {
        return ProgramResult::failed(1, "ping: usage error: Destination address required\n");
    };
    let size = match options.text(&["s"]).map(str::parse::<u32>) {
        None => 56,
        Some(Ok(size)) if size <= 65_507 => size,
        Some(Ok(_) | Err(_)) => {
            let given = options.text(&["s"]).unwrap_or_default();
            return ProgramResult::failed(
                1,
                format!("ping: invalid argument: '{given}': out of range: 0 <= value <= 127992\n"),
            );
        }
    };
    for (name, lowest) in [("c", 1), ("i", 0), ("W", 0)] {
        let bad = options
            .text(&[name])
            .filter(|text| text.parse::<f64>().is_ok_and(|value| value >= f64::from(lowest)).eq(&false));
        if let Some(bad) = bad {
            return ProgramResult::failed(1, format!("ping: invalid argument: '{bad}'\n"));
        }
    }
    let mut net = Net::new(world, machine, "ping");
    let to = match net.resolve(host) {
        Ok(to) => to,
        Err(unresolved) => {
            let err = format!("ping: {host}: {}\n", unresolved.text);
            return ProgramResult { code: 2, err, took: net.took(), ..ProgramResult::default() };
        }
    };
    let line = net.line(to, Protocol::Icmp, 0);
    let leads = net.world.guests.get(machine).is_none_or(|guest| {
        line.there.local || to.is_ipv6() || guest.route(to).is_some_and(|route| route.kind.is_empty())
    });
    if line.near.address.is_unspecified() || !leads {
        return ProgramResult {
            took: net.took(),
            ..ProgramResult::failed(2, "ping: connect: Network is unreachable\n")
        };
    }
    let mut run = Run {
        count: options
            .number(&["c"])
            .unwrap_or(if options.has(&["w"]) { MAX_ECHOES } else { 10 })
            .min(MAX_ECHOES),
        every: options.seconds(&["i"]).unwrap_or(SECOND).max(2_000_000),
        wait: options.seconds(&["W"]).unwrap_or(10 * SECOND),
        until: options.seconds(&["w"]),
        size,
        whole: options.text(&["M"]) == Some("do"),
        quiet: options.has(&["q"]),
        shown: if *host == to.to_string() { host.clone() } else { format!("{host} ({to})") },
        out: format!("PING {host} ({to}) {size}({}) bytes of data.\n", size + 28),
        err: String::new(),
        sent: 0,
        errors: 0,
        times: Vec::new(),
        last: 0,
        known: None,
    };
    run.begin(&mut net, &line);
    let (took, code) = run.end(host, net.passed);
    net.passed = took;
    ProgramResult { out: run.out, err: run.err, code, took: net.took() }
}

struct Run {
    count: u64,
    every: u64,
    wait: u64,
    until: Option<u64>,
    size: u32,
    whole: bool,
    quiet: bool,
    shown: String,
    out: String,
    err: String,
    sent: u64,
    errors: u64,
    /// How long answers took.
    times: Vec<u64>,
    /// When the last answer came.
    last: u64,
    /// The largest packet that a router reported.
    known: Option<u32>,
}

impl Run {
    fn begin(&mut self, net: &mut Net<'_>, first: &Line) {
        let begin = net.passed;
        let id = u16::try_from(1 + net.chance.below(60_000)).unwrap_or(1);
        let to = first.far.address;
        let mut line = first.clone();
        for number in 1..=self.count {
            net.passed = begin + (number - 1) * self.every;
            if self.until.is_some_and(|until| net.passed - begin >= until) {
                break;
            }
            if number > 1 && number <= ECHOES_PER_PATH {
                line = net.line(to, Protocol::Icmp, 0);
            }
            self.sent += 1;
            self.once(net, &line, id, number);
        }
        net.passed = begin + (self.sent.saturating_sub(1)) * self.every;
    }

    fn once(&mut self, net: &mut Net<'_>, line: &Line, id: u16, number: u64) {
        let most = self.known.unwrap_or(u32::MAX).min(if line.there.local { 65_536 } else { line.near.mtu });
        if self.whole && self.size + 28 > most {
            self.errors += 1;
            let _ = writeln!(self.err, "ping: local error: message too long, mtu={most}");
            return;
        }
        let short = u16::try_from(number & 0xffff).unwrap_or(0);
        let mut line = line.clone();
        // What may be cut on the path is not too large for it.
        line.narrow = line.narrow.filter(|_| self.whole);
        let transcript = net.say(&line, Exchange::Echo(Echo { id, number: short, size: self.size }));
        if line
            .there
            .fall
            .is_some_and(|fall| matches!(fall, crate::host::simulated::wire::path::DropPoint::Sender(_)))
        {
            self.errors += 1;
            self.err.push_str("ping: sendmsg: Operation not permitted\n");
            return;
        }
        let copies = transcript.seen.iter().filter(|seen| {
            matches!(seen.what, PacketKind::Echo { answers: true, .. }) && seen.near.is_some() && !seen.broken
        });
        let copies = copies.count();
        if let Some(took) = transcript.outcome.done {
            // Programs are woken up, which takes its time in a guest.
            let woken = if line.there.local {
                25_000.0
            } else if number == 1 {
                900_000.0
            } else {
                420_000.0
            };
            let took = took + whole(net.chance.between(0.3, 1.0) * woken);
            if took > self.wait.max(SECOND) {
                return;
            }
            self.times.push(took);
            self.last = self.last.max(net.passed + took);
            if self.quiet {
                return;
            }
            let life = life(&line);
            for copy in 0..copies.max(1) {
                let twice = if copy > 0 { " (DUP!)" } else { "" };
                let _ = writeln!(
                    self.out,
                    "{} bytes from {}: icmp_seq={number} ttl={life} time={} ms{twice}",
                    self.size + 8,
                    self.shown,
                    millis(took)
                );
            }
            return;
        }
        let output = transcript.seen.iter().find_map(|seen| match (&seen.what, seen.near) {
            (PacketKind::Error { code, mtu, .. }, Some(_)) => Some((*code, *mtu)),
            (
                PacketKind::Error { .. } | PacketKind::Tcp(_) | PacketKind::Udp(_) | PacketKind::Echo { .. },
                _,
            ) => None,
        });
        let Some((code, mtu)) = output else { return };
        self.errors += 1;
        if code == 4 {
            let heeded = line.narrow.is_some_and(|(_, heeded)| heeded);
            self.known = self.known.or(Some(u32::from(mtu)).filter(|_| heeded));
            let from = router(&line);
            let _ = writeln!(self.out, "From {from} icmp_seq={number} Frag needed and DF set (mtu = {mtu})");
        } else {
            let _ = writeln!(self.out, "From {} icmp_seq={number} {}", line.far.address, reason(code));
        }
    }

    /// Writes the statistics; returns how long all took and the exit code.
    fn end(&mut self, host: &str, passed: u64) -> (u64, u8) {
        let received = self.times.len() as u64;
        let lost = self.sent.saturating_sub(received);
        let total = passed + u64::from(self.sent > 1) * 1_000_000 * self.sent.min(24);
        let _ = write!(
            self.out,
            "\n--- {host} ping statistics ---\n{} packets transmitted, {received} received",
            self.sent
        );
        if self.errors > 0 {
            let _ = write!(self.out, ", +{} errors", self.errors);
        }
        let _ = writeln!(self.out, ", {}% packet loss, time {}ms", share(lost, self.sent), total / 1_000_000);
        let took = if received < self.sent { passed + self.wait.max(SECOND) } else { self.last.max(passed) };
        if self.times.is_empty() {
            self.out.push('\n');
            return (took, 1);
        }
        let sum: u64 = self.times.iter().sum();
        let mean = sum / received;
        let low = self.times.iter().min().copied().unwrap_or(0);
        let high = self.times.iter().max().copied().unwrap_or(0);
        let _ = writeln!(
            self.out,
            "rtt min/avg/max/mdev = {}/{}/{}/{} ms",
            three(low),
            three(mean),
            three(high),
            three(deviation(&self.times, mean))
        );
        (took, 0)
    }
}

/// The address of the router that knows how little a path carries.
fn router(line: &Line) -> std::net::IpAddr {
    match line.near.address {
        std::net::IpAddr::V4(address) => {
            let [a, b, c, _] = address.octets();
            [a, b, c, 1].into()
        }
        other @ std::net::IpAddr::V6(_) => other,
    }
}

fn life(line: &Line) -> u8 {
    match &line.there.arrives {
        Some(Location::ExternalHost(outside)) => 64 - outside.hops.min(40),
        Some(
            Location::Machine { .. }
            | Location::Platform
            | Location::Endpoint(_)
            | Location::AppGateway(_)
            | Location::Bastion
            | Location::Nobody,
        )
        | None => 64_u8.saturating_sub(u8::try_from(line.back.hops.len()).unwrap_or(0)),
    }
}

fn share(part: u64, whole: u64) -> String {
    if whole == 0 || (part * 100).is_multiple_of(whole) {
        return (part * 100).checked_div(whole).unwrap_or(0).to_string();
    }
    let text = format!("{:.4}", exact(part * 100) / exact(whole));
    text.trim_end_matches('0').to_owned()
}

fn deviation(times: &[u64], mean: u64) -> u64 {
    let squares: f64 = times.iter().map(|time| exact(time.abs_diff(mean)).powi(2)).sum();
    whole((squares / exact(times.len() as u64)).sqrt())
}

/// Milliseconds with three digits that matter, as ping writes them.
fn millis(time: u64) -> String {
    let millis = exact(time) / 1e6;
    match millis {
        _ if millis >= 100.0 => format!("{millis:.0}"),
        _ if millis >= 10.0 => format!("{millis:.1}"),
        _ if millis >= 1.0 => format!("{millis:.2}"),
        _ => format!("{millis:.3}"),
    }
}

fn three(time: u64) -> String {
    format!("{:.3}", exact(time) / 1e6)
}

#[expect(clippy::cast_precision_loss, reason = "times and counts are far below what is exact")]
fn exact(number: u64) -> f64 {
    number as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "times are small and not negative"
)]
fn whole(time: f64) -> u64 {
    time as u64
}

/// Says why something cannot be reached, as the program does.
fn reason(code: u8) -> &'static str {
    match code {
        0 => "Destination Net Unreachable",
        1 => "Destination Host Unreachable",
        2 => "Destination Protocol Unreachable",
        9 => "Destination Net Prohibited",
        10 => "Destination Host Prohibited",
        13 => "Packet filtered",
        _ => "Destination Port Unreachable",
    }
}

/// Asks who has an address.
pub(super) fn arping(world: &mut World, machine: &str, argv: &[String]) -> ProgramResult {
    let options = Options::read(argv, &["c=", "w=", "I=", "s=", "i=", "D", "U", "A", "q", "f", "b"]);
    let Some(host) = options.rest.first() else {
        return ProgramResult::failed(2, "Usage: arping [options] <destination>\n");
    };
    let mut net = Net::new(world, machine, "arping");
    let Ok(to) = net.resolve(host) else {
        return ProgramResult {
            took: net.took(),
            ..ProgramResult::failed(2, format!("arping: {host}: Name or service not known\n"))
        };
    };
    let line = net.line(to, Protocol::Icmp, 0);
    let count = options.number::<u64>(&["c"]).unwrap_or(3).clamp(1, 100);
    let mut stations: Vec<String> = net
        .world
        .stage
        .oddities
        .iter()
        .filter_map(|oddity| match oddity {
            Oddity::ArpConflict { address, mac } if *address == to => {
                Some(mac.replace('-', ":").to_uppercase())
            }
            Oddity::ArpConflict { .. }
            | Oddity::PathMtu { .. }
            | Oddity::Dns { .. }
            | Oddity::Asymmetric { .. } => None,
        })
        .collect();
    if matches!(location(net.world, to), Location::Machine { .. }) {
        let mac: Vec<String> = line.far.mac.iter().map(|byte| format!("{byte:02X}")).collect();
        stations.insert(0, mac.join(":"));
    }
    let device = options.text(&["I"]).unwrap_or("eth0");
    let mut out = format!("ARPING {to} from {} {device}\n", line.near.address);
    let mut responses = 0;
    for _ in 0..count {
        for station in &stations {
            responses += 1;
            let took = net.chance.between(0.55, 0.95);
            let _ = writeln!(out, "Unicast reply from {to} [{station}]  {took:.3}ms");
        }
    }
    let _ = writeln!(out, "Sent {count} probes ({} broadcast(s))", if responses > 0 { 1 } else { count });
    let _ = writeln!(out, "Received {responses} response(s)");
    net.passed += count * SECOND;
    ProgramResult { out, code: u8::from(responses == 0), took: net.took(), ..ProgramResult::default() }
}
