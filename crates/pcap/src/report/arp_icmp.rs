//! The report on ICMP errors, paths and pings, and on addresses of the link.

use std::fmt::Write as _;

use crate::summary::{ArpFacts, Summary};

/// Writes the section, where there is something to tell.
pub(super) fn path(out: &mut String, summary: &Summary) -> std::fmt::Result {
    if !summary.icmp.unreachable.is_empty() {
        writeln!(out, "\n## Unreachable\n")?;
        for entry in &summary.icmp.unreachable {
            writeln!(
                out,
                "- {} says {} ({}/{}) about {}: {} times, first in frame {}",
                entry.from,
                entry.meaning,
                entry.kind,
                entry.code,
                entry.about,
                entry.count,
                entry.first_frame
            )?;
        }
    }
    paths(out, summary)?;
    pings(out, summary)
}

fn paths(out: &mut String, summary: &Summary) -> std::fmt::Result {
    let icmp = &summary.icmp;
    if icmp.path_mtu.is_empty() && icmp.redirects.is_empty() && icmp.traces.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n## Paths\n")?;
    for entry in &icmp.path_mtu {
        writeln!(
            out,
            "- {} takes {} bytes at most from {} to {}: {} times, {} ignored, first in frame {}",
            entry.from,
            entry.mtu,
            entry.source,
            entry.destination,
            entry.count,
            entry.ignored,
            entry.first_frame
        )?;
    }
    for entry in &icmp.redirects {
        let other = entry.gateway.map_or_else(|| "another router".to_owned(), |other| other.to_string());
        writeln!(
            out,
            "- {} sends what goes to {} by {other}: {} times, first in frame {}",
            entry.from, entry.destination, entry.count, entry.first_frame
        )?;
    }
    for entry in &icmp.traces {
        let routers: Vec<String> = entry.routers.iter().map(ToString::to_string).collect();
        let what = if entry.wanted { "was traced" } else { "ran out of hops" };
        writeln!(
            out,
            "- the path from {} to {} {what}, {} errors, at {}",
            entry.source,
            entry.destination,
            entry.count,
            routers.join(", ")
        )?;
    }
    Ok(())
}

fn pings(out: &mut String, summary: &Summary) -> std::fmt::Result {
    if summary.icmp.echo.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n## Pings\n")?;
    for entry in &summary.icmp.echo {
        let took = entry.rtt_ms.map_or_else(
            || "none measured".to_owned(),
            |rtt| format!("{} ms (p50), {} ms (p99)", rtt.p50, rtt.p99),
        );
        writeln!(
            out,
            "- {}: {} of {} answered, {} lost, {} late; {took}",
            entry.target, entry.replies, entry.requests, entry.unanswered, entry.late
        )?;
    }
    Ok(())
}

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
