//! Transport protocols of IP, and the known UDP ports.

use super::header::{HeaderContext, Quote, Sink, View};
use super::ip;
use super::tunnel::{self, Tunnel};
use super::walk::Next;
use crate::label::Label;

/// Reads what a protocol number stands for.
pub(super) fn read<'a>(
    protocol: u8,
    view: View<'a>,
    context: &mut HeaderContext,
    sink: &mut impl Sink,
) -> Option<(Next, View<'a>)> {
    let extension = matches!(protocol, 0 | 43 | 51 | 60 | 139 | 140);
    if !extension && let Some(quote) = context.error.take() {
        sink.about(&quote, context.net, ports(protocol, view));
    }
    match protocol {
        6 => {
            if view.holds(4) {
                sink.mark(Label::Tcp);
                sink.tcp(view, context);
            }
            None
        }
        17 => udp(view, context, sink),
        1 => icmp(view, context, sink),
        58 => icmp6(view, context, sink),
        4 => Some((Next::Four, view)),
        41 => Some((Next::Six, view)),
        47 => Some((Next::Gre, view)),
        0 | 43 | 60 | 139 | 140 => ip::extension(view),
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

fn udp<'a>(view: View<'a>, context: &mut HeaderContext, sink: &mut impl Sink) -> Option<(Next, View<'a>)> {
    let ports = (view.u16(0)?, view.u16(2)?);
    sink.mark(Label::Udp);
    let length = usize::from(view.u16(4)?);
    let six = matches!(context.net, super::header::IpPair::Six(..));
    if length < 8 && !(length == 0 && six) {
        return None;
    }
    let all = if length == 0 { view } else { view.limit(length) };
    if !view.holds(8) {
        return None;
    }
    let payload = all.skip(8);
    sink.udp(ports, payload, context);
    let (low, high) = (ports.0.min(ports.1), ports.0.max(ports.1));
    let used = match used(low) {
        PortUse::Nobody => used(high),
        known @ (PortUse::Dns | PortUse::Tunnel(_) | PortUse::Other) => known,
    };
    match used {
        PortUse::Dns => {
            if payload.holds(4) {
                sink.mark(Label::Dns);
                sink.dns(ports, payload, context);
            }
            None
        }
        PortUse::Tunnel(kind) => {
            if matches!(kind, Tunnel::Vxlan | Tunnel::Geneve) {
                context.within(payload.u32(4)? >> 8);
            }
            tunnel::over_udp(kind, payload)
        }
        PortUse::Other => None,
        PortUse::Nobody => {
            if is_dns(payload) {
                sink.mark(Label::Dns);
                sink.dns(ports, payload, context);
            }
            None
        }
    }
}

/// Tells whether a payload on ports that nothing else uses is what a resolver asks or answers.
fn is_dns(payload: View<'_>) -> bool {
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

fn icmp<'a>(view: View<'a>, context: &mut HeaderContext, sink: &mut impl Sink) -> Option<(Next, View<'a>)> {
    if !view.holds(6) {
        return None;
    }
    let (kind, code) = (view.u8(0)?, view.u8(1)?);
    sink.mark(Label::Icmp);
    sink.icmp(false, view, context);
    if !matches!(kind, 3 | 4 | 5 | 11 | 12) {
        return None;
    }
    let mtu = if (kind, code) == (3, 4) { u32::from(view.u16(6).unwrap_or(0)) } else { 0 };
    quote(Quote { six: false, kind, code, mtu, from: context.net }, context);
    context.eight = kind == 5;
    Some((Next::Four, view.skip(8)))
}

fn icmp6<'a>(view: View<'a>, context: &mut HeaderContext, sink: &mut impl Sink) -> Option<(Next, View<'a>)> {
    sink.mark(Label::Icmpv6);
    sink.icmp(true, view, context);
    let (kind, code) = (view.u8(0)?, view.u8(1)?);
    if !matches!(kind, 1..=4) {
        return None;
    }
    let mtu = if kind == 2 { view.u32(4).unwrap_or(0) } else { 0 };
    quote(Quote { six: true, kind, code, mtu, from: context.net }, context);
    Some((Next::Six, view.skip(8)))
}

/// Everything behind an ICMP error is a quotation; only the outermost error is reported.
fn quote(quote: Quote, context: &mut HeaderContext) {
    if !context.quoted {
        context.error = Some(quote);
    }
    context.quoted = true;
}

