//! What a session does with what people and models say.

use std::time::Duration;

use ghost_investigate::event::{Impact, Instruction, Reply};
use ghost_investigate::{HypothesisState, Outcome};
use ghost_session::{DriveOutcome, VoteResult};
use ghost_store::{Choice, Outcome as Counted};
use serde_json::json;

use super::world::{REFUSED, World, conclude, run, suppose, times, turn};

/// A command that asks, and that leaves a line behind each time it runs.
fn append(world_path: &str) -> String {
    format!("sh -c 'echo ran >> {world_path}'")
}

fn lines(path: &str) -> usize {
    std::fs::read_to_string(path).map_or(0, |text| text.lines().count())
}

#[tokio::test]
async fn a_command_that_only_reads_runs_without_a_question() {
    let world = World::new(&[suppose(), run("uname -s"), conclude("REFUTED")]);
    world.mention("look at 5001").await;
    assert_eq!(world.drive().await, DriveOutcome::Over);
    let state = world.state().await;
    let (_, concluded) = state.concluded.clone().unwrap();
    assert_eq!(concluded.outcome, Outcome::Inconclusive);
    let results = world.results().await;
    let ran = results.get(1).unwrap();
    assert_eq!(ran["status"], "completed");
    assert_eq!(ran["observation"], "o1");
    assert!(ran["output"].as_str().unwrap().contains("Linux"), "{ran}");
    assert!(std::fs::read_to_string(world.path("rca.md")).is_ok());
    // Driving it again changes nothing.
    let before = world.recorded().await;
    assert_eq!(world.drive().await, DriveOutcome::Over);
    assert_eq!(world.recorded().await, before);
}

/// Makes a world whose model wants one command that asks.
fn asking() -> (World, String) {
    let path = tempfile::tempdir().unwrap().keep().join("ran").to_string_lossy().into_owned();
    (World::new(&[suppose(), run(&append(&path)), conclude("REFUTED")]), path)
}

