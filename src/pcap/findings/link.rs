//! The link: who claims which address.

use super::find::Found;
use super::finding::Severity;
use super::rule::Rule;
use crate::pcap::analyze::Pass;

/// Hardware addresses that routers share on purpose (VRRP, HSRP, both versions).
const SHARED: [&[u8]; 3] = [&[0, 0, 0x5e, 0], &[0, 0, 0x0c, 7, 0xac], &[0, 0, 0x0c, 0x9f, 0xf0]];

/// Two hosts claim the same address.
const ARP_CONFLICT: Rule = Rule {
    code: "arp_conflict",
    severity: Severity::Critical,
    at_least: 2,
    percent: 0.0,
    when: "the owner of an address changes at least so often; addresses that routers share are left out",
    vantage: "Shows who claims the address on this link; not which of them is right.",
};

/// An address changed its owner once.
const ARP_MOVED: Rule = Rule {
    code: "arp_moved",
    severity: Severity::Info,
    at_least: 1,
    percent: 0.0,
    when: "the owner of an address changes once",
    vantage: "A move of the address looks the same as the beginning of an attack.",
};

/// Nobody owns an address that is asked for.
const ARP_UNANSWERED: Rule = Rule {
    code: "arp_unanswered",
    severity: Severity::Warning,
    at_least: 3,
    percent: 0.0,
    when: "so many requests for an address since its last answer; announcements and probes do not count",
    vantage: "Answers are unicast: a port that does not mirror the asker's link shows requests alone.",
};

/// The rules of this kind.
pub(super) const RULES: [Rule; 3] = [ARP_CONFLICT, ARP_MOVED, ARP_UNANSWERED];

/// Finds what is wrong.
pub(super) fn find(found: &mut Found, pass: &Pass) {
    for (ip, address) in pass.arp.conflicts() {
        let shared = |mac: &[u8; 6]| SHARED.iter().any(|prefix| mac.starts_with(prefix));
        if address.claims.iter().any(|claim| shared(&claim.mac)) {
            continue;
        }
        let rule = if ARP_CONFLICT.meets(address.flips, 0) { &ARP_CONFLICT } else { &ARP_MOVED };
        let macs: Vec<String> =
            address.claims.iter().map(|claim| crate::pcap::summary::mac(claim.mac)).collect();
        let frames: Vec<u64> = address.claims.iter().map(|claim| claim.frame).collect();
        let title = format!("{ip} is claimed by {}", macs.join(" and "));
        let numbers = [("claimants", macs.len() as f64), ("changes", address.flips as f64)];
        found.add(rule, title, &frames, format!("arp.src.proto_ipv4 == {ip}"), &numbers);
    }
    let mut silent: Vec<_> =
        pass.arp.addresses.iter().filter(|(_, address)| ARP_UNANSWERED.meets(address.waiting, 0)).collect();
    silent.sort_by_key(|(ip, address)| (std::cmp::Reverse(address.waiting), **ip));
    for (ip, address) in silent {
        let title = format!("nobody answered {} requests for {ip}", address.waiting);
        let filter = format!("arp.opcode == 1 && arp.dst.proto_ipv4 == {ip}");
        let numbers = [("requests", address.waiting as f64)];
        found.add(&ARP_UNANSWERED, title, &address.waiting_frames, filter, &numbers);
    }
}
