//! What a report says of the activity log: which change made a fault, or that nobody could read it.

use serde_json::{Value, json};

use crate::Outcome;
use crate::report::asked::tests::asked;
use crate::report::tests::Ledger;
use crate::report::{answer, rca};

const OBJECT: &str = "nsg/app-nsg/deny-8080";
const SENTENCE: &str = "rule deny-8080 of app-nsg was created 2025-06-02 02:20 UTC by deploy-pipeline (succeeded), 10 minutes before the first failure";

/// Returns a session that found a rule, and what came of reading the log.
fn session(content: &Value) -> Ledger {
    let mut ledger = Ledger::open("web-1 gets nothing from db-1 on 8080 since 02:30");
    ledger.json(
        "hypothesis_set",
        json!({"id": "H1", "description": "a rule", "state": "ACTIVE", "by": "model"}),
    );
    ledger.calls(0, "c1", "list_changes");
    ledger.propose(1, "c1", "az monitor activity-log list", "H1", "SAFE");
    ledger.run(1, None);
    ledger.done(1, "completed", "auto_approved", "");
    ledger.observe(1, "c1", Some(1), "the activity log of prod");
    let is_error = content["status"] != json!("completed");
    let returned =
        json!({"call": "c1", "tool": "list_changes", "content": content.to_string(), "is_error": is_error});
    ledger.json("returned", returned);
    ledger.json(
        "finding_accepted",
        json!({"code": "nsg_deny", "object": OBJECT, "evidence": [{"observation": "o1"}], "statement": "", "why": "it denies 8080"}),
    );
    ledger.json("hypothesis_set", json!({"id": "H1", "state": "CONFIRMED", "by": "model"}));
    ledger.conclude(Outcome::Confirmed, "A rule denies it.");
    ledger
}

fn origin(result: &str, sentence: &str) -> Value {
    let origin = json!({"fault": "nsg_deny", "object": OBJECT, "result": result, "sentence": sentence});
    json!({"status": "completed", "observations": ["o1"], "facts": {"origins": [origin], "complete": true}})
}

#[test]
fn the_change_that_made_a_fault_stands_in_the_answer_and_with_its_proof_in_the_report() {
    let state = session(&origin("made_by", SENTENCE)).state();
    let line = answer(&state).lines.into_iter().find(|line| line.label == "Since when").unwrap();
    assert_eq!(line.text, SENTENCE);
    let report = rca(&state);
    assert!(report.contains("10 minutes before the first failure (o1)"), "{report}");
    assert!(!report.contains("nothing that was read carries a date"), "{report}");
    assert!(asked(&state, "since when?").unwrap().contains("by deploy-pipeline"));
    assert!(asked(&state, "who changed it?").unwrap().contains("by deploy-pipeline"));
}

#[test]
fn a_fault_without_an_entry_is_said_to_have_none() {
    let none = "the activity log has no entry of nsg/app-nsg/deny-8080 in the time that was read";
    let state = session(&origin("none", none)).state();
    assert!(answer(&state).lines.iter().all(|line| line.label != "Since when"));
    assert!(rca(&state).contains("has no entry of"), "{}", rca(&state));
}

#[test]
fn a_log_that_nobody_could_read_is_not_checked_and_changes_nothing_else() {
    let state =
        session(&json!({"status": "failed", "observations": [], "reason": "AuthorizationFailed"})).state();
    let answer = answer(&state);
    let unchecked = answer.lines.iter().find(|line| line.label == "Not checked").unwrap();
    assert!(unchecked.text.contains("the activity log (it could not be read)"), "{}", unchecked.text);
    assert!(answer.title().starts_with("Root cause: "), "{}", answer.title());
    assert!(rca(&state).contains("the activity log was not read: it could not be read"), "{}", rca(&state));
}

#[test]
fn a_log_of_another_group_that_could_not_be_read_is_named() {
    let why = "hub-rg in the subscription s2 (reading the activity log: no role)";
    let mut content = origin("none", "which change made it is not known");
    content["facts"]["complete"] = json!(false);
    content["facts"]["unread"] = json!([why]);
    let state = session(&content).state();
    let answer = answer(&state);
    let unchecked = answer.lines.iter().find(|line| line.label == "Not checked").unwrap();
    assert!(unchecked.text.contains(&format!("the activity log of {why}")), "{}", unchecked.text);
}