#[tokio::test]
async fn an_approved_command_runs_once_and_the_record_says_who_approved() {
    let (world, path) = asking();
    world.mention("look at 5001").await;
    let question = world.question().await;
    assert_eq!(lines(&path), 0);
    // Asking again changes nothing.
    assert_eq!(world.question().await, question);
    assert_eq!(
        world.answer(&question, "ben", Reply::Approve).await,
        VoteResult::Counted(Counted::Decided(ghost_store::Choice::Approve))
    );
    assert_eq!(world.drive().await, DriveOutcome::Over);
    assert_eq!(lines(&path), 1);
    let events = world.recorded().await;
    times(&events, "intent", 1);
    times(&events, "executing", 1);
    let step = world.state().await.steps.first().cloned().unwrap();
    assert_eq!(step.done.unwrap().action, "user_approved");
    let audit = std::fs::read_to_string(world.path("data/audit/ghost-test.jsonl")).unwrap();
    assert!(audit.contains(r#""approver":{"who":"ben""#), "{audit}");
}

#[tokio::test]
async fn whoever_asked_cannot_approve_a_change() {
    let (world, path) = asking();
    world.mention("look at 5001").await;
    let question = world.question().await;
    assert!(matches!(world.answer(&question, "ana", Reply::Approve).await, VoteResult::Refused(_)));
    assert!(matches!(world.drive().await, DriveOutcome::Waiting { .. }));
    assert_eq!(lines(&path), 0);
}

#[tokio::test]
async fn a_denial_reaches_the_model_and_the_command_is_not_asked_for_again() {
    let path = tempfile::tempdir().unwrap().keep().join("ran").to_string_lossy().into_owned();
    let again = run(&append(&path));
    let world = World::new(&[suppose(), again.clone(), again, conclude("UNVERIFIABLE")]);
    world.mention("look at 5001").await;
    let question = world.question().await;
    world.answer(&question, "ben", Reply::Deny { reason: "not during the sale".to_owned() }).await;
    assert_eq!(world.drive().await, DriveOutcome::Over);
    let results = world.results().await;
    let denied = results.get(1).unwrap();
    assert_eq!(denied["status"], "denied");
    assert_eq!(denied["_meta"]["denial_reason"], "not during the sale");
    assert_eq!(denied["_meta"]["denials_of_hypothesis"], 1);
    assert!(results.get(2).unwrap()["reason"].as_str().unwrap().contains("not during the sale"));
    assert_eq!((lines(&path), world.state().await.spent.approvals), (0, 1));
}

#[tokio::test]
async fn three_denials_make_a_hypothesis_unverifiable() {
    let runs = (1..=3).map(|number| run(&format!("touch /tmp/ghost-denied-{number}")));
    let turns: Vec<String> = [suppose()].into_iter().chain(runs).chain([conclude("UNVERIFIABLE")]).collect();
    let world = World::new(&turns);
    world.mention("look at 5001").await;
    for _ in 0..3 {
        let question = world.question().await;
        world.answer(&question, "ben", Reply::Deny { reason: "no".to_owned() }).await;
    }
    world.drive().await;
    let state = world.state().await;
    let hypothesis = state.hypothesis("H1").unwrap();
    assert_eq!((hypothesis.state, hypothesis.denials), (HypothesisState::Unverifiable, 3));
    assert_eq!(world.results().await.get(3).unwrap()["_meta"]["denial_threshold_reached"], true);
}

#[tokio::test]
async fn a_modified_command_is_asked_for_again_and_only_it_runs() {
    let (world, path) = asking();
    world.mention("look at 5001").await;
    let first = world.question().await;
    let other = format!("{path}.other");
    world.answer(&first, "ben", Reply::Modify { command: append(&other) }).await;
    let second = world.question().await;
    assert_ne!(first, second);
    assert_eq!(lines(&other), 0);
    // Whoever changed it is not its only approver.
    let VoteResult::Refused(why) = world.answer(&second, "ben", Reply::Approve).await else {
        panic!("the vote counted")
    };
    assert_eq!(why, "you changed this command; somebody else has to approve it");
    world.answer(&second, "cem", Reply::Approve).await;
    assert_eq!(world.drive().await, DriveOutcome::Over);
    assert_eq!((lines(&path), lines(&other)), (0, 1));
    let done = world.state().await.steps.first().cloned().unwrap().done.unwrap();
    assert_eq!((done.action.as_str(), done.modified_command), ("user_modified", Some(append(&other))));
}

#[tokio::test]
async fn an_outage_takes_two_different_people_and_no_requester() {
    let world =
        World::new(&[suppose(), run("systemctl restart ghost-no-such-unit.service"), conclude("REFUTED")]);
    world.mention("look at 5001").await;
    let question = world.question().await;
    let asked = world.state().await.approvals.get(&question).unwrap().requested.clone();
    assert_eq!((asked.impact, asked.votes_needed), (Impact::Outage, 2));
    let VoteResult::Refused(why) = world.answer(&question, "ana", Reply::Approve).await else {
        panic!("the requester's vote counted")
    };
    assert!(why.contains("cannot approve an outage"), "{why}");
    for (who, counted) in [
        ("ben", Counted::Voted { so_far: 1 }),
        ("ben", Counted::VotedBefore { so_far: 1 }),
        ("cem", Counted::Decided(Choice::Approve)),
    ] {
        assert_eq!(world.answer(&question, who, Reply::Approve).await, VoteResult::Counted(counted));
    }
    assert_eq!(world.drive().await, DriveOutcome::Over);
}

#[tokio::test]
async fn a_modification_into_something_catastrophic_is_blocked() {
    let (world, _) = asking();
    world.mention("look at 5001").await;
    let question = world.question().await;
    world.answer(&question, "ben", Reply::Modify { command: "rm -rf /".to_owned() }).await;
    assert_eq!(world.drive().await, DriveOutcome::Over);
    let done = world.state().await.steps.first().cloned().unwrap().done.unwrap();
    assert_eq!((done.action.as_str(), done.error.as_deref()), ("blocked", Some("blocked")));
}

#[tokio::test]
async fn an_answer_that_comes_too_late_runs_nothing() {
    let (world, path) = asking();
    world.mention("look at 5001").await;
    let question = world.question().await;
    world.clock.advance(Duration::from_secs(16 * 60));
    assert_eq!(world.answer(&question, "ben", Reply::Approve).await, VoteResult::Counted(Counted::Expired));
    assert_eq!(world.drive().await, DriveOutcome::Over);
    assert_eq!(lines(&path), 0);
    assert_eq!(world.state().await.steps.first().unwrap().done.clone().unwrap().action, "expired");
}

#[tokio::test]
async fn nobody_answering_at_all_runs_nothing() {
    let (world, path) = asking();
    world.mention("look at 5001").await;
    world.question().await;
    world.clock.advance(Duration::from_secs(16 * 60));
    assert_eq!(world.drive().await, DriveOutcome::Over);
    assert_eq!(lines(&path), 0);
}

#[tokio::test]
async fn a_stop_while_a_question_is_open_ends_without_running_it() {
    let (world, path) = asking();
    world.mention("look at 5001").await;
    let question = world.question().await;
    world.say("cem", "stop", Instruction::Stop).await;
    assert_eq!(world.drive().await, DriveOutcome::Over);
    let state = world.state().await;
    assert_eq!(state.concluded.unwrap().1.by, "human");
    assert!(matches!(
        world.answer(&question, "ben", Reply::Approve).await,
        VoteResult::Counted(Counted::AlreadyDecided { .. })
    ));
    assert_eq!(lines(&path), 0);
}

#[tokio::test]
async fn an_approval_that_comes_after_a_stop_runs_nothing() {
    let (world, path) = asking();
    world.mention("look at 5001").await;
    let question = world.question().await;
    world.answer(&question, "ben", Reply::Approve).await;
    world.say("cem", "stop", Instruction::Stop).await;
    assert_eq!(world.drive().await, DriveOutcome::Over);
    assert_eq!(lines(&path), 0);
}

#[tokio::test]
async fn words_of_people_reach_the_model_and_a_second_incident_does_not_begin_again() {
    let world = World::new(&[suppose(), conclude("REFUTED")]);
    world.mention("look at 5001").await;
    world.mention("look at 5001").await;
    world.say("ben", "also check the source VM", Instruction::Steer).await;
    assert_eq!(world.drive().await, DriveOutcome::Over);
    let kinds = world.kinds().await;
    assert_eq!(kinds.iter().filter(|kind| *kind == "opened").count(), 1);
    assert_eq!(kinds.get(1).map(String::as_str), Some("said"));
}

#[tokio::test]
async fn nothing_runs_before_there_is_a_hypothesis() {
    let world = World::new(&[
        turn(&[("run_shell_cmd", json!({"command": "uname -s", "reasoning": "to know"}))]),
        suppose(),
        conclude("REFUTED"),
    ]);
    world.mention("look at 5001").await;
    assert_eq!(world.drive().await, DriveOutcome::Over);
    assert!(world.results().await.first().unwrap()["reason"].as_str().unwrap().contains("board is empty"));
    assert!(world.state().await.steps.is_empty());
}

#[tokio::test]
async fn a_conclusion_is_rejected_while_a_gate_is_closed() {
    let complete = |extra: serde_json::Value| {
        let mut arguments = json!({"confidence": "high", "root_cause_summary": "it is"});
        arguments.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        turn(&[("complete_investigation", arguments)])
    };
    let invented = json!({"findings": [{"code": "nsg_deny", "object": "nsg/a/b",
        "evidence": [{"observation": "o9", "quote": "deny-all"}]}]});
    let settle =
        |state: &str| turn(&[("manage_hypotheses", json!({"update": [{"id": "H1", "state": state}]}))]);
    let world = World::new(&[
        complete(json!({})),
        suppose(),
        complete(json!({})),
        settle("REFUTED"),
        complete(json!({"confirmed_hypotheses": ["H1"]})),
        complete(invented),
        complete(json!({"refuted_hypotheses": ["H1"]})),
    ]);
    world.mention("look at 5001").await;
    assert_eq!(world.drive().await, DriveOutcome::Over);
    let reasons: Vec<String> = world
        .results()
        .await
        .iter()
        .filter_map(|result| result["reason"].as_str().map(str::to_owned))
        .collect();
    let gates = ["hypotheses_first", "board_settled", "claims_match_board", "findings_hold"];
    assert_eq!(reasons.len(), gates.len());
    for (reason, gate) in reasons.iter().zip(gates) {
        assert!(reason.starts_with(gate), "{reason}");
    }
}

#[tokio::test]
async fn a_finding_holds_if_the_evidence_says_what_it_quotes() {
    let finding = json!({"confidence": "high", "root_cause_summary": "nobody listens",
        "confirmed_hypotheses": ["H1"],
        "findings": [{"code": "tcp_refused", "object": "flow/10.0.0.4/127.0.0.1/tcp/1",
            "evidence": [{"observation": "o1", "quote": "refused"}]}]});
    let settle = turn(&[
        ("manage_hypotheses", json!({"update": [{"id": "H1", "state": "CONFIRMED"}]})),
        ("complete_investigation", finding),
    ]);
    let world = World::new(&[suppose(), run(REFUSED), settle]);
    world.mention("look at 5001").await;
    assert_eq!(world.drive().await, DriveOutcome::Over);
    let state = world.state().await;
    assert_eq!(state.concluded.clone().unwrap().1.outcome, Outcome::Confirmed);
    assert_eq!(state.accepted.len(), 1);
}

#[tokio::test]
async fn a_script_that_is_over_leaves_a_session_that_can_go_on() {
    let world = World::new(&[suppose()]);
    world.mention("look at 5001").await;
    assert!(matches!(world.drive().await, DriveOutcome::Stuck { .. }));
    assert_eq!(world.state().await.standing(), "paused");
    assert!(matches!(world.drive().await, DriveOutcome::Stuck { .. }));
}

#[tokio::test]
async fn calls_that_make_no_sense_are_answered_and_end_the_session_in_the_end() {
    let nonsense = [
        turn(&[("launch_rocket", json!({}))]),
        turn(&[("run_shell_cmd", json!({"comand": "ls"}))]),
        turn(&[("run_shell_cmd", json!("ls"))]),
        turn(&[("manage_hypotheses", json!({"update": [{"id": "H9", "state": "REFUTED"}]}))]),
    ];
    let world = World::new(&nonsense);
    world.mention("look at 5001").await;
    assert_eq!(world.drive().await, DriveOutcome::Over);
    let state = world.state().await;
    assert_eq!((state.spent.turns, state.concluded.unwrap().1.by.as_str()), (4, "code"));
    assert!(world.results().await.iter().all(|result| result["status"] == "rejected"));
}

#[tokio::test]
async fn a_spent_budget_ends_in_a_report() {
    let mut world = World::new(&[suppose(), run("uname -s"), run("uname -r"), run("uname -m")]);
    world.limits.commands = 2;
    world.mention("look at 5001").await;
    assert_eq!(world.drive().await, DriveOutcome::Over);
    let state = world.state().await;
    assert_eq!(state.budget_spent.clone().unwrap().what, "commands");
    assert_eq!(state.hypothesis("H1").unwrap().state, HypothesisState::Unverifiable);
    assert!(std::fs::read_to_string(world.path("rca.md")).is_ok());
}

#[tokio::test]
async fn time_in_which_a_human_is_waited_for_is_not_spent() {
    let (mut world, _) = asking();
    world.limits.approval_minutes = 600;
    world.mention("look at 5001").await;
    let question = world.question().await;
    world.clock.advance(Duration::from_secs(5 * 3600));
    world.answer(&question, "ben", Reply::Approve).await;
    assert_eq!(world.drive().await, DriveOutcome::Over);
    assert_eq!(world.state().await.concluded.unwrap().1.by, "model");
}

#[tokio::test]
async fn the_same_command_is_not_run_for_ever() {
    let turns: Vec<String> =
        [suppose()].into_iter().chain((0..4).map(|_| run("uname -s"))).chain([conclude("REFUTED")]).collect();
    let world = World::new(&turns);
    world.mention("look at 5001").await;
    assert_eq!(world.drive().await, DriveOutcome::Over);
    assert_eq!(world.state().await.steps.len(), 3);
    assert!(world.results().await.get(4).unwrap()["reason"].as_str().unwrap().contains("o3"));
}

#[tokio::test]
async fn a_turn_that_is_too_long_to_be_kept_pauses_and_keeps_nothing_of_it() {
    let long = json!({"text": "x".repeat(500_000)}).to_string();
    let world = World::new(&[suppose(), long]);
    world.mention("look at 5001").await;
    assert!(matches!(world.drive().await, DriveOutcome::Stuck { .. }));
    assert_eq!(world.state().await.spent.turns, 1);
}

#[tokio::test]
async fn what_was_seen_can_be_seen_again() {
    let recall = turn(&[("recall_observation", json!({"observation_id": "o1", "contains": "Linux"}))]);
    let world = World::new(&[suppose(), run("uname -a"), recall, conclude("REFUTED")]);
    world.mention("look at 5001").await;
    assert_eq!(world.drive().await, DriveOutcome::Over);
    assert_eq!(world.results().await.get(2).unwrap()["matching_lines"], 1);
}
