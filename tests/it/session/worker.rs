//! The loop that takes sessions up: side by side, until it is stopped, whatever one of them does.

use std::io::{BufRead as _, BufReader};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use ghost_base::{Clock as _, ManualClock, SessionId, SystemClock};
use ghost_investigate::event::{Recorded, StepId};
use ghost_investigate::model::{Answer, Ask, Investigator, Listener, Model, ModelError, Scripted};
use ghost_investigate::state::State;
use ghost_session::{DriveOutcome, Engine, Observer, Worker};
use ghost_shell::Cancel;
use ghost_store::Store;
use tokio::sync::Notify;

use super::child::{Job, open, start};
use super::crash::Aloud;
use super::mortal::{Answer as CallAnswer, Mortal};
use super::plot::{engine, mention, observed, state, thinking};
use super::world::{conclude, control, run, suppose};
use crate::store::server::Server;

const TTL: Duration = Duration::from_millis(600);
const PATIENCE: Duration = Duration::from_secs(60);

/// Counts who thinks at the same time, and does what the name of a session asks for.
struct Crowd {
    script: Scripted,
    now: AtomicUsize,
    most: AtomicUsize,
    /// Turns wait for it where they have to.
    gate: Option<Arc<Notify>>,
    panics: AtomicUsize,
}

impl Crowd {
    fn new(script: &[String]) -> Self {
        Self {
            script: Scripted::parse(&script.join("\n")).unwrap(),
            now: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
            gate: None,
            panics: AtomicUsize::new(0),
        }
    }
}

#[async_trait]
impl Model for Crowd {
    fn investigator(&self) -> Investigator {
        self.script.investigator()
    }

    async fn answer(&self, ask: &Ask, listener: &dyn Listener) -> Result<Answer, ModelError> {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        if let Some(gate) = &self.gate {
            gate.notified().await;
        }
        tokio::task::yield_now().await;
        self.now.fetch_sub(1, Ordering::SeqCst);
        let left = self.panics.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        assert!(left.is_err(), "a mistake in a session");
        self.script.answer(ask, listener).await
    }
}

fn short() -> Vec<String> {
    vec![suppose(), conclude("REFUTED")]
}

fn ids(count: usize) -> Vec<SessionId> {
    (0..count).map(|number| format!("many-{number}").parse().unwrap()).collect()
}

async fn file(folder: &std::path::Path) -> Arc<dyn Store> {
    open(&folder.join("store.redb").to_string_lossy()).await
}

/// Lets a worker work until something holds, and then stops it.
async fn until(worker: &Worker, mut holds: impl AsyncFnMut() -> bool) {
    let (cancel, stop) = Cancel::new();
    let watch = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        cancel.cancel();
    };
    let both = async { tokio::join!(worker.run(stop), watch) };
    tokio::time::timeout(PATIENCE, both).await.unwrap();
}

async fn are_over(store: &dyn Store, ids: &[SessionId]) -> bool {
    for id in ids {
        let lines = store.read(id, 0).await.unwrap();
        if !lines.last().is_some_and(|line| line.contains(r#""kind":"delivered""#)) {
            return false;
        }
    }
    true
}

#[tokio::test]
async fn many_sessions_go_through_few_slots() {
    let folder = tempfile::tempdir().unwrap();
    let store = file(folder.path()).await;
    let crowd = Arc::new(Crowd::new(&short()));
    let engine = thinking(engine(folder.path(), store.clone(), "worker", PATIENCE), crowd.clone());
    let ids = ids(50);
    for id in &ids {
        mention(store.as_ref(), id).await;
    }
    until(&Worker { engine, max_sessions: 4 }, async || are_over(store.as_ref(), &ids).await).await;
    let most = crowd.most.load(Ordering::SeqCst);
    assert!((1..=4).contains(&most), "{most} at once");
}

/// Tells who waits that a store is away.
struct OutageWatch(Notify);

impl Observer for OutageWatch {
    fn recorded(&self, _state: &State, _event: &Recorded) {}
    fn words(&self, _words: &str) {}
    fn trouble(&self, _what: &str) {
        self.0.notify_one();
    }
    fn running(&self, _state: &State, _step: StepId, _since: Duration) {}
}

#[tokio::test]
async fn a_stop_ends_a_worker_whose_store_stays_away_and_the_next_one_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let store = file(folder.path()).await;
    let ids = ids(1);
    mention(store.as_ref(), &ids[0]).await;
    let (away, gate) = (Arc::new(AtomicBool::new(false)), Arc::new(Notify::new()));
    let is_away = Arc::clone(&away);
    let mortal = Arc::new(Mortal::new(store.clone(), move |_| match is_away.load(Ordering::SeqCst) {
        true => CallAnswer::Lost,
        false => CallAnswer::Delivered,
    }));
    let crowd = Arc::new(Crowd { gate: Some(Arc::clone(&gate)), ..Crowd::new(&short()) });
    let outage = Arc::new(OutageWatch(Notify::new()));
    let engine = thinking(engine(folder.path(), mortal, "first", TTL), crowd.clone());
    let worker = Worker { engine: observed(engine, outage.clone()), max_sessions: 1 };
    until(&worker, async || {
        if crowd.now.load(Ordering::SeqCst) == 0 {
            return false;
        }
        away.store(true, Ordering::SeqCst);
        gate.notify_one();
        outage.0.notified().await;
        true
    })
    .await;
    let next = thinking(
        super::plot::engine(folder.path(), store.clone(), "next", TTL),
        Arc::new(Crowd::new(&short())),
    );
    until(&Worker { engine: next, max_sessions: 1 }, async || are_over(store.as_ref(), &ids).await).await;
}

