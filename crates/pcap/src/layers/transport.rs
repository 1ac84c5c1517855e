//! What IP carries.

use super::port::{self, Use};
use super::sink::{Place, Quote, Sink};
use super::tunnel::Tunnel;
use super::view::View;
use super::walk::Next;
use super::{ip6, tunnel};
use crate::label::Label;

/// Reads what a protocol number stands for.
pub(super) fn read<'a>(
    protocol: u8,
    view: View<'a>,
    place: &mut Place,
    sink: &mut impl Sink,
) -> Option<(Next, View<'a>)> {
    let extension = matches!(protocol, 0 | 43 | 51 | 60 | 139 | 140);
    if !extension && let Some(quote) = place.error.take() {
        sink.about(&quote, place.net, ports(protocol, view));
    }
    match protocol {
        6 => {
            if view.holds(4) {
                sink.mark(Label::Tcp);
                sink.tcp(view, place);
            }
            None
        }
        17 => udp(view, place, sink),
        1 => icmp(view, place, sink),
        58 => icmp6(view, place, sink),
        4 => Some((Next::Four, view)),
        41 => Some((Next::Six, view)),
        47 => Some((Next::Gre, view)),
        0 | 43 | 60 | 139 | 140 => ip6::extension(view),
        51 => {
            let (next, words) = (view.u8(0)?, usize::from(view.u8(1)?));
            Some((Next::Protocol(next), view.skip((words + 2) * 4)))
        }
        97 => Some((Next::Ethernet, view.skip(2))),
        137 => Some((Next::Mpls, view)),
        143 => Some((Next::Ethernet, view)),
        _ => None,
    }
}

/// Returns the ports of a protocol that has some.
pub(super) fn ports(protocol: u8, view: View<'_>) -> Option<(u16, u16)> {
    view.u16(0).zip(view.u16(2)).filter(|_| matches!(protocol, 6 | 17 | 132))
}

fn udp<'a>(view: View<'a>, place: &mut Place, sink: &mut impl Sink) -> Option<(Next, View<'a>)> {
    let ports = (view.u16(0)?, view.u16(2)?);
    sink.mark(Label::Udp);
    let length = usize::from(view.u16(4)?);
    let six = matches!(place.net, super::net::Net::Six(..));
    if length < 8 && !(length == 0 && six) {
        return None;
    }
    let all = if length == 0 { view } else { view.limit(length) };
    if !view.holds(8) {
        return None;
    }
    let payload = all.skip(8);
    sink.udp(ports, payload, place);
    let (low, high) = (ports.0.min(ports.1), ports.0.max(ports.1));
    let used = match port::used(low) {
        Use::Nobody => port::used(high),
        known @ (Use::Dns | Use::Tunnel(_) | Use::Other) => known,
    };
    match used {
        Use::Dns => {
            if payload.holds(4) {
                sink.mark(Label::Dns);
                sink.dns(ports, payload, place);
            }
            None
        }
        Use::Tunnel(kind) => {
            if matches!(kind, Tunnel::Vxlan | Tunnel::Geneve) {
                place.within(payload.u32(4)? >> 8);
            }
            tunnel::over_udp(kind, payload)
        }
        Use::Other => None,
        Use::Nobody => {
            if looks_like_dns(payload) {
                sink.mark(Label::Dns);
                sink.dns(ports, payload, place);
            }
            None
        }
    }
}

/// Says whether a payload on ports that nothing else uses is what a resolver asks or answers.
fn looks_like_dns(payload: View<'_>) -> bool {
    let word = |at| payload.u16(at).unwrap_or(u16::MAX);
    if payload.data.len() <= 12 {
        return false;
    }
    let flags = word(2);
    let (questions, answers, authority, more) = (word(4), word(6), word(8), word(10));
    if flags & 0x7800 != 0 || more > 10 {
        return false;
    }
    if flags & 0x8000 == 0 {
        questions == 1 && answers == 0 && authority == 0
    } else {
        questions <= 1 && answers <= 100 && authority <= 10
    }
}

fn icmp<'a>(view: View<'a>, place: &mut Place, sink: &mut impl Sink) -> Option<(Next, View<'a>)> {
    if !view.holds(6) {
        return None;
    }
    let (kind, code) = (view.u8(0)?, view.u8(1)?);
    sink.mark(Label::Icmp);
    sink.icmp(false, view, place);
    if !matches!(kind, 3 | 4 | 5 | 11 | 12) {
        return None;
    }
    let mtu = if (kind, code) == (3, 4) { u32::from(view.u16(6).unwrap_or(0)) } else { 0 };
    quote(Quote { six: false, kind, code, mtu, from: place.net }, place);
    place.eight = kind == 5;
    Some((Next::Four, view.skip(8)))
}

fn icmp6<'a>(view: View<'a>, place: &mut Place, sink: &mut impl Sink) -> Option<(Next, View<'a>)> {
    sink.mark(Label::Icmpv6);
    sink.icmp(true, view, place);
    let (kind, code) = (view.u8(0)?, view.u8(1)?);
    if !matches!(kind, 1..=4) {
        return None;
    }
    let mtu = if kind == 2 { view.u32(4).unwrap_or(0) } else { 0 };
    quote(Quote { six: true, kind, code, mtu, from: place.net }, place);
    Some((Next::Six, view.skip(8)))
}

/// Everything behind an ICMP error is a quotation; only the outermost error is told of.
fn quote(quote: Quote, place: &mut Place) {
    if !place.quoted {
        place.error = Some(quote);
    }
    place.quoted = true;
}
