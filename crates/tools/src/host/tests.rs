//! Facts about headlines: what was not read is never "OK", and what was measured outranks what was computed.

use super::report::{Called, Report, Verdict};
use super::show::page;
use super::snapshot::Snapshot;
use ghost_inspect::host::{Need, Part, Question};

const HEALTHY: &str = include_str!("../../../../tests/fixtures/host/healthy.json");

type Json = serde_json::Value;

fn document() -> Json {
    serde_json::from_str(HEALTHY).unwrap()
}

fn report(document: &Json, to: &[(&str, u16)]) -> Report {
    let snapshot: Snapshot = serde_json::from_value(document.clone()).unwrap();
    let to = to.iter().map(|(host, port)| ((*host).to_owned(), Some(*port))).collect();
    Report::new(&snapshot, &[], None, &Called { from: "web-1".to_owned(), to, protocol: None })
}

fn headline(report: &Report) -> String {
    page(report).text().lines().next().unwrap_or_default().to_owned()
}

/// How a read fails: what is in its place.
fn manners(text: &str) -> Vec<(&'static str, Option<Json>)> {
    let mut all = vec![
        ("gone", None),
        ("not installed", Some(serde_json::json!({"code": 127, "text": "it is not installed"}))),
        ("refused", Some(serde_json::json!({"code": 1, "text": "Operation not permitted"}))),
        ("garbage", Some(serde_json::json!({"code": 0, "text": "Segmentation fault\n"}))),
    ];
    if text.len() > 1 {
        all.push((
            "cut off",
            Some(serde_json::json!({"code": 0, "text": text[..text.len() / 2], "bytes": text.len()})),
        ));
    }
    all
}

#[test]
fn a_machine_is_ok_only_where_every_read_that_it_needs_was_read() {
    let whole = document();
    let ok = report(&whole, &[("10.0.0.11", 5432)]);
    assert_eq!((ok.verdict, ok.code()), (Verdict::Ok, 0));
    assert!(headline(&ok).starts_with("OK  db-1, web-1: nothing odd"), "{}", headline(&ok));
    let mut table = String::new();
    for part in Part::ALL.iter().copied() {
        let text = whole["hosts"]["web-1"][part.as_str()]["text"].as_str().unwrap();
        for (manner, instead) in manners(text) {
            let mut less = whole.clone();
            let parts = less["hosts"]["web-1"].as_object_mut().unwrap();
            match instead {
                None => drop(parts.remove(part.as_str())),
                Some(text) => drop(parts.insert(part.as_str().to_owned(), text)),
            }
            let found = report(&less, &[]);
            let is_optional = match Question::Machine.needs(part) {
                Need::Always => false,
                Need::WhereInstalled => manner == "not installed",
                // The kernel says itself that the old backend has no tables.
                Need::OfFilters => {
                    !matches!(part, Part::FilterNft | Part::FilterIptables | Part::FilterIptables6)
                }
                Need::Never => true,
            };
            let expected = if is_optional { (Verdict::Ok, 0) } else { (Verdict::Indeterminate, 4) };
            assert_eq!((found.verdict, found.code()), expected, "{part} {manner}: {:?}", found.missing);
            let is_named = found.missing.iter().any(|read| read.document.as_deref() == Some(part.as_str()));
            assert_eq!(is_named, !is_optional, "{part} {manner}: {:?}", found.missing);
            let headline = headline(&found);
            assert!(headline.starts_with(found.verdict.word()), "{part} {manner}: {headline}");
            table.push_str(&format!("| {part} | {manner} | {headline} |\n"));
            // Whatever is withheld is named, also where the answer does not use it.
            let before = serde_json::to_string(&report(&whole, &[])).unwrap();
            let is_silent = serde_json::to_string(&found).unwrap() == before;
            assert!(!is_silent, "{part} {manner}");
        }
    }
    println!("{table}");
}

#[test]
fn a_destination_that_nobody_tried_and_no_document_decides_is_not_ok() {
    let whole = document();
    for to in [("192.0.2.7", 443), ("elsewhere.example", 443)] {
        let found = report(&whole, &[to]);
        assert_eq!(found.verdict, Verdict::Indeterminate, "{to:?}");
        assert!(
            headline(&found).contains(&format!("whether {}:{} is reached", to.0, to.1)),
            "{}",
            headline(&found)
        );
    }
}

