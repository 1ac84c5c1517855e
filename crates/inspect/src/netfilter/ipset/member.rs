//! Whether a packet is in a set.

use std::collections::BTreeMap;

use super::read::{IpSet, Member};
use crate::netfilter::logic::{
    Field, Names, Spans, Test, address_number, address_prefix, icmp_number, mark_number, port_number,
    protocol_number,
};

/// Sets of sets nest no deeper; the kernel allows no nesting at all.
const MAX_DEPTH: usize = 4;

/// Collects the devices that elements name.
pub(in crate::netfilter) fn devices(sets: &[IpSet], found: &mut Vec<(String, bool)>) {
    for set in sets.iter().filter(|set| set.kind.ends_with(",iface")) {
        let named = set.members.iter().filter_map(|member| member.value.rsplit(',').next());
        found.extend(named.map(|name| (name.to_owned(), false)));
    }
}

/// Returns the test that `--match-set NAME FLAGS` stands for; nothing where the set was not given, or a packet's description
/// cannot decide it.
pub(in crate::netfilter) fn test(
    sets: &[IpSet],
    names: &Names,
    name: &str,
    flags: &str,
    exceptions: bool,
) -> Option<Test> {
    let flags: Option<Vec<bool>> = flags
        .split(',')
        .map(|flag| match flag {
            "src" => Some(true),
            "dst" => Some(false),
            _ => None,
        })
        .collect();
    SetQuery { sets, names, flags: &flags?, exceptions }.set(name, 0)
}

struct SetQuery<'a> {
    sets: &'a [IpSet],
    names: &'a Names,
    /// For every dimension whether the side of the source is meant.
    flags: &'a [bool],
    /// Whether the exceptions are meant, not the rest.
    exceptions: bool,
}

/// Elements of one set that differ only in their first address.
#[derive(Default)]
struct Group {
    /// Length of the prefix, whether it is an exception, and the addresses.
    addresses: Vec<(u32, bool, (u128, u128))>,
}

impl SetQuery<'_> {
    fn set(&self, name: &str, depth: usize) -> Option<Test> {
        // An element that is missing may be an exception as well.
        let set = self.sets.iter().find(|set| set.name == name).filter(|set| !set.unread)?;
        let (_, dimensions) = set.kind.split_once(':')?;
        let dimensions: Vec<&str> = dimensions.split(',').collect();
        if dimensions == ["set"] {
            if depth >= MAX_DEPTH {
                return None;
            }
            let inner: Option<Vec<Test>> =
                set.members.iter().map(|member| self.set(&member.value, depth + 1)).collect();
            return Some(Test::Any(inner?));
        }
        // The kernel asks no set that has more parts than the rule names.
        if self.flags.len() < dimensions.len() {
            return Some(Test::Never);
        }
        if set.option("bitmask").is_some() || set.option("wildcard").is_some() {
            return None;
        }
        let family = match (dimensions.as_slice(), set.option("family")) {
            (["port"], _) => Test::Any(vec![Test::one(Field::Protocol, 6), Test::one(Field::Protocol, 17)]),
            (_, Some("inet6")) => Test::one(Field::Family, 6),
            _ => Test::one(Field::Family, 4),
        };
        self.members(set, &dimensions).map(|members| family.and(members))
    }

    fn members(&self, set: &IpSet, dimensions: &[&str]) -> Option<Test> {
        let first = *dimensions.first()?;
        if first == "port" {
            let ports: Option<Vec<(u128, u128)>> = set
                .members
                .iter()
                .map(|member| port_number(&member.value).map(|port| (port, port)))
                .collect();
            return Some(Test::Is(self.port_field(0), Spans::of(ports?)));
        }
        if !matches!(first, "ip" | "net") {
            return None;
        }
        // Which of two exceptions is nearer depends on both prefixes.
        let nets = dimensions.iter().filter(|dimension| **dimension == "net").count();
        let excepts = set.members.iter().any(|member| member.nomatch);
        if excepts && nets > 1 {
            return None;
        }
        let mask = set.option("netmask").and_then(|length| length.parse::<u32>().ok());
        let mut groups: BTreeMap<&str, Group> = BTreeMap::new();
        for member in &set.members {
            let (address, rest) = member.value.split_once(',').unwrap_or((&member.value, ""));
            let (length, run) = addresses(address, mask)?;
            groups.entry(rest).or_default().addresses.push((length, member.nomatch, run));
        }
        let side = self.address_field(0);
        let tests: Option<Vec<Test>> = groups
            .into_iter()
            .map(|(rest, group)| {
                let spans = group.spans(self.exceptions && nets > 0);
                let mut test = Test::Is(side, spans);
                if !rest.is_empty() {
                    for (at, (dimension, value)) in dimensions.iter().skip(1).zip(rest.split(',')).enumerate()
                    {
                        test = test.and(self.part(at + 1, dimension, value)?);
                    }
                }
                Some(test)
            })
            .collect();
        let mut tests = tests?;
        if tests.len() == 1 { tests.pop() } else { Some(Test::Any(tests)) }
    }

    /// Returns what another part of an element demands.
    fn part(&self, at: usize, dimension: &str, value: &str) -> Option<Test> {
        match dimension {
            "ip" | "net" => {
                let (_, run) = addresses(value, None)?;
                Some(Test::Is(self.address_field(at), Spans::of([run])))
            }
            "port" => self.port(at, value),
            "mark" => Some(Test::one(Field::Mark, mark_number(value)?)),
            "iface" if !value.starts_with("physdev:") => {
                let field = if *self.flags.get(at)? { Field::In } else { Field::Out };
                Some(Test::Is(field, self.names.matching(value, false)))
            }
            _ => None,
        }
    }

    fn port(&self, at: usize, value: &str) -> Option<Test> {
        let (protocol, port) = value.split_once(':').unwrap_or(("tcp", value));
        let number = protocol_number(protocol)?;
        let carried = Test::one(Field::Protocol, number);
        match number {
            6 | 17 | 132 | 136 => {
                let (from, to) = port.split_once('-').unwrap_or((port, port));
                let spans = Spans::run(port_number(from)?, port_number(to)?);
                Some(carried.and(Test::Is(self.port_field(at), spans)))
            }
            1 | 58 => {
                let (kind, code) = icmp(port, number == 58)?;
                Some(carried.and(Test::one(Field::IcmpType, kind)).and(Test::one(Field::IcmpCode, code)))
            }
            // Protocols without ports have port 0.
            _ => Some(if port == "0" { carried } else { Test::Never }),
        }
    }

    fn address_field(&self, at: usize) -> Field {
        if self.flags.get(at) == Some(&true) { Field::Source } else { Field::Destination }
    }

    fn port_field(&self, at: usize) -> Field {
        if self.flags.get(at) == Some(&true) { Field::Sport } else { Field::Dport }
    }
}

