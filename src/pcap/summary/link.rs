//! What is told of addresses on the link.

use std::net::{IpAddr, Ipv4Addr};

use super::kind::{ArpFacts, ConflictFacts};
use super::write::Choice;
use crate::pcap::arp;

/// Writes the account of addresses.
pub(super) fn addresses(tally: &arp::Tally, (most, focus): Choice) -> ArpFacts {
    let conflict = |(ip, address): (_, &arp::Address)| ConflictFacts {
        ip,
        macs: address.claims.iter().map(|claim| mac(claim.mac)).collect(),
        frames: address.claims.iter().map(|claim| claim.frame).collect(),
        flips: address.flips,
    };
    let meant = |ip: Ipv4Addr| focus.is_none_or(|focus| focus.is(IpAddr::V4(ip)));
    let conflicts = tally.conflicts().into_iter().filter(|(ip, _)| meant(*ip));
    ArpFacts {
        requests: tally.requests,
        replies: tally.replies,
        unanswered: tally.unanswered(),
        gratuitous: tally.gratuitous,
        probes: tally.probes,
        conflicts: conflicts.take(most).map(conflict).collect(),
    }
}

/// Returns a hardware address as it is usually written.
pub(in crate::pcap) fn mac(bytes: [u8; 6]) -> String {
    bytes.map(|byte| format!("{byte:02x}")).join(":")
}
