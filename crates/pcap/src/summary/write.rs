//! Builds the summary from the state of a pass.

use std::collections::BTreeMap;
use std::net::IpAddr;

use time::OffsetDateTime;
use time::macros::format_description;

use super::dns::names;
use super::facts::{ArpFacts, ConflictFacts, FileFacts, Summary, TcpFacts};
use super::fit::warn;
use super::icmp::{about_flow, errors};
use super::{fit, protocols};
use crate::address_filter::AddressFilter;
use crate::analyze::Pass;
use crate::flow::{Percentiles, TcpStreamFacts, percent};
use crate::label::Label;
use crate::read::ReadSummary;
use crate::{arp, findings};

const VERSION: u32 = 1;
/// How many entries a list has unless everything is asked for.
const MAX_ENTRIES: usize = 20;
/// How many bytes the account has at most unless everything is asked for, frames that were asked for not counted.
const MAX_JSON_LEN: usize = 23_500;

/// Writes the account.
pub(crate) fn write(mut pass: Pass, ending: &ReadSummary, evicted: u64, given_up: (u64, u64)) -> Summary {
    let unanswered = pass.dns.finish(pass.counts.last);
    pass.icmp.echo.finish(pass.counts.last);
    let (findings, left_out) = findings::find(&pass);
    let most = if pass.scope.full { usize::MAX } else { MAX_ENTRIES };
    let mut warnings = ending.warnings.clone();
    warn(&mut warnings, &pass, ending, (evicted, given_up));
    if left_out > 0 {
        warnings.push(format!(
            "{left_out} more findings of the same kinds, or less grave ones, were left out; --full has them"
        ));
    }
    let (full, focus) = (pass.scope.full, pass.scope.focus);
    let listed =
        pass.scope.frames.map(|label| BTreeMap::from([(label.name(), std::mem::take(&mut pass.listed))]));
    if let Some(series) = &mut pass.series {
        series.finish();
    }
    let mut summary = Summary {
        version: VERSION,
        file: file(&pass, ending),
        counts: Label::all().iter().map(|label| (label.name(), pass.counts.of(*label))).collect(),
        frames: None,
        tcp: TcpFacts {
            streams: pass.flows.streams,
            states: std::mem::take(&mut pass.flows.states),
            retransmission_pct: percent(pass.flows.again, pass.flows.carrying),
            handshake_ms: Percentiles::of(&pass.flows.handshakes),
            ack_rtt_ms: Percentiles::of(&pass.flows.acks),
            vantage: pass.flows.vantage.clone(),
            evicted,
            flows: listed_streams(&mut pass),
        },
        dns: names(&pass.dns, unanswered, (most, focus)),
        icmp: errors(&pass.icmp, (most, focus)),
        arp: addresses(&pass.arp, (most, focus)),
        ndp: neighbors(&pass.ndp, (most, focus)),
        tls: protocols::tls(&pass.protocols.tls, (most, focus)),
        http: protocols::http(&pass.protocols.http, (most, focus)),
        quic: protocols::quic(&pass.protocols.quic, (most, focus)),
        dhcp: protocols::dhcp(&pass.protocols.dhcp, pass.counts.last, (most, focus)),
        ntp: protocols::ntp(&pass.protocols.ntp, (most, focus)),
        udp: protocols::udp(&mut pass.protocols.udp, full),
        findings,
        warnings,
        series: pass.series.take(),
    };
    if !full {
        fit(&mut summary);
    }
    summary.frames = listed;
    summary
}

/// Returns the connections that are listed, with what others said about them.
fn listed_streams(pass: &mut Pass) -> Vec<TcpStreamFacts> {
    let mut flows = pass.flows.listed();
    for flow in &mut flows {
        flow.icmp_error = pass.icmp.quoted.about((flow.a, flow.b)).map(about_flow);
    }
    flows
}

/// Shortens the account to what a thread or a model takes in: the end of the longest lists goes first.
fn fit(summary: &mut Summary) {
    let mut left_out = 0;
    fit::maps(summary);
    while serde_json::to_string(summary).is_ok_and(|text| text.len() > MAX_JSON_LEN) {
        if !fit::shorten(summary, fit::MIN_ENTRIES) && !fit::shorten(summary, 0) {
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

fn file(pass: &Pass, ending: &ReadSummary) -> FileFacts {
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
        skipped_bytes: ending.skipped,
        dropped: ending.dropped,
    }
}

/// Returns a time as RFC 3339 with nine digits.
pub(super) fn moment(nanos: u64) -> String {
    let form = format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:9]Z");
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(nanos))
        .ok()
        .and_then(|moment| moment.format(form).ok())
        .unwrap_or_else(|| format!("{nanos} ns since 1970"))
}

/// How many entries a list has, and what they are about.
pub(super) type Choice = (usize, Option<AddressFilter>);

/// Writes the account of addresses.
pub(super) fn addresses(tally: &arp::NeighborStats, (most, focus): Choice) -> ArpFacts {
    let conflict = |(ip, address): (IpAddr, &arp::Address)| ConflictFacts {
        ip,
        macs: address.claims.iter().map(|claim| mac(claim.mac)).collect(),
        frames: address.claims.iter().map(|claim| claim.frame).collect(),
        flips: address.claimant_changes,
    };
    let conflicts = tally.conflicts().into_iter().map(|((_, ip), address)| (ip, address));
    let meant = conflicts.filter(|(ip, _)| focus.is_none_or(|focus| focus.is(*ip)));
    ArpFacts {
        requests: tally.requests,
        replies: tally.replies,
        unanswered: tally.unanswered(),
        gratuitous: tally.gratuitous,
        probes: tally.probes,
        unasked: tally.unasked,
        late: tally.late,
        conflicts: meant.take(most).map(conflict).collect(),
    }
}

/// Writes the account of neighbor discovery, where there was any.
pub(super) fn neighbors(tally: &arp::NeighborStats, choice: Choice) -> Option<ArpFacts> {
    (tally.requests + tally.replies > 0).then(|| addresses(tally, choice))
}

/// Returns a hardware address as it is usually written.
pub(crate) fn mac(bytes: [u8; 6]) -> String {
    bytes.map(|byte| format!("{byte:02x}")).join(":")
}
