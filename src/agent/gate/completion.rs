//! The gates before a conclusion.

use crate::agent::HypothesisState;
use crate::agent::event::Finding;
use crate::agent::finding;
use crate::agent::tool::Bench;

/// What a model claims when it wants to end.
#[derive(Debug, Clone, Default)]
pub struct Claim {
    /// Hypotheses and the state that they are said to have.
    pub hypotheses: Vec<(String, HypothesisState)>,
    /// Findings.
    pub findings: Vec<Finding>,
}

/// A finding with what bears it out, or what is wrong with it.
pub(super) type Checked = (Finding, Result<String, String>);

/// Tries every gate. Returns the findings as they were checked, and the reasons of the gates that are closed.
#[must_use]
pub fn completion(claim: &Claim, bench: &Bench<'_>) -> (Vec<Checked>, Vec<String>) {
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
    let checked: Vec<Checked> =
        claim.findings.iter().map(|claim| (claim.clone(), finding::check(claim, bench))).collect();
    closed.extend(checked.iter().filter_map(|(finding, held)| {
        let why = held.as_ref().err()?;
        Some(format!("findings_hold: {} {}: {why}", finding.code, finding.object))
    }));
    (checked, closed)
}
