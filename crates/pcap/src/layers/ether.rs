//! Ethernet, VLAN tags, what an `EtherType` stands for, 802.2 and SNAP.

use super::sink::{Arp, Place, Sink};
use super::view::View;
use super::walk::Next;
use crate::label::Label;

/// The largest value that is a length and no type.
const LONGEST: u16 = 1500;
/// The hardware type of inverse ARP over ATM, which is another protocol.
const ATM: u16 = 19;

/// Ethernet from the destination address on.
pub(super) fn ethernet(view: View<'_>) -> Option<(Next, View<'_>)> {
    let kind = view.u16(12)?;
    let rest = view.skip(14);
    if kind > LONGEST {
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
    place: &mut Place,
    sink: &mut impl Sink,
) -> Option<(Next, View<'a>)> {
    let next = match kind {
        0x0800 => Next::Four,
        0x86dd => Next::Six,
        0x8100 | 0x88a8 | 0x9100 => {
            place.vlan = view.u16(0)? & 0x0fff;
            // A tag of 0 has a priority alone.
            if place.vlan > 0 {
                place.within(u32::from(place.vlan));
            }
            let kind = view.u16(2)?;
            let rest = view.skip(4);
            return if kind > LONGEST { Some((Next::Type(kind), rest)) } else { length(kind, rest) };
        }
        // A tag of a virtual port, then a type.
        0x8926 => return Some((Next::Type(view.u16(4)?), view.skip(6))),
        0x0806 | 0x8035 => {
            arp(view, place.lan, sink);
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
    if view.u16(0).is_none_or(|hardware| hardware == ATM) {
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
