//! Addresses on the link, for people.

use std::fmt::Write as _;

use crate::summary::{ArpFacts, Summary};

/// Writes the sections, where there is something to tell.
pub(super) fn link(out: &mut String, summary: &Summary) -> std::fmt::Result {
    if summary.arp.requests + summary.arp.replies > 0 {
        section(out, "ARP", &summary.arp)?;
    }
    summary.ndp.as_ref().map_or(Ok(()), |ndp| section(out, "Neighbor discovery", ndp))
}

fn section(out: &mut String, name: &str, facts: &ArpFacts) -> std::fmt::Result {
    writeln!(out, "\n## {name}\n")?;
    writeln!(
        out,
        "{} requests, {} replies, {} unanswered, {} late, {} not asked for, {} announcements, {} probes.",
        facts.requests,
        facts.replies,
        facts.unanswered,
        facts.late,
        facts.unasked,
        facts.gratuitous,
        facts.probes
    )?;
    for conflict in &facts.conflicts {
        writeln!(out, "- {} is claimed by {}", conflict.ip, conflict.macs.join(" and "))?;
    }
    Ok(())
}
