//! The report on DNS.

use std::fmt::Write as _;

use crate::flow::Percentiles;
use crate::summary::Summary;

/// How many servers are described, and how many names.
const MAX_SERVERS: usize = 5;
const MAX_NAMES: usize = 10;

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
        for server in dns.servers.iter().take(MAX_SERVERS) {
            writeln!(
                out,
                "- {}: {} questions, {} unanswered, {} asked again, {} answers of 200 ms or more; {}",
                server.server,
                server.queries,
                server.unanswered,
                server.retries,
                server.slow,
                figures(server.latency_ms)
            )?;
        }
        for entry in dns.suspicious.iter().take(MAX_NAMES) {
            let parts: Vec<String> =
                entry.parts.iter().map(|(part, value)| format!("{part} {value}")).collect();
            writeln!(
                out,
                "- `{}` resembles the work of a program ({}): {}; first in frame {}",
                entry.name,
                entry.kind,
                parts.join(", "),
                entry.first_frame
            )?;
        }
    }
    Ok(())
}

fn figures(figures: Option<Percentiles>) -> String {
    figures.map_or_else(
        || "unknown".to_owned(),
        |figures| format!("{} ms (p50), {} ms (p99)", figures.p50, figures.p99),
    )
}
