//! Follows a flow over the machines: routes, devices, neighbors, filters, forwarding and listeners, at every machine of its path.

use std::net::IpAddr;

use super::answer::Answer;
use super::context::{Flow, Protocol};
use super::fault::Fault;
use super::filter::{self, is_private};
use super::finding::{Certainty, Finding, Weight};
use super::gathered::Part;
use super::hop;
use super::model::Host;
use super::network::Network;
use super::object::Object;
use super::route::{Route, Routed, RoutedPacket};
use crate::netfilter::{Hook, Packet, State, Verdict, walk_host};

/// The most machines of a path.
const MAX_HOPS: usize = 16;
/// A source port as clients have them.
const SOURCE_PORT: u16 = 40_000;

/// How a path ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// Where it should.
    Reached,
    /// Something stops it.
    Stopped,
    /// At a machine that was not gathered.
    Outside,
    /// What would tell was not read.
    NotKnown,
}

/// A machine that a flow passes: by which device it comes, by which it leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Passed {
    pub(super) host: String,
    pub(super) input: Option<String>,
    pub(super) output: Option<String>,
}

/// One direction of a flow, on its path.
#[derive(Debug, Clone)]
pub(super) struct Trace {
    pub(super) end: End,
    pub(super) passed: Vec<Passed>,
    pub(super) findings: Vec<Finding>,
    pub(super) missing: Vec<String>,
    /// The source as the far end sees it.
    pub(super) seen_as: Option<IpAddr>,
}

/// One direction of a flow, as it begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Start<'a> {
    pub(super) flow: &'a Flow,
    /// Whether it is the answer.
    pub(super) is_answer: bool,
    pub(super) source: Option<IpAddr>,
    pub(super) destination: IpAddr,
    /// The machines that saw the other direction.
    pub(super) seen: &'a [Passed],
}

/// Follows one direction from a machine.
pub(super) fn follow(network: &Network<'_>, from: &Host, start: Start<'_>) -> Trace {
    let trace = Trace {
        end: End::NotKnown,
        passed: Vec::new(),
        findings: Vec::new(),
        missing: Vec::new(),
        seen_as: start.source,
    };
    Walker { network, start }.step(trace, from, None)
}

/// Asks the filters of both ends of one link about a packet that no route decides, such as one to everybody there: those of the sender,
/// where it is given with its device, and those of the receiver.
pub(super) fn on_link(
    network: &Network<'_>,
    flow: &Flow,
    sender: Option<(&Host, &str)>,
    (receiver, device): (&Host, &str),
) -> Option<Finding> {
    let start = Start { flow, is_answer: false, source: flow.source, destination: flow.to, seen: &[] };
    let walker = Walker { network, start };
    let trace = Trace {
        end: End::NotKnown,
        passed: Vec::new(),
        findings: Vec::new(),
        missing: Vec::new(),
        seen_as: flow.source,
    };
    let out = sender.into_iter().flat_map(|(host, device)| {
        [Hook::Output, Hook::Postrouting].map(|hook| walker.filtered(host, hook, &trace, None, Some(device)))
    });
    let into = [Hook::Prerouting, Hook::Input];
    let into = into.map(|hook| walker.filtered(receiver, hook, &trace, Some(device), None));
    out.chain(into).find_map(|answer| answer.err().flatten()).map(|found| *found)
}

struct Walker<'a, 'n> {
    network: &'a Network<'n>,
    start: Start<'a>,
}

impl Walker<'_, '_> {
    fn stopped(mut trace: Trace, finding: Finding) -> Trace {
        trace.findings.push(finding);
        Trace { end: End::Stopped, ..trace }
    }

    fn unknown(mut trace: Trace, what: String) -> Trace {
        trace.missing.push(what);
        Trace { end: End::NotKnown, ..trace }
    }

