//! What header decoding passes on: views of captured bytes, addresses, the context of a header, and the sink that takes them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::label::Label;

/// Bytes from some layer on: what was captured, and how many there were according to the headers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'a> {
    /// What was captured.
    pub(crate) data: &'a [u8],
    /// How many there were.
    pub(crate) wire: usize,
}

impl<'a> View<'a> {
    /// Makes a view of captured bytes that had `wire` bytes.
    pub(crate) fn new(data: &'a [u8], wire: usize) -> Self {
        Self { data, wire: wire.max(data.len()) }
    }

    /// Returns what follows the first bytes.
    pub(crate) fn skip(self, count: usize) -> Self {
        Self { data: self.data.get(count..).unwrap_or_default(), wire: self.wire.saturating_sub(count) }
    }

    /// Ends the view where a header says that its content ends.
    pub(crate) fn limit(self, count: usize) -> Self {
        Self { data: self.data.get(..count).unwrap_or(self.data), wire: self.wire.min(count) }
    }

    /// Tells whether the first bytes were captured.
    pub(crate) fn holds(self, count: usize) -> bool {
        self.data.len() >= count
    }

    /// Tells whether everything was captured.
    pub(crate) fn whole(self) -> bool {
        self.data.len() >= self.wire
    }

    /// Returns a byte.
    pub(crate) fn u8(self, at: usize) -> Option<u8> {
        self.data.get(at).copied()
    }

    /// Returns 16 bits in network order.
    pub(crate) fn u16(self, at: usize) -> Option<u16> {
        Some(u16::from_be_bytes(self.bytes(at)?))
    }

    /// Returns 32 bits in network order.
    pub(crate) fn u32(self, at: usize) -> Option<u32> {
        Some(u32::from_be_bytes(self.bytes(at)?))
    }

    /// Returns an array of bytes.
    pub(crate) fn bytes<const N: usize>(self, at: usize) -> Option<[u8; N]> {
        self.data.get(at..)?.first_chunk().copied()
    }
}

/// Source and destination, of one family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum IpPair {
    /// `IPv4`.
    Four([u8; 4], [u8; 4]),
    /// `IPv6`.
    Six([u8; 16], [u8; 16]),
}

impl Default for IpPair {
    fn default() -> Self {
        Self::Four([0; 4], [0; 4])
    }
}

impl IpPair {
    /// Returns the source.
    pub(crate) fn source(self) -> IpAddr {
        match self {
            Self::Four(source, _) => IpAddr::V4(Ipv4Addr::from(source)),
            Self::Six(source, _) => IpAddr::V6(Ipv6Addr::from(source)),
        }
    }

    /// Returns the destination.
    pub(crate) fn destination(self) -> IpAddr {
        match self {
            Self::Four(_, destination) => IpAddr::V4(Ipv4Addr::from(destination)),
            Self::Six(_, destination) => IpAddr::V6(Ipv6Addr::from(destination)),
        }
    }
}

/// Where a header lies.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct HeaderContext {
    /// The addresses of the innermost IP header around it.
    pub(crate) net: IpPair,
    /// Its time to live, or hop limit.
    pub(crate) hops: u8,
    /// Its identification, where it has one in every packet.
    pub(crate) id: Option<u16>,
    /// The innermost VLAN.
    pub(crate) vlan: u16,
    /// A number for all tags and virtual networks around it: addresses of different ones have nothing to do with each other.
    pub(crate) lan: u32,
    /// Quoted in an ICMP error: it tells of a packet, it is none.
    pub(crate) quoted: bool,
    /// The first of several fragments whose others are not there.
    pub(crate) fragment: bool,
    /// The ICMP error around a quoted header.
    pub(crate) error: Option<Quote>,
    /// Behind a redirect only eight bytes are looked at.
    pub(crate) eight: bool,
}

/// An ICMP error that quotes a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quote {
    /// `ICMPv6` rather than `ICMPv4`.
    pub(crate) six: bool,
    /// Its type.
    pub(crate) kind: u8,
    pub(crate) code: u8,
    /// The next hop's MTU, where the type has one.
    pub(crate) mtu: u32,
    /// Who sent it.
    pub(crate) from: IpPair,
}

/// An address resolution packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Arp {
    /// 1 asks, 2 answers.
    pub(crate) operation: u16,
    /// The sender's MAC and address, where both have the usual lengths.
    pub(crate) sender: Option<([u8; 6], [u8; 4])>,
    /// The target's.
    pub(crate) target: Option<([u8; 6], [u8; 4])>,
    /// The LAN that it was said in.
    pub(crate) lan: u32,
}

impl HeaderContext {
    /// Notes a tag, or a virtual network, within those around it.
    pub(crate) fn within(&mut self, tag: u32) {
        self.lan = (self.lan ^ tag).wrapping_mul(0x9e37_79b1).rotate_left(13);
    }
}

/// Who the receiver is.
pub(crate) trait Sink {
    /// The frame can be counted as this.
    fn mark(&mut self, label: Label);
    /// A TCP header of which at least four bytes were captured.
    fn tcp(&mut self, view: View<'_>, context: &HeaderContext);
    /// A UDP header with its ports; the view is what it carries.
    fn udp(&mut self, ports: (u16, u16), payload: View<'_>, context: &HeaderContext);
    /// A DNS message over UDP.
    fn dns(&mut self, ports: (u16, u16), message: View<'_>, context: &HeaderContext);
    /// An ICMP header of either version; the view starts at its type.
    fn icmp(&mut self, six: bool, view: View<'_>, context: &HeaderContext);
    /// What an ICMP error is about: the quoted addresses and ports.
    fn about(&mut self, quote: &Quote, net: IpPair, ports: Option<(u16, u16)>);
    /// An ARP packet.
    fn arp(&mut self, arp: &Arp);
    /// An IP packet from its header on, the outermost first.
    fn packet(&mut self, packet: View<'_>, context: &HeaderContext);
    /// The link type is not known.
    fn unknown_link(&mut self, link: u16);
}
