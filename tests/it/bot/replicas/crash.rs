//! Replicas that are killed again and again while hundreds of sessions work and wait.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use ghost_store::Ledger as _;

use super::people::{Talk, card};
use super::proof::{Death, takeovers};
use super::stage::{REPLICAS, Stage};
use crate::bot::stage::has_button;
use crate::random::{Random, is_long, seed};

/// What is played.
struct Plan {
    waiting: usize,
    active: usize,
    rooms: usize,
    /// How many commands an active session runs, and how long it thinks before each.
    context: usize,
    thinks: Duration,
    kills: usize,
    /// How long a replica lives.
    between: std::ops::Range<u64>,
}

impl Plan {
    fn new() -> Self {
        if is_long() {
            let (thinks, between) = (Duration::from_secs(15), 3_000..6_000);
            Self { waiting: 2_000, active: 500, rooms: 50, context: 8, thinks, kills: 27, between }
        } else {
            let (thinks, between) = (Duration::from_millis(1_500), 1_500..3_000);
            Self { waiting: 60, active: 30, rooms: 5, context: 4, thinks, kills: 3, between }
        }
    }
}

#[tokio::test]
async fn replicas_that_are_killed_lose_nothing_and_do_nothing_twice() {
    let plan = Plan::new();
    let mut chance = Random::new(seed("replicas"));
    let Some(mut stage) = Stage::start(plan.rooms, plan.context, plan.thinks).await else { return };
    let began = Instant::now();
    let waiting = stage.mention(0..plan.waiting, true).await;
    stage.all(&waiting, "a session waits with a card", |state| card(state).is_some()).await;
    log(&format!("{} sessions wait after {:?}; MB: {:?}", waiting.len(), began.elapsed(), stage.memory()));
    let half = plan.waiting + plan.active / 2;
    let mut active = stage.mention(plan.waiting..half, false).await;
    let (early, late) = waiting.split_at(plan.waiting / 5);
    let mut deaths = Vec::new();
    let sessions: Vec<_> = waiting.iter().map(|talk| talk.session.clone()).collect();
    for kill in 0..plan.kills {
        // Who is alive a while is killed: this is the only pause that no event ends.
        let pause = plan.between.start + chance.next() % (plan.between.end - plan.between.start);
        let shift = shift(plan.active - plan.active / 2, plan.kills, kill);
        let clicks = shift_of(early, plan.kills, kill);
        let people = async {
            let (more, ()) = tokio::join!(
                stage.mention(half + shift.start..half + shift.end, false),
                stage.answer_for_a_while(clicks, Duration::from_millis(pause)),
            );
            more
        };
        let (more, ()) = tokio::join!(people, tokio::time::sleep(Duration::from_millis(pause)));
        active.extend(more);
        let mut known = sessions.clone();
        known.extend(active.iter().map(|talk| talk.session.clone()));
        let (died, held) = stage.kill(chance.below(REPLICAS), &known).await;
        deaths.push(Death { died, held });
    }
    log(&format!("{} kills after {:?}; MB: {:?}", deaths.len(), began.elapsed(), stage.memory()));
    stage.all(&active, "an active session ends", |state| state.is_reported()).await;
    log(&format!("all active ones ended after {:?}; MB: {:?}", began.elapsed(), stage.memory()));
    for talk in late {
        let said = stage.said(talk).await;
        assert!(
            said.iter().any(|message| has_button(message, "approve")),
            "{talk:?} has no live card: {said:#?}"
        );
    }
    stage.answer(&waiting).await;
    log(&format!("all cards are answered after {:?}; MB: {:?}", began.elapsed(), stage.memory()));
    prove(&stage, waiting, active, &deaths).await;
    log(&format!("proved after {:?}", began.elapsed()));
}

async fn prove(stage: &Stage, waiting: Vec<Talk>, active: Vec<Talk>, deaths: &[Death]) {
    let talks: Vec<Talk> = waiting.into_iter().chain(active).collect();
    assert_eq!(stage.store.list(None, talks.len() * 2).await.unwrap().len(), talks.len());
    let ran = stage.ran();
    let mut ledgers = BTreeMap::new();
    for talk in &talks {
        stage.at_rest(talk).await;
        stage.prove(talk, &ran).await;
        ledgers.insert(talk.session.clone(), stage.recorded(talk).await);
    }
    let held: usize = deaths.iter().map(|death| death.held.len()).sum();
    let took = takeovers(deaths, &ledgers);
    let at = |part: usize| took.get((took.len() * part / 100).min(took.len().saturating_sub(1)));
    log(&format!(
        "{held} sessions were held by the dead, {} went on: p50 {:?}, p99 {:?}, most {:?} ms after",
        took.len(),
        at(50),
        at(99),
        took.last(),
    ));
    assert!(!took.is_empty(), "nobody died in the middle of anything");
    // Who was killed since counts anew, so that the counter is what was taken over since the last death, and more.
    let since = deaths.last().map(std::slice::from_ref).unwrap_or_default();
    let (counted, last) = (stage.taken_over().await, takeovers(since, &ledgers).len());
    assert!(
        counted >= 1 || last == 0,
        "{last} were taken over since the last death, and /metrics counts {counted}"
    );
}

/// Returns which of so many falls to one of the shifts.
fn shift(many: usize, shifts: usize, at: usize) -> std::ops::Range<usize> {
    many * at / shifts..many * (at + 1) / shifts
}

fn shift_of(talks: &[Talk], shifts: usize, at: usize) -> &[Talk] {
    talks.get(shift(talks.len(), shifts, at)).unwrap_or_default()
}

#[expect(clippy::print_stdout, reason = "the figures are what somebody runs it for")]
fn log(words: &str) {
    println!("replicas: {words}");
}
