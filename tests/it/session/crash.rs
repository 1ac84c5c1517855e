//! A session whose process is killed at every call to the store, and while an approved command runs.

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Child;
use std::sync::Arc;
use std::time::Duration;

use ghost_investigate::event::Recorded;
use ghost_investigate::state::State;
use ghost_session::Observer;
use rustix::process::{Pid, Signal, getpid, kill_process};
use tempfile::TempDir;

use super::child::{Job, open, start};
use super::mortal::{Answer, Mortal, Point, When};
use super::plot::{engine, observed, play, runs};
use super::proof::End;
use crate::random::{Random, is_long, seed};
use crate::store::server::Server;

/// Says where the store of a point is, from its folder and its name.
type Place = dyn Fn(&Path, &str) -> String;

const SIGKILL: i32 = 9;
/// How many points the short run takes.
const SAMPLE: usize = 12;
/// How many sessions are played side by side.
const SIDE_BY_SIDE: usize = 4;
/// Long enough for a slow machine, short enough to wait for the end of a dead owner's lease.
const TTL: Duration = Duration::from_millis(1500);
const PATIENCE: Duration = Duration::from_secs(120);

#[tokio::test]
async fn a_kill_at_any_call_to_the_embedded_store_is_made_good() {
    kill_everywhere("embedded", &|folder: &Path, _| folder.join("store.redb").to_string_lossy().into_owned())
        .await;
}

#[tokio::test]
async fn a_kill_at_any_call_to_redis_is_made_good() {
    let Some(server) = Server::start() else { return };
    kill_everywhere("redis", &move |_, point| format!("{} {point}", server.url())).await;
}

/// Kills a worker at every point, or at a sample of them, and proves each end.
async fn kill_everywhere(test: &str, place: &Place) {
    let whole = unbroken(place).await;
    let points = sample(test, whole.1);
    for points in points.chunks(SIDE_BY_SIDE) {
        // The processes run side by side; whoever takes over does so one after the other.
        let mut killed = Vec::new();
        for point in points {
            let folder = tempfile::tempdir().unwrap();
            let at = format!("{test} {} {:?}", point.0, point.1);
            let place = place(folder.path(), &format!("k{}{:?}", point.0, point.1));
            let child = start("crash", folder.path(), &place, &format!("{} {:?}", point.0, point.1));
            killed.push((at, folder, place, child));
        }
        for (at, folder, place, child) in killed {
            ended(&at, child);
            take_over(&at, &folder, &place, &whole.0).await;
        }
    }
}

#[tokio::test]
async fn a_kill_while_an_approved_command_runs_is_asked_about() {
    let server = Server::start();
    let mut places: Vec<Box<Place>> =
        vec![Box::new(|folder, _| folder.join("store.redb").to_string_lossy().into_owned())];
    if let Some(server) = &server {
        let url = server.url();
        places.push(Box::new(move |_, point| format!("{url} {point}")));
    }
    for place in places {
        let whole = unbroken(place.as_ref()).await.0;
        for (name, lock) in [("one", "wait"), ("one", "hold"), ("two", "wait"), ("two", "hold")] {
            let folder = tempfile::tempdir().unwrap();
            let lock_file = folder.path().join(format!("{name}.{lock}"));
            std::fs::write(&lock_file, "").unwrap();
            let at = format!("{name}.{lock}");
            let place = place(folder.path(), &at);
            let mut child = start("crash", folder.path(), &place, "none");
            let pid = Pid::from_child(&child);
            is_running(&mut child, if name == "one" { 2 } else { 3 });
            if lock == "hold" {
                until(&at, || runs(folder.path(), name) == 1).await;
            }
            kill_process(pid, Signal::KILL).unwrap();
            ended(&at, child);
            // What a human approved outlives the program; it ends before the check.
            std::fs::remove_file(&lock_file).unwrap();
            until(&at, || alive_in(folder.path()) == 0).await;
            let end = take_over(&at, &folder, &place, &whole).await;
            assert_eq!(end.state.unknown_steps().count(), 1, "{at}");
        }
    }
}

