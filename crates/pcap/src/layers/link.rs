//! Link types: what the first bytes of a frame are.

use super::view::View;
use super::walk::Next;

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
