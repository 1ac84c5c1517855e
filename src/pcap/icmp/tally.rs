//! ICMP of both versions: what there was, and what routers said about whom.

use std::collections::BTreeMap;
use std::net::IpAddr;

use crate::pcap::layers::{Net, Quote};

/// How many different complaints are told apart.
const MOST: usize = 4096;
/// How many frames are kept of each.
const EVIDENCE: usize = 5;

/// A complaint: type, code, who sent it, whom it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Complaint {
    /// `ICMPv6`.
    pub(crate) six: bool,
    /// The type.
    pub(crate) kind: u8,
    /// The code.
    pub(crate) code: u8,
    /// Who sent it.
    pub(crate) from: IpAddr,
    /// The destination that the quoted packet had.
    pub(crate) about: IpAddr,
    /// Its port.
    pub(crate) port: Option<u16>,
}

/// How often, and where first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Heard {
    /// How often.
    pub(crate) count: u64,
    /// The first frames.
    pub(crate) frames: Vec<u64>,
    /// The smallest next-hop MTU that was named; 0 for none.
    pub(crate) mtu: u32,
}

/// All of ICMP.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    /// Type and code of the outermost `ICMPv4` header of each frame.
    pub(crate) types: BTreeMap<(u8, u8), u64>,
    /// The same for `ICMPv6`.
    pub(crate) types_v6: BTreeMap<(u8, u8), u64>,
    /// Complaints.
    pub(crate) complaints: BTreeMap<Complaint, Heard>,
    seen: (u64, u64),
}

impl Tally {
    /// Takes a header.
    pub(crate) fn take(&mut self, six: bool, kind: u8, code: u8, frame: u64) {
        let seen = if six { &mut self.seen.1 } else { &mut self.seen.0 };
        if *seen == frame {
            return;
        }
        *seen = frame;
        let types = if six { &mut self.types_v6 } else { &mut self.types };
        *types.entry((kind, code)).or_default() += 1;
    }

    /// Takes what an error is about.
    pub(crate) fn about(&mut self, quote: &Quote, net: Net, ports: Option<(u16, u16)>, frame: u64) {
        let complaint = Complaint {
            six: quote.six,
            kind: quote.kind,
            code: quote.code,
            from: quote.from.source(),
            about: net.destination(),
            port: ports.map(|(_, port)| port),
        };
        if self.complaints.len() >= MOST && !self.complaints.contains_key(&complaint) {
            return;
        }
        let heard = self.complaints.entry(complaint).or_default();
        heard.count += 1;
        if heard.frames.len() < EVIDENCE {
            heard.frames.push(frame);
        }
        if quote.mtu > 0 && (heard.mtu == 0 || quote.mtu < heard.mtu) {
            heard.mtu = quote.mtu;
        }
    }
}

impl Complaint {
    /// Says whether it means that something cannot be reached.
    pub(crate) fn unreachable(&self) -> bool {
        if self.six { matches!(self.kind, 1 | 2) } else { self.kind == 3 }
    }
}
