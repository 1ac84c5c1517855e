//! The smallest change that takes a cause away, tried on the documents and judged again before anybody reads of it.

use std::collections::BTreeSet;
use std::net::IpAddr;

use super::bundle::Bundle;
use super::change::{Admitted, Change, GuestRule};
use super::document::Reading;
use super::estate::Estate;
use super::fault::{Cause, Fault, Object};
use super::flow::{Flow, Protocol};
use super::hop::{Effect, Hop, Kind, Side};
use super::judge::{Fate, Judgement};
use crate::netfilter::{self, Ruleset};
use crate::nsg::Direction;
use crate::route::Source;

/// So many causes are looked at.
const MAX_REMEDIES: usize = 12;
/// So many rules that are named alike are deleted for one cause.
const MAX_ALIKE: usize = 8;
/// So many other flows are judged before and after.
const MAX_OTHERS: usize = 160;
/// So many ports of a machine are among them.
const MAX_PORTS: usize = 3;
/// Stands for any address outside.
const INTERNET: [u8; 4] = [8, 8, 8, 8];
/// The numbers that a security rule of a user's may have.
const PRIORITIES: std::ops::RangeInclusive<u32> = 100..=4096;

/// What takes a cause away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remedy {
    /// The cause.
    pub cause: Cause,
    /// In which direction it stops or hurts the flows.
    pub side: Side,
    /// What is changed.
    pub changes: Vec<Change>,
    /// What becomes of each flow that it stopped or hurt, once this and the remedies before it are in place.
    pub after: Vec<RepairedFlow>,
    /// Other flows that nothing certain stops any more.
    pub opened: Vec<Flow>,
    /// Other flows that passed before and do not any more.
    pub closed: Vec<Flow>,
    /// Other flows that it slowed or damaged, too, and that pass unhurt then.
    pub eased: usize,
    /// How many other flows were judged.
    pub others: usize,
    /// Other flows that would be let through, had the cause been taken away as a whole.
    pub spared: Vec<Flow>,
}

/// A flow after a remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepairedFlow {
    /// The flow.
    pub flow: Flow,
    /// What becomes of it.
    pub fate: Fate,
    /// What stops or hurts it next.
    pub next: Vec<Cause>,
}

/// Finds a remedy for each cause of some flows, first of what stops them, then of what hurts them, each in the order in which a packet meets
/// it: each is tried on the documents with those before it in place. A cause for which nothing holds is left out.
#[must_use]
pub fn remedies(bundle: &Bundle, flows: &[Flow]) -> Vec<Remedy> {
    let bundle = bundle.distinct();
    let mut state = State { estate: Estate::of(&bundle), bundle: bundle.into_owned() };
    let causes = causes(&state.estate, flows);
    if causes.is_empty() {
        return Vec::new();
    }
    let others = others(&state.estate, flows);
    let mut fates = state.estate.fates(&others);
    let mut found = Vec::new();
    for cause in causes.into_iter().take(MAX_REMEDIES) {
        let search = Search { state: &state, flows, cause: &cause, others: &others, fates: &fates };
        let Some((remedy, next)) = search.best() else { continue };
        found.push(remedy);
        fates = next.estate.fates(&others);
        state = next;
    }
    found
}

/// What stops some flows, then what hurts them, each once, from the caller on.
fn causes(estate: &Estate, flows: &[Flow]) -> Vec<Cause> {
    let (mut stops, mut hurts): (Vec<Cause>, Vec<Cause>) = (Vec::new(), Vec::new());
    for judgement in flows.iter().map(|flow| estate.judge(flow)) {
        let known = judgement.findings();
        for (_, hop) in judgement.hops() {
            let keep = |effects: &[Effect], found: &mut Vec<Cause>| {
                for effect in effects {
                    if known.contains(&effect.cause) && !found.contains(&effect.cause) {
                        found.push(effect.cause.clone());
                    }
                }
            };
            keep(&hop.stops, &mut stops);
            keep(&hop.shares, &mut hurts);
            keep(&hop.degrades, &mut hurts);
        }
    }
    hurts.retain(|cause| !stops.contains(cause));
    stops.into_iter().chain(hurts).collect()
}

