//! Addresses on the link, for people.

use std::fmt::Write as _;

use crate::pcap::summary::Summary;

/// Writes the section, where there is something to tell.
pub(super) fn link(out: &mut String, summary: &Summary) -> std::fmt::Result {
    let arp = &summary.arp;
    if arp.requests + arp.replies > 0 {
        writeln!(out, "\n## ARP\n")?;
        writeln!(
            out,
            "{} requests, {} replies, {} unanswered, {} announcements.",
            arp.requests, arp.replies, arp.unanswered, arp.gratuitous
        )?;
        for conflict in &arp.conflicts {
            writeln!(out, "- {} is claimed by {}", conflict.ip, conflict.macs.join(" and "))?;
        }
    }
    Ok(())
}
