//! The rules of a firewall of the platform, and which of them decides over a packet: the first that fits, by kind, then by priority.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde_json::Value;

use super::document::Known;
use super::flow::{Protocol, Wire};
use super::topology::inner;
use crate::net::{Fields, Tags, parse_prefix, texts};

/// The kinds of rules, in the order in which they are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Kind {
    /// They lead what comes for the firewall on to somebody else.
    Nat,
    /// They decide by addresses and ports.
    Network,
    /// They decide by the name that a caller asks for.
    Application,
}

/// Rules of one kind that do the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RuleCollection {
    pub(super) kind: Kind,
    pub(super) name: String,
    pub(super) priority: u64,
    pub(super) denies: bool,
    pub(super) rules: Vec<Rule>,
}

/// A rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) name: String,
    sources: Addresses,
    destinations: Addresses,
    /// All where it is empty.
    protocols: Vec<Protocol>,
    /// The ports; all where nothing is written.
    ports: Vec<(u16, u16)>,
    /// The names for which it holds.
    names: Vec<String>,
    /// What cannot be answered from the documents: kinds of names that the platform keeps.
    open: Vec<String>,
    /// Where a packet goes on to.
    to: Option<(IpAddr, Option<u16>)>,
}

/// Addresses, and what stands for addresses and is not known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Addresses {
    any: bool,
    ranges: Vec<(IpAddr, IpAddr)>,
    open: Vec<String>,
}

/// Whether something fits a packet.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Fit {
    Yes,
    No,
    /// It depends on this.
    Maybe(String),
}

impl Fit {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::No, _) | (_, Self::No) => Self::No,
            (Self::Maybe(why), _) | (_, Self::Maybe(why)) => Self::Maybe(why),
            (Self::Yes, Self::Yes) => Self::Yes,
        }
    }

    fn of(test: bool) -> Self {
        if test { Self::Yes } else { Self::No }
    }
}

impl Addresses {
    fn fit(&self, address: IpAddr) -> Fit {
        let holds = |(first, last): &(IpAddr, IpAddr)| {
            first.is_ipv4() == address.is_ipv4() && (*first..=*last).contains(&address)
        };
        if self.any || self.ranges.iter().any(holds) {
            return Fit::Yes;
        }
        self.open.first().map_or(Fit::No, |open| Fit::Maybe(open.clone()))
    }

    fn is_empty(&self) -> bool {
        !self.any && self.ranges.is_empty() && self.open.is_empty()
    }
}

/// A rule and the collection in which it stands.
pub(super) type Place<'a> = (&'a RuleCollection, &'a Rule);

/// What the rules of some kinds do with a packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Decision<'a> {
    /// A rule decides.
    Rule(Place<'a>),
    /// None does.
    Nothing,
    /// It depends on what is not known.
    Open(String),
}

/// Asks rules of some kinds, as if some rules were not there.
pub(super) fn decide<'a>(
    collections: &'a [RuleCollection],
    kinds: &[Kind],
    wire: &Wire,
    name: Option<&str>,
    is_gone: &dyn Fn(Place<'a>) -> bool,
) -> Decision<'a> {
    let mut doubts: Vec<(bool, String)> = Vec::new();
    for collection in collections.iter().filter(|own| kinds.contains(&own.kind)) {
        for rule in collection.rules.iter().filter(|rule| !is_gone((collection, rule))) {
            match rule.fit(collection.kind, wire, name) {
                Fit::No => {}
                Fit::Maybe(why) => {
                    let why = format!("whether the rule {} of {} fits: {why}", rule.name, collection.name);
                    doubts.push((collection.denies, why));
                }
                Fit::Yes => {
                    // A doubt about a rule that does the same decides nothing, unless it leads elsewhere.
                    let other = doubts
                        .into_iter()
                        .find(|(denies, _)| *denies != collection.denies || collection.kind != Kind::Network);
                    return other.map_or(Decision::Rule((collection, rule)), |(_, why)| Decision::Open(why));
                }
            }
        }
    }
    // What nothing lets in is denied, so that a doubt about a rule that denies decides nothing.
    let other = doubts.into_iter().find(|(denies, _)| !denies);
    other.map_or(Decision::Nothing, |(_, why)| Decision::Open(why))
}

