//! The table of findings: what they are called, from when on they are made, how bad they are.

use serde::Serialize;

use super::finding::Severity;

/// A rule. Its limits are data: they are printed by `ghost pcap rules`, and nothing else holds them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Rule {
    /// The name of its findings, for ever the same.
    pub code: &'static str,
    /// How bad they are.
    pub severity: Severity,
    /// How often it has to happen.
    pub at_least: u64,
    /// Which part of all it has to be, in percent.
    pub percent: f64,
    /// When a finding is made.
    pub when: &'static str,
    /// What a capture can and cannot show of it.
    pub vantage: &'static str,
}

/// Two hosts claim the same address.
pub(super) const ARP_CONFLICT: Rule = Rule {
    code: "arp_conflict",
    severity: Severity::Critical,
    at_least: 2,
    percent: 0.0,
    when: "the owner of an address changes at least so often; addresses that routers share are left out",
    vantage: "Shows who claims the address on this link; not which of them is right.",
};
/// An address changed its owner once.
pub(super) const ARP_MOVED: Rule = Rule {
    code: "arp_moved",
    severity: Severity::Info,
    at_least: 1,
    percent: 0.0,
    when: "the owner of an address changes once",
    vantage: "A move of the address looks the same as the beginning of an attack.",
};
/// Nobody owns an address that is asked for.
pub(super) const ARP_UNANSWERED: Rule = Rule {
    code: "arp_unanswered",
    severity: Severity::Warning,
    at_least: 3,
    percent: 0.0,
    when: "so many requests for an address since its last answer; announcements and probes do not count",
    vantage: "Answers are unicast: a port that does not mirror the asker's link shows requests alone.",
};
/// A service does not answer.
pub(super) const SYN_UNANSWERED: Rule = Rule {
    code: "syn_unanswered",
    severity: Severity::Warning,
    at_least: 3,
    percent: 0.0,
    when: "so many SYNs to a service in connections to which nothing came back",
    vantage: "Nothing passed here on the way back; whether the SYN arrived, only a capture at the other end shows.",
};
/// A service refuses.
pub(super) const TCP_REFUSED: Rule = Rule {
    code: "tcp_refused",
    severity: Severity::Warning,
    at_least: 1,
    percent: 0.0,
    when: "so many connections to a service were answered with RST",
    vantage: "The RST came from the address of the service; a device in between can write one just as well.",
};
/// Somebody else may have reset a connection.
pub(super) const RESET_FOREIGN: Rule = Rule {
    code: "tcp_reset_foreign",
    severity: Severity::Warning,
    at_least: 1,
    percent: 0.0,
    when: "so many connections were reset by a packet whose time to live is 3 or more off that of its sender's others",
    vantage: "Another way to here suggests a device in between; a reset that it wrote with the right hops looks real.",
};
/// Data was sent again.
pub(super) const RETRANSMISSION: Rule = Rule {
    code: "tcp_retransmission",
    severity: Severity::Warning,
    at_least: 3,
    percent: 1.0,
    when: "so many packets, and so much of all that carried something, were sent again",
    vantage: "Both copies passed here or the first was lost before; where it was lost, a capture at the other end shows.",
};
/// A receiver takes nothing more.
pub(super) const ZERO_WINDOW: Rule = Rule {
    code: "tcp_zero_window",
    severity: Severity::Warning,
    at_least: 2,
    percent: 0.0,
    when: "so many packets announce a window of nothing",
    vantage: "The application on that end does not read; the network has no part in it.",
};
/// Something is missing from the capture.
pub(super) const GAPS: Rule = Rule {
    code: "tcp_gaps",
    severity: Severity::Info,
    at_least: 3,
    percent: 0.0,
    when: "so many segments follow a gap",
    vantage: "Lost before this point, or dropped by the capture itself: the next capture, with a larger buffer, tells.",
};
/// Names do not resolve because the server fails.
pub(super) const DNS_FAILURE: Rule = Rule {
    code: "dns_failure",
    severity: Severity::Warning,
    at_least: 3,
    percent: 2.0,
    when: "so many answers, and so much of all, are SERVFAIL or REFUSED",
    vantage: "Shows what the server said; why it failed is in its own log, or between it and the next server.",
};
/// Names do not exist.
pub(super) const DNS_NXDOMAIN: Rule = Rule {
    code: "dns_nxdomain",
    severity: Severity::Warning,
    at_least: 5,
    percent: 15.0,
    when: "so many answers, and so much of all, say that the name does not exist",
    vantage: "Shows what was asked; whether a search list, a typing error or software of others asks, the host shows.",
};
/// A server of names does not answer.
pub(super) const DNS_UNANSWERED: Rule = Rule {
    code: "dns_unanswered",
    severity: Severity::Warning,
    at_least: 3,
    percent: 2.0,
    when: "so many questions to a server, and so much of all to it, were never answered",
    vantage: "No answer passed here; whether the question arrived, only a capture at the server shows.",
};
/// Somebody says that something cannot be reached.
pub(super) const UNREACHABLE: Rule = Rule {
    code: "icmp_unreachable",
    severity: Severity::Warning,
    at_least: 3,
    percent: 0.0,
    when: "the same sender says so often that the same destination cannot be reached",
    vantage: "Errors can be forged, and many devices send none: that there are few says nothing.",
};
/// Packets are too large for the path, and stay so.
pub(super) const PMTU: Rule = Rule {
    code: "pmtu_blackhole",
    severity: Severity::Warning,
    at_least: 3,
    percent: 0.0,
    when: "the same router says so often that packets to the same destination are too large",
    vantage: "Repeated errors mean that the sender does not obey, or never gets them; a capture at the sender tells which.",
};

/// Packets run in a circle.
pub(super) const LOOP: Rule = Rule {
    code: "routing_loop",
    severity: Severity::Warning,
    at_least: 5,
    percent: 0.0,
    when: "the same router says so often that packets to the same destination and port have come too far",
    vantage: "A trace of the route makes such errors on purpose, though seldom so many by one router about one port.",
};
/// A router knows a better one.
pub(super) const REDIRECT: Rule = Rule {
    code: "icmp_redirect",
    severity: Severity::Info,
    at_least: 1,
    percent: 0.0,
    when: "so many redirects by the same router about the same destination",
    vantage: "Shows what the router says; whether the host obeys, its next packets show.",
};

/// Every rule.
pub(super) const RULES: [Rule; 16] = [
    ARP_CONFLICT,
    ARP_MOVED,
    ARP_UNANSWERED,
    SYN_UNANSWERED,
    TCP_REFUSED,
    RESET_FOREIGN,
    RETRANSMISSION,
    ZERO_WINDOW,
    GAPS,
    DNS_FAILURE,
    DNS_NXDOMAIN,
    DNS_UNANSWERED,
    UNREACHABLE,
    PMTU,
    LOOP,
    REDIRECT,
];

/// Returns every rule that a finding can come from.
#[must_use]
pub fn rules() -> &'static [Rule] {
    &RULES
}

impl Rule {
    /// Says whether it happened often enough.
    pub(super) fn meets(&self, count: u64, all: u64) -> bool {
        count >= self.at_least && count as f64 * 100.0 >= self.percent * all as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_has_a_code_of_its_own() {
        let mut codes: Vec<&str> = rules().iter().map(|rule| rule.code).collect();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), rules().len());
    }
}
