//! The first lines of a report: the main findings, how certain they are, what was analyzed.

use super::escape::words;
use super::evidence::most_in;
use super::next::step;
use super::number::{bytes, of, span};
use crate::findings::{Finding, Severity};
use crate::flow::State;
use crate::summary::Summary;

/// How much of a title stands in a sentence.
const MAX_TITLE_LEN: usize = 240;

/// Returns the summary: two to four sentences.
pub(super) fn sentences(summary: &Summary) -> String {
    if summary.file.packets == 0 {
        return "The capture holds no packet. That says nothing of the network: see whether the filter of the capture, its interface and its time were right.".to_owned();
    }
    let bad: Vec<&Finding> =
        summary.findings.iter().filter(|finding| finding.severity != Severity::Info).collect();
    let mut said = Vec::new();
    if let Some((worst, others)) = bad.split_first() {
        let most = most_in(worst, summary)
            .map_or_else(String::new, |flow| format!(", most of them between {} and {}", flow.a, flow.b));
        said.push(format!("**{}** ({})", sentence(&(title(worst) + &most)), worst.severity.name()));
        match others {
            [] => {}
            [other] => said.push(format!("Also: {}.", title(other))),
            [other, rest @ ..] => {
                let more = of(rest.len() as u64, "more finding", "more findings");
                said.push(format!("Also: {}, and {more}.", title(other)));
            }
        }
        said.push(sure(summary));
        said.push(format!("Next: {}.", step(worst.code).then()));
    } else {
        let (seen, kinds) = (seen(summary), kinds(summary));
        if kinds.is_empty() {
            let packets = of(summary.file.packets, "packet is", "packets are");
            said.push(format!("**Nothing can be said:** the {packets} of no kind that is looked into."));
            return said.join(" ");
        }
        let looked_at = listed(&kinds);
        if seen.is_empty() {
            said.push(format!("**Nothing is wrong in what was captured:** {looked_at}."));
        } else {
            said.push(format!("**Nothing is above the limits of the rules:** {looked_at}."));
            said.push(format!("Seen all the same: {}.", seen.join(", ")));
        }
        if let Some(info) = summary.findings.first() {
            said.push(format!("Good to know: {}.", title(info)));
        }
        said.push(sure(summary));
    }
    said.join(" ")
}

/// Returns what was looked at, in one line.
pub(super) fn facts(summary: &Summary) -> String {
    let file = &summary.file;
    let begin = file.first.as_deref().map(|first| first.get(..19).unwrap_or(first).replace('T', " "));
    let begin = begin.map(|begin| format!(", from {begin} UTC on")).unwrap_or_default();
    let cut = if file.cut_off { "; the file is cut off" } else { "" };
    let digest = file.sha256.as_deref().map(|sum| format!("\nSHA-256 `{sum}`")).unwrap_or_default();
    format!(
        "{}, {} in {}{begin} ({}){cut}.{digest}",
        of(file.packets, "packet", "packets"),
        bytes(file.bytes),
        span(file.duration_s),
        file.format
    )
}

/// Returns a finding's title as words, not too long.
pub(super) fn title(finding: &Finding) -> String {
    if finding.title.chars().count() <= MAX_TITLE_LEN {
        return words(&finding.title);
    }
    let begin: String = finding.title.chars().take(MAX_TITLE_LEN).collect();
    words(&begin) + "…"
}

fn sentence(words: &str) -> String {
    let mut chars = words.chars();
    let first = chars.next().map(|first| first.to_ascii_uppercase()).into_iter();
    let stop = if words.ends_with('…') { None } else { Some('.') };
    first.chain(chars).chain(stop).collect()
}

/// Returns what was looked into.
fn kinds(summary: &Summary) -> Vec<String> {
    let count = |name: &str| summary.counts.get(name).copied().unwrap_or(0);
    there(&[
        (summary.tcp.streams, "TCP connection", "TCP connections"),
        (count("udp"), "UDP packet", "UDP packets"),
        (summary.dns.queries, "DNS question", "DNS questions"),
        (count("icmp") + count("icmpv6"), "ICMP packet", "ICMP packets"),
        (count("arp"), "ARP packet", "ARP packets"),
    ])
}

/// Returns what there is any of.
fn there(parts: &[(u64, &str, &str)]) -> Vec<String> {
    parts.iter().filter(|(count, ..)| *count > 0).map(|(count, one, many)| of(*count, one, many)).collect()
}

fn listed(parts: &[String]) -> String {
    match parts.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, before)) => format!("{} and {last}", before.join(", ")),
    }
}

/// Returns what went wrong too seldom for a rule and too often to be called nothing.
fn seen(summary: &Summary) -> Vec<String> {
    let count = |name: &str| summary.counts.get(name).copied().unwrap_or(0);
    let again = if summary.tcp.retransmission_pct < MAX_RARE_PERCENT { 0 } else { count("retransmission") };
    let complaints: u64 = summary.icmp.unreachable.iter().map(|entry| entry.count).sum();
    let gaps = if again == 0 { 0 } else { count("lost_segment") };
    let parts = [
        (again, "retransmission", "retransmissions"),
        (gaps, "segment after a gap", "segments after a gap"),
        (count("zero_window"), "window of nothing", "windows of nothing"),
        (complaints, "ICMP error about what cannot be reached", "ICMP errors about what cannot be reached"),
        (summary.dns.unanswered, "unanswered question", "unanswered questions"),
        (summary.arp.unanswered, "unanswered ARP request", "unanswered ARP requests"),
    ];
    there(&parts)
}

/// Says how sure all of it is, and what it rests on.
fn sure(summary: &Summary) -> String {
    let file = &summary.file;
    let streams = summary.tcp.streams;
    let unidirectional = summary.tcp.states.get(&State::Unidirectional).copied().unwrap_or(0);
    let mut doubts = Vec::new();
    if file.cut_off {
        doubts.push("the file is cut off, and what came later is not known".to_owned());
    }
    if file.dropped > 0 {
        let lost = of(file.dropped, "packet", "packets");
        doubts.push(format!("the capturing side dropped {lost}, so that gaps may be its own"));
    }
    if unidirectional > 0 && unidirectional * 5 >= streams * 4 {
        doubts.push(
            "only one direction was captured, so that what is missing may have passed elsewhere".to_owned(),
        );
    }
    if file.packets < MIN_STREAMS {
        doubts.push(format!("there is little to judge by, {}", of(file.packets, "packet", "packets")));
    }
    if !doubts.is_empty() {
        return format!("How sure: limited, {}.", doubts.join("; "));
    }
    let both = if streams > unidirectional { ", both directions are in it" } else { "" };
    format!("How sure: high for this capture point; the file is whole{both}, and no drops are recorded.")
}

/// How many retransmissions in a hundred are nothing.
const MAX_RARE_PERCENT: f64 = 1.0;
/// Fewer packets than this are an anecdote.
const MIN_STREAMS: u64 = 5;
