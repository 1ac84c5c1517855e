//! A firewall of the platform on the path: which of its rules decides, what it does to the addresses, and whether the answers pass it.

use super::document::Document;
use super::fault::{Cause, Fault, Object};
use super::firewall::Firewall;
use super::firewall_rule::{Decision, Kind as RuleKind, Place, decide};
use super::flow::{Protocol, Wire};
use super::hop::{Effect, Hop, Kind, Side};
use super::walk::Walk;

/// The port of questions for names.
const NAMES: u16 = 53;

/// A firewall that let the first packet pass, and what it did to it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Passed {
    nic: usize,
    before: Wire,
    after: Wire,
    returned: bool,
}

impl Walk<'_> {
    /// Takes a packet through a firewall; nothing where it does not go on.
    pub(super) fn firewall(&mut self, nic: usize, wire: Wire, fresh: bool) -> Option<Wire> {
        let firewall = self.asked.estate.firewall_at(nic)?;
        if !fresh {
            return self.answer_at_firewall(nic, firewall, wire);
        }
        let onward = if firewall.address == wire.dst || firewall.publics.contains(&wire.dst) {
            self.for_firewall(firewall, wire)?
        } else {
            self.judged(firewall, wire)
        };
        self.firewalls.push(Passed { nic, before: wire, after: onward, returned: false });
        Some(onward)
    }

    /// Judges a packet that passes; what is denied goes on as if it were not.
    fn judged(&mut self, firewall: &Firewall, wire: Wire) -> Wire {
        let mut hop = Hop::new(Kind::Firewall, &firewall.name).on(Document::Firewalls);
        let kinds = [RuleKind::Network, RuleKind::Application];
        let kind = self.ask(firewall, &kinds, &wire, &mut hop);
        // Whether the answers find the firewall depends on the address by which it calls.
        self.uncertain |= kind.is_none() && hop.stops.is_empty();
        self.push(hop);
        let calls_itself = kind == Some(RuleKind::Application) || !firewall.keeps_source(wire.dst);
        if calls_itself { Wire { src: firewall.address, ..wire } } else { wire }
    }

    /// Takes what is for the firewall itself: a question for a name, or what a rule leads on to somebody else.
    fn for_firewall(&mut self, firewall: &Firewall, wire: Wire) -> Option<Wire> {
        let mut hop = Hop::new(Kind::Firewall, &firewall.name).on(Document::Firewalls);
        if firewall.address == wire.dst && wire.dport == Some(NAMES) {
            self.asked_for_name(firewall, hop);
            return None;
        }
        let Some(rules) = firewall.rules.read() else {
            self.push(hop.lacking(Document::Firewalls, firewall.rules.why_not()));
            return None;
        };
        let (rule, onward) = match decide(rules, &[RuleKind::Nat], &wire, None, &|_| false) {
            Decision::Rule((collection, rule)) => match rule.translated(wire) {
                Some(onward) => (said((collection, rule)), onward),
                None => {
                    let why = format!("the rule {} leads to a name", rule.name);
                    self.push(hop.lacking(Document::Firewalls, why));
                    return None;
                }
            },
            Decision::Open(why) => {
                self.push(hop.lacking(Document::Firewalls, why));
                return None;
            }
            Decision::Nothing => {
                let cause = Cause::new(Fault::FirewallDefaultDeny, port_of(firewall, &wire));
                if !self.is_gone(&cause) {
                    let why = format!("no rule of {} leads {} on", firewall.name, asked(&wire));
                    hop.stops.push(Effect { catches_all: true, ..Effect::new(cause, why) });
                }
                self.push(hop);
                return None;
            }
        };
        hop = hop.passing(format!("{rule} leads it to {}", onward.dst));
        hop.allowed = Some(rule);
        // Only a rule that denies what was translated keeps it out then.
        if let Decision::Rule(place @ (collection, _)) =
            decide(rules, &[RuleKind::Network], &onward, None, &|place| self.is_rule_gone(firewall, place))
            && collection.denies
        {
            hop.stops.push(denied(firewall, place));
        }
        self.push(hop);
        Some(Wire { src: firewall.address, ..onward })
    }

    fn asked_for_name(&mut self, firewall: &Firewall, mut hop: Hop) {
        let cause =
            Cause::new(Fault::FirewallDnsProxyOff, Object::FirewallNames { firewall: firewall.name.clone() });
        match firewall.answers_names {
            Some(true) => hop = hop.passing(format!("{} answers questions for names", firewall.name)),
            Some(false) if self.is_gone(&cause) => hop = hop.passing("as if it answered"),
            Some(false) => {
                let why = format!(
                    "{} is asked for names, and does not answer: its DNS proxy is off",
                    firewall.name
                );
                hop.stops.push(Effect::new(cause, why));
            }
            None => hop = hop.lacking(Document::Firewalls, "whether it answers questions for names"),
        }
        self.push(hop);
    }

    /// Asks the rules, behind each that denies once more as if it were gone. Returns the kind of the one that lets the packet through
    /// in the end; nothing where that is not known.
    fn ask(&self, firewall: &Firewall, kinds: &[RuleKind], wire: &Wire, hop: &mut Hop) -> Option<RuleKind> {
        let Some(rules) = firewall.rules.read() else {
            hop.missing.push(lacking(format!("its rules: {}", firewall.rules.why_not())));
            return None;
        };
        let mut removed: Vec<Place<'_>> = Vec::new();
        loop {
            let is_gone = |place: Place<'_>| {
                removed.contains(&place) || (place.0.denies && self.is_rule_gone(firewall, place))
            };
            let decision = decide(rules, kinds, wire, self.asked.flow.name.as_deref(), &is_gone);
            match decision {
                Decision::Rule(place @ (collection, rule)) if collection.denies => {
                    hop.stops.push(denied(firewall, place));
                    if rule.catches_all(collection.kind) {
                        return Some(RuleKind::Network);
                    }
                    removed.push(place);
                }
                Decision::Rule(place) => {
                    if hop.stops.is_empty() {
                        hop.reason = format!("{} lets it through", said(place));
                        hop.allowed = Some(said(place));
                    }
                    return Some(place.0.kind);
                }
                Decision::Open(why) => {
                    hop.missing.push(lacking(why));
                    return None;
                }
                Decision::Nothing => {
                    let cause = Cause::new(Fault::FirewallDefaultDeny, port_of(firewall, wire));
                    // Of what closes everything only the first counts: a rule whose removal opens nothing stays beside it.
                    let is_open = self.asked.gone.iter().any(|gone| catches_all(rules, firewall, gone));
                    if !self.is_gone(&cause) && !is_open {
                        let why = format!("no rule of {} lets {} through", firewall.name, asked(wire));
                        hop.stops.push(Effect { catches_all: true, ..Effect::new(cause, why) });
                    } else if hop.reason.is_empty() {
                        hop.reason = "as if a rule let it through".to_owned();
                    }
                    return Some(RuleKind::Network);
                }
            }
        }
    }

    fn is_rule_gone(&self, firewall: &Firewall, place: Place<'_>) -> bool {
        self.is_gone(&Cause::new(Fault::FirewallDeny, object(firewall, place)))
    }

    /// Takes an answer through a firewall: it knows what it saw the beginning of.
    fn answer_at_firewall(&mut self, nic: usize, firewall: &Firewall, wire: Wire) -> Option<Wire> {
        let mut hop = Hop::new(Kind::Firewall, &firewall.name).on(Document::Firewalls);
        if let Some(passed) =
            self.firewalls.iter_mut().rev().find(|passed| passed.nic == nic && !passed.returned)
        {
            passed.returned = true;
            let Passed { before, after, .. } = *passed;
            self.push(hop.passing(format!("{} has seen the call", firewall.name)));
            let called = if wire.dst == after.src { before.answer() } else { return Some(wire) };
            return Some(Wire { part: wire.part, ..called });
        }
        if firewall.address == wire.dst {
            self.push(
                hop.lacking(Document::Firewalls, "the answer goes to the firewall, which did not call"),
            );
            return None;
        }
        match wire.protocol {
            Protocol::Tcp => {
                let cause = Cause::new(Fault::AsymmetricPath, Object::flow(self.asked.flow));
                if !self.is_gone(&cause) {
                    let why = format!(
                        "the answer goes through {}, which has not seen the call and drops it",
                        firewall.name
                    );
                    hop.stops.push(Effect::new(cause, why));
                }
            }
            // It is taken for a call of its own.
            Protocol::Udp => {
                self.ask(firewall, &[RuleKind::Network], &wire, &mut hop);
            }
            Protocol::Icmp => {
                hop.missing.push(lacking(
                    "whether it lets an answer pass of which it has not seen the call".to_owned(),
                ));
            }
        }
        self.push(hop);
        Some(wire)
    }

    /// Names a firewall that the calls pass and the answers do not: it has not seen the connection begin, and drops what follows.
    pub(super) fn half_paths(&mut self) {
        let Some(passed) = self.firewalls.iter().find(|passed| !passed.returned).copied() else { return };
        let Some(firewall) = self.asked.estate.firewall_at(passed.nic) else { return };
        if passed.before.protocol != Protocol::Tcp {
            return;
        }
        let cause = Cause::new(Fault::AsymmetricPath, Object::flow(self.asked.flow));
        if self.is_gone(&cause) {
            return;
        }
        let why = format!(
            "calls pass {}, and the answers do not: it sees half of the connection and drops what follows",
            firewall.name
        );
        self.side = Side::Return;
        self.push(
            Hop::new(Kind::Firewall, &firewall.name).on(Document::Firewalls).stopped(Effect::new(cause, why)),
        );
    }
}

