//! What is said over UDP: QUIC, DHCP, NTP, and questions of any kind.

use std::cmp::Reverse;
use std::net::SocketAddr;

use super::finding::{FindingList, field};
use super::finding::{Rule, Severity};
use crate::analyze::Pass;
use crate::protocol::Occurrences;

/// QUIC does not get through.
const QUIC: Rule = Rule {
    code: "quic_unanswered",
    severity: Severity::Warning,
    at_least: 3,
    percent: 50.0,
    when: "so many first packets to a server went unanswered, in so much of all connections to it",
    vantage: "Often UDP 443 is blocked, and clients go back to TCP after a while; which hop drops it, captures on both sides show.",
};

/// Nobody gives addresses.
const DHCP_SILENT: Rule = Rule {
    code: "dhcp_unanswered",
    severity: Severity::Warning,
    at_least: 2,
    percent: 0.0,
    when: "so many searches for a DHCP server, and no offer to that client within three seconds",
    vantage: "Searches are broadcast and offers may be unicast: a port that does not mirror the client's link shows searches alone.",
};

/// An address is refused.
const DHCP_NAK: Rule = Rule {
    code: "dhcp_nak",
    severity: Severity::Warning,
    at_least: 3,
    percent: 0.0,
    when: "a server refused addresses so often; once is usual after a move to another network",
    vantage: "Shows who refused; whether another server would have given the address, the next offers show.",
};

/// Two servers give different networks.
const DHCP_ROGUE: Rule = Rule {
    code: "dhcp_rogue",
    severity: Severity::Warning,
    at_least: 1,
    percent: 0.0,
    when: "so many offers of two servers to the same client name different routers or resolvers",
    vantage: "Shows that clients get one or the other by chance; which server belongs here, its owner knows.",
};

/// Two servers give addresses.
const DHCP_TWO: Rule = Rule {
    code: "dhcp_two_servers",
    severity: Severity::Info,
    at_least: 1,
    percent: 0.0,
    when: "so many offers of two servers to the same client, which name the same router and resolver",
    vantage: "A pair of servers that stand in for each other gives the same picture.",
};

/// Nobody answers searches of the newer version.
const DHCP6: Rule = Rule {
    code: "dhcpv6_unanswered",
    severity: Severity::Info,
    at_least: 3,
    percent: 0.0,
    when: "so many searches for a DHCPv6 server, and no answer to that client within three seconds",
    vantage: "Many systems search though there is no such server; it matters where the router says that there is one.",
};

/// A clock does not answer.
const NTP_SILENT: Rule = Rule {
    code: "ntp_unanswered",
    severity: Severity::Warning,
    at_least: 3,
    percent: 50.0,
    when: "so many questions to a clock, and so much of all to it, were not answered",
    vantage: "No answer passed here; whether the question arrived, only a capture at the server shows.",
};

/// A clock sends clients away.
const NTP_KISS: Rule = Rule {
    code: "ntp_kiss_of_death",
    severity: Severity::Warning,
    at_least: 1,
    percent: 0.0,
    when: "a clock asked clients so often to ask less, or not at all (RATE, DENY, RSTR)",
    vantage: "The client has to obey; a forged answer has the same effect.",
};

/// A clock is not set.
const NTP_UNSET: Rule = Rule {
    code: "ntp_unsynchronized",
    severity: Severity::Warning,
    at_least: 2,
    percent: 0.0,
    when: "a clock said so often that it is not set (leap indicator 3, or no stratum)",
    vantage: "Usual for minutes after a start; later its own servers are out of reach.",
};

/// Questions of any kind without an answer.
const UDP: Rule = Rule {
    code: "udp_unanswered",
    severity: Severity::Info,
    at_least: 3,
    percent: 100.0,
    when: "so many conversations with a service, and all of them, are datagrams to it alone; ports where that is usual are left out",
    vantage: "Protocols that only report look the same; an answer may also have taken a path that does not pass here.",
};

/// The rules of this kind.
pub(super) const RULES: [Rule; 10] =
    [QUIC, DHCP_SILENT, DHCP_NAK, DHCP_ROGUE, DHCP_TWO, DHCP6, NTP_SILENT, NTP_KISS, NTP_UNSET, UDP];

/// Finds what is wrong.
pub(super) fn find(found: &mut FindingList, pass: &Pass) {
    quic(found, pass);
    dhcp(found, pass);
    ntp(found, pass);
    udp(found, pass);
}

