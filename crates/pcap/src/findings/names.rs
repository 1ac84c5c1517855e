//! Names: servers that fail, are slow, or do not answer.

use super::finding::{FindingList, field, unidirectional};
use super::finding::{Rule, Severity};
use crate::analyze::Pass;
use crate::dns::{DnsStats, FailedNames};
use crate::flow::ms;

/// How much of a name is shown: what is longer was made to be long.
const MAX_NAME_CHARS: usize = 80;

/// Names do not resolve because the server fails.
const DNS_FAILURE: Rule = Rule {
    code: "dns_failure",
    severity: Severity::Warning,
    at_least: 3,
    percent: 2.0,
    when: "so many answers, and so much of all, are SERVFAIL or REFUSED",
    vantage: "Shows what the server said; why it failed is in its own log, or between it and the next server.",
};

/// Names do not exist.
const DNS_NXDOMAIN: Rule = Rule {
    code: "dns_nxdomain",
    severity: Severity::Warning,
    at_least: 10,
    percent: 30.0,
    when: "so many answers to a client within ten seconds, and so much of all then, say that a name does not exist; where another name of the same host does within five seconds, a search list was tried, and that does not count",
    vantage: "Shows what was asked; whether a typing error or software of others asks, the client shows.",
};

/// A server of names does not answer.
const DNS_UNANSWERED: Rule = Rule {
    code: "dns_unanswered",
    severity: Severity::Warning,
    at_least: 3,
    percent: 2.0,
    when: "so many questions to a server, and so much of all to it, were never answered, though there was a second of time; a capture that shows one direction alone blames nobody",
    vantage: "No answer passed here; whether the question arrived, only a capture at the server shows.",
};

/// A server of names is slow.
const DNS_SLOW: Rule = Rule {
    code: "dns_slow",
    severity: Severity::Warning,
    at_least: 3,
    percent: 10.0,
    when: "so many answers of a server, and so much of all its answers, took 200 ms or longer; what was asked again does not count",
    vantage: "The time from this point to the server and back, and what the server waits for itself.",
};

/// Answers do not fit, and nobody asks for the rest.
const DNS_TRUNCATED: Rule = Rule {
    code: "dns_truncated",
    severity: Severity::Warning,
    at_least: 3,
    percent: 50.0,
    when: "so many questions, and so much of all whose answer was cut short, were not asked again by TCP, nor answered whole later",
    vantage: "Nobody asked by TCP past this point: it may be blocked before, or the client makes do with what it got.",
};

/// The rules of this kind.
pub(super) const RULES: [Rule; 5] = [DNS_FAILURE, DNS_NXDOMAIN, DNS_UNANSWERED, DNS_SLOW, DNS_TRUNCATED];

/// Finds what is wrong.
pub(super) fn find(found: &mut FindingList, pass: &Pass) {
    let tally = &pass.dns;
    let failed = &tally.failed;
    if DNS_FAILURE.meets(failed.count, tally.responses) {
        let title = format!(
            "{} of {} answers say SERVFAIL or REFUSED{}",
            failed.count,
            tally.responses,
            often(failed)
        );
        let numbers = [
            ("answers", failed.count as f64),
            ("all_answers", tally.responses as f64),
            ("names", failed.names.len() as f64),
        ];
        let filter = "dns.flags.rcode == 2 || dns.flags.rcode == 5".to_owned();
        found.add(&DNS_FAILURE, title, &failed.frames, filter, &numbers);
    }
    nonexistent(found, tally);
    servers(found, tally, tally.responses == 0 && unidirectional(pass));
    truncated(found, tally);
}

fn nonexistent(found: &mut FindingList, tally: &DnsStats) {
    let mut worst: Vec<_> = tally.clients.all.iter().collect();
    worst.sort_by_key(|(address, client)| (std::cmp::Reverse(client.worst), **address));
    for (address, client) in worst {
        let (count, all) = client.worst;
        if !DNS_NXDOMAIN.meets(count, all) {
            continue;
        }
        let title = format!(
            "{count} of {all} answers to {address} within ten seconds say that the name does not exist{}",
            often(&tally.nonexistent)
        );
        let filter = format!("dns.flags.rcode == 3 && {} == {address}", field(*address, "dst"));
        let numbers = [
            ("answers_in_ten_seconds", count as f64),
            ("all_in_ten_seconds", all as f64),
            ("answers", client.nonexistent as f64),
            ("search_list", client.excused as f64),
        ];
        found.add(&DNS_NXDOMAIN, title, &client.frames, filter, &numbers);
    }
}

fn servers(found: &mut FindingList, tally: &DnsStats, blind: bool) {
    for (server, known) in &tally.servers {
        if !blind && DNS_UNANSWERED.meets(known.unanswered, known.queries) {
            let mut title =
                format!("{server} never answered {} of {} questions", known.unanswered, known.queries);
            if known.refused > 0 {
                title.push_str(&format!("; errors came back about {} of them", known.refused));
            }
            let filter = format!("dns.flags.response == 0 && {} == {server}", field(*server, "dst"));
            let numbers = [
                ("unanswered", known.unanswered as f64),
                ("questions", known.queries as f64),
                ("asked_again", known.retries as f64),
                ("errors", known.refused as f64),
            ];
            found.add(&DNS_UNANSWERED, title, &known.unanswered_frames, filter, &numbers);
        }
        let answers = known.latency.count();
        if DNS_SLOW.meets(known.slow, answers) {
            let (half, most) = (ms(known.latency.percentile(50)), ms(known.latency.max()));
            let title = format!(
                "{} of {answers} answers of {server} took 200 ms or longer, one {most:.0} ms",
                known.slow
            );
            let filter = format!("dns.time >= 0.2 && {} == {server}", field(*server, "src"));
            let numbers = [
                ("slow", known.slow as f64),
                ("answers", answers as f64),
                ("median_ms", half),
                ("p99_ms", ms(known.latency.percentile(99))),
                ("max_ms", most),
            ];
            found.add(&DNS_SLOW, title, &known.slow_frames, filter, &numbers);
        }
    }
}

fn truncated(found: &mut FindingList, tally: &DnsStats) {
    let left = tally.cut.len() as u64;
    if DNS_TRUNCATED.meets(left, left + tally.mended) {
        let mut frames: Vec<u64> = tally.cut.values().copied().collect();
        frames.sort_unstable();
        frames.truncate(5);
        let title = format!("{left} answers were cut short, and nobody asked for the rest by TCP");
        let numbers = [("questions", left as f64), ("asked_by_tcp", tally.mended as f64)];
        let filter = "dns.flags.response == 1 && dns.flags.truncated == 1".to_owned();
        found.add(&DNS_TRUNCATED, title, &frames, filter, &numbers);
    }
}

/// Says which name it was most often.
fn often(failure: &FailedNames) -> String {
    // Of equally frequent ones the first in order.
    let most = failure.names.iter().max_by_key(|(name, count)| (**count, std::cmp::Reverse(*name)));
    most.map(|(name, _)| format!(", most often about {}", clipped(name))).unwrap_or_default()
}

/// Returns the beginning of a name, as code.
pub(super) fn clipped(name: &str) -> String {
    // Names are escaped: each byte is a character, and none ends the code.
    name.get(..MAX_NAME_CHARS).map_or_else(|| format!("`{name}`"), |start| format!("`{start}`…"))
}
