//! One flow through an estate, packet by packet: the judge of what is right, which shares nothing with the one that is examined.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use super::address::Prefix;
use super::estate::{Estate, Hop, Machine};
use super::group;
use super::guest::{self, Hook, Packet, State, Stop};
use super::write::GATEWAY;
use crate::case::model::Pair;
use crate::host::Protocol;

/// A flow that somebody speaks of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Flow {
    pub(super) source: Ipv4Addr,
    pub(super) destination: Ipv4Addr,
    pub(super) protocol: Protocol,
    pub(super) port: u16,
}

/// What becomes of a flow.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Truth {
    /// What stops it, everything in series.
    pub(super) stops: BTreeSet<Pair>,
    /// What takes a share of it, slows or damages it.
    pub(super) hurts: BTreeSet<Pair>,
    /// What may be named beside it.
    pub(super) may: BTreeSet<Pair>,
    /// Why no path leads there.
    pub(super) gap: Option<String>,
    /// It ends in a refusal that the caller sees.
    pub(super) is_refused: bool,
}

impl Truth {
    /// Everything that has to be found.
    pub(super) fn findings(&self) -> BTreeSet<Pair> {
        if self.gap.is_some() { BTreeSet::new() } else { self.stops.union(&self.hurts).cloned().collect() }
    }

    /// Everything that may be found beside it.
    pub(super) fn neutral(&self) -> BTreeSet<Pair> {
        let behind = self.gap.is_some().then(|| self.stops.union(&self.hurts).cloned());
        self.may.iter().cloned().chain(behind.into_iter().flatten()).collect()
    }

    pub(super) fn is_fine(&self) -> bool {
        self.gap.is_none() && self.stops.is_empty() && self.hurts.is_empty()
    }
}

/// Walks a flow there and back.
pub(super) fn walk(estate: &Estate, flow: &Flow) -> Truth {
    let mut walk = Walk { estate, flow, truth: Truth::default(), there: Vec::new() };
    let source = estate.owner(flow.source);
    let destination = estate.owner(flow.destination);
    walk.leg(source, destination, true);
    walk.leaves(source);
    walk.listener(destination);
    walk.leg(destination, source, false);
    walk.truth
}

struct Walk<'a> {
    estate: &'a Estate,
    flow: &'a Flow,
    truth: Truth,
    /// The appliances that were passed on the path there.
    there: Vec<String>,
}

/// How many appliances a packet passes before somebody gives up.
const MAX_HOPS: usize = 8;