    /// A packet is at a machine: it came by a device, or begins here.
    fn step(&self, mut trace: Trace, host: &Host, input: Option<&str>) -> Trace {
        let to = self.start.destination;
        if trace.passed.len() >= MAX_HOPS
            || trace.passed.iter().any(|one| one.host == host.name && one.input.as_deref() == input)
        {
            return Self::unknown(trace, format!("the path goes round in a circle at {}", host.name));
        }
        trace.passed.push(Passed { host: host.name.clone(), input: input.map(str::to_owned), output: None });
        if let Some(input) = input {
            if let Some(found) = hop::reverse_path(host, input, trace.seen_as) {
                return Self::stopped(trace, found);
            }
            match self.filtered(host, Hook::Prerouting, &trace, Some(input), None) {
                Ok(()) => {}
                Err(Some(found)) => return Self::stopped(trace, *found),
                Err(None) => trace.missing.push(format!("whether a filter of {} lets it in", host.name)),
            }
        }
        if host.owns(to).is_yes() {
            return self.arrived(trace, host, input);
        }
        if let Some(input) = input
            && let Some(found) = hop::forwarding(host, input, to.is_ipv6())
        {
            return Self::stopped(trace, found);
        }
        let packet = RoutedPacket { destination: to, source: trace.seen_as, input };
        match host.routed(packet) {
            Routed::NotKnown(why) => Self::unknown(trace, format!("the routes of {}: {why}", host.name)),
            Routed::Nowhere => {
                let found = hop::nowhere(self.network, host, self.start, input.is_some());
                Self::stopped(trace, found)
            }
            Routed::Refused(rule) => {
                let object = Object::Rule { host: host.name.clone(), priority: rule.priority };
                let proof = (host.name.as_str(), Part::Rules, rule.line());
                Self::stopped(
                    trace,
                    Finding::new((Weight::Broken, Certainty::Confirmed), Fault::PolicyRule, object, proof),
                )
            }
            Routed::By(route, rule) if route.throws_away() => {
                let own = rule.filter(|_| !matches!(route.table.as_str(), "main" | "local" | "default"));
                let (fault, object) = match own {
                    Some(rule) => {
                        (Fault::PolicyRule, Object::Rule { host: host.name.clone(), priority: rule.priority })
                    }
                    None => (
                        Fault::StaticBlackhole,
                        Object::Route { host: host.name.clone(), prefix: route.object() },
                    ),
                };
                let proof = (host.name.as_str(), Part::Routes, route.line());
                let mut found = Finding::new((Weight::Broken, Certainty::Confirmed), fault, object, proof);
                if let Some(rule) = own {
                    found = found.and(&host.name, Part::Rules, rule.line());
                }
                Self::stopped(trace, found)
            }
            Routed::By(route, _) => self.sent(trace, host, route, input),
        }
    }

    /// Every next hop of a route is tried: one that is dead among several is a fault of its own.
    fn sent(&self, mut trace: Trace, host: &Host, route: &Route, input: Option<&str>) -> Trace {
        if trace.seen_as.is_none() {
            let device = route.next_hops().first().map(|(_, device)| device.clone());
            let own = host.global().find(|own| {
                Some(&own.device) == device.as_ref() && own.ip().is_ipv4() == self.start.destination.is_ipv4()
            });
            trace.seen_as = route.source.or_else(|| own.map(super::link::Address::ip));
        }
        let hops = route.next_hops();
        let mut traces: Vec<Trace> = hops
            .iter()
            .map(|(via, device)| self.leave(trace.clone(), host, route, (*via, device), input))
            .collect();
        if traces.len() < 2 {
            return traces.pop().unwrap_or_else(|| {
                Self::unknown(trace, format!("the route {} names no device", route.line()))
            });
        }
        let dead = |trace: &Trace| trace.end == End::Stopped;
        if traces.iter().any(|one| !dead(one)) {
            let mut found = Vec::new();
            for (own, (via, device)) in traces.iter().zip(&hops) {
                if !dead(own) {
                    continue;
                }
                // What stops it further on is the fault; a next hop that nobody is belongs to the route.
                let beyond = own
                    .findings
                    .iter()
                    .filter(|found| !matches!(found.fault, Fault::WrongGateway | Fault::GatewayDead));
                let beyond: Vec<Finding> = beyond.cloned().collect();
                if beyond.is_empty() {
                    let object = Object::Route { host: host.name.clone(), prefix: route.object() };
                    let next = via.map(|via| via.to_string()).unwrap_or_else(|| device.clone());
                    let proof = (host.name.as_str(), Part::Routes, route.line());
                    let leg =
                        Finding::new((Weight::Broken, Certainty::Confirmed), Fault::EcmpLeg, object, proof);
                    found.push(leg.and(&host.name, Part::Neighbors, format!("{next} does not answer")));
                } else {
                    found.extend(beyond);
                }
            }
            let alive = traces.iter().position(|one| !dead(one)).unwrap_or(0);
            let mut trace = traces.swap_remove(alive);
            trace.findings.extend(found);
            return trace;
        }
        traces.swap_remove(0)
    }

