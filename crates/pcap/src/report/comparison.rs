//! The report on a comparison: of both endpoints of a path, or of two times.

use std::fmt::Write as _;

use crate::compare::{
    CaptureFacts, ClockSource, ComparedFinding, Comparison, ConversationFacts, ConversationVerdict,
    MetricChange, PathFacts, TransitFacts, Trend,
};

/// Writes a comparison for people; the packets come first where both ends of a path are compared.
#[must_use]
pub fn comparison_markdown(pair: &Comparison, (a, b): (&str, &str), ends_first: bool) -> String {
    let mut out = String::new();
    // Writing into a string cannot fail.
    let _ = write(&mut out, pair, (a, b), ends_first);
    out
}

fn write(out: &mut String, pair: &Comparison, (a, b): (&str, &str), ends_first: bool) -> std::fmt::Result {
    let sentence = if ends_first { &pair.path.sentence } else { &pair.change_summary.sentence };
    writeln!(out, "# {a} and {b}\n\n**{sentence}.**\n")?;
    let (role_a, role_b) = if ends_first { ("source side", "destination side") } else { ("before", "now") };
    writeln!(
        out,
        "| | capture | packets | bytes | seconds | packets/s | from |\n|---|---|---|---|---|---|---|"
    )?;
    side(out, ("A", role_a), a, &pair.a)?;
    side(out, ("B", role_b), b, &pair.b)?;
    if ends_first {
        ends(out, pair)?;
        steps(out, &pair.path.next)?;
    } else {
        change_summary(out, pair)?;
        steps(out, &pair.change_summary.next)?;
    }
    if !pair.warnings.is_empty() {
        writeln!(out, "\n## Warnings\n")?;
    }
    pair.warnings.iter().try_for_each(|warning| writeln!(out, "- {warning}."))
}

fn side(out: &mut String, (letter, role): (&str, &str), name: &str, side: &CaptureFacts) -> std::fmt::Result {
    let file = &side.file;
    let cut = if file.cut_off { ", cut off" } else { "" };
    let rate = if file.duration_s > 0.0 {
        format!("{:.1}", file.packets as f64 / file.duration_s)
    } else {
        "-".to_owned()
    };
    let from = file.first.as_deref().unwrap_or("-");
    writeln!(
        out,
        "| {letter} ({role}{cut}) | {name} | {} | {} | {:.3} | {rate} | {from} |",
        file.packets, file.bytes, file.duration_s
    )
}

fn steps(out: &mut String, next: &[String]) -> std::fmt::Result {
    if !next.is_empty() {
        writeln!(out, "\n## Next\n")?;
    }
    (1..).zip(next).try_for_each(|(number, step)| writeln!(out, "{number}. {step}."))
}

/// How many directions the table of addresses shows.
const MAX_CONVERSATION_ROWS: usize = 20;

/// Writes what became of packets.
pub(super) fn ends(out: &mut String, pair: &Comparison) -> std::fmt::Result {
    let path = &pair.path;
    clock(out, path)?;
    for why in &path.because {
        writeln!(out, "\nLess sure: {why}.")?;
    }
    totals(out, path)?;
    flows(out, &path.flows)?;
    verdicts(out, path)?;
    directions(out, pair)
}

fn clock(out: &mut String, path: &PathFacts) -> std::fmt::Result {
    let (clock, window) = (&path.clock, &path.window);
    write!(out, "\nB's clock says {:.3} ms more than A's", clock.offset_ms)?;
    match (clock.from, clock.uncertain_ms) {
        (ClockSource::BothDirections, Some(off)) => {
            write!(out, " (± {off:.3} ms, from {} packets of both directions)", clock.packets)?
        }
        (ClockSource::BothDirections | ClockSource::OneDirection, _) => {
            write!(out, " (from one direction: delays are given above the least)")?;
        }
        (ClockSource::Assumed, _) => write!(out, " (assumed: no packet was seen at both places)")?,
    }
    if clock.drift_ppm != 0.0 {
        write!(out, ", and {:+.1} ± {:.1} ppm every second", clock.drift_ppm, clock.drift_uncertain_ppm)?;
    }
    let side = |seconds: f64, one: &str, other: &str| {
        format!("{:.3} s {}", seconds.abs(), if seconds < 0.0 { other } else { one })
    };
    writeln!(
        out,
        ". Both captured for {:.3} s: B begins {} and ends {}. Only that time is judged.",
        window.common_s,
        side(window.b_begins_later_s, "later", "earlier"),
        side(window.b_ends_earlier_s, "earlier", "later")
    )
}

