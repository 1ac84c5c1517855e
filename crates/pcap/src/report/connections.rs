//! The report on TCP streams.

use std::fmt::Write as _;

use super::number::several;
use crate::flow::{DirectionFacts, TcpStreamFacts};
use crate::summary::Summary;

/// How many connections are described in words.
const MAX_ANNOTATED: usize = 10;

/// Writes the section, where there are some.
pub(super) fn connections(out: &mut String, summary: &Summary) -> std::fmt::Result {
    let tcp = &summary.tcp;
    if tcp.streams == 0 {
        return Ok(());
    }
    writeln!(out, "\n## Connections\n")?;
    writeln!(
        out,
        "{}, {} % of what was sent was sent again.{}\n",
        several(tcp.streams, "connection"),
        tcp.retransmission_pct,
        seen(summary)
    )?;
    writeln!(out, "| stream | ends | state | packets | bytes | again | rtt p50/p99 | trouble |")?;
    writeln!(out, "|---|---|---|---|---|---|---|---|")?;
    tcp.flows.iter().try_for_each(|flow| row(out, flow))?;
    let noted: Vec<(u64, String)> = tcp
        .flows
        .iter()
        .map(|flow| (flow.stream, notes(flow)))
        .filter(|(_, notes)| !notes.is_empty())
        .collect();
    if !noted.is_empty() {
        writeln!(out)?;
    }
    noted
        .iter()
        .take(MAX_ANNOTATED)
        .try_for_each(|(stream, notes)| writeln!(out, "- Stream {stream}: {notes}."))
}

/// Says where segments were lost, as far as this point shows.
fn seen(summary: &Summary) -> String {
    let vantage = &summary.tcp.vantage;
    let mut parts = Vec::new();
    for (count, what) in [
        (vantage.lost_before, "were lost before this point"),
        (vantage.lost_after, "passed here and were sent again"),
        (vantage.needless, "were sent again though the receiver had them"),
        (vantage.not_captured, "parts of streams were missed by the capture alone"),
    ] {
        if count > 0 {
            parts.push(format!("{count} {what}"));
        }
    }
    if parts.is_empty() { String::new() } else { format!(" Of all segments {}.", parts.join(", ")) }
}

fn row(out: &mut String, flow: &TcpStreamFacts) -> std::fmt::Result {
    let rtt = flow.rtt_ms.map_or_else(|| "-".to_owned(), |rtt| format!("{} / {} ms", rtt.p50, rtt.p99));
    let trouble: Vec<String> =
        flow.trouble.iter().map(|trouble| format!("{} {}", trouble.kind, trouble.count)).collect();
    writeln!(
        out,
        "| {} | {} to {} | {} | {} | {} | {} % | {rtt} | {} |",
        flow.stream,
        flow.a,
        flow.b,
        flow.state.name(),
        flow.packets,
        flow.bytes,
        flow.retransmission_pct,
        trouble.join(", ")
    )
}

/// Says what stands out in a connection beyond the table.
fn notes(flow: &TcpStreamFacts) -> String {
    let mut all = Vec::new();
    for (who, direction) in [(flow.a, &flow.a_to_b), (flow.b, &flow.b_to_a)] {
        let mut notes = Vec::new();
        of(direction, &mut notes);
        all.extend(notes.into_iter().map(|note| format!("{who} {note}")));
    }
    if let Some(reset) = flow.reset.as_ref().filter(|reset| reset.origin != "endpoint") {
        all.push(format!("the reset in frame {} names {}: {}", reset.frame, reset.by, reset.origin));
    }
    all.join("; ")
}

fn of(direction: &DirectionFacts, notes: &mut Vec<String>) {
    if let Some(black_hole) = direction.black_hole {
        notes.push(format!("sent {} bytes again {} times in vain", black_hole.size, black_hole.times));
    } else if let Some(repeated) = &direction.repeated {
        let gaps: Vec<String> = repeated.gaps_ms.iter().map(|gap| format!("{gap:.0}")).collect();
        notes.push(format!("repeated one segment {} times, after {} ms", repeated.times, gaps.join(", ")));
    }
    if let Some(zero_window) = direction.zero_window {
        notes.push(format!(
            "took nothing for {:.0} ms ({} times, {} probes)",
            zero_window.total_ms, zero_window.periods, zero_window.probes
        ));
    }
    if direction.unanswered > 1 {
        notes.push(format!("got no answer to its last {} repetitions and probes", direction.unanswered));
    }
    if let Some(shares) = direction.limits.filter(|shares| shares.window_pct.max(shares.loss_pct) >= 20.0) {
        notes.push(format!(
            "waited {} % of {:.1} s for the other end's window and {} % for what was lost",
            shares.window_pct, shares.seconds, shares.loss_pct
        ));
    }
}
