//! What is odd on machines that were gathered, worst first.

use std::collections::{BTreeMap, BTreeSet};

use super::context::{Context, Flow};
use super::finding::Finding;
use super::gathered::{Part, PartError};
use super::measured::{self, Contradiction, Tried};
use super::model::Host;
use super::needed::{Question, UnreadPart};
use super::network::Network;
use super::object::Object;
use super::walk::{self, End, Start, Trace};
use super::{alone, bgp, container, dhcp, fault::Fault, log, machine, names, ospf, together};
use crate::measured::Weighed;

/// What became of a flow that was asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// It passes both directions, as far as was read.
    Passes,
    /// Something stops it.
    Stopped,
    /// It leaves what was gathered, or something that decides was not read.
    NotKnown(String),
}

/// The answer about some machines.
#[derive(Debug, Clone)]
pub struct Judgement {
    /// What is odd, worst first.
    pub findings: Vec<Finding>,
    /// What became of each flow, in their order.
    pub fates: Vec<Fate>,
    /// What trying each flow showed beside its documents, in their order.
    pub weighed: Vec<Weighed>,
    /// The machines that each flow and its answers pass, as far as they were followed, in their order.
    pub passed: Vec<BTreeSet<String>>,
    /// What was not read, by machine: nothing that depends on it was judged.
    pub closed: Vec<(String, Part, String)>,
    /// The reads that the answer needs and that failed: without them nothing is said to be well.
    pub missing: Vec<UnreadPart>,
    /// Flows that were tried and reached, although the documents stop them.
    pub contradictions: Vec<Contradiction>,
}

/// Judges machines together.
#[must_use]
pub fn judge(hosts: &[Host], context: &Context) -> Judgement {
    let network = Network { hosts, context };
    let mut findings = together::check(&network);
    let (mut computed, mut passed) = (Vec::new(), Vec::new());
    let (mut traces, mut paths) = (Vec::new(), Vec::new());
    let mut missing: BTreeSet<UnreadPart> = BTreeSet::new();
    for flow in &context.flows {
        let (fate, own) = flow_fate(&network, flow);
        let unread = unread_on_path(&network, flow, &own);
        computed.push(match (fate, unread.first()) {
            (Fate::Passes, Some(first)) => {
                Fate::NotKnown(format!("{} of {} were not read: {}", first.what, first.host, first.why))
            }
            (fate, _) => fate,
        });
        missing.extend(unread);
        paths.push(own.clone());
        let machines = own.iter().flat_map(|trace| trace.passed.iter().map(|one| one.host.clone()));
        passed.push(machines.collect());
        findings.extend(own.iter().flat_map(|trace| trace.findings.iter().cloned()));
        traces.extend(own.into_iter().map(|trace| (flow, trace)));
    }
    findings.extend(bgp::check(&network));
    findings.extend(ospf::check(&network));
    let whole = context.whole || context.flows.is_empty();
    if whole || context.by_name {
        findings.extend(names::check(&network));
    }
    for host in hosts {
        findings.extend(alone::check(host, &traces));
        if whole {
            findings.extend(machine::check(&network, host));
        }
    }
    let closed = hosts.iter().flat_map(|host| {
        let own = host.closed.iter().filter(|(_, error)| !matches!(error, PartError::NotInstalled(_)));
        own.map(|(part, error)| (host.name.clone(), *part, error.to_string()))
    });
    let leases = dhcp::check(&network, &findings);
    findings.extend(leases);
    let follows =
        |one: &Finding| bgp::explains(&network, &findings, one) || dhcp::explains(&network, &findings, one);
    let findings = findings.iter().filter(|one| !follows(one)).cloned().collect();
    let mut findings = sorted(findings);
    let tried: Vec<Tried<'_>> =
        context.flows.iter().zip(&paths).map(|(flow, own)| Tried::new(hosts, flow, own)).collect();
    let contradictions = measured::refute(&tried, &mut findings);
    findings.sort_by_key(|found| (found.weight, found.certainty));
    let (weighed, fates) =
        tried.iter().zip(computed).map(|(own, fate)| measured::outcome(own, fate, &findings)).unzip();
    for found in &mut findings {
        container::name(hosts, found);
        log::quote(hosts, context, found);
    }
    if whole {
        missing.extend(hosts.iter().flat_map(|host| Question::Machine.unread(host)));
    }
    if whole || context.by_name {
        missing.extend(hosts.iter().flat_map(|host| Question::Names.unread(host)));
    }
    let missing = missing.into_iter().collect();
    Judgement { closed: closed.collect(), findings, fates, weighed, passed, missing, contradictions }
}