fn totals(out: &mut String, path: &PathFacts) -> std::fmt::Result {
    writeln!(
        out,
        "\n| path | sent | arrived | lost | outside | unseen before | twice | late | altered | delay p50 / p99 | waited p90 |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|---|---|---|---|")?;
    for (name, transit) in [("A to B", &path.to_b), ("B to A", &path.to_a)] {
        let delay = transit
            .delay_ms
            .map_or_else(|| "-".to_owned(), |delay| format!("{} / {} ms", delay.p50, delay.p99));
        let waited =
            transit.queueing_ms.map_or_else(|| "-".to_owned(), |waited| format!("{} ms", waited.p90));
        writeln!(
            out,
            "| {name} | {} | {} | {} ({} %) | {} | {} | {} | {} | {} | {delay} | {waited} |",
            transit.sent,
            transit.arrived,
            transit.lost,
            transit.lost_pct,
            transit.outside,
            transit.unseen,
            transit.duplicated,
            transit.reordered,
            altered(transit)
        )?;
    }
    Ok(())
}

fn altered(transit: &TransitFacts) -> String {
    let mut parts: Vec<String> =
        transit.altered.iter().map(|(field, count)| format!("{field} {count}")).collect();
    if transit.resegmented > 0 {
        parts.push(format!("other segments {}", transit.resegmented));
    }
    if parts.is_empty() { "-".to_owned() } else { parts.join(", ") }
}

fn flows(out: &mut String, flows: &[ConversationFacts]) -> std::fmt::Result {
    if flows.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n## Path health\n")?;
    writeln!(out, "| conversation | verdict | there | back | delay p50 | what | sure |")?;
    writeln!(out, "|---|---|---|---|---|---|---|")?;
    flows.iter().try_for_each(|flow| {
        let part = |transit: &TransitFacts| format!("{} of {}", transit.arrived, transit.sent);
        let delay = flow.there.delay_ms.map_or_else(|| "-".to_owned(), |delay| format!("{} ms", delay.p50));
        let translated = flow.translated.map_or_else(String::new, |(client, server)| {
            format!(" (at the other place {client} to {server})")
        });
        writeln!(
            out,
            "| {} {} to {}{translated} | {} | {} | {} | {delay} | {} | {} |",
            flow.protocol,
            flow.client,
            flow.server,
            flow.verdict.name(),
            part(&flow.there),
            part(&flow.back),
            flow.words,
            flow.confidence.name()
        )
    })
}

fn verdicts(out: &mut String, path: &PathFacts) -> std::fmt::Result {
    let counted: Vec<String> = path
        .verdicts
        .iter()
        .map(|(verdict, count): (&ConversationVerdict, &u64)| format!("{} {count}", verdict.name()))
        .collect();
    if counted.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nConversations: {}.", counted.join(", "))
}

fn directions(out: &mut String, pair: &Comparison) -> std::fmt::Result {
    let all = pair.packets;
    writeln!(out, "\n## Packets\n")?;
    writeln!(
        out,
        "{} in both, {} in A alone, {} in B alone, whenever they were captured.\n",
        all.both, all.only_a, all.only_b
    )?;
    writeln!(out, "| from | to | A | B | both | A alone | B alone |")?;
    writeln!(out, "|---|---|---|---|---|---|---|")?;
    pair.directions.iter().take(MAX_CONVERSATION_ROWS).try_for_each(|direction| {
        let packets = direction.packets;
        writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} |",
            direction.src, direction.dst, packets.a, packets.b, packets.both, packets.only_a, packets.only_b
        )
    })
}

/// How many services and hosts a table shows.
const MAX_ROWS: usize = 30;

/// Writes what changed.
pub(super) fn change_summary(out: &mut String, pair: &Comparison) -> std::fmt::Result {
    for doubt in &pair.change_summary.doubts {
        writeln!(out, "\nHard to compare: {doubt}.")?;
    }
    findings(out, "New findings", &pair.new)?;
    findings(out, "Resolved findings", &pair.resolved)?;
    hosts(out, pair)?;
    changes(out, &pair.changes)?;
    findings(out, "As before", &pair.persisting)
}

fn findings(out: &mut String, title: &str, list: &[ComparedFinding]) -> std::fmt::Result {
    if list.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n## {title}\n")?;
    list.iter().try_for_each(|one| {
        writeln!(out, "- **{}** `{}`: {} (filter `{}`)", one.severity.name(), one.code, one.title, one.filter)
    })
}

fn hosts(out: &mut String, pair: &Comparison) -> std::fmt::Result {
    let hosts = &pair.change_summary.hosts;
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

fn changes(out: &mut String, changes: &[MetricChange]) -> std::fmt::Result {
    writeln!(out, "\n## Changes\n")?;
    if changes.is_empty() {
        return writeln!(out, "Nothing that could be compared went wrong in either.");
    }
    writeln!(out, "| what | of | A | B | difference | trend | how much | sure |")?;
    writeln!(out, "|---|---|---|---|---|---|---|---|")?;
    let mut ranked: Vec<&MetricChange> = changes.iter().collect();
    ranked.sort_by_key(|change| (change.trend, change.subject.is_some()));
    ranked.into_iter().take(MAX_ROWS).try_for_each(|change| {
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
