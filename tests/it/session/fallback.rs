//! A model that fails one session is asked again by the next one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use ghost_investigate::event::Reply;
use ghost_investigate::model::{Answer, Ask, Fallback, Investigator, Listener, Model, ModelError, Scripted};
use ghost_session::{DriveOutcome, Engine};

use super::plot::{thinking, writes};
use super::world::{World, conclude, control, run, suppose};

/// Reads its turns from a list, as long as its provider is there.
struct Remote {
    script: Scripted,
    is_gone: AtomicBool,
}

#[async_trait]
impl Model for Remote {
    fn investigator(&self) -> Investigator {
        Investigator { model: "remote".to_owned(), ..self.script.investigator() }
    }

    async fn answer(&self, ask: &Ask, listener: &dyn Listener) -> Result<Answer, ModelError> {
        if self.is_gone.load(Ordering::Relaxed) {
            let provider = self.investigator().provider;
            return Err(ModelError::Unavailable { provider, what: "connection refused".to_owned() });
        }
        let answer = self.script.answer(ask, listener).await?;
        Ok(Answer { investigator: self.investigator(), ..answer })
    }
}

/// Returns who answered the turns of the session, in order.
async fn answered(world: &World) -> Vec<String> {
    world.state().await.turns().map(|turn| turn.investigator.model.clone()).collect()
}

async fn drive(world: &World, engine: &Engine) -> DriveOutcome {
    let rest = engine.drive(&world.session, &control()).await.unwrap();
    world.replays().await;
    rest
}

/// A model whose window holds no request at all.
struct Narrow;

#[async_trait]
impl Model for Narrow {
    fn investigator(&self) -> Investigator {
        let provider = "scripted".to_owned();
        Investigator { provider, model: "narrow".to_owned(), host: None, window: 24_000 }
    }

    async fn answer(&self, _ask: &Ask, _listener: &dyn Listener) -> Result<Answer, ModelError> {
        Err(ModelError::TooLong { provider: "scripted".to_owned() })
    }
}

#[tokio::test]
async fn a_model_that_calls_every_request_too_long_does_not_end_the_session() {
    let turns = [suppose(), conclude("REFUTED")];
    let world = World::new(&turns);
    let script = Scripted::parse(&turns.join("\n")).unwrap();
    let model = Arc::new(Fallback::new(Arc::new(Narrow), vec![Arc::new(script)]));
    let engine = thinking(world.engine(), model);
    world.mention("look at 5001").await;
    assert_eq!(drive(&world, &engine).await, DriveOutcome::Over);
    let state = world.state().await;
    let first = state.turns().next().unwrap();
    assert!(first.text.contains("too long") && first.text.contains("goes on"), "{}", first.text);
    assert!(state.is_reported() && state.failures.is_empty());
}

#[tokio::test]
async fn the_next_session_begins_with_the_model_that_failed_this_one() {
    let turns = [suppose(), run(&writes("asked")), conclude("REFUTED")];
    let mut world = World::new(&turns);
    let script = Scripted::parse(&turns.join("\n")).unwrap();
    let remote = Arc::new(Remote { script: script.clone(), is_gone: AtomicBool::new(true) });
    // One model serves all sessions of the process.
    let model = Arc::new(Fallback::new(remote.clone(), vec![Arc::new(script)]));
    let engine = thinking(world.engine(), model);
    let first = world.session.clone();

    world.mention("look at 5001").await;
    let DriveOutcome::Waiting { approval, .. } = drive(&world, &engine).await else { panic!("no question") };
    assert_eq!(answered(&world).await, ["", ""], "the second took over");

    remote.is_gone.store(false, Ordering::Relaxed);
    world.session = "ghost-next".parse().unwrap();
    world.mention("look at 5002").await;
    let DriveOutcome::Waiting { .. } = drive(&world, &engine).await else { panic!("no question") };
    assert_eq!(answered(&world).await, ["remote", "remote"]);

    // The one that moved on stays where it is, also after it waited.
    world.session = first;
    world.answer(&approval, "ben", Reply::Deny { reason: "no".to_owned() }).await;
    assert_eq!(drive(&world, &engine).await, DriveOutcome::Over);
    assert_eq!(answered(&world).await, ["", "", ""]);
}
