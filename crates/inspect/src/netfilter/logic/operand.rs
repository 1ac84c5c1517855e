//! Operands of `nft`: what stands left and right of a comparison.

use crate::netfilter::json::Value;

use super::address;
use super::name::{icmp_type, mark, port, protocol_number, state, tcp_flag};
use super::scope::Scope;
use super::span::Spans;
use super::test::{Field, Test};
use crate::netfilter::ruleset::Family;

/// The left side of a comparison.
#[derive(Debug, Clone)]
pub(super) enum Operand {
    /// A field, and what has to hold for the packet to have it.
    Field(Field, Test),
    /// A field of which only some bits count.
    Masked(Field, u128, Test),
    Concat(Vec<Operand>),
    /// Something that the description of a packet does not tell, and what has to hold for the packet to have it.
    Unknown(String, Test),
    /// The kind of an address.
    Kind(Field),
}

/// Reads an operand.
pub(super) fn read(scope: &mut Scope<'_>, value: &Value) -> Operand {
    let known = value.as_object().and_then(|object| object.iter().next()).and_then(|(name, body)| match name
        .as_str()
    {
        "payload" => payload(body),
        "meta" => meta(body.get("key")?.as_str()?),
        "ct" => connection(body),
        "concat" => Some(Operand::Concat(body.as_array()?.iter().map(|one| read(scope, one)).collect())),
        "&" => masked(scope, body),
        "fib" => kind(body),
        _ => None,
    });
    known.unwrap_or_else(|| Operand::Unknown(value.to_string(), Test::Always))
}

fn four() -> Test {
    Test::one(Field::Family, 4)
}

fn six() -> Test {
    Test::one(Field::Family, 6)
}

fn payload(body: &Value) -> Option<Operand> {
    let protocol = body.get("protocol").and_then(Value::as_str);
    let field = body.get("field").and_then(Value::as_str);
    let (Some(protocol), Some(field)) = (protocol, field) else { return None };
    let carried = |number| Test::one(Field::Protocol, number);
    // Which header it is decides which packets have it at all.
    let has = match protocol {
        "ip" => four(),
        "ip6" => six(),
        "icmp" => carried(1).and(four()),
        "icmpv6" => carried(58).and(six()),
        "tcp" | "udp" | "udplite" | "sctp" | "dccp" | "esp" | "ah" | "igmp" | "comp" | "gre" => {
            carried(protocol_number(protocol)?)
        }
        "th" => Test::Always,
        // Routed packets of these tables have an Ethernet header where they came from one.
        _ => return Some(Operand::Unknown(format!("{protocol} {field}"), Test::Always)),
    };
    let known = match (protocol, field) {
        ("ip" | "ip6", "saddr") => Field::Source,
        ("ip" | "ip6", "daddr") => Field::Destination,
        ("ip", "protocol") | ("ip6", "nexthdr") => Field::Protocol,
        ("ip", "version") | ("ip6", "version") => Field::Family,
        ("icmp" | "icmpv6", "type") => Field::IcmpType,
        ("icmp" | "icmpv6", "code") => Field::IcmpCode,
        ("tcp", "flags") => Field::TcpFlags,
        ("tcp" | "udp" | "udplite" | "sctp" | "dccp" | "th", "sport") => Field::Sport,
        ("tcp" | "udp" | "udplite" | "sctp" | "dccp" | "th", "dport") => Field::Dport,
        _ => return Some(Operand::Unknown(format!("{protocol} {field}"), has)),
    };
    Some(Operand::Field(known, has))
}

fn meta(key: &str) -> Option<Operand> {
    let field = match key {
        "l4proto" => Field::Protocol,
        "nfproto" | "protocol" => Field::Family,
        "iifname" | "iif" => Field::In,
        "oifname" | "oif" => Field::Out,
        "mark" => Field::Mark,
        _ => return None,
    };
    Some(Operand::Field(field, Test::Always))
}

fn connection(body: &Value) -> Option<Operand> {
    match body.get("key")?.as_str()? {
        "state" => Some(Operand::Field(Field::State, Test::Always)),
        _ => None,
    }
}

fn masked(scope: &mut Scope<'_>, body: &Value) -> Option<Operand> {
    let [left, mask] = body.as_array()? else { return None };
    let Operand::Field(field, has) = read(scope, left) else { return None };
    if field == Field::State {
        // Its numbers here are no bits.
        return None;
    }
    let mask = bits(field, mask)?;
    Some(Operand::Masked(field, mask, has))
}

/// Only the kind of an address itself is known; where it is looked up from is not.
fn kind(body: &Value) -> Option<Operand> {
    if body.get("result")?.as_str()? != "type" {
        return None;
    }
    let flags = body.get("flags")?;
    let flag = match flags.as_array() {
        Some([only]) => only.as_str(),
        Some(_) => None,
        None => flags.as_str(),
    };
    match flag? {
        "daddr" => Some(Operand::Kind(Field::Destination)),
        "saddr" => Some(Operand::Kind(Field::Source)),
        _ => None,
    }
}

/// Reads bits: a number, a flag, or several of them.
pub(super) fn bits(field: Field, value: &Value) -> Option<u128> {
    match value {
        Value::Array(list) => list.iter().try_fold(0, |bits_of, one| Some(bits_of | bits(field, one)?)),
        Value::Object(object) => {
            let (name, body) = object.iter().next()?;
            (name == "|").then(|| bits(field, body))?
        }
        Value::Number(_) | Value::String(_) => leaf(field, value, Family::Inet),
        Value::Null | Value::Bool(_) => None,
    }
}