fn tried(said: &str) -> Json {
    let mut document = document();
    let text = format!("to 10.0.0.11 5432\naddress 10.0.0.11\n{said}\n");
    document["hosts"]["web-1"]["probes"] = serde_json::json!({"code": 0, "text": text});
    document
}

#[test]
fn no_headline_says_that_nothing_hurts_where_a_destination_was_not_reached() {
    let silent = tried("tcp nc: connect to 10.0.0.11 port 5432 (tcp) timed out: Operation now in progress");
    let found = report(&silent, &[("10.0.0.11", 5432)]);
    assert_eq!((found.verdict, found.code()), (Verdict::NotReached, 3));
    let headline = headline(&found);
    assert_eq!(
        headline,
        "NOT REACHED  db-1, web-1: 10.0.0.11 port 5432 not reached, and nothing that was read explains it"
    );
    assert_eq!(found.reached[0].fate, "not_known");
}

#[test]
fn what_would_stop_a_destination_that_was_reached_is_noticed_with_the_contradiction() {
    let mut open = tried("tcp Connection to 10.0.0.11 5432 port [tcp/postgresql] succeeded!");
    let listeners = open["hosts"]["db-1"]["listeners"]["text"].as_str().unwrap().replace(":5432", ":5433");
    open["hosts"]["db-1"]["listeners"] = serde_json::json!({"code": 0, "text": listeners});
    let found = report(&open, &[("10.0.0.11", 5432)]);
    assert_eq!((found.verdict, found.code()), (Verdict::Ok, 0), "{:?}", found.findings);
    assert!(headline(&found).ends_with("1 noticed"), "{}", headline(&found));
    assert_eq!((found.reached[0].fate, found.reached[0].is_reached), ("passes", Some(true)));
    let why = found.reached[0].why.as_ref().unwrap();
    assert!(why.contains("although not_listening service/db-1/tcp/5432 would stop it"), "{why}");
}

#[test]
fn a_machine_whose_ip_is_that_of_busybox_says_what_to_install() {
    let mut document = document();
    let said = "ip: invalid option -- 'j'\nBusyBox v1.36.1 (2023-11-07 18:53:09 UTC) multi-call binary.";
    for part in [
        "links",
        "links-later",
        "addresses",
        "routes",
        "routes6",
        "rules",
        "rules6",
        "neighbors",
        "neighbors-later",
    ] {
        document["hosts"]["web-1"][part] = serde_json::json!({"code": 1, "text": said});
    }
    let text = page(&report(&document, &[])).text().to_owned();
    let first: Vec<&str> = text.lines().take(2).collect();
    assert!(first[0].starts_with("INDETERMINATE  db-1, web-1: not read: addresses, "), "{text}");
    assert_eq!(first[1], "  → install iproute2 (`iproute` on Red Hat) in place of BusyBox's `ip`", "{text}");
}

#[test]
fn what_changed_is_not_known_of_what_was_not_read_before() {
    let whole = document();
    let changed = |earlier: &Json| {
        let read = |document: &Json| -> Snapshot { serde_json::from_value(document.clone()).unwrap() };
        let called = Called { from: "web-1".to_owned(), to: Vec::new(), protocol: None };
        Report::new(&read(&whole), &[], Some(&read(earlier)), &called)
    };
    assert_eq!(changed(&whole).verdict, Verdict::Ok);
    for part in Part::ALL.iter().copied() {
        let mut earlier = whole.clone();
        earlier["hosts"]["web-1"].as_object_mut().unwrap().remove(part.as_str());
        let found = changed(&earlier);
        let is_needed = match Question::Changes.needs(part) {
            Need::Always => true,
            Need::OfFilters => matches!(part, Part::FilterNft | Part::FilterIptables | Part::FilterIptables6),
            Need::WhereInstalled | Need::Never => false,
        };
        assert_eq!(found.verdict == Verdict::Indeterminate, is_needed, "{part}: {:?}", found.missing);
        assert_eq!(found.changes.as_deref(), Some(&[][..]), "{part}");
    }
    let mut other = whole.clone();
    other["hosts"].as_object_mut().unwrap().remove("web-1");
    assert_eq!(changed(&other).verdict, Verdict::Indeterminate);
}
