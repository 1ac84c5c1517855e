//! Facts about the two reports.

use serde_json::json;

use crate::Outcome;
use crate::event::{Impact, PlanJudgement, Reply};
use crate::report::tests::{Ledger, rich};
use crate::report::{audit, rca, reported, timeline};

/// Compares with a file; `UPDATE=1` writes it instead.
#[track_caller]
#[expect(clippy::disallowed_methods, reason = "a test is asked to write its files through the environment")]
pub(super) fn same_as_file(name: &str, text: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/agent").join(name);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap_or_default(), text, "{name}; UPDATE=1 rewrites it");
}

#[track_caller]
fn in_order(text: &str, words: &[&str]) {
    let places = words
        .iter()
        .map(|word| text.find(word).unwrap_or_else(|| panic!("{word} is missing")))
        .collect::<Vec<_>>();
    assert!(places.is_sorted(), "{words:?} stand at {places:?}");
}

#[test]
fn a_rich_session_reads_as_in_the_files() {
    let ledger = rich();
    same_as_file("rca.md", &rca(&ledger.state()));
    same_as_file("audit.md", &audit(&ledger.state()));
    same_as_file("timeline.txt", &timeline(&ledger.events, false));
}

#[test]
fn two_calls_give_the_same_bytes() {
    let (one, two) = (rich().state(), rich().state());
    assert_eq!(rca(&one), rca(&two));
    assert_eq!(audit(&one), audit(&two));
}

#[test]
fn the_first_line_says_what_came_of_it() {
    for (outcome, word) in [
        (Outcome::Confirmed, "# Root cause"),
        (Outcome::Likely, "# Root cause"),
        (Outcome::Inconclusive, "# Inconclusive"),
        (Outcome::NoFaultFound, "# No fault found"),
    ] {
        let mut ledger = Ledger::open("x");
        ledger.conclude(outcome, "");
        assert!(rca(&ledger.state()).starts_with(word), "{outcome}");
    }
}

#[test]
fn the_list_of_approvals_names_every_command_of_a_plan() {
    let mut state = rich().state();
    let (name, asked) = state.approvals.iter_mut().next().unwrap();
    let judged = |verdict: &str, impact| PlanJudgement {
        verdict: verdict.to_owned(),
        rule: "r".to_owned(),
        reason: "why".to_owned(),
        impact,
    };
    asked.requested.plan = ["touch a", "uname", "touch b"].map(str::to_owned).to_vec();
    asked.requested.judgements = vec![
        judged("RISKY", Some(Impact::Change)),
        judged("SAFE", None),
        judged("RISKY", Some(Impact::Measurement)),
    ];
    let name = name.clone();
    assert!(
        audit(&state).contains(&format!("`{name}`")) && !rca(&state).contains(&format!("`{name}`")),
        "an id is for the audit"
    );
    for report in [rca(&state), audit(&state)] {
        let lines = ["command 1: RISKY, change: `touch a`", "command 2: SAFE: `uname`"];
        in_order(&report, &[&lines[..], &["command 3: RISKY, measurement: `touch b`"]].concat());
    }
    // A ledger of before does not say how each was judged.
    state.approvals.get_mut(&name).unwrap().requested.judgements.clear();
    in_order(&rca(&state), &["command 1: `touch a`", "command 2: `uname`", "command 3: `touch b`"]);
}

#[test]
fn a_session_that_is_not_over_reports_as_interim() {
    let mut ledger = Ledger::open("x");
    assert!(rca(&ledger.state()).starts_with("# Interim report"));
    ledger.turn(0, &["c1"], None);
    ledger.propose(1, "c1", "reboot", "H1", "RISKY");
    ledger.ask("a1", 1, 1);
    let report = rca(&ledger.state());
    assert!(report.starts_with("# Interim report"));
    assert!(report.contains("s1 for H1") && report.contains("waits for an answer"));
    assert!(!report.contains("## What to do"));
}