impl Rule {
    fn fit(&self, kind: Kind, wire: &Wire, name: Option<&str>) -> Fit {
        let port = wire.dport;
        let ports = self.ports.is_empty()
            || wire.protocol == Protocol::Icmp
            || port
                .is_some_and(|port| self.ports.iter().any(|(first, last)| (*first..=*last).contains(&port)));
        let protocols = self.protocols.is_empty() || self.protocols.contains(&wire.protocol);
        let known = Fit::of(ports && protocols).and(self.sources.fit(wire.src));
        match kind {
            Kind::Nat => known.and(self.destinations.fit(wire.dst)),
            Kind::Network => {
                let by_name = match self.names.first() {
                    Some(name) => Fit::Maybe(format!("it names {name}, which the firewall resolves itself")),
                    None => Fit::No,
                };
                let there = match (self.destinations.fit(wire.dst), by_name) {
                    (Fit::Yes, _) => Fit::Yes,
                    (Fit::No, other) => other,
                    (Fit::Maybe(why), _) => Fit::Maybe(why),
                };
                known.and(there)
            }
            Kind::Application => {
                let there =
                    if self.destinations.is_empty() { Fit::Yes } else { self.destinations.fit(wire.dst) };
                known.and(there).and(self.name_fit(name))
            }
        }
    }

    fn name_fit(&self, name: Option<&str>) -> Fit {
        if self.names.iter().any(|own| own == "*") {
            return Fit::Yes;
        }
        let fits = |name: &str| self.names.iter().any(|own| holds_name(own, name));
        match name {
            Some(name) if fits(name) => Fit::Yes,
            _ if !self.open.is_empty() => Fit::Maybe(format!("it is about {}", self.open.join(", "))),
            Some(_) => Fit::No,
            None if self.names.is_empty() => Fit::No,
            None => Fit::Maybe(format!("it is about {}, and no name is known", self.names.join(", "))),
        }
    }

    /// Returns where a packet goes on to.
    pub(super) fn translated(&self, wire: Wire) -> Option<Wire> {
        let (dst, port) = self.to?;
        Some(Wire { dst, dport: port.or(wire.dport), ..wire })
    }

    /// Returns the port of the firewall from which it leads on to a port of an address.
    pub(super) fn leads_to(&self, to: IpAddr, port: Option<u16>) -> Option<u16> {
        let (own, translated) = self.to.filter(|(own, _)| *own == to)?;
        let wanted = port?;
        let takes = |port: u16| {
            self.ports.is_empty() || self.ports.iter().any(|(first, last)| (*first..=*last).contains(&port))
        };
        let first = || self.ports.first().map_or(wanted, |(first, _)| *first);
        match translated {
            Some(translated) => (own == to && translated == wanted).then(first),
            None => takes(wanted).then_some(wanted),
        }
    }

    /// Tells whether it decides over whatever comes to it.
    pub(super) fn catches_all(&self, kind: Kind) -> bool {
        let all_ports =
            self.ports.is_empty() || self.ports.iter().any(|(first, last)| *first <= 1 && *last == u16::MAX);
        kind == Kind::Network
            && self.protocols.is_empty()
            && all_ports
            && self.sources.any
            && self.destinations.any
    }
}

/// Tells whether a name with `*` at its beginning holds another.
fn holds_name(own: &str, name: &str) -> bool {
    let (own, name) =
        (own.trim_end_matches('.').to_ascii_lowercase(), name.trim_end_matches('.').to_ascii_lowercase());
    match own.strip_prefix('*') {
        Some(end) => name.ends_with(end) && name.len() > end.len(),
        None => own == name,
    }
}

/// Reads rules.
pub(super) struct Reader<'a> {
    /// Groups of addresses by the small letters of their names.
    pub(super) addresses: &'a Known<BTreeMap<String, Vec<String>>>,
    pub(super) tags: Option<&'a Tags>,
}

