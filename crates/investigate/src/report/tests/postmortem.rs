//! Facts about the post-mortem.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::ledger::session;
use super::report::same_as_file;
use crate::Outcome;
use crate::event::{Alert, Content, Event, Reply};
use crate::report::postmortem::{Postmortem, postmortem};
use crate::report::tests::{Ledger, rich};

fn written(ledger: &Ledger) -> Postmortem {
    postmortem(&session(), &ledger.events, &BTreeMap::new()).unwrap()
}

fn section<'a>(text: &'a str, title: &str) -> &'a str {
    let from = text.split_once(&format!("## {title}\n")).unwrap_or_else(|| panic!("no {title}: {text}")).1;
    from.split_once("\n## ").map_or(from, |(section, _)| section)
}

/// A session that an alert opened, whose change was read from the activity log, and that was found fixed later.
fn alerted() -> Ledger {
    let mut ledger = Ledger::open("iperf from web-1 to db-1:5001 hangs");
    if let Content::Known(event) = &mut ledger.events[0].content
        && let Event::Opened(opened) = event.as_mut()
    {
        opened.requester = "bot alertmanager".to_owned();
        opened.by_program = true;
        opened.origin.place = "slack".to_owned();
        opened.alert = Some(Box::new(Alert {
            source: "prod".to_owned(),
            sender: "alertmanager".to_owned(),
            group: "g1".to_owned(),
            title: "Db1PortClosed".to_owned(),
            text: "db-1 does not answer".to_owned(),
            severity: Some("critical".to_owned()),
            labels: BTreeMap::new(),
            started_at: Some("2025-10-09T08:41:12Z".to_owned()),
            links: vec!["https://alerts.example/g1".to_owned()],
            alerts: 2,
            traceparent: None,
        }));
    }
    let delivered = |what: &str| json!({"what": what, "place": "C1 1.2", "digest": "0".repeat(64)});
    ledger.json("delivered", delivered("alert"));
    ledger.json("delivered", delivered("board"));
    ledger.turn(0, &["c1"], None);
    ledger.propose(1, "c1", "az network nic list-effective-nsg --name db-1-nic", "H1", "SAFE");
    ledger.run(1, None);
    ledger.done(1, "completed", "auto_approved", "");
    ledger.observe(1, "c1", Some(1), "effective rules of db-1-nic");
    ledger.json(
        "finding_accepted",
        json!({"code": "nsg_deny", "evidence": [{"observation": "o1", "quote": "deny-5001"}],
        "object": "nsg/db-nsg/deny-5001", "why": "o1: rule deny-5001 denies tcp/5001 of web-1", "statement": ""}),
    );
    ledger.calls(1, "c2", "list_changes");
    ledger.observe(2, "c2", None, "activity log of prod");
    let origin = json!({"fault": "nsg_deny", "object": "nsg/db-nsg/deny-5001", "result": "made_by",
        "sentence": "rule deny-5001 of db-nsg was created 2025-10-09 08:40 UTC by deploy-pipeline (succeeded)"});
    let facts = json!({"status": "completed", "facts": {"since": "2025-10-08 08:53 UTC", "until": "2025-10-09 08:53 UTC",
        "complete": true, "origins": [origin], "changes": [], "unlisted": 0}});
    ledger.json("returned", json!({"call": "c2", "tool": "list_changes", "content": facts.to_string()}));
    ledger.conclude(Outcome::Confirmed, "db-nsg denies it.");
    ledger.json("delivered", delivered("report"));
    ledger.wait(1_800);
    ledger.json("alerted", json!({"status": "resolved", "text": "Db1PortClosed", "alerts": 2}));
    ledger.json("reopened", json!({"who": "U0ANAANA", "text": "fixed", "recheck": true}));
    ledger.calls(2, "c3", "check_path");
    ledger.observe(3, "c3", None, "effective rules of db-1-nic");
    ledger.json("concluded", json!({"outcome": "CONFIRMED", "confidence": "high", "summary": "", "actions": [],
        "open_questions": [], "by": "code", "recheck": [{"code": "nsg_deny", "object": "nsg/db-nsg/deny-5001",
        "before": "rule deny-5001 denies tcp/5001", "after": "no rule denies it", "now": "fixed", "seen": ["o3"]}]}));
    ledger
}

#[test]
fn sessions_read_as_in_the_files() {
    let names = BTreeMap::from([("U0ANAANA".to_owned(), "ana".to_owned())]);
    let alerted = postmortem(&session(), &alerted().events, &names).unwrap();
    same_as_file("postmortem-alert.md", &alerted.markdown());
    same_as_file("postmortem-alert.txt", &format!("{}\n", alerted.note(4_000)));
    same_as_file("postmortem-alert.json", &format!("{}\n", serde_json::to_string_pretty(&alerted).unwrap()));
    same_as_file("postmortem.md", &written(&rich()).markdown());
}

#[test]
fn the_document_is_read_back_as_it_was_written() {
    for ledger in [rich(), alerted()] {
        let document = written(&ledger);
        let text = serde_json::to_string(&document).unwrap();
        assert_eq!(serde_json::from_str::<Postmortem>(&text).unwrap(), document);
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["format"], 1);
    }
}