#[test]
fn an_unknown_step_is_never_shown_as_done() {
    let mut ledger = Ledger::open("x");
    ledger.turn(0, &["c1"], None);
    ledger.propose(1, "c1", "reboot", "H1", "RISKY");
    ledger.ask("a1", 1, 1);
    ledger.answer("a1", 1, "ben", Reply::Approve);
    ledger.run(1, Some("a1"));
    let unknown = "nobody knows whether it took effect";
    // Its owner went away, and nobody recorded even that before the session was ended.
    let mut silent = Ledger::open("x");
    silent.turn(0, &["c1"], None);
    silent.propose(1, "c1", "reboot", "H1", "RISKY");
    silent.run(1, None);
    silent.conclude(Outcome::Inconclusive, "");
    ledger.json("unknown", json!({"step": 1, "epoch": 1}));
    for state in [ledger.state(), silent.state()] {
        for text in [rca(&state), audit(&state)] {
            assert!(text.contains(unknown) && !text.contains("completed"), "{text}");
        }
        assert!(rca(&state).contains("**Outcome unknown.**"));
    }
    ledger.ask("a2", 1, 1);
    ledger.answer("a2", 1, "ben", Reply::Deny { reason: "once is enough".to_owned() });
    assert!(!rca(&ledger.state()).contains("did not run"), "a first run may have taken effect");
    ledger.done(1, "denied", "user_denied", "once is enough");
    let report = rca(&ledger.state());
    assert!(report.contains("**Outcome unknown.**") && report.contains(unknown), "{report}");
}

#[test]
fn a_run_that_was_repeated_still_tells_of_the_one_that_was_cut_off() {
    let mut ledger = Ledger::open("x");
    ledger.turn(0, &["c1"], None);
    ledger.propose(1, "c1", "reboot", "H1", "RISKY");
    ledger.run(1, None);
    ledger.json("unknown", json!({"step": 1, "epoch": 1}));
    ledger.run(1, None);
    ledger.done(1, "completed", "user_approved", "");
    let report = rca(&ledger.state());
    let expected =
        "an earlier run was cut off and nobody knows whether it took effect; run again: completed, exit 0";
    assert!(report.contains(expected), "{report}");
}

#[test]
fn what_was_refused_says_by_whom_and_why() {
    let report = rca(&rich().state());
    let attention = report.split("## Attention").nth(1).unwrap().split("## Symptom").next().unwrap();
    assert!(
        attention.contains("denied by cleo at 2025-") && attention.contains(": not during business hours")
    );
    assert!(attention.contains("`tc qdisc del dev eth0 root`"));
    assert!(attention.contains("expired: nobody answered by 2025-"));
}

#[test]
fn commands_stand_in_order_of_time_whatever_came_of_them() {
    let text = audit(&rich().state());
    in_order(&text, &["### s1 ", "### s2 ", "### s3 ", "### s4 ", "### s5 ", "### s6 ", "### s7 "]);
    in_order(&rca(&rich().state()), &["| o1", "| o2", "| o3"]);
    in_order(&text, &["`a1` for s2", "`a2` for s2", "`a3` for s3", "`a4` for s4", "`a5` for s5"]);
}

#[test]
fn a_command_is_never_cut() {
    let long = format!("echo {}", "x".repeat(20_000));
    let mut ledger = Ledger::open("x");
    ledger.turn(0, &["c1"], None);
    ledger.propose(1, "c1", &long, "H1", "RISKY");
    ledger.ask("a1", 1, 1);
    assert!(audit(&ledger.state()).contains(&long));
    assert!(rca(&ledger.state()).contains(&long));
}

#[test]
fn the_commands_that_check_the_report_name_its_session_and_both_heads() {
    let state = rich().state();
    for text in [rca(&state), audit(&state)] {
        let head = state.audit_head().unwrap();
        assert!(text.contains(&format!("ghost audit verify DATA/audit/ghost-7k2f.jsonl --head {head}\n")));
        assert!(text.contains("ghost sessions show ghost-7k2f\n"));
        assert!(text.contains(&state.head.to_string()) && text.contains(&format!("{} events", state.seq)));
    }
}

#[test]
fn delivering_a_report_does_not_change_it() {
    let mut ledger = rich();
    let before = rca(&ledger.state());
    ledger.json("delivered", json!({"what": "report", "place": "terminal", "digest": "0".repeat(64)}));
    let again = crate::state::State::fold(&ledger.state().session, reported(&ledger.events)).unwrap();
    assert_eq!(rca(&again), before);
}
