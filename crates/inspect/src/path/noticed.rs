//! What seems alarming on the path of a flow and does not touch it, with the flow that it does concern.

use std::collections::BTreeSet;
use std::net::IpAddr;

use serde::Serialize;

use super::estate::{Estate, Machine, Nic};
use super::fault::{Cause, Fault, Object};
use super::flow::{Flow, Part, Wire};
use super::group::is_catch_all;
use super::judge::Judgement;
use super::rule_name::{Target, cause};
use super::shaping::effects;
use crate::netfilter::{Body, Json, Rule as GuestRule, Verdict};
use crate::nsg::{Access, Rule};
use crate::route::{Hop, Source};

/// So many things are reported; the others are counted.
const MAX_NOTICED: usize = 100;

/// Something that was noticed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Noticed {
    /// What it is.
    pub object: Object,
    /// What it does, and to whom.
    pub what: String,
    /// Why it is not the cause.
    pub why_not: String,
}

/// Lists what denies, drops, bans, shapes or leads away at the machines and interfaces that a flow passes.
pub(super) fn noticed(estate: &Estate, judgement: &Judgement) -> Vec<Noticed> {
    let places: BTreeSet<&str> = judgement.hops().map(|(_, hop)| hop.at.as_str()).collect();
    let mut list = List { counted: judgement.findings(), flow: &judgement.flow, found: BTreeSet::new() };
    for masked in &judgement.masked {
        let cause = &masked.effect.cause;
        list.add(cause.clone(), masked.effect.reason.clone(), masked.why.to_owned());
    }
    for nic in estate.nics.iter().filter(|nic| places.contains(nic.name.as_str())) {
        list.routes(nic);
        list.groups(nic);
    }
    for machine in estate.machines.iter().filter(|machine| places.contains(machine.name.as_str())) {
        list.guest(machine);
        list.shaping(machine);
    }
    // What a log shows of this very flow says more of a rule than its text.
    let before = judgement.denied_before(estate);
    list.found.retain(|one| !before.iter().any(|own| own.object == one.object));
    list.found.extend(before);
    list.found.into_iter().take(MAX_NOTICED).collect()
}

struct List<'a> {
    counted: BTreeSet<Cause>,
    flow: &'a Flow,
    found: BTreeSet<Noticed>,
}

