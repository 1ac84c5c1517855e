//! Facts about the timeline and the list.

use serde_json::json;
use unicode_width::UnicodeWidthStr as _;

use crate::event::Content;
use crate::report::tests::rich;
use crate::report::{Summary, timeline};

#[test]
fn every_event_has_a_line_or_two_of_at_most_a_hundred_columns() {
    let ledger = rich();
    let text = timeline(&ledger.events, false);
    assert!(text.lines().all(|line| line.width() <= 100), "{text}");
    let heads = text.lines().filter(|line| line.starts_with('+')).count();
    assert_eq!(heads, ledger.events.len());
    assert!(text.lines().count() <= 1 + 2 * ledger.events.len());
}

#[test]
fn a_ledger_that_cannot_be_folded_is_shown() {
    let mut events = rich().events;
    events.remove(0);
    for (event, content) in events.iter_mut().zip([Content::Foreign, Content::Erased]) {
        event.content = content;
    }
    let text = timeline(&events, false);
    assert!(text.contains("hypothesis_set: an event of a later version"), "{text}");
    assert!(text.contains("hypothesis_set: erased"), "{text}");
    assert!(text.contains("s7: completed"), "{text}");
}

#[test]
fn an_empty_ledger_has_an_empty_timeline() {
    assert_eq!(timeline(&[], true), "The session has no events.\n");
}

#[test]
fn color_changes_no_word() {
    let events = rich().events;
    let mut colored = timeline(&events, true);
    for code in ["0", "2", "31", "32", "33"] {
        colored = colored.replace(&format!("\u{1b}[{code}m"), "");
    }
    assert_eq!(colored, timeline(&events, false));
}

#[test]
fn a_summary_has_the_keys_of_the_contracts() {
    let state = rich().state();
    let mut ledger = crate::report::tests::Ledger::open("5001 hangs");
    let opened = state.opened_at.to_string();
    assert_eq!(
        serde_json::to_value(Summary::of(&ledger.state())).unwrap(),
        json!({"id": "ghost-7k2f", "state": "open", "opened": opened, "symptom": "5001 hangs", "outcome": null})
    );
    ledger.conclude(crate::Outcome::NoFaultFound, "");
    assert_eq!(
        serde_json::to_value(Summary::of(&ledger.state())).unwrap(),
        json!({"id": "ghost-7k2f", "state": "concluded", "opened": opened, "symptom": "5001 hangs",
            "outcome": "NO_FAULT_FOUND"})
    );
}

#[test]
fn a_session_without_a_state_is_listed() {
    let session = rich().state().session;
    let listed = |change: &dyn Fn(&mut Vec<crate::event::Recorded>)| {
        let mut events = rich().events;
        change(&mut events);
        Summary::of_recorded(&session, &events)
    };
    let erased = listed(&|events| events.iter_mut().for_each(|event| event.content = Content::Erased));
    assert_eq!((erased.state.as_str(), &erased.symptom, erased.outcome), ("erased", &None, None));
    assert_eq!(erased.opened, Some(rich().state().opened_at.to_string()));
    assert_eq!(listed(&|events| events[3].content = Content::Foreign).state, "newer");
    assert_eq!(listed(&Vec::clear).state, "broken");
    assert_eq!(listed(&|_| ()), Summary::of(&rich().state()));
}

#[test]
fn a_line_of_the_list_is_one_line() {
    let line = Summary::of(&rich().state()).line(90);
    assert!(line.starts_with("ghost-7k2f        concluded  2025-") && !line.contains('\n'), "{line}");
    assert!(line.contains("LIKELY"));
}
