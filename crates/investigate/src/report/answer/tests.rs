//! Facts about the answer.

use serde_json::json;

use super::cause::causes;
use super::whole::reply;
use super::{Answer, answer};
use crate::Outcome;
use crate::event::FindingAccepted;
use crate::finding::Fault;
use crate::judged::{FlowVerdict, JudgedFlows};
use crate::report::tests::{Ledger, rich};

fn found(code: &str, object: &str, why: &str) -> FindingAccepted {
    serde_json::from_value(
        json!({"code": code, "object": object, "statement": "", "evidence": [], "why": why}),
    )
    .unwrap()
}

/// One flow from tf-source-vm to tf-dest-vm, stopped by one thing.
fn flow(code: &str, object: &str) -> JudgedFlows {
    let cause = json!({"fault": code, "object": object, "side": "forward", "is_gap": false, "catches_all": false, "reason": ""});
    serde_json::from_value(json!({"flows": [{
        "source": "10.0.1.4", "source_machine": "tf-source-vm", "destination": "10.0.1.5",
        "destination_machine": "tf-dest-vm", "protocol": "tcp", "port": 5001, "verdict": "BLOCKED",
        "outcome": "", "causes": [cause], "behind": [], "missing": []
    }]}))
    .unwrap()
}

#[track_caller]
fn check(code: &str, object: &str, why: &str, expected: &str) {
    let all = causes(&[found(code, object, why)], &flow(code, object));
    let all: Vec<String> = all.iter().map(|cause| format!("{}. {}", cause.what, cause.action)).collect();
    assert_eq!(all, [expected]);
}

#[test]
fn a_fault_is_said_with_its_place_and_what_to_do() {
    check(
        "guest_firewall_drop",
        "netfilter/tf-dest-vm/filter/INPUT/tcp/5001",
        "o9: rule 1 of INPUT drops tcp/5001: `-A INPUT -p tcp --dport 5001 -j DROP`",
        "tf-dest-vm drops tcp/5001: iptables INPUT rule 1. Remove it, or allow 10.0.1.4 before it.",
    );
    check(
        "nsg_deny",
        "nsg/web-nsg/deny-5001",
        "o8: the rule deny-5001 (150) of web-nsg denies it",
        "web-nsg denies tcp/5001: rule deny-5001 (priority 150). Delete that rule, or allow 10.0.1.4 before it.",
    );
    check(
        "nsg_deny",
        "nsg/web-nsg/DenyAllInBound",
        "",
        "web-nsg denies tcp/5001: rule DenyAllInBound. Add a rule before it that allows 10.0.1.4 to 10.0.1.5 on tcp/5001.",
    );
    check(
        "route_dead_nva",
        "route/rt/to-nva",
        "the route to-nva 10.0.1.5/32 (User) to VirtualAppliance 10.0.1.100 leads to an appliance that nobody is",
        "rt sends tf-source-vm → tf-dest-vm to an appliance that does not exist (10.0.1.100): route to-nva. Bring the appliance back, or delete that route.",
    );
    check(
        "netem_delay",
        "qdisc/tf-source-vm/eth0",
        "eth0 of tf-source-vm delays packets by 30 ms (netem)",
        "tf-source-vm delays packets on eth0 by 30 ms (netem). Remove the shaping on eth0.",
    );
    check(
        "rate_limit",
        "qdisc/tf-source-vm/eth0",
        "eth0 of tf-source-vm sends at most 5000000 bit/s (tbf)",
        "tf-source-vm limits eth0 to 5 Mbit/s. Remove the shaping on eth0.",
    );
    check(
        "tcp_refused",
        "flow/10.0.1.4/10.0.1.5/tcp/9999",
        "10.0.1.5:9999 refused 20 connections of 10.0.1.4 with RST",
        "Nothing listens on tf-dest-vm for tcp/9999. Start the service there, or correct the port on tf-source-vm.",
    );
    check("dreamed", "nsg/a/b", "", "dreamed, nsg/a/b. ");
}