impl Reader<'_> {
    /// Reads a collection, of a kind where its place says it. Nothing where it cannot be read.
    pub(super) fn collection(&self, value: &Value, kind: Option<Kind>) -> Option<RuleCollection> {
        let body = inner(value);
        let rows = body.field("rules").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let action = body.field("action").and_then(|own| own.text("type").or_else(|| own.as_str()));
        let written = rows.first().and_then(|rule| rule.text("ruleType"));
        let is_nat =
            body.text("ruleCollectionType").is_some_and(|own| own.to_ascii_lowercase().contains("nat"));
        let kind = kind.or_else(|| match written.map(str::to_ascii_lowercase).as_deref() {
            Some("networkrule") => Some(Kind::Network),
            Some("applicationrule") => Some(Kind::Application),
            Some("natrule") => Some(Kind::Nat),
            // Nothing is in it.
            None => Some(if is_nat { Kind::Nat } else { Kind::Network }),
            Some(_) => None,
        })?;
        let denies = match (kind, action.map(str::to_ascii_lowercase).as_deref()) {
            (Kind::Nat, _) | (_, Some("allow")) => false,
            (_, Some("deny")) => true,
            (Kind::Network | Kind::Application, _) => return None,
        };
        Some(RuleCollection {
            kind,
            name: value.text("name")?.to_owned(),
            priority: body.field("priority").and_then(Value::as_u64)?,
            denies,
            rules: rows.iter().map(|rule| self.rule(rule, kind)).collect(),
        })
    }

    fn rule(&self, rule: &Value, kind: Kind) -> Rule {
        let list = |name: &str| texts(rule.field(name)).0;
        let mut open: Vec<String> = Vec::new();
        let (protocols, ports) = if kind == Kind::Application {
            let asked = rule.field("protocols").and_then(Value::as_array).into_iter().flatten();
            let ports = asked.filter_map(|one| u16::try_from(one.field("port")?.as_u64()?).ok());
            open.extend(list("fqdnTags").into_iter().map(|tag| format!("the tag {tag}")));
            open.extend(list("webCategories").into_iter().map(|own| format!("the category {own}")));
            open.extend(list("targetUrls"));
            (vec![Protocol::Tcp], ports.map(|port| (port, port)).collect())
        } else {
            let mut written = list("ipProtocols");
            written.append(&mut list("protocols"));
            let any = written.iter().any(|own| own.eq_ignore_ascii_case("any"));
            let known = written.iter().filter_map(|own| Protocol::parse(own)).collect();
            (if any { Vec::new() } else { known }, ports(&list("destinationPorts")))
        };
        let mut names = list("targetFqdns");
        names.append(&mut list("destinationFqdns"));
        let address = rule.text("translatedAddress").and_then(|own| own.parse::<IpAddr>().ok());
        let port = rule.field("translatedPort");
        let port = port.and_then(|own| match own.as_str() {
            Some(text) => text.parse().ok(),
            None => own.as_u64().and_then(|port| u16::try_from(port).ok()),
        });
        Rule {
            name: rule.text("name").unwrap_or("unnamed").to_owned(),
            sources: self.of(&list("sourceAddresses"), &list("sourceIpGroups")),
            destinations: self.of(&list("destinationAddresses"), &list("destinationIpGroups")),
            protocols,
            ports,
            names,
            open,
            to: address.map(|address| (address, port)),
        }
    }

    fn of(&self, written: &[String], groups: &[String]) -> Addresses {
        let mut found = Addresses::default();
        written.iter().for_each(|text| self.add(text, &mut found));
        for id in groups {
            let name = id.rsplit('/').next().unwrap_or(id);
            match self.addresses.read().and_then(|known| known.get(&name.to_ascii_lowercase())) {
                Some(own) => own.iter().for_each(|text| self.add(text, &mut found)),
                None => found.open.push(format!("the group of addresses {name} was not read")),
            }
        }
        found
    }

    fn add(&self, text: &str, found: &mut Addresses) {
        let text = text.trim();
        if text == "*" || text.eq_ignore_ascii_case("any") {
            found.any = true;
            return;
        }
        if let Some(prefix) = parse_prefix(text) {
            found.ranges.push((prefix.network(), prefix.broadcast()));
            return;
        }
        let ends = text
            .split_once('-')
            .map(|(first, last)| (first.trim().parse::<IpAddr>(), last.trim().parse::<IpAddr>()));
        if let Some((Ok(first), Ok(last))) = ends {
            found.ranges.push((first, last));
            return;
        }
        match self.tags.and_then(|tags| tags.resolve(text)) {
            Some(tag) => {
                found.ranges.extend(tag.prefixes.iter().map(|prefix| (prefix.network(), prefix.broadcast())));
                if !tag.whole {
                    found.open.push(format!("what the tag {text} stands for is not known as a whole"));
                }
            }
            None => found.open.push(format!("what {text} stands for was not read")),
        }
    }
}

fn ports(written: &[String]) -> Vec<(u16, u16)> {
    let read = |text: &String| {
        let text = text.trim();
        if text == "*" {
            return Some((0, u16::MAX));
        }
        match text.split_once('-') {
            Some((first, last)) => Some((first.trim().parse().ok()?, last.trim().parse().ok()?)),
            None => text.parse().ok().map(|port| (port, port)),
        }
    };
    written.iter().filter_map(read).collect()
}
