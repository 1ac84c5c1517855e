//! `IPv4` and `IPv6`, extension headers and fragments.

use super::fragment::{Fragment, Key};
use super::header::{HeaderContext, IpPair, Sink, View};
use super::transport::ports;
use super::walk::{Next, Walker};

/// Reads a header; a fragment that completes a packet is followed from here.
pub(super) fn ipv4<'a>(
    walker: &mut Walker,
    view: View<'a>,
    context: &mut HeaderContext,
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
    context.hops = view.u8(8)?;
    context.id = Some(id);
    context.net = IpPair::Four(view.bytes(12)?, view.bytes(16)?);
    sink.packet(view.limit(total), context);
    if !view.holds(header) {
        return None;
    }
    let mut rest = view.limit(total).skip(header);
    if context.eight {
        rest = rest.limit(8);
    }
    let (more, start) = (offset & 0x2000 != 0, usize::from(offset & 0x1fff) * 8);
    if let Some(quote) = context.error.take() {
        // A later fragment has no ports.
        sink.about(&quote, context.net, ports(protocol, rest).filter(|_| start == 0));
    }
    if !more && start == 0 {
        context.fragment = false;
        return Some((Next::Protocol(protocol), rest));
    }
    let length = total - header;
    let key = Key { net: context.net, id: u32::from(id), protocol, vlan: context.vlan };
    if rest.data.len() < length {
        context.fragment = true;
        if !context.quoted {
            walker.fragments().excuse(key);
        }
        return (start == 0).then_some((Next::Protocol(protocol), rest));
    }
    let whole = walker.fragments().add(key, Fragment { start, more, data: rest.data })?;
    context.fragment = false;
    walker.follow((Next::Protocol(protocol), View::new(&whole, whole.len())), context, depth, sink);
    None
}

/// The protocol number of the fragment header.
pub(super) const FRAGMENT: u8 = 44;
const HOP_BY_HOP: u8 = 0;
const ICMP: u8 = 58;

/// Reads a header.
pub(super) fn ipv6<'a>(
    view: View<'a>,
    context: &mut HeaderContext,
    sink: &mut impl Sink,
) -> Option<(Next, View<'a>)> {
    if view.u8(0)? >> 4 != 6 {
        return None;
    }
    let (length, next) = (usize::from(view.u16(4)?), view.u8(6)?);
    context.net = IpPair::Six(view.bytes(8)?, view.bytes(24)?);
    context.fragment = false;
    context.hops = view.u8(7)?;
    context.id = None;
    // A length of nothing announces a jumbogram, whose option stands in a hop-by-hop header.
    let whole = if length == 0 && next == HOP_BY_HOP { view } else { view.limit(40 + length) };
    sink.packet(whole, context);
    if length == 0 && next != HOP_BY_HOP && next != ICMP {
        return None;
    }
    let mut rest = whole.skip(40);
    if context.eight {
        rest = rest.limit(8);
    }
    // Behind extension headers it is reported where the transport is found.
    let extended = matches!(next, HOP_BY_HOP | 43 | FRAGMENT | 51 | 60);
    if !extended && let Some(quote) = context.error.take() {
        sink.about(&quote, context.net, ports(next, rest));
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
    context: &mut HeaderContext,
    depth: &mut u32,
    sink: &mut impl Sink,
) -> Option<(Next, View<'a>)> {
    let (protocol, offset, id) = (view.u8(0)?, view.u16(2)?, view.u32(4)?);
    let rest = view.skip(8);
    let (more, start) = (offset & 1 == 1, usize::from(offset & 0xfff8));
    if !more && start == 0 {
        return Some((Next::Protocol(protocol), rest));
    }
    let key = Key { net: context.net, id, protocol: FRAGMENT, vlan: 0 };
    if !rest.whole() {
        context.fragment = true;
        if !context.quoted {
            walker.fragments().excuse(key);
        }
        return (start == 0).then_some((Next::Protocol(protocol), rest));
    }
    let whole = walker.fragments().add(key, Fragment { start, more, data: rest.data })?;
    context.fragment = false;
    walker.follow((Next::Protocol(protocol), View::new(&whole, whole.len())), context, depth, sink);
    None
}
