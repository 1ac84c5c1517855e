//! The report on protocols above TCP and UDP.

use std::fmt::Write as _;

use super::number::several;
use crate::flow::Percentiles;
use crate::summary::Summary;

/// How many conversations are shown.
const MAX_CONVERSATIONS: usize = 8;

/// Writes the sections of those that were spoken.
pub(super) fn talk(out: &mut String, summary: &Summary) -> std::fmt::Result {
    tls(out, summary)?;
    http(out, summary)?;
    quic(out, summary)?;
    dhcp(out, summary)?;
    ntp(out, summary)?;
    udp(out, summary)
}

fn tls(out: &mut String, summary: &Summary) -> std::fmt::Result {
    let tls = &summary.tls;
    if tls.client_hellos + tls.server_hellos + tls.alerts == 0 {
        return Ok(());
    }
    writeln!(out, "\n## TLS\n")?;
    writeln!(
        out,
        "{} hellos, {} answered, {} handshakes finished, {} not answered, {} ended halfway, {} alerts{}.\n",
        tls.client_hellos,
        tls.server_hellos,
        tls.finished,
        tls.unanswered,
        tls.aborted,
        tls.alerts,
        listed("; ", &tls.versions)
    )?;
    writeln!(
        out,
        "| server | name | hellos | finished | unanswered / halfway | versions | answer p50/p99 | alerts |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|---|")?;
    tls.servers.iter().try_for_each(|server| {
        let alerts: Vec<String> = server
            .alerts
            .iter()
            .map(|alert| format!("{} by the {} {}", alert.description, alert.from, alert.count))
            .collect();
        writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} | {} |",
            server.server,
            server.name.as_ref().map_or_else(|| "-".to_owned(), |name| format!("`{name}`")),
            server.hellos,
            server.finished,
            format_args!("{} / {}", server.unanswered, server.aborted),
            listed("", &server.versions),
            latency_cell(server.hello_ms),
            alerts.join(", ")
        )
    })
}

fn http(out: &mut String, summary: &Summary) -> std::fmt::Result {
    let http = &summary.http;
    if http.servers.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n## HTTP\n")?;
    writeln!(
        out,
        "{} requests, {} answers, {} not answered{}.\n",
        http.requests,
        http.responses,
        http.unanswered,
        listed("; ", &http.classes)
    )?;
    writeln!(out, "| server | hosts | requests | answers | codes | answer p50/p99 |")?;
    writeln!(out, "|---|---|---|---|---|---|")?;
    http.servers.iter().try_for_each(|server| {
        let hosts: Vec<String> = server.hosts.iter().map(|host| format!("`{host}`")).collect();
        writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} |",
            server.server,
            hosts.join(" "),
            server.requests,
            server.responses,
            listed("", &server.codes),
            latency_cell(server.latency_ms)
        )
    })
}

fn quic(out: &mut String, summary: &Summary) -> std::fmt::Result {
    let quic = &summary.quic;
    if quic.connections == 0 {
        return Ok(());
    }
    writeln!(out, "\n## QUIC\n")?;
    writeln!(
        out,
        "{} connections, {} of them not answered; versions {}. Names are encrypted.",
        quic.connections,
        quic.unanswered,
        listed("", &quic.versions)
    )?;
    quic.servers.iter().try_for_each(|server| {
        writeln!(
            out,
            "- {}: {} connections, {} not answered",
            server.server, server.connections, server.unanswered
        )
    })
}

fn dhcp(out: &mut String, summary: &Summary) -> std::fmt::Result {
    let dhcp = &summary.dhcp;
    if dhcp.messages.is_empty() && dhcp.messages_v6.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n## DHCP\n")?;
    for (name, messages, unanswered) in
        [("DHCP", &dhcp.messages, dhcp.unanswered), ("DHCPv6", &dhcp.messages_v6, dhcp.unanswered_v6)]
    {
        if !messages.is_empty() {
            let list: Vec<String> = messages.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
            writeln!(out, "{name}: {}; {unanswered} searches not answered.", list.join(", "))?;
        }
    }
    dhcp.servers.iter().try_for_each(|server| {
        writeln!(
            out,
            "- {}: {} offers, {} addresses given, {} refused",
            server.server, server.offers, server.acks, server.naks
        )
    })
}

