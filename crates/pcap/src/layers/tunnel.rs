//! Encapsulation: MPLS, PPP, `PPPoE`, Cisco HDLC, GRE, and tunnels over UDP.

use super::header::View;
use super::walk::Next;

/// A tunnel that is known by its UDP port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tunnel {
    /// Ethernet in UDP.
    Vxlan,
    /// Anything in UDP, with options.
    Geneve,
    /// What a phone sends.
    Gtp,
    /// `IPv6` through translators.
    Teredo,
    /// IP in UDP.
    Lisp,
    /// GRE in UDP.
    Gre,
    /// MPLS in UDP.
    Mpls,
}

/// Reads a tunnel's header behind UDP.
pub(super) fn over_udp(tunnel: Tunnel, view: View<'_>) -> Option<(Next, View<'_>)> {
    match tunnel {
        Tunnel::Vxlan => view.holds(8).then(|| (Next::Ethernet, view.skip(8))),
        Tunnel::Geneve => {
            let options = usize::from(view.u8(0)? & 0x3f) * 4;
            Some((Next::Type(view.u16(2)?), view.skip(8 + options)))
        }
        Tunnel::Gtp => gtp(view),
        Tunnel::Teredo => teredo(view),
        Tunnel::Lisp => Some((Next::Either, view.skip(8))),
        Tunnel::Gre => Some((Next::Gre, view)),
        Tunnel::Mpls => Some((Next::Mpls, view)),
    }
}

fn gtp(view: View<'_>) -> Option<(Next, View<'_>)> {
    let (flags, message) = (view.u8(0)?, view.u8(1)?);
    if flags >> 5 != 1 || message != 0xff {
        return None;
    }
    let mut at = 8;
    if flags & 7 != 0 {
        at = 12;
        let mut next = if flags & 4 != 0 { view.u8(11)? } else { 0 };
        while next != 0 {
            let length = usize::from(view.u8(at)?) * 4;
            if length == 0 {
                return None;
            }
            at += length;
            next = view.u8(at - 1)?;
        }
    }
    Some((Next::Either, view.skip(at)))
}

fn teredo(mut view: View<'_>) -> Option<(Next, View<'_>)> {
    if view.u16(0)? == 1 {
        let (client, authentication) = (usize::from(view.u8(2)?), usize::from(view.u8(3)?));
        view = view.skip(13 + client + authentication);
    }
    if view.u16(0)? == 0 {
        view = view.skip(8);
    }
    Some((Next::Six, view))
}

/// GRE of either version; the fields that are there follow from the flags.
pub(super) fn gre(view: View<'_>) -> Option<(Next, View<'_>)> {
    let (flags, kind) = (view.u16(0)?, view.u16(2)?);
    let has = |bit: u16| flags & bit != 0;
    let mut at = 4;
    for bit in [0xc000, 0x2000, 0x1000] {
        at += if has(bit) { 4 } else { 0 };
    }
    if flags & 7 == 1 && has(0x0080) {
        at += 4;
    }
    if flags & 7 == 0 && has(0x4000) {
        // Routes, until one of length nothing.
        loop {
            let (family, length) = (view.u16(at)?, usize::from(view.u8(at + 3)?));
            at += 4 + length;
            if family == 0 && length == 0 {
                break;
            }
        }
    }
    let rest = view.skip(at);
    let next = match kind {
        0x0800 => Next::Four,
        0x86dd => Next::Six,
        0x6558 => Next::Ethernet,
        0x880b => Next::PppLine,
        0x8847 | 0x8848 => Next::Mpls,
        0x894f => Next::Nsh,
        // Without a sequence number there is no header of its own.
        0x88be if !has(0x1000) => Next::Ethernet,
        0x88be => return Some((Next::Ethernet, rest.skip(8))),
        0x22eb => return mirrored(rest),
        // Redirected by a web cache, with or without a header.
        0x883e if rest.u8(0)? >> 4 == 4 => Next::Four,
        0x883e => return Some((Next::Four, rest.skip(4))),
        _ => return None,
    };
    Some((next, rest))
}

/// The third kind of mirrored frames: it says what it carries, and whether more header follows.
fn mirrored(view: View<'_>) -> Option<(Next, View<'_>)> {
    let last = view.u16(10)?;
    let rest = view.skip(if last & 1 == 1 { 20 } else { 12 });
    match (last >> 10) & 0x1f {
        0 => Some((Next::Ethernet, rest)),
        2 => Some((Next::Four, rest)),
        _ => None,
    }
}

/// The network service header.
pub(super) fn nsh(view: View<'_>) -> Option<(Next, View<'_>)> {
    let length = usize::from(view.u16(0)? & 0x3f) * 4;
    if length < 8 {
        return None;
    }
    let next = match view.u8(3)? {
        1 => Next::Four,
        2 => Next::Six,
        3 => Next::Ethernet,
        4 => Next::Nsh,
        5 => Next::Mpls,
        _ => return None,
    };
    Some((next, view.skip(length)))
}

/// Labels until the one that says it is the last.
pub(super) fn mpls(mut view: View<'_>) -> Option<(Next, View<'_>)> {
    loop {
        let label = view.u32(0)?;
        view = view.skip(4);
        if label & 0x100 != 0 {
            break;
        }
    }
    match view.u8(0)? >> 4 {
        4 => Some((Next::Four, view)),
        6 => Some((Next::Six, view)),
        // A control word before an Ethernet frame.
        0 => Some((Next::Ethernet, view.skip(4))),
        _ => None,
    }
}

/// PPP on a line: address and control may be left out; Cisco HDLC says so in its first byte.
pub(super) fn ppp_line(view: View<'_>) -> Option<(Next, View<'_>)> {
    match view.u8(0)? {
        0x0f | 0x8f => Some((Next::CiscoHdlc, view)),
        0xff => Some((Next::Ppp, view.skip(2))),
        _ => Some((Next::Ppp, view)),
    }
}

/// PPP from its protocol on, which has one byte where that is odd.
pub(super) fn ppp(view: View<'_>) -> Option<(Next, View<'_>)> {
    let first = view.u8(0)?;
    let (protocol, rest) =
        if first & 1 == 1 { (u16::from(first), view.skip(1)) } else { (view.u16(0)?, view.skip(2)) };
    let next = match protocol {
        0x0021 => Next::Four,
        0x0057 => Next::Six,
        0x0281 | 0x0283 => Next::Mpls,
        _ => return None,
    };
    Some((next, rest))
}

/// A session: version, code, number, length, then PPP.
pub(super) fn pppoe(view: View<'_>) -> Option<(Next, View<'_>)> {
    let length = usize::from(view.u16(4)?);
    Some((Next::Ppp, view.skip(6).limit(length)))
}

/// Address, control, and a type as in Ethernet, but for RARP.
pub(super) fn cisco_hdlc(view: View<'_>) -> Option<(Next, View<'_>)> {
    match view.u16(2)? {
        0x8035 => None,
        kind => Some((Next::Type(kind), view.skip(4))),
    }
}