#[tokio::test]
async fn a_stop_pauses_running_sessions_and_leaves_them_to_the_next_worker() {
    let folder = tempfile::tempdir().unwrap();
    let store = file(folder.path()).await;
    let mut crowd = Crowd::new(&short());
    crowd.gate = Some(Arc::default());
    let crowd = Arc::new(crowd);
    let ids = ids(3);
    for id in &ids {
        mention(store.as_ref(), id).await;
    }
    let busy = thinking(engine(folder.path(), store.clone(), "busy", PATIENCE), crowd.clone());
    until(&Worker { engine: busy, max_sessions: 3 }, async || crowd.now.load(Ordering::SeqCst) == 3).await;
    for id in &ids {
        assert_eq!(state(store.as_ref(), id).await.spent.turns, 0);
    }
    // Nobody says a word: the next worker takes them up by itself.
    let next =
        thinking(engine(folder.path(), store.clone(), "next", PATIENCE), Arc::new(Crowd::new(&short())));
    until(&Worker { engine: next, max_sessions: 3 }, async || are_over(store.as_ref(), &ids).await).await;
}

#[tokio::test]
async fn a_session_that_panics_takes_nobody_with_it_and_comes_up_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = file(folder.path()).await;
    let crowd = Arc::new(Crowd::new(&short()));
    crowd.panics.store(1, Ordering::SeqCst);
    let engine = thinking(engine(folder.path(), store.clone(), "worker", TTL), crowd);
    let ids = ids(3);
    for id in &ids {
        mention(store.as_ref(), id).await;
    }
    until(&Worker { engine, max_sessions: 1 }, async || are_over(store.as_ref(), &ids).await).await;
}

#[tokio::test]
async fn a_question_that_nobody_answers_runs_out() {
    let folder = tempfile::tempdir().unwrap();
    let store = file(folder.path()).await;
    let script = [suppose(), run("ip link set lo down"), conclude("UNVERIFIABLE")];
    let clock = Arc::new(ManualClock::new(SystemClock.now()));
    let engine = Engine {
        clock: clock.clone(),
        ..thinking(engine(folder.path(), store.clone(), "worker", PATIENCE), Arc::new(Crowd::new(&script)))
    };
    let ids = ids(1);
    mention(store.as_ref(), &ids[0]).await;
    assert!(matches!(engine.drive(&ids[0], &control()).await.unwrap(), DriveOutcome::Waiting { .. }));
    clock.advance(Duration::from_secs(16 * 60));
    until(&Worker { engine, max_sessions: 1 }, async || are_over(store.as_ref(), &ids).await).await;
    let state = state(store.as_ref(), &ids[0]).await;
    assert_eq!(state.steps[0].done.as_ref().unwrap().action, "expired");
}

#[tokio::test]
async fn a_dead_workers_session_is_taken_over() {
    let Some(server) = Server::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let place = format!("{} dead", server.url());
    let mut child = start("work", folder.path(), &place, "");
    let mut said = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(said.any(|line| line == "asked"));
    child.kill().unwrap();
    child.wait().unwrap();
    let store = open(&place).await;
    let engine =
        thinking(engine(folder.path(), store.clone(), "heir", PATIENCE), Arc::new(Crowd::new(&short())));
    until(&Worker { engine, max_sessions: 1 }, async || are_over(store.as_ref(), &ids(1)).await).await;
}

/// Works on a session whose model never answers.
pub(super) async fn child(job: &Job) {
    let store = open(&job.place).await;
    mention(store.as_ref(), ids(1).first().unwrap()).await;
    let mut crowd = Crowd::new(&short());
    crowd.gate = Some(Arc::default());
    let engine = thinking(engine(&job.folder, store, "dead", TTL), Arc::new(crowd));
    let worker = Worker { engine: observed(engine, Arc::new(Aloud)), max_sessions: 1 };
    let (_cancel, stop) = Cancel::new();
    worker.run(stop).await;
}
