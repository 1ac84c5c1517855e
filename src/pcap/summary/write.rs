//! From what was remembered to the account of it.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use time::OffsetDateTime;
use time::macros::format_description;

use super::kind::{
    ArpFacts, ConflictFacts, DnsFacts, FileFacts, IcmpFacts, ServerFacts, Summary, TcpFacts, UnreachableFacts,
};
use crate::pcap::analyze::Pass;
use crate::pcap::findings;
use crate::pcap::flow::{Figures, percent};
use crate::pcap::icmp::{Complaint, Heard};
use crate::pcap::label::Label;
use crate::pcap::read::Ending;
use crate::pcap::{arp, dns};

const VERSION: u32 = 1;
/// How many entries a list has unless everything is asked for.
const ENTRIES: usize = 20;

/// Writes the account.
pub(in crate::pcap) fn write(mut pass: Pass, ending: &Ending, evicted: u64, given_up: u64) -> Summary {
    let unanswered = pass.dns.finish();
    let findings = findings::find(&pass);
    let most = if pass.scope.full { usize::MAX } else { ENTRIES };
    let mut warnings = ending.warnings.clone();
    warn(&mut warnings, &pass, ending, (evicted, given_up));
    Summary {
        version: VERSION,
        file: file(&pass, ending),
        counts: Label::all().iter().map(|label| (label.name(), pass.counts.of(*label))).collect(),
        frames: pass
            .scope
            .frames
            .map(|label| BTreeMap::from([(label.name(), std::mem::take(&mut pass.listed))])),
        tcp: TcpFacts {
            streams: pass.flows.streams,
            states: std::mem::take(&mut pass.flows.states),
            retransmission_pct: percent(pass.flows.again, pass.flows.carrying),
            handshake_ms: Figures::of(&pass.flows.trips),
            evicted,
            flows: pass.flows.told(),
        },
        dns: names(&pass.dns, unanswered, most),
        icmp: IcmpFacts {
            types: types(&pass.icmp.types),
            types_v6: types(&pass.icmp.types_v6),
            unreachable: unreachable(&pass.icmp.complaints, most),
        },
        arp: addresses(&pass.arp, most),
        findings,
        warnings,
    }
}

fn file(pass: &Pass, ending: &Ending) -> FileFacts {
    let counts = &pass.counts;
    let some = counts.packets > 0;
    FileFacts {
        format: ending.format.name(),
        linktypes: ending.links.clone(),
        packets: counts.packets,
        bytes: counts.bytes,
        first: some.then(|| moment(counts.first)),
        last: some.then(|| moment(counts.last)),
        duration_s: if some { counts.last.saturating_sub(counts.first) as f64 / 1e9 } else { 0.0 },
        truncated_packets: counts.snapped,
        sha256: None,
        cut_off: ending.cut_off,
        dropped: ending.dropped,
    }
}

/// Returns a time as RFC 3339 with nine digits.
fn moment(nanos: u64) -> String {
    let form = format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:9]Z");
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(nanos))
        .ok()
        .and_then(|moment| moment.format(form).ok())
        .unwrap_or_else(|| format!("{nanos} ns since 1970"))
}

fn warn(warnings: &mut Vec<String>, pass: &Pass, ending: &Ending, (evicted, given_up): (u64, u64)) {
    let counts = &pass.counts;
    if ending.cut_off && ending.warnings.is_empty() {
        warnings.push("the file ends within a record; everything before was read".to_owned());
    }
    if ending.dropped > 0 {
        warnings.push(format!("the capturing side dropped {} packets: gaps may be its own", ending.dropped));
    }
    for (link, frames) in counts.unknown.iter().take(5) {
        warnings.push(format!("link type {link} is not looked into: {frames} frames were only counted"));
    }
    if counts.snapped > 0 {
        warnings.push(format!("{} packets were captured in part", counts.snapped));
    }
    if counts.back > 0 {
        warnings.push(format!("the time goes back {} times: rates and delays may be wrong", counts.back));
    }
    if evicted > 0 {
        warnings.push(format!(
            "{evicted} connections were told of early for want of room; those that went on count as new ones"
        ));
    }
    if given_up > 0 {
        warnings.push(format!("{given_up} fragmented packets were given up for want of room"));
    }
}

fn names(tally: &dns::Tally, unanswered: u64, most: usize) -> DnsFacts {
    let mut servers: Vec<ServerFacts> = tally
        .servers
        .iter()
        .map(|(server, known)| ServerFacts {
            server: *server,
            queries: known.queries,
            unanswered: known.unanswered,
            latency_ms: Figures::of(&known.latency),
        })
        .collect();
    servers.sort_by_key(|server| std::cmp::Reverse(server.queries));
    servers.truncate(most);
    DnsFacts {
        queries: tally.queries,
        responses: tally.responses,
        unanswered,
        retries: tally.retries,
        truncated: tally.truncated,
        rcodes: tally.rcodes.clone(),
        latency_ms: Figures::of(&tally.latency),
        servers,
        suspicious: Vec::new(),
    }
}

fn types(types: &BTreeMap<(u8, u8), u64>) -> BTreeMap<String, u64> {
    types.iter().map(|((kind, code), count)| (format!("{kind}/{code}"), *count)).collect()
}

fn unreachable(complaints: &BTreeMap<Complaint, Heard>, most: usize) -> Vec<UnreachableFacts> {
    let mut found: Vec<UnreachableFacts> = complaints
        .iter()
        .filter(|(complaint, _)| complaint.unreachable())
        .map(|(complaint, heard)| UnreachableFacts {
            kind: complaint.kind,
            code: complaint.code,
            from: complaint.from,
            about: about(complaint.about, complaint.port),
            count: heard.count,
            first_frame: heard.frames.first().copied().unwrap_or(0),
            mtu: (heard.mtu > 0).then_some(heard.mtu),
        })
        .collect();
    found.sort_by_key(|entry| std::cmp::Reverse(entry.count));
    found.truncate(most);
    found
}

fn about(address: IpAddr, port: Option<u16>) -> String {
    port.map_or_else(|| address.to_string(), |port| SocketAddr::new(address, port).to_string())
}

fn addresses(tally: &arp::Tally, most: usize) -> ArpFacts {
    let conflict = |(ip, address): (_, &arp::Address)| ConflictFacts {
        ip,
        macs: address.claims.iter().map(|claim| mac(claim.mac)).collect(),
        frames: address.claims.iter().map(|claim| claim.frame).collect(),
        flips: address.flips,
    };
    ArpFacts {
        requests: tally.requests,
        replies: tally.replies,
        unanswered: tally.unanswered(),
        gratuitous: tally.gratuitous,
        probes: tally.probes,
        conflicts: tally.conflicts().into_iter().take(most).map(conflict).collect(),
    }
}

/// Returns a hardware address as it is usually written.
pub(in crate::pcap) fn mac(bytes: [u8; 6]) -> String {
    bytes.map(|byte| format!("{byte:02x}")).join(":")
}
