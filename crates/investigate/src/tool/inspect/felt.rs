//! Which flows and which faults fit what people feel.
//!
//! Goes in: what people see, flows as they are judged, what stops or hurts them. Comes out: the flows that are meant, and the faults that
//! explain a complaint. Never: a fault that stops every call taken for why calls are slow.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use crate::complaint::Complaint;
use crate::coverage::is_felt;
use crate::finding::FaultCode;
use crate::judged::JudgedComplaint;
use crate::symptom_text::Symptom;
use ghost_inspect::path::{self, Estate, Flow, Judgement};

/// Tells whether a fault on a flow explains a complaint that the flow is of. Of a flow that somebody asked about by its ends it always
/// does. Only of what is slow or lossy it is certain what does not: what fails altogether may fail for many reasons.
pub(super) fn explains_one(code: &FaultCode, flow: usize, complaints: &[JudgedComplaint]) -> bool {
    let mut own = complaints.iter().filter(|complaint| complaint.flows.contains(&flow)).peekable();
    let Some(fault) = code.fault() else { return true };
    let is_worse = |symptom: &Symptom| matches!(symptom, Symptom::Slow | Symptom::Lossy);
    own.peek().is_none()
        || own
            .any(|complaint| !complaint.symptoms.iter().all(is_worse) || is_felt(fault, &complaint.symptoms))
}

/// Keeps the flows that fit what somebody feels, where the words leave open which server is meant: a delay is no refusal.
pub(super) fn showing_the_symptom(complaint: &Complaint, flows: Vec<Flow>, estate: &Estate) -> Vec<Flow> {
    let is_open = |flow: &Flow| {
        let mut known = complaint.flows.iter().filter(|known| known.destination.address() == Some(flow.dst));
        known.all(|known| !known.destination.is_named())
    };
    let servers: BTreeSet<IpAddr> = flows.iter().filter(|flow| is_open(flow)).map(|flow| flow.dst).collect();
    if servers.len() < 2 {
        return flows;
    }
    // What the callers of each server see: of one that lets one caller in and not another, both.
    let mut shown: BTreeMap<IpAddr, BTreeSet<Shown>> = BTreeMap::new();
    for flow in flows.iter().filter(|flow| servers.contains(&flow.dst)) {
        shown.entry(flow.dst).or_default().insert(Shown::of(&estate.judge(flow)));
    }
    let fits = |wanted: &[Shown]| -> BTreeSet<IpAddr> {
        let shows = |all: &BTreeSet<Shown>| wanted.iter().any(|one| all.contains(one));
        shown.iter().filter(|(_, all)| shows(all)).map(|(server, _)| *server).collect()
    };
    let feels = |symptom: Symptom| complaint.symptoms.contains(&symptom);
    let mut kept = BTreeSet::new();
    if feels(Symptom::Refused) || feels(Symptom::Hanging) || feels(Symptom::Unreachable) {
        kept.extend(fits(&[Shown::Stopped, Shown::Refused]));
    }
    if feels(Symptom::Slow) || feels(Symptom::Lossy) {
        kept.extend(fits(&[Shown::Degraded]));
        if kept.is_empty() {
            // What is slow now and then is not stopped, for whoever calls it.
            let passes = |all: &BTreeSet<Shown>| all.iter().all(|one| *one == Shown::Passes);
            kept.extend(shown.iter().filter(|(_, all)| passes(all)).map(|(server, _)| *server));
        }
    }
    if kept.is_empty() {
        return flows;
    }
    flows.into_iter().filter(|flow| !servers.contains(&flow.dst) || kept.contains(&flow.dst)).collect()
}

/// What a caller sees of a flow, the worst last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Shown {
    Passes,
    Degraded,
    Refused,
    Stopped,
}

impl Shown {
    fn of(judgement: &Judgement) -> Self {
        let refuses = |fault: path::Fault| {
            matches!(
                fault,
                path::Fault::GuestFirewallReject | path::Fault::TcpRefused | path::Fault::UdpRefused
            )
        };
        match judgement.stops().first() {
            Some((_, effect)) if refuses(effect.cause.fault) => Self::Refused,
            Some(_) => Self::Stopped,
            None if judgement.hurts().is_empty() => Self::Passes,
            None => Self::Degraded,
        }
    }
}
