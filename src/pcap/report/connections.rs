//! Connections, for people.

use std::fmt::Write as _;

use crate::pcap::flow::Told;
use crate::pcap::summary::Summary;

/// Writes the section, where there are some.
pub(super) fn connections(out: &mut String, summary: &Summary) -> std::fmt::Result {
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