/// Flows that a change may touch beside those in question: whoever else calls what is called, first of all, then what else the ends call
/// and serve.
fn others(estate: &Estate, flows: &[Flow]) -> Vec<Flow> {
    let machines: Vec<(&str, IpAddr)> =
        estate.machines().filter_map(|name| Some((name, *estate.addresses_of(name).first()?))).collect();
    let mut known: BTreeSet<Flow> = flows.iter().cloned().collect();
    let mut found: Vec<Flow> = Vec::new();
    let mut add = |src: IpAddr, dst: IpAddr, protocol: Protocol, port: Option<u16>| {
        let flow = Flow::new(src, dst, protocol, port).ok().filter(|_| src != dst);
        found.extend(flow.filter(|flow| known.insert(flow.clone())));
    };
    for flow in flows {
        let Flow { dst, protocol, dst_port, .. } = flow;
        machines.iter().for_each(|(_, address)| add(*address, *dst, *protocol, *dst_port));
        let publics = estate.nics.iter().flat_map(|nic| nic.publics.iter().map(|own| own.public));
        publics.into_iter().for_each(|public| add(IpAddr::from(INTERNET), public, *protocol, *dst_port));
    }
    for (name, address) in &machines {
        let served = estate.listeners(name).unwrap_or_default();
        let served = served.into_iter().filter(|one| !one.address.is_some_and(|own| own.is_loopback()));
        let is_end = flows.iter().any(|flow| [flow.src, flow.dst].contains(address));
        for one in served.take(MAX_PORTS) {
            for flow in flows {
                add(flow.src, *address, one.protocol, Some(one.port));
                add(flow.dst, *address, one.protocol, Some(one.port));
            }
            let callers = machines.iter().filter(|_| is_end);
            callers.for_each(|(_, caller)| add(*caller, *address, one.protocol, Some(one.port)));
        }
    }
    for flow in flows {
        for (_, address) in &machines {
            add(flow.src, *address, flow.protocol, flow.dst_port);
            add(*address, flow.src, flow.protocol, flow.dst_port);
        }
    }
    found.truncate(MAX_OTHERS);
    found
}

/// An estate with the documents that it was made from.
struct State {
    bundle: Bundle,
    estate: Estate,
}

impl State {
    fn with(&self, changes: &[Change]) -> Option<Self> {
        let mut bundle = self.bundle.clone();
        for change in changes {
            bundle = change.apply(&bundle, &self.estate)?;
        }
        Some(Self { estate: Estate::of(&bundle), bundle })
    }
}

struct Search<'a> {
    state: &'a State,
    flows: &'a [Flow],
    cause: &'a Cause,
    others: &'a [Flow],
    /// What becomes of the others as it is.
    fates: &'a [Fate],
}

/// Where a cause stands on the path of a flow.
struct Met {
    flow: Flow,
    side: Side,
    hop: Hop,
    effect: Effect,
}

