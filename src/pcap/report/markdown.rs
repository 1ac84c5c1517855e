//! The account as Markdown, for a thread.

use std::fmt::Write as _;

use crate::pcap::flow::{Figures, Told};
use crate::pcap::summary::Summary;

/// Writes the account for people.
#[must_use]
pub fn markdown(summary: &Summary, name: &str) -> String {
    let mut out = String::new();
    // Writing into a string cannot fail.
    let _ = write(&mut out, summary, name);
    out
}

fn write(out: &mut String, summary: &Summary, name: &str) -> std::fmt::Result {
    let file = &summary.file;
    writeln!(out, "# {name}")?;
    writeln!(out)?;
    writeln!(
        out,
        "{} packets, {} bytes in {:.3} s ({}){}.",
        file.packets,
        file.bytes,
        file.duration_s,
        file.format,
        if file.cut_off { "; the file is cut off" } else { "" }
    )?;
    let counted: Vec<String> = summary
        .counts
        .iter()
        .filter(|(_, count)| **count > 0)
        .map(|(label, count)| format!("{label} {count}"))
        .collect();
    writeln!(out, "Frames: {}.", if counted.is_empty() { "none".to_owned() } else { counted.join(", ") })?;
    findings(out, summary)?;
    connections(out, summary)?;
    others(out, summary)?;
    for warning in &summary.warnings {
        writeln!(out, "\nWarning: {warning}.")?;
    }
    Ok(())
}

fn findings(out: &mut String, summary: &Summary) -> std::fmt::Result {
    writeln!(out, "\n## Findings\n")?;
    if summary.findings.is_empty() {
        return writeln!(out, "None.");
    }
    for finding in &summary.findings {
        let frames: Vec<String> = finding.evidence.frames.iter().map(ToString::to_string).collect();
        writeln!(
            out,
            "- **{}** `{}`: {} (frames {}; filter `{}`). {}",
            finding.severity.name(),
            finding.code,
            finding.title,
            frames.join(", "),
            finding.evidence.filter,
            finding.vantage
        )?;
    }
    Ok(())
}

fn connections(out: &mut String, summary: &Summary) -> std::fmt::Result {
    let tcp = &summary.tcp;
    if tcp.streams == 0 {
        return Ok(());
    }
    writeln!(out, "\n## Connections\n")?;
    writeln!(
        out,
        "{} connections, {} % of what was sent was sent again.\n",
        tcp.streams, tcp.retransmission_pct
    )?;
    writeln!(out, "| stream | ends | state | packets | bytes | again | rtt p50/p99 | trouble |")?;
    writeln!(out, "|---|---|---|---|---|---|---|---|")?;
    tcp.flows.iter().try_for_each(|flow| row(out, flow))
}

fn row(out: &mut String, flow: &Told) -> std::fmt::Result {
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

fn others(out: &mut String, summary: &Summary) -> std::fmt::Result {
    let dns = &summary.dns;
    if dns.queries + dns.responses > 0 {
        writeln!(out, "\n## DNS\n")?;
        writeln!(
            out,
            "{} questions, {} answers, {} unanswered, {} asked again; answers took {}.",
            dns.queries,
            dns.responses,
            dns.unanswered,
            dns.retries,
            figures(dns.latency_ms)
        )?;
        let codes: Vec<String> = dns.rcodes.iter().map(|(code, count)| format!("{code} {count}")).collect();
        writeln!(out, "Codes: {}.", codes.join(", "))?;
    }
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

fn figures(figures: Option<Figures>) -> String {
    figures.map_or_else(
        || "unknown".to_owned(),
        |figures| format!("{} ms (p50), {} ms (p99)", figures.p50, figures.p99),
    )
}