fn quic(found: &mut FindingList, pass: &Pass) {
    let mut servers: Vec<_> = pass.protocols.quic.servers.iter().collect();
    servers.sort_by_key(|(server, known)| (Reverse(known.silent.count), **server));
    for (server, known) in servers {
        let often = known.silent.count >= QUIC.at_least;
        if often && known.unanswered as f64 * 100.0 >= QUIC.percent * known.connections as f64 {
            let title = format!(
                "{server} did not answer {} first packets of {} QUIC connections",
                known.silent.count, known.unanswered
            );
            let filter = format!("quic.header_form == 1 && {}", to(*server));
            let numbers = [
                ("initials", known.silent.count as f64),
                ("unanswered", known.unanswered as f64),
                ("connections", known.connections as f64),
            ];
            found.add(&QUIC, title, &known.silent.frames, filter, &numbers);
        }
    }
}

fn dhcp(found: &mut FindingList, pass: &Pass) {
    let (tally, end) = (&pass.protocols.dhcp, pass.counts.last);
    let kinds = [
        (&DHCP_SILENT, tally.unanswered(end), "DHCP", "dhcp.option.dhcp == 1"),
        (&DHCP6, tally.v6_unanswered(end), "DHCPv6", "dhcpv6.msgtype == 1"),
    ];
    for (rule, silence, name, filter) in kinds {
        if rule.meets(silence.questions, 0) {
            let title = format!(
                "nobody answered {} searches of {} clients for a {name} server",
                silence.questions, silence.clients
            );
            let numbers = [("searches", silence.questions as f64), ("clients", silence.clients as f64)];
            found.add(rule, title, &silence.frames, filter.to_owned(), &numbers);
        }
    }
    for (server, known) in &tally.servers {
        let Occurrences { count, frames } = &known.naks;
        if DHCP_NAK.meets(*count, 0) {
            let title = format!("the DHCP server {server} refused {count} addresses");
            let filter = format!("dhcp.option.dhcp == 6 && dhcp.option.dhcp_server_id == {server}");
            found.add(&DHCP_NAK, title, frames, filter, &[("refusals", *count as f64)]);
        }
    }
    for ((one, other), competing) in &tally.competing {
        let (rule, what) = if competing.differ {
            (&DHCP_ROGUE, "different networks")
        } else {
            (&DHCP_TWO, "the same network")
        };
        if rule.meets(competing.count, 0) {
            let title = format!("the DHCP servers {one} and {other} offer the same clients {what}");
            let filter = format!(
                "dhcp.option.dhcp == 2 && (dhcp.option.dhcp_server_id == {one} || dhcp.option.dhcp_server_id == {other})"
            );
            found.add(rule, title, &competing.frames, filter, &[("offers", competing.count as f64)]);
        }
    }
}

fn ntp(found: &mut FindingList, pass: &Pass) {
    for (server, known) in &pass.protocols.ntp.servers {
        let sent = format!("ntp && {} == {server}", field(*server, "src"));
        let kinds = [
            (
                &NTP_SILENT,
                &known.unanswered,
                "did not answer",
                format!("ntp.flags.mode == 3 && {} == {server}", field(*server, "dst")),
            ),
            (&NTP_KISS, &known.kisses, "sent clients away after", format!("ntp.stratum == 0 && {sent}")),
            (
                &NTP_UNSET,
                &known.unset,
                "has a clock that is not set, as it said to",
                format!("(ntp.flags.li == 3 || ntp.stratum == 0) && {sent}"),
            ),
        ];
        for (rule, Occurrences { count, frames }, what, filter) in kinds {
            if rule.meets(*count, known.requests) {
                let title = format!("{server} {what} {count} of {} questions for the time", known.requests);
                let numbers = [("answers", *count as f64), ("questions", known.requests as f64)];
                found.add(rule, title, frames, filter, &numbers);
            }
        }
    }
}

fn udp(found: &mut FindingList, pass: &Pass) {
    let quic = &pass.protocols.quic.servers;
    let mut services: Vec<_> = pass
        .protocols
        .udp
        .services
        .iter()
        .filter(|(server, known)| UDP.meets(known.ignored, known.flows) && !quic.contains_key(server))
        .collect();
    services.sort_by_key(|(server, known)| (Reverse(known.silent.count), **server));
    for (server, known) in services {
        let title = format!("nothing came back from {server} in {} UDP conversations", known.ignored);
        let numbers = [("conversations", known.ignored as f64), ("datagrams", known.silent.count as f64)];
        found.add(&UDP, title, &known.silent.frames, to(*server), &numbers);
    }
}

/// A filter for datagrams to a service.
fn to(server: SocketAddr) -> String {
    format!("{} == {} && udp.dstport == {}", field(server.ip(), "dst"), server.ip(), server.port())
}
