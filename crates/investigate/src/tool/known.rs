//! What a session read a moment ago.
//!
//! Goes in: a command that only lists what surrounds a look, and the moment. Comes out: the step of an earlier call that ran it.
//! Never: a reading from before somebody said something, before something was run by consent, or before a check of what was fixed
//! began; one that failed; two answers for one record.

use std::time::Duration;

use crate::event::BRAIN;
use crate::state::{CallState, Entry, State, Step};
use ghost_base::Timestamp;

/// So long a list of what there is holds.
const FRESH: Duration = Duration::from_secs(120);

/// Returns the step of a call before this one that read the same.
pub(super) fn known<'a>(
    state: &'a State,
    call: &CallState,
    command: &str,
    now: Timestamp,
) -> Option<&'a Step> {
    let is_fresh = |step: &&Step| {
        let consented = !step.consents.is_empty() || step.outcome_unknown;
        !consented && step.done_at.is_some_and(|at| now.since(at) <= FRESH)
    };
    let mut fresh = steps_before(state, &call.call.id).take_while(is_fresh);
    fresh.find(|step| step.script.is_none() && step.current().trim() == command.trim() && is_read(step))
}

fn is_read(step: &Step) -> bool {
    let whole = step.done.as_ref().is_some_and(|done| done.exit_code == Some(0));
    step.is_completed() && whole
}

/// Returns the steps of the calls before a call, the latest first, back to where somebody spoke.
fn steps_before<'a>(state: &'a State, call: &str) -> impl Iterator<Item = &'a Step> {
    let mut calls: Vec<&CallState> = Vec::new();
    for entry in &state.entries {
        match entry {
            Entry::Said { .. } => calls.clear(),
            Entry::Noted { .. } => {}
            Entry::Turn(turn) => {
                // What was fixed is looked at as it is now.
                if turn.brain.provider == BRAIN {
                    calls.clear();
                }
                if turn.calls.iter().any(|one| one.call.id == call) {
                    calls.extend(turn.calls.iter().take_while(|one| one.call.id != call));
                    break;
                }
                calls.extend(&turn.calls);
            }
        }
    }
    calls.into_iter().rev().flat_map(|call| call.steps.iter().rev()).filter_map(|id| state.step(*id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Event, Reply, Said, Wish};
    use crate::report::tests::Ledger;

    const LIST: &str = "az vm list -g rg -o json";

    /// A session in which the first call has run something, and the second one is open.
    fn read(command: &str, status: &str, between: impl Fn(&mut Ledger)) -> bool {
        let mut ledger = Ledger::open("8080 hangs");
        ledger.turn(0, &["c1"], None);
        ledger.propose(1, "c1", command, "H1", "SAFE");
        ledger.run(1, None);
        ledger.done(1, status, "executed", "");
        between(&mut ledger);
        ledger.turn(1, &["c2"], None);
        let state = ledger.state();
        let call = state.call_named("c2").unwrap();
        known(&state, call, LIST, ledger.now).is_some()
    }

    #[test]
    fn what_was_listed_a_moment_ago_is_known() {
        assert!(read(LIST, "completed", |_| {}));
        assert!(!read("az vm list -g other -o json", "completed", |_| {}));
        assert!(!read(LIST, "error", |_| {}), "a failure says nothing");
        assert!(!read(LIST, "completed", |ledger| ledger.wait(120)), "nothing holds for ever");
    }

    #[test]
    fn what_somebody_said_or_consented_to_may_have_changed_it() {
        let said = |ledger: &mut Ledger| {
            let (who, text) = ("ben".to_owned(), "I moved the machine".to_owned());
            ledger.add(Event::Said(Said { who, text, wish: Wish::Steer }));
        };
        assert!(!read(LIST, "completed", said));
        let changed = |ledger: &mut Ledger| {
            ledger.turn(1, &["c1b"], None);
            ledger.propose(2, "c1b", "az network nsg rule delete -g rg", "H1", "RISKY");
            ledger.ask("a1", 2, 1);
            ledger.answer("a1", 2, "ben", Reply::Approve);
            ledger.run(2, Some("a1"));
            ledger.done(2, "completed", "executed", "");
        };
        assert!(!read(LIST, "completed", changed));
    }
}
