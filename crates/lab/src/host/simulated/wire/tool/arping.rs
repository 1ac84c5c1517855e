//! `arping`.

use std::fmt::Write as _;

use super::option::Options;
use crate::host::simulated::wire::net::{Net, SECOND};
use crate::host::simulated::wire::path::{Location, location};
use crate::host::simulated::world::{Called, World};
use crate::host::stage::{Oddity, Protocol};

/// Asks who has an address.
pub(super) fn arping(world: &mut World, machine: &str, argv: &[String]) -> Called {
    let options = Options::read(argv, &["c=", "w=", "I=", "s=", "i=", "D", "U", "A", "q", "f", "b"]);
    let Some(host) = options.rest.first() else {
        return Called::failed(2, "Usage: arping [options] <destination>\n");
    };
    let mut net = Net::new(world, machine, "arping");
    let Ok(to) = net.resolve(host) else {
        return Called {
            took: net.took(),
            ..Called::failed(2, format!("arping: {host}: Name or service not known\n"))
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
    let mut heard = 0;
    for _ in 0..count {
        for station in &stations {
            heard += 1;
            let took = net.chance.between(0.55, 0.95);
            let _ = writeln!(out, "Unicast reply from {to} [{station}]  {took:.3}ms");
        }
    }
    let _ = writeln!(out, "Sent {count} probes ({} broadcast(s))", if heard > 0 { 1 } else { count });
    let _ = writeln!(out, "Received {heard} response(s)");
    net.passed += count * SECOND;
    Called { out, code: u8::from(heard == 0), took: net.took(), ..Called::default() }
}
