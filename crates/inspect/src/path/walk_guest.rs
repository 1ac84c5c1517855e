//! The machines on the path of a flow: their routes, packet filters, shaping and listeners.

use std::net::IpAddr;

use super::carry::settings;
use super::document::{Document, GuestDocument, Known};
use super::estate::{Machine, is_six};
use super::fault::{Cause, Fault, Object};
use super::filter::{Passage, Tracking};
use super::flow::{Part, Protocol, Wire};
use super::hop::{Effect, Hop, Kind, Side};
use super::routing::Choice;
use super::ruleset_change::PacketRole;
use super::socket::{Listener, Listens, listens};
use super::translate::Translation;
use super::walk::{Undo, Walk};
use crate::netfilter::Hook;

impl<'a> Walk<'a> {
    pub(super) fn is_gone(&self, cause: &Cause) -> bool {
        self.asked.gone.contains(cause)
    }

    /// Asks whether a machine runs.
    pub(super) fn running(&mut self, machine: &Machine) {
        let cause = Cause::new(Fault::VmStopped, Object::Machine { machine: machine.name.clone() });
        let hop = Hop::new(Kind::Machine, &machine.name);
        let is_off = machine.running == Some(false) && !self.is_gone(&cause);
        let is_odd = is_off || matches!(machine.routing, Known::Failed(_));
        if is_odd && self.taken_away(machine) {
            return;
        }
        match machine.running {
            Some(false) if !self.is_gone(&cause) => {
                let effect = Effect::new(cause, format!("{} is not running", machine.name));
                self.push(hop.on(Document::Machines).stopped(effect));
            }
            // Who does not let anybody look in may be one that does not run.
            None if matches!(machine.routing, Known::Failed(_)) => {
                let document = Document::Power { machine: machine.name.clone() };
                self.push(hop.lacking(document, format!("{} could not be looked into", machine.name)));
            }
            Some(_) | None => {}
        }
    }