impl Search<'_> {
    /// Returns the candidate that holds and changes the least for others.
    fn best(&self) -> Option<(Remedy, State)> {
        let judged: Vec<Judgement> = self.flows.iter().map(|flow| self.state.estate.judge(flow)).collect();
        let met: Vec<Met> = judged.iter().filter_map(|judgement| self.met(judgement)).collect();
        let first = met.first()?;
        let mut best: Option<(Remedy, State)> = None;
        let mut spared: Vec<Flow> = Vec::new();
        for (at, changes) in self.candidates(&met).into_iter().enumerate() {
            let Some((remedy, next)) = self.attempt(changes, &judged, first.side) else { continue };
            if at == 0 {
                spared.clone_from(&remedy.opened);
            }
            let weight = |remedy: &Remedy| remedy.opened.len() + remedy.closed.len();
            if best.as_ref().is_none_or(|(known, _)| weight(&remedy) < weight(known)) {
                let is_least = weight(&remedy) == 0;
                best = Some((remedy, next));
                if is_least {
                    break;
                }
            }
        }
        let (mut remedy, next) = best?;
        remedy.spared = spared.into_iter().filter(|flow| !remedy.opened.contains(flow)).collect();
        Some((remedy, next))
    }

    fn met(&self, judgement: &Judgement) -> Option<Met> {
        judgement.findings().contains(self.cause).then_some(())?;
        judgement.hops().find_map(|(side, hop)| {
            let mut effects = hop.stops.iter().chain(&hop.shares).chain(&hop.degrades);
            let effect = effects.find(|effect| effect.cause == *self.cause)?;
            Some(Met { flow: judgement.flow.clone(), side, hop: hop.clone(), effect: effect.clone() })
        })
    }

    /// Tries changes: the cause has to be gone for every flow, and nothing may come in its place.
    fn attempt(&self, changes: Vec<Change>, judged: &[Judgement], side: Side) -> Option<(Remedy, State)> {
        let mut changes = changes;
        let mut next = self.state.with(&changes)?;
        for _ in 0..MAX_ALIKE {
            let left = judged.iter().find_map(|before| self.met(&next.estate.judge(&before.flow)));
            let Some(left) = left else { break };
            let more = self.further(changes.last()?, &left, &next)?;
            if changes.contains(&more) {
                return None;
            }
            changes.push(more);
            next = self.state.with(&changes)?;
        }
        let mut after = Vec::new();
        for before in judged {
            let now = next.estate.judge(&before.flow);
            let (old, new) = (before.findings(), now.findings());
            // What no path led to is met once there is one.
            let is_worse = !new.is_subset(&old) && !has_gap(&old) && before.masked.is_empty();
            if new.contains(self.cause) || is_worse {
                return None;
            }
            if old.contains(self.cause) {
                let next: Vec<Cause> = now
                    .stops()
                    .into_iter()
                    .chain(now.hurts())
                    .map(|(_, effect)| effect.cause.clone())
                    .collect();
                after.push(RepairedFlow { flow: before.flow.clone(), fate: now.fate, next });
            }
        }
        let fates = next.estate.fates(self.others);
        let compared = || self.others.iter().zip(self.fates.iter().zip(&fates));
        let is_closed = |fate: &Fate| matches!(fate, Fate::Stopped | Fate::NoPath(_));
        let opened = compared().filter(|(_, (old, new))| is_closed(old) && !is_closed(new));
        let closed = compared().filter(|(_, (old, new))| !is_closed(old) && is_closed(new));
        let is_hurt = |fate: &Fate| matches!(fate, Fate::Degraded | Fate::Partly);
        let eased = compared().filter(|(_, (old, new))| is_hurt(old) && **new == Fate::Passes).count();
        let remedy = Remedy {
            cause: self.cause.clone(),
            side,
            after,
            opened: opened.map(|(flow, _)| flow.clone()).collect(),
            closed: closed.map(|(flow, _)| flow.clone()).collect(),
            eased,
            others: self.others.len(),
            spared: Vec::new(),
            changes,
        };
        Some((remedy, next))
    }

    /// Returns what has to be done as well where a cause is still met: another rule of the same name stands behind the one that is gone,
    /// or the answers meet what the first packet met.
    fn further(&self, last: &Change, left: &Met, next: &State) -> Option<Change> {
        match last {
            Change::DeleteGuestRule(_) => self.guest_rule(next, left).map(Change::DeleteGuestRule),
            Change::AcceptInGuest { machine, table, chain, before, .. } => Some(Change::AcceptInGuest {
                machine: machine.clone(),
                table: table.clone(),
                chain: chain.clone(),
                before: before.clone(),
                admitted: Admitted::of(&left.flow, self.inside(left.flow.dst), left.side, &self.state.estate),
            }),
            Change::DeleteSecurityRule { .. }
            | Change::AllowInGroup { .. }
            | Change::DeleteRoute { .. }
            | Change::AddRoute { .. }
            | Change::ForwardAtInterface { .. }
            | Change::LetForwardedIn { .. }
            | Change::Unban { .. }
            | Change::RemoveShaping { .. } => None,
        }
    }

    /// Returns what may take the cause away, what is preferred first. Nothing that catches all is ever among what is deleted.
    fn candidates(&self, met: &[Met]) -> Vec<Vec<Change>> {
        let Some(first) = met.first() else { return Vec::new() };
        let catches_all = met.iter().any(|one| one.effect.catches_all);
        match (&self.cause.object, self.cause.fault) {
            (Object::NsgRule { group, rule }, Fault::NsgDeny) => {
                let delete = Change::DeleteSecurityRule { group: group.clone(), rule: rule.clone() };
                let whole = (!catches_all).then(|| vec![delete]);
                whole.into_iter().chain(self.allow(group, rule, met)).collect()
            }
            (Object::Route { table, route }, _) => self.route(table, route, first),
            (Object::GuestRule { .. } | Object::GuestChain { .. }, _) => {
                let rule = self.guest_rule(self.state, first);
                let whole = rule.filter(|_| !catches_all).map(|rule| vec![Change::DeleteGuestRule(rule)]);
                whole.into_iter().chain(self.accept(met)).collect()
            }
            (Object::Ban { machine, chain, ip }, _) => {
                // A range that is banned holds others than the ends of the flow.
                let ends: BTreeSet<IpAddr> =
                    met.iter().flat_map(|one| [one.flow.src, one.flow.dst]).collect();
                let own = ip.parse::<IpAddr>().ok().filter(|ip| ends.contains(ip));
                let lift = |ip| vec![Change::Unban { machine: machine.clone(), chain: chain.clone(), ip }];
                own.map(lift).into_iter().collect()
            }
            (Object::Qdisc { machine, device }, _) => {
                vec![vec![Change::RemoveShaping { machine: machine.clone(), device: device.clone() }]]
            }
            (Object::Peering { network, peering }, Fault::PeeringForwardingOff) => {
                let (network, peering) = (network.clone(), peering.clone());
                vec![vec![Change::LetForwardedIn { network, peering }]]
            }
            (
                Object::NsgRule { .. }
                | Object::Flow { .. }
                | Object::GuestRoute { .. }
                | Object::Sysctl { .. }
                | Object::Machine { .. }
                | Object::Network { .. }
                | Object::Networks { .. }
                | Object::BalancerPort { .. }
                | Object::BalancerPart { .. }
                | Object::BalancerMember { .. }
                | Object::Listener { .. }
                | Object::Endpoint { .. }
                | Object::Zone { .. }
                | Object::NetworkServers { .. }
                | Object::Forwarder { .. }
                | Object::FirewallRule { .. }
                | Object::FirewallPort { .. }
                | Object::FirewallNames { .. }
                | Object::SubnetOutbound { .. }
                | Object::NatGateway { .. }
                | Object::SourceTranslation { .. }
                | Object::Connection { .. }
                | Object::LocalGateway { .. }
                | Object::GatewayPeer { .. }
                | Object::GatewayPrefix { .. }
                | Object::RouteTable { .. }
                | Object::Circuit { .. }
                | Object::CircuitPeering { .. }
                | Object::AppGateway { .. }
                | Object::AppGatewayPart { .. }
                | Object::AppGatewayServer { .. }
                | Object::Cluster { .. }
                | Object::Bastion { .. }
                | Object::Health { .. }
                | Object::Peering { .. },
                _,
            ) => Vec::new(),
        }
    }

    /// Returns the private address behind a public one, as who is called has it.
    fn inside(&self, address: IpAddr) -> IpAddr {
        let nic = self.state.estate.public(address).and_then(|at| self.state.estate.nic(at));
        let own = nic.and_then(|nic| nic.addresses.iter().find(|own| own.is_ipv4() == address.is_ipv4()));
        own.copied().unwrap_or(address)
    }

    /// Lets each flow in before the rule that denies it.
    fn allow(&self, group: &str, rule: &str, met: &[Met]) -> Option<Vec<Change>> {
        let mut changes: Vec<Change> = Vec::new();
        let mut used: Vec<u32> = Vec::new();
        let mut admits: Vec<(Direction, Admitted)> = Vec::new();
        for one in met {
            let is_outbound = one.hop.kind == Kind::GroupOutbound;
            let direction = if is_outbound { Direction::Outbound } else { Direction::Inbound };
            // Behind a load balancer the questions of its probe are denied, not the flow.
            let probes = (one.hop.kind == Kind::Balancer).then(|| self.state.estate.probes(&one.flow));
            match probes.filter(|probes| !probes.is_empty()) {
                Some(probes) => admits.extend(probes.iter().map(|probe| {
                    (direction, Admitted::of(probe, probe.dst, Side::Forward, &self.state.estate))
                })),
                None => {
                    let dst = match direction {
                        Direction::Inbound => self.inside(one.flow.dst),
                        Direction::Outbound => one.flow.dst,
                    };
                    admits.push((direction, Admitted::of(&one.flow, dst, one.side, &self.state.estate)));
                }
            }
        }
        let mut known: Vec<Admitted> = Vec::new();
        for (direction, admitted) in admits {
            if known.contains(&admitted) {
                continue;
            }
            known.push(admitted.clone());
            let priority = self.free_priority(group, rule, direction, &used)?;
            used.push(priority);
            let (group, before) = (group.to_owned(), rule.to_owned());
            let name = name_of(&admitted);
            let change = Change::AllowInGroup { group, before, name, priority, direction, admitted };
            changes.push(change);
        }
        Some(changes)
    }

    /// Returns the highest number below that of a rule that no rule of its direction has.
    fn free_priority(&self, group: &str, rule: &str, direction: Direction, used: &[u32]) -> Option<u32> {
        let rulesets = self.state.estate.nics.iter().filter_map(|nic| nic.rules.read());
        let mut groups = rulesets.flat_map(|ruleset| ruleset.groups());
        let own = groups.find(|own| own.name.as_deref() == Some(group))?;
        let rules = || own.rules.iter().filter(|rule| rule.may_apply(direction));
        let denies = rules().find(|own| own.name == rule)?.priority?;
        let is_free =
            |number: &u32| !used.contains(number) && !rules().any(|own| own.priority == Some(*number));
        let (first, last) = (*PRIORITIES.start(), (*PRIORITIES.end()).min(denies.saturating_sub(1)));
        (first..=last).rev().find(is_free)
    }

    fn route(&self, table: &str, route: &str, met: &Met) -> Vec<Vec<Change>> {
        let (table, name) = (table.to_owned(), route.to_owned());
        let to = match met.side {
            Side::Forward => met.flow.dst,
            Side::Return => met.flow.src,
        };
        let mut found = Vec::new();
        found.extend(self.idle_appliance(&table, &name).map(|nic| vec![Change::ForwardAtInterface { nic }]));
        found.push(vec![Change::DeleteRoute { table: table.clone(), route: name }]);
        let estate = &self.state.estate;
        let own =
            estate.nics.iter().find(|nic| nic.name == met.hop.at).and_then(|nic| nic.network.as_deref());
        let network = estate.network_of(to).map(|network| network.name.as_str());
        let hop = match (network, own) {
            (Some(there), Some(own)) => there.eq_ignore_ascii_case(own).then_some("VnetLocal"),
            (None, _) => (!estate.is_inside(to)).then_some("Internet"),
            (Some(_), None) => None,
        };
        if let Some(hop) = hop {
            let name = format!("to-{}", to.to_string().replace(['.', ':', '/'], "-"));
            found.push(vec![Change::AddRoute { table, name, to, hop }]);
        }
        found
    }

    /// Returns the interface of the appliance to which a route leads, where it does not forward.
    fn idle_appliance(&self, table: &str, route: &str) -> Option<String> {
        let estate = &self.state.estate;
        let own = estate.nics.iter().filter(|nic| nic.table.as_deref() == Some(table));
        let mut routes = own.filter_map(|nic| Some((nic, nic.routes.read()?.routes())));
        let hop = routes.find_map(|(nic, routes)| {
            let is = |row: &&crate::route::Route| {
                let named = nic.names.iter().any(|(prefix, name)| *prefix == row.prefix && name == route);
                row.row.source == Source::User && (named || row.row.name.as_deref() == Some(route))
            };
            routes.iter().find(is)?.row.hop_ips.first()?.parse::<IpAddr>().ok()
        })?;
        let nic = estate.owners(hop).first().and_then(|at| estate.nic(*at))?;
        (nic.forwards == Some(false)).then(|| nic.name.clone())
    }

    /// Finds the rule of a guest that stops or hurts a flow, as its source shows it.
    fn guest_rule(&self, state: &State, met: &Met) -> Option<GuestRule> {
        let raw = met.effect.rule.as_deref()?;
        let (machine, table, chain) = place(&met.effect.cause.object)?;
        rules(state, machine, met.flow.src.is_ipv6()).into_iter().find_map(|ruleset| {
            let own = ruleset.tables.iter().find(|own| own.name.replacen(' ', ":", 1) == table)?;
            let rules = &own.chains.iter().find(|own| own.name == chain)?.rules;
            let rule = rules.iter().find(|rule| rule.raw == raw)?;
            Some(GuestRule {
                machine: machine.to_owned(),
                table: table.to_owned(),
                chain: chain.to_owned(),
                position: rule.position,
                handle: rule.handle,
                raw: raw.to_owned(),
                is_six: met.flow.src.is_ipv6(),
            })
        })
    }

    /// Lets each flow in before what stops it, in the chain that belongs to whoever administers the machine.
    fn accept(&self, met: &[Met]) -> Vec<Vec<Change>> {
        let Some(first) = met.first() else { return Vec::new() };
        let Some((machine, table, chain)) = place(&first.effect.cause.object) else { return Vec::new() };
        let before = self.guest_rule(self.state, first);
        let six = first.flow.src.is_ipv6();
        let mut places: Vec<(String, Option<GuestRule>)> = Vec::new();
        let is_forward = first.hop.kind == Kind::GuestForward;
        let is_output = first.hop.kind == Kind::GuestOutput;
        let hook = if is_forward {
            "forward"
        } else if is_output {
            "output"
        } else {
            "input"
        };
        for ruleset in rules(self.state, machine, six) {
            let Some(own) = ruleset.tables.iter().find(|own| own.name.replacen(' ', ":", 1) == table) else {
                continue;
            };
            let is_owned = |name: &str| name.strip_prefix("ufw-user-") == Some(hook);
            let zone =
                |name: &str| hook == "input" && name.starts_with("filter_IN_") && name.ends_with("_allow");
            let docker = |name: &str| is_forward && name == "DOCKER-USER";
            let is_theirs = |name: &str| is_owned(name) || zone(name) || docker(name);
            for theirs in own.chains.iter().filter(|theirs| is_theirs(&theirs.name)) {
                // Where its own rules stop the flow, or send it back, it is let in before them.
                let is_first = docker(&theirs.name) || chain == theirs.name;
                let head = theirs.rules.first().filter(|_| is_first).map(|rule| GuestRule {
                    machine: machine.to_owned(),
                    table: table.to_owned(),
                    chain: theirs.name.clone(),
                    position: rule.position,
                    handle: rule.handle,
                    raw: rule.raw.clone(),
                    is_six: six,
                });
                places.push((theirs.name.clone(), head));
            }
        }
        places.push((chain.to_owned(), before));
        let changes = |(chain, before): &(String, Option<GuestRule>)| -> Vec<Change> {
            let admit = |one: &Met| Change::AcceptInGuest {
                machine: machine.to_owned(),
                table: table.to_owned(),
                chain: chain.clone(),
                before: before.clone(),
                admitted: Admitted::of(&one.flow, self.inside(one.flow.dst), one.side, &self.state.estate),
            };
            met.iter().map(admit).collect()
        };
        places.iter().map(changes).collect()
    }
}