/// Lets whoever comes next bring the session to its end, and proves it.
async fn take_over(at: &str, folder: &TempDir, place: &str, whole: &End) -> End {
    let store = open(place).await;
    let heir = engine(folder.path(), store.clone(), "heir", TTL);
    let played = tokio::time::timeout(PATIENCE, play(&heir, folder.path())).await;
    assert!(played.is_ok(), "{at}: it does not end");
    let end = End::read(folder.path(), store.as_ref()).await;
    end.prove(at, whole);
    end
}

/// Plays the session without an interruption; returns its end and the number of calls to the store.
async fn unbroken(place: &Place) -> (End, usize) {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(Mortal::new(open(&place(folder.path(), "whole")).await, |_| Answer::Delivered));
    let worker = engine(folder.path(), store.clone(), "whole", Duration::from_secs(60));
    play(&worker, folder.path()).await;
    let calls = store.calls();
    let end = End::read(folder.path(), store.as_ref()).await;
    end.prove("unbroken", &end);
    assert!(end.events.len() >= 40, "{} events", end.events.len());
    assert_eq!(end.state.unknown_steps().count(), 0);
    (end, calls)
}

/// Returns all points of the long run, and a sample of them for the short one.
fn sample(test: &str, calls: usize) -> Vec<Point> {
    let all = (0..calls).flat_map(|call| [(call, When::Before), (call, When::After)]);
    let mut all: Vec<Point> = all.collect();
    assert!(all.len() >= 80, "{} points", all.len());
    if !is_long() {
        let mut random = Random::new(seed(test));
        while all.len() > SAMPLE {
            all.swap_remove(random.below(all.len()));
        }
    }
    all
}

/// Waits for a process that has to be killed.
fn ended(at: &str, mut child: Child) {
    let status = child.wait().unwrap();
    assert_eq!(status.signal(), Some(SIGKILL), "{at}: {status}");
}

/// Waits until a process says that so many commands were started.
fn is_running(child: &mut Child, wanted: usize) {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let found = lines.filter(|line| line == "executing").take(wanted).count();
    assert_eq!(found, wanted);
}

/// Counts the processes that work in a folder.
pub(super) fn alive_in(folder: &Path) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let works = |entry: &std::fs::DirEntry| {
        std::fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == folder)
    };
    processes.filter(works).count()
}

async fn until(at: &str, mut holds: impl FnMut() -> bool) {
    let deadline = std::time::Instant::now() + PATIENCE;
    while !holds() {
        assert!(std::time::Instant::now() < deadline, "{at}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Says every event on standard output.
pub(super) struct Aloud;

#[expect(clippy::print_stdout, reason = "how the process that watches learns what happened")]
impl Observer for Aloud {
    fn recorded(&self, _state: &State, event: &Recorded) {
        println!("{}", event.kind);
    }
    fn words(&self, _words: &str) {}
    fn trouble(&self, what: &str) {
        println!("trouble {what}");
    }
    fn running(&self, _state: &State, _step: ghost_investigate::event::StepId, _since: Duration) {}
}

/// Plays the session in another process and kills that process at the given point.
pub(super) async fn child(job: &Job) {
    let point = job.detail.split_once(' ').map(|(call, when)| {
        (call.parse::<usize>().unwrap(), if when == "Before" { When::Before } else { When::After })
    });
    let store = Mortal::new(open(&job.place).await, move |here| {
        if Some(here) == point {
            kill_process(getpid(), Signal::KILL).unwrap();
            std::thread::park();
        }
        Answer::Delivered
    });
    let worker = observed(engine(&job.folder, Arc::new(store), "worker", TTL), Arc::new(Aloud));
    play(&worker, &job.folder).await;
}
