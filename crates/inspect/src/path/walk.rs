//! The walk of a flow: there, hop by hop, and back.

use std::collections::BTreeMap;

use super::carry::{Asked, Next, carry, settings};
use super::document::{Document, GuestDocument};
use super::estate::{Machine, Nic, is_six};
use super::fault::{Cause, Fault, Object};
use super::filter::{CALLER_PORT, Passage, Tracking};
use super::flow::{Part, Protocol, PublicEntry, Wire};
use super::group;
use super::hop::{Effect, Hop, Kind, Side};
use super::ruleset_change::PacketRole;
use super::shaping::is_virtual;
use super::topology::Network;
use super::walk_firewall::Passed;
use super::walk_guest::{absorb, one};
use super::walk_public::estate_public;
use crate::net::Platform;
use crate::netfilter::Hook;
use crate::nsg::Direction;

/// So many appliances are followed one after another.
const MAX_APPLIANCES: usize = 8;

/// A walk in progress.
pub(super) struct Walk<'a> {
    pub(super) asked: Asked<'a>,
    pub(super) forward: Vec<Hop>,
    pub(super) back: Vec<Hop>,
    pub(super) side: Side,
    /// What lies before is not known, so that the packet may come otherwise than it is thought to.
    pub(super) uncertain: bool,
    /// Machines that passed the packet on, each as it did.
    pub(super) appliances: Vec<(usize, Passage<'a>)>,
    pub(super) returned_by: Vec<usize>,
    pub(super) translated: Vec<Undo>,
    /// What the connection tables of machines made of the packet that began the connection.
    pub(super) tracking: BTreeMap<usize, Tracking>,
    /// The firewalls of the platform that let the first packet pass.
    pub(super) firewalls: Vec<Passed>,
    /// The gateway by which the first packet left, and the packet.
    pub(super) left: Option<(usize, Wire)>,
    /// The packet that left to the internet and came back in by a public address of the estate.
    pub(super) around: Option<Wire>,
    /// By what the packet came in, until a security group is asked about it.
    pub(super) entry: Option<PublicEntry>,
}

/// A translation that the answer meets again.
#[derive(Debug, Clone, Copy)]
pub(super) struct Undo {
    pub(super) machine: usize,
    pub(super) before: Wire,
    pub(super) after: Wire,
}

/// Where the first packet ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrived {
    pub(super) nic: usize,
    pub(super) wire: Wire,
}

/// What a machine does with a packet that came to it.
enum Received {
    /// It is for the machine.
    Here(Wire),
    /// It goes on by an interface.
    Onward(usize, Wire),
    /// It is not known what becomes of it, or nothing does.
    Lost,
}

