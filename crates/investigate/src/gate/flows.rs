//! What the judgement of the flows in question says about claims.
//!
//! Goes in: the record of `check_path`, judged anew, and the findings that are claimed. Comes out: claims that do not touch what people
//! complain about, and causes that are not claimed. Never: a word of a model.

use crate::event::{ComplaintOutcome, Finding};
use crate::finding::{Fault, FindingError};
use crate::gate::complaint;
use crate::judged::{self, FlowVerdict, JudgedFlow, JudgedFlows, of_complaints};
use crate::state::{CallState, State};
use crate::suspect::{Looked, Suspect, is_judged_by_flow};
use crate::tool::CallContext;

/// The argument of a comparison with a baseline.
const COMPARED: &str = "compare_session_id";

/// What the last judgement of the complaints' flows came to.
pub(super) struct FlowJudgement {
    /// The machines at the ends of the flows.
    pub(super) machines: Vec<String>,
    /// What stops or degrades the flows.
    causes: Vec<Suspect>,
    /// What else may be a finding: what changed since a baseline.
    changed: Vec<Suspect>,
    /// What packets show that were recorded: flows that got no answer, or a refusal.
    packets: Vec<Suspect>,
    /// The flows.
    judged: JudgedFlows,
}

/// Returns the last judgement of the flows that people complain about; `None` where there is none, or it holds no flow.
pub(super) fn judged(context: &CallContext<'_>) -> Option<FlowJudgement> {
    let (call, judged) = judged::judged(context.state)?;
    let machines = judged.machines();
    let compared = context.state.calls().filter(|call| call.call.arguments.get(COMPARED).is_some());
    // What the cloud shows of a machine and what it shows itself may both be found.
    let is_other = |other: &&CallState| {
        context.state.opened.cloud_too && other.call.id != call.call.id && of_complaints(other).is_some()
    };
    let others = context.state.calls().filter(is_other);
    let changed = compared.chain(others).flat_map(|call| context.supported(call).suspects).collect();
    let unanswered = |suspect: &Suspect| {
        let fault = suspect.fault();
        matches!(fault, Some(Fault::SynUnanswered | Fault::TcpRefused)) && suspect.object.starts_with("flow/")
    };
    let recorded = context.state.calls().filter(|other| other.call.id != call.call.id);
    let packets = recorded.flat_map(|call| context.supported(call).suspects).filter(unanswered).collect();
    Some(FlowJudgement { machines, causes: context.supported(call).suspects, changed, packets, judged })
}

impl FlowJudgement {
    /// Accepts a claim that concerns the flows in question, or something that no flow shows.
    ///
    /// # Errors
    /// Says that it touches none of them.
    pub(super) fn accepts(&self, claim: &Finding) -> Result<(), FindingError> {
        let is = |suspect: &Suspect| suspect.code == claim.code && suspect.object == claim.object;
        // What a machine itself shows is a cause of a complaint, or it is noticed.
        let is_free = !self.judged.is_of_machines()
            && !self.judged.is_of_clusters()
            && (!is_judged_by_flow(&claim.code) || self.judged.is_beside_flows());
        let fits =
            is_free || self.causes.iter().chain(&self.changed).any(is) || self.is_of_packets(&claim.object);
        if fits { Ok(()) } else { Err(FindingError::NotOfTheFlows) }
    }

    /// Tells whether an object is a flow in question that nothing explains that was read: its packets may.
    fn is_of_packets(&self, object: &str) -> bool {
        let is_explained = self.judged.flows.iter().any(|flow| flow.is(object) && flow.is_explained());
        self.judged.covers(object) && !is_explained
    }

    /// Tells whether what was judged leaves something open: a complaint that passes beside one that does not, a flow of which something
    /// was not read.
    pub(super) fn leaves_open(&self) -> bool {
        let is_open = |flow: &JudgedFlow| flow.verdict == FlowVerdict::Indeterminate;
        self.judged.leaves_open() || self.judged.flows.iter().any(is_open)
    }

    /// Tells whether everything that the words speak of is known here, and no limit cut off what is judged.
    pub(super) fn is_whole(&self) -> bool {
        self.judged.unknown.is_empty() && self.judged.unjudged.is_empty()
    }

    /// Returns the machines that people complain about, where machines were read themselves.
    pub(super) fn complained_of(&self) -> Vec<String> {
        self.judged.complained_of()
    }

    /// Returns what came of each complaint.
    pub(super) fn outcomes(
        &self,
        findings: &[&Finding],
        gaps: &[Looked],
        state: &State,
    ) -> Vec<ComplaintOutcome> {
        complaint::outcomes(&self.judged, findings, (gaps, &self.packets), state)
    }

    /// Returns the causes that are not among the claims.
    pub(super) fn unclaimed(&self, claims: &[Finding]) -> Vec<String> {
        let is_claimed = |suspect: &&Suspect| {
            claims.iter().any(|claim| claim.code == suspect.code && claim.object == suspect.object)
        };
        let missing = self.causes.iter().filter(|suspect| !is_claimed(suspect));
        missing.map(|suspect| format!("{} {}: {}", suspect.code, suspect.object, suspect.why)).collect()
    }
}
