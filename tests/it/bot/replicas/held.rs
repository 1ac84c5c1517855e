//! Commands that run until somebody lets them end, and who answers what asks about them.

use std::path::Path;

use ghost_base::{Clock as _, SystemClock};
use ghost_investigate::event::Reply;
use ghost_investigate::state::State;
use ghost_investigate::{RequesterMay, SelfApproval};
use ghost_session::{SubmittedVote, VoteResult, submit_vote};
use ghost_store::{Choice, Outcome};
use serde_json::{Value, json};

use super::brain::NUMBER;
use super::people::{PATIENCE, Talk, card};
use super::stage::Stage;

/// Leaves its number when it begins and when it ends, which is when nobody holds it any more.
pub(super) fn command(folder: &Path) -> String {
    let at = |name: &str| folder.join(name).display().to_string();
    format!(
        "sh -c 'echo {NUMBER} >> {}; while test -e {}-{NUMBER}; do sleep 0.1; done; echo {NUMBER} >> {}'",
        at("ran"),
        at("hold"),
        at("ended")
    )
}

/// Tells whether a command of a session still runs.
pub(super) fn runs(stage: &Stage, talk: &Talk) -> bool {
    let mark = format!("hold-{}", talk.number);
    let folder = stage.folder.path().display().to_string();
    let of = |entry: std::fs::DirEntry| std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
    std::fs::read_dir("/proc").unwrap().flatten().map(of).any(|line| {
        let line = String::from_utf8_lossy(&line).into_owned();
        line.contains(&folder) && line.contains(&mark)
    })
}

/// Counts how often a session left its number in a file.
pub(super) fn lines(stage: &Stage, name: &str, talk: &Talk) -> usize {
    let text = std::fs::read_to_string(stage.folder.path().join(name)).unwrap_or_default();
    text.lines().filter(|line| **line == talk.number.to_string()).count()
}

pub(super) async fn when(stage: &Stage, what: &str, holds: impl Fn() -> bool) {
    stage.until(PATIENCE, async || if holds() { Ok(()) } else { Err(what.to_owned()) }).await;
}

/// Presses the button of the card that stands in a thread; returns what the person sees.
pub(super) async fn press(stage: &Stage, talk: &Talk) -> Value {
    let state = stage.state(talk).await.unwrap();
    let (_, place) = card(&state).unwrap();
    press_at(stage, talk, &place).await
}

/// Presses the button of a card whose place is known.
pub(super) async fn press_at(stage: &Stage, talk: &Talk, place: &str) -> Value {
    let (_, ts) = place.split_once('/').unwrap();
    let press = json!({"user": "bob", "channel": talk.thread.channel, "ts": ts, "action_id": "approve", "wait_ms": 0});
    stage.person("press", press).await
}

/// Tells whether it is asked about a command that may have run.
pub(super) fn asks_again(state: &State) -> bool {
    state.open_approval().is_some_and(|open| open.requested.outcome_unknown)
}

/// Answers that question with no.
pub(super) async fn deny(stage: &Stage, state: &State) {
    let approval = state.open_approval().unwrap().requested.approval.clone();
    let answer = Reply::Deny { reason: "look first".to_owned() };
    let vote = SubmittedVote {
        approval,
        who: "U0LABBOB01".to_owned(),
        name: String::new(),
        answer,
        key: "deny".to_owned(),
        at: SystemClock.now(),
    };
    let rule = SelfApproval { requester: RequesterMay::Measure, modifier: false };
    let voted = submit_vote(&stage.store, state, rule, &vote).await.unwrap();
    assert_eq!(voted, VoteResult::Counted(Outcome::Decided(Choice::Deny)));
}
