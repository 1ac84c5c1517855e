//! What became better or worse from one capture to the other, by rates and not by counts.

use serde::Serialize;

use crate::pcap::summary::Summary;

/// How a rate developed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Trend {
    /// It is worse.
    Regression,
    /// It is better.
    Improvement,
    /// No difference beyond noise.
    Stable,
    /// It was not there before.
    New,
    /// It is gone.
    Resolved,
}

impl Trend {
    /// Returns its name in answers.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Regression => "REGRESSION",
            Self::Improvement => "IMPROVEMENT",
            Self::Stable => "STABLE",
            Self::New => "NEW",
            Self::Resolved => "RESOLVED",
        }
    }
}

/// A rate in both captures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// What it is.
    pub metric: &'static str,
    /// In the first capture, in percent.
    pub a: f64,
    /// In the second.
    pub b: f64,
    /// How it developed.
    pub trend: Trend,
}

/// How often something happened, of how much.
type Part = (u64, u64);

/// Returns what is compared, in order.
pub(super) fn changes(a: &Summary, b: &Summary) -> Vec<Change> {
    METRICS
        .iter()
        .map(|(metric, part)| {
            let (one, other) = (part(a), part(b));
            let (before, now) =
                (crate::pcap::flow::percent(one.0, one.1), crate::pcap::flow::percent(other.0, other.1));
            Change { metric, a: before, b: now, trend: trend(one, other) }
        })
        .filter(|change| change.a > 0.0 || change.b > 0.0)
        .collect()
}

/// The name of a rate, and how it is read.
type Metric = (&'static str, fn(&Summary) -> Part);

const METRICS: [Metric; 8] = [
    ("tcp_retransmission", |summary| (count(summary, "retransmission"), count(summary, "tcp"))),
    ("tcp_out_of_order", |summary| (count(summary, "out_of_order"), count(summary, "tcp"))),
    ("tcp_zero_window", |summary| (count(summary, "zero_window"), count(summary, "tcp"))),
    ("tcp_reset", |summary| (count(summary, "reset"), count(summary, "tcp"))),
    ("dns_unanswered", |summary| (summary.dns.unanswered, summary.dns.queries)),
    ("dns_nxdomain", |summary| (code(summary, "NXDOMAIN"), summary.dns.responses)),
    ("dns_servfail", |summary| (code(summary, "SERVFAIL"), summary.dns.responses)),
    ("icmp_unreachable", |summary| {
        (summary.icmp.unreachable.iter().map(|entry| entry.count).sum(), summary.file.packets)
    }),
];

fn count(summary: &Summary, label: &str) -> u64 {
    summary.counts.get(label).copied().unwrap_or(0)
}

fn code(summary: &Summary, code: &str) -> u64 {
    summary.dns.rcodes.get(code).copied().unwrap_or(0)
}

/// A difference counts where it is more than a tenth, and more than twice what chance alone would bring.
fn trend(a: Part, b: Part) -> Trend {
    let rate = |(part, whole): Part| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
    let (before, now) = (rate(a), rate(b));
    let noise =
        |(part, whole): Part| if whole == 0 { 0.0 } else { (part.max(1) as f64).sqrt() / whole as f64 };
    let chance = 2.0 * noise(a).hypot(noise(b));
    let difference = now - before;
    if difference.abs() <= chance || difference.abs() <= before * 0.1 {
        Trend::Stable
    } else if a.0 == 0 {
        Trend::New
    } else if b.0 == 0 {
        Trend::Resolved
    } else if difference > 0.0 {
        Trend::Regression
    } else {
        Trend::Improvement
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_of_everything_is_no_change_and_chance_is_none() {
        assert_eq!(trend((10, 1000), (100, 10_000)), Trend::Stable);
        assert_eq!(trend((0, 1000), (1, 1000)), Trend::Stable);
        assert_eq!(trend((10, 1000), (14, 1000)), Trend::Stable);
    }

    #[test]
    fn what_is_beyond_chance_is_told() {
        assert_eq!(trend((0, 1000), (30, 1000)), Trend::New);
        assert_eq!(trend((30, 1000), (0, 1000)), Trend::Resolved);
        assert_eq!(trend((10, 1000), (60, 1000)), Trend::Regression);
        assert_eq!(trend((600, 10_000), (100, 10_000)), Trend::Improvement);
    }
}
