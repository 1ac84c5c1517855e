//! What became of packets between two places, for people.

use std::fmt::Write as _;

use crate::compare::{FlowFacts, How, Pair, Path, TripFacts, Verdict};

/// How many directions the table of addresses shows.
const ROWS: usize = 20;

/// Writes what became of packets.
pub(super) fn ends(out: &mut String, pair: &Pair) -> std::fmt::Result {
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

fn clock(out: &mut String, path: &Path) -> std::fmt::Result {
    let (clock, window) = (&path.clock, &path.window);
    write!(out, "\nB's clock says {:.3} ms more than A's", clock.offset_ms)?;
    match (clock.from, clock.uncertain_ms) {
        (How::BothDirections, Some(off)) => {
            write!(out, " (± {off:.3} ms, from {} packets of both directions)", clock.packets)?
        }
        (How::BothDirections | How::OneDirection, _) => {
            write!(out, " (from one direction: delays are told above the least)")?;
        }
        (How::Assumed, _) => write!(out, " (assumed: no packet was seen at both places)")?,
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

fn totals(out: &mut String, path: &Path) -> std::fmt::Result {
    writeln!(
        out,
        "\n| way | sent | arrived | lost | outside | unseen before | twice | late | altered | delay p50 / p99 | waited p90 |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|---|---|---|---|")?;
    for (name, trip) in [("A to B", &path.to_b), ("B to A", &path.to_a)] {
        let delay =
            trip.delay_ms.map_or_else(|| "-".to_owned(), |delay| format!("{} / {} ms", delay.p50, delay.p99));
        let waited = trip.queueing_ms.map_or_else(|| "-".to_owned(), |waited| format!("{} ms", waited.p90));
        writeln!(
            out,
            "| {name} | {} | {} | {} ({} %) | {} | {} | {} | {} | {} | {delay} | {waited} |",
            trip.sent,
            trip.arrived,
            trip.lost,
            trip.lost_pct,
            trip.outside,
            trip.unseen,
            trip.duplicated,
            trip.reordered,
            altered(trip)
        )?;
    }
    Ok(())
}

fn altered(trip: &TripFacts) -> String {
    let mut parts: Vec<String> =
        trip.altered.iter().map(|(field, count)| format!("{field} {count}")).collect();
    if trip.in_pieces > 0 {
        parts.push(format!("other pieces {}", trip.in_pieces));
    }
    if parts.is_empty() { "-".to_owned() } else { parts.join(", ") }
}

fn flows(out: &mut String, flows: &[FlowFacts]) -> std::fmt::Result {
    if flows.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n## Path health\n")?;
    writeln!(out, "| conversation | verdict | there | back | delay p50 | what | sure |")?;
    writeln!(out, "|---|---|---|---|---|---|---|")?;
    flows.iter().try_for_each(|flow| {
        let part = |trip: &TripFacts| format!("{} of {}", trip.arrived, trip.sent);
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

fn verdicts(out: &mut String, path: &Path) -> std::fmt::Result {
    let counted: Vec<String> = path
        .verdicts
        .iter()
        .map(|(verdict, count): (&Verdict, &u64)| format!("{} {count}", verdict.name()))
        .collect();
    if counted.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nConversations: {}.", counted.join(", "))
}

fn directions(out: &mut String, pair: &Pair) -> std::fmt::Result {
    let all = pair.packets;
    writeln!(out, "\n## Packets\n")?;
    writeln!(
        out,
        "{} in both, {} in A alone, {} in B alone, whenever they were captured.\n",
        all.both, all.only_a, all.only_b
    )?;
    writeln!(out, "| from | to | A | B | both | A alone | B alone |")?;
    writeln!(out, "|---|---|---|---|---|---|---|")?;
    pair.directions.iter().take(ROWS).try_for_each(|way| {
        let packets = way.packets;
        writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} |",
            way.src, way.dst, packets.a, packets.b, packets.both, packets.only_a, packets.only_b
        )
    })
}
