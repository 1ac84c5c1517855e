//! Sets of packets in words.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::region::Region;
use crate::netfilter::logic::{Field, Names, Spans};

/// How many addresses, ports or conditions are named before the rest is counted.
const MAX_NAMED: usize = 8;

/// Writes which packets are meant, as in `tcp/22 from 10.0.0.0/8`; the family where rules are for more than one.
pub(super) fn region(region: &Region, names: &Names, families: bool) -> String {
    let family = region.field(Field::Family).and_then(Spans::single).filter(|_| families);
    let mut text = protocol(region, family);
    let side = |field| region.field(field).map(|spans| addresses(spans, region.field(Field::Family)));
    if let Some(from) = side(Field::Source) {
        text.push_str(&format!(" from {from}"));
    }
    if let Some(to) = side(Field::Destination) {
        text.push_str(&format!(" to {to}"));
    }
    if let Some(spans) = region.field(Field::Sport) {
        text.push_str(&format!(" from port {}", numbers(spans, 65_535)));
    }
    for (field, word) in [(Field::In, "in by"), (Field::Out, "out by")] {
        if let Some(spans) = region.field(field) {
            text.push_str(&format!(" {word} {}", devices(spans, names)));
        }
    }
    if let Some(spans) = region.field(Field::TcpFlags) {
        text.push_str(&format!(" with TCP flags {}", numbers(spans, 255)));
    }
    if let Some(spans) = region.field(Field::Mark) {
        text.push_str(&format!(" with mark {}", numbers(spans, u128::from(u32::MAX))));
    }
    for (at, (condition, holds)) in region.conditions.iter().enumerate() {
        if at >= MAX_NAMED {
            text.push_str(&format!(", and {} more conditions", region.conditions.len() - MAX_NAMED));
            break;
        }
        let word = if *holds { "if" } else { "unless" };
        let condition = condition.strip_prefix("whether ").unwrap_or(condition);
        text.push_str(&format!(", {word} {condition}"));
    }
    text
}

fn protocol(region: &Region, family: Option<u128>) -> String {
    let spans = region.field(Field::Protocol);
    let suffix = match family {
        Some(4) => " (IPv4)",
        Some(6) => " (IPv6)",
        _ => "",
    };
    let Some(spans) = spans.filter(|spans| **spans != Spans::run(0, 255)) else {
        return format!("everything{suffix}");
    };
    let known = [(1_u128, "icmp"), (6, "tcp"), (17, "udp"), (58, "icmpv6"), (132, "sctp")];
    let mut words: Vec<String> = known
        .iter()
        .filter(|(number, _)| spans.contains(*number))
        .map(|(_, name)| (*name).to_owned())
        .collect();
    let rest = spans.subtract(&Spans::of(known.iter().map(|(number, _)| (*number, *number))));
    if !rest.is_empty() {
        let all = Spans::run(0, 255).subtract(&Spans::of(known.iter().map(|(number, _)| (*number, *number))));
        let many = rest.runs().iter().map(|(from, to)| to - from + 1).sum::<u128>() > 16;
        if rest == all || many {
            words.retain(|word| word != "sctp");
            if words.is_empty() {
                return format!("other protocols{suffix}");
            }
            words.push("other protocols".to_owned());
        } else {
            words.push(format!("protocol {}", numbers(&rest, 255)));
        }
    }
    let mut text = words.join("+");
    if let Some(ports) = region.field(Field::Dport) {
        text.push_str(&format!("/{}", numbers(ports, 65_535)));
    }
    if let Some(kinds) = region.field(Field::IcmpType) {
        text.push_str(&format!(" type {}", numbers(kinds, 255)));
    }
    if let Some(codes) = region.field(Field::IcmpCode) {
        text.push_str(&format!(" code {}", numbers(codes, 255)));
    }
    text.push_str(suffix);
    text
}

/// Writes numbers as `22,80-90`, or as what is missing from all where that is shorter.
pub(super) fn numbers(spans: &Spans, last: u128) -> String {
    let rest = spans.complement(last);
    if rest.runs().len() < spans.runs().len() && !rest.is_empty() {
        return format!("all but {}", runs(&rest));
    }
    runs(spans)
}

fn runs(spans: &Spans) -> String {
    let one = |(from, to): &(u128, u128)| if from == to { from.to_string() } else { format!("{from}-{to}") };
    listed(spans.runs().iter().map(one).collect(), ",")
}

