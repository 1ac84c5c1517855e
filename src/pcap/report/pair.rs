//! A comparison as Markdown.

use std::fmt::Write as _;

use crate::pcap::compare::Pair;

/// Writes a comparison for people; the packets come first where both ends of a way are compared.
#[must_use]
pub fn markdown_of_pair(pair: &Pair, (a, b): (&str, &str), ends_first: bool) -> String {
    let mut out = String::new();
    // Writing into a string cannot fail.
    let _ = write(&mut out, pair, (a, b), ends_first);
    out
}

fn write(out: &mut String, pair: &Pair, (a, b): (&str, &str), ends_first: bool) -> std::fmt::Result {
    writeln!(out, "# {a} and {b}\n")?;
    writeln!(out, "{} and {} packets.", pair.a.file.packets, pair.b.file.packets)?;
    if ends_first {
        packets(out, pair)?;
        changes(out, pair)?;
    } else {
        changes(out, pair)?;
        packets(out, pair)?;
    }
    for warning in &pair.warnings {
        writeln!(out, "\nWarning: {warning}.")?;
    }
    Ok(())
}

fn packets(out: &mut String, pair: &Pair) -> std::fmt::Result {
    let all = pair.packets;
    writeln!(out, "\n## Packets\n")?;
    writeln!(
        out,
        "{} in both, {} in the first alone, {} in the second alone.\n",
        all.both, all.only_a, all.only_b
    )?;
    writeln!(out, "| from | to | first | second | both | first alone | second alone |")?;
    writeln!(out, "|---|---|---|---|---|---|---|")?;
    pair.directions.iter().try_for_each(|way| {
        let packets = way.packets;
        writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} |",
            way.src, way.dst, packets.a, packets.b, packets.both, packets.only_a, packets.only_b
        )
    })
}

fn changes(out: &mut String, pair: &Pair) -> std::fmt::Result {
    writeln!(out, "\n## Changes\n")?;
    if pair.changes.is_empty() {
        writeln!(out, "Nothing went wrong in either.")?;
    }
    for change in &pair.changes {
        writeln!(
            out,
            "- {}: {} % before, {} % now: {}",
            change.metric,
            change.a,
            change.b,
            change.trend.name()
        )?;
    }
    for (what, codes) in [("New", &pair.new), ("Resolved", &pair.resolved)] {
        if !codes.is_empty() {
            writeln!(out, "- {what}: {}", codes.join(", "))?;
        }
    }
    Ok(())
}
