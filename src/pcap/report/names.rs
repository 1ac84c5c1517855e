//! Names, for people.

use std::fmt::Write as _;

use crate::pcap::flow::Figures;
use crate::pcap::summary::Summary;

/// Writes the section, where there is something to tell.
pub(super) fn names(out: &mut String, summary: &Summary) -> std::fmt::Result {
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
    Ok(())
}

fn figures(figures: Option<Figures>) -> String {
    figures.map_or_else(
        || "unknown".to_owned(),
        |figures| format!("{} ms (p50), {} ms (p99)", figures.p50, figures.p99),
    )
}
