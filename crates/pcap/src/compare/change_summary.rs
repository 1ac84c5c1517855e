//! The verdict on two captures of different times.

use std::collections::BTreeSet;
use std::net::IpAddr;

use serde::Serialize;

use super::change::{CaptureAccount, MetricChange};
use super::findings::ComparedFinding;
use super::significance::{Significance, Trend};
use crate::findings::Severity;
use crate::flow::State;
use crate::summary::Summary;

/// A host that said so much before and nothing now, though spoken to so often, is gone.
const MAX_NAMED_CHANGES: u64 = 3;
/// Shorter captures, or such with fewer packets, say little.
const MIN_SECONDS: f64 = 1.0;
const MIN_PACKETS_COMPARED: u64 = 20;
/// One that is so many times as long as the other one shows what the other had no time for.
const MAX_SIZE_RATIO: f64 = 20.0;
/// Hosts that are listed.
const MAX_HOSTS: usize = 20;

/// What became of the network from the first capture to the second.
#[derive(Debug, Clone, Serialize)]
pub struct ChangeSummary {
    /// All in all.
    pub verdict: ChangeVerdict,
    /// The same in one sentence.
    pub sentence: String,
    /// What makes both hard to compare.
    pub doubts: Vec<String>,
    /// Hosts that fell silent, or speak again.
    pub hosts: Vec<HostFacts>,
    /// What to do next.
    pub next: Vec<String>,
}

/// What became of it, all in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum ChangeVerdict {
    /// Something is worse or new, nothing better.
    Worse,
    /// Something is better or gone, nothing worse.
    Better,
    /// Some of each.
    Mixed,
    /// Nothing changed beyond noise.
    Stable,
    /// There is nothing that both have.
    Incomparable,
}

impl ChangeVerdict {
    /// Returns its name for people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Worse => "WORSE",
            Self::Better => "BETTER",
            Self::Mixed => "MIXED",
            Self::Stable => "STABLE",
            Self::Incomparable => "INCOMPARABLE",
        }
    }
}

/// A host that fell silent, or speaks again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HostFacts {
    /// Its address.
    pub host: IpAddr,
    /// NEW where it fell silent, RESOLVED where it speaks again.
    pub trend: Trend,
    /// IP packets from it, in the first and the second capture.
    pub sent: (u64, u64),
    /// IP packets to it.
    pub received: (u64, u64),
}

/// Says what became of the network.
pub(super) fn change_summary(
    a: &CaptureAccount,
    b: &CaptureAccount,
    changes: &[MetricChange],
    (new, resolved): (&[ComparedFinding], &[ComparedFinding]),
) -> ChangeSummary {
    let hosts = hosts(a, b);
    let serious = |list: &[ComparedFinding]| list.iter().filter(|one| counts(one)).count();
    let of = |wanted: &[Trend]| changes.iter().filter(|change| wanted.contains(&change.trend)).count();
    let silent = hosts.iter().filter(|host| host.trend == Trend::New).count();
    let bad = of(&[Trend::New, Trend::Regression]) + serious(new) + silent;
    let good = of(&[Trend::Resolved, Trend::Improvement]) + serious(resolved) + hosts.len() - silent;
    let nothing = a.summary.file.packets == 0 || b.summary.file.packets == 0;
    let verdict = match (bad, good) {
        _ if nothing => ChangeVerdict::Incomparable,
        (0, 0) => ChangeVerdict::Stable,
        (_, 0) => ChangeVerdict::Worse,
        (0, _) => ChangeVerdict::Better,
        _ => ChangeVerdict::Mixed,
    };
    ChangeSummary {
        verdict,
        sentence: sentence(verdict, changes, (new, resolved), &hosts),
        doubts: doubts(a, b),
        next: next(changes, new, &hosts),
        hosts,
    }
}

/// Tells whether a finding that comes or goes is a change: another owner of an address, or another router, always is.
fn counts(one: &ComparedFinding) -> bool {
    one.severity != Severity::Info || one.code.starts_with("arp_") || one.code == "icmp_redirect"
}

fn hosts(a: &CaptureAccount, b: &CaptureAccount) -> Vec<HostFacts> {
    let mut found: Vec<HostFacts> = a
        .hosts
        .iter()
        .filter_map(|(host, before)| Some((*host, before, b.hosts.get(host)?)))
        .filter_map(|(host, before, now)| {
            let trend =
                if before.sent >= MAX_NAMED_CHANGES && now.sent == 0 && now.received >= MAX_NAMED_CHANGES {
                    Trend::New
                } else if now.sent >= MAX_NAMED_CHANGES
                    && before.sent == 0
                    && before.received >= MAX_NAMED_CHANGES
                {
                    Trend::Resolved
                } else {
                    return None;
                };
            let (sent, received) = ((before.sent, now.sent), (before.received, now.received));
            Some(HostFacts { host, trend, sent, received })
        })
        .collect();
    found.sort_by_key(|one| (one.trend, std::cmp::Reverse(one.sent.0 + one.sent.1)));
    found.truncate(MAX_HOSTS);
    found
}