fn ntp(out: &mut String, summary: &Summary) -> std::fmt::Result {
    let ntp = &summary.ntp;
    if ntp.servers.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n## NTP\n")?;
    writeln!(out, "{} questions, {} answers, {} not answered.", ntp.requests, ntp.responses, ntp.unanswered)?;
    ntp.servers.iter().try_for_each(|server| {
        writeln!(
            out,
            "- {}: {} questions, {} answers, stratum {}, answers took {}",
            server.server,
            server.requests,
            server.responses,
            server.stratum.map_or_else(|| "unknown".to_owned(), |stratum| stratum.to_string()),
            latency_cell(server.latency_ms)
        )
    })
}

fn udp(out: &mut String, summary: &Summary) -> std::fmt::Result {
    let udp = &summary.udp;
    if udp.streams == 0 {
        return Ok(());
    }
    writeln!(out, "\n## Datagrams\n")?;
    writeln!(
        out,
        "{}, in {} of which one end spoke alone.",
        several(udp.streams, "UDP conversation"),
        udp.unidirectional
    )?;
    // Names have a section of their own.
    let named = |port: u16| matches!(port, 53 | 5353);
    let others = udp.flows.iter().filter(|flow| !named(flow.a.port()) && !named(flow.b.port()));
    let flows: Vec<_> = others.take(MAX_CONVERSATIONS).collect();
    if flows.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n| ends | packets | bytes | packets back | bytes back | seconds | first frame |")?;
    writeln!(out, "|---|---|---|---|---|---|---|")?;
    flows.iter().try_for_each(|flow| {
        writeln!(
            out,
            "| {} to {} | {} | {} | {} | {} | {:.3} | {} |",
            flow.a,
            flow.b,
            flow.packets,
            flow.bytes,
            flow.packets_back,
            flow.bytes_back,
            flow.duration_s,
            flow.first_frame
        )
    })
}

fn listed(before: &str, counts: &std::collections::BTreeMap<String, u64>) -> String {
    let parts: Vec<String> = counts.iter().map(|(name, count)| format!("{name} {count}")).collect();
    if parts.is_empty() { String::new() } else { format!("{before}{}", parts.join(", ")) }
}

fn latency_cell(figures: Option<Percentiles>) -> String {
    figures.map_or_else(|| "-".to_owned(), |figures| format!("{} / {} ms", figures.p50, figures.p99))
}

/// How many servers are described, and how many names.
const MAX_DNS_SERVERS: usize = 5;
const MAX_DNS_NAMES: usize = 10;

/// Writes the section, where there is something to tell.
pub(super) fn dns(out: &mut String, summary: &Summary) -> std::fmt::Result {
    let facts = &summary.dns;
    if facts.queries + facts.responses > 0 {
        writeln!(out, "\n## DNS\n")?;
        writeln!(
            out,
            "{} questions, {} answers, {} unanswered, {} asked again; answers took {}.",
            facts.queries,
            facts.responses,
            facts.unanswered,
            facts.retries,
            latency_words(facts.latency_ms)
        )?;
        let codes: Vec<String> = facts.rcodes.iter().map(|(code, count)| format!("{code} {count}")).collect();
        writeln!(out, "Codes: {}.", codes.join(", "))?;
        for server in facts.servers.iter().take(MAX_DNS_SERVERS) {
            writeln!(
                out,
                "- {}: {} questions, {} unanswered, {} asked again, {} answers of 200 ms or more; {}",
                server.server,
                server.queries,
                server.unanswered,
                server.retries,
                server.slow,
                latency_words(server.latency_ms)
            )?;
        }
        for entry in facts.suspicious.iter().take(MAX_DNS_NAMES) {
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

fn latency_words(figures: Option<Percentiles>) -> String {
    figures.map_or_else(
        || "unknown".to_owned(),
        |figures| format!("{} ms (p50), {} ms (p99)", figures.p50, figures.p99),
    )
}
