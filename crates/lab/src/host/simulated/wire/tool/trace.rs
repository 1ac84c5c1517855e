//! `traceroute`, `tracepath`. The platform itself shows no routers, appliances do.

use std::fmt::Write as _;
use std::net::IpAddr;

use super::option::Options;
use crate::host::simulated::wire::net::{Net, SECOND};
use crate::host::simulated::wire::path::{Line, Location};
use crate::host::simulated::world::{ProgramResult, World};
use crate::host::stage::Protocol;

/// Who answered at every step; the last one is the end, if it was reached.
struct TraceHops {
    line: Line,
    /// The address, and how long it takes to there and back.
    found: Vec<(Option<IpAddr>, u64)>,
    reached: bool,
}

fn steps(net: &mut Net<'_>, to: IpAddr, protocol: Protocol, port: u16, most: usize) -> TraceHops {
    let line = net.line(to, protocol, port);
    let mut found: Vec<(Option<IpAddr>, u64)> = Vec::new();
    for (at, hop) in line.there.hops.iter().enumerate() {
        found.push((Some(*hop), line.round() * (at as u64 + 1) / (line.there.hops.len() as u64 + 1)));
    }
    if let Some(Location::ExternalHost(outside)) = &line.there.arrives {
        // Routers of the platform say nothing.
        found.extend((1..outside.hops.min(20)).map(|_| (None, 0)));
    }
    let reached = line.open() || line.refuses();
    if reached {
        found.push((Some(to), line.round()));
    } else {
        found.resize(most, (None, 0));
    }
    found.truncate(most);
    TraceHops { line, found, reached }
}

/// Shows the path of packets.
pub(super) fn traceroute(world: &mut World, machine: &str, argv: &[String]) -> ProgramResult {
    let known = ["n", "I", "T", "U", "4", "6", "m=", "w=", "q=", "p=", "f=", "i=", "s=", "N="];
    let options = Options::read(argv, &known);
    let Some(host) = options.rest.first() else {
        return ProgramResult::failed(2, "Usage:\n  traceroute [options] host [packetlen]\n");
    };
    let mut net = Net::new(world, machine, "traceroute");
    let to = match net.resolve(host) {
        Ok(to) => to,
        Err(unresolved) => {
            let err = format!(
                "{host}: {}\nCannot handle \"host\" cmdline arg `{host}' on position 1 (argc {})\n",
                unresolved.text,
                argv.len() - 1
            );
            return ProgramResult { err, code: 2, took: net.took(), ..ProgramResult::default() };
        }
    };
    let most = options.number::<usize>(&["m"]).unwrap_or(30).clamp(1, 255);
    let (protocol, port) = if options.has(&["I"]) {
        (Protocol::Icmp, 0)
    } else if options.has(&["T"]) {
        (Protocol::Tcp, options.number(&["p"]).unwrap_or(80))
    } else {
        (Protocol::Udp, options.number(&["p"]).unwrap_or(33_434))
    };
    let probes = options.number::<u64>(&["q"]).unwrap_or(3).clamp(1, 10);
    let wait = options.seconds(&["w"]).unwrap_or(5 * SECOND);
    let steps = steps(&mut net, to, protocol, port, most);
    let mut out = format!("traceroute to {host} ({to}), {most} hops max, 60 byte packets\n");
    let mut silent = 0;
    for (at, (found, round)) in steps.found.iter().enumerate() {
        let _ = write!(out, "{:>2} ", at + 1);
        match found {
            Some(address) => {
                let shown = if options.has(&["n"]) {
                    format!(" {address}")
                } else {
                    format!(" {address} ({address})")
                };
                out.push_str(&shown);
                for _ in 0..probes {
                    let lost =
                        net.chance.hit(steps.line.there.lost()) || net.chance.hit(steps.line.back.lost());
                    let took = millis(*round) + net.chance.between(0.1, 0.6);
                    let _ = if lost { write!(out, " *") } else { write!(out, "  {took:.3} ms") };
                }
            }
            None => {
                silent += 1;
                out.push_str(&" *".repeat(usize::try_from(probes).unwrap_or(3)));
            }
        }
        out.push('\n');
    }
    // Sixteen probes are in flight at once.
    net.passed += wait * u64::from(silent > 0) * (silent * probes).div_ceil(16).max(1) + steps.line.round();
    ProgramResult { out, took: net.took(), ..ProgramResult::default() }
}

/// Shows the path of packets, and how large they may be.
pub(super) fn tracepath(world: &mut World, machine: &str, argv: &[String]) -> ProgramResult {
    let options = Options::read(argv, &["n", "b", "4", "6", "m=", "l=", "p="]);
    let Some(host) = options.rest.first() else {
        return ProgramResult::failed(2, "Usage\n  tracepath [options] <destination>\n");
    };
    let mut net = Net::new(world, machine, "tracepath");
    let to = match net.resolve(host) {
        Ok(to) => to,
        Err(unresolved) => {
            let err = format!("tracepath: {host}: {}\n", unresolved.text);
            return ProgramResult { err, code: 1, took: net.took(), ..ProgramResult::default() };
        }
    };
    let most = options.number::<usize>(&["m"]).unwrap_or(30).clamp(1, 255);
    let steps = steps(&mut net, to, Protocol::Udp, 44_444, most);
    let own = if steps.line.there.local { 65_535 } else { steps.line.near.mtu };
    let mut out = format!(" 1?: [LOCALHOST]                      pmtu {own}\n");
    let mut pmtu = own;
    if let Some((narrow, _)) = steps.line.narrow.filter(|(narrow, _)| *narrow < own) {
        pmtu = narrow;
        let _ = writeln!(
            out,
            " 1:  _gateway                                            {:.3}ms pmtu {narrow}",
            net.chance.between(0.2, 0.5)
        );
    }
    let mut count = 0;
    for (at, (found, round)) in steps.found.iter().enumerate() {
        count = at + 1;
        match found {
            Some(address) => {
                let took = millis(*round) + net.chance.between(0.1, 0.6);
                let last = steps.reached && count == steps.found.len();
                let end = if last { "reached" } else { "" };
                let _ = writeln!(out, "{count:>2}:  {address:<51} {took:.3}ms {end}");
            }
            None => {
                let _ = writeln!(out, "{count:>2}:  no reply");
                net.passed += 3 * SECOND;
            }
        }
    }
    if steps.reached {
        let _ = writeln!(out, "     Resume: pmtu {pmtu} hops {count} back {count} ");
    } else {
        let _ = writeln!(out, "     Too many hops: pmtu {pmtu}\n     Resume: pmtu {pmtu} ");
    }
    net.passed += steps.line.round();
    ProgramResult { out, took: net.took(), ..ProgramResult::default() }
}

#[expect(clippy::cast_precision_loss, reason = "times are far below what is exact")]
fn millis(time: u64) -> f64 {
    time as f64 / 1e6
}