    fn leave(
        &self,
        mut trace: Trace,
        host: &Host,
        route: &Route,
        (via, device): (Option<IpAddr>, &String),
        input: Option<&str>,
    ) -> Trace {
        if let Some(last) = trace.passed.last_mut() {
            last.output = Some(device.clone());
        }
        let hooks: &[Hook] = if input.is_some() {
            &[Hook::Forward, Hook::Postrouting]
        } else {
            &[Hook::Output, Hook::Postrouting]
        };
        for hook in hooks {
            match self.filtered(host, *hook, &trace, input, Some(device)) {
                Ok(()) => {}
                Err(Some(found)) => return Self::stopped(trace, *found),
                Err(None) => trace.missing.push(format!("whether a filter of {} lets it out", host.name)),
            }
        }
        let next = via.unwrap_or(self.start.destination);
        if let Some(found) = hop::container_overlap(self.network, host, route, (via, next), device) {
            return Self::stopped(trace, found);
        }
        if let Some(found) = hop::device_down(self.network, host, device) {
            return Self::stopped(trace, found);
        }
        if let Some(found) = hop::neighbor(self.network, host, route, (via, next), device) {
            return Self::stopped(trace, found);
        }
        if !self.start.is_answer && input.is_some() {
            let translates = filter::translations(host).iter().any(|own| own.covers(device));
            let own = host
                .global()
                .find(|own| &own.device == device && own.ip().is_ipv4() == self.start.destination.is_ipv4());
            if translates && let Some(own) = own {
                trace.seen_as = Some(own.ip());
            }
        }
        let owners = self.network.owners(next);
        let Some((other, address)) = owners.iter().find(|(other, _)| other.name != host.name) else {
            return match hop::lost(self.network, next) {
                Some(found) => Self::stopped(trace, found),
                None => Trace { end: End::Outside, ..trace },
            };
        };
        if let Some(found) = hop::device_down(self.network, other, &address.device) {
            return Self::stopped(trace, found);
        }
        let far = hop::far_device(self.network, host, device, other, &address.device);
        if let Some(found) = far.and_then(|far| hop::sizes(host, device, other, far)) {
            trace.findings.push(found);
        }
        self.step(trace, other, Some(far.unwrap_or(&address.device)))
    }

    fn arrived(&self, mut trace: Trace, host: &Host, input: Option<&str>) -> Trace {
        match self.filtered(host, Hook::Input, &trace, input, None) {
            Ok(()) => {}
            Err(Some(found)) => return Self::stopped(trace, *found),
            Err(None) => trace.missing.push(format!("whether a filter of {} lets it in", host.name)),
        }
        if !self.start.is_answer
            && let Some(found) = hop::listener(host, self.start.flow)
        {
            return Self::stopped(trace, found);
        }
        trace.end = End::Reached;
        trace
    }

    /// Asks the filters of a machine; an error without a finding says that it is open.
    fn filtered(
        &self,
        host: &Host,
        hook: Hook,
        trace: &Trace,
        input: Option<&str>,
        output: Option<&str>,
    ) -> Result<(), Option<Box<Finding>>> {
        let (flow, answer) = (self.start.flow, self.start.is_answer);
        let Some(source) = trace.seen_as.or_else(|| host.global().next().map(super::link::Address::ip))
        else {
            return Ok(());
        };
        let knows = self.start.seen.iter().any(|one| one.host == host.name);
        let state = match (answer, knows) {
            (false, _) => State::New,
            (true, true) => State::Established,
            // Whoever did not see the connection begin takes the answer for nothing that it knows.
            (true, false) => State::Invalid,
        };
        let (sport, dport) = match (answer, flow.port) {
            (false, port) => (Some(SOURCE_PORT), port),
            (true, port) => (port, Some(SOURCE_PORT)),
        };
        let has_ports = matches!(flow.protocol, Protocol::Tcp | Protocol::Udp);
        let six = self.start.destination.is_ipv6();
        let icmp = match (flow.protocol, answer, six) {
            (Protocol::Icmp, false, false) => Some(8),
            (Protocol::Icmp, true, false) => Some(0),
            (Protocol::Icmp, false, true) => Some(128),
            (Protocol::Icmp, true, true) => Some(129),
            (Protocol::Tcp | Protocol::Udp | Protocol::Other(_), ..) => None,
        };
        let packet = Packet {
            hook,
            protocol: flow.protocol.number(six),
            src: source,
            dst: self.start.destination,
            sport: sport.filter(|_| has_ports),
            dport: dport.filter(|_| has_ports),
            input: input.map(str::to_owned),
            output: output.map(str::to_owned),
            state: Some(state),
            icmp_type: icmp,
            tcp_flags: (flow.protocol == Protocol::Tcp).then_some(if answer { 18 } else { 2 }),
            mark: Some(0),
        };
        let Ok(judged) = walk_host(&host.filters, &packet) else { return Ok(()) };
        match judged.verdict {
            Verdict::Accept => match &host.filters_read {
                Answer::Yes | Answer::No => Ok(()),
                Answer::NotKnown(_) => Err(None),
            },
            Verdict::Indeterminate => Err(None),
            Verdict::Drop | Verdict::Reject => {
                let one = judged.answers.iter().find(|one| one.answer.verdict == judged.verdict);
                let Some(one) = one else { return Err(None) };
                Err(Some(Box::new(hop::refused(host, &packet, (flow, state), &one.answer))))
            }
        }
    }
}

/// Tells whether answers find back only if somebody translates.
pub(super) fn needs_translation(source: Option<IpAddr>, far: IpAddr) -> bool {
    source.is_some_and(is_private) && !is_private(far)
}