impl List<'_> {
    fn add(&mut self, cause: Cause, what: String, why_not: String) {
        if !self.counted.contains(&cause) {
            self.found.insert(Noticed { object: cause.object, what, why_not });
        }
    }

    fn routes(&mut self, nic: &Nic) {
        let Some(table) = nic.routes.read() else { return };
        for route in
            table.routes().iter().filter(|route| route.row.source == Source::User && route.is_active())
        {
            let (fault, does, place) = match route.row.hop {
                Hop::None => (Fault::RouteBlackhole, "throws away what is for", ""),
                Hop::Appliance => (Fault::RouteDetour, "leads what is for", " to an appliance"),
                Hop::Gateway => (Fault::RouteDetour, "leads what is for", " to a gateway"),
                Hop::Local | Hop::Peering | Hop::ServiceEndpoint | Hop::Other => continue,
            };
            let named =
                nic.names.iter().find(|(prefix, _)| *prefix == route.prefix).map(|(_, name)| name.clone());
            let name = route.row.name.clone().or(named).unwrap_or_else(|| route.prefix.to_string());
            let table = nic.table.clone().unwrap_or_else(|| "unknown".to_owned());
            let object = Object::Route { table, route: name };
            // Of whatever fault the route was found, it is counted.
            if self.counted.iter().any(|own| own.object == object) {
                continue;
            }
            let holds = |end: IpAddr| route.prefix.contains(&end);
            let why = if holds(self.flow.dst) || holds(self.flow.src) {
                "the flow takes a more specific route, or is passed on and delivered".to_owned()
            } else {
                format!("neither {} nor {} is in {}", self.flow.src, self.flow.dst, route.prefix)
            };
            self.add(Cause::new(fault, object), format!("{does} {}{place}", route.prefix), why);
        }
    }

    fn groups(&mut self, nic: &Nic) {
        for group in nic.rules.read().into_iter().flat_map(|rules| rules.groups()) {
            for rule in
                group.rules.iter().filter(|rule| rule.access == Some(Access::Deny) && !rule.is_default)
            {
                let name = group.name.clone().unwrap_or_else(|| "unknown".to_owned());
                let object = Object::NsgRule { group: name, rule: rule.name.clone() };
                let what = format!("denies {}", of_rule(rule));
                let why = why_not(rule, self.flow);
                self.add(Cause::new(Fault::NsgDeny, object), what, why);
            }
        }
    }

    fn guest(&mut self, machine: &Machine) {
        let wire = Wire {
            protocol: self.flow.protocol,
            src: self.flow.src,
            sport: self.flow.src_port,
            dst: self.flow.dst,
            dport: self.flow.dst_port,
            part: Part::Opening,
        };
        let Some(filters) = machine.filters.read() else { return };
        for ruleset in filters.rulesets() {
            for table in &ruleset.tables {
                for chain in &table.chains {
                    let target =
                        |position| Target { table: table.name.clone(), chain: chain.name.clone(), position };
                    for rule in &chain.rules {
                        let Some(verdict) = stops(rule) else { continue };
                        let cause =
                            cause(&machine.name, &target(Some(rule.position)), Some(rule), &wire, verdict);
                        let does = if verdict == Verdict::Reject { "refuses" } else { "drops" };
                        let what = format!("{does} what matches `{}`", rule.raw);
                        self.add(cause, what, "no packet of the flow is decided by it".to_owned());
                    }
                    let drops =
                        chain.policy.as_deref().is_some_and(|policy| policy.eq_ignore_ascii_case("drop"));
                    if drops && chain.base.is_some() {
                        let cause = cause(&machine.name, &target(None), None, &wire, Verdict::Drop);
                        let why = "a rule before it lets the flow in, or the flow does not come there";
                        self.add(cause, "drops what no rule lets in".to_owned(), why.to_owned());
                    }
                }
            }
        }
    }

    fn shaping(&mut self, machine: &Machine) {
        for qdisc in machine.shaping.read().into_iter().flat_map(|shaping| shaping.impairing()) {
            let device = qdisc.dev.as_deref().unwrap_or("unknown");
            for effect in effects(&machine.name, device, qdisc) {
                let why = "the flow does not leave by it, or a filter leads the flow around it";
                self.add(effect.cause, effect.reason, why.to_owned());
            }
        }
    }
}

/// Says what a rule itself does with a packet, where it stops it.
fn stops(rule: &GuestRule) -> Option<Verdict> {
    match &rule.body {
        Body::Save(parts) => {
            let target = parts.iter().find(|part| part.name.as_str() == "-j")?.values.first()?;
            match target.as_str() {
                "DROP" => Some(Verdict::Drop),
                "REJECT" => Some(Verdict::Reject),
                _ => None,
            }
        }
        Body::Nft(expressions) => {
            let has = |name: &str| expressions.iter().any(|expression: &Json| expression.get(name).is_some());
            if has("drop") { Some(Verdict::Drop) } else { has("reject").then_some(Verdict::Reject) }
        }
    }
}

fn of_rule(rule: &Rule) -> String {
    let protocols =
        rule.protocols.map_or_else(|| "what cannot be read".to_owned(), |own| own.names().join(", "));
    let ports: Vec<String> = rule
        .destination_ports
        .known
        .iter()
        .take(4)
        .map(|(first, last)| if first == last { first.to_string() } else { format!("{first}-{last}") })
        .collect();
    let direction = match rule.direction {
        Some(crate::nsg::Direction::Inbound) => "inbound",
        Some(crate::nsg::Direction::Outbound) => "outbound",
        None => "in both directions",
    };
    format!("{protocols} to {} {direction}", ports.join(", "))
}

fn why_not(rule: &Rule, flow: &Flow) -> String {
    let port = flow.dst_port.map(u128::from);
    if port.is_some_and(|port| {
        rule.destination_ports.open.is_none() && !rule.destination_ports.known.contains(port)
    }) {
        return format!("the flow goes to port {}", flow.dst_port.unwrap_or(0));
    }
    if rule.source.open.is_empty() && !rule.source.known.contains(flow.src) {
        return format!("it is not about what comes from {}", flow.src);
    }
    if rule.destination.open.is_empty() && !rule.destination.known.contains(flow.dst) {
        return format!("it is not about what goes to {}", flow.dst);
    }
    if is_catch_all(rule) {
        "another rule lets the flow in before it"
    } else {
        "another rule decides before it"
    }
    .to_owned()
}
