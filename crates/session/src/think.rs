//! Asking the model.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::Engine;
use crate::Observer;
use ghost_investigate::event::{AnswerFailed, Event, ModelAnswered, ModelAsked};
use ghost_investigate::model::{Answer, Ask, Call, Listener, Model, ModelError};
use ghost_investigate::state::State;

/// The longest turn. What follows from it, findings for instance, repeats parts of it in one event.
const MAX_TURN_BYTES: usize = 400_000;

/// How often it is said that a model still thinks.
const STILL_THINKING_INTERVAL: Duration = Duration::from_secs(15);

/// Says again and again that a model still thinks. It never ends by itself.
pub(super) async fn say_still_thinking(engine: &Engine, state: &State) {
    let began = Instant::now();
    loop {
        sleep(STILL_THINKING_INTERVAL).await;
        engine.observer.thinking(state, began.elapsed());
    }
}

/// Passes on what a model says while it says it.
struct ModelListener(Arc<dyn Observer>);

impl Listener for ModelListener {
    fn text(&self, words: &str) {
        self.0.words(words);
    }

    fn retry(&self, error: &ModelError, after: Duration) {
        self.0.trouble(&format!("{error}; asking again in {:.1} s", after.as_secs_f64()));
    }
}

/// Asks and returns what is to be recorded.
pub(super) async fn think(
    engine: &Engine,
    model: &dyn Model,
    ask: &Ask,
    asked: &ModelAsked,
) -> Result<ModelAnswered, AnswerFailed> {
    let began = engine.clock.now();
    let answer = model.answer(ask, &ModelListener(Arc::clone(&engine.observer))).await;
    let latency = engine.clock.now().since(began);
    match answer {
        Ok(answer) => {
            let Answer { investigator, text, calls, carry, usage, stop } = answer;
            let cost_micros = (engine.turn_cost)(&investigator, &usage);
            bounded(ModelAnswered {
                turn: asked.turn,
                cost_micros,
                investigator,
                text,
                calls,
                carry,
                usage,
                latency_ms: u64::try_from(latency.as_millis()).unwrap_or(u64::MAX),
                stop,
            })
        }
        Err(error) => {
            let too_long = matches!(error, ModelError::TooLong { .. });
            Err(AnswerFailed { turn: asked.turn, problem: error.to_string(), too_long })
        }
    }
}

/// Refuses a turn that is too long to be kept: no line of a ledger holds it.
fn bounded(answered: ModelAnswered) -> Result<ModelAnswered, AnswerFailed> {
    match serde_json::to_string(&answered).map(|text| text.len()) {
        Ok(length) if length <= MAX_TURN_BYTES => Ok(answered),
        Ok(length) => {
            let problem = format!("the turn has {length} bytes, the most is {MAX_TURN_BYTES}");
            Err(AnswerFailed { turn: answered.turn, problem, too_long: false })
        }
        Err(error) => Err(AnswerFailed { turn: answered.turn, problem: error.to_string(), too_long: false }),
    }
}

/// Gives every call a name that no other call of the session has.
pub(super) fn name_calls(state: &State, turn: u32, calls: &mut [Call]) {
    let mut known: HashSet<String> = state.calls().map(|call| call.call.id.clone()).collect();
    for (call, number) in calls.iter_mut().zip(1_u32..) {
        if call.id.is_empty() || call.id.len() > 256 || known.contains(&call.id) {
            call.id = format!("t{turn}_{number}");
        }
        known.insert(call.id.clone());
    }
}

/// Says that a turn was recorded as an event.
pub(super) fn event(turn: Result<ModelAnswered, AnswerFailed>) -> Event {
    match turn {
        Ok(answered) => Event::ModelAnswered(answered),
        Err(failed) => Event::AnswerFailed(failed),
    }
}
