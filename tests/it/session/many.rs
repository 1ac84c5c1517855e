//! Very many sessions that wait for a human, in one process.

use std::io::{BufRead as _, BufReader};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ghost_base::SessionId;
use ghost_investigate::event::{Recorded, StepId};
use ghost_investigate::model::Scripted;
use ghost_investigate::state::State;
use ghost_session::{Observer, Worker};
use ghost_shell::Cancel;
use ghost_store::Store;

use super::child::{Job, open, start};
use super::plot::{engine, mention, observed, thinking, writes};
use super::world::{run, suppose};
use crate::random::is_long;

const MOST_MEMORY: u64 = 200_000;

#[tokio::test]
async fn sessions_that_wait_for_a_human_cost_next_to_nothing() {
    let count = if is_long() { 1000 } else { 100 };
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("store.redb").to_string_lossy().into_owned();
    let mut child = start("many", folder.path(), &place, &count.to_string());
    let mut said = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(said.any(|line| line == "all wait"));
    let resident = |what| status(child.id(), what);
    let (now, peak) = (resident("VmRSS:"), resident("VmHWM:"));
    if is_long() {
        let before = ticks(child.id());
        std::thread::sleep(Duration::from_secs(10));
        let used = ticks(child.id()) - before;
        println!("{count} waiting: {now} kB resident, {peak} kB at most, {used} ticks of 10 ms in 10 s");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(peak > 0 && peak < MOST_MEMORY, "{peak} kB for {count} sessions");
    // They did wait: all of them are found by whoever comes next.
    let store = open(&place).await;
    let pending = store.pending(None, ghost_base::Timestamp::from_millis(0)).await.unwrap();
    assert_eq!(pending.len(), count);
}

/// Returns a figure that the kernel keeps of a process.
fn status(process: u32, what: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = text.lines().find(|line| line.starts_with(what)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Returns how long a process has been on a processor.
fn ticks(process: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let behind = text.rsplit_once(") ").unwrap().1;
    let numbers: Vec<&str> = behind.split_whitespace().collect();
    [11, 12].iter().map(|at| numbers.get(*at).unwrap().parse::<u64>().unwrap()).sum()
}

/// Counts the questions.
struct Asked(AtomicUsize);

impl Observer for Asked {
    fn recorded(&self, _state: &State, event: &Recorded) {
        if event.kind == "approval_requested" {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    fn words(&self, _words: &str) {}
    fn trouble(&self, _what: &str) {}
    fn running(&self, _state: &State, _step: StepId, _since: Duration) {}
}

#[expect(clippy::print_stdout, reason = "how the process that watches learns what happened")]
/// Begins so many sessions, says when all of them wait, and goes on as a worker without work.
pub(super) async fn child(job: &Job) {
    let count: usize = job.detail.parse().unwrap();
    let store: Arc<dyn Store> = open(&job.place).await;
    let script = Scripted::parse(&[suppose(), run(&writes("one"))].join("\n")).unwrap();
    let asked = Arc::new(Asked(AtomicUsize::new(0)));
    let engine =
        thinking(engine(&job.folder, store.clone(), "worker", Duration::from_secs(30)), Arc::new(script));
    let worker = Worker { engine: observed(engine, asked.clone()), max_sessions: 8 };
    let fill = async {
        for number in 0..count {
            let session: SessionId = format!("wait-{number}").parse().unwrap();
            mention(store.as_ref(), &session).await;
        }
        let now = ghost_base::Timestamp::from_millis(0);
        while asked.0.load(Ordering::SeqCst) < count || store.pending(None, now).await.unwrap().len() < count
        {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        println!("\nall wait");
        std::future::pending::<()>().await;
    };
    let (_cancel, stop) = Cancel::new();
    tokio::join!(worker.run(stop), fill);
}
