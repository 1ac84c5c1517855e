//! The link: who claims which address, by ARP or neighbor discovery.

use std::net::IpAddr;

use super::finding::FindingList;
use super::finding::{Rule, Severity};
use crate::analyze::Pass;
use crate::arp::NeighborStats;
use crate::summary::mac;

/// Two hosts claim the same address.
const ARP_CONFLICT: Rule = Rule {
    code: "arp_conflict",
    severity: Severity::Critical,
    at_least: 2,
    percent: 0.0,
    when: "the owner of an address changes again so often within ten seconds of the change before; changes between addresses that routers or clusters share are left out",
    vantage: "Shows who claims the address on this link, not which of them is right; a host with several cards may answer with each.",
};

/// Another one answers for an address.
const ARP_TAKEOVER: Rule = Rule {
    code: "arp_takeover",
    severity: Severity::Warning,
    at_least: 1,
    percent: 0.0,
    when: "so many answers, announcements not counted, give an address to another owner within ten seconds of what the former one said",
    vantage: "Two hosts with the same address, a router that answers for a host, or the beginning of an attack look alike.",
};

/// An address changed its owner once.
const ARP_MOVED: Rule = Rule {
    code: "arp_moved",
    severity: Severity::Info,
    at_least: 1,
    percent: 0.0,
    when: "the owner of an address changes so often, and stays for longer than ten seconds",
    vantage: "A move of the address cannot be distinguished from the beginning of an attack.",
};

/// Nobody owns an address that is asked for.
const ARP_UNANSWERED: Rule = Rule {
    code: "arp_unanswered",
    severity: Severity::Warning,
    at_least: 5,
    percent: 0.0,
    when: "so many requests of one host for an address, none more than three seconds after the one before, without a sign of life from it",
    vantage: "Answers are unicast: a port that does not mirror the asker's link shows requests alone; that they are repeated suggests that none came.",
};

/// An address was wanted that somebody has.
const ADDRESS_TAKEN: Rule = Rule {
    code: "address_taken",
    severity: Severity::Warning,
    at_least: 1,
    percent: 0.0,
    when: "so many hosts ask whether an address is free, and another one says within five seconds that it is not",
    vantage: "Shows that both want it; which of them was given it, the address server or the configuration tells.",
};

/// An address is announced all the time.
const ANNOUNCED: Rule = Rule {
    code: "arp_announcements",
    severity: Severity::Warning,
    at_least: 20,
    percent: 0.0,
    when: "so many announcements of the same address within ten seconds",
    vantage: "A few announcements follow each start or takeover; that many suggest that it goes on and on.",
};

/// Somebody answers without being asked.
const UNASKED: Rule = Rule {
    code: "arp_unasked",
    severity: Severity::Info,
    at_least: 10,
    percent: 20.0,
    when: "so many answers, and so much of all, to no question within five seconds before; announcements do not count",
    vantage: "Questions go to everybody and would be seen here, unless they were asked of one host alone.",
};

/// The rules of this kind.
pub(super) const RULES: [Rule; 7] =
    [ARP_CONFLICT, ARP_TAKEOVER, ARP_MOVED, ARP_UNANSWERED, ADDRESS_TAKEN, ANNOUNCED, UNASKED];

/// Finds what is wrong.
pub(super) fn find(found: &mut FindingList, pass: &Pass) {
    for tally in [&pass.arp, &pass.ndp] {
        conflicts(found, tally);
        taken(found, tally);
        announced(found, tally);
        silent(found, tally);
    }
    let tally = &pass.arp;
    if UNASKED.meets(tally.unasked, tally.replies) {
        let title = format!("{} of {} ARP answers were not asked for", tally.unasked, tally.replies);
        let numbers = [("answers", tally.unasked as f64), ("all_answers", tally.replies as f64)];
        found.add(&UNASKED, title, &tally.unasked_frames, "arp.opcode == 2".to_owned(), &numbers);
    }
}

fn conflicts(found: &mut FindingList, tally: &NeighborStats) {
    let mut worst = tally.conflicts();
    worst.sort_by_key(|(_, address)| std::cmp::Reverse(address.claimant_changes));
    for ((_, ip), address) in worst {
        let rule = if ARP_CONFLICT.meets(address.quick, 0) {
            &ARP_CONFLICT
        } else if ARP_TAKEOVER.meets(address.rival_answers, 0) {
            &ARP_TAKEOVER
        } else {
            &ARP_MOVED
        };
        let macs: Vec<String> = address.claims.iter().map(|claim| mac(claim.mac)).collect();
        let frames: Vec<u64> = address.claims.iter().map(|claim| claim.frame).collect();
        let title = format!("{ip} is claimed by {}", macs.join(" and "));
        let numbers = [
            ("claimants", macs.len() as f64),
            ("changes", address.claimant_changes as f64),
            ("quick_changes", address.quick as f64),
            ("rival_answers", address.rival_answers as f64),
        ];
        found.add(rule, title, &frames, claims(ip), &numbers);
    }
}

fn taken(found: &mut FindingList, tally: &NeighborStats) {
    for ((_, ip), address) in tally.filtered(|address| address.taken.is_some()) {
        let Some((wanted, owner, frame)) = address.taken else {
            continue;
        };
        let title = format!("{} wants {ip}, which {} has", mac(wanted), mac(owner));
        found.add(&ADDRESS_TAKEN, title, &[frame], claims(ip), &[("hosts", 2.0)]);
    }
}

fn announced(found: &mut FindingList, tally: &NeighborStats) {
    let mut worst = tally.filtered(|address| ANNOUNCED.meets(address.announced, 0));
    worst.sort_by_key(|(_, address)| std::cmp::Reverse(address.announced));
    for ((_, ip), address) in worst {
        let title = format!("{ip} is announced up to {} times within ten seconds", address.announced);
        let filter = match ip {
            IpAddr::V4(_) => format!("arp.src.proto_ipv4 == {ip} && arp.dst.proto_ipv4 == {ip}"),
            IpAddr::V6(_) => format!("icmpv6.nd.na.target_address == {ip}"),
        };
        let numbers = [("announcements", address.announced as f64)];
        found.add(&ANNOUNCED, title, &address.announced_frames, filter, &numbers);
    }
}

fn silent(found: &mut FindingList, tally: &NeighborStats) {
    let mut worst = tally.filtered(|address| ARP_UNANSWERED.meets(address.silent, 0));
    worst.sort_by_key(|(_, address)| std::cmp::Reverse(address.silent));
    for ((_, ip), address) in worst {
        let title = format!("nobody answered {} requests for {ip}", address.silent);
        let filter = match ip {
            IpAddr::V4(_) => format!("arp.opcode == 1 && arp.dst.proto_ipv4 == {ip}"),
            IpAddr::V6(_) => format!("icmpv6.nd.ns.target_address == {ip}"),
        };
        let numbers = [("requests", address.silent as f64)];
        found.add(&ARP_UNANSWERED, title, &address.silent_frames, filter, &numbers);
    }
}

/// Returns a filter for those who claim an address.
fn claims(ip: IpAddr) -> String {
    match ip {
        IpAddr::V4(_) => format!("arp.src.proto_ipv4 == {ip}"),
        IpAddr::V6(_) => {
            format!("icmpv6.nd.na.target_address == {ip} || icmpv6.type == 135 && ipv6.src == {ip}")
        }
    }
}
