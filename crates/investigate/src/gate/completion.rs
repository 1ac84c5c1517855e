//! The gates before a conclusion.

use crate::coverage;
use crate::event::{ComplaintOutcome, Finding, Waived};
use crate::finding::{self, FindingError};
use crate::gate::Coverage;
use crate::gate::complaint;
use crate::gate::flows::{self, FlowJudgement};
use crate::listed::ListedResources;
use crate::suspect::{Layer, Looked};
use crate::symptom_text::{self, SymptomText};
use crate::tool::{CallContext, running_tasks};
use crate::{HypothesisState, Outcome};

/// A shorter reason says nothing.
const MIN_REASON_BYTES: usize = 8;

/// What a model claims when it wants to end.
#[derive(Debug, Clone, Default)]
pub struct Claim {
    /// Hypotheses and the state that the model claims.
    pub hypotheses: Vec<(String, HypothesisState)>,
    pub findings: Vec<Finding>,
    pub waived: Vec<Waived>,
}

/// A finding with what supports it, or what is wrong with it.
pub(super) type Checked = (Finding, Result<String, FindingError>);

/// The result of all gates.
#[derive(Debug, Clone)]
pub struct CompletionCheck {
    /// The findings as they were checked.
    pub checked: Vec<Checked>,
    /// The gates that are closed, each with its reason.
    pub closed: Vec<String>,
    pub covered: Coverage,
    /// What came of each complaint.
    pub complaints: Vec<ComplaintOutcome>,
    /// Whether the flows that people complain about were judged, or nothing here can judge them.
    pub is_judged: bool,
    /// Whether everything that the words speak of is known here, and no limit cut off what is judged.
    pub is_whole: bool,
}

/// Checks every gate.
#[must_use]
pub fn completion(claim: &Claim, context: &CallContext<'_>) -> CompletionCheck {
    let state = context.state;
    let mut closed = Vec::new();
    if state.hypotheses.iter().all(|hypothesis| hypothesis.state == HypothesisState::Withdrawn) {
        closed.push(
            "hypotheses_first: no hypothesis was ever tested; put hypotheses on the board and test them"
                .to_owned(),
        );
    }
    let active: Vec<&str> = state.active().map(|hypothesis| hypothesis.id.as_str()).collect();
    if !active.is_empty() {
        closed.push(format!(
            "board_settled: {} still ACTIVE; say what the evidence says with manage_hypotheses, UNVERIFIABLE included",
            active.join(", ")
        ));
    }
    closed.extend(claim.hypotheses.iter().filter_map(|(id, claimed)| match state.hypothesis(id) {
        None => Some(format!("claims_match_board: there is no hypothesis {id}")),
        Some(found) if found.state == *claimed => None,
        // The gate above names those that are active.
        Some(found) if found.state == HypothesisState::Active => None,
        Some(found) => Some(format!(
            "claims_match_board: {id} is claimed {claimed} and stands {} on the board",
            found.state
        )),
    }));
    let symptoms = symptom_text::read(&coverage::asked(state));
    let judged = flows::judged(context);
    let check = |claim: &Finding| {
        let held = finding::check(claim, context)?;
        judged.as_ref().map_or(Ok(()), |judged| judged.accepts(claim)).map(|()| held)
    };
    let checked: Vec<Checked> = claim.findings.iter().map(|claim| (claim.clone(), check(claim))).collect();
    closed.extend(checked.iter().filter_map(|(finding, held)| {
        let why = held.as_ref().err()?;
        Some(format!("findings_hold: {} {}: {why}", finding.code, finding.object))
    }));
    closed.extend(running_tasks(context).into_iter().map(|task| {
        format!("no_capture_running: {task} still runs; wait for it, or end it with cancel_task")
    }));
    let unclaimed = judged.iter().flat_map(|judged| judged.unclaimed(&claim.findings));
    closed.extend(unclaimed.map(|cause| {
        format!(
            "flows_explained: {cause}; it decides over a flow in question and has to be among the findings"
        )
    }));
    let held = checked.iter().filter(|(_, held)| held.is_ok()).map(|(finding, _)| finding);
    let held: Vec<&Finding> = held.chain(state.accepted.iter().map(|found| &found.finding)).collect();
    let own = checked.iter().filter(|(_, held)| held.is_ok());
    let codes: Vec<&str> = own.map(|(finding, _)| finding.code.as_str()).collect();
    let Gaps { closed: gaps, missing, covered } = gaps(claim, context, &symptoms, judged.as_ref(), &codes);
    closed.extend(gaps);
    let complaints =
        judged.as_ref().map(|judged| judged.outcomes(&held, &missing, state)).unwrap_or_default();
    let of_hosts = crate::judged::is_of_hosts(state);
    let judge = match (crate::judged::is_of_clusters(state), of_hosts) {
        (true, _) => crate::judged::CLUSTERS,
        (false, true) => crate::judged::HOSTS,
        (false, false) => crate::judged::TOOL,
    };
    let can_judge = symptoms.names_trouble() && context.tools.find(judge).is_some();
    let is_judged = judged.is_some() || !can_judge;
    let is_whole = judged.as_ref().is_none_or(FlowJudgement::is_whole);
    CompletionCheck { checked, closed, covered, complaints, is_judged, is_whole }
}

