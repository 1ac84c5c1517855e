//! From what was remembered to the account of it.

use std::collections::BTreeMap;

use time::OffsetDateTime;
use time::macros::format_description;

use super::fit;
use super::kind::{FileFacts, Summary, TcpFacts};
use super::link::{addresses, neighbors};
use super::names::names;
use super::path::{about_flow, complaints};
use super::talk;
use super::warn::warn;
use crate::analyze::Pass;
use crate::findings;
use crate::flow::{Figures, Told, percent};
use crate::focus::Focus;
use crate::label::Label;
use crate::read::Ending;

const VERSION: u32 = 1;
/// How many entries a list has unless everything is asked for.
const ENTRIES: usize = 20;
/// How many bytes the account has at most unless everything is asked for, frames that were asked for not counted.
const LONGEST: usize = 23_500;

/// Writes the account.
pub(crate) fn write(mut pass: Pass, ending: &Ending, evicted: u64, given_up: (u64, u64)) -> Summary {
    let unanswered = pass.dns.finish(pass.counts.last);
    pass.icmp.echo.finish(pass.counts.last);
    let (findings, left_out) = findings::find(&pass);
    let most = if pass.scope.full { usize::MAX } else { ENTRIES };
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
            handshake_ms: Figures::of(&pass.flows.trips),
            ack_rtt_ms: Figures::of(&pass.flows.acks),
            vantage: pass.flows.vantage.clone(),
            evicted,
            flows: told(&mut pass),
        },
        dns: names(&pass.dns, unanswered, (most, focus)),
        icmp: complaints(&pass.icmp, (most, focus)),
        arp: addresses(&pass.arp, (most, focus)),
        ndp: neighbors(&pass.ndp, (most, focus)),
        tls: talk::tls(&pass.talk.tls, (most, focus)),
        http: talk::http(&pass.talk.http, (most, focus)),
        quic: talk::quic(&pass.talk.quic, (most, focus)),
        dhcp: talk::dhcp(&pass.talk.dhcp, pass.counts.last, (most, focus)),
        ntp: talk::ntp(&pass.talk.ntp, (most, focus)),
        udp: talk::udp(&mut pass.talk.udp, full),
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

/// Returns the connections that are told of, with what others said about them.
fn told(pass: &mut Pass) -> Vec<Told> {
    let mut flows = pass.flows.told();
    for flow in &mut flows {
        flow.complaint = pass.icmp.quoted.about((flow.a, flow.b)).map(about_flow);
    }
    flows
}

/// Shortens the account to what a thread or a model takes in: the end of the longest lists goes first.
fn fit(summary: &mut Summary) {
    let mut left_out = 0;
    fit::maps(summary);
    while serde_json::to_string(summary).is_ok_and(|text| text.len() > LONGEST) {
        if !fit::shorten(summary, fit::FEWEST) && !fit::shorten(summary, 0) {
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
pub(super) type Choice = (usize, Option<Focus>);
