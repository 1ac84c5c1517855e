//! What a session does that checks again.

use super::{Verdict, attempt, compare, plan, summary, verdict};
use crate::decision::{DecisionContext, Effect};
use crate::event::{Concluded, Event, ModelAnswered, RECHECK_PROVIDER};
use crate::model::{Call, Investigator, Stop, Usage};
use crate::state::{Entry, State, Turn};
use crate::tool::{CallContext, Reads};
use ghost_base::Timestamp;

/// Says what to do next for a session that checks again and in which no call is open: the calls first, then what they come to.
pub(crate) fn next(state: &State, since: usize, context: &DecisionContext<'_>, now: Timestamp) -> Effect {
    let plan = plan::plan(state, context, now);
    let attempts = attempt::attempts(state, since, context);
    match turn(state, since) {
        None if state.end_request.is_none() => {
            let calls = plan::calls(state, &plan, &attempts);
            let text = "The checks that had shown the faults are made again, as they were, and what failed is tried."
                .to_owned();
            Effect::Record(vec![Event::ModelAnswered(ModelAnswered {
                turn: state.spent.turns,
                investigator: Investigator {
                    provider: RECHECK_PROVIDER.to_owned(),
                    model: String::new(),
                    host: None,
                    window: state.opened.investigator.window,
                },
                text,
                calls,
                carry: None,
                usage: Usage::default(),
                cost_micros: Some(0),
                latency_ms: 0,
                stop: Stop::Calls,
            })])
        }
        again => {
            let calls: Vec<&Call> =
                again.into_iter().flat_map(|turn| &turn.calls).map(|call| &call.call).collect();
            let mut rows = compare::compare(state, &plan, &calls, context, now);
            let tried = calls.get(plan.len()..).unwrap_or_default().iter();
            let tried = attempts.iter().zip(tried.map(|call| state.call_named(&call.id)));
            rows.extend(tried.filter_map(|(attempt, call)| attempt.row(state, call)));
            Effect::Record(vec![Event::Concluded(concluded(state, rows))])
        }
    }
}

/// Returns the turn that checks again, once there is one.
fn turn(state: &State, since: usize) -> Option<&Turn> {
    state.entries.get(since..)?.iter().find_map(|entry| match entry {
        Entry::Turn(turn) => Some(turn),
        Entry::Message { .. } | Entry::Note { .. } => None,
    })
}

fn concluded(state: &State, rows: Vec<crate::event::Rechecked>) -> Concluded {
    let before = state.earlier.last().map(|(_, concluded)| concluded);
    let outcome = before.map_or(crate::Outcome::Inconclusive, |before| before.outcome);
    let left = verdict(&rows) != Verdict::Fixed;
    Concluded {
        outcome,
        confidence: outcome.confidence(),
        claimed: None,
        summary: summary::summary(&rows),
        actions: before.filter(|_| left).map(|before| before.actions.clone()).unwrap_or_default(),
        open_questions: Vec::new(),
        waived: Vec::new(),
        by: "code".to_owned(),
        recheck: rows,
        complaints: Vec::new(),
        stands: None,
        replaced: Vec::new(),
    }
}

/// Returns the context in which a call is read.
pub(super) fn call_context<'a>(
    state: &'a State,
    call: &'a crate::state::CallState,
    context: &'a DecisionContext<'a>,
    now: Timestamp,
) -> CallContext<'a> {
    CallContext { state, call, evidence: context.evidence, tools: context.tools, now, reads: Reads::New }
}
