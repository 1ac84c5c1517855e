//! Fills in the facts of ARP and neighbor discovery.

use std::net::IpAddr;

use super::facts::{ArpFacts, ConflictFacts};
use super::write::Choice;
use crate::arp;

/// Writes the account of addresses.
pub(super) fn addresses(tally: &arp::NeighborStats, (most, focus): Choice) -> ArpFacts {
    let conflict = |(ip, address): (IpAddr, &arp::Address)| ConflictFacts {
        ip,
        macs: address.claims.iter().map(|claim| mac(claim.mac)).collect(),
        frames: address.claims.iter().map(|claim| claim.frame).collect(),
        flips: address.claimant_changes,
    };
    let conflicts = tally.conflicts().into_iter().map(|((_, ip), address)| (ip, address));
    let meant = conflicts.filter(|(ip, _)| focus.is_none_or(|focus| focus.is(*ip)));
    ArpFacts {
        requests: tally.requests,
        replies: tally.replies,
        unanswered: tally.unanswered(),
        gratuitous: tally.gratuitous,
        probes: tally.probes,
        unasked: tally.unasked,
        late: tally.late,
        conflicts: meant.take(most).map(conflict).collect(),
    }
}

/// Writes the account of neighbor discovery, where there was any.
pub(super) fn neighbors(tally: &arp::NeighborStats, choice: Choice) -> Option<ArpFacts> {
    (tally.requests + tally.replies > 0).then(|| addresses(tally, choice))
}

/// Returns a hardware address as it is usually written.
pub(crate) fn mac(bytes: [u8; 6]) -> String {
    bytes.map(|byte| format!("{byte:02x}")).join(":")
}
