//! Names: who knows them, and what happens when nobody does.

use std::net::IpAddr;
use std::time::Duration;

use super::internet::{PLATFORM, lookup, private_name};
use super::line::{Call, Line, line};
use super::location::{Location, location};
use crate::host::simulated::world::World;
use crate::host::stage::{DnsFault, Oddity, Protocol};

/// The end of the names that machines have inside.
const INSIDE: &str = "internal.cloudapp.net";

/// What a name server answered.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::host::simulated::wire) struct NameLookup {
    /// The address of the server.
    pub(in crate::host::simulated::wire) server: IpAddr,
    /// The path to it.
    pub(in crate::host::simulated::wire) line: Line,
    /// `NOERROR`, `NXDOMAIN`, `SERVFAIL`; nothing, if no answer came.
    pub(in crate::host::simulated::wire) code: Option<&'static str>,
    /// The addresses.
    pub(in crate::host::simulated::wire) found: Vec<IpAddr>,
}

/// Says which server a machine asks.
fn server(world: &World, machine: &str) -> IpAddr {
    let file = world.guests.get(machine).and_then(|guest| guest.files.get("/etc/resolv.conf"));
    let text = file.map(|file| String::from_utf8_lossy(&file.content).into_owned()).unwrap_or_default();
    let named = text.lines().find_map(|line| line.trim().strip_prefix("nameserver")?.trim().parse().ok());
    // What listens on the machine itself asks whom the platform named when it gave the machine its address.
    let given = || world.machine(machine)?.nics.first()?.servers.first().copied();
    named.filter(|address: &IpAddr| !address.is_loopback()).or_else(given).unwrap_or(IpAddr::V4(PLATFORM))
}

/// Asks a name server, the machine's own if none is given.
pub(in crate::host::simulated::wire) fn ask(
    world: &mut World,
    machine: &str,
    server_address: Option<IpAddr>,
    name: &str,
    own_port: u16,
) -> NameLookup {
    let server = server_address.unwrap_or_else(|| server(world, machine));
    let call = Call {
        machine: machine.to_owned(),
        to: server,
        protocol: Protocol::Udp,
        port: 53,
        own_port,
        served: false,
    };
    let line = line(world, &call);
    let fault = world.stage.oddities.iter().find_map(|oddity| match oddity {
        Oddity::Dns { server: odd, fault } if *odd == server => Some(*fault),
        Oddity::Dns { .. }
        | Oddity::PathMtu { .. }
        | Oddity::ArpConflict { .. }
        | Oddity::Asymmetric { .. } => None,
    });
    let found: Vec<IpAddr> =
        known(world, (machine, server), name, fault == Some(DnsFault::Public)).into_iter().collect();
    let code = match fault {
        Some(DnsFault::Silent) => None,
        Some(DnsFault::Servfail) => Some("SERVFAIL"),
        Some(DnsFault::Nxdomain) => Some("NXDOMAIN"),
        Some(DnsFault::Public) | None if !line.open() => None,
        Some(DnsFault::Public) | None if found.is_empty() => Some("NXDOMAIN"),
        Some(DnsFault::Public) | None => Some("NOERROR"),
    };
    let code = code.filter(|_| line.there.whole() && line.back.whole());
    NameLookup { server, line, found: if code == Some("NOERROR") { found } else { Vec::new() }, code }
}

/// Finds the address of a name that the server knows which a machine asks: the platform's knows the private zones of the network of who
/// asks, a machine that serves names asks it in its own network, and everybody else knows what is known outside.
fn known(world: &World, (asker, server): (&str, IpAddr), name: &str, is_public: bool) -> Option<IpAddr> {
    let plain = name.trim_end_matches('.').to_ascii_lowercase();
    let by_platform = match location(world, server) {
        Location::Platform => Some(asker.to_owned()),
        Location::Machine { name, .. } => Some(name),
        Location::Endpoint(_)
        | Location::AppGateway(_)
        | Location::Bastion
        | Location::ExternalHost(_)
        | Location::Nobody => None,
    };
    let by_platform = by_platform.filter(|_| !is_public);
    let network = by_platform.and_then(|name| Some(world.machine(&name)?.nics.first()?.network.clone()));
    if let Some(network) = network {
        let questions = [Some(plain.clone()), private_name(&world.fabric, &plain)];
        for question in questions.into_iter().flatten() {
            let own = world.fabric.zones.iter().filter_map(|zone| {
                let (_, is_open) = zone.links.iter().find(|(linked, _)| *linked == network)?;
                let label = question.strip_suffix(zone.name.as_str())?;
                Some((zone, *is_open, label.strip_suffix('.').or(label.is_empty().then_some("@"))?))
            });
            let Some((zone, is_open, label)) = own.max_by_key(|(zone, ..)| zone.name.len()) else { continue };
            match zone.records.get(label).and_then(|all| all.first()) {
                Some(address) => return Some(*address),
                None if is_open => {}
                None => return None,
            }
        }
    }
    outside_zones(world, name)
}

/// Finds the address of a name that no private zone holds.
fn outside_zones(world: &World, name: &str) -> Option<IpAddr> {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    let first = name.split('.').next().unwrap_or_default();
    let inside = name == first || name.ends_with(INSIDE);
    let machine = world.fabric.machines.iter().find(|machine| machine.name.eq_ignore_ascii_case(first));
    let own = machine.filter(|_| inside).and_then(|machine| machine.nics.first()?.addresses.first());
    own.map(|(address, _)| *address).or_else(|| lookup(&world.fabric, &name))
}

/// Why a name has no address.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::host::simulated::wire) struct Unresolved {
    /// What programs print about it.
    pub(in crate::host::simulated::wire) text: &'static str,
    /// How long it took to find out.
    pub(in crate::host::simulated::wire) took: Duration,
}

/// Finds the address of whatever a person types.
pub(in crate::host::simulated::wire) fn resolve(
    world: &mut World,
    machine: &str,
    name: &str,
    own_port: u16,
) -> Result<(IpAddr, Duration, Option<NameLookup>), Unresolved> {
    if let Ok(address) = name.trim_start_matches('[').trim_end_matches(']').parse() {
        return Ok((address, Duration::ZERO, None));
    }
    if name == "localhost" {
        return Ok((IpAddr::from([127, 0, 0, 1]), Duration::ZERO, None));
    }
    let file = world.guests.get(machine).and_then(|guest| guest.files.get("/etc/hosts"));
    let hosts = file.map(|file| String::from_utf8_lossy(&file.content).into_owned()).unwrap_or_default();
    let written = hosts.lines().find_map(|line| {
        let mut words = line.split('#').next()?.split_whitespace();
        let address = words.next()?.parse().ok()?;
        words.any(|word| word.eq_ignore_ascii_case(name)).then_some(address)
    });
    let itself = name.eq_ignore_ascii_case(machine).then(|| IpAddr::from([127, 0, 1, 1]));
    if let Some(address) = written.or(itself) {
        return Ok((address, Duration::ZERO, None));
    }
    let asked = ask(world, machine, None, name, own_port);
    let round = Duration::from_nanos(asked.line.round());
    let unknown = "Name or service not known";
    let trouble = "Temporary failure in name resolution";
    match (asked.code, asked.found.first().copied()) {
        (Some(_), Some(address)) => Ok((address, round, Some(asked))),
        (Some("NXDOMAIN"), None) => Err(Unresolved { text: unknown, took: round }),
        (Some(_), None) => Err(Unresolved { text: trouble, took: round * 2 }),
        (None, _) => Err(Unresolved { text: trouble, took: Duration::from_secs(20) }),
    }
}
