//! Facts about captures.

use std::time::Duration;

use serde_json::{Value, json};

use super::cloud::Cloud;
use super::session::{TestSession, site};
use crate::decision::Effect;
use crate::event::Event;
use crate::suspect::Layer;
use crate::tool::wire::running_tasks;
use crate::tool::{Site, ToolAction};

fn wanted() -> Value {
    json!({"target": "web-1 to db-1", "duration_seconds": 20, "reasoning": "do SYNs arrive?", "hypothesis_id": "H1"})
}

fn captured(cloud: &mut Cloud) -> (TestSession, Value) {
    let mut session = TestSession::open("web-1 cannot reach db-1", &site());
    let result = session.call("c1", "capture_traffic", &wanted(), &mut |command| cloud.run(command));
    (session, result)
}

#[test]
fn a_capture_has_its_result_before_anybody_is_asked_about_the_removal() {
    let mut cloud = Cloud::default();
    let (mut session, result) = captured(&mut cloud);
    assert_eq!((&result["status"], &result["task_id"]), (&json!("completed"), &json!("s1-1")), "{result:#}");
    assert_eq!(result["cleanup_status"], "after_the_report");
    assert_eq!((session.asked, cloud.is_clean()), (1, false), "once before it begins");
    session.begin("c2", "check_task", &json!({"task_id": "s1-1"}));
    let state = session.state();
    assert_eq!(session.with_context(&state, "c2", running_tasks), Vec::<String>::new(), "it runs no more");
    let seen = session.carry(usize::MAX, &mut |command| panic!("{command}")).unwrap();
    assert_eq!(seen["cleanup_status"], "after_the_report");
    session.begin("c3", "cancel_task", &json!({"task_id": "s1-1"}));
    let over = session.carry(usize::MAX, &mut |command| panic!("{command}")).unwrap();
    assert_eq!(over["state"], "needs_cleanup");
}

#[test]
fn what_a_capture_left_is_removed_behind_the_report() {
    let mut cloud = Cloud::default();
    let (mut session, result) = captured(&mut cloud);
    session.clear_up("c1", &mut |command| cloud.run(command));
    assert_eq!(
        (session.asked, cloud.is_clean()),
        (2, true),
        "once before it begins, once before the removal"
    );
    assert_eq!(session.ran("packet-capture create").len(), 2);
    assert!(session.ran("packet-capture create").iter().all(|command| command.contains("nwlogs080613")));
    assert!(result["findings"].as_str().unwrap().contains("SYNs without an answer"));
    assert_eq!(result["files"].as_array().unwrap().len(), 2);
    let looked = session.supported("c1").looked;
    let wire: Vec<&str> = looked.iter().map(|looked| looked.subject.as_str()).collect();
    assert!(looked.iter().all(|looked| looked.layer == Layer::Wire));
    assert_eq!(wire, ["web-1", "db-1"]);
    assert_eq!(session.state().spent.captured_bytes, 48, "two files of 24 bytes");
}

#[test]
fn whoever_asks_at_whatever_time_gets_the_same_next_move() {
    let mut cloud = Cloud::default();
    let (session, _) = captured(&mut cloud);
    let later = session.now.plus(Duration::from_secs(36_000));
    let moves = session.moves.iter().filter(|(_, next)| !matches!(next, ToolAction::Wait(_)));
    let mut count = 0;
    for (events, expected) in moves {
        assert_eq!(&session.next(*events, later), expected, "after {events} events");
        count += 1;
    }
    assert!(count > 20, "{count}");
}

#[test]
fn a_beginning_that_is_denied_leaves_nothing_and_is_not_asked_again() {
    let mut cloud = Cloud { denied: "packet-capture create", ..Cloud::default() };
    let (mut session, result) = captured(&mut cloud);
    assert_eq!(
        (&result["status"], &result["cleanup_status"]),
        (&json!("denied"), &json!("nothing_left")),
        "{result:#}"
    );
    assert!(result["reason"].as_str().unwrap().contains("not now"));
    assert_eq!((session.asked, cloud.is_clean()), (1, true));
    assert!(session.supported("c1").looked.is_empty());
    let again = session.call("c2", "capture_traffic", &wanted(), &mut |command| cloud.run(command));
    assert!(again["reason"].as_str().unwrap().contains("denied"), "{again}");
    assert_eq!(session.asked, 1);
}

