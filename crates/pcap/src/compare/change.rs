//! What became better or worse from one capture to the other, by rates and not by counts: in all, and service by service.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::net::IpAddr;

use serde::Serialize;

use super::host::Host;
use super::path::Confidence;
use super::service::{Service, Services};
use super::significance::{Assessment, Scale, Share, Significance, Trend, figures, shares};
use crate::flow::{Percentiles, percent};
use crate::histogram::Histogram;
use crate::summary::Summary;

/// Losses come in bursts: they vary so much more than events that know nothing of each other.
const BURST_FACTOR: f64 = 3.0;
const SINGLE_FACTOR: f64 = 1.0;

/// A rate or a time in both captures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MetricChange {
    /// What it is: a share in percent, or a time where the name ends with `_ms`.
    pub metric: &'static str,
    /// The service or host that it is about; nothing where it is about all together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// In the first capture: percent, or the median in milliseconds, or what nine of ten do not exceed.
    pub a: f64,
    /// In the second.
    pub b: f64,
    /// Of how many the first is a share, or how many measurements it is from.
    pub a_of: u64,
    /// The same of the second.
    pub b_of: u64,
    /// By how many percent of the first it differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta_pct: Option<f64>,
    /// How it developed.
    pub trend: Trend,
    /// How much.
    pub weight: Significance,
    /// How sure it is that this is no chance.
    pub confidence: Confidence,
}

/// One capture as it is compared.
#[derive(Debug)]
pub(super) struct CaptureAccount {
    /// What the analysis says, nothing left out.
    pub(super) summary: Summary,
    pub(super) services: Services,
    pub(super) hosts: BTreeMap<IpAddr, Host>,
}

/// Returns what is compared: all together whatever came of it, then services and hosts that changed, the worst first.
pub(super) fn changes(a: &CaptureAccount, b: &CaptureAccount) -> Vec<MetricChange> {
    let mut found = MetricChanges { list: Vec::new() };
    totals(&mut found, a, b);
    let mut each = MetricChanges { list: Vec::new() };
    let none = Service::default();
    for (server, before) in &a.services.each {
        let now = b.services.each.get(server).unwrap_or(&none);
        service(&mut each, &(server, "tcp"), before, now);
    }
    for before in &a.summary.dns.servers {
        if let Some(now) = b.summary.dns.servers.iter().find(|now| now.server == before.server) {
            let who = Some(&before.server as &dyn Display);
            let (asked, asks) = ((before.unanswered, before.queries), (now.unanswered, now.queries));
            each.share("dns_unanswered", who, (asked, asks), SINGLE_FACTOR);
            each.time(["dns_latency_p50_ms", "dns_latency_p90_ms"], who, (before.latency_ms, now.latency_ms));
        }
    }
    for (host, before) in &a.hosts {
        if let Some(now) = b.hosts.get(host) {
            let who = Some(host as &dyn Display);
            each.share(
                "ping_unanswered",
                who,
                ((before.silent, before.pings), (now.silent, now.pings)),
                SINGLE_FACTOR,
            );
            let times = (Percentiles::of(&before.echoes), Percentiles::of(&now.echoes));
            each.time(["ping_p50_ms", "ping_p90_ms"], who, times);
        }
    }
    each.list.retain(|change| change.trend != Trend::Stable);
    let size = |change: &MetricChange| (change.delta_pct.unwrap_or(f64::INFINITY).abs() * 100.0) as u64;
    each.list.sort_by_key(|change| (change.trend, std::cmp::Reverse((change.weight, size(change)))));
    found.list.extend(each.list);
    found.list
}

fn totals(found: &mut MetricChanges, a: &CaptureAccount, b: &CaptureAccount) {
    let (before, now) = (&a.services.all, &b.services.all);
    let all = [
        ("tcp_retransmission", BURST_FACTOR),
        ("tcp_connect_failed", SINGLE_FACTOR),
        ("tcp_refused", SINGLE_FACTOR),
    ];
    for ((metric, clumped), (one, other)) in all.into_iter().zip(parts(before).into_iter().zip(parts(now))) {
        found.share(metric, None, (one, other), clumped);
    }
    for (metric, part, clumped) in METRICS {
        found.share(metric, None, (part(&a.summary), part(&b.summary)), clumped);
    }
    let (pings_a, pings_b) = (pings(a), pings(b));
    found.share("ping_unanswered", None, (pings_a.0, pings_b.0), SINGLE_FACTOR);
    let times = |one: &Histogram, other: &Histogram| (Percentiles::of(one), Percentiles::of(other));
    found.time(HANDSHAKE, None, times(&before.handshakes, &now.handshakes));
    found.time(TRIP, None, times(&before.rtts, &now.rtts));
    let latency = (a.summary.dns.latency_ms, b.summary.dns.latency_ms);
    found.time(["dns_latency_p50_ms", "dns_latency_p90_ms"], None, latency);
    found.time(["ping_p50_ms", "ping_p90_ms"], None, times(&pings_a.1, &pings_b.1));
}

const HANDSHAKE: [&str; 2] = ["tcp_handshake_p50_ms", "tcp_handshake_p90_ms"];
const TRIP: [&str; 2] = ["tcp_rtt_p50_ms", "tcp_rtt_p90_ms"];