fn has_gap(causes: &BTreeSet<Cause>) -> bool {
    causes.iter().any(|cause| cause.fault.is_gap())
}

/// Returns machine, table and chain of what a guest does.
fn place(object: &Object) -> Option<(&str, &str, &str)> {
    let (Object::GuestRule { machine, table, chain, .. } | Object::GuestChain { machine, table, chain }) =
        object
    else {
        return None;
    };
    Some((machine, table, chain))
}

/// Reads the rulesets of a machine that judge a family.
fn rules(state: &State, machine: &str, is_six: bool) -> Vec<Ruleset> {
    let Some((_, guest)) = state.bundle.guests.iter().find(|(name, _)| name.eq_ignore_ascii_case(machine))
    else {
        return Vec::new();
    };
    let judges = |source: &str| {
        source.starts_with("nft") || source.starts_with(if is_six { "ip6tables" } else { "iptables" })
    };
    let texts = guest.filters.iter().filter_map(|(source, reading)| match reading {
        Reading::Text(text) if judges(source) => Some(text),
        Reading::Text(_) | Reading::Failed { .. } => None,
    });
    texts.filter_map(|text| netfilter::read(text).ok()).collect()
}

/// Names a rule that lets one flow in.
fn name_of(admitted: &Admitted) -> String {
    let ends = format!("{}-to-{}", admitted.src, admitted.dst).replace(['.', ':', '/'], "-");
    let port = admitted.port.map(|port| format!("-{port}")).unwrap_or_default();
    format!("allow-{}-{ends}{port}", admitted.protocol)
}
