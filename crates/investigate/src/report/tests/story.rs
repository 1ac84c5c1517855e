//! Facts about the story.

use unicode_width::UnicodeWidthStr as _;

use crate::event::Content;
use crate::report::story;
use crate::report::tests::rich;

#[test]
fn every_event_has_a_line_or_two_of_at_most_a_hundred_columns() {
    let ledger = rich();
    let text = story(&ledger.events, false);
    assert!(text.lines().all(|line| line.width() <= 100), "{text}");
    let heads = text.lines().filter(|line| line.starts_with('+')).count();
    assert_eq!(heads, ledger.events.len());
    assert!(text.lines().count() <= 1 + 2 * ledger.events.len());
}

#[test]
fn a_ledger_that_cannot_be_folded_is_told() {
    let mut events = rich().events;
    events.remove(0);
    for (event, content) in events.iter_mut().zip([Content::Foreign, Content::Erased]) {
        event.content = content;
    }
    let text = story(&events, false);
    assert!(text.contains("hypothesis_set: an event of a later version"), "{text}");
    assert!(text.contains("hypothesis_set: erased"), "{text}");
    assert!(text.contains("s7: completed"), "{text}");
}

#[test]
fn nothing_is_told_of_nothing() {
    assert_eq!(story(&[], true), "The session has no events.\n");
}

#[test]
fn color_changes_no_word() {
    let events = rich().events;
    let mut colored = story(&events, true);
    for code in ["0", "2", "31", "32", "33"] {
        colored = colored.replace(&format!("\u{1b}[{code}m"), "");
    }
    assert_eq!(colored, story(&events, false));
}
