//! From what was remembered to the account of it.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use time::OffsetDateTime;
use time::macros::format_description;

use super::kind::{
    ArpFacts, ConflictFacts, DnsFacts, FileFacts, IcmpFacts, ServerFacts, Summary, TcpFacts, UnreachableFacts,
};
use crate::pcap::analyze::Pass;
use crate::pcap::findings;
use crate::pcap::flow::{Figures, State, percent};
use crate::pcap::focus::Focus;
use crate::pcap::icmp::{Complaint, Heard};
use crate::pcap::label::Label;
use crate::pcap::read::Ending;
use crate::pcap::{arp, dns};

const VERSION: u32 = 1;
/// How many entries a list has unless everything is asked for.
const ENTRIES: usize = 20;
/// So many connections at least say something about where the capture was taken.
const FEW_STREAMS: u64 = 3;
/// How many bytes the account has at most unless everything is asked for, frames that were asked for not counted.
const LONGEST: usize = 23_500;
/// So many entries stay in a list even where that makes it longer.
const FEWEST: usize = 4;

/// Writes the account.
pub(in crate::pcap) fn write(mut pass: Pass, ending: &Ending, evicted: u64, given_up: u64) -> Summary {
    let unanswered = pass.dns.finish(pass.counts.last);
    let findings = findings::find(&pass);
    let most = if pass.scope.full { usize::MAX } else { ENTRIES };
    let mut warnings = ending.warnings.clone();
    warn(&mut warnings, &pass, ending, (evicted, given_up));
    let (full, focus) = (pass.scope.full, pass.scope.focus);
    let listed =
        pass.scope.frames.map(|label| BTreeMap::from([(label.name(), std::mem::take(&mut pass.listed))]));
    let mut summary = Summary {
        version: VERSION,
        file: file(&pass, ending),
        counts: Label::all().iter().map(|label| (label.name(), pass.counts.of(*label))).collect(),
        frames: None,
        tcp: TcpFacts {
            streams: pass.flows.streams,
            states: std::mem::take(&mut pass.flows.states),
            retransmission_pct: percent(pass.flows.again, pass.flows.carrying),
            handshake_ms: Figures::of(&pass.flows.trips),
            evicted,
            flows: pass.flows.told(),
        },
        dns: names(&pass.dns, unanswered, (most, focus)),
        icmp: IcmpFacts {
            types: types(&pass.icmp.types),
            types_v6: types(&pass.icmp.types_v6),
            unreachable: unreachable(&pass.icmp.complaints, (most, focus)),
        },
        arp: addresses(&pass.arp, (most, focus)),
        findings,
        warnings,
    };
    if !full {
        fit(&mut summary);
    }
    summary.frames = listed;
    summary
}

/// Shortens the account to what a thread or a model takes in: the end of the longest lists goes first.
fn fit(summary: &mut Summary) {
    let mut left_out = 0;
    while serde_json::to_string(summary).is_ok_and(|text| text.len() > LONGEST) {
        if !shorten(summary) {
            break;
        }
        left_out += 1;
    }
    if left_out > 0 {
        summary
            .warnings
            .push(format!("{left_out} entries of lists were left out to keep this short; --full has them"));
    }
}

/// Takes the last entry of the first list that can spare one.
fn shorten(summary: &mut Summary) -> bool {
    let spare = |length: usize| length > FEWEST;
    if spare(summary.tcp.flows.len()) {
        summary.tcp.flows.pop().is_some()
    } else if spare(summary.icmp.unreachable.len()) {
        summary.icmp.unreachable.pop().is_some()
    } else if spare(summary.arp.conflicts.len()) {
        summary.arp.conflicts.pop().is_some()
    } else if spare(summary.dns.servers.len()) {
        summary.dns.servers.pop().is_some()
    } else {
        spare(summary.findings.len()) && summary.findings.pop().is_some()
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
    let one_way = pass.flows.states.get(&State::OneWay).copied().unwrap_or(0);
    if one_way >= FEW_STREAMS && one_way * 5 >= pass.flows.streams * 4 {
        warnings.push(format!(
            "{one_way} of {} connections show one direction alone: losses and answers cannot be judged here",
            pass.flows.streams
        ));
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

/// How many entries a list has, and what they are about.
type Choice = (usize, Option<Focus>);

fn names(tally: &dns::Tally, unanswered: u64, (most, focus): Choice) -> DnsFacts {
    let mut servers: Vec<ServerFacts> = tally
        .servers
        .iter()
        .filter(|(server, _)| focus.is_none_or(|focus| focus.is(**server)))
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

fn unreachable(complaints: &BTreeMap<Complaint, Heard>, (most, focus): Choice) -> Vec<UnreachableFacts> {
    let mut found: Vec<UnreachableFacts> = complaints
        .iter()
        .filter(|(complaint, _)| complaint.unreachable())
        .filter(|(told, _)| focus.is_none_or(|focus| focus.is(told.from) || focus.is(told.about)))
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

fn addresses(tally: &arp::Tally, (most, focus): Choice) -> ArpFacts {
    let conflict = |(ip, address): (_, &arp::Address)| ConflictFacts {
        ip,
        macs: address.claims.iter().map(|claim| mac(claim.mac)).collect(),
        frames: address.claims.iter().map(|claim| claim.frame).collect(),
        flips: address.flips,
    };
    let meant = |ip: Ipv4Addr| focus.is_none_or(|focus| focus.is(IpAddr::V4(ip)));
    let conflicts = tally.conflicts().into_iter().filter(|(ip, _)| meant(*ip));
    ArpFacts {
        requests: tally.requests,
        replies: tally.replies,
        unanswered: tally.unanswered(),
        gratuitous: tally.gratuitous,
        probes: tally.probes,
        conflicts: conflicts.take(most).map(conflict).collect(),
    }
}

/// Returns a hardware address as it is usually written.
pub(in crate::pcap) fn mac(bytes: [u8; 6]) -> String {
    bytes.map(|byte| format!("{byte:02x}")).join(":")
}