#[test]
fn a_removal_that_is_denied_is_reported_and_can_be_requested_again() {
    let mut cloud = Cloud { denied: "delete", ..Cloud::default() };
    let (mut session, result) = captured(&mut cloud);
    assert_eq!(result["facts"]["task_id"], "s1-1");
    session.clear_up("c1", &mut |command| cloud.run(command));
    assert_eq!(session.asked, 2);
    session.clear_up("c1", &mut |command| panic!("{command}: nobody is asked twice"));
    let id = json!({"task_id": "s1-1"});
    let seen = session.call("c2", "check_task", &id, &mut |command| cloud.run(command));
    assert_eq!(seen["state"], "needs_cleanup");
    let asked = session.asked;
    let still = session.call("c3", "cleanup_task", &id, &mut |command| cloud.run(command));
    assert_eq!((&still["status"], session.asked), (&json!("failed"), asked + 1), "{still:#}");
    cloud.denied = "";
    let gone = session.call("c4", "cleanup_task", &id, &mut |command| cloud.run(command));
    assert_eq!((&gone["status"], &gone["state"]), (&json!("completed"), &json!("done")), "{gone:#}");
    assert!(cloud.is_clean());
    let seen = session.call("c5", "check_task", &id, &mut |command| cloud.run(command));
    assert_eq!((&seen["state"], &seen["cleanup_status"]), (&json!("done"), &json!("nothing_left")));
    let over = session.call("c6", "cancel_task", &id, &mut |command| cloud.run(command));
    assert_eq!(over["state"], "done");
}

/// Returns the command that is proposed next.
fn proposed(effect: &Effect) -> Option<String> {
    let Effect::Record(events) = effect else { return None };
    events.iter().find_map(|event| {
        if let Event::Proposed(proposed) = event { Some(proposed.command.clone()) } else { None }
    })
}

#[test]
fn the_report_comes_before_the_question_about_the_removal() {
    let mut cloud = Cloud::default();
    let (mut session, _) = captured(&mut cloud);
    let end = json!({"outcome": "INCONCLUSIVE", "confidence": "low", "summary": "", "actions": [],
        "open_questions": [], "by": "model"});
    session.json("concluded", end);
    assert_eq!(session.decides(), Effect::Deliver);
    let digest = ghost_base::Digest::of("report").to_string();
    session.json("delivered", json!({"what": "report", "place": "there", "digest": digest}));
    let command = proposed(&session.decides()).unwrap();
    assert!(command.contains("packet-capture delete"), "{command}");
    // Somebody wants another look: it waits for no clean-up.
    let mut other = session;
    let effect = other.decides();
    let Effect::Record(events) = effect else { panic!("{effect:?}") };
    events.into_iter().for_each(|event| other.add(event));
    let Effect::Request(asked) = other.decides() else { panic!("nobody is asked") };
    other.add(Event::ApprovalRequested(asked));
    assert!(matches!(other.decides(), Effect::Wait { .. }));
    assert!(other.state().open_approval().is_some());
    other.json("reopened", json!({"who": "ana", "text": "look once more"}));
    assert!(matches!(other.decides(), Effect::Ask { .. }), "{:?}", other.decides());
    assert!(other.state().open_approval().is_none() && other.state().open_step().is_none());
}

#[test]
fn whoever_investigates_can_have_it_removed_before_the_report() {
    let mut cloud = Cloud::default();
    let (mut session, _) = captured(&mut cloud);
    let id = json!({"task_id": "s1-1"});
    let gone = session.call("c2", "cleanup_task", &id, &mut |command| cloud.run(command));
    assert_eq!((&gone["state"], cloud.is_clean()), (&json!("done"), true), "{gone:#}");
    session.clear_up("c1", &mut |command| panic!("{command}: nothing is left"));
}

