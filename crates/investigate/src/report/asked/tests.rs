//! Answers to questions behind a report.

use super::{FollowUp, Recorded, follow_up, without_ids};
use crate::report::tests::{Ledger, rich};
use crate::state::State;
use crate::tool::{NoEvidence, Registry};

fn whole(state: &State, question: &str) -> Option<FollowUp> {
    let tools = Registry::default();
    follow_up(&Recorded { state, tools: &tools, evidence: &NoEvidence, approvers: None }, question)
}

/// Returns what is answered to a question.
pub(in crate::report) fn asked(state: &State, question: &str) -> Option<String> {
    whole(state, question).map(|answer| answer.text)
}

#[test]
fn a_rule_is_shown_as_it_was_recorded() {
    assert_eq!(
        asked(&rich().state(), "show the rule").unwrap(),
        "tf-dest-vm itself drops TCP port 5001 in its packet filter: rule 1 matches tcp/5001"
    );
}

#[test]
fn questions_with_an_answer_get_it_and_an_order_gets_none() {
    for order in ["web-1 cannot reach db-1 on 5432", "look once more", "go on", "check the rule again"] {
        assert_eq!(asked(&rich().state(), order), None, "{order}");
    }
    let answer = |question| asked(&rich().state(), question).unwrap();
    assert!(answer("what should I do?").contains("Nothing of this was carried out"));
    assert!(answer("are you sure?").starts_with("Confidence: "));
    assert!(answer("show the evidence").contains("rule 1 matches tcp/5001"));
    assert!(answer("which commands?").contains("iptables-save -t filter"));
    assert!(answer("could it be the host firewall?").starts_with("Yes: "));
    assert!(answer("tl;dr").contains("tf-dest-vm"));
    assert!(answer("would a reboot help?").starts_with("No: "));
}

#[test]
fn an_answer_has_at_most_six_lines() {
    for question in
        ["how do I fix it?", "which rule?", "what did you check?", "is it safe?", "summarize it as a ticket"]
    {
        let answer = asked(&rich().state(), question).unwrap();
        assert!(answer.lines().count() <= 6, "{question}: {answer}");
    }
}

#[test]
fn what_was_not_read_is_said_and_the_look_is_offered() {
    let dns = whole(&rich().state(), "is it DNS?").unwrap();
    assert!(dns.text.starts_with("Not looked at: name servers."), "{dns:?}");
    assert_eq!(dns.look.as_deref(), Some("check name servers"));
}

#[test]
fn names_of_observations_are_taken_out_and_other_brackets_stay() {
    assert_eq!(without_ids("None stops it (o1–o11). Look (o3, o4)"), "None stops it. Look");
    assert_eq!(without_ids("eth0 (netem) at o1 (once)"), "eth0 (netem) at o1 (once)");
}

#[test]
fn nothing_is_answered_before_anything_was_judged() {
    let ledger = Ledger::open("x");
    assert_eq!(asked(&ledger.state(), "show the rule"), None);
    assert_eq!(asked(&rich().state(), "did you check the return path?"), None);
}
