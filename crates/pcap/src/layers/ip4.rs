//! `IPv4`, whole or in fragments.

use super::fragment::{Key, Piece};
use super::net::Net;
use super::sink::{Place, Sink};
use super::transport::ports;
use super::view::View;
use super::walk::{Next, Walker};

/// Reads a header; a fragment that completes a packet is followed from here.
pub(super) fn read<'a>(
    walker: &mut Walker,
    view: View<'a>,
    place: &mut Place,
    depth: &mut u32,
    sink: &mut impl Sink,
) -> Option<(Next, View<'a>)> {
    let first = view.u8(0)?;
    if first >> 4 == 6 {
        return Some((Next::Six, view));
    }
    let header = usize::from(first & 0x0f) * 4;
    if first >> 4 != 4 || header < 20 {
        return None;
    }
    let total = match usize::from(view.u16(2)?) {
        // Large packets that the card cuts up later.
        0 => view.wire,
        total => total,
    };
    if total < header {
        return None;
    }
    let (id, offset) = (view.u16(4)?, view.u16(6)?);
    let protocol = view.u8(9)?;
    place.hops = view.u8(8)?;
    place.id = Some(id);
    place.net = Net::Four(view.bytes(12)?, view.bytes(16)?);
    sink.packet(view.limit(total), place);
    if !view.holds(header) {
        return None;
    }
    let mut rest = view.limit(total).skip(header);
    if place.eight {
        rest = rest.limit(8);
    }
    let (more, start) = (offset & 0x2000 != 0, usize::from(offset & 0x1fff) * 8);
    if let Some(quote) = place.error.take() {
        // A later fragment has no ports.
        sink.about(&quote, place.net, ports(protocol, rest).filter(|_| start == 0));
    }
    if !more && start == 0 {
        place.fragment = false;
        return Some((Next::Protocol(protocol), rest));
    }
    let length = total - header;
    let key = Key { net: place.net, id: u32::from(id), protocol, vlan: place.vlan };
    if rest.data.len() < length {
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
