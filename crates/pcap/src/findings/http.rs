//! HTTP: servers that fail, and requests that get no answer.

use super::finding::FindingList;
use super::finding::{Rule, Severity};
use super::tls::end;
use crate::analyze::Pass;
use crate::protocol::{HttpServer, Occurrences};

/// A server fails.
const ERRORS: Rule = Rule {
    code: "http_server_errors",
    severity: Severity::Warning,
    at_least: 3,
    percent: 5.0,
    when: "so many answers of a server, and so much of all, begin with 5",
    vantage: "The server says so itself, or a proxy in its name; why, its log shows.",
};

/// A server does not answer.
const UNANSWERED: Rule = Rule {
    code: "http_unanswered",
    severity: Severity::Warning,
    at_least: 3,
    percent: 5.0,
    when: "so many requests to a server, and so much of all, were followed by the end of the connection, or a minute of nothing",
    vantage: "The request passed here and was not answered here; whether the server saw it, its log shows.",
};

/// A server refuses what is asked for.
const REFUSED: Rule = Rule {
    code: "http_client_errors",
    severity: Severity::Info,
    at_least: 10,
    percent: 20.0,
    when: "so many answers of a server, and so much of all, begin with 4",
    vantage: "What was asked for is not shown here, paths may hold secrets; the frames show it.",
};

/// The rules of this kind.
pub(super) const RULES: [Rule; 3] = [ERRORS, UNANSWERED, REFUSED];

/// Finds what is wrong.
pub(super) fn find(found: &mut FindingList, pass: &Pass) {
    let mut servers: Vec<&HttpServer> = pass.protocols.http.servers.iter().collect();
    servers
        .sort_by_key(|server| std::cmp::Reverse((server.class(5), server.unanswered.count, server.class(4))));
    for server in servers {
        let address = server.server;
        let [fourth, fifth] = &server.bad;
        let all = server.responses;
        let kinds = [(&ERRORS, 5, fifth, "errors of its own"), (&REFUSED, 4, fourth, "refusals")];
        for (rule, first, frames, what) in kinds {
            let count = server.class(first);
            if rule.meets(count, all) {
                let codes = server.codes.range(first * 100..(first + 1) * 100);
                let most = codes.max_by_key(|(_, count)| **count).map_or(0, |(code, _)| *code);
                let title = format!("{count} of {all} answers of {address} are {what}, most often {most}");
                // Wireshark shows an answer where its body ends; this shows where it begins.
                let filter =
                    format!("tcp.payload matches \"^HTTP/1[.][01] {first}\" && {}", end(address, true));
                let numbers =
                    [("answers", count as f64), ("all_answers", all as f64), ("code", f64::from(most))];
                found.add(rule, title, &frames.frames, filter, &numbers);
            }
        }
        let Occurrences { count: silent, frames } = &server.unanswered;
        if UNANSWERED.meets(*silent, server.requests) {
            let title = format!("{address} did not answer {silent} of {} HTTP requests", server.requests);
            let filter =
                format!("tcp.payload matches \"^[A-Z]+ [^ ]+ HTTP/1[.]\" && {}", end(address, false));
            let numbers = [("unanswered", *silent as f64), ("requests", server.requests as f64)];
            found.add(&UNANSWERED, title, frames, filter, &numbers);
        }
    }
}
