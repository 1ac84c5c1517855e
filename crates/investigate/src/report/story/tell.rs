//! The lines of the story.

use crate::event::{Content, Recorded};
use crate::report::amount::{clock, count};
use crate::report::spell::{fit, plain};
use crate::report::story::word::{Tone, words};

/// How many columns a line has at most.
const COLUMNS: usize = 100;
/// How many columns stand in front of what happened.
const MARGIN: usize = 18;

/// Returns a session as a story: a line or two for each event, at most 100 columns wide, with times since the beginning.
///
/// It needs no state, so it tells also what cannot be folded. Data is cut to fit, and what is cut ends in `…`; the audit
/// holds each command whole.
#[must_use]
pub fn story(events: &[Recorded], color: bool) -> String {
    let Some(first) = events.first() else { return "The session has no events.\n".to_owned() };
    let number = u64::try_from(events.len()).unwrap_or(u64::MAX);
    let mut lines = vec![format!("Began {} (UTC), {}", first.at, count(number, "event"))];
    for event in events {
        let (happened, detail, tone) = match &event.content {
            Content::Known(known) => words(known),
            Content::Foreign => {
                let what = format!("{}: an event of a later version, not understood here", event.kind);
                (what, None, Tone::Warning)
            }
            Content::Erased => (format!("{}: erased, its digest is left", event.kind), None, Tone::Quiet),
        };
        let (margin, moment) = (" ".repeat(MARGIN), clock(event.at.since(first.at)));
        let head = format!("{:<MARGIN$}", format!("+{moment} #{}", event.seq));
        lines.push(paint(&fit(&plain(&format!("{head}{happened}")), COLUMNS), tone, color));
        lines.extend(detail.map(|detail| fit(&format!("{margin}{}", plain(&detail)), COLUMNS)));
    }
    lines.push(String::new());
    lines.join("\n")
}

fn paint(line: &str, tone: Tone, color: bool) -> String {
    let code = match tone {
        Tone::Normal => None,
        Tone::Quiet => Some("2"),
        Tone::Good => Some("32"),
        Tone::Warning => Some("33"),
        Tone::Bad => Some("31"),
    };
    match code.filter(|_| color) {
        Some(code) => format!("\u{1b}[{code}m{line}\u{1b}[0m"),
        None => line.to_owned(),
    }
}
