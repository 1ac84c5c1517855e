//! From what was remembered to the account of it.

use std::collections::BTreeMap;

use time::OffsetDateTime;
use time::macros::format_description;

use super::kind::{FileFacts, Summary, TcpFacts};
use super::link::addresses;
use super::names::names;
use super::path::complaints;
use super::talk;
use super::warn::warn;
use crate::pcap::analyze::Pass;
use crate::pcap::findings;
use crate::pcap::flow::{Figures, percent};
use crate::pcap::focus::Focus;
use crate::pcap::label::Label;
use crate::pcap::read::Ending;

const VERSION: u32 = 1;
/// How many entries a list has unless everything is asked for.
const ENTRIES: usize = 20;
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
        icmp: complaints(&pass.icmp, (most, focus)),
        arp: addresses(&pass.arp, (most, focus)),
        tls: talk::tls(&pass.talk.tls, (most, focus)),
        http: talk::http(&pass.talk.http, (most, focus)),
        quic: talk::quic(&pass.talk.quic, (most, focus)),
        dhcp: talk::dhcp(&pass.talk.dhcp, pass.counts.last, (most, focus)),
        ntp: talk::ntp(&pass.talk.ntp, (most, focus)),
        udp: talk::udp(&mut pass.talk.udp, full),
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
    } else if spare(summary.udp.flows.len()) {
        summary.udp.flows.pop().is_some()
    } else if talk::shorten(summary, FEWEST) {
        true
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
pub(super) fn moment(nanos: u64) -> String {
    let form = format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:9]Z");
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(nanos))
        .ok()
        .and_then(|moment| moment.format(form).ok())
        .unwrap_or_else(|| format!("{nanos} ns since 1970"))
}

/// How many entries a list has, and what they are about.
pub(super) type Choice = (usize, Option<Focus>);
