//! The decision, from the innermost open thing outward.

use crate::conversation;
use crate::decision::{DecisionContext, Effect, budget, call, command, turn};
use crate::event::{Event, Wish};
use crate::gate::close;
use crate::recheck;
use crate::state::State;
use ghost_base::Timestamp;

/// Says what to do next.
#[must_use]
pub fn next(state: &State, context: &DecisionContext<'_>, now: Timestamp) -> Effect {
    if state.concluded.is_some() {
        return if state.is_reported() { Effect::Rest } else { Effect::Deliver };
    }
    if let Some(step) = state.open_step() {
        return command::advance(state, step, context, now);
    }
    if let Some(open) = state.open_call() {
        return call::advance(state, open, context, now);
    }
    if let Some(since) = state.rechecking {
        return recheck::next(state, since, context, now);
    }
    if let Some((who, wish)) = &state.wish {
        let why = match wish {
            Wish::Report => format!("{who} asked for the report"),
            Wish::Stop | Wish::Steer => format!("{who} stopped it"),
        };
        return Effect::Record(close(state, "human", &why));
    }
    if let Some(spent) = budget::spent(state, now) {
        let why = format!("the budget of {} {} is spent", spent.limit, spent.what);
        let mut events = vec![Event::BudgetSpent(spent)];
        events.extend(close(state, "budget", &why));
        return Effect::Record(events);
    }
    if let Some(events) = turn::after(state) {
        return Effect::Record(events);
    }
    let (ask, asked) = conversation::build(state, context);
    Effect::Ask { asked, ask: Box::new(ask) }
}