impl Walk<'_> {
    fn packet(&self, there: bool) -> Packet {
        let Flow { source, destination, protocol, port } = *self.flow;
        let away = 41_234;
        let (source, destination, source_port, destination_port) =
            if there { (source, destination, away, port) } else { (destination, source, port, away) };
        let state = if there { State::New } else { State::Established };
        Packet { source, destination, protocol, source_port, destination_port, state }
    }

    fn note(&mut self, stops: Vec<Stop>) {
        for stop in stops {
            if stop.pair.fault == "guest_firewall_reject" || stop.pair.fault == "fail2ban_ban" {
                self.truth.is_refused |= self.truth.stops.is_empty();
            }
            if stop.is_behind_catch_all {
                self.truth.may.insert(stop.pair);
            } else if stop.is_partial {
                self.truth.hurts.insert(stop.pair);
            } else {
                self.truth.stops.insert(stop.pair);
            }
        }
    }

    /// To the internet something has to give a machine an address there.
    fn leaves(&mut self, source: Option<&Machine>) {
        let to = self.flow.destination;
        let is_outside = !to.is_private() && to != Ipv4Addr::new(168, 63, 129, 16);
        let Some(own) = source.filter(|own| is_outside && own.public.is_none()) else { return };
        if self.estate.owner(to).is_some() || self.truth.gap.is_some() {
            return;
        }
        if self.estate.bare_gateway.contains(&own.subnet) {
            self.truth.stops.insert(Pair::new("nat_unconfigured", format!("natgateway/{GATEWAY}")));
        } else if self.estate.closed.contains(&own.subnet) {
            self.truth.stops.insert(Pair::new("outbound_absent", format!("subnet/{}/outbound", own.subnet)));
        }
    }

    fn hook(&mut self, machine: &Machine, hook: Hook, there: bool) {
        let steps = self.estate.steps.iter().filter(|(name, _)| *name == machine.name).map(|(_, step)| step);
        let stops = guest::stops(&machine.name, steps, hook, &self.packet(there));
        self.note(stops);
    }

    fn device(&mut self, machine: &Machine) {
        let steps = self.estate.steps.iter().filter(|(name, _)| *name == machine.name).map(|(_, step)| step);
        let is_ssh = self.flow.protocol == Protocol::Tcp && self.flow.port == 22;
        self.truth.hurts.extend(guest::shapes(&machine.name, steps, is_ssh));
    }

    fn groups(&mut self, machine: &Machine, inbound: bool) {
        let stops = group::stops(self.estate, machine, inbound, &self.packet(true));
        self.note(stops);
    }

    /// From one end to the other; an end outside has nothing that could be asked.
    fn leg(&mut self, from: Option<&Machine>, to: Option<&Machine>, there: bool) {
        if let Some(from) = from {
            self.hook(from, Hook::Output, there);
            if there {
                self.groups(from, false);
            }
            self.device(from);
            self.path(from, there);
        }
        if let Some(to) = to {
            if there {
                self.groups(to, true);
            }
            self.hook(to, Hook::Input, there);
        }
    }

    /// Follows the routes, through appliances.
    fn path(&mut self, from: &Machine, there: bool) {
        let to = self.packet(there).destination;
        let mut at = from.clone();
        let mut passed: Vec<String> = vec![from.name.clone()];
        for _ in 0..MAX_HOPS {
            let mut skipped: Vec<String> = Vec::new();
            let next = loop {
                match choose(self.estate, &at, to, &skipped) {
                    Choice::Delivered => break None,
                    Choice::Gap(why) => {
                        self.truth.gap = Some(why);
                        break None;
                    }
                    Choice::User { table, name, hop } => {
                        let pair = |code: &str| Pair::new(code, format!("route/{table}/{name}"));
                        let code = match hop {
                            Hop::None => "route_blackhole",
                            Hop::Internet => "route_detour",
                            Hop::Gateway => {
                                self.truth.gap = Some("there is no gateway".to_owned());
                                break None;
                            }
                            Hop::Appliance(address) if address == to => break None,
                            Hop::Appliance(address) => match reachable(self.estate, &at, address) {
                                None => "route_dead_nva",
                                Some(via) if via.forwards && !passed.contains(&via.name) => break Some(via),
                                Some(_) => {
                                    self.truth.may.insert(pair("route_dead_nva"));
                                    "route_detour"
                                }
                            },
                        };
                        self.truth.stops.insert(pair(code));
                        skipped.push(name);
                    }
                }
            };
            let Some(via) = next else {
                if passed.len() > 1 {
                    self.unforwarded(&at, there);
                }
                return;
            };
            let via = via.clone();
            let stateful = there || self.there.contains(&via.name);
            if there {
                self.groups(&via, true);
                self.there.push(via.name.clone());
            }
            self.forward(&via, there, stateful);
            if there {
                self.groups(&via, false);
            }
            self.device(&via);
            passed.push(via.name.clone());
            at = via;
        }
    }

    /// The last peering on the path, where an appliance passed the packet on: it has to take in what comes from elsewhere.
    fn unforwarded(&mut self, from: &Machine, there: bool) {
        let packet = self.packet(there);
        let ends = from.subnet.split('/').next().zip(self.estate.holding(packet.destination));
        let Some((own, end)) = ends.filter(|(own, end)| *own != end.name) else { return };
        let is_own = self.estate.network(own).is_some_and(|own| own.prefix.holds(packet.source));
        if is_own || self.estate.takes_forwarded(&end.name, own) {
            return;
        }
        let object = format!("peering/{}/{}-to-{own}", end.name, end.name);
        self.truth.gap = Some(format!("{object} takes in nothing that is forwarded"));
        self.truth.may.insert(Pair::new("peering_forwarding_off", object));
    }

    /// An appliance that has not seen the question takes the answer for the begin of something.
    fn forward(&mut self, via: &Machine, there: bool, stateful: bool) {
        let mut packet = self.packet(there);
        if !stateful {
            packet.state = State::Invalid;
        }
        let steps = self.estate.steps.iter().filter(|(name, _)| *name == via.name).map(|(_, step)| step);
        let stops = guest::stops(&via.name, steps, Hook::Forward, &packet);
        self.note(stops);
    }

    fn listener(&mut self, destination: Option<&Machine>) {
        let Some(machine) = destination else { return };
        if self.flow.protocol != Protocol::Tcp || self.estate.listens(&machine.name, self.flow.port) {
            return;
        }
        let Flow { source, destination, port, .. } = self.flow;
        let pair = Pair::new("tcp_refused", format!("flow/{source}/{destination}/tcp/{port}"));
        let is_masked = !self.truth.stops.is_empty()
            || self.truth.hurts.iter().any(|pair| pair.fault.starts_with("guest"));
        if is_masked || self.truth.gap.is_some() {
            self.truth.may.insert(pair);
        } else {
            self.truth.stops.insert(pair);
            self.truth.is_refused = true;
        }
    }
}

