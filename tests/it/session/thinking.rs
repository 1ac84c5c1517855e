//! While a model thinks, people are shown that it does.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use ghost_investigate::event::{Recorded, StepId};
use ghost_investigate::model::{Answer, Ask, Investigator, Listener, Model, ModelError, Scripted};
use ghost_investigate::state::State;
use ghost_session::{DriveOutcome, Observer};

use super::plot::thinking;
use super::world::{World, conclude, control, suppose};

/// Answers each turn after a time.
struct Slow(Scripted, Duration);

#[async_trait]
impl Model for Slow {
    fn investigator(&self) -> Investigator {
        self.0.investigator()
    }

    async fn answer(&self, ask: &Ask, listener: &dyn Listener) -> Result<Answer, ModelError> {
        tokio::time::sleep(self.1).await;
        self.0.answer(ask, listener).await
    }
}

/// Keeps how long the model was said to think.
#[derive(Default)]
struct Waiting(Mutex<Vec<u64>>);

impl Observer for Waiting {
    fn recorded(&self, _state: &State, _event: &Recorded) {}
    fn words(&self, _words: &str) {}
    fn trouble(&self, _what: &str) {}
    fn running(&self, _state: &State, _step: StepId, _since: Duration) {}
    fn thinking(&self, state: &State, since: Duration) {
        assert!(state.asked.is_some());
        self.0.lock().unwrap().push(since.as_secs());
    }
}

async fn noticed(seconds: u64) -> Vec<u64> {
    let turns = [suppose(), conclude("REFUTED")];
    let world = World::new(&turns);
    let script = Scripted::parse(&turns.join("\n")).unwrap();
    let waiting = Arc::new(Waiting::default());
    let model = Arc::new(Slow(script, Duration::from_secs(seconds)));
    let engine = thinking(world.observed(waiting.clone()), model);
    world.mention("look at 5001").await;
    assert_eq!(engine.drive(&world.session, &control()).await.unwrap(), DriveOutcome::Over);
    waiting.0.lock().unwrap().clone()
}

#[tokio::test(start_paused = true)]
async fn a_model_that_thinks_long_is_said_to_think_every_fifteen_seconds() {
    assert_eq!(noticed(50).await, [15, 30, 45, 15, 30, 45], "two turns");
}

#[tokio::test(start_paused = true)]
async fn a_quick_model_is_not_spoken_of() {
    assert_eq!(noticed(10).await, [0_u64; 0]);
}
