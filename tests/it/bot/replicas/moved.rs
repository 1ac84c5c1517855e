//! The primary moves, is lost, or forgets, in the middle of approvals and mentions. A checker that knows nothing of the program
//! decides whether anything ran twice, ran though it was denied, was said otherwise than it happened, got lost, or was left open.
#![expect(clippy::indexing_slicing, reason = "an answer without the field stops the test")]

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use futures_util::{StreamExt as _, stream};
use ghost_store::Ledger as _;
use serde_json::{Value, json};

use super::backend::Backend;
use super::brain::NUMBER;
use super::checker::{Fault, Found, Traces, counted, json_lines};
use super::people::{PATIENCE, Talk, card};
use super::stage::Stage;
use crate::bot::stage::has_button;
use crate::random::{Random, is_long, seed};
use crate::store::cluster::Cluster;
use crate::store::sentinel::Watched;
use crate::store::server::Server;

/// How many people press buttons at the same time.
const CROWD: usize = 16;

/// How long a question waits for an answer.
const MINUTES: u32 = 1;

/// What people answered in a thread.
#[derive(Debug, Default, Clone, Copy)]
struct Answers {
    approvals: usize,
    denials: usize,
}

/// Leaves its number when it runs.
fn command(folder: &Path) -> String {
    format!("sh -c 'echo {NUMBER} >> {}'", folder.join("ran").display())
}

impl Stage {
    /// Presses a button of a message as bob; returns what Slack says.
    async fn press_button(&self, talk: &Talk, ts: &str, action: &str) -> Value {
        let press = json!({"user": "bob", "channel": talk.thread.channel, "ts": ts, "action_id": action, "wait_ms": 2000});
        self.person("press", press).await
    }

    /// Answers what asks in a thread: the first question by `approves`, a run that may have been with no.
    async fn answer_cards(&self, talk: &Talk, approves: bool) -> Answers {
        let mut answers = Answers::default();
        for message in self.said(talk).await {
            if !has_button(&message, "deny") {
                continue;
            }
            let ts = message["ts"].as_str().unwrap();
            let text = message["text"].as_str().unwrap_or_default();
            if approves && !text.contains("outcome unknown") {
                answers.approvals += 1;
                self.press_button(talk, ts, "approve").await;
                continue;
            }
            let dialog = self.press_button(talk, ts, "deny").await;
            if let Some(view) = dialog["view"]["id"].as_str() {
                let values = json!({"reason": {"reason": "look first"}});
                let submit = json!({"user": "bob", "view_id": view, "values": values});
                answers.denials += usize::from(self.person("submit", submit).await["ok"] == true);
            }
        }
        answers
    }

    /// Counts the mentions that no replica acknowledged, however often Slack brought them.
    async fn given_up(&self) -> usize {
        let journal = self.person_sees("journal", "").await;
        let is_given_up = |entry: &&Value| entry["kind"] == "app_mention" && entry["acknowledged"] == false;
        journal["entries"].as_array().unwrap().iter().filter(is_given_up).count()
    }

    /// Collects what can be seen of a thread from outside.
    async fn traces(&self, talk: &Talk, answers: Answers) -> Traces {
        let read = async || self.store.read(&talk.session, 0).await.map_err(|error| error.to_string());
        let lines = self.until(PATIENCE, read).await;
        let number = talk.number.to_string();
        Traces {
            number: talk.number,
            approvals: answers.approvals,
            denials: answers.denials,
            messages: self.said(talk).await,
            marks: self.ran().iter().filter(|line| **line == number).count(),
            audit: json_lines(&self.folder.path().join("data/audit").join(format!("{}.jsonl", talk.session))),
            ledger: lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect(),
        }
    }

