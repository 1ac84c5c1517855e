//! Names: servers that fail, or do not answer.

use super::filter::field;
use super::find::Found;
use super::finding::Severity;
use super::rule::Rule;
use crate::pcap::analyze::Pass;

/// How much of a name is shown: what is longer was made to be long.
const NAME: usize = 80;

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
    at_least: 5,
    percent: 15.0,
    when: "so many answers, and so much of all, say that the name does not exist",
    vantage: "Shows what was asked; whether a search list, a typing error or software of others asks, the host shows.",
};

/// A server of names does not answer.
const DNS_UNANSWERED: Rule = Rule {
    code: "dns_unanswered",
    severity: Severity::Warning,
    at_least: 3,
    percent: 2.0,
    when: "so many questions to a server, and so much of all to it, were never answered",
    vantage: "No answer passed here; whether the question arrived, only a capture at the server shows.",
};

/// The rules of this kind.
pub(super) const RULES: [Rule; 3] = [DNS_FAILURE, DNS_NXDOMAIN, DNS_UNANSWERED];

/// Finds what is wrong.
pub(super) fn find(found: &mut Found, pass: &Pass) {
    let tally = &pass.dns;
    let kinds = [
        (&DNS_FAILURE, &tally.failed, "SERVFAIL or REFUSED", "dns.flags.rcode == 2 || dns.flags.rcode == 5"),
        (&DNS_NXDOMAIN, &tally.missing, "that the name does not exist", "dns.flags.rcode == 3"),
    ];
    for (rule, failure, what, filter) in kinds {
        if !rule.meets(failure.count, tally.responses) {
            continue;
        }
        let most = failure.names.iter().max_by_key(|(_, count)| **count);
        let name = most.map(|(name, _)| format!(", most often about {}", clipped(name))).unwrap_or_default();
        let title = format!("{} of {} answers say {what}{name}", failure.count, tally.responses);
        let numbers = [
            ("answers", failure.count as f64),
            ("all_answers", tally.responses as f64),
            ("names", failure.names.len() as f64),
        ];
        found.add(rule, title, &failure.frames, filter.to_owned(), &numbers);
    }
    for (server, known) in &tally.servers {
        if DNS_UNANSWERED.meets(known.unanswered, known.queries) {
            let title =
                format!("{server} never answered {} of {} questions", known.unanswered, known.queries);
            let filter = format!("dns.flags.response == 0 && {} == {server}", field(*server, "dst"));
            let numbers = [("unanswered", known.unanswered as f64), ("questions", known.queries as f64)];
            found.add(&DNS_UNANSWERED, title, &known.unanswered_frames, filter, &numbers);
        }
    }
}

/// Returns the beginning of a name.
fn clipped(name: &str) -> String {
    // Names are escaped: each byte is a character.
    name.get(..NAME).map_or_else(|| name.to_owned(), |start| format!("{start}…"))
}