#[test]
fn a_capture_that_was_cut_off_runs_until_it_is_canceled() {
    for most in 0..30 {
        let mut cloud = Cloud::default();
        let mut session = TestSession::open("web-1 cannot reach db-1", &site());
        session.begin("c1", "capture_traffic", &wanted());
        if session.carry(most, &mut |command| cloud.run(command)).is_some() {
            break;
        }
        session.abandon();
        let left = !cloud.is_clean();
        session.begin("c2", "cancel_task", &json!({"task_id": "s1-1", "reason": "enough"}));
        let state = session.state();
        let running = session.with_context(&state, "c2", running_tasks);
        assert!(running == ["s1-1"] || !left, "{most}: {running:?}");
        let result = session.carry(usize::MAX, &mut |command| cloud.run(command)).unwrap();
        assert!(cloud.is_clean(), "{most}: {result:#}");
        if most > 0 {
            session.begin("c3", "check_task", &json!({"task_id": "s1-1"}));
            let state = session.state();
            assert_eq!(
                session.with_context(&state, "c3", running_tasks),
                Vec::<String>::new(),
                "{most}: {result:#}"
            );
        }
    }
}

#[test]
fn nonsense_is_refused_with_what_would_do() {
    let refused = |arguments: Value, site: &Site, symptom: &str| {
        let mut session = TestSession::open(symptom, site);
        let result =
            session.call("c1", "capture_traffic", &arguments, &mut |command| panic!("{command} ran"));
        result.to_string()
    };
    let with = |key: &str, value: Value| {
        let mut arguments = wanted();
        arguments[key] = value;
        arguments
    };
    for (arguments, expected) in [
        (with("duration_seconds", json!(4)), "between 5 and 300"),
        (with("duration_seconds", json!(301)), "between 5 and 300"),
        (with("target", json!("a to b to c")), "3 were named"),
        (with("target", json!("a to a")), "the same machine"),
        (with("target", json!("a;reboot")), "is no name"),
        (with("target", json!("")), "0 were named"),
        (with("storage_account", json!("evil")), "unknown field"),
        (with("filters", json!([{"protocol": "icmp"}])), "tcp, udp or any"),
        (with("filters", json!([{"ip": "10.0.0"}])), "filters"),
        (with("resource_group", json!("a b")), "resource_group"),
        (with("hypothesis_id", json!("H9")), "there are: H1"),
        (with("reasoning", json!(" ")), "reasoning is empty"),
    ] {
        let result = refused(arguments.clone(), &site(), "slow");
        assert!(result.contains(expected), "{arguments}: {result}");
    }
    let result = refused(wanted(), &site(), "web-1 cannot write to NWLOGS080613.");
    assert!(result.contains("is what is being investigated"), "{result}");
    let result = refused(wanted(), &Site { storage: None, ..site() }, "slow");
    assert!(result.contains("[capture]"), "{result}");
    let result = refused(wanted(), &Site { group: None, ..site() }, "slow");
    assert!(result.contains("resource_group"), "{result}");
}

#[test]
fn a_filter_keeps_both_directions() {
    let mut cloud = Cloud::default();
    let mut session = TestSession::open("slow", &site());
    let arguments =
        json!({"target": "web-1", "filters": [{"protocol": "tcp", "port": 5001}], "reasoning": "r"});
    session.call("c1", "capture_traffic", &arguments, &mut |command| cloud.run(command));
    let created = session.ran("packet-capture create").remove(0);
    assert!(
        created.contains(r#""localPort":"5001""#) && created.contains(r#""remotePort":"5001""#),
        "{created}"
    );
}

#[test]
fn a_capture_of_another_session_is_not_known() {
    let mut session = TestSession::open("slow", &site());
    for (at, id) in ["s1-1", "other-1", "s1-0", "s1", ""].iter().enumerate() {
        for tool in ["check_task", "cancel_task", "cleanup_task"] {
            let name = format!("{tool}{at}");
            let result =
                session.call(&name, tool, &json!({"task_id": id}), &mut |command| panic!("{command}"));
            assert!(result["reason"].as_str().unwrap().contains("there is none"), "{result}");
        }
    }
}
