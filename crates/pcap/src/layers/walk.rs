//! From the outermost header to the innermost, one step at a time.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::fragment::{FragmentCounts, Fragments};
use super::header::{HeaderContext, Sink, View};
use super::{ip, link, transport, tunnel};
use crate::read::Frame;

/// Nothing real is nested deeper; what is, was made to keep readers busy.
const MAX_DEPTH: u32 = 256;

/// What the next bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Nothing further, or nothing known.
    Done,
    /// Ethernet II and 802.3, with VLAN tags.
    Ethernet,
    /// What an `EtherType` or a length stands for.
    Type(u16),
    /// 802.2.
    Llc,
    /// A stack of labels.
    Mpls,
    /// PPP as on a line, with or without address and control.
    PppLine,
    /// PPP from its protocol on.
    Ppp,
    /// A `PPPoE` session.
    Pppoe,
    /// Cisco's framing of serial lines.
    CiscoHdlc,
    /// `IPv4`; what says that it is version 6 is read so.
    Four,
    /// `IPv6` and nothing else.
    Six,
    /// Whichever version the first four bits say, or nothing.
    Either,
    /// What an IP protocol number stands for.
    Protocol(u8),
    /// Generic routing encapsulation.
    Gre,
    /// The network service header.
    Nsh,
}

/// Walks frames; keeps the fragments that wait for others.
#[derive(Debug, Clone, Default)]
pub(crate) struct Walker {
    fragments: Fragments,
}

impl Walker {
    /// Walks through a frame and tells `sink` what is in it.
    pub(crate) fn walk(&mut self, frame: &Frame<'_>, sink: &mut impl Sink) {
        let view = View::new(frame.data, frame.wire);
        let Some(first) = link::first(frame.link, view) else {
            sink.unknown_link(frame.link);
            return;
        };
        self.fragments.begin(frame.number, frame.time);
        let mut context = HeaderContext::default();
        if frame.interface > 0 {
            context.within(frame.interface);
        }
        let mut depth = 0;
        self.follow(first, &mut context, &mut depth, sink);
    }

    /// Returns how many fragmented packets were given up for want of room, and how many were not judged for want of it.
    pub(crate) fn fragments_given_up(&self) -> (u64, u64) {
        self.fragments.given_up()
    }

    /// Ends the waiting for fragments; returns what came of packets, by source and destination.
    pub(crate) fn finish(&mut self, end: u64) -> BTreeMap<(IpAddr, IpAddr), FragmentCounts> {
        self.fragments.finish(end)
    }

    pub(super) fn fragments(&mut self) -> &mut Fragments {
        &mut self.fragments
    }

    /// Follows the layers from one on.
    pub(super) fn follow(
        &mut self,
        (mut next, mut view): (Next, View<'_>),
        context: &mut HeaderContext,
        depth: &mut u32,
        sink: &mut impl Sink,
    ) {
        while *depth < MAX_DEPTH {
            *depth += 1;
            let step = match next {
                Next::Done => return,
                Next::Ethernet => link::ethernet(view),
                Next::Type(kind) => link::typed(kind, view, context, sink),
                Next::Llc => link::llc(view),
                Next::Mpls => tunnel::mpls(view),
                Next::PppLine => tunnel::ppp_line(view),
                Next::Ppp => tunnel::ppp(view),
                Next::Pppoe => tunnel::pppoe(view),
                Next::CiscoHdlc => tunnel::cisco_hdlc(view),
                Next::Four => ip::ipv4(self, view, context, depth, sink),
                Next::Six => ip::ipv6(view, context, sink),
                Next::Either => match view.u8(0).map(|byte| byte >> 4) {
                    Some(4) => Some((Next::Four, view)),
                    Some(6) => Some((Next::Six, view)),
                    _ => None,
                },
                Next::Protocol(ip::FRAGMENT) => ip::fragment(self, view, context, depth, sink),
                Next::Protocol(protocol) => transport::read(protocol, view, context, sink),
                Next::Gre => tunnel::gre(view),
                Next::Nsh => tunnel::nsh(view),
            };
            let Some((after, rest)) = step else {
                return;
            };
            next = after;
            view = rest;
        }
    }
}
