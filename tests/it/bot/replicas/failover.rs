//! The primary of the store is lost in the middle of approvals, and another server is promoted.
#![expect(clippy::indexing_slicing, reason = "an answer without the field stops the test")]

use std::process::Command;
use std::time::Duration;

use ghost_base::SessionId;
use ghost_investigate::state::State;

use super::backend::Backend;
use super::held::{asks_again, command, deny, lines, press, press_at, when};
use super::people::{PATIENCE, Talk, card};
use super::stage::Stage;
use crate::store::cluster::Cluster;
use crate::store::sentinel::Watched;

/// So many sessions wait: of three primaries one has three of them.
const SESSIONS: usize = 7;

/// Verifies what the gate wrote about a session, as an auditor does.
#[expect(clippy::disallowed_methods, reason = "the test runs the program under test")]
fn audit_is_whole(stage: &Stage, talk: &Talk) {
    let file = stage.folder.path().join("data/audit").join(format!("{}.jsonl", talk.session));
    let verified =
        Command::new(env!("CARGO_BIN_EXE_ghost")).args(["audit", "verify"]).arg(file).output().unwrap();
    assert!(verified.status.success(), "{talk:?}: {}", String::from_utf8_lossy(&verified.stdout));
}

/// Waits until sessions are over; what asks whether it may run once more gets a no.
async fn all_end(stage: &Stage, talks: &[Talk]) {
    for talk in talks {
        let one = std::slice::from_ref(talk);
        stage
            .all(one, "a session ends or asks again", |state| state.is_reported() || asks_again(state))
            .await;
        let state = stage.state(talk).await.unwrap();
        if asks_again(&state) {
            deny(stage, &state).await;
        }
        stage.all(one, "a session ends", State::is_reported).await;
    }
}

/// Holds that every command ran once. Where nobody could know whether it had begun, somebody was asked again and said no: then it may
/// not have run.
async fn once_each(stage: &Stage, talks: &[Talk]) {
    for talk in talks {
        stage.at_rest(talk).await;
        stage.prove(talk, &stage.ran()).await;
        let (ran, ended) = (lines(stage, "ran", talk), lines(stage, "ended", talk));
        match stage.recorded(talk).await.iter().any(|event| event.kind == "unknown") {
            false => assert_eq!((ran, ended), (1, 1), "{talk:?}"),
            true => assert!(ended <= ran && ran <= 1, "{talk:?}: ran {ran} times, ended {ended} times"),
        }
        audit_is_whole(stage, talk);
    }
}

/// One session is asked about while there is no primary, one is approved when it is lost, of one the approved command runs.
async fn goes_on(backend: Backend) {
    let mut stage = Stage::start_at(backend, 1, 0, Duration::ZERO, command).await;
    let talks = stage.mention(0..SESSIONS, true).await;
    stage.all(&talks, "a card asks", |state| card(state).is_some()).await;
    let sessions: Vec<SessionId> = talks.iter().map(|talk| talk.session.clone()).collect();
    let (primary, held) = stage.backend.most(&sessions);
    let [asked, approved, running] = [0, 1, 2].map(|at| &talks[held[at]]);
    let place = card(&stage.state(asked).await.unwrap()).unwrap().1;
    let hold = stage.folder.path().join(format!("hold-{}", running.number));
    std::fs::write(&hold, "").unwrap();
    assert_eq!(press(&stage, running).await["ok"], true);
    when(&stage, "the approved command runs", || lines(&stage, "ran", running) == 1).await;

    stage.backend.may_promote(false);
    assert_eq!(press(&stage, approved).await["ok"], true, "what is said to count counts");
    stage.backend.copied(primary);
    stage.backend.kill(primary);
    let refused = press_at(&stage, asked, &place).await;
    assert_eq!((&refused["ok"], &refused["error"]), (&false.into(), &"operation_timeout".into()));
    assert_eq!(lines(&stage, "ran", asked), 0, "what nobody could count does not run");
    std::fs::remove_file(&hold).unwrap();
    when(&stage, "a command ends while nobody can record it", || lines(&stage, "ended", running) == 1).await;

    stage.backend.may_promote(true);
    stage.backend.promoted(primary);
    all_end(&stage, &[approved.clone(), running.clone()]).await;
    let state = stage.state(asked).await.unwrap();
    assert_eq!(card(&state).map(|(_, place)| place), Some(place), "the same card asks: {:?}", state.steps);
    // Everybody presses until it counts, and one more time.
    stage.answer(&talks).await;
    once_each(&stage, &talks).await;

    // Who was lost follows the one that was promoted, and what comes then is as before.
    stage.backend.comes_back(primary);
    let more = stage.mention(SESSIONS..SESSIONS + 1, true).await;
    stage.all(&more, "a card asks", |state| card(state).is_some()).await;
    stage
        .until(PATIENCE, async || match press(&stage, &more[0]).await["ok"] == true {
            true => Ok(()),
            false => Err("a click that counts".to_owned()),
        })
        .await;
    all_end(&stage, &more).await;
    once_each(&stage, &more).await;
}

#[tokio::test]
async fn sentinels_promote_another_server_in_the_middle_of_approvals_and_each_command_runs_once() {
    let Some(watched) = Watched::by(3, 2) else { return };
    goes_on(Backend::Sentinels(watched, 1)).await;
}

#[tokio::test]
async fn a_cluster_promotes_another_node_in_the_middle_of_approvals_and_each_command_runs_once() {
    let Some(cluster) = Cluster::with_replicas() else { return };
    goes_on(Backend::Cluster(cluster)).await;
}
