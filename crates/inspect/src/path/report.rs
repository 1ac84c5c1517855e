//! The judgement as `ghost path --json` prints it.

use std::net::IpAddr;

use serde::Serialize;

use super::estate::Estate;
use super::fault::{Fault, Object};
use super::flow::{Flow, Protocol};
use super::hop::{Effect, Hop, Kind, Side, Verdict};
use super::judge::Judgement;
use super::noticed::{Noticed, noticed};
use super::tried::ReportedTry;

/// The version of this format.
pub(super) const FORMAT: u32 = 1;

/// What is reported about a flow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The version of this format.
    pub format: u32,
    /// The flow.
    pub flow: ReportedFlow,
    /// `PASSES`, `BLOCKED`, `DEGRADED` or `INDETERMINATE`.
    pub verdict: &'static str,
    /// What becomes of it, in words.
    pub fate: String,
    /// The hops from the caller on.
    pub forward: Vec<ReportedHop>,
    /// The hops of the answer.
    #[serde(rename = "return")]
    pub back: Vec<ReportedHop>,
    /// What decides or degrades the flow now.
    pub causes: Vec<ReportedCause>,
    /// What would still stop or hurt it once the causes are gone.
    pub behind: Vec<ReportedCause>,
    /// What seems alarming and does not touch this flow.
    pub noticed: Vec<Noticed>,
    /// What a try of the flow showed, where the documents hold one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tried: Option<ReportedTry>,
    /// What would have to be read.
    pub missing: Vec<ReportedMissing>,
    /// What could not be read and names no document of its own.
    pub warnings: Vec<String>,
}

/// A flow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReportedFlow {
    /// Who calls.
    pub src: IpAddr,
    /// The port that it calls from, where that is known.
    pub src_port: Option<u16>,
    /// Who is called.
    pub dst: IpAddr,
    /// The port that is called.
    pub dst_port: Option<u16>,
    /// The protocol.
    pub protocol: Protocol,
    /// The name by which it is called, where that is part of the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// A hop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReportedHop {
    /// The machine, interface or network.
    pub hop: String,
    /// Which kind.
    pub kind: Kind,
    /// What it does.
    pub verdict: Verdict,
    /// The fault that decides.
    pub fault: Option<Fault>,
    /// What decides.
    pub object: Option<Object>,
    /// It, as it was printed.
    pub rule: Option<String>,
    /// Why.
    pub reason: String,
    /// What that stands on.
    pub evidence: Vec<String>,
}

/// A cause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReportedCause {
    /// What it does.
    pub fault: Fault,
    /// What does it.
    pub object: Object,
    /// In which direction.
    pub side: Side,
    /// Why.
    pub reason: String,
}

/// Something that was not read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReportedMissing {
    /// What.
    pub what: String,
    /// Why it matters.
    pub why: String,
}

impl Judgement {
    /// Puts together what is reported, with what seems alarming on the path and does not touch the flow.
    #[must_use]
    pub fn report(&self, estate: &Estate) -> Report {
        let Flow { src, src_port, dst, dst_port, protocol, name, .. } = self.flow.clone();
        let missing = self
            .missing()
            .into_iter()
            .map(|one| ReportedMissing { what: one.what.to_string(), why: one.why });
        let unread = estate.unread_logs().map(|one| format!("{} was not read: {}", one.log, one.why));
        let warnings = estate.warnings().iter().cloned().chain(unread);
        let report = Report {
            format: FORMAT,
            flow: ReportedFlow { src, src_port, dst, dst_port, protocol, name },
            verdict: self.fate.verdict(),
            fate: self.fate.to_string(),
            forward: self.forward.iter().map(hop).collect(),
            back: self.back.iter().map(hop).collect(),
            causes: self.causes().into_iter().map(cause).collect(),
            behind: self.behind().into_iter().map(cause).collect(),
            noticed: noticed(estate, self),
            tried: None,
            missing: missing.collect(),
            warnings: warnings.collect(),
        };
        report.weighed(estate, self)
    }
}

fn hop(hop: &Hop) -> ReportedHop {
    let deciding = hop.deciding();
    ReportedHop {
        hop: hop.at.clone(),
        kind: hop.kind,
        verdict: hop.verdict(),
        fault: deciding.map(|effect| effect.cause.fault),
        object: deciding.map(|effect| effect.cause.object.clone()),
        rule: deciding.map_or_else(|| hop.allowed.clone(), |effect| effect.rule.clone()),
        reason: hop.summary(),
        evidence: hop.evidence.iter().map(ToString::to_string).collect(),
    }
}

fn cause((side, effect): (Side, &Effect)) -> ReportedCause {
    ReportedCause {
        fault: effect.cause.fault,
        object: effect.cause.object.clone(),
        side,
        reason: effect.reason.clone(),
    }
}