fn sentence(
    verdict: ChangeVerdict,
    changes: &[MetricChange],
    (new, resolved): (&[ComparedFinding], &[ComparedFinding]),
    hosts: &[HostFacts],
) -> String {
    let mut parts = Vec::new();
    let kinds = [
        (Trend::New, "new"),
        (Trend::Regression, "worse"),
        (Trend::Improvement, "better"),
        (Trend::Resolved, "gone"),
    ];
    for (trend, what) in kinds {
        let findings = match trend {
            Trend::New => new,
            Trend::Resolved => resolved,
            Trend::Regression | Trend::Improvement | Trend::Stable => &[],
        };
        let changed: Vec<&MetricChange> = changes.iter().filter(|change| change.trend == trend).collect();
        let mut names = names(&changed, findings);
        names.extend(
            hosts.iter().filter(|host| host.trend == trend).map(|host| format!("silence of {}", host.host)),
        );
        if !names.is_empty() {
            let more = names.len().saturating_sub(4);
            names.truncate(4);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            parts.push(format!("{what}: {}{more}", names.join(", ")));
        }
    }
    if verdict == ChangeVerdict::Incomparable {
        return "INCOMPARABLE: one of both captures holds no packet".to_owned();
    }
    let rest = if parts.is_empty() { "nothing changed beyond noise".to_owned() } else { parts.join("; ") };
    format!("{}: {rest}", verdict.name())
}

/// Names each change once: a total not beside its only part, a finding not beside the share that it is about.
fn names(changes: &[&MetricChange], findings: &[ComparedFinding]) -> Vec<String> {
    let parts = |metric: &str| {
        changes.iter().filter(|change| change.metric == metric && change.subject.is_some()).count()
    };
    let named_changes = changes.iter().filter(|change| change.subject.is_some() || parts(change.metric) != 1);
    let mut names: Vec<(&str, String)> = named_changes.map(|change| (change.metric, named(change))).collect();
    for one in findings.iter().filter(|one| counts(one)) {
        let who = if one.subject.is_empty() { String::new() } else { format!(" ({})", one.subject) };
        match names.iter_mut().find(|(code, _)| *code == one.code) {
            Some((_, name)) if name.contains(&one.subject) => {}
            Some((_, name)) => name.push_str(&who),
            None => names.push((one.code, format!("{}{who}", one.code))),
        }
    }
    names.into_iter().map(|(_, name)| name).collect()
}

fn named(change: &MetricChange) -> String {
    let unit = if change.metric.ends_with("_ms") { "ms" } else { "%" };
    let who = change.subject.as_ref().map_or_else(String::new, |who| format!(" of {who}"));
    let sure = if change.weight == Significance::Critical { ", critical" } else { "" };
    format!("{}{who} {} → {} {unit}{sure}", change.metric.trim_end_matches("_ms"), change.a, change.b)
}

fn doubts(a: &CaptureAccount, b: &CaptureAccount) -> Vec<String> {
    let mut doubts = Vec::new();
    for (name, one) in [("A", &a.summary), ("B", &b.summary)] {
        let file = &one.file;
        if file.duration_s < MIN_SECONDS || file.packets < MIN_PACKETS_COMPARED {
            doubts.push(format!("{name} is short: {} packets in {:.3} s", file.packets, file.duration_s));
        }
        if file.cut_off {
            doubts.push(format!("{name} is cut off"));
        }
        if file.dropped > 0 {
            doubts.push(format!("{name} dropped {} packets by itself", file.dropped));
        }
    }
    let (long, other) = (a.summary.file.duration_s, b.summary.file.duration_s);
    if long.max(other) > MAX_SIZE_RATIO * long.min(other).max(0.001) {
        doubts.push(format!("one is much longer: {long:.1} s and {other:.1} s"));
    }
    match (is_unidirectional(&a.summary), is_unidirectional(&b.summary)) {
        (true, false) => doubts.push("A shows one direction of connections alone, B both".to_owned()),
        (false, true) => doubts.push("B shows one direction of connections alone, A both".to_owned()),
        (true, true) => doubts.push("both show one direction of connections alone".to_owned()),
        (false, false) => {}
    }
    let services = |account: &CaptureAccount| -> BTreeSet<String> {
        let tcp = account.services.each.keys().map(ToString::to_string);
        tcp.chain(account.summary.dns.servers.iter().map(|server| server.server.to_string())).collect()
    };
    let (before, now) = (services(a), services(b));
    if !before.is_empty() && !now.is_empty() && before.is_disjoint(&now) {
        doubts.push("no service is in both: they show different traffic".to_owned());
    }
    if a.services.pooled + b.services.pooled > 0 {
        doubts.push("there are more services than are distinguished; some are only in the totals".to_owned());
    }
    doubts
}

fn is_unidirectional(summary: &Summary) -> bool {
    let alone = summary.tcp.states.get(&State::Unidirectional).copied().unwrap_or(0);
    alone >= MAX_NAMED_CHANGES && alone * 5 >= summary.tcp.streams * 4
}

fn next(changes: &[MetricChange], new: &[ComparedFinding], hosts: &[HostFacts]) -> Vec<String> {
    let mut next = Vec::new();
    if let Some(one) = new.iter().find(|one| counts(one)) {
        next.push(format!(
            "look at `{}` of B with the filter `{}`, and at what changed at that time",
            one.code, one.filter
        ));
    }
    if let Some(host) = hosts.iter().find(|host| host.trend == Trend::New) {
        next.push(format!(
            "see whether {} is up, and whether its path is: `ping -c 3 {}`, `ip neigh show {}`",
            host.host, host.host, host.host
        ));
    }
    let worst = changes
        .iter()
        .find(|change| change.subject.is_some() && matches!(change.trend, Trend::New | Trend::Regression));
    if let Some(who) = worst.and_then(|change| change.subject.as_deref()) {
        let who = who.trim_end_matches("/tcp");
        next.push(format!("`ghost pcap analyze B --focus {who}`, then capture at both ends of it and `ghost pcap compare --mode endpoints`"));
    }
    next
}