    pub(super) fn passage(&self, machine: &'a Machine, wire: Wire, place: PacketRole) -> Passage<'a> {
        let gone = self.asked.gone;
        let (tracking, opening) = (Tracking::default(), Tracking::default());
        Passage {
            machine: &machine.name,
            wire,
            place,
            input: None,
            output: None,
            gone,
            mark: Some(0),
            tracking,
            opening,
        }
    }

    /// Asks the routes of a machine itself by which device a packet leaves.
    pub(super) fn guest_route(&mut self, machine: &Machine, nic: usize, wire: Wire) -> Option<Vec<String>> {
        let document = Document::Guest { machine: machine.name.clone(), document: GuestDocument::Routes };
        let own = self.asked.estate.nic(nic).and_then(|nic| nic.addresses.first().copied());
        let fallback = || own.and_then(|own| machine.device(own)).map(|device| vec![device]);
        let Some(routing) = machine.routing.read() else {
            let why = format!("whether it has a route there: {}", machine.routing.why_not());
            self.push(Hop::new(Kind::GuestRoute, &machine.name).lacking(document, why));
            return fallback();
        };
        let mut hop = Hop::new(Kind::GuestRoute, &machine.name).on(document.clone());
        if let Some(doubt) = routing.doubt(wire.src, wire.dst) {
            hop = hop.lacking(document, doubt);
        }
        let machine_name = || machine.name.clone();
        let mut choice = routing.choose(wire.dst);
        let behind;
        if let Choice::Refuse(route, word) = choice {
            let object = Object::GuestRoute { machine: machine_name(), prefix: route.prefix.to_string() };
            let cause = Cause::new(Fault::StaticBlackhole, object);
            if !self.is_gone(&cause) {
                let why = format!("the route `{word} {}` of {} throws it away", route.prefix, machine.name);
                hop.stops.push(Effect {
                    rule: Some(format!("{word} {}", route.prefix)),
                    ..Effect::new(cause, why)
                });
            }
            behind = routing.without_refusals(wire.dst);
            choice = behind.choose(wire.dst);
        }
        let devices = match choice {
            Choice::Send(devices) => {
                hop.reason = format!("{} sends it by {}", machine.name, devices.join(", "));
                Some(devices.to_vec()).filter(|devices| !devices.is_empty())
            }
            Choice::Down(route) => {
                let (cause, why) = (Cause::new(Fault::NoPath, Object::flow(self.asked.flow)), &machine.name);
                let why = format!(
                    "{why} sends it by a device without a carrier: the route {} is down",
                    route.prefix
                );
                if !self.is_gone(&cause) {
                    hop.stops.push(Effect::new(cause, why));
                }
                None
            }
            Choice::Refuse(..) | Choice::Nothing => {
                let object = Object::GuestRoute { machine: machine_name(), prefix: "default".to_owned() };
                let cause = Cause::new(Fault::NoGuestRoute, object);
                if !self.is_gone(&cause) {
                    let why = format!("{} has no route to {}", machine.name, wire.dst);
                    hop.stops.push(Effect::new(cause, why));
                }
                None
            }
        };
        if let Some([device]) = devices.as_deref()
            && machine.links.down.contains(device)
        {
            let cause = Cause::new(Fault::NoPath, Object::flow(self.asked.flow));
            if !self.is_gone(&cause) {
                hop.stops
                    .push(Effect::new(cause, format!("the device {device} of {} is down", machine.name)));
            }
        }
        // Where a tunnel or a device of the machine's own leads is not in the documents.
        let own = machine.nics.iter().filter_map(|at| self.asked.estate.nic(*at));
        let standing: Vec<String> =
            own.flat_map(|nic| &nic.addresses).filter_map(|address| machine.device(*address)).collect();
        let away = devices.iter().flatten().find(|device| !standing.is_empty() && !standing.contains(device));
        if let Some(device) = away {
            let document = Document::Guest { machine: machine.name.clone(), document: GuestDocument::Routes };
            hop =
                hop.lacking(document, format!("it leaves by {device}, at which no network interface stands"));
        }
        self.push(hop);
        devices.or_else(fallback)
    }

    /// Asks whether a machine has the address that is called, at a device that is up.
    pub(super) fn own_address(&mut self, machine: &Machine, address: IpAddr) {
        let document = Document::Guest { machine: machine.name.clone(), document: GuestDocument::Addresses };
        let mut hop = Hop::new(Kind::Machine, &machine.name).on(document.clone());
        let Some(all) = machine.addresses.read() else {
            // Who does not let anybody look in is named for it already.
            if machine.filters.read().is_some() {
                let why = format!("whether it has the address {address}: {}", machine.addresses.why_not());
                self.push(hop.lacking(document, why));
            }
            return;
        };
        let device = all.iter().find(|(_, own)| own.contains(&address)).map(|(device, _)| device);
        let why = match device {
            None => format!("{} does not have the address {address} at any device", machine.name),
            Some(device) if machine.links.down.contains(device) => {
                format!("the device {device} of {}, which has {address}, is down", machine.name)
            }
            Some(_) => return,
        };
        let cause = Cause::new(Fault::NoPath, Object::flow(self.asked.flow));
        if !self.is_gone(&cause) {
            hop.stops.push(Effect::new(cause, why));
        }
        self.push(hop);
    }

    /// Takes a packet through hooks of a machine's packet filter.
    pub(super) fn filters(
        &mut self,
        kind: Kind,
        at: usize,
        machine: &Machine,
        passage: &mut Passage<'a>,
        hooks: &[Hook],
    ) {
        let document = Document::Guest { machine: machine.name.clone(), document: GuestDocument::Filters };
        let mut hop = Hop::new(kind, &machine.name);
        let passes_on = matches!(kind, Kind::GuestForward);
        let mut doubtful = false;
        if passage.wire.part == Part::Answer {
            passage.opening = self.tracking.get(&at).copied().unwrap_or_default();
        }
        match &machine.filters {
            Known::Read(filters) => {
                hop = hop.on(document.clone()).passing(format!("no rule of {} stops it", machine.name));
                for hook in hooks {
                    let passed = filters.pass(passage, *hook);
                    hop.allowed = passed.allowed.or(hop.allowed);
                    merge(&mut hop.stops, passed.stops);
                    merge(&mut hop.shares, passed.shares);
                    for doubt in passed.doubts {
                        hop = hop.lacking(document.clone(), format!("the rules depend on {doubt}"));
                        doubtful = true;
                    }
                    match passed.translation {
                        None => {}
                        Some(Translation::Unknown(why)) => {
                            hop = hop.lacking(document.clone(), why);
                            doubtful = true;
                        }
                        Some(translation) => self.translate(at, machine, passage, &translation),
                    }
                }
                if passage.wire.part == Part::Opening {
                    self.tracking.insert(at, passage.tracking);
                }
                let gaps = filters.gaps(is_six(passage.wire.src));
                if !gaps.is_empty() {
                    hop = hop.lacking(document, gaps.join("; "));
                    doubtful = true;
                }
            }
            other @ (Known::Absent | Known::Failed(_)) => {
                hop = hop.lacking(document, other.why_not());
                doubtful = true;
            }
        }
        self.push(hop);
        // What passes packets on may translate them.
        self.uncertain |= doubtful && passes_on;
    }

    pub(super) fn translate(
        &mut self,
        at: usize,
        machine: &Machine,
        passage: &mut Passage<'a>,
        translation: &Translation,
    ) {
        let before = passage.wire;
        match translation {
            Translation::Destination { address, own, port } => {
                passage.wire.dst = address.filter(|_| !own).unwrap_or(passage.wire.dst);
                passage.wire.dport = port.filter(|_| before.dport.is_some()).or(passage.wire.dport);
                if passage.place != PacketRole::FromHost {
                    let here = self.asked.estate.owns(machine, passage.wire.dst);
                    passage.place = if here { PacketRole::ToHost } else { PacketRole::Through };
                }
            }
            Translation::Source(address) => {
                let nics = machine.nics.iter().filter_map(|nic| self.asked.estate.nic(*nic));
                let by_device = nics.flat_map(|nic| nic.addresses.iter().copied()).find(|own| {
                    own.is_ipv4() == before.src.is_ipv4()
                        && passage
                            .output
                            .as_ref()
                            .is_none_or(|device| machine.device(*own).is_none_or(|own| own == *device))
                });
                passage.wire.src = address.or(by_device).unwrap_or(before.src);
            }
            Translation::Unknown(_) => {}
        }
        if passage.wire != before && before.part == Part::Opening {
            self.translated.push(Undo { machine: at, before, after: passage.wire });
        }
    }

    /// Gives an answer the ends back that a machine changed on the forward path.
    pub(super) fn undo(&self, machine: usize, mut wire: Wire) -> Wire {
        if wire.part == Part::Opening {
            return wire;
        }
        for undo in self.translated.iter().rev().filter(|undo| undo.machine == machine) {
            let after = undo.after.answer();
            if (wire.src, wire.sport, wire.dst, wire.dport)
                == (after.src, after.sport, after.dst, after.dport)
            {
                let part = wire.part;
                wire = Wire { part, ..undo.before.answer() };
            }
        }
        wire
    }

    pub(super) fn shaping(&mut self, machine: &Machine, devices: Option<&[String]>, wire: &Wire) {
        let document = Document::Guest { machine: machine.name.clone(), document: GuestDocument::Shaping };
        let mut hop = Hop::new(Kind::Shaping, &machine.name);
        match machine.shaping.read() {
            Some(shaping) => {
                hop = hop
                    .on(document.clone())
                    .passing(format!("no device of {} that sends it delays or loses", machine.name));
                let met = shaping.meets(&machine.name, devices, wire, self.asked.flow);
                hop.degrades.extend(met.effects.into_iter().filter(|effect| !self.is_gone(&effect.cause)));
                hop.stops.extend(met.stops.into_iter().filter(|effect| !self.is_gone(&effect.cause)));
                for doubt in met.doubts {
                    hop = hop.lacking(document.clone(), doubt);
                }
            }
            None => hop = hop.lacking(document, machine.shaping.why_not()),
        }
        self.push(hop);
    }

    /// Asks the filters of the device by which a packet comes to a machine.
    pub(super) fn arrival(&mut self, machine: &Machine, device: Option<&str>, wire: &Wire) {
        let Some(shaping) = machine.shaping.read() else { return };
        let met = shaping.arrives(&machine.name, device, wire, self.asked.flow);
        if met.is_empty() {
            return;
        }
        let document = Document::Guest { machine: machine.name.clone(), document: GuestDocument::Shaping };
        let mut hop = Hop::new(Kind::Shaping, &machine.name).on(document.clone());
        hop.degrades.extend(met.effects.into_iter().filter(|effect| !self.is_gone(&effect.cause)));
        hop.stops.extend(met.stops.into_iter().filter(|effect| !self.is_gone(&effect.cause)));
        for doubt in met.doubts {
            hop = hop.lacking(document.clone(), doubt);
        }
        self.push(hop);
    }

    /// Makes one hop of both hooks of a machine that receives.
    pub(super) fn join_last(&mut self, from: usize) {
        let list = self.list();
        while list.len() > from + 1 {
            let Some(hop) = list.pop() else { return };
            let Some(first) = list.last_mut() else { return };
            absorb(first, hop);
        }
    }

    /// Asks whether a machine with several devices refuses what it would answer by another one.
    pub(super) fn reverse_path(&mut self, machine: &Machine, passage: &Passage<'_>) {
        let (Some(routing), Some(input)) = (machine.routing.read(), passage.input.as_ref()) else { return };
        let Choice::Send(devices) = routing.choose(passage.wire.src) else { return };
        if devices.is_empty() || devices.contains(input) || passage.wire.src.is_ipv6() {
            return;
        }
        let mut hop = Hop::new(Kind::GuestRoute, &machine.name).on(settings(&machine.name));
        match machine.is_strict(input) {
            None => {
                hop = hop.lacking(
                    settings(&machine.name),
                    "whether it refuses what it would answer by another device",
                )
            }
            Some(false) => hop.reason = format!("{} answers by another device", machine.name),
            Some(true) => {
                let key = format!("net.ipv4.conf.{input}.rp_filter");
                let cause =
                    Cause::new(Fault::RpFilterDrop, Object::Sysctl { machine: machine.name.clone(), key });
                if !self.is_gone(&cause) {
                    let why = format!(
                        "{} would answer by {}, and refuses what comes by {input}",
                        machine.name,
                        devices.join(", ")
                    );
                    hop.stops.push(Effect::new(cause, why));
                }
            }
        }
        self.push(hop);
    }

    pub(super) fn listener(&mut self, machine: &Machine, wire: &Wire, input: usize) {
        let flow = self.asked.flow;
        let (Some(port), false) = (wire.dport, flow.protocol == Protocol::Icmp) else { return };
        let document = Document::Guest { machine: machine.name.clone(), document: GuestDocument::Sockets };
        let mut hop = Hop::new(Kind::Listener, &machine.name);
        let Some(all) = machine.listeners(flow.protocol).read() else {
            let hop = hop.lacking(document, machine.listeners(flow.protocol).why_not());
            return self.push(hop);
        };
        hop = hop.on(document);
        let fault = if flow.protocol == Protocol::Tcp { Fault::TcpRefused } else { Fault::UdpRefused };
        let cause = Cause::new(fault, Object::flow(flow));
        let device = machine.device(wire.dst);
        let through: Vec<&str> = device
            .iter()
            .flat_map(|own| [Some(own.as_str()), machine.links.masters.get(own).map(String::as_str)])
            .flatten()
            .collect();
        let why = match listens(all, wire.dst, port, &through) {
            Listens::Here(one) => {
                let program = one.program.as_deref().unwrap_or("a program");
                return self.push(hop.passing(format!("{program} listens at {}:{port}", one.address)));
            }
            Listens::Elsewhere(others) => {
                let place = |one: &&Listener| match &one.device {
                    Some(device) => format!("{} of the device {device}", one.address),
                    None => one.address.to_string(),
                };
                let places: Vec<String> = others.iter().map(place).collect();
                format!("on {} port {port} is listened to at {} alone", machine.name, places.join(", "))
            }
            Listens::Nobody => format!("nobody listens on {}/{port} of {}", flow.protocol, machine.name),
        };
        if !self.is_gone(&cause) {
            // Where the filter is not known the port may be another one by now.
            let open = self.list().get(input).is_some_and(|hop| !hop.missing.is_empty());
            let effects = if open { &mut hop.possible } else { &mut hop.stops };
            effects.push(Effect::new(cause, why));
        }
        self.push(hop);
    }

    /// Judges what follows the answer at appliances that the answer did not pass: to them it belongs to nothing.
    pub(super) fn follow_up(&mut self) {
        if self.asked.flow.protocol != Protocol::Tcp || self.uncertain {
            return;
        }
        self.side = Side::Forward;
        for (at, mut passage) in std::mem::take(&mut self.appliances) {
            let Some(machine) = self.asked.estate.machines.get(at) else { continue };
            if self.returned_by.contains(&at) || self.is_end(at) {
                continue;
            }
            passage.wire.part = Part::Later;
            passage.mark = Some(0);
            let Some(filters) = machine.filters.read() else { continue };
            let passed = filters.pass(&mut passage, Hook::Forward);
            let document =
                Document::Guest { machine: machine.name.clone(), document: GuestDocument::Filters };
            let mut hop = Hop::new(Kind::GuestForward, &machine.name).on(document.clone());
            hop.reason =
                format!("{} does not see the answers, and lets pass what follows them", machine.name);
            hop.stops = passed.stops;
            hop.shares = passed.shares;
            for doubt in passed.doubts {
                hop = hop.lacking(
                    document.clone(),
                    format!("the rules for what follows the answer depend on {doubt}"),
                );
            }
            let known: Vec<Cause> =
                self.forward.iter().flat_map(|hop| &hop.stops).map(|effect| effect.cause.clone()).collect();
            hop.stops.retain(|effect| !known.contains(&effect.cause));
            self.push(hop);
        }
    }

    /// Takes a packet from a machine to itself.
    pub(super) fn inside_one(&mut self, nic: usize, wire: Wire) {
        let Some((at, machine)) = self.asked.estate.machine_of(nic) else { return };
        for (side, wire) in [(Side::Forward, wire), (Side::Return, wire.answer())] {
            self.side = side;
            let mut passage = self.passage(machine, wire, PacketRole::FromHost);
            passage.output = Some("lo".to_owned());
            self.filters(Kind::GuestOutput, at, machine, &mut passage, &[Hook::Output, Hook::Postrouting]);
            let before = self.list().len();
            let mut passage = self.passage(machine, wire, PacketRole::ToHost);
            passage.input = Some("lo".to_owned());
            self.filters(Kind::GuestInput, at, machine, &mut passage, &[Hook::Prerouting]);
            self.filters(Kind::GuestInput, at, machine, &mut passage, &[Hook::Input]);
            self.join_last(before);
            if side == Side::Forward {
                self.listener(machine, &wire, before);
            }
        }
    }
}

pub(super) fn one(devices: Option<&[String]>) -> Option<String> {
    match devices {
        Some([device]) => Some(device.clone()),
        Some(_) | None => None,
    }
}

/// Adds what a later hook of the same machine does.
pub(super) fn absorb(into: &mut Hop, later: Hop) {
    merge(&mut into.stops, later.stops);
    merge(&mut into.shares, later.shares);
    merge(&mut into.possible, later.possible);
    into.allowed = later.allowed.or(into.allowed.take());
    let new: Vec<_> = later.missing.into_iter().filter(|one| !into.missing.contains(one)).collect();
    into.missing.extend(new);
}

pub(super) fn merge(into: &mut Vec<Effect>, more: Vec<Effect>) {
    for effect in more {
        if !into.iter().any(|own| own.cause == effect.cause) {
            into.push(effect);
        }
    }
}
