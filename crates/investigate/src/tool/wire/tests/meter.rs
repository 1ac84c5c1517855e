//! Facts about measurements.

use std::time::Duration;

use serde_json::{Value, json};

use super::cloud::Cloud;
use super::session::{TestSession, site};
use crate::suspect::Layer;
use crate::tool::ToolAction;

fn wanted() -> Value {
    json!({"source": "web-1", "destination": "db-1", "test_type": "both", "iterations": 2, "reasoning": "is it slow?",
        "hypothesis_id": "H1", "compare_baseline": "before"})
}

fn measured(cloud: &mut Cloud) -> (TestSession, Value) {
    let mut session = TestSession::open("web-1 to db-1 is slow", &site());
    let result = session.call("c1", "run_pipe_meter", &wanted(), &mut |command| cloud.run(command));
    (session, result)
}

#[test]
fn a_run_is_measured_under_one_consent_and_judged_by_what_such_machines_carry() {
    let mut cloud = Cloud { size: "Standard_D2s_v5", ..Cloud::default() };
    let (session, result) = measured(&mut cloud);
    let facts = &result["facts"];
    assert_eq!((&result["status"], session.asked), (&json!("completed"), 1), "{result:#}");
    assert_eq!(facts["latency_p90_us"], 124.0);
    assert_eq!(facts["throughput_p90_gbps"], 1.95);
    assert_eq!(
        (&facts["latency_us"], &facts["throughput_gbps"]),
        (&json!([124.0, 124.0]), &json!([1.95, 1.95]))
    );
    assert_eq!((&facts["expected_gbps"], &facts["is_low"]), (&json!(12.5), &json!(true)), "stable, and slow");
    assert_eq!((&facts["is_stable"], &facts["is_slow"]), (&json!(true), &json!(false)));
    assert_eq!(facts["same_network"], true);
    assert_eq!(facts["comparison"]["regression"], true, "{facts:#}");
    let looked = session.supported("c1").looked;
    assert!(looked.len() == 2 && looked.iter().all(|looked| looked.layer == Layer::Measure), "{looked:?}");
    let mut cloud = Cloud { size: "Standard_B2s", ..Cloud::default() };
    let (_, result) = measured(&mut cloud);
    assert_eq!(result["facts"]["expected_gbps"], Value::Null);
}

#[test]
fn whoever_asks_at_whatever_time_gets_the_same_next_move() {
    let mut cloud = Cloud { size: "Standard_D2s_v3", ..Cloud::default() };
    let (session, _) = measured(&mut cloud);
    let later = session.now.plus(Duration::from_secs(36_000));
    for (events, expected) in session.moves.iter().filter(|(_, next)| !matches!(next, ToolAction::Wait(_))) {
        assert_eq!(&session.next(*events, later), expected, "after {events} events");
    }
}

#[test]
fn a_denied_run_measures_nothing() {
    let mut cloud = Cloud { denied: "setsid", ..Cloud::default() };
    let (session, result) = measured(&mut cloud);
    assert_eq!((&result["status"], session.asked), (&json!("denied"), 1), "{result:#}");
    assert!(session.supported("c1").looked.is_empty());
}

#[test]
fn nonsense_is_refused_with_what_would_do() {
    for (key, value, expected) in [
        ("source", json!("db-1"), "the same"),
        ("source", json!("a b"), "is no name"),
        ("iterations", json!(21), "between 1 and 20"),
        ("iterations", json!(0), "between 1 and 20"),
        ("test_type", json!("speed"), "latency"),
        ("compare_baseline", json!("../x"), "compare_baseline"),
        ("storage_account", json!("evil"), "unknown field"),
        ("hypothesis_id", json!("H7"), "there are: H1"),
    ] {
        let mut arguments = wanted();
        arguments[key] = value;
        let mut session = TestSession::open("slow", &site());
        let result = session.call("c1", "run_pipe_meter", &arguments, &mut |command| panic!("{command} ran"));
        assert!(result.to_string().contains(expected), "{arguments}: {result}");
    }
}
