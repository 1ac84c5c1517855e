//! The decision, from the innermost open thing outward, and what follows a turn by itself.

use crate::decision::{DecisionContext, Effect, call, command};
use crate::event::{BudgetSpent, Event, Instruction, Note, Noted, Refusal};
use crate::gate::close;
use crate::model::Stop;
use crate::state::{Entry, Phase, State, Turn};
use crate::{conversation, outside, recheck};
use ghost_base::Timestamp;

/// Says what to do next.
#[must_use]
pub fn next(state: &State, context: &DecisionContext<'_>, now: Timestamp) -> Effect {
    if let Some(asked) = &state.opened.outside {
        return outside::next(state, asked, context, now);
    }
    if state.concluded.is_some() {
        return if state.is_reported() { behind_report(state, context, now) } else { Effect::Deliver };
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
    if let Some((_, instruction)) = &state.end_request {
        let why = match instruction {
            Instruction::Report => "the report was asked for before that",
            Instruction::Stop | Instruction::Steer => "it was stopped before that",
        };
        return Effect::Record(close(state, "human", why));
    }
    if let Some(spent) = spent_budget(state, now) {
        let why = format!("the budget of {} {} is spent", spent.limit, spent.what);
        let mut events = vec![Event::BudgetSpent(spent)];
        events.extend(close(state, "budget", &why));
        return Effect::Record(events);
    }
    if let Some(events) = after_turn(state) {
        return Effect::Record(events);
    }
    let (ask, asked) = conversation::build(state, context);
    Effect::Ask { asked, ask: Box::new(ask) }
}

/// Says what is left to do behind the report: what calls left in the cloud is cleared up there, so that no answer waits for that.
fn behind_report(state: &State, context: &DecisionContext<'_>, now: Timestamp) -> Effect {
    let mut open = state.steps.iter().filter(|step| step.phase != Phase::Done);
    if let Some(step) = open.find(|step| state.is_behind_result(step)) {
        return command::advance(state, step, context, now);
    }
    // Whoever ended it wants to be asked nothing more.
    if state.end_request.is_some() {
        return Effect::Rest;
    }
    state.calls().find_map(|call| call::behind_report(state, call, context, now)).unwrap_or(Effect::Rest)
}

fn spent_budget(state: &State, now: Timestamp) -> Option<BudgetSpent> {
    let (limits, spent) = (&state.limits, &state.spent);
    let minutes = spent.at_work(state.opened_at, now).as_secs() / 60;
    let budgets = [
        ("turns", u64::from(spent.turns), u64::from(limits.turns)),
        ("commands", u64::from(spent.commands), u64::from(limits.commands)),
        ("minutes", minutes, u64::from(limits.minutes)),
        ("captured bytes", spent.captured_bytes, limits.captured_bytes),
        ("tokens", spent.tokens, unless_zero(limits.tokens)),
        ("millionths of a dollar", spent.cost_micros, unless_zero(limits.cost_micros)),
    ];
    let over = budgets.into_iter().find(|(_, used, limit)| used >= limit);
    over.map(|(what, used, limit)| BudgetSpent { what: what.to_owned(), used, limit })
}

fn unless_zero(limit: u64) -> u64 {
    if limit == 0 { u64::MAX } else { limit }
}

/// Limits the turns in a row that lead nowhere.
const MAX_FRUITLESS_TURNS: usize = 3;

/// Returns what follows the last turn before the model is asked again.
fn after_turn(state: &State) -> Option<Vec<Event>> {
    let Some(Entry::Turn(last)) = state.entries.last() else { return None };
    let fruitless = fruitless(state);
    if fruitless > MAX_FRUITLESS_TURNS {
        let why = format!("{fruitless} turns in a row called nothing that could be done");
        return Some(close(state, "code", &why));
    }
    if !last.calls.is_empty() {
        return None;
    }
    let (reason, text) = match &last.stop {
        Stop::Length => (
            Note::CutOff,
            "Your turn ran into its limit before it called anything. Say less and call a tool.",
        ),
        Stop::Refused { .. } => (
            Note::Refused,
            "Your turn was refused. This is a read-only diagnosis for the owner of the network; every command goes through a safety gate. Go on with a tool.",
        ),
        Stop::Malformed { .. } => (
            Note::Malformed,
            "Your call was spelled wrongly and thrown away. Call one tool with arguments that fit its schema.",
        ),
        Stop::End | Stop::Calls if state.hypotheses.is_empty() => (
            Note::NoCalls,
            "Nobody answers between turns, and the board is empty. Put two to four hypotheses on it with manage_hypotheses, then test them.",
        ),
        Stop::End | Stop::Calls if state.active().next().is_none() => (
            Note::NoCalls,
            "Nobody answers between turns, and no hypothesis is active. Add one, or end with complete_investigation.",
        ),
        Stop::End | Stop::Calls => (
            Note::NoCalls,
            "Nobody answers between turns. Go on with a tool: test an active hypothesis, or settle it.",
        ),
    };
    Some(vec![Event::Noted(Noted { text: text.to_owned(), reason })])
}

/// Counts the last turns in a row that led nowhere.
#[must_use]
pub fn fruitless(state: &State) -> usize {
    state.turns().rev().take_while(|turn| is_fruitless(turn)).count()
}

/// Tells whether a turn led nowhere: it called nothing, or nothing that fits a schema.
fn is_fruitless(turn: &Turn) -> bool {
    let malformed = |refused: Option<Refusal>| refused == Some(Refusal::Malformed);
    turn.calls.iter().all(|call| malformed(call.returned.as_ref().and_then(|returned| returned.refused)))
}
