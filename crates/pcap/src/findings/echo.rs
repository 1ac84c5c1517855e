//! Pings: answers that are missing, or slow.

use super::finding::{FindingList, field, unidirectional};
use super::finding::{Rule, Severity};
use crate::analyze::Pass;
use crate::flow::{ms, percent};

/// A target does not answer all pings.
const PING_LOSS: Rule = Rule {
    code: "ping_loss",
    severity: Severity::Warning,
    at_least: 3,
    percent: 5.0,
    when: "so many pings to a target, and so much of all to it, were never answered, though there was a second of time",
    vantage: "Request or answer was lost beyond this point, or the target does not answer pings; where connections show one direction alone, nothing is said.",
};

/// Some answers take far longer than most.
const PING_LATENCY: Rule = Rule {
    code: "ping_latency",
    severity: Severity::Warning,
    at_least: 3,
    percent: 10.0,
    when: "so many answers of a target, and so much of all, took four times as long as half of them, and 50 ms more than that",
    vantage: "The time from this point to the target and back: a queue on the path, or a busy target.",
};

/// The rules of this kind.
pub(super) const RULES: [Rule; 2] = [PING_LOSS, PING_LATENCY];

/// How much longer an answer takes at least to be slow, in nanoseconds.
const MIN_EXTRA_NANOS: u64 = 50_000_000;

/// Finds what is wrong.
pub(super) fn find(found: &mut FindingList, pass: &Pass) {
    let blind = unidirectional(pass) && pass.icmp.echo.targets.values().all(|target| target.replies == 0);
    let mut worst: Vec<_> = pass.icmp.echo.targets.iter().collect();
    worst.sort_by_key(|(address, target)| (std::cmp::Reverse(target.unanswered), **address));
    for (address, target) in worst {
        let kind = if address.is_ipv4() { "icmp.type ==" } else { "icmpv6.type ==" };
        let (ask, tell) = if address.is_ipv4() { (8, 0) } else { (128, 129) };
        if !blind && PING_LOSS.meets(target.unanswered, target.requests) {
            let part = percent(target.unanswered, target.requests);
            let (lost, all) = (target.unanswered, target.requests);
            let mut title = format!("{address} did not answer {lost} of {all} pings ({part} %)");
            if let Some(limit) = target.limit() {
                title.push_str(&format!(
                    "; about {limit} answers each second look like a limit on their rate"
                ));
            }
            let filter = format!("{kind} {ask} && {} == {address}", field(*address, "dst"));
            let numbers = [
                ("unanswered", lost as f64),
                ("requests", all as f64),
                ("percent", part),
                ("late", target.late as f64),
            ];
            found.add(&PING_LOSS, title, &target.frames, filter, &numbers);
        }
        let half = target.rtts.percentile(50);
        let limit = half.saturating_mul(4).max(half.saturating_add(MIN_EXTRA_NANOS));
        let slow = target.rtts.above(limit);
        if PING_LATENCY.meets(slow, target.replies) {
            let most = ms(target.rtts.max());
            let title = format!(
                "{slow} of {} answers of {address} took up to {most} ms, half of them at most {} ms",
                target.replies,
                ms(half)
            );
            let frames: Vec<u64> = target.slowest.iter().map(|(_, frame)| *frame).collect();
            let frames = frames.get(..frames.len().min(slow as usize)).unwrap_or(&frames);
            let filter = format!("{kind} {tell} && {} == {address}", field(*address, "src"));
            let numbers = [
                ("slow", slow as f64),
                ("answers", target.replies as f64),
                ("median_ms", ms(half)),
                ("max_ms", most),
                ("late", target.late as f64),
            ];
            found.add(&PING_LATENCY, title, frames, filter, &numbers);
        }
    }
}
