//! Runs the redaction cases: what must go, what must stay, and what is no secret at all.

use std::path::Path;

use ghost_shell::{redact, redact_with_ids};
use serde_json::Value;

/// Joins the parts of a text that the fixture keeps apart.
fn joined(value: &Value) -> String {
    match value.as_array() {
        Some(parts) => parts.iter().map(|part| part.as_str().unwrap()).collect(),
        None => value.as_str().unwrap().to_owned(),
    }
}

/// Returns a list of a case, each entry joined.
fn list(case: &Value, name: &str) -> Vec<String> {
    case.get(name).and_then(Value::as_array).into_iter().flatten().map(joined).collect()
}

/// Says what is wrong with the result of one case.
fn faults(case: &Value) -> Vec<String> {
    let input = joined(&case["input"]);
    // What leaves the house loses the ids of subscriptions and tenants, too; what the gate shows keeps them.
    let redact = if case["ids"] == Value::Bool(true) { redact } else { redact_with_ids };
    let redacted = redact(&input);
    let text = redacted.as_str();
    let mut faults = Vec::new();
    faults.extend(
        list(case, "hide").into_iter().filter(|part| text.contains(part)).map(|part| format!("leaks {part}")),
    );
    faults.extend(
        list(case, "keep").into_iter().filter(|part| !text.contains(part)).map(|part| format!("lost {part}")),
    );
    let clean = case["clean"] == Value::Bool(true);
    if clean && (text != input || redacted.count() != 0) {
        faults.push(format!("touched: {text}"));
    }
    if !clean && (redacted.count() == 0 || redacted.categories().is_empty()) {
        faults.push("found nothing".to_owned());
    }
    if case["json"] == Value::Bool(true) && serde_json::from_str::<Value>(text).is_err() {
        faults.push(format!("no JSON any more: {text}"));
    }
    if redact(text).as_str() != text || redact(text).count() != 0 {
        faults.push(format!("not settled: {text}"));
    }
    faults
}

#[test]
fn every_case_hides_and_keeps_what_it_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/redact/cases.jsonl");
    let cases = std::fs::read_to_string(path).unwrap();
    let wrong: Vec<String> = cases
        .lines()
        .filter_map(|line| {
            let case: Value = serde_json::from_str(line).unwrap();
            let faults = faults(&case);
            (!faults.is_empty()).then(|| format!("{}: {}", case["what"], faults.join("; ")))
        })
        .collect();
    assert_eq!(wrong, Vec::<String>::new());
}
