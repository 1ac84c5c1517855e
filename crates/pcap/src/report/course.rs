//! What became of a network between two times, for people.

use std::fmt::Write as _;

use crate::compare::{Change, Noted, Pair, Trend};

/// How many services and hosts a table shows.
const ROWS: usize = 30;

/// Writes what changed.
pub(super) fn course(out: &mut String, pair: &Pair) -> std::fmt::Result {
    for doubt in &pair.course.doubts {
        writeln!(out, "\nHard to compare: {doubt}.")?;
    }
    findings(out, "New findings", &pair.new)?;
    findings(out, "Resolved findings", &pair.resolved)?;
    hosts(out, pair)?;
    changes(out, &pair.changes)?;
    findings(out, "As before", &pair.persisting)
}

fn findings(out: &mut String, title: &str, list: &[Noted]) -> std::fmt::Result {
    if list.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n## {title}\n")?;
    list.iter().try_for_each(|one| {
        writeln!(out, "- **{}** `{}`: {} (filter `{}`)", one.severity.name(), one.code, one.title, one.filter)
    })
}

fn hosts(out: &mut String, pair: &Pair) -> std::fmt::Result {
    let hosts = &pair.course.hosts;
    if hosts.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n## Hosts\n")?;
    hosts.iter().try_for_each(|one| {
        let what = if one.trend == Trend::New { "fell silent" } else { "speaks again" };
        writeln!(
            out,
            "- {} {what}: {} packets from it before, {} now; {} to it before, {} now",
            one.host, one.sent.0, one.sent.1, one.received.0, one.received.1
        )
    })
}

fn changes(out: &mut String, changes: &[Change]) -> std::fmt::Result {
    writeln!(out, "\n## Changes\n")?;
    if changes.is_empty() {
        return writeln!(out, "Nothing that could be compared went wrong in either.");
    }
    writeln!(out, "| what | of | A | B | difference | trend | how much | sure |")?;
    writeln!(out, "|---|---|---|---|---|---|---|---|")?;
    let mut ranked: Vec<&Change> = changes.iter().collect();
    ranked.sort_by_key(|change| (change.trend, change.subject.is_some()));
    ranked.into_iter().take(ROWS).try_for_each(|change| {
        let unit = if change.metric.ends_with("_ms") { "ms" } else { "%" };
        let delta = change.delta_pct.map_or_else(|| "-".to_owned(), |delta| format!("{delta:+} %"));
        writeln!(
            out,
            "| {} | {} | {} {unit} of {} | {} {unit} of {} | {delta} | {} | {} | {} |",
            change.metric.trim_end_matches("_ms"),
            change.subject.as_deref().unwrap_or("all"),
            change.a,
            change.a_of,
            change.b,
            change.b_of,
            change.trend.name(),
            change.weight.name(),
            change.confidence.name(),
        )
    })
}
