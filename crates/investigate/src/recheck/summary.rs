//! The report on a second look: before and now, side by side.

use crate::event::{Now, ObservationId, Rechecked};
use crate::finding::title;
use crate::recheck::{Verdict, verdict};
use crate::report::markdown::{inline, table, text};
use crate::state::State;

/// Says in a sentence what it came to.
pub(super) fn summary(rows: &[Rechecked]) -> String {
    let of = |wanted: Now| {
        let titles = rows.iter().filter(|row| row.now == wanted).map(|row| title(&row.code, &row.object));
        titles.collect::<Vec<_>>()
    };
    let (broken, new, unknown) = (of(Now::Broken), of(Now::New), of(Now::Unknown));
    match verdict(rows) {
        Verdict::Fixed => {
            let tried: Vec<&str> =
                rows.iter().filter_map(|row| row.after.strip_prefix("tried again: ")).collect();
            let tried = match tried.as_slice() {
                [] => " The call that failed was not tried again from its caller.".to_owned(),
                some => format!(" Tried again: {}.", some.join("; ")),
            };
            format!(
                "Verified fixed: every look that had shown a fault was taken again, and none shows it any more.{tried}"
            )
        }
        Verdict::Broken => {
            let mut parts = Vec::new();
            parts.extend((!broken.is_empty()).then(|| format!("Still broken: {}.", broken.join("; "))));
            parts.extend((!new.is_empty()).then(|| format!("New since the report: {}.", new.join("; "))));
            parts.join(" ")
        }
        Verdict::Unclear if rows.is_empty() => "Not clear: nothing could be looked at again.".to_owned(),
        Verdict::Unclear => format!("Not clear: {}.", unknown.join("; ")),
    }
}

#[must_use]
pub fn headline(rows: &[Rechecked]) -> &'static str {
    match verdict(rows) {
        Verdict::Fixed => "Checked again: verified fixed",
        Verdict::Broken => "Checked again: still broken",
        Verdict::Unclear => "Checked again: not clear",
    }
}

/// Returns the sections about a second look, as Markdown.
#[must_use]
pub fn report(state: &State, rows: &[Rechecked]) -> String {
    let line = |row: &Rechecked| {
        let before = if row.before.is_empty() { "not there".to_owned() } else { inline(&row.before) };
        vec![
            format!("{} {}", mark(row.now), text(&title(&row.code, &row.object))),
            before.replace('|', "&#124;"),
            format!("**{}:** {}{}", word(row.now), inline(&row.after), ids(&row.seen)).replace('|', "&#124;"),
        ]
    };
    let table = table(&["Fault", "Before", "Now"], &rows.iter().map(line).collect::<Vec<_>>());
    let reported = state.earlier.last().map(|(at, _)| at.to_string()).unwrap_or_default();
    format!(
        "## Before and now\n\n{}\n\nBefore: as reported at {}. Only the checks that had shown a fault were made again, and what failed was tried where a command that only reads could do that, through the same gate and with the same consent; nothing else was looked at.\n\n{table}",
        text(&summary(rows)),
        text(&reported)
    )
}

fn mark(now: Now) -> &'static str {
    match now {
        Now::Fixed => "✔",
        Now::Broken | Now::New => "✘",
        Now::Unknown => "?",
    }
}

fn word(now: Now) -> &'static str {
    match now {
        Now::Fixed => "Fixed",
        Now::Broken => "Still broken",
        Now::New => "New",
        Now::Unknown => "Not known",
    }
}

fn ids(seen: &[ObservationId]) -> String {
    match (seen.first(), seen.last()) {
        (Some(first), Some(last)) if first != last => format!(" ({first}–{last})"),
        (Some(only), _) => format!(" ({only})"),
        (None, _) => String::new(),
    }
}
