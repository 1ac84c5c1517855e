//! Link types, Ethernet, VLAN tags, 802.2 and SNAP.

use super::header::{Arp, HeaderContext, Sink, View};
use super::walk::Next;
use crate::label::Label;

/// Returns the first layer of a frame and where it starts, or nothing where the link type is not known.
pub(super) fn first(link: u16, view: View<'_>) -> Option<(Next, View<'_>)> {
    let done = (Next::Done, view);
    Some(match link {
        1 => (Next::Ethernet, view),
        0 => null(view).unwrap_or(done),
        108 => view.u32(0).map_or(done, |family| (family_of(family), view.skip(4))),
        9 | 50 => (Next::PppLine, view),
        51 => (Next::Pppoe, view),
        104 => (Next::CiscoHdlc, view),
        12 | 14 | 101 => (Next::Either, view),
        113 => cooked(view).unwrap_or(done),
        276 => cooked_two(view).unwrap_or(done),
        228 => (Next::Four, view),
        229 => (Next::Six, view),
        239 => nflog(view).unwrap_or(done),
        _ => return None,
    })
}

/// The address family in the byte order of whoever captured.
fn null(view: View<'_>) -> Option<(Next, View<'_>)> {
    let bytes: [u8; 4] = view.bytes(0)?;
    if bytes.starts_with(&[0xff, 0x03]) {
        return Some((Next::PppLine, view));
    }
    let mut family = u32::from_le_bytes(bytes);
    if family & 0xffff_0000 != 0 {
        family = if family < 0x0006_0000 { family >> 16 } else { family.swap_bytes() };
    }
    let next = match u16::try_from(family) {
        Ok(kind) if kind > 1500 => Next::Type(kind),
        _ => family_of(family),
    };
    Some((next, view.skip(4)))
}

fn family_of(family: u32) -> Next {
    match family {
        2 => Next::Four,
        // Each BSD has its own number, Linux a fourth.
        10 | 23 | 24 | 26 | 28 | 30 => Next::Six,
        _ => Next::Done,
    }
}

fn cooked(view: View<'_>) -> Option<(Next, View<'_>)> {
    Some((cooked_type(view.u16(2)?, view.u16(14)?), view.skip(16)))
}

fn cooked_two(view: View<'_>) -> Option<(Next, View<'_>)> {
    Some((cooked_type(view.u16(8)?, view.u16(0)?), view.skip(20)))
}

fn cooked_type(hardware: u16, kind: u16) -> Next {
    match (hardware, kind) {
        // Netlink and radio headers.
        (824 | 801..=803, _) => Next::Done,
        (_, 4) => Next::Llc,
        (_, 0..=1535) => Next::Done,
        (_, kind) => Next::Type(kind),
    }
}

/// Fields with length and type in the byte order of the machine; the packet is one of them.
fn nflog(view: View<'_>) -> Option<(Next, View<'_>)> {
    let next = match view.u8(0)? {
        2 => Next::Four,
        10 => Next::Six,
        _ => return None,
    };
    let mut at = 4;
    loop {
        let length = usize::from(u16::from_le_bytes(view.bytes(at)?));
        let kind = u16::from_le_bytes(view.bytes(at + 2)?);
        if length < 4 {
            return None;
        }
        if kind == 9 {
            return Some((next, view.skip(at + 4).limit(length - 4)));
        }
        at += length.next_multiple_of(4);
    }
}

/// The largest value that is a length and no type.
const MAX_LENGTH_FIELD: u16 = 1500;
/// The hardware type of inverse ARP over ATM, which is another protocol.
const HARDWARE_ATM: u16 = 19;

/// Ethernet from the destination address on.
pub(super) fn ethernet(view: View<'_>) -> Option<(Next, View<'_>)> {
    let kind = view.u16(12)?;
    let rest = view.skip(14);
    if kind > MAX_LENGTH_FIELD {
        return Some((Next::Type(kind), rest));
    }
    length(kind, rest)
}

fn length(length: u16, rest: View<'_>) -> Option<(Next, View<'_>)> {
    // Raw IPX starts with a checksum that is not used.
    if rest.u16(0)? == 0xffff {
        return None;
    }
    Some((Next::Llc, rest.limit(usize::from(length))))
}

/// What an `EtherType` stands for.
pub(super) fn typed<'a>(
    kind: u16,
    view: View<'a>,
    context: &mut HeaderContext,
    sink: &mut impl Sink,
) -> Option<(Next, View<'a>)> {
    let next = match kind {
        0x0800 => Next::Four,
        0x86dd => Next::Six,
        0x8100 | 0x88a8 | 0x9100 => {
            context.vlan = view.u16(0)? & 0x0fff;
            // A tag of 0 has a priority alone.
            if context.vlan > 0 {
                context.within(u32::from(context.vlan));
            }
            let kind = view.u16(2)?;
            let rest = view.skip(4);
            return if kind > MAX_LENGTH_FIELD { Some((Next::Type(kind), rest)) } else { length(kind, rest) };
        }
        // A tag of a virtual port, then a type.
        0x8926 => return Some((Next::Type(view.u16(4)?), view.skip(6))),
        0x0806 | 0x8035 => {
            arp(view, context.lan, sink);
            return None;
        }
        0x8847 | 0x8848 => Next::Mpls,
        0x8864 => Next::Pppoe,
        0x880b => Next::PppLine,
        0x6558 => Next::Ethernet,
        0x894f => Next::Nsh,
        _ => return None,
    };
    Some((next, view))
}

fn arp(view: View<'_>, lan: u32, sink: &mut impl Sink) {
    if view.u16(0).is_none_or(|hardware| hardware == HARDWARE_ATM) {
        return;
    }
    sink.mark(Label::Arp);
    let Some(operation) = view.u16(6) else {
        return;
    };
    let usual = view.u16(2) == Some(0x0800) && view.u16(4) == Some(0x0604);
    let pair = |at: usize| usual.then(|| Some((view.bytes(at)?, view.bytes(at + 6)?))).flatten();
    sink.arp(&Arp { operation, sender: pair(8), target: pair(18), lan });
}

/// 802.2: two service access points and a control field.
pub(super) fn llc(view: View<'_>) -> Option<(Next, View<'_>)> {
    let (to, from, control) = (view.u8(0)?, view.u8(1)?, view.u8(2)?);
    let rest = view.skip(if control & 3 == 3 { 3 } else { 4 });
    match (to, from) {
        (0xaa | 0xab, 0xaa | 0xab) => snap(rest),
        (6, _) => Some((Next::Four, rest)),
        _ => None,
    }
}

fn snap(view: View<'_>) -> Option<(Next, View<'_>)> {
    let organization = view.u32(0)? >> 8;
    let kind = view.u16(3)?;
    let rest = view.skip(5);
    match (organization, kind) {
        (0 | 0xf8, _) => Some((Next::Type(kind), rest)),
        // Bridged frames, with and without a check sequence.
        (0x80c2, 1 | 7) => Some((Next::Ethernet, rest)),
        _ => None,
    }
}
