//! What a walk through the layers tells, and to whom.

use super::net::Net;
use super::view::View;
use crate::label::Label;

/// Where a header lies.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Place {
    /// The addresses of the innermost IP header around it.
    pub(crate) net: Net,
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
    /// Its code.
    pub(crate) code: u8,
    /// The next hop's MTU, where the type has one.
    pub(crate) mtu: u32,
    /// Who sent it.
    pub(crate) from: Net,
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

impl Place {
    /// Notes a tag, or a virtual network, within those around it.
    pub(crate) fn within(&mut self, tag: u32) {
        self.lan = (self.lan ^ tag).wrapping_mul(0x9e37_79b1).rotate_left(13);
    }
}

/// Who is told.
pub(crate) trait Sink {
    /// The frame can be counted as this.
    fn mark(&mut self, label: Label);
    /// A TCP header of which at least four bytes were captured.
    fn tcp(&mut self, view: View<'_>, place: &Place);
    /// A UDP header with its ports; the view is what it carries.
    fn udp(&mut self, ports: (u16, u16), payload: View<'_>, place: &Place);
    /// A DNS message over UDP.
    fn dns(&mut self, ports: (u16, u16), message: View<'_>, place: &Place);
    /// An ICMP header of either version; the view starts at its type.
    fn icmp(&mut self, six: bool, view: View<'_>, place: &Place);
    /// What an ICMP error is about: the quoted addresses and ports.
    fn about(&mut self, quote: &Quote, net: Net, ports: Option<(u16, u16)>);
    /// An ARP packet.
    fn arp(&mut self, arp: &Arp);
    /// An IP packet from its header on, the outermost first.
    fn packet(&mut self, packet: View<'_>, place: &Place);
    /// The link type is not known.
    fn unknown_link(&mut self, link: u16);
}
