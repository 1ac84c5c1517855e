//! TLS: handshakes that fail, and what they could be better by.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use super::finding::{FindingList, field, times};
use super::finding::{Rule, Severity};
use crate::analyze::Pass;
use crate::protocol::{HandshakeEnding, Occurrences, TlsServer, alert_name, version_name};

/// One side ends a handshake with an alert.
const ALERT: Rule = Rule {
    code: "tls_alert",
    severity: Severity::Warning,
    at_least: 1,
    percent: 5.0,
    when: "so many handshakes with a server and name, and so much of all, ended with a plain fatal alert",
    vantage: "Shows alerts that were sent in the open; from the middle of a TLS 1.3 handshake on they are encrypted.",
};

/// A hello is not answered.
const UNANSWERED: Rule = Rule {
    code: "tls_unanswered",
    severity: Severity::Warning,
    at_least: 2,
    percent: 5.0,
    when: "so many hellos to a server and name, and so much of all, were not answered, though the connection was accepted",
    vantage: "The port is open and the hello passed here; a device that dislikes the name, or a path that swallows large packets, gives the same picture.",
};

/// A handshake ends without a word.
const ABORTED: Rule = Rule {
    code: "tls_aborted",
    severity: Severity::Warning,
    at_least: 2,
    percent: 20.0,
    when: "so many handshakes with a server and name, and so much of all, ended between the server's hello and secrecy, or in an encrypted alert",
    vantage: "Shows who ended it, not why: an encrypted alert is known by its length alone; the log of that end tells more.",
};

/// A server answers with something else.
const FOREIGN: Rule = Rule {
    code: "tls_not_spoken",
    severity: Severity::Warning,
    at_least: 2,
    percent: 20.0,
    when: "so many hellos to a server and name, and so much of all, were answered by something that is not TLS",
    vantage: "The port answers, by another protocol; which one, the first bytes of its answer show.",
};

/// A certificate was no longer good.
const EXPIRED: Rule = Rule {
    code: "tls_certificate_expired",
    severity: Severity::Warning,
    at_least: 1,
    percent: 0.0,
    when: "so many certificates were no longer good when they were sent, by the clock of the capture",
    vantage: "Certificates are in the open up to TLS 1.2 alone; the clock of the capturing machine is believed.",
};

/// An old version is spoken.
const OLD: Rule = Rule {
    code: "tls_old_version",
    severity: Severity::Info,
    at_least: 1,
    percent: 0.0,
    when: "a server chose a version before TLS 1.2 so often",
    vantage: "The server chose from what the client offered: either may be the old one.",
};

/// The rules of this kind.
pub(super) const RULES: [Rule; 6] = [ALERT, UNANSWERED, ABORTED, FOREIGN, EXPIRED, OLD];

/// Finds what is wrong.
pub(super) fn find(found: &mut FindingList, pass: &Pass) {
    let mut servers: Vec<&TlsServer> = pass.protocols.tls.servers.iter().collect();
    servers.sort_by_key(|server| std::cmp::Reverse((server.failed(), server.hellos)));
    for server in servers {
        alerts(found, server);
        failures(found, server);
        old(found, server);
    }
}

/// A server as people call it.
fn called(server: &TlsServer) -> String {
    match &server.name {
        Some(name) => format!("{} ({name})", server.server),
        None => server.server.to_string(),
    }
}

fn alerts(found: &mut FindingList, server: &TlsServer) {
    for (alert, seen) in server.alerts.iter().filter(|(alert, _)| alert.trouble()) {
        if !ALERT.meets(seen.count, server.hellos) {
            continue;
        }
        let (name, who) = (alert_name(alert.what), if alert.server { "the server" } else { "the client" });
        let title = format!(
            "{who} ended TLS handshakes with {} {}: {name} ({})",
            called(server),
            times(seen.count),
            alert.what
        );
        let filter =
            format!("tls.alert_message.desc == {} && {}", alert.what, end(server.server, alert.server));
        let numbers = [
            ("alerts", seen.count as f64),
            ("handshakes", server.hellos as f64),
            ("description", f64::from(alert.what)),
        ];
        found.add(&ALERT, title, &seen.frames, filter, &numbers);
    }
}

fn failures(found: &mut FindingList, server: &TlsServer) {
    let (address, who) = (server.server, called(server));
    let numbers = |name: &'static str, times: &Occurrences| {
        [(name, times.count as f64), ("handshakes", server.hellos.max(server.answered) as f64)]
    };
    let all = server.hellos.max(server.answered);
    let silent = &server.unanswered;
    if UNANSWERED.meets(silent.count, all) {
        let title = format!(
            "{who} accepted, and did not answer {} of {all} TLS hellos{}",
            silent.count,
            ended(&server.silences)
        );
        // A hello that never was complete is none for other readers.
        let filter = format!("tcp.len > 0 && {}", end(address, false));
        found.add(&UNANSWERED, title, &silent.frames, filter, &numbers("unanswered", silent));
    }
    let aborted = server.aborted.count + server.hidden.count;
    if ABORTED.meets(aborted, all) {
        let mut title =
            format!("{aborted} of {all} TLS handshakes with {who} ended halfway{}", ended(&server.ends));
        if server.hidden.count > 0 {
            title.push_str(&format!("; {} in an encrypted alert of the client", server.hidden.count));
        }
        let (times, filter) = if server.aborted.count > 0 {
            (&server.aborted, format!("tls.handshake.type == 2 && {}", end(address, true)))
        } else {
            (&server.hidden, format!("tls.record.length == 19 && {}", end(address, false)))
        };
        let numbers = [
            ("aborted", server.aborted.count as f64),
            ("encrypted_alerts", server.hidden.count as f64),
            ("handshakes", all as f64),
        ];
        found.add(&ABORTED, title, &times.frames, filter, &numbers);
    }
    let foreign = &server.foreign;
    if FOREIGN.meets(foreign.count, all) {
        let title =
            format!("{who} answered {} of {all} TLS hellos by something that is not TLS", foreign.count);
        let filter = format!("tcp.len > 0 && {}", end(address, true));
        found.add(&FOREIGN, title, &foreign.frames, filter, &numbers("foreign", foreign));
    }
    let expired = &server.expired;
    if EXPIRED.meets(expired.count, 0) {
        let title = format!("the certificate of {who} was no longer good, seen {}", times(expired.count));
        let filter = format!("tls.handshake.type == 11 && {}", end(address, true));
        found.add(&EXPIRED, title, &expired.frames, filter, &numbers("certificates", expired));
    }
}

fn old(found: &mut FindingList, server: &TlsServer) {
    for (version, times) in server.versions.range(0x0002..0x0303) {
        if OLD.meets(times.count, 0) {
            let title = format!(
                "{} chose {} for {} connections",
                called(server),
                version_name(*version),
                times.count
            );
            let filter = format!(
                "tls.handshake.type == 2 && tls.handshake.version == {version:#06x} && {}",
                end(server.server, true)
            );
            let numbers = [("handshakes", times.count as f64), ("version", f64::from(*version))];
            found.add(&OLD, title, &times.frames, filter, &numbers);
        }
    }
}

/// How handshakes ended that came to nothing.
fn ended(endings: &BTreeMap<HandshakeEnding, u64>) -> String {
    let parts: Vec<String> =
        endings.iter().map(|(ending, count)| format!("{} {count}", ending.words())).collect();
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}

/// A filter for what an end sends, or gets.
pub(super) fn end(server: SocketAddr, sends: bool) -> String {
    let side = if sends { "src" } else { "dst" };
    format!("{} == {} && tcp.{side}port == {}", field(server.ip(), side), server.ip(), server.port())
}
