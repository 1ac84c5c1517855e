//! Complaints of routers and hosts, for people.

use std::fmt::Write as _;

use crate::pcap::summary::Summary;

/// Writes the section, where there is something to tell.
pub(super) fn path(out: &mut String, summary: &Summary) -> std::fmt::Result {
    if !summary.icmp.unreachable.is_empty() {
        writeln!(out, "\n## Unreachable\n")?;
        for entry in &summary.icmp.unreachable {
            writeln!(
                out,
                "- {} says {}/{} about {}: {} times, first in frame {}",
                entry.from, entry.kind, entry.code, entry.about, entry.count, entry.first_frame
            )?;
        }
    }
    Ok(())
}