/// Returns the reads that a flow needs and that failed, at each machine that it and its answers pass.
fn unread_on_path(network: &Network<'_>, flow: &Flow, traces: &[Trace]) -> Vec<UnreadPart> {
    let on_path = if flow.to.is_ipv6() { Question::FlowOfIpv6 } else { Question::Flow };
    let passed: BTreeSet<&str> =
        traces.iter().flat_map(|trace| trace.passed.iter().map(|one| one.host.as_str())).collect();
    let mut found: BTreeSet<UnreadPart> = BTreeSet::new();
    for host in passed.iter().filter_map(|name| network.host(name)) {
        found.extend(on_path.unread(host));
        if flow.port.is_some() && host.owns(flow.to).is_yes() {
            found.extend(Question::Service.unread(host));
        }
    }
    found.into_iter().collect()
}

fn flow_fate(network: &Network<'_>, flow: &Flow) -> (Fate, Vec<Trace>) {
    let Some(from) = network.host(&flow.from) else {
        return (Fate::NotKnown(format!("{} was not gathered", flow.from)), Vec::new());
    };
    let start = Start { flow, is_answer: false, source: flow.source, destination: flow.to, seen: &[] };
    let out = walk::follow(network, from, start);
    let ended = |trace: &Trace| match trace.end {
        End::Reached => None,
        End::Stopped => Some(Fate::Stopped),
        End::Outside => Some(Fate::NotKnown("it leaves the machines that were gathered".to_owned())),
        End::NotKnown => Some(Fate::NotKnown(trace.missing.last().cloned().unwrap_or_default())),
    };
    if let Some(fate) = ended(&out) {
        return (fate, vec![out]);
    }
    let there = out.passed.last().and_then(|last| network.host(&last.host));
    let (Some(there), Some(back_to)) = (there, out.seen_as) else {
        return (Fate::NotKnown("it is not known as whom it arrives".to_owned()), vec![out]);
    };
    let answer =
        Start { flow, is_answer: true, source: Some(flow.to), destination: back_to, seen: &out.passed };
    let back = walk::follow(network, there, answer);
    let degraded = out.missing.first().or_else(|| back.missing.first()).cloned();
    let fate = ended(&back).unwrap_or_else(|| degraded.map_or(Fate::Passes, Fate::NotKnown));
    (fate, vec![out, back])
}

/// Tells whether a line about a link is a part of what proves a finding.
fn is_shown_by(found: &Finding, link: &Object) -> bool {
    let Object::Link { host, device } = link else { return false };
    let is_its = |line: &str| line.strip_prefix(device.as_str()).is_some_and(|rest| rest.starts_with(':'));
    found.evidence.iter().any(|one| one.host == *host && one.part == Part::Links && is_its(&one.shows))
}

/// Puts the worst first, one finding an object and fault; what only follows from another is left out.
pub(super) fn sorted(findings: Vec<Finding>) -> Vec<Finding> {
    let mut unique: BTreeMap<(Fault, Object), Finding> = BTreeMap::new();
    for found in findings {
        let key = (found.fault, found.object.clone());
        let better = |known: &Finding| (known.weight, known.certainty) <= (found.weight, found.certainty);
        if !unique.get(&key).is_some_and(better) {
            unique.insert(key, found);
        }
    }
    let has = |fault: Fault| unique.keys().any(|(own, _)| *own == fault);
    // Damage whose rule is known is that rule; a twin explains an entry that is another machine's.
    let (rewrites, twins) =
        (has(Fault::PayloadRewrite), has(Fault::DuplicateAddress) || has(Fault::DuplicateMac));
    let objects = |fault: Fault| -> Vec<_> {
        let own = unique.keys().filter(|(other, _)| *other == fault);
        own.map(|(_, object)| object.clone()).collect()
    };
    // That a gateway does not answer is no second fault of a route that leads to the wrong one; nor that a link is down which comes
    // and goes, at either end; nor that a name server is silent which answers others late.
    let (misled, flapping, late) =
        (objects(Fault::WrongGateway), objects(Fault::LinkFlap), objects(Fault::DnsSlow));
    // Who cannot ask for its neighbors waits for answers, however quick the server is.
    let mute: Vec<String> = unique
        .values()
        .filter(|found| found.fault == Fault::ArpDrop)
        .flat_map(|found| found.evidence.first())
        .map(|evidence| evidence.host.clone())
        .collect();
    let asked_by = |found: &Finding| found.evidence.first().map(|evidence| evidence.host.clone());
    let follows = |found: &Finding| {
        (rewrites && found.fault == Fault::ChecksumErrors)
            || (twins && found.fault == Fault::NeighborPoisoned)
            || (found.fault == Fault::GatewayDead && misled.contains(&found.object))
            || (found.fault == Fault::LinkDown
                && flapping.iter().any(|link| found.object == *link || is_shown_by(found, link)))
            || (found.fault == Fault::DnsFailure && late.contains(&found.object))
            || (found.fault == Fault::DnsSlow && asked_by(found).is_some_and(|host| mute.contains(&host)))
    };
    let mut all: Vec<Finding> = unique.into_values().filter(|found| !follows(found)).collect();
    all.sort_by_key(|found| (found.weight, found.certainty));
    all
}
