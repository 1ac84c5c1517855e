//! The gates before a conclusion.

use serde_json::{Value, json};

use crate::HypothesisState;
use crate::brief::{self, Brief};
use crate::coverage;
use crate::event::{Finding, Waived};
use crate::finding;
use crate::gate::Covered;
use crate::gate::flows::{self, FlowJudgement};
use crate::suspect::{Layer, Looked};
use crate::tool::{Bench, running_tasks};

/// A reason has to be long enough to say something.
const SHORTEST_REASON: usize = 8;

/// What a model claims when it wants to end.
#[derive(Debug, Clone, Default)]
pub struct Claim {
    /// Hypotheses and the state that they are said to have.
    pub hypotheses: Vec<(String, HypothesisState)>,
    /// Findings.
    pub findings: Vec<Finding>,
    /// What was not looked at, and why not.
    pub waived: Vec<Waived>,
}

/// A finding with what bears it out, or what is wrong with it.
pub(super) type Checked = (Finding, Result<String, String>);

/// What the gates say.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// The findings as they were checked.
    pub checked: Vec<Checked>,
    /// The gates that are closed, each with its reason.
    pub closed: Vec<String>,
    /// Whether everything that belongs to the symptom was looked at.
    pub covered: Covered,
}

/// Tries every gate.
#[must_use]
pub fn completion(claim: &Claim, bench: &Bench<'_>) -> Verdict {
    let state = bench.state;
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
        // One that is active is told above.
        Some(found) if found.state == HypothesisState::Active => None,
        Some(found) => Some(format!(
            "claims_match_board: {id} is claimed {claimed} and stands {} on the board",
            found.state
        )),
    }));
    let brief = brief::read(&coverage::asked(state));
    let judged = flows::judged(bench);
    let check = |claim: &Finding| {
        let held = finding::check(claim, bench)?;
        judged.as_ref().and_then(|judged| judged.objection(claim)).map_or(Ok(held), Err)
    };
    let checked: Vec<Checked> = claim.findings.iter().map(|claim| (claim.clone(), check(claim))).collect();
    closed.extend(checked.iter().filter_map(|(finding, held)| {
        let why = held.as_ref().err()?;
        Some(format!("findings_hold: {} {}: {why}", finding.code, finding.object))
    }));
    closed.extend(running_tasks(bench).into_iter().map(|task| {
        format!("no_capture_running: {task} still runs; wait for it, or end it with cancel_task")
    }));
    let unclaimed = judged.iter().flat_map(|judged| judged.unclaimed(&claim.findings));
    closed.extend(unclaimed.map(|cause| {
        format!(
            "flows_explained: {cause}; it decides over a flow in question and has to be among the findings"
        )
    }));
    let held = checked.iter().filter(|(_, held)| held.is_ok());
    let codes: Vec<&str> = held.map(|(finding, _)| finding.code.as_str()).collect();
    let (gaps, covered) = gaps(claim, bench, &brief, judged.as_ref(), &codes);
    closed.extend(gaps);
    Verdict { checked, closed, covered }
}

/// Returns what was neither looked at nor waived, and whether anything was left out.
fn gaps(
    claim: &Claim,
    bench: &Bench<'_>,
    brief: &Brief,
    judged: Option<&FlowJudgement>,
    codes: &[&str],
) -> (Vec<String>, Covered) {
    let state = bench.state;
    if !brief.names_trouble() {
        return (Vec::new(), Covered::Nothing);
    }
    let named = || coverage::machines(brief, &topology(bench));
    let machines =
        judged.map(|judged| judged.machines.clone()).filter(|all| !all.is_empty()).unwrap_or_else(named);
    let looked: Vec<Looked> = state.calls().flat_map(|call| bench.borne(call).looked).collect();
    let missing = coverage::missing(brief, &machines, &looked, codes);
    let is_waived = |gap: &Looked| {
        claim.waived.iter().any(|waived| {
            let same =
                waived.what.subject.is_empty() || waived.what.subject.eq_ignore_ascii_case(&gap.subject);
            waived.what.layer == gap.layer && same && waived.why.trim().len() >= SHORTEST_REASON
        })
    };
    let is_open = !missing.is_empty() || judged.is_some_and(FlowJudgement::leaves_open);
    let covered = if is_open { Covered::Partly } else { Covered::Whole };
    let open = missing.iter().filter(|gap| !is_waived(gap)).map(|gap| {
        let of = if gap.subject.is_empty() { String::new() } else { format!(" of {}", gap.subject) };
        format!(
            "symptom_covered: {}{of} was not looked at; look with {}, or name it in `waived` with the reason why not",
            gap.layer.told(),
            tool(gap.layer)
        )
    });
    (open.collect(), covered)
}

/// Returns the machines that the topology tool told of, all times together: a look at another group does not take away what was known.
fn topology(bench: &Bench<'_>) -> Value {
    let told = bench.state.calls().filter(|call| call.call.tool == "topology").filter_map(|call| {
        let returned = call.returned.as_ref().filter(|returned| !returned.is_error)?;
        let told: Value = serde_json::from_str(&returned.content).ok()?;
        Some(told.pointer("/facts/machines")?.as_array()?.clone())
    });
    json!({ "machines": told.flatten().collect::<Vec<Value>>() })
}

/// Returns the tool that looks at a layer.
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
    }
}