#[test]
fn a_question_is_answered_by_yes_or_no() {
    let (code, object) = ("nsg_deny", "nsg/web-nsg/deny-5001");
    let why = "o8: the rule deny-5001 (150) of web-nsg denies it";
    let mut judged = flow(code, object);
    let denied = causes(&[found(code, object, why)], &judged);
    let title = |judged: &JudgedFlows, cause| reply(&judged.flows[0], cause).map(|answer| answer.title());
    assert_eq!(
        title(&judged, denied.first()).unwrap(),
        "No: tf-source-vm → tf-dest-vm tcp/5001 is blocked: web-nsg denies tcp/5001: rule deny-5001 (priority 150)"
    );
    // What stops it was not accepted as a finding: then it is no answer.
    assert_eq!(title(&judged, None), None);
    judged.flows[0].verdict = FlowVerdict::Passes;
    assert_eq!(
        title(&judged, None).unwrap(),
        "Yes: tf-source-vm → tf-dest-vm tcp/5001 passes in both directions, by everything that was read"
    );
    judged.flows[0].verdict = FlowVerdict::Indeterminate;
    assert_eq!(title(&judged, None), None);
}

#[test]
fn only_who_asks_about_one_flow_gets_yes_or_no() {
    let mut judged = flow("nsg_deny", "nsg/web-nsg/deny-5001");
    assert!(judged.asked().is_none());
    let complaint = |is_question: bool| {
        serde_json::from_value(
            json!({"kind": "trouble", "symptoms": [], "names_port": true, "is_question": is_question,
            "flows": [0], "machines": [], "unknown": []}),
        )
        .unwrap()
    };
    judged.complaints = vec![complaint(false)];
    assert!(judged.asked().is_none());
    judged.complaints = vec![complaint(true)];
    assert!(judged.asked().is_some());
    judged.complaints.push(complaint(true));
    assert!(judged.asked().is_none());
}

#[test]
fn one_line_of_shaping_is_one_cause_and_what_blocks_comes_first() {
    let all = [
        found("no_drift", "effective/db-1", "no route and no rule differs"),
        found("netem_delay", "qdisc/db-1/eth0", "eth0 of db-1 delays packets by 10 ms (netem)"),
        found("netem_loss", "qdisc/db-1/eth0", "eth0 of db-1 loses 8 % of its packets (netem)"),
        found(
            "guest_firewall_drop",
            "netfilter/db-1/filter/INPUT/icmp/any",
            "rule 2 of INPUT drops icmp/any",
        ),
    ];
    let words: Vec<String> =
        causes(&all, &JudgedFlows::default()).into_iter().map(|cause| cause.what).collect();
    assert_eq!(
        words,
        [
            "db-1 drops ICMP (ping): iptables INPUT rule 2",
            "db-1 delays packets on eth0 by 10 ms (netem), and loses 8 % of packets on eth0 (netem)",
            "Nothing changed at db-1 since the baseline",
        ]
    );
}

#[test]
fn every_fault_is_said_without_its_code_and_all_but_one_says_what_to_do() {
    for fault in Fault::every() {
        let parts = fault.object_kind().pattern().split('/').map(|part| part.trim_matches(['<', '>']));
        let object = parts.collect::<Vec<_>>().join("/");
        let cause = causes(&[found(fault.as_str(), &object, "")], &JudgedFlows::default()).remove(0);
        assert!(!cause.what.contains('_') && !cause.what.ends_with('.'), "{}", cause.what);
        assert_eq!(cause.action.ends_with('.'), fault != Fault::NoDrift, "{fault:?}: {}", cause.action);
    }
}

#[test]
fn an_answer_is_a_sentence_and_at_most_eight_lines() {
    let answer = answer(&rich().state());
    assert_eq!(answer.title(), "Root cause, likely: tf-dest-vm drops tcp/5001: iptables INPUT rule 1");
    assert!(
        answer.sentence().ends_with("Remove it, or allow this traffic before it."),
        "{}",
        answer.sentence()
    );
    assert!(answer.lines.len() <= Answer::MAX_LINES);
    let labels: Vec<&str> = answer.lines.iter().map(|line| line.label).collect();
    assert_eq!(labels, ["Outcome unknown", "Left behind", "Checked and clear", "Not checked", "Confidence"]);
}

#[test]
fn a_session_that_was_stopped_says_so() {
    let mut ledger = Ledger::open("x");
    ledger.json("said", json!({"who": "ana", "text": "stop", "wish": "stop"}));
    ledger.conclude(Outcome::Inconclusive, "");
    let answer = answer(&ledger.state());
    assert_eq!(answer.title(), "Inconclusive: it was stopped before anything was settled");
}
