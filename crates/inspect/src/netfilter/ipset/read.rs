//! The text of `ipset save`.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use crate::netfilter::logic::{
    Field, Names, Spans, Test, address_number, address_prefix, icmp_number, mark_number, port_number,
    protocol_number,
};
use crate::netfilter::ruleset::Warning;

/// A set of the kernel that rules of `iptables` name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IpSet {
    /// The name by which rules refer to the set.
    pub name: String,
    /// Its type, such as `hash:ip,port`.
    pub kind: String,
    /// What else it was created with, apart from sizes and seeds that the kernel chooses.
    pub options: Vec<String>,
    /// Its elements.
    pub members: Vec<Member>,
    /// Whether some of its elements could not be read.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unread: bool,
}

/// An element of a set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Member {
    /// What it stands for, as printed.
    pub value: String,
    /// Whether it is an exception from a wider element.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub nomatch: bool,
    /// After how many seconds it goes by itself; 0 is never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u64>,
    /// What somebody wrote beside it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
}

impl IpSet {
    /// Returns an option's value, or an empty text where it stands alone.
    pub(in crate::netfilter) fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().find_map(|option| match option.split_once(' ') {
            Some((own, value)) => (own == name).then_some(value),
            None => (option == name).then_some(""),
        })
    }

    /// Whether elements go by themselves.
    #[must_use]
    pub fn is_volatile(&self) -> bool {
        self.option("timeout").is_some()
    }
}

/// Reads what `ipset save` printed; nothing in it is no set, and no failure.
#[must_use]
pub fn read_sets(text: &str) -> (Vec<IpSet>, Vec<Warning>) {
    let mut sets: Vec<IpSet> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut warnings = Vec::new();
    // What is not even known to be an element of some set may be one of any.
    let mut lost = false;
    for (number, line) in text.lines().enumerate() {
        let words = split(line.trim());
        let mut words = words.iter().map(String::as_str);
        let odd = match (words.next(), words.next()) {
            (None, _) => None,
            (Some(first), _) if first.starts_with('#') => None,
            (Some("create" | "-N"), Some(name)) => {
                let kind = words.next().unwrap_or_default().to_owned();
                let set = IpSet {
                    name: name.to_owned(),
                    kind,
                    options: options(words),
                    members: Vec::new(),
                    unread: false,
                };
                if let Some(at) = places.get(name) {
                    if let Some(set) = sets.get_mut(*at) {
                        set.unread = true;
                    }
                    Some(format!("the set {name} is created twice"))
                } else {
                    places.insert(set.name.clone(), sets.len());
                    sets.push(set);
                    None
                }
            }
            (Some("add" | "-A"), Some(name)) => {
                match (places.get(name).and_then(|at| sets.get_mut(*at)), words.next()) {
                    (Some(set), Some(value)) => {
                        set.members.push(member(value, words));
                        None
                    }
                    (None, _) => Some(format!("an element of {name}, a set that was not created, left out")),
                    (Some(set), None) => {
                        set.unread = true;
                        Some("an element without a value, left out".to_owned())
                    }
                }
            }
            _ => {
                lost = true;
                Some(format!("not understood: {}", line.chars().take(80).collect::<String>()))
            }
        };
        if let Some(what) = odd {
            warnings.push(Warning { place: format!("line {} of ipset", number + 1), what });
        }
    }
    sets.iter_mut().for_each(|set| set.unread |= lost);
    (sets, warnings)
}

/// Sizes grow by themselves and seeds are drawn: neither is anybody's decision.
fn options<'a>(mut words: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut found = Vec::new();
    while let Some(word) = words.next() {
        match word {
            "counters" | "comment" | "skbinfo" | "forceadd" | "wildcard" => found.push(word.to_owned()),
            "hashsize" | "initval" | "bucketsize" | "size" => drop(words.next()),
            name => found.push(format!("{name} {}", words.next().unwrap_or_default())),
        }
    }
    found.sort_unstable();
    found
}

fn member<'a>(value: &str, mut words: impl Iterator<Item = &'a str>) -> Member {
    let mut member = Member { value: value.to_owned(), nomatch: false, timeout: None, comment: None };
    while let Some(word) = words.next() {
        match word {
            "nomatch" => member.nomatch = true,
            "timeout" => member.timeout = words.next().and_then(|seconds| seconds.parse().ok()),
            "comment" => member.comment = words.next().map(str::to_owned),
            // Numbers that packets change, and marks that are put on packets.
            _ => drop(words.next()),
        }
    }
    member
}

fn split(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (at, part) in line.split('"').enumerate() {
        if at % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

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