enum Choice {
    Delivered,
    User { table: String, name: String, hop: Hop },
    Gap(String),
}

/// Where the platform takes a packet of a machine: the longest prefix, a user's route before the platform's.
fn choose(estate: &Estate, machine: &Machine, to: Ipv4Addr, skipped: &[String]) -> Choice {
    let Some(subnet) = estate.subnet(&machine.subnet) else { return Choice::Gap("no subnet".to_owned()) };
    let Some(network) = estate.network(subnet.network()) else { return Choice::Gap("no network".to_owned()) };
    let own = subnet.table.as_ref().and_then(|table| estate.tables.get(table)).into_iter().flatten();
    let own = own.filter(|route| route.prefix.holds(to) && !skipped.contains(&route.name));
    let user = own.max_by_key(|route| route.prefix.length());
    let peers = network.peerings.iter().filter(|(_, state)| *state == "Connected");
    let spaces = std::iter::once(network.prefix)
        .chain(peers.filter_map(|(name, _)| estate.network(name)).map(|network| network.prefix));
    let inside = spaces.filter(|space| space.holds(to)).map(Prefix::length).max();
    let reserved = [(10, 0, 8), (172, 16, 12), (192, 168, 16), (100, 64, 10)]
        .map(|(first, second, length)| Prefix::new(Ipv4Addr::new(first, second, 0, 0), length));
    let nowhere = reserved.iter().filter(|prefix| prefix.holds(to)).map(|prefix| prefix.length()).max();
    let platform = inside.or(nowhere).unwrap_or_default();
    match user {
        Some(route) if route.prefix.length() >= platform => Choice::User {
            table: subnet.table.clone().unwrap_or_default(),
            name: route.name.clone(),
            hop: if route.hop == Hop::Internet && inside.is_none() && nowhere.is_none() {
                return Choice::Delivered;
            } else {
                route.hop
            },
        },
        _ if inside.is_some() => Choice::Delivered,
        _ if nowhere.is_some() => Choice::Gap(format!("nothing leads from {} to {to}", network.name)),
        _ => Choice::Delivered,
    }
}

/// The machine that has an address, where the network of another one or one of its peers holds it.
fn reachable<'a>(estate: &'a Estate, from: &Machine, address: Ipv4Addr) -> Option<&'a Machine> {
    let network = estate.network(from.subnet.split('/').next()?)?;
    let machine = estate.owner(address)?;
    let other = machine.subnet.split('/').next()?;
    let peered = network.peerings.iter().any(|(name, state)| name == other && *state == "Connected");
    (network.name == other || peered).then_some(machine)
}