/// Reads one value of a field.
fn leaf(field: Field, value: &Value, family: Family) -> Option<u128> {
    if let Some(number) = value.as_u64() {
        return match (field, number) {
            // The kernel numbers devices and states by itself.
            (Field::In | Field::Out | Field::State, _) => None,
            // As `meta nfproto`, `meta protocol` and `ip version` have it.
            (Field::Family, 2 | 4 | 0x0800) => Some(4),
            (Field::Family, 6 | 10 | 0x86dd) => Some(6),
            (Field::Family, _) => None,
            _ => Some(u128::from(number)),
        };
    }
    let text = value.as_str()?;
    match field {
        Field::Source | Field::Destination => Some(address::number(text.parse().ok()?).0),
        Field::Sport | Field::Dport => port(text),
        Field::Protocol => protocol_number(text),
        Field::Family => match text {
            "ipv4" | "ip" => Some(4),
            "ipv6" | "ip6" => Some(6),
            // Something that is not routed.
            _ => Some(0),
        },
        Field::IcmpType => icmp_type(text, family == Family::Ip6),
        Field::IcmpCode => code(text, family == Family::Ip6),
        Field::TcpFlags => tcp_flag(text),
        Field::State => state(text),
        Field::Mark => mark(text),
        Field::In | Field::Out => None,
    }
}

fn code(text: &str, six: bool) -> Option<u128> {
    Some(match (text, six) {
        ("net-unreachable", false) | ("no-route", true) => 0,
        ("host-unreachable", false) | ("admin-prohibited", true) => 1,
        ("prot-unreachable", false) => 2,
        ("port-unreachable", false) | ("addr-unreachable", true) => 3,
        ("frag-needed", false) | ("port-unreachable", true) => 4,
        ("net-prohibited", false) => 9,
        ("host-prohibited", false) => 10,
        ("admin-prohibited", false) => 13,
        _ => return text.parse::<u8>().ok().map(u128::from),
    })
}

/// Returns the values of a field that an element means.
pub(super) fn values(scope: &Scope<'_>, field: Field, has: &Test, value: &Value) -> Option<Spans> {
    // `echo-request` is another number in ICMPv6.
    let family = if mentions(has, Field::Protocol, 58) { Family::Ip6 } else { Family::Ip };
    match value {
        Value::Object(object) => {
            let (name, body) = object.iter().next()?;
            match name.as_str() {
                "prefix" => {
                    let (address, family) = address::number(body.get("addr")?.as_str()?.parse().ok()?);
                    address::prefix(address, family, body.get("len")?.as_u64()?.try_into().ok()?)
                }
                "range" => {
                    let [from, to] = body.as_array()? else { return None };
                    Some(Spans::run(leaf(field, from, family)?, leaf(field, to, family)?))
                }
                "elem" => values(scope, field, has, body.get("val")?),
                // A connection has one state: it is never two at once.
                "|" if field == Field::State => {
                    let states: Option<Vec<u128>> =
                        body.as_array()?.iter().map(|one| leaf(field, one, family)).collect();
                    let (first, rest) = states.as_deref()?.split_first()?;
                    Some(if rest.iter().all(|one| one == first) { Spans::one(*first) } else { Spans::none() })
                }
                "|" => Some(Spans::one(bits(field, value)?)),
                _ => None,
            }
        }
        Value::String(name) if matches!(field, Field::In | Field::Out) => {
            let (name, open) = match name.strip_suffix('*') {
                Some(start) => (start, true),
                None => (name.as_str(), false),
            };
            Some(scope.names.matching(name, open))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Some(Spans::one(leaf(field, value, family)?))
        }
    }
}

fn mentions(test: &Test, field: Field, value: u128) -> bool {
    match test {
        Test::Is(own, spans) => *own == field && spans.contains(value),
        Test::All(tests) | Test::Any(tests) => tests.iter().any(|test| mentions(test, field, value)),
        Test::Not(inner) => mentions(inner, field, value),
        Test::Mask(..) | Test::Atom(_) | Test::Always | Test::Never => false,
    }
}

/// Tells whether an address is of a kind. Which addresses are the host's own is not known.
pub(super) fn address_kind(scope: &mut Scope<'_>, field: Field, kind: &str) -> Test {
    let multicast = || {
        let four = Test::one(Field::Family, 4).and(Test::Is(field, Spans::run(0xe000_0000, 0xefff_ffff)));
        let six = Test::one(Field::Family, 6).and(Test::Is(field, Spans::run(0xff << 120, u128::MAX)));
        Test::Any(vec![four, six])
    };
    let loopback = || {
        let four = Test::one(Field::Family, 4).and(Test::Is(field, Spans::run(0x7f00_0000, 0x7fff_fffe)));
        Test::Any(vec![four, Test::one(Field::Family, 6).and(Test::one(field, 1))])
    };
    let side = field.name();
    match kind.to_ascii_lowercase().as_str() {
        "multicast" => multicast(),
        "local" => {
            let own = scope.atom(&super::names::own_address(field));
            Test::Any(vec![loopback(), multicast().not().and(own)])
        }
        "broadcast" => {
            let own = scope.atom(&format!("whether {side} is a broadcast address"));
            let all = Test::one(field, 0xffff_ffff);
            let possible = multicast().not().and(loopback().not()).and(own);
            Test::one(Field::Family, 4).and(Test::Any(vec![all, possible]))
        }
        other => scope.atom(&format!("whether {side} is of kind {other}")),
    }
}