/// Lowers the outcome of a session to what its complaints allow.
#[must_use]
pub fn capped(
    outcome: Outcome,
    findings: &[&Finding],
    complaints: &[ComplaintOutcome],
    (is_judged, is_whole): (bool, bool),
) -> Outcome {
    let outcome = complaint::lowered(outcome, complaints);
    let outcome = if is_whole { outcome } else { complaint::unlooked(outcome) };
    if is_judged { outcome } else { complaint::unjudged(outcome, findings) }
}

/// What was neither inspected nor waived.
struct Gaps {
    /// The gates that it closes.
    closed: Vec<String>,
    /// All of it, what was waived as well.
    missing: Vec<Looked>,
    covered: Coverage,
}

/// Returns what was neither inspected nor waived, and how much was covered.
fn gaps(
    claim: &Claim,
    context: &CallContext<'_>,
    symptoms: &SymptomText,
    judged: Option<&FlowJudgement>,
    codes: &[&str],
) -> Gaps {
    let state = context.state;
    let hosts = if crate::judged::is_of_hosts(state) { state.opened.hosts.as_slice() } else { &[] };
    // Of a cluster one reading brings all of it.
    if crate::judged::is_of_clusters(state) {
        let is_open = judged.is_none_or(FlowJudgement::leaves_open);
        let covered = if is_open { Coverage::Partly } else { Coverage::Whole };
        return Gaps { closed: Vec::new(), missing: Vec::new(), covered };
    }
    // Whoever names machines and no trouble may want them read; where they were not, it was talk.
    if !symptoms.names_trouble() && (hosts.is_empty() || judged.is_none()) {
        return Gaps { closed: Vec::new(), missing: Vec::new(), covered: Coverage::Nothing };
    }
    let named = || coverage::machines(symptoms, &ListedResources::all_machines(context.state));
    let machines =
        judged.map(|judged| judged.machines.clone()).filter(|all| !all.is_empty()).unwrap_or_else(named);
    let looked: Vec<Looked> = state.calls().flat_map(|call| context.supported(call).looked).collect();
    let missing = if hosts.is_empty() {
        coverage::missing(symptoms, &machines, &looked, codes)
    } else {
        let all = || hosts.iter().map(|host| host.name.clone()).collect();
        let complained = judged.map_or_else(all, FlowJudgement::complained_of);
        coverage::missing_of_hosts(&complained, &looked)
    };
    let is_waived = |gap: &Looked| {
        claim.waived.iter().any(|waived| {
            let same =
                waived.what.subject.is_empty() || waived.what.subject.eq_ignore_ascii_case(&gap.subject);
            waived.what.layer == gap.layer && same && waived.why.trim().len() >= MIN_REASON_BYTES
        })
    };
    let is_open = !missing.is_empty() || judged.is_some_and(FlowJudgement::leaves_open);
    let covered = if is_open { Coverage::Partly } else { Coverage::Whole };
    let open = missing.iter().filter(|gap| !is_waived(gap)).map(|gap| {
        let of = if gap.subject.is_empty() { String::new() } else { format!(" of {}", gap.subject) };
        format!(
            "symptom_covered: {}{of} was not looked at; look with {}, or name it in `waived` with the reason why not",
            gap.layer.describe(),
            tool(gap.layer)
        )
    });
    let closed = open.collect();
    Gaps { closed, missing, covered }
}

/// Returns the tool that inspects a layer.
fn tool(layer: Layer) -> &'static str {
    match layer {
        Layer::Topology => "topology",
        Layer::Rules => "inspect_nsg",
        Layer::Exposure => "inspect_nsg without a flow",
        Layer::Routes => "effective_route_inspector",
        Layer::Storage => "inspect_storage",
        Layer::NetworkDrift => "detect_effective_network_drift",
        Layer::GuestDrift => "detect_config_drift with compare_session_id",
        Layer::Guest => "detect_config_drift",
        Layer::Shaping => "inspect_qdisc",
        Layer::Measure => "run_pipe_meter",
        Layer::Wire => "capture_traffic",
        Layer::Links | Layer::Names | Layer::Sockets => crate::judged::HOSTS,
        Layer::Cluster => crate::judged::CLUSTERS,
    }
}