/// Walks a flow in both directions.
pub(super) fn walk(asked: Asked<'_>) -> Walk<'_> {
    let mut walk = Walk {
        asked,
        forward: Vec::new(),
        back: Vec::new(),
        side: Side::Forward,
        uncertain: false,
        appliances: Vec::new(),
        returned_by: Vec::new(),
        translated: Vec::new(),
        tracking: BTreeMap::new(),
        firewalls: Vec::new(),
        left: None,
        around: None,
        entry: asked.flow.entry.clone(),
    };
    walk.run();
    walk.events();
    walk.flow_logs();
    walk
}

impl<'a> Walk<'a> {
    fn run(&mut self) {
        let Asked { estate, flow, .. } = self.asked;
        let port = (flow.protocol != Protocol::Icmp).then(|| flow.src_port.unwrap_or(CALLER_PORT));
        let wire = Wire::of(flow, port);
        let source = self.source();
        if let Some(from) = source
            && let Some((_, machine)) = estate.machine_of(from)
            && estate.owns(machine, flow.dst)
            && flow.called.as_deref().is_none_or(|called| estate.is_of(from, called))
        {
            self.inside_one(from, wire);
            return;
        }
        let start = match source {
            Some(from) => {
                self.resolve(from);
                self.by_bastion(from);
                let wire = self.leave(from, wire);
                self.transit(from, wire, true)
            }
            None => match estate.gateway_towards(flow.src) {
                Some(gateway) => self.enter_by_gateway(gateway, wire),
                None if self.api_server(None, &wire) => None,
                None => self.enter(wire),
            },
        };
        self.side = Side::Return;
        if let Some(arrived) = start {
            self.answer(source, arrived);
            if let (Some(from), Some(wire)) = (source, self.around) {
                self.receive_answer(from, wire.answer());
            }
            self.follow_up();
        } else if let Some((gateway, wire)) = self.left {
            if let Some(end) = self.transit(gateway, wire.answer(), false) {
                self.check_end(source, end);
            }
        } else if let Some(from) = source
            && self
                .forward
                .iter()
                .any(|hop| matches!(hop.kind, Kind::Outside | Kind::Endpoint | Kind::Cluster))
        {
            // Whoever is outside answers to the address that it sees; what comes back meets the caller's own filter.
            self.receive_answer(from, wire.answer());
        }
    }

    pub(super) fn push(&mut self, mut hop: Hop) {
        self.asked.estate.doubt(&mut hop);
        if self.uncertain {
            hop.possible.append(&mut hop.stops);
            // Who passes packets on may translate them: which rules take a share of them is not certain either.
            hop.possible.append(&mut hop.shares);
        }
        match self.side {
            Side::Forward => self.forward.push(hop),
            Side::Return => self.back.push(hop),
        }
    }

    /// Finds the interface of the caller; nothing where it is outside, or not known.
    fn source(&mut self) -> Option<usize> {
        let Asked { estate, flow, .. } = self.asked;
        let owners = estate.owners(flow.src);
        let named = flow.caller.as_deref();
        if let Some(own) = named.and_then(|named| owners.iter().find(|at| estate.is_of(**at, named))) {
            return Some(*own);
        }
        match owners {
            [one] => Some(*one),
            [] if Platform::of(flow.src).is_some() || !estate.is_inside(flow.src) => None,
            [] if estate.gateway_towards(flow.src).is_some() => None,
            owners => {
                let why = if owners.is_empty() {
                    format!("no interface that is listed has {}", flow.src)
                } else {
                    format!("several interfaces have {}", flow.src)
                };
                let mut hop =
                    Hop::new(Kind::Machine, &flow.src.to_string()).lacking(Document::Interfaces, why);
                if let Some(missing) = estate.missing_beyond(flow.src).filter(|_| owners.is_empty()) {
                    hop = hop.lacking(missing.what, missing.why);
                }
                let has_gateway = estate.networks.read().into_iter().flatten().any(Network::has_gateway);
                if owners.is_empty() && has_gateway && estate.virtual_gateways.read().is_none() {
                    hop = hop.lacking(Document::Gateways, format!("whether {} is at another site", flow.src));
                }
                self.push(hop);
                self.uncertain = true;
                None
            }
        }
    }

    /// Sends a packet from a machine.
    fn leave(&mut self, from: usize, wire: Wire) -> Wire {
        let estate = self.asked.estate;
        let Some((at, machine)) = estate.machine_of(from) else { return wire };
        self.running(machine);
        let devices = self.guest_route(machine, from, wire);
        let mut passage = self.passage(machine, wire, PacketRole::FromHost);
        passage.output = one(devices.as_deref());
        self.filters(Kind::GuestOutput, at, machine, &mut passage, &[Hook::Output, Hook::Postrouting]);
        let undone = self.undo(at, passage.wire);
        self.shaping(machine, devices.as_deref(), &undone);
        undone
    }

    pub(super) fn groups(&mut self, nic: usize, direction: Direction, wire: &Wire) {
        let entry = self.entry.take_if(|_| direction == Direction::Inbound);
        // The platform lets nobody put a group at a firewall, and a gateway does not ask one.
        let has_groups = |nic: &&Nic| nic.is_instance() || !nic.is_of_platform();
        let Some(nic) = self.asked.estate.nic(nic).filter(has_groups) else { return };
        let kind = match direction {
            Direction::Inbound => Kind::GroupInbound,
            Direction::Outbound => Kind::GroupOutbound,
        };
        let document = match nic.is_of_platform() {
            true => Document::Configuration,
            false => Document::Rules { nic: nic.name.clone() },
        };
        let mut hop = Hop::new(kind, &nic.name);
        match nic.rules.read() {
            Some(rules) => {
                let passed = group::pass(rules, direction, wire, self.asked.gone);
                let read = if nic.configured.1 { Document::Configuration } else { document.clone() };
                hop = hop.on(read).passing("the security groups let it through");
                hop.stops = self.without_access(nic, direction, wire, passed.stops);
                hop.allowed = passed.allowed;
                if let Some(entry) = entry {
                    self.closed_by_default(&entry, rules, &mut hop);
                }
                if !passed.doubts.is_empty() {
                    hop = hop.lacking(document, format!("the rules depend on {}", passed.doubts.join(", ")));
                }
            }
            None => hop = hop.lacking(document, nic.rules.why_not()),
        }
        self.push(hop);
    }

    /// Names the peering where the last rule of a group denies what comes from, or goes to, a network that the peering keeps out of
    /// what rules call the network.
    fn without_access(
        &self,
        nic: &Nic,
        direction: Direction,
        wire: &Wire,
        stops: Vec<Effect>,
    ) -> Vec<Effect> {
        let estate = self.asked.estate;
        let other = match direction {
            Direction::Inbound => wire.src,
            Direction::Outbound => wire.dst,
        };
        let own = nic.network.as_deref().and_then(|own| estate.network(own));
        let seen = estate.network_seen(nic.network.as_deref(), other);
        let peering = own.zip(seen).and_then(|(own, other)| {
            let peering = own.peering_with(&other.name)?;
            (peering.is_connected() && peering.access == Some(false)).then_some((own, other, peering))
        });
        let Some((own, other, peering)) = peering else { return stops };
        let object = Object::Peering { network: own.name.clone(), peering: peering.name.clone() };
        let cause = Cause::new(Fault::PeeringAccessOff, object);
        let mut kept = Vec::new();
        for mut effect in stops {
            let is_last = ["DenyAllInBound", "DenyAllOutBound"];
            if !effect.rule.as_deref().is_some_and(|rule| is_last.contains(&rule)) {
                kept.push(effect);
            } else if !self.is_gone(&cause) {
                effect.reason = format!(
                    "the peering {} of {} gives {} no access, so that it is none of the network and {}",
                    peering.name, own.name, other.name, effect.reason
                );
                effect.cause = cause.clone();
                kept.push(effect);
            }
        }
        kept
    }

    /// Follows a packet from an interface until it is where it should be.
    pub(super) fn transit(&mut self, from: usize, wire: Wire, fresh: bool) -> Option<Arrived> {
        let (mut nic, mut wire) = (from, wire);
        let estate = self.asked.estate;
        let mut before: Vec<usize> = estate.machine_of(from).map(|(at, _)| at).into_iter().collect();
        for _ in 0..MAX_APPLIANCES {
            if fresh {
                self.groups(nic, Direction::Outbound, &wire);
            }
            let (hop, next) = carry(self.asked, nic, &wire, &before);
            self.push(hop);
            if fresh && matches!(next, Next::Deliver | Next::Assumed) {
                self.uncertain |= next == Next::Assumed;
                if self.endpoint(nic, &wire) || self.api_server(Some(nic), &wire) {
                    return None;
                }
            }
            let to = match next {
                Next::Lost => return None,
                Next::Platform => return self.platform(&wire, fresh),
                Next::Internet if fresh && !self.egress(nic, &wire) => return None,
                Next::Internet if fresh && self.api_server(Some(nic), &wire) => return None,
                Next::Internet if fresh && self.terminated(None, &self.seen_outside(nic, &wire)) => {
                    return None;
                }
                Next::Internet if fresh && estate_public(self.asked, &wire) => return self.around(nic, wire),
                Next::Deliver | Next::Assumed if fresh && self.terminated(Some(nic), &wire) => return None,
                Next::Gateway => return self.by_gateway(nic, &wire, fresh),
                Next::Outside | Next::Internet => return self.outside(&wire, fresh),
                Next::Appliance(to) => to,
                Next::Deliver => {
                    wire = if fresh { self.balanced(Some(nic), wire)? } else { wire };
                    self.holder(Some(nic), &wire)?
                }
                // By which route it goes is not known; that it leaves the estate is.
                Next::Assumed if !estate.is_inside(wire.dst) && !estate_public(self.asked, &wire) => {
                    self.uncertain = true;
                    return self.outside(&wire, fresh);
                }
                Next::Assumed => {
                    self.uncertain = true;
                    wire = if fresh { self.balanced(Some(nic), wire)? } else { wire };
                    self.holder(Some(nic), &wire)?
                }
            };
            self.peering(nic, to, &wire);
            if fresh {
                self.groups(to, Direction::Inbound, &wire);
            }
            match self.receive(to, wire, fresh) {
                Received::Here(wire) => return Some(Arrived { nic: to, wire }),
                Received::Lost => return None,
                Received::Onward(by, onward) => {
                    before.extend(self.asked.estate.machine_of(to).map(|(at, _)| at));
                    (nic, wire) = (by, onward);
                }
            }
        }
        let hop = Hop::new(Kind::Route, "").lacking(
            Document::Packets { machine: wire.dst.to_string() },
            "it passes more appliances than are followed",
        );
        self.push(hop);
        None
    }

    /// Takes a packet that came from outside through an interface.
    pub(super) fn through(&mut self, nic: usize, wire: Wire, fresh: bool) -> Option<Arrived> {
        self.groups(nic, Direction::Inbound, &wire);
        match self.receive(nic, wire, fresh) {
            Received::Here(wire) => Some(Arrived { nic, wire }),
            Received::Lost => None,
            Received::Onward(by, wire) => self.transit(by, wire, fresh),
        }
    }

    /// Finds the interface that has the destination.
    pub(super) fn holder(&mut self, from: Option<usize>, wire: &Wire) -> Option<usize> {
        let estate = self.asked.estate;
        let own = from.and_then(|from| estate.network_at(from));
        let owners = estate.owners(wire.dst);
        if owners.is_empty() && self.overlap(wire) {
            return None;
        }
        let near = estate.owners_seen(own, wire.dst);
        if let Some(found) = self.meant(own, &near, wire) {
            return found;
        }
        let why = match (near.as_slice(), owners) {
            ([one], _) => return Some(*one),
            ([], [_, ..]) => format!("nobody whom {} sees has {}", own.unwrap_or("it"), wire.dst),
            ([], []) if estate.has_app_gateway(wire.dst) => {
                format!("the subnet of the application gateway that has {} was not read", wire.dst)
            }
            ([], []) if estate.balancers.read().is_some() => {
                format!("no interface and no load balancer that is listed has {}", wire.dst)
            }
            ([], []) => format!("no interface that is listed has {}: a load balancer, or nobody", wire.dst),
            _ => format!("several interfaces have {}", wire.dst),
        };
        if owners.is_empty()
            && let Some(missing) = estate.missing_beyond(wire.dst)
        {
            let hop = Hop::new(Kind::Machine, &wire.dst.to_string());
            self.push(hop.lacking(missing.what, missing.why));
            return None;
        }
        let document =
            if estate.interfaces.read().is_none() { Document::Interfaces } else { Document::Frontends };
        self.push(Hop::new(Kind::Machine, &wire.dst.to_string()).lacking(document, why));
        None
    }

    /// Asks whether the network that receives lets in what others forward.
    pub(super) fn peering(&mut self, from: usize, to: usize, wire: &Wire) {
        let estate = self.asked.estate;
        let network = |at: usize| estate.nic(at).and_then(|nic| nic.network.as_deref());
        let (Some(own), Some(theirs)) = (network(from), network(to)) else { return };
        // What a gateway brings is none that somebody of the network forwards.
        if own.eq_ignore_ascii_case(theirs) || estate.nic(from).is_some_and(|nic| nic.is_gateway) {
            return;
        }
        let Some((sender, receiver)) = estate.network(own).zip(estate.network(theirs)) else {
            if estate.nic(from).is_some_and(|nic| !nic.addresses.contains(&wire.src)) {
                let why = "whether the peering lets in what others forward";
                self.push(Hop::new(Kind::Peering, theirs).lacking(Document::Networks, why));
            }
            return;
        };
        let Some(peering) = receiver.peering_with(&sender.name) else { return };
        let mut hop = Hop::new(Kind::Peering, &receiver.name).on(Document::Networks);
        hop.reason = format!("the peering {} is {}", peering.name, peering.state);
        if peering.forwarded == Some(false) && !sender.contains(wire.src) {
            let object = Object::Peering { network: receiver.name.clone(), peering: peering.name.clone() };
            let cause = Cause::new(Fault::PeeringForwardingOff, object);
            if !self.is_gone(&cause) {
                let why = format!(
                    "the peering {} of {} does not let in what others forward",
                    peering.name, receiver.name
                );
                hop.stops.push(Effect::new(cause, why));
            }
        }
        self.push(hop);
    }

    /// Gives a packet to the machine behind an interface.
    fn receive(&mut self, nic: usize, wire: Wire, fresh: bool) -> Received {
        let estate = self.asked.estate;
        if estate.firewall_at(nic).is_some() {
            let onward = self.firewall(nic, wire, fresh);
            return onward.map_or(Received::Lost, |onward| Received::Onward(nic, onward));
        }
        // What comes back to whoever made or ended the connection is there. The address of an instance is one of its subnet, and no list
        // says what it takes there.
        if let Some(own) = estate.nic(nic).filter(|own| own.is_instance()) {
            if !fresh {
                return Received::Here(wire);
            }
            let why = format!("what an instance of {} takes at {}", own.name, wire.dst);
            self.push(Hop::new(Kind::Listener, &own.name).lacking(Document::Frontends, why));
            return Received::Lost;
        }
        let Some((at, machine)) = estate.machine_of(nic) else {
            let name = estate.nic(nic).map_or("unknown", |nic| nic.name.as_str());
            let hop =
                Hop::new(Kind::Listener, name).lacking(Document::Frontends, "no machine stands behind it");
            self.push(hop);
            return Received::Lost;
        };
        self.running(machine);
        // What does not begin a connection is known to a machine only where it saw the beginning.
        let mut wire = wire;
        if !fresh {
            let known = self.appliances.iter().any(|(own, _)| *own == at) || self.is_end(at);
            wire.part = if known { Part::Answer } else { Part::StrayAnswer };
            wire = self.undo(at, wire);
        }
        let here = estate.owns(machine, wire.dst);
        let input =
            estate.nic(nic).and_then(|nic| nic.addresses.first()).and_then(|own| machine.device(*own));
        self.arrival(machine, input.as_deref(), &wire);
        let mut passage =
            self.passage(machine, wire, if here { PacketRole::ToHost } else { PacketRole::Through });
        passage.input = input;
        let kind = if here { Kind::GuestInput } else { Kind::GuestForward };
        if here {
            return self.take(nic, at, machine, passage, fresh);
        }
        let before = self.list().len();
        self.filters(kind, at, machine, &mut passage, &[Hook::Prerouting]);
        self.pass_on(nic, at, machine, passage, (fresh, before))
    }

    /// Tells whether a machine is one of the ends of the flow.
    pub(super) fn is_end(&self, machine: usize) -> bool {
        let Asked { estate, flow, .. } = self.asked;
        let own = estate.machines.get(machine);
        own.is_some_and(|own| estate.owns(own, flow.src) || estate.owns(own, flow.dst))
    }

    /// Takes a packet that is for a machine: its filter, then who listens; what it translates to somebody else goes on.
    fn take(
        &mut self,
        nic: usize,
        at: usize,
        machine: &'a Machine,
        mut passage: Passage<'a>,
        fresh: bool,
    ) -> Received {
        let before = self.list().len();
        self.filters(Kind::GuestInput, at, machine, &mut passage, &[Hook::Prerouting]);
        if !self.asked.estate.owns(machine, passage.wire.dst) {
            return self.pass_on(nic, at, machine, passage, (fresh, before));
        }
        self.filters(Kind::GuestInput, at, machine, &mut passage, &[Hook::Input]);
        self.join_last(before);
        self.own_address(machine, passage.wire.dst);
        self.reverse_path(machine, &passage);
        if fresh {
            self.listener(machine, &passage.wire, before);
        }
        Received::Here(passage.wire)
    }

    pub(super) fn list(&mut self) -> &mut Vec<Hop> {
        match self.side {
            Side::Forward => &mut self.forward,
            Side::Return => &mut self.back,
        }
    }

    /// Passes on what is not for a machine.
    fn pass_on(
        &mut self,
        nic: usize,
        at: usize,
        machine: &'a Machine,
        mut passage: Passage<'a>,
        (fresh, before): (bool, usize),
    ) -> Received {
        let estate = self.asked.estate;
        passage.place = PacketRole::Through;
        let six = is_six(passage.wire.dst);
        let mut hop = Hop::new(Kind::Forwarding, &machine.name);
        match machine.forwards(six) {
            Some(true) => {
                hop = hop.on(settings(&machine.name)).passing(format!("{} passes packets on", machine.name))
            }
            // The route that leads here is then at fault, and has been named.
            Some(false) => hop = hop.on(settings(&machine.name)),
            None => hop = hop.lacking(settings(&machine.name), "whether its kernel passes packets on"),
        }
        self.push(hop);
        let devices = self.guest_route(machine, nic, passage.wire);
        let by = self.interface(machine, nic, devices.as_deref());
        passage.output = one(devices.as_deref());
        let inner = passage.output.as_deref().is_some_and(is_virtual);
        if fresh {
            self.appliances.push((at, passage.clone()));
        } else {
            self.returned_by.push(at);
        }
        let last = self.list().len();
        self.filters(Kind::GuestForward, at, machine, &mut passage, &[Hook::Forward, Hook::Postrouting]);
        // What its rules did before it was routed belongs to the same hop.
        if last < self.list().len() && before < last {
            let list = self.list();
            let first = list.remove(before);
            if let Some(hop) = list.get_mut(last - 1) {
                let later = std::mem::replace(hop, Hop { kind: Kind::GuestForward, ..first });
                absorb(hop, later);
            }
        }
        self.shaping(machine, devices.as_deref(), &passage.wire);
        if inner {
            let what = format!("{}:{}", passage.wire.dst, passage.wire.dport.unwrap_or(0));
            let why = format!("it goes to something inside {}, of which nothing was read", machine.name);
            self.push(Hop::new(Kind::Listener, &machine.name).lacking(Document::Probe { what }, why));
            return Received::Lost;
        }
        match by {
            Some(by) => Received::Onward(by, passage.wire),
            None => {
                let document =
                    Document::Guest { machine: machine.name.clone(), document: GuestDocument::Routes };
                let why = "by which of its interfaces it passes packets on";
                self.push(Hop::new(Kind::GuestRoute, &machine.name).lacking(document, why));
                self.uncertain = true;
                estate.nic(nic).map_or(Received::Lost, |_| Received::Onward(nic, passage.wire))
            }
        }
    }

    /// Returns the interface behind a device.
    fn interface(&self, machine: &Machine, nic: usize, devices: Option<&[String]>) -> Option<usize> {
        if machine.nics.len() == 1 {
            return Some(nic);
        }
        let [device] = devices? else { return None };
        let own = |at: &&usize| {
            let addresses = self.asked.estate.nic(**at).map(|nic| nic.addresses.clone()).unwrap_or_default();
            addresses.iter().any(|own| machine.device(*own).as_deref() == Some(device.as_str()))
        };
        machine.nics.iter().find(own).copied()
    }

    fn platform(&mut self, wire: &Wire, fresh: bool) -> Option<Arrived> {
        if fresh {
            let known = match wire.protocol {
                Protocol::Tcp => matches!(wire.dport, Some(53 | 80 | 32_526)),
                Protocol::Udp => matches!(wire.dport, Some(53 | 67)),
                Protocol::Icmp => false,
            };
            let hop = Hop::new(Kind::Outside, &wire.dst.to_string());
            let hop = if known {
                hop.passing("the platform serves it")
            } else {
                let what = format!("{} at the platform", wire.dport.unwrap_or(0));
                hop.lacking(Document::Probe { what }, "the platform serves few ports")
            };
            self.push(hop);
        }
        None
    }

    pub(super) fn outside(&mut self, wire: &Wire, fresh: bool) -> Option<Arrived> {
        let hop = Hop::new(Kind::Outside, &wire.dst.to_string());
        let port = wire.dport.map(|port| format!(":{port}")).unwrap_or_default();
        let hop = if fresh {
            hop.lacking(
                Document::Probe { what: format!("{}{port}", wire.dst) },
                "it lies outside of what was read",
            )
        } else if self.returned_by.is_empty() {
            hop.passing("the answer leaves the estate")
        } else {
            let machine = wire.src.to_string();
            hop.lacking(
                Document::Packets { machine },
                "the answer leaves by an appliance: the caller may see another address",
            )
        };
        self.push(hop);
        None
    }

    /// Sends the first answer back.
    fn answer(&mut self, source: Option<usize>, arrived: Arrived) {
        let wire = arrived.wire.answer();
        let wire = self.leave(arrived.nic, wire);
        if Platform::of(wire.dst).is_some() {
            self.push(
                Hop::new(Kind::Outside, &wire.dst.to_string()).passing("routes do not apply to the platform"),
            );
            return;
        }
        let Some(end) = self.transit(arrived.nic, wire, false) else { return };
        self.check_end(source, end);
    }

    /// Asks whether the caller sees the answer come from whom it called.
    fn check_end(&mut self, source: Option<usize>, end: Arrived) {
        let Asked { estate, flow, .. } = self.asked;
        let own = |nic: usize| estate.machine_of(nic).map(|(at, _)| at);
        if source.is_some_and(|source| own(source) != own(end.nic)) {
            let document = Document::Packets { machine: flow.dst.to_string() };
            self.push(
                Hop::new(Kind::Machine, &end.wire.dst.to_string())
                    .lacking(document, "the answer goes to another machine"),
            );
            return;
        }
        self.half_paths();
        if (end.wire.src, end.wire.sport) == (flow.dst, flow.dst_port) {
            return;
        }
        let cause = Cause::new(Fault::AsymmetricPath, Object::flow(flow));
        if !self.is_gone(&cause) {
            let why = format!("the answer comes from {}, and {} was called", end.wire.src, flow.dst);
            let hop = Hop::new(Kind::Machine, &flow.src.to_string()).stopped(Effect::new(cause, why));
            self.push(hop);
        }
    }

    /// Takes an answer from outside into the caller's machine.
    fn receive_answer(&mut self, from: usize, wire: Wire) {
        let Some((at, machine)) = self.asked.estate.machine_of(from) else { return };
        let wire = self.undo(at, wire);
        let mut passage = self.passage(machine, wire, PacketRole::ToHost);
        passage.input = self
            .asked
            .estate
            .nic(from)
            .and_then(|nic| nic.addresses.first())
            .and_then(|own| machine.device(*own));
        let before = self.list().len();
        self.filters(Kind::GuestInput, at, machine, &mut passage, &[Hook::Prerouting]);
        self.filters(Kind::GuestInput, at, machine, &mut passage, &[Hook::Input]);
        self.join_last(before);
    }
}