/// What is known of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PortUse {
    /// Names are asked for.
    Dns,
    /// Packets travel in packets.
    Tunnel(Tunnel),
    /// A protocol that is not looked into.
    Other,
    /// Nothing: what is there has to be guessed.
    Nobody,
}

/// Returns what is known of a port.
pub(super) fn used(port: u16) -> PortUse {
    match port {
        53 => PortUse::Dns,
        4789 => PortUse::Tunnel(Tunnel::Vxlan),
        6081 => PortUse::Tunnel(Tunnel::Geneve),
        2152 => PortUse::Tunnel(Tunnel::Gtp),
        3544 => PortUse::Tunnel(Tunnel::Teredo),
        4341 => PortUse::Tunnel(Tunnel::Lisp),
        4754 => PortUse::Tunnel(Tunnel::Gre),
        6635 => PortUse::Tunnel(Tunnel::Mpls),
        port if KNOWN_PORTS.binary_search(&port).is_ok() => PortUse::Other,
        _ => PortUse::Nobody,
    }
}

/// The UDP ports to which other readers of captures give a meaning. A message on them is not taken for DNS.
#[rustfmt::skip]
const KNOWN_PORTS: [u16; 327] = [
    7, 13, 19, 37, 49, 53, 67, 68, 69, 88, 111, 123, 137, 138, 161, 162, 173, 177, 213, 269, 319, 320, 389, 427,
    434, 464, 473, 496, 500, 502, 513, 514, 520, 521, 524, 525, 539, 546, 547, 573, 623, 631, 646, 654, 664,
    698, 699, 701, 750, 853, 854, 910, 921, 925, 1001, 1044, 1052, 1069, 1089, 1090, 1091, 1101, 1113, 1153,
    1194, 1293, 1547, 1628, 1629, 1645, 1646, 1700, 1701, 1718, 1719, 1745, 1755, 1812, 1813, 1900, 1985, 2029,
    2048, 2055, 2067, 2099, 2123, 2152, 2157, 2190, 2221, 2222, 2231, 2246, 2268, 2269, 2313, 2345, 2424, 2427,
    2428, 2727, 2887, 2944, 2945, 2948, 2949, 2960, 3000, 3121, 3130, 3205, 3222, 3250, 3333, 3343, 3357, 3386,
    3389, 3452, 3455, 3478, 3483, 3503, 3540, 3544, 3567, 3622, 3671, 3784, 3785, 3792, 3799, 3804, 3819, 3863,
    3956, 4000, 4011, 4058, 4305, 4306, 4307, 4341, 4342, 4500, 4533, 4534, 4551, 4555, 4556, 4569, 4665, 4672,
    4713, 4729, 4739, 4754, 4784, 4789, 4790, 4791, 4991, 5000, 5001, 5031, 5050, 5060, 5072, 5094, 5246, 5247,
    5264, 5265, 5350, 5351, 5353, 5355, 5404, 5405, 5436, 5555, 5567, 5678, 5683, 5684, 5868, 6060, 6073, 6081,
    6084, 6087, 6118, 6160, 6343, 6543, 6635, 6666, 6696, 6784, 6970, 7000, 7001, 7002, 7003, 7004, 7005, 7006,
    7007, 7008, 7009, 7010, 7021, 7074, 7075, 7255, 7275, 7784, 8000, 8116, 8161, 8200, 8211, 8600, 8611, 8612,
    8613, 8614, 8755, 8767, 8805, 8848, 9003, 9200, 9201, 9202, 9203, 9214, 9600, 9875, 9877, 9899, 9901, 9955,
    9956, 9996, 9999, 10253, 10500, 11211, 11273, 11898, 12000, 12001, 12002, 12003, 12004, 12220, 12222, 12223,
    13400, 13819, 13907, 13910, 17220, 17500, 17754, 17755, 17756, 18246, 19132, 19788, 19948, 19999, 20000,
    20561, 22222, 23272, 24576, 24577, 25826, 26000, 27036, 27500, 27910, 27950, 27951, 27952, 27953, 27960,
    27961, 27962, 27963, 30030, 32000, 32512, 34962, 34980, 37008, 41170, 44818, 45564, 47000, 47808, 49999,
    54328, 56000, 56001, 56500, 56501, 57000, 57001, 57032, 57033, 57500, 57501, 57532, 57533, 59000, 59001,
    59032, 59033, 59500, 59501, 59532, 59533, 60001,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_can_be_searched() {
        assert!(KNOWN_PORTS.is_sorted());
        assert_eq!((used(5353), used(5354)), (PortUse::Other, PortUse::Nobody));
    }
}
