//! What happens behind a report: a look that is stopped, or that brings less, leaves it as it was.

use ghost_investigate::event::{HumanMessage, Instruction};
use ghost_investigate::report::{answer, rca};
use ghost_investigate::state::State;
use ghost_investigate::{HypothesisState, Outcome};
use ghost_session::{DriveOutcome, InboxMessage};
use serde_json::{Value, json};

use super::plot::writes;
use super::world::{REFUSED, World, run, turn};

/// Returns the turns of an investigation that shows a fault.
fn confirmed() -> Vec<String> {
    let add = json!({"add": [{"id": "H1", "description": "the port is closed"},
        {"id": "H2", "description": "the link is down"}]});
    let update = json!({"update": [{"id": "H1", "state": "CONFIRMED"}, {"id": "H2", "state": "REFUTED"}]});
    let finding = json!({"code": "tcp_refused", "object": "flow/10.0.0.4/127.0.0.1/tcp/1",
        "statement": "nobody listens", "evidence": [{"observation": "o1", "quote": "refused"}]});
    let complete = json!({"confidence": "high", "root_cause_summary": "nobody listens there (o1)",
        "confirmed_hypotheses": ["H1"], "refuted_hypotheses": ["H2"], "findings": [finding],
        "recommended_actions": ["start the service"]});
    vec![
        turn(&[("manage_hypotheses", add)]),
        run(REFUSED),
        turn(&[("manage_hypotheses", update), ("complete_investigation", complete)]),
    ]
}

/// Supposes once more what was ruled out, and something new.
fn suppose_again() -> String {
    turn(&[(
        "manage_hypotheses",
        json!({"update": [{"id": "H2", "state": "ACTIVE"}], "add": [{"id": "H3", "description": "a rule drops it"}]}),
    )])
}

fn complete(unverifiable: &[&str], findings: &Value) -> (&'static str, Value) {
    let arguments = json!({"confidence": "low", "root_cause_summary": "not known", "confirmed_hypotheses": ["H1"],
        "unverifiable_hypotheses": unverifiable, "findings": findings});
    ("complete_investigation", arguments)
}

async fn reported(world: &World) -> State {
    world.mention("look at 5001").await;
    assert_eq!(world.drive().await, DriveOutcome::Over);
    let state = world.state().await;
    assert_eq!(state.concluded.as_ref().unwrap().1.outcome, Outcome::Confirmed);
    state
}

/// Holds that a session says what its first report said.
#[track_caller]
fn stands(before: &State, after: &State) {
    let (first, last) = (&before.concluded.as_ref().unwrap().1, &after.concluded.as_ref().unwrap().1);
    assert_eq!((first.outcome, &first.actions), (last.outcome, &last.actions));
    assert_eq!(answer(before).title(), answer(after).title());
    assert_eq!(before.hypotheses, after.hypotheses);
    let states: Vec<HypothesisState> = after.hypotheses.iter().map(|one| one.state).collect();
    assert_eq!(states, [HypothesisState::Confirmed, HypothesisState::Refuted]);
    assert_eq!(before.accepted, after.accepted);
    assert!(after.is_reported());
}

#[tokio::test]
async fn a_follow_up_that_is_stopped_leaves_the_report_as_it_was() {
    let mut turns = confirmed();
    turns.extend([suppose_again(), run(&writes("asked"))]);
    let world = World::new(&turns);
    let before = reported(&world).await;
    world.again("ana", "look once more").await;
    world.question().await;
    world.say("ana", "stop", Instruction::Stop).await;
    assert_eq!(world.drive().await, DriveOutcome::Over);
    let after = world.state().await;
    stands(&before, &after);
    let line = answer(&after).lines.remove(0);
    assert_eq!(line.label, "New look");
    assert!(line.text.contains("ended early") && line.text.contains("as it was"), "{}", line.text);
    let report = std::fs::read_to_string(world.path("rca.md")).unwrap();
    assert_eq!(report, rca(&after));
    assert_eq!(report.lines().next(), rca(&before).lines().next());
}

#[tokio::test]
async fn a_later_look_that_comes_to_less_replaces_nothing() {
    let mut turns = confirmed();
    let update =
        json!({"update": [{"id": "H2", "state": "UNVERIFIABLE"}, {"id": "H3", "state": "UNVERIFIABLE"}]});
    turns.extend([
        suppose_again(),
        turn(&[("manage_hypotheses", update), complete(&["H2", "H3"], &json!([]))]),
    ]);
    let world = World::new(&turns);
    let before = reported(&world).await;
    world.again("ana", "look once more").await;
    assert_eq!(world.drive().await, DriveOutcome::Over);
    let after = world.state().await;
    stands(&before, &after);
    assert!(after.stands().unwrap().contains("Nothing that was read since contradicts"), "{after:?}");
}

#[tokio::test]
async fn a_report_can_be_left_as_it_was_more_than_once() {
    let mut turns = confirmed();
    turns.extend([suppose_again(), run(&writes("asked")), run(&writes("other"))]);
    let world = World::new(&turns);
    let before = reported(&world).await;
    for key in ["once", "twice"] {
        let said = HumanMessage {
            who: "ana".to_owned(),
            text: format!("look {key} more"),
            instruction: Instruction::Steer,
        };
        world.message(key, &InboxMessage::Again(said)).await;
        world.question().await;
        let stop =
            HumanMessage { who: "ana".to_owned(), text: "stop".to_owned(), instruction: Instruction::Stop };
        world.message(&format!("stop {key}"), &InboxMessage::Said(stop)).await;
        assert_eq!(world.drive().await, DriveOutcome::Over);
        stands(&before, &world.state().await);
    }
}