fn listed(mut all: Vec<String>, gap: &str) -> String {
    let count = all.len();
    if count > MAX_NAMED {
        all.truncate(MAX_NAMED);
        return format!("{}{gap}and {} more", all.join(gap), count - MAX_NAMED);
    }
    all.join(gap)
}

fn devices(spans: &Spans, names: &Names) -> String {
    let all = Spans::run(1, names.devices().saturating_sub(1));
    let name = |number: u128| {
        names.device_name(number).map(|(name, open)| if open { format!("{name}+") } else { name.to_owned() })
    };
    let each = |spans: &Spans| -> Vec<String> {
        spans.runs().iter().flat_map(|(from, to)| *from..=*to).filter_map(name).collect()
    };
    // Number 1 stands for every device that no rule names.
    if spans.contains(1) {
        let missing = all.subtract(spans);
        let named = each(&missing);
        return if named.is_empty() {
            "any device".to_owned()
        } else {
            format!("any device but {}", listed(named, ", "))
        };
    }
    if *spans == Spans::one(0) {
        return "no device".to_owned();
    }
    listed(each(&spans.subtract(&Spans::one(0))), ", ")
}

/// Writes addresses as prefixes and ranges: those that are meant, or those that are missing from a wider prefix, whichever is
/// shorter.
fn addresses(spans: &Spans, family: Option<&Spans>) -> String {
    // Numbers above 2^32 can only be of IPv6; where the family is open, small numbers are read as IPv4.
    let six = family.and_then(Spans::single) == Some(6)
        || spans.runs().iter().any(|(_, to)| *to > u128::from(u32::MAX));
    let all = if six { u128::MAX } else { u128::from(u32::MAX) };
    let each = |spans: &Spans| listed(spans.runs().iter().map(|run| write(*run, six)).collect(), ", ");
    let wide = cover(spans, six);
    let missing = Spans::run(wide.0, wide.1).subtract(spans);
    if !missing.is_empty() && missing.runs().len() < spans.runs().len() {
        let whole = if wide == (0, all) { "anywhere".to_owned() } else { write(wide, six) };
        return format!("{whole} but {}", each(&missing));
    }
    // A single run that is most of all is recognized by what is missing, too.
    let rest = Spans::run(0, all).subtract(spans);
    if rest.runs().len() == 1 && spans.runs().len() == 1 && !is_prefix(spans.runs()) && is_prefix(rest.runs())
    {
        return format!("anywhere but {}", each(&rest));
    }
    each(spans)
}

/// Returns the smallest prefix that holds all of it.
fn cover(spans: &Spans, six: bool) -> (u128, u128) {
    let (Some(first), Some(last)) = (spans.runs().first(), spans.runs().last()) else { return (0, 0) };
    let width = if six { 128 } else { 32 };
    let different = 128 - (first.0 ^ last.1).leading_zeros();
    let host = different.min(width);
    let mask = mask(host);
    (first.0 & !mask, first.0 | mask)
}

/// Returns a number whose lowest bits are set.
fn mask(bits: u32) -> u128 {
    1_u128.checked_shl(bits).map_or(u128::MAX, |bit| bit - 1)
}

/// Returns how many low bits a prefix leaves open; nothing where a run is none.
fn open_bits((from, to): (u128, u128)) -> Option<u32> {
    let bits = 128 - (from ^ to).leading_zeros();
    (from & mask(bits) == 0 && to & mask(bits) == mask(bits)).then_some(bits)
}

fn is_prefix(runs: &[(u128, u128)]) -> bool {
    runs.iter().all(|run| open_bits(*run).is_some())
}

/// Writes a run as an address, a prefix or a range.
fn write(run: (u128, u128), six: bool) -> String {
    let address = |number: u128| {
        if six {
            IpAddr::V6(Ipv6Addr::from(number))
        } else {
            IpAddr::V4(Ipv4Addr::from(u32::try_from(number).unwrap_or(u32::MAX)))
        }
    };
    let width: u32 = if six { 128 } else { 32 };
    match open_bits(run) {
        Some(0) => address(run.0).to_string(),
        Some(bits) => format!("{}/{}", address(run.0), width.saturating_sub(bits)),
        None => format!("{}-{}", address(run.0), address(run.1)),
    }
}
