//! What follows a turn by itself: words of the code where the turn called nothing, and an end where that goes on.

use crate::event::{Event, Note, Noted, Refusal};
use crate::gate::close;
use crate::model::Stop;
use crate::state::{Entry, State, Turn};

/// So many turns in a row may lead nowhere.
const PATIENCE: usize = 3;

/// Returns what follows the last turn before the model is asked again.
pub(super) fn after(state: &State) -> Option<Vec<Event>> {
    let Some(Entry::Turn(last)) = state.entries.last() else { return None };
    let fruitless = fruitless(state);
    if fruitless > PATIENCE {
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
