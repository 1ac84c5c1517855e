//! A replica that is stopped in the middle of an approved command for longer than its lease, and then goes on.

use std::path::Path;
use std::time::Duration;

use ghost_agent::session::{SubmittedVote, VoteResult, submit_vote};
use ghost_base::{Clock as _, SystemClock};
use ghost_investigate::event::Reply;
use ghost_investigate::state::State;
use ghost_investigate::{RequesterMay, SelfApproval};
use ghost_store::{Choice, Outcome};
use rustix::process::Signal;
use serde_json::json;

use super::brain::NUMBER;
use super::people::{PATIENCE, Talk, card};
use super::stage::Stage;

/// Leaves its number when it begins and when it ends, which is when nobody holds it any more.
fn command(folder: &Path) -> String {
    let at = |name: &str| folder.join(name).display().to_string();
    format!(
        "sh -c 'echo {NUMBER} >> {}; while test -e {}-{NUMBER}; do sleep 0.1; done; echo {NUMBER} >> {}'",
        at("ran"),
        at("hold"),
        at("ended")
    )
}

/// Tells whether a command of a session still runs.
fn runs(stage: &Stage, talk: &Talk) -> bool {
    let mark = format!("hold-{}", talk.number);
    let folder = stage.folder.path().display().to_string();
    let of = |entry: std::fs::DirEntry| std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
    std::fs::read_dir("/proc").unwrap().flatten().map(of).any(|line| {
        let line = String::from_utf8_lossy(&line).into_owned();
        line.contains(&folder) && line.contains(&mark)
    })
}

fn lines(stage: &Stage, name: &str, talk: &Talk) -> usize {
    let text = std::fs::read_to_string(stage.folder.path().join(name)).unwrap_or_default();
    text.lines().filter(|line| **line == talk.number.to_string()).count()
}

async fn when(stage: &Stage, what: &str, holds: impl Fn() -> bool) {
    stage.until(PATIENCE, async || if holds() { Ok(()) } else { Err(what.to_owned()) }).await;
}

/// Lets somebody approve, and waits until the command runs; returns which replica runs it.
async fn approved(stage: &Stage, talk: &Talk) -> usize {
    let state = stage.state(talk).await.unwrap();
    let (_, place) = card(&state).unwrap();
    let (_, ts) = place.split_once('/').unwrap();
    let press = json!({"user": "bob", "channel": talk.thread.channel, "ts": ts, "action_id": "approve"});
    stage.person("press", press).await;
    when(stage, "the approved command runs", || lines(stage, "ran", talk) == 1).await;
    stage.holder(&talk.session).await
}

fn asks_again(state: &State) -> bool {
    state.open_approval().is_some_and(|open| open.requested.outcome_unknown)
}

#[tokio::test]
async fn whoever_was_stopped_in_the_middle_of_a_command_is_fenced_and_it_does_not_run_twice() {
    let Some(mut stage) = Stage::start_with(1, 0, Duration::ZERO, command).await else { return };
    // The command goes on while its owner is stopped: once it still runs when the owner wakes up, once it ended meanwhile.
    for (number, ends) in [(0, false), (1, true)] {
        let hold = stage.folder.path().join(format!("hold-{number}"));
        std::fs::write(&hold, "").unwrap();
        let talks = stage.mention(number..number + 1, true).await;
        let talk = talks.first().unwrap();
        stage.all(&talks, "a card asks", |state| card(state).is_some()).await;
        let first = approved(&stage, talk).await;
        stage.signal(first, Signal::STOP);
        stage.all(&talks, "another replica asks what became of it", asks_again).await;
        assert!(runs(&stage, talk), "the command goes on without its owner");
        if ends {
            std::fs::remove_file(&hold).unwrap();
            when(&stage, "the command ends by itself", || lines(&stage, "ended", talk) == 1).await;
        }
        stage.signal(first, Signal::CONT);
        when(&stage, "the first owner notices", || stage.log(first).contains("another owner drives")).await;
        when(&stage, "its command is ended", || !runs(&stage, talk)).await;
        assert_eq!(lines(&stage, "ended", talk), usize::from(ends));
        // Nothing of what the first owner knows is on record.
        let state = stage.state(talk).await.unwrap();
        assert!(asks_again(&state), "{:?}", state.steps);
        deny(&stage, &state).await;
        stage.all(&talks, "the session ends", State::is_reported).await;
        stage.at_rest(talk).await;
        stage.prove(talk, &stage.ran()).await;
        assert_eq!((lines(&stage, "ran", talk), lines(&stage, "ended", talk)), (1, usize::from(ends)));
        let events = stage.recorded(talk).await;
        let times = |kind: &str| events.iter().filter(|event| event.kind == kind).count();
        assert_eq!((times("executing"), times("unknown"), times("done")), (1, 1, 1), "{talk:?}");
    }
}

async fn deny(stage: &Stage, state: &State) {
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
