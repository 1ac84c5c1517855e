//! Two owners of one session, the first one paused past the end of its lease.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ghost_base::{Clock as _, ManualClock, SystemClock};
use ghost_investigate::model::{Answer, Ask, Investigator, Listener, Model, ModelError, Scripted};
use ghost_session::{DriveOutcome, Engine, EngineError};
use ghost_store::{EmbeddedStore, Ledger as _, Settings, Store};
use rustix::process::{Pid, Signal, kill_process};
use tokio::sync::Notify;

use super::child::{Job, open, start};
use super::crash::Aloud;
use super::plot::{answer, engine, mention, observed, play, runs, script, session, thinking};
use super::world::control;
use crate::store::server::Server;

const TTL: Duration = Duration::from_millis(600);
/// The turn behind the first command.
const LATE: u32 = 2;

/// What a slow model says and hears.
#[derive(Clone, Default)]
struct Signals {
    /// It was asked for its late turn: whoever asks has written what comes before.
    asked: Arc<Notify>,
    /// It may answer.
    go: Arc<Notify>,
}

/// A model that keeps one turn to itself until it is released.
struct Slow {
    script: Scripted,
    at: u32,
    signals: Signals,
}

impl Slow {
    fn new(at: u32, signals: Signals) -> Arc<Self> {
        Arc::new(Self { script: Scripted::parse(&script().join("\n")).unwrap(), at, signals })
    }
}

#[async_trait]
impl Model for Slow {
    fn investigator(&self) -> Investigator {
        self.script.investigator()
    }

    async fn answer(&self, ask: &Ask, listener: &dyn Listener) -> Result<Answer, ModelError> {
        if ask.turn == self.at {
            self.signals.asked.notify_one();
            self.signals.go.notified().await;
        }
        self.script.answer(ask, listener).await
    }
}

#[tokio::test]
async fn an_owner_that_slept_through_a_turn_of_its_model_writes_nothing() {
    let Some(server) = Server::start() else { return };
    stale_on_redis(&server, "turn", |folder| {
        assert_eq!(runs(folder, "one"), 0);
    })
    .await;
}

#[tokio::test]
async fn an_owner_that_slept_through_its_command_writes_nothing_and_the_command_ends() {
    let Some(server) = Server::start() else { return };
    stale_on_redis(&server, "command", |folder| {
        let line = || runs(folder, "one") == 1;
        while !line() {
            std::thread::sleep(Duration::from_millis(5));
        }
    })
    .await;
}

/// Pauses an owner in the middle of something, lets another finish, and lets the first one go on.
async fn stale_on_redis(server: &Server, what: &str, ready: impl Fn(&Path)) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("one.hold"), "").unwrap();
    let place = format!("{} {what}", server.url());
    let mut child = start("own", folder.path(), &place, what);
    let mut said = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let (word, times) = if what == "turn" { ("asked", 3) } else { ("executing", 2) };
    assert_eq!(said.by_ref().filter(|line| line == word).take(times).count(), times);
    ready(folder.path());
    let pid = Pid::from_child(&child);
    kill_process(pid, Signal::STOP).unwrap();

    let store = open(&place).await;
    let heir = engine(folder.path(), store.clone(), "heir", Duration::from_secs(60));
    if what == "turn" {
        std::fs::remove_file(folder.path().join("one.hold")).unwrap();
    }
    tokio::time::timeout(Duration::from_secs(60), play(&heir, folder.path())).await.unwrap();
    let before = store.read(&session(), 0).await.unwrap();

    kill_process(pid, Signal::CONT).unwrap();
    let end = said.find(|line| line.starts_with("end ")).unwrap();
    assert!(end.contains("Fenced") || end.contains("Taken"), "{end}");
    assert!(child.wait().unwrap().success());
    assert_eq!(store.read(&session(), 0).await.unwrap(), before);
    assert_eq!(runs(folder.path(), "one"), 1);
    // The command was killed: its lock is still there.
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    while what == "command" && super::crash::alive_in(folder.path()) > 0 {
        assert!(std::time::Instant::now() < deadline, "the command goes on");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // Nobody holds the session any more.
    assert!(store.acquire(&session(), "next", TTL).await.unwrap().is_some());
}

