//! Going on behind a report, holding commands back, and what people are shown.

use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use ghost_base::Digest;
use ghost_investigate::Outcome;
use ghost_investigate::event::{Delivered, Instruction};
use ghost_investigate::state::State;
use ghost_session::{DeliveryError, DriveOutcome, Engine, FreezeCheck, ReportDelivery};
use ghost_shell::Scope;

use super::world::{World, conclude, control, run, suppose, times};

const LOOK: &str = "cat /proc/net/dev";

#[tokio::test]
async fn who_mentions_a_concluded_session_goes_on_with_its_evidence() {
    let end = conclude("REFUTED");
    let world = World::new(&[suppose(), run(LOOK), end.clone(), run(LOOK), end]);
    world.mention("look at the link").await;
    assert_eq!(world.drive().await, DriveOutcome::Over);
    let before = world.state().await;
    world.again("ben", "look once more").await;
    assert_eq!(world.drive().await, DriveOutcome::Over);
    let after = world.state().await;
    assert_eq!((before.observations.len(), after.observations.len()), (1, 2));
    assert_eq!(after.observations.first(), before.observations.first());
    assert_eq!((after.earlier.len(), after.is_reported()), (1, true));
    assert_eq!(after.limits.turns, before.limits.turns + before.spent.turns);
    let recorded = world.recorded().await;
    for kind in ["concluded", "delivered"] {
        times(&recorded, kind, 2);
    }
    times(&recorded, "reopened", 1);
}

#[tokio::test]
async fn words_that_mention_nobody_leave_a_report_alone() {
    let world = World::new(&[suppose(), conclude("REFUTED")]);
    world.mention("look at the link").await;
    assert_eq!(world.drive().await, DriveOutcome::Over);
    world.say("ben", "thanks", Instruction::Steer).await;
    assert_eq!(world.drive().await, DriveOutcome::Over);
    let recorded = world.recorded().await;
    times(&recorded, "concluded", 1);
    // What people say to each other is not kept, either.
    times(&recorded, "said", 0);
    times(&recorded, "discarded", 1);
}

#[tokio::test]
async fn who_goes_on_before_the_report_was_delivered_goes_on_behind_it() {
    let world = World::new(&[suppose(), conclude("REFUTED"), conclude("REFUTED")]);
    world.mention("look at the link").await;
    let silent = with(&world, Arc::new(Deaf), None);
    assert!(matches!(
        silent.drive(&world.session, &control()).await.unwrap(),
        DriveOutcome::Undelivered { .. }
    ));
    world.clock.advance(Duration::from_secs(31));
    world.again("ben", "and now").await;
    assert_eq!(world.drive().await, DriveOutcome::Over);
    let kinds = world.kinds().await;
    let at = |kind: &str| kinds.iter().position(|found| found == kind).unwrap();
    assert!(at("concluded") < at("delivered") && at("delivered") < at("reopened"), "{kinds:?}");
}

#[tokio::test]
async fn no_command_begins_while_it_is_held_back() {
    let world = World::new(&[suppose(), run(LOOK), conclude("REFUTED")]);
    world.mention("look at the link").await;
    let freeze = Arc::new(Held(Mutex::new(2)));
    let engine = with(&world, world.engine().delivery, Some(freeze.clone()));
    assert_eq!(engine.drive(&world.session, &control()).await.unwrap(), DriveOutcome::Over);
    assert_eq!(*freeze.0.lock().unwrap(), 0);
    times(&world.recorded().await, "done", 1);
    world.replays().await;
}

#[tokio::test]
async fn a_session_that_is_held_back_can_be_stopped() {
    let world = World::new(&[suppose(), run(LOOK)]);
    world.mention("look at the link").await;
    let engine = with(&world, world.engine().delivery, Some(Arc::new(Held(Mutex::new(u32::MAX)))));
    let control = control();
    let (rest, ()) = tokio::join!(engine.drive(&world.session, &control), async {
        while !world.kinds().await.iter().any(|kind| kind == "classified") {
            tokio::task::yield_now().await;
        }
        world.say("ben", "stop", Instruction::Stop).await;
    });
    assert_eq!(rest.unwrap(), DriveOutcome::Over);
    times(&world.recorded().await, "executing", 0);
}

#[tokio::test]
async fn where_people_are_shown_it_is_on_record() {
    let world = World::new(&[suppose(), conclude("REFUTED")]);
    world.mention("look at the link").await;
    let engine = with(&world, Arc::new(Board), None);
    assert_eq!(engine.drive(&world.session, &control()).await.unwrap(), DriveOutcome::Over);
    let state = world.state().await;
    assert_eq!(state.place_of("board").unwrap().place, "a wall");
    assert!(state.is_reported());
    assert_eq!(state.delivered.len(), 2);
    world.replays().await;
}

#[tokio::test]
async fn what_lies_outside_the_scope_is_refused_and_nobody_is_asked() {
    let mut world = World::new(&[suppose(), run("az vm start -g rg-db -n x"), conclude("REFUTED")]);
    world.scope = Some(Scope { resource_groups: vec!["rg-web".to_owned()], ..Scope::default() });
    world.mention("look at the link").await;
    assert_eq!(world.drive().await, DriveOutcome::Over);
    let recorded = world.recorded().await;
    times(&recorded, "approval_requested", 0);
    times(&recorded, "executing", 0);
    let result = world.results().await.into_iter().find(|result| result["error"].is_string()).unwrap();
    assert_eq!(result["error"], "blocked");
    assert!(result["reason"].as_str().unwrap().contains("rg-db"), "{result}");
    assert_eq!(world.state().await.concluded.unwrap().1.outcome, Outcome::Inconclusive);
}

fn with(world: &World, delivery: Arc<dyn ReportDelivery>, freeze: Option<Arc<dyn FreezeCheck>>) -> Engine {
    let engine = world.engine();
    let freeze = freeze.unwrap_or_else(|| engine.freeze.clone());
    Engine { delivery, freeze, ..engine }
}

/// Holds commands back so often.
struct Held(Mutex<u32>);

#[async_trait]
impl FreezeCheck for Held {
    async fn frozen(&self) -> Option<String> {
        let mut left = self.0.lock().unwrap();
        let held = left.checked_sub(1)?;
        *left = held;
        Some("ben holds everything back".to_owned())
    }
}

/// Delivers nothing.
struct Deaf;

#[async_trait]
impl ReportDelivery for Deaf {
    async fn deliver(&self, _state: &State, _report: &str) -> Result<String, DeliveryError> {
        Err(DeliveryError::service("nobody is there"))
    }

    async fn reconcile(&self, _state: &State) -> Result<Vec<Delivered>, DeliveryError> {
        Err(DeliveryError::service("nobody is there"))
    }
}

/// Puts a board up once.
struct Board;

#[async_trait]
impl ReportDelivery for Board {
    async fn deliver(&self, _state: &State, _report: &str) -> Result<String, DeliveryError> {
        Ok("a wall".to_owned())
    }

    async fn reconcile(&self, state: &State) -> Result<Vec<Delivered>, DeliveryError> {
        let board =
            Delivered { what: "board".to_owned(), place: "a wall".to_owned(), digest: Digest::of("x") };
        Ok(if state.place_of("board").is_some() { Vec::new() } else { vec![board] })
    }
}
