//! What lies between a link and IP: MPLS, PPP, `PPPoE`, Cisco HDLC.

use super::view::View;
use super::walk::Next;

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
