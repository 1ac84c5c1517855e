//! What comes in an unusual order, and leases that last.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ghost_base::ManualClock;
use ghost_investigate::event::{Content, Event, Instruction, Recorded, StepId};
use ghost_investigate::state::State;
use ghost_session::{DeliveryError, DriveOutcome, Observer, ReportDelivery};

use super::world::{World, conclude, control, run, suppose};

#[tokio::test]
async fn words_that_overtake_the_incident_follow_it() {
    let world = World::new(&[suppose(), conclude("REFUTED")]);
    world.say("ben", "it began at noon", Instruction::Steer).await;
    assert_eq!(world.drive().await, DriveOutcome::Missing);
    // Words without an incident do not come up all the time.
    assert_eq!(world.store.next_work("other", Duration::ZERO).await.unwrap(), None);
    world.clock.advance(Duration::from_secs(31));
    world.mention("look at 5001").await;
    assert_eq!(world.drive().await, DriveOutcome::Over);
    assert_eq!(world.kinds().await.get(..2).unwrap(), ["opened", "said"]);
    assert!(world.store.inbox(&world.session).await.unwrap().is_empty());
}

#[tokio::test]
async fn short_turns_in_a_row_do_not_use_the_lease_up() {
    let commands = ["-s", "-r", "-m", "-n", "-v", "-o"].map(|option| run(&format!("uname {option}")));
    let turns: Vec<String> = [suppose()].into_iter().chain(commands).chain([conclude("REFUTED")]).collect();
    let world = World::new(&turns);
    world.mention("look at 5001").await;
    // Each turn takes a quarter of the lease, which nobody else could take in between.
    let engine = world.observed(Arc::new(Ticking(world.clock.clone())));
    assert_eq!(engine.drive(&world.session, &control()).await.unwrap(), DriveOutcome::Over);
    let epochs: BTreeSet<u64> = world.recorded().await.iter().filter_map(epoch).collect();
    assert_eq!(epochs.len(), 1, "{epochs:?}");
    let next = world.store.acquire(&world.session, "next", Duration::from_secs(1)).await.unwrap().unwrap();
    assert_eq!(Some(&(next.epoch() - 1)), epochs.first());
}

/// Lets time go by with every answer of the model.
struct Ticking(Arc<ManualClock>);

impl Observer for Ticking {
    fn recorded(&self, _state: &State, event: &Recorded) {
        if event.kind == "answered" {
            self.0.advance(Duration::from_millis(7_500));
        }
    }
    fn words(&self, _words: &str) {}
    fn trouble(&self, _what: &str) {}
    fn running(&self, _state: &State, _step: StepId, _since: Duration) {}
}

fn epoch(event: &Recorded) -> Option<u64> {
    let Content::Known(event) = &event.content else { return None };
    let Event::Executing(executing) = event.as_ref() else { return None };
    Some(executing.epoch)
}

/// Brings nothing.
struct Lame;

#[async_trait]
impl ReportDelivery for Lame {
    async fn deliver(&self, _state: &State, _report: &str) -> Result<String, DeliveryError> {
        Err(DeliveryError::service("nobody is at home"))
    }
}

#[tokio::test]
async fn a_report_that_reached_nobody_comes_up_again() {
    let world = World::new(&[suppose(), conclude("REFUTED")]);
    world.mention("look at 5001").await;
    let mut engine = world.engine();
    engine.delivery = Arc::new(Lame);
    assert!(matches!(
        engine.drive(&world.session, &control()).await.unwrap(),
        DriveOutcome::Undelivered { .. }
    ));
    world.clock.advance(Duration::from_secs(31));
    let found = world.store.next_work("next", Duration::ZERO).await.unwrap();
    assert_eq!(found.as_ref(), Some(&world.session));
    assert_eq!(world.drive().await, DriveOutcome::Over);
    assert_eq!(world.state().await.delivered.len(), 1);
}

#[tokio::test]
async fn driving_is_work_for_a_task() {
    let world = World::new(&[suppose(), conclude("REFUTED")]);
    world.mention("look at 5001").await;
    let (engine, session) = (world.engine(), world.session.clone());
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(async move { engine.drive(&session, &control()).await.unwrap() });
    assert_eq!(tasks.join_next().await.unwrap().unwrap(), DriveOutcome::Over);
}
