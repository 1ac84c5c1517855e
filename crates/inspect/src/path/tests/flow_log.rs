//! What flow logs show of flows, held against what was read otherwise.

use serde_json::{Value, json};

use super::draft::{Draft, mac, summary};
use crate::path::{Document, Estate, Judgement, Protocol, Reading};

/// 2026-11-24 09:00:00.
const NINE: u64 = 1_795_510_800_000;

/// What an interface saw: the side, the rule, how many were denied, began, lasted and came back, and for how many minutes.
type Row = (&'static str, &'static str, u64, u64, u64);

fn row((side, rule, denied, lasted, back): Row, minutes: (u64, u64), port: u16) -> Value {
    let end = if side == "inbound" { "10.0.2.4" } else { "10.0.1.4" };
    let at = |minute: u64| NINE + minute * 60_000;
    json!({"mac": mac(end), "source": "10.0.1.4", "destination": "10.0.2.4", "protocol": 6, "port": port, "side": side, "rule": rule,
        "denied": denied, "began": lasted, "lasted": lasted, "packets": lasted * 4, "packets_back": back,
        "first": at(minutes.0), "last": at(minutes.1)})
}

fn judged(draft: &Draft, rows: &[Value]) -> (Estate, Judgement) {
    let mut bundle = draft.bundle();
    let logs = json!({"readAt": "2026-11-24T10:00:00Z", "read": [{"log": "flows-1", "of": "app", "seen": rows}], "unread": []});
    bundle.cloud.flow_logs = Some(Reading::Text(logs.to_string()));
    let estate = Estate::of(&bundle);
    let judgement = estate.judge(&draft.flow("web", "db", Protocol::Tcp, 5432));
    (estate, judgement)
}

fn denying() -> Draft {
    Draft::two().rule("app/db", ("deny-db", 110, "Inbound", "Deny", "Tcp", "10.0.1.0/24", "*", "5432"))
}

fn reason(judgement: &Judgement) -> String {
    judgement.causes().first().map(|(_, effect)| effect.reason.clone()).unwrap_or_default()
}

#[test]
fn a_denial_by_the_rule_that_stops_the_flow_proves_it() {
    for name in ["deny-db", "UserRule_deny-db"] {
        let (_, judgement) = judged(&denying(), &[row(("inbound", name, 7, 0, 0), (0, 12), 5432)]);
        assert_eq!(judgement.fate.verdict(), "BLOCKED");
        let why = reason(&judgement);
        assert!(why.ends_with("; the flow log flows-1 of app shows 7 denials by deny-db from 2026-11-24 09:00:00Z to 2026-11-24 09:12:00Z"), "{why}");
        assert!(judgement.hops().any(|(_, hop)| hop.evidence.contains(&Document::FlowLogs)));
    }
}

#[test]
fn what_a_log_shows_of_others_proves_nothing() {
    let plain = reason(&judged(&denying(), &[]).1);
    for seen in [
        row(("inbound", "deny-other", 7, 0, 0), (0, 12), 5432),
        row(("inbound", "deny-db", 7, 0, 0), (0, 12), 80),
        row(("outbound", "deny-db", 7, 0, 0), (0, 12), 5432),
        row(("inbound", "deny-db", 0, 7, 28), (0, 12), 5432),
    ] {
        assert_eq!(reason(&judged(&denying(), std::slice::from_ref(&seen)).1), plain, "{seen}");
    }
    let mut elsewhere = row(("inbound", "deny-db", 7, 0, 0), (0, 12), 5432);
    elsewhere["mac"] = json!("00-0D-3A-00-00-01");
    assert_eq!(reason(&judged(&denying(), &[elsewhere]).1), plain);
}

#[test]
fn what_was_denied_before_and_passes_now_is_noticed_and_no_cause() {
    let rows = [
        row(("inbound", "UserRule_gone", 15, 0, 0), (0, 15), 5432),
        row(("inbound", "x", 0, 9, 36), (16, 40), 5432),
    ];
    let (estate, judgement) = judged(&Draft::two(), &rows);
    assert_eq!(summary(&judgement), ["PASSES"]);
    let noticed = judgement.report(&estate).noticed;
    let found = noticed.iter().find(|one| one.object.to_string().ends_with("/gone")).expect("noticed");
    assert!(
        found.what.contains("15 times from 2026-11-24 09:00:00Z to 2026-11-24 09:15:00Z"),
        "{}",
        found.what
    );
    assert!(found.why_not.ends_with("it is let through now"), "{}", found.why_not);
    // Nothing at all says nothing.
    let (estate, judgement) = judged(&Draft::two(), &[]);
    assert_eq!(summary(&judgement), ["PASSES"]);
    assert!(judgement.report(&estate).noticed.is_empty());
}

#[test]
fn what_is_let_through_and_not_answered_is_not_stopped_by_the_rules() {
    let draft = Draft::two().drops("db", "-A INPUT -p tcp --dport 5432 -j DROP");
    let proof = "the flow log flows-1 of app shows that db-nic let it through";
    let (_, judgement) = judged(&draft, &[row(("inbound", "allow", 0, 6, 0), (0, 9), 5432)]);
    assert!(reason(&judgement).contains(proof), "{}", reason(&judgement));
    for rows in [
        vec![row(("inbound", "allow", 0, 6, 6), (0, 9), 5432)],
        vec![
            row(("inbound", "allow", 0, 6, 0), (0, 9), 5432),
            row(("inbound", "deny", 1, 0, 0), (9, 9), 5432),
        ],
    ] {
        assert!(!reason(&judged(&draft, &rows).1).contains(proof));
    }
}

#[test]
fn logs_that_could_not_be_read_change_nothing() {
    let draft = Draft::two();
    let mut bundle = draft.bundle();
    for reading in [
        Reading::Text(String::new()),
        Reading::Text("[]".to_owned()),
        Reading::Text("{\"read\":7}".to_owned()),
        Reading::Failed { error: "AuthorizationFailed".to_owned() },
    ] {
        bundle.cloud.flow_logs = Some(reading);
        let judgement = Estate::of(&bundle).judge(&draft.flow("web", "db", Protocol::Tcp, 5432));
        assert_eq!(summary(&judgement), ["PASSES"]);
    }
    let unread = json!({"unread": [{"log": "the flow log a of b", "why": "closed", "is_closed": true}]});
    bundle.cloud.flow_logs = Some(Reading::Text(unread.to_string()));
    let estate = Estate::of(&bundle);
    let report = estate.judge(&draft.flow("web", "db", Protocol::Tcp, 5432)).report(&estate);
    assert_eq!((report.verdict, report.warnings.len()), ("PASSES", 1));
}

#[test]
fn logs_are_asked_where_a_rule_stops_the_flow_or_nothing_does() {
    let asked = |draft: &Draft| {
        let flow = draft.flow("web", "db", Protocol::Tcp, 5432);
        draft.estate().logged_ends(&[flow]).len()
    };
    assert_eq!(asked(&denying()), 2);
    assert_eq!(asked(&Draft::two()), 2);
    assert_eq!(asked(&Draft::two().stopped("db")), 0);
}