impl Group {
    /// The longest prefix that holds an address decides about it.
    fn spans(mut self, exceptions: bool) -> Spans {
        if !self.addresses.iter().any(|(_, nomatch, _)| *nomatch) {
            let all = Spans::of(self.addresses.into_iter().map(|(.., run)| run));
            return if exceptions { Spans::none() } else { all };
        }
        self.addresses.sort_unstable_by_key(|(length, nomatch, _)| (*length, *nomatch));
        let (mut matched, mut excepted) = (Spans::none(), Spans::none());
        for same in self.addresses.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let these = Spans::of(same.iter().map(|(.., run)| *run));
            let (gains, loses) = if same.first().is_some_and(|(_, nomatch, _)| *nomatch) {
                (&mut excepted, &mut matched)
            } else {
                (&mut matched, &mut excepted)
            };
            *loses = loses.subtract(&these);
            *gains = Spans::of(gains.runs().iter().chain(these.runs()).copied());
        }
        if exceptions { excepted } else { matched }
    }
}

/// Reads an address, a prefix or a range: the length of the prefix, and the addresses.
fn addresses(text: &str, mask: Option<u32>) -> Option<(u32, (u128, u128))> {
    if let Some((from, to)) = text.split_once('-') {
        let (from, to) = (address_number(from.parse().ok()?).0, address_number(to.parse().ok()?).0);
        return Some((0, (from, to)));
    }
    let (address, length) = match text.split_once('/') {
        Some((address, length)) => (address, Some(length.parse::<u32>().ok()?)),
        None => (text, mask),
    };
    let (number, family) = address_number(address.parse().ok()?);
    let length = length.unwrap_or(if family == 4 { 32 } else { 128 });
    let run = address_prefix(number, family, length)?.runs().first().copied()?;
    Some((length, run))
}

/// Reads a type and code of ICMP, by number or by the name that `ipset` prints.
fn icmp(text: &str, six: bool) -> Option<(u128, u128)> {
    if let Some((kind, code)) = text.split_once('/') {
        return Some((kind.parse::<u8>().ok()?.into(), code.parse::<u8>().ok()?.into()));
    }
    let code = match (text, six) {
        ("network-unreachable", false) | ("no-route", true) => 0,
        ("host-unreachable", false) | ("communication-prohibited", true) => 1,
        ("protocol-unreachable", false) | ("beyond-scope", true) => 2,
        ("port-unreachable", false) | ("address-unreachable", true) => 3,
        ("fragmentation-needed", false) | ("port-unreachable", true) => 4,
        _ => return Some((icmp_number(text, six)?, 0)),
    };
    Some((if six { 1 } else { 3 }, code))
}

/// Says what an element is, apart from when it ends and what was written beside it.
pub(in crate::netfilter) fn content(member: &Member) -> String {
    if member.nomatch { format!("{} nomatch", member.value) } else { member.value.clone() }
}