fn lacking(why: String) -> super::document::Missing {
    super::document::Missing { what: Document::Firewalls, why }
}

fn catches_all(rules: &[super::firewall_rule::RuleCollection], firewall: &Firewall, gone: &Cause) -> bool {
    let places =
        rules.iter().flat_map(|collection| collection.rules.iter().map(move |rule| (collection, rule)));
    let mut all = places.filter(|(collection, rule)| collection.denies && rule.catches_all(collection.kind));
    all.any(|place| gone.fault == Fault::FirewallDeny && gone.object == object(firewall, place))
}

fn denied(firewall: &Firewall, place: Place<'_>) -> Effect {
    let (collection, rule) = place;
    let cause = Cause::new(Fault::FirewallDeny, object(firewall, place));
    let reason = format!("{} ({}) of {} denies it", said(place), collection.priority, firewall.name);
    Effect { cause, rule: Some(rule.name.clone()), reason, catches_all: rule.catches_all(collection.kind) }
}

fn object(firewall: &Firewall, (collection, rule): Place<'_>) -> Object {
    Object::FirewallRule {
        firewall: firewall.name.clone(),
        collection: collection.name.clone(),
        rule: rule.name.clone(),
    }
}

fn port_of(firewall: &Firewall, wire: &Wire) -> Object {
    Object::FirewallPort { firewall: firewall.name.clone(), protocol: wire.protocol, port: wire.dport }
}

fn said((collection, rule): Place<'_>) -> String {
    format!("the rule {} of the collection {}", rule.name, collection.name)
}

fn asked(wire: &Wire) -> String {
    match wire.dport {
        Some(port) => format!("{} port {port} of {}", wire.protocol, wire.dst),
        None => format!("{} to {}", wire.protocol, wire.dst),
    }
}