#[test]
fn every_line_of_what_happened_names_what_shows_it() {
    for ledger in [rich(), alerted()] {
        let document = written(&ledger);
        let known = |id: &String| {
            let first = id.split('–').next().unwrap();
            let (kind, number) = first.split_at(1);
            let number: usize = number.parse().unwrap();
            match kind {
                "e" => (1..=ledger.events.len()).contains(&number),
                "o" => document.evidence.iter().any(|one| one.id == first),
                "s" => ledger.state().steps.iter().any(|step| step.id.to_string() == first),
                _ => false,
            }
        };
        let lines = document.timeline.iter().map(|line| (&line.text, &line.evidence));
        let lines = lines.chain(document.actions.iter().map(|item| (&item.text, &item.evidence)));
        let lines = lines.chain(document.changed.iter().map(|line| (&line.text, &line.evidence)));
        let lines =
            lines.chain(document.activity_log.changes.iter().map(|line| (&line.text, &line.evidence)));
        let lines = lines.chain(document.causes.iter().map(|cause| (&cause.title, &cause.evidence)));
        let lines = lines.chain(document.decisions.iter().map(|one| (&one.what, &one.evidence)));
        for (text, evidence) in lines {
            assert!(!evidence.is_empty() && evidence.iter().all(known), "{text}: {evidence:?}");
        }
        let times: Vec<&String> = document.timeline.iter().map(|line| &line.at).collect();
        assert!(times.is_sorted(), "{times:?}");
    }
}

#[test]
fn a_fault_that_was_found_fixed_is_said_to_be_and_one_that_was_not_looked_at_again_is_not() {
    let document = written(&alerted());
    assert!(document.times.verified.is_some());
    assert!(document.title.starts_with("Root cause"), "the first answer is the title: {}", document.title);
    let text = document.markdown();
    assert!(section(&text, "What was verified").contains("**fixed**"), "{text}");
    assert!(section(&text, "Action items").contains("is not recorded here"), "{text}");
    let document = written(&rich());
    assert_eq!(document.times.verified, None);
    let text = document.markdown();
    assert!(section(&text, "What was verified").contains("Nobody checked again"), "{text}");
    assert!(section(&text, "Action items").contains("Check again once it is fixed"), "{text}");
}

#[test]
fn what_a_cut_off_command_may_have_done_is_left_to_find_out() {
    let document = written(&rich());
    let unknown = document.actions.iter().find(|item| item.text.contains("nft delete table inet hardening"));
    assert_eq!(unknown.unwrap().evidence, ["s5"]);
    let changed = document.changed.iter().find(|line| line.evidence.contains(&"s5".to_owned())).unwrap();
    assert!(changed.text.contains("nobody knows whether it took effect"), "{}", changed.text);
}

#[test]
fn a_secret_that_a_person_wrote_is_in_no_form_of_it() {
    let mut ledger = Ledger::open("login fails with password=Tr0ub4dor&3xkcd on db-1");
    ledger.json("said", json!({"who": "ana", "text": "use the token ghp_0123456789abcdefghijklmnopqrstuvwxyzAB", "wish": "steer"}));
    ledger.turn(0, &["c1"], None);
    ledger.propose(1, "c1", "reboot", "H1", "RISKY");
    ledger.ask("a1", 1, 1);
    let reason = "api_key=sk-ant-REDACTED".to_owned();
    ledger.answer("a1", 1, "ben", Reply::Deny { reason });
    ledger.done(1, "denied", "user_denied", "no");
    ledger.conclude(Outcome::Inconclusive, "");
    let document = written(&ledger);
    for text in [document.markdown(), document.note(10_000), serde_json::to_string(&document).unwrap()] {
        for secret in ["Tr0ub4dor", "ghp_0123", "sk-ant-REDACTED"] {
            assert!(!text.contains(secret), "{secret}: {text}");
        }
        assert!(text.contains("db-1"), "{text}");
    }
    // Hashes stay: without them nobody can check it.
    assert_eq!(document.head, ledger.state().head.to_string());
}

#[test]
fn what_does_not_fit_leaves_out_the_list_of_observations_first_and_says_so() {
    let mut ledger = rich();
    for id in 4..400 {
        ledger.observe(id, "c7", Some(7), &format!("filter table number {id}"));
    }
    ledger.conclude(Outcome::Likely, "");
    let document = written(&ledger);
    let whole = document.markdown();
    let most = whole.chars().count() - 1;
    let short = document.markdown_within(most).unwrap();
    assert!(short.contains("399 observations; the list does not fit here"), "{short}");
    assert!(section(&short, "Action items").contains("Remove rule 1"));
    assert_eq!(document.markdown_within(usize::MAX).unwrap(), whole);
    let refused = document.markdown_within(500).unwrap_err();
    assert_eq!((refused.length, refused.most), (short.chars().count(), 500));
    let note = document.note(600);
    assert!(note.chars().count() <= 600 && note.contains("…\nThe whole post-mortem: ghost export"), "{note}");
}

#[test]
fn a_session_that_still_runs_says_so() {
    let mut ledger = Ledger::open("5001 hangs");
    ledger.turn(0, &["c1"], None);
    let document = written(&ledger);
    assert_eq!(document.outcome, None);
    let text = document.markdown();
    assert!(text.starts_with("# Post-mortem: Interim report") && text.contains("still running"), "{text}");
    assert!(!document.actions.iter().any(|item| item.text.contains("Check again")));
}

#[test]
fn text_of_people_neither_formats_nor_calls_anybody() {
    let ledger = Ledger::open("<!channel> **bold** @here | `tick` [x](http://evil.example)\n# heading");
    let text = written(&ledger).markdown();
    assert!(!text.contains("<!channel>") && !text.contains("@here") && !text.contains("**bold**"), "{text}");
    assert!(!text.contains("\n# heading") && !text.contains("\n> # heading"), "{text}");
}