    /// Lets people go on until every thread is at its end; returns the faults that are left.
    async fn settle(
        &self,
        talks: &[Talk],
        answers: &mut BTreeMap<usize, Answers>,
        limit: Duration,
    ) -> Vec<Found> {
        let deadline = Instant::now() + limit;
        loop {
            let mut found = Vec::new();
            for talk in talks {
                let traces = self.traces(talk, answers[&talk.number]).await;
                found.extend(traces.faults());
            }
            // What was never acknowledged Slack has given up, and says so.
            let lost = found.iter().filter(|found| found.fault == Fault::LostWithoutAWord).count();
            if lost > 0 && lost <= self.given_up().await {
                found.retain(|found| found.fault != Fault::LostWithoutAWord);
            }
            if found.is_empty() || Instant::now() > deadline {
                return found;
            }
            for talk in talks {
                let more = self.answer_cards(talk, approves(talk)).await;
                let sum = answers.get_mut(&talk.number).unwrap();
                sum.approvals += more.approvals;
                sum.denials += more.denials;
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    }
}

/// Every fifth is denied.
fn approves(talk: &Talk) -> bool {
    talk.number % 5 != 4
}

/// How many threads wait with a card when the trouble begins, and how many mentions come during it.
fn crowd() -> (usize, usize) {
    if is_long() { (200, 40) } else { (20, 10) }
}

/// What happens to the servers while people press and mention.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trouble {
    /// An operator has the primary replaced.
    Planned,
    /// The primary dies, and comes back later.
    Killed,
    /// The primary does not answer for a while, and then takes writes again.
    Paused,
    /// The primary is away until another one is promoted, and then takes writes as if nothing had happened.
    Stale,
    /// The server is started again on an older file.
    OlderFile,
}

/// Returns when another server is the primary.
async fn promoted(stage: &Stage) {
    let address = |answer: &str| answer.lines().nth(3).map(str::to_owned);
    let Backend::Sentinels(watched, _) = &stage.backend else { return };
    let sentinel = watched.sentinels.first().unwrap();
    let before = watched.master.port.to_string();
    stage
        .until(PATIENCE, async || match address(&sentinel.say("SENTINEL GET-MASTER-ADDR-BY-NAME main")) {
            Some(port) if port != before => Ok(()),
            other => Err(format!("another primary than {other:?}")),
        })
        .await;
}

/// Makes the trouble, as far as it happens while people go on.
async fn make(stage: &Stage, trouble: Trouble) {
    match trouble {
        Trouble::Planned => stage.backend.fail_over(),
        Trouble::Killed => stage.backend.first().strike(),
        Trouble::Paused => assert!(stage.backend.first().say("CLIENT PAUSE 4000 ALL").starts_with("+OK")),
        Trouble::Stale => {
            stage.backend.first().pause();
            promoted(stage).await;
            stage.backend.first().resume();
        }
        Trouble::OlderFile => {}
    }
}

/// Lets people press the cards of threads within some seconds.
async fn press_all(stage: &Stage, talks: &[Talk], chance: &mut Random) -> BTreeMap<usize, Answers> {
    let pauses: Vec<u64> = talks.iter().map(|_| chance.next() % 4_000).collect();
    stream::iter(talks.iter().zip(pauses))
        .map(async |(talk, pause)| {
            // People press when they like: this is the only pause that no event ends.
            tokio::time::sleep(Duration::from_millis(pause)).await;
            (talk.number, stage.answer_cards(talk, approves(talk)).await)
        })
        .buffer_unordered(CROWD)
        .collect()
        .await
}

/// Plays one kind of trouble; returns what the checker finds.
async fn play(backend: Backend, trouble: Trouble, seed: u64) -> Vec<Found> {
    let mut chance = Random::new(seed);
    let mut stage = Stage::start_until(backend, 4, 0, Duration::ZERO, MINUTES, command).await;
    let (waiting, coming) = crowd();
    let before = stage.mention(0..waiting, true).await;
    stage.all(&before, "a card asks", |state| card(state).is_some()).await;
    let copy = (trouble == Trouble::OlderFile).then(|| stage.backend.first().copy());
    let (early, late) = before.split_at(waiting / 2);
    let meanwhile = async {
        let mentioning = stage.mention(waiting..waiting + coming, true);
        tokio::join!(press_all(&stage, early, &mut chance), mentioning)
    };
    let ((mut answers, during), ()) = tokio::join!(meanwhile, make(&stage, trouble));
    match trouble {
        Trouble::OlderFile => stage.backend.forget_since(&copy.unwrap()),
        Trouble::Killed => {
            promoted(&stage).await;
            stage.backend.comes_back(0);
        }
        Trouble::Planned | Trouble::Paused | Trouble::Stale => {}
    }
    answers.extend(press_all(&stage, late, &mut chance).await);
    answers.extend(during.iter().map(|talk| (talk.number, Answers::default())));
    let talks: Vec<Talk> = before.into_iter().chain(during).collect();
    let limit = if is_long() { 6 * PATIENCE } else { 2 * PATIENCE };
    stage.settle(&talks, &mut answers, limit).await
}

/// Plays a kind of trouble once, or in the long run with twenty seeds, and holds that nothing is wrong.
#[expect(clippy::print_stdout, reason = "the figures of a long run are what it is for")]
async fn holds(trouble: Trouble, backend: impl Fn() -> Option<Backend>) {
    let first = seed("moved");
    let seeds = if is_long() { first..first + 20 } else { first..first + 1 };
    for seed in seeds {
        let Some(backend) = backend() else { return };
        let began = Instant::now();
        let found = play(backend, trouble, seed).await;
        let text: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert!(found.is_empty(), "{trouble:?}, seed {seed}: {:?}\n{}", counted(&found), text.join("\n"));
        println!("moved: {trouble:?}, seed {seed}: nothing found after {:.0?}", began.elapsed());
    }
}

fn sentinels(replicas: u32) -> impl Fn() -> Option<Backend> {
    move || Some(Backend::Sentinels(Watched::by(3, 2)?, replicas))
}

#[tokio::test]
async fn a_planned_failover_behind_sentinels_loses_nothing_and_says_what_happened() {
    holds(Trouble::Planned, sentinels(1)).await;
}

#[tokio::test]
async fn a_planned_failover_with_two_confirming_replicas_loses_nothing() {
    holds(Trouble::Planned, sentinels(2)).await;
}

#[tokio::test]
async fn a_killed_primary_behind_sentinels_loses_nothing() {
    holds(Trouble::Killed, sentinels(1)).await;
}

#[tokio::test]
async fn a_primary_that_pauses_and_comes_back_loses_nothing() {
    holds(Trouble::Paused, sentinels(1)).await;
}

#[tokio::test]
async fn an_old_primary_that_still_takes_writes_confirms_none() {
    holds(Trouble::Stale, sentinels(1)).await;
}

#[tokio::test]
async fn a_planned_failover_of_a_cluster_loses_nothing() {
    holds(Trouble::Planned, || Cluster::with_replicas().map(Backend::Cluster)).await;
}

#[tokio::test]
async fn a_server_that_starts_from_an_older_file_runs_nothing_twice_and_leaves_nothing_open() {
    holds(Trouble::OlderFile, || Server::start().map(Backend::One)).await;
}
