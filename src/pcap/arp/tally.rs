//! Who owns an address, who asks for one, and who claims the same one.

use std::net::Ipv4Addr;

use crate::pcap::hash::Map;
use crate::pcap::layers::Arp;

/// How many addresses are remembered.
const MOST: usize = 65_536;
/// How many claimants of one address are.
const MOST_CLAIMS: usize = 8;
const EVIDENCE: usize = 5;

/// Someone who says that an address is theirs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Claim {
    /// Their hardware address.
    pub(crate) mac: [u8; 6],
    /// Where they said so first.
    pub(crate) frame: u64,
}

/// What is known of an address.
#[derive(Debug, Clone, Default)]
pub(crate) struct Address {
    /// Who claims it.
    pub(crate) claims: Vec<Claim>,
    /// How often the claimant changed.
    pub(crate) flips: u64,
    last: Option<[u8; 6]>,
    /// Questions for it since its last answer.
    pub(crate) waiting: u64,
    /// The first of those.
    pub(crate) waiting_frames: Vec<u64>,
}

/// All of ARP.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    /// Operation 1.
    pub(crate) requests: u64,
    /// Operation 2.
    pub(crate) replies: u64,
    /// Announcements: sender and target are the same.
    pub(crate) gratuitous: u64,
    /// Questions whether an address is free.
    pub(crate) probes: u64,
    /// Addresses.
    pub(crate) addresses: Map<Ipv4Addr, Address>,
}

impl Tally {
    /// Takes a packet.
    pub(crate) fn take(&mut self, arp: &Arp, frame: u64) {
        match arp.operation {
            1 => self.requests += 1,
            2 => self.replies += 1,
            _ => return,
        }
        let (Some((mac, sender)), Some((_, target))) = (arp.sender, arp.target) else {
            return;
        };
        let (sender, target) = (Ipv4Addr::from(sender), Ipv4Addr::from(target));
        let gratuitous = sender == target;
        self.gratuitous += u64::from(gratuitous);
        let probe = sender.is_unspecified();
        self.probes += u64::from(probe && arp.operation == 1);
        // A group address has no owner, yet who claims to be one is worth knowing.
        if !probe && mac != [0; 6] && mac != [0xff; 6] {
            self.claimed(sender, mac, arp.operation == 2, frame);
        }
        // Nobody has to answer an announcement, and nobody should answer a probe.
        if arp.operation == 1
            && !gratuitous
            && !probe
            && let Some(address) = self.address(target)
        {
            address.waiting += 1;
            if address.waiting_frames.len() < EVIDENCE {
                address.waiting_frames.push(frame);
            }
        }
    }

    fn claimed(&mut self, sender: Ipv4Addr, mac: [u8; 6], answers: bool, frame: u64) {
        let Some(address) = self.address(sender) else {
            return;
        };
        if answers {
            address.waiting = 0;
            address.waiting_frames.clear();
        }
        if address.claims.len() < MOST_CLAIMS && !address.claims.iter().any(|claim| claim.mac == mac) {
            address.claims.push(Claim { mac, frame });
        }
        address.flips += u64::from(address.last.is_some_and(|last| last != mac));
        address.last = Some(mac);
    }

    fn address(&mut self, address: Ipv4Addr) -> Option<&mut Address> {
        if self.addresses.len() >= MOST && !self.addresses.contains_key(&address) {
            return None;
        }
        Some(self.addresses.entry(address).or_default())
    }

    /// Returns how many questions nothing answered.
    pub(crate) fn unanswered(&self) -> u64 {
        self.addresses.values().map(|address| address.waiting).sum()
    }

    /// Returns addresses that more than one claims, in order.
    pub(crate) fn conflicts(&self) -> Vec<(Ipv4Addr, &Address)> {
        let mut found: Vec<_> = self
            .addresses
            .iter()
            .filter(|(_, address)| address.claims.len() > 1)
            .map(|(ip, address)| (*ip, address))
            .collect();
        found.sort_by_key(|(ip, _)| *ip);
        found
    }
}
