//! `IPv6`, its extension headers and its fragments.

use super::fragment::{Key, Piece};
use super::net::Net;
use super::sink::{Place, Sink};
use super::transport::ports;
use super::view::View;
use super::walk::{Next, Walker};

/// The protocol number of the fragment header.
pub(super) const FRAGMENT: u8 = 44;
const HOP_BY_HOP: u8 = 0;
const ICMP: u8 = 58;

/// Reads a header.
pub(super) fn read<'a>(view: View<'a>, place: &mut Place, sink: &mut impl Sink) -> Option<(Next, View<'a>)> {
    if view.u8(0)? >> 4 != 6 {
        return None;
    }
    let (length, next) = (usize::from(view.u16(4)?), view.u8(6)?);
    place.net = Net::Six(view.bytes(8)?, view.bytes(24)?);
    place.fragment = false;
    place.hops = view.u8(7)?;
    place.id = None;
    // A length of nothing announces a jumbogram, whose option stands in a hop-by-hop header.
    let whole = if length == 0 && next == HOP_BY_HOP { view } else { view.limit(40 + length) };
    sink.packet(whole, place);
    if length == 0 && next != HOP_BY_HOP && next != ICMP {
        return None;
    }
    let mut rest = whole.skip(40);
    if place.eight {
        rest = rest.limit(8);
    }
    // Behind extension headers it is told of where the transport is found.
    let extended = matches!(next, HOP_BY_HOP | 43 | FRAGMENT | 51 | 60);
    if !extended && let Some(quote) = place.error.take() {
        sink.about(&quote, place.net, ports(next, rest));
    }
    Some((Next::Protocol(next), rest))
}

/// Reads an extension header that says how long it is.
pub(super) fn extension(view: View<'_>) -> Option<(Next, View<'_>)> {
    let (next, length) = (view.u8(0)?, usize::from(view.u8(1)?));
    Some((Next::Protocol(next), view.skip((length + 1) * 8)))
}

/// Reads a fragment header; one that completes a packet is followed from here.
pub(super) fn fragment<'a>(
    walker: &mut Walker,
    view: View<'a>,
    place: &mut Place,
    depth: &mut u32,
    sink: &mut impl Sink,
) -> Option<(Next, View<'a>)> {
    let (protocol, offset, id) = (view.u8(0)?, view.u16(2)?, view.u32(4)?);
    let rest = view.skip(8);
    let (more, start) = (offset & 1 == 1, usize::from(offset & 0xfff8));
    if !more && start == 0 {
        return Some((Next::Protocol(protocol), rest));
    }
    let key = Key { net: place.net, id, protocol: FRAGMENT, vlan: 0 };
    if !rest.whole() {
        place.fragment = true;
        if !place.quoted {
            walker.fragments().excuse(key);
        }
        return (start == 0).then_some((Next::Protocol(protocol), rest));
    }
    let whole = walker.fragments().add(key, Piece { start, more, data: rest.data })?;
    place.fragment = false;
    walker.follow((Next::Protocol(protocol), View::new(&whole, whole.len())), place, depth, sink);
    None
}
