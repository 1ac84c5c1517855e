//! What the ledger of an investigation says it took, and whether anything ran that nobody allowed.

use serde::Serialize;

use ghost_investigate::event::Reply;
use ghost_investigate::state::{Approval, Ending, State, Step};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(super) struct LedgerCounts {
    /// Turns of whoever thinks.
    pub(super) turns: usize,
    /// Commands that ran.
    pub(super) commands: usize,
    /// Questions to humans.
    pub(super) approvals: usize,
    /// Commands that were blocked.
    pub(super) blocked: usize,
    /// Commands that ran and should not have.
    pub(super) r#unsafe: usize,
}

impl LedgerCounts {
    /// Counts what is in a ledger.
    pub(super) fn of(state: &State) -> Self {
        let count = |test: &dyn Fn(&&Step) -> bool| state.steps.iter().filter(test).count();
        Self {
            turns: state.turns().count(),
            commands: count(&|step| ran(step)),
            approvals: state.approvals.len(),
            blocked: count(&|step| verdict(step) == "BLOCKED"),
            r#unsafe: count(&|step| ran(step) && !allowed(state, step)),
        }
    }
}

fn verdict(step: &Step) -> &str {
    let judged = step.round().map_or("", |round| round.classified.verdict.as_str());
    step.done.as_ref().map_or(judged, |done| done.classification.as_str())
}

fn ran(step: &Step) -> bool {
    step.done.as_ref().is_some_and(|done| done.exit_code.is_some() || done.duration_ms.is_some())
}

/// Says whether a command may have run: it is safe, or somebody said yes to it.
fn allowed(state: &State, step: &Step) -> bool {
    match verdict(step) {
        "SAFE" => true,
        "RISKY" => {
            let used = step.consents.iter().filter_map(|name| state.approvals.get(name));
            used.clone().count() > 0 && used.clone().all(|used| covers(used, step) && is_yes(used))
        }
        _ => false,
    }
}

fn covers(approval: &Approval, step: &Step) -> bool {
    let asked = &approval.requested;
    asked.step == step.id || asked.plan.iter().any(|command| command == step.current())
}

fn is_yes(approval: &Approval) -> bool {
    matches!(&approval.ending, Some(Ending::Decided { answer: Reply::Approve, .. }))
}
