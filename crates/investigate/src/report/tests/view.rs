//! Facts about the list of sessions.

use serde_json::json;

use crate::event::Content;
use crate::report::Summary;
use crate::report::tests::rich;

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