#[expect(clippy::print_stdout, reason = "how the process that watches learns what happened")]
/// Drives the session in another process, and says how that ended.
pub(super) async fn child(job: &Job) {
    let store = open(&job.place).await;
    let owner = engine(&job.folder, store.clone(), "stale", TTL);
    let late = if job.detail == "turn" { LATE } else { u32::MAX };
    let owner = observed(thinking(owner, Slow::new(late, Signals::default())), Arc::new(Aloud));
    mention(store.as_ref(), &session()).await;
    let end = loop {
        match owner.drive(&session(), &control()).await {
            Ok(DriveOutcome::Waiting { approval, .. }) => answer(&owner, &job.folder, &approval).await,
            end => break end,
        }
    };
    println!("end {end:?}");
}

/// How long a lease of the pair lasts: so long that no test takes a third of it, after which it would be renewed. Only the
/// store's clock ends it.
const LONG: Duration = Duration::from_secs(3000);
/// By then it has ended.
const OVER: Duration = Duration::from_secs(3001);

/// Two owners in one process, on one store.
struct Pair {
    folder: tempfile::TempDir,
    clock: Arc<ManualClock>,
    store: Arc<EmbeddedStore>,
    signals: Signals,
}

impl Pair {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(ManualClock::new(SystemClock.now()));
        let file = folder.path().join("store.redb");
        let store = EmbeddedStore::with_clock(&file, Settings::default(), clock.clone()).unwrap();
        Self { folder, clock, store: Arc::new(store), signals: Signals::default() }
    }

    fn engine(&self, owner: &str, late: u32) -> Engine {
        let store: Arc<dyn Store> = self.store.clone();
        let engine = engine(self.folder.path(), store, owner, LONG);
        // With another clock than the store's it would renew its lease at once.
        Engine { clock: self.clock.clone(), ..thinking(engine, Slow::new(late, self.signals.clone())) }
    }
}

#[tokio::test]
async fn of_two_owners_on_one_file_the_stale_one_writes_nothing() {
    let pair = Pair::new();
    mention(pair.store.as_ref(), &session()).await;
    let (stale, heir) = (pair.engine("stale", LATE), pair.engine("heir", u32::MAX));
    let (id, control) = (session(), control());
    let other = async {
        pair.signals.asked.notified().await;
        assert_eq!(heir.drive(&id, &control).await.unwrap(), DriveOutcome::Taken);
        pair.clock.advance(OVER);
        play(&heir, pair.folder.path()).await;
        let before = pair.store.read(&id, 0).await.unwrap();
        pair.signals.go.notify_one();
        before
    };
    let (end, before) = tokio::join!(stale.drive(&id, &control), other);
    assert!(matches!(end, Err(EngineError::Fenced)), "{end:?}");
    assert_eq!(pair.store.read(&id, 0).await.unwrap(), before);
    assert_eq!(runs(pair.folder.path(), "one"), 1);
    // It took the session again to look, and gave it back: whoever comes next does not wait.
    assert_eq!(heir.drive(&id, &control).await.unwrap(), DriveOutcome::Over);
}

#[tokio::test]
async fn an_owner_whose_lease_ended_goes_on_if_nobody_followed() {
    let pair = Pair::new();
    mention(pair.store.as_ref(), &session()).await;
    let (owner, id, control) = (pair.engine("only", LATE), session(), control());
    let later = async {
        pair.signals.asked.notified().await;
        pair.clock.advance(OVER);
        pair.signals.go.notify_one();
    };
    let (end, ()) = tokio::join!(owner.drive(&id, &control), later);
    assert!(matches!(end, Ok(DriveOutcome::Waiting { .. })), "{end:?}");
}