/// How often, of how much.
type Part = (u64, u64);

/// The name of a share, how it is read, and how clumped such events are.
type Metric = (&'static str, fn(&Summary) -> Part, f64);

const METRICS: [Metric; 10] = [
    ("tcp_duplicate_ack", |summary| (count(summary, "duplicate_ack"), count(summary, "tcp")), BURST_FACTOR),
    ("tcp_out_of_order", |summary| (count(summary, "out_of_order"), count(summary, "tcp")), BURST_FACTOR),
    ("tcp_zero_window", |summary| (count(summary, "zero_window"), count(summary, "tcp")), BURST_FACTOR),
    ("tcp_reset", |summary| (count(summary, "reset"), count(summary, "tcp")), BURST_FACTOR),
    ("dns_unanswered", |summary| (summary.dns.unanswered, summary.dns.queries), SINGLE_FACTOR),
    ("dns_nxdomain", |summary| (code(summary, "NXDOMAIN"), summary.dns.responses), SINGLE_FACTOR),
    ("dns_servfail", |summary| (code(summary, "SERVFAIL"), summary.dns.responses), SINGLE_FACTOR),
    ("dns_truncated", |summary| (summary.dns.truncated, summary.dns.responses), SINGLE_FACTOR),
    ("arp_unanswered", |summary| (summary.arp.unanswered, summary.arp.requests), SINGLE_FACTOR),
    ("icmp_unreachable", |summary| (unreachable(summary), summary.file.packets), BURST_FACTOR),
];

fn parts(service: &Service) -> [Part; 3] {
    [(service.again, service.carrying), (service.failed, service.asked), (service.refused, service.asked)]
}

fn service(
    found: &mut MetricChanges,
    (server, protocol): &(impl Display, &str),
    before: &Service,
    now: &Service,
) {
    let name = format!("{server}/{protocol}");
    let who = Some(&name as &dyn Display);
    let metrics = [
        ("tcp_retransmission", BURST_FACTOR),
        ("tcp_connect_failed", SINGLE_FACTOR),
        ("tcp_refused", SINGLE_FACTOR),
    ];
    for ((metric, clumped), (one, other)) in
        metrics.into_iter().zip(parts(before).into_iter().zip(parts(now)))
    {
        found.share(metric, who, (one, other), clumped);
    }
    found.time(HANDSHAKE, who, (Percentiles::of(&before.handshakes), Percentiles::of(&now.handshakes)));
    found.time(TRIP, who, (Percentiles::of(&before.rtts), Percentiles::of(&now.rtts)));
}

fn pings(account: &CaptureAccount) -> (Part, Histogram) {
    let mut spread = Histogram::default();
    let mut part = (0, 0);
    for host in account.hosts.values() {
        part = (part.0 + host.silent, part.1 + host.pings);
        spread.join(&host.echoes);
    }
    (part, spread)
}

fn count(summary: &Summary, label: &str) -> u64 {
    summary.counts.get(label).copied().unwrap_or(0)
}

fn code(summary: &Summary, code: &str) -> u64 {
    summary.dns.rcodes.get(code).copied().unwrap_or(0)
}

fn unreachable(summary: &Summary) -> u64 {
    summary.icmp.unreachable.iter().map(|entry| entry.count).sum()
}

struct MetricChanges {
    list: Vec<MetricChange>,
}

impl MetricChanges {
    /// Compares a share, where both captures have something that it is a share of.
    fn share(
        &mut self,
        metric: &'static str,
        subject: Option<&dyn Display>,
        ((part_a, of_a), (part_b, of_b)): (Part, Part),
        clumped: f64,
    ) {
        if of_a == 0 || of_b == 0 || part_a + part_b == 0 {
            return;
        }
        let (one, other) = (Share { part: part_a, whole: of_a }, Share { part: part_b, whole: of_b });
        let judged = shares(one, other, clumped, scale(subject));
        let values = (percent(part_a, of_a), percent(part_b, of_b));
        self.add(metric, subject, values, (of_a, of_b), judged);
    }

    /// Compares times, where both captures have some.
    fn time(
        &mut self,
        [middle, tail]: [&'static str; 2],
        subject: Option<&dyn Display>,
        (a, b): (Option<Percentiles>, Option<Percentiles>),
    ) {
        let (Some(a), Some(b)) = (a, b) else {
            return;
        };
        let (judged, high) = figures(&a, &b, scale(subject));
        let (metric, values) = if high { (tail, (a.p90, b.p90)) } else { (middle, (a.p50, b.p50)) };
        self.add(metric, subject, values, (a.samples, b.samples), judged);
    }

    fn add(
        &mut self,
        metric: &'static str,
        subject: Option<&dyn Display>,
        (a, b): (f64, f64),
        (a_of, b_of): (u64, u64),
        judged: Assessment,
    ) {
        self.list.push(MetricChange {
            metric,
            subject: subject.map(ToString::to_string),
            a,
            b,
            a_of,
            b_of,
            delta_pct: judged.delta.map(|delta| (delta * 10.0).round() / 10.0),
            trend: judged.trend,
            weight: judged.weight,
            confidence: judged.confidence,
        });
    }
}

fn scale(subject: Option<&dyn Display>) -> Scale {
    if subject.is_some() { Scale::Each } else { Scale::All }
}
