//! The addresses that a rule speaks of.

use std::net::IpAddr;

use ipnet::IpNet;
use serde_json::Value;

use crate::net::{AddressSet, Family, Fields, Inventory, Tags, is_tag, parse_prefix, texts};

/// What helps to resolve names.
#[derive(Debug, Clone, Copy, Default)]
pub struct Knowledge<'a> {
    /// Service tags.
    pub tags: Option<&'a Tags>,
    /// Network interfaces with their application security groups.
    pub inventory: Option<&'a Inventory>,
}

/// One side of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Peers {
    /// The addresses that are certainly meant.
    pub known: AddressSet,
    /// The names that stand for addresses that nobody resolved.
    pub open: Vec<Open>,
    /// Whether the rule says that it means anybody, by whatever word.
    pub anybody: bool,
}

/// A name that nobody resolved, or resolved for some addresses only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Open {
    /// The name, as the document has it.
    pub name: String,
    /// Addresses that it certainly does not stand for.
    pub never: AddressSet,
}

impl Peers {
    /// Reads one side of a rule: the expanded list, else the plural list, else the single value, and the groups.
    pub(super) fn read(rule: &Value, side: &str, knowledge: Knowledge<'_>) -> Self {
        let capital: String =
            side.chars().take(1).flat_map(char::to_uppercase).chain(side.chars().skip(1)).collect();
        let list = |name: String| {
            let (mut good, odd) = texts(rule.field(&name));
            good.extend(odd);
            good
        };
        let (plural, single) = (list(format!("{side}AddressPrefixes")), list(format!("{side}AddressPrefix")));
        let expanded =
            [format!("expanded{capital}AddressPrefix"), format!("expanded{capital}AddressPrefixes")];
        let expanded = expanded.into_iter().map(list).find(|texts| !texts.is_empty());
        let mut peers =
            Self { anybody: plural.iter().chain(&single).any(|text| is_anybody(text)), ..Self::default() };
        let written = if plural.is_empty() { single } else { plural };
        let mut prefixes = Vec::new();
        for text in expanded.as_ref().unwrap_or(&written) {
            peers.take(text, knowledge, &mut prefixes);
        }
        let groups = rule.field(&format!("{side}ApplicationSecurityGroups")).and_then(Value::as_array);
        for group in groups.into_iter().flatten() {
            let id = group
                .text("id")
                .or_else(|| group.as_str())
                .unwrap_or("an unnamed application security group");
            peers.group(id, knowledge.inventory, &mut prefixes);
        }
        if prefixes.is_empty() && peers.open.is_empty() && !peers.known.is_all(Family::Ipv4) {
            // A rule that names nobody is not known to mean nobody.
            peers.open.push(Open {
                name: format!("the {side} of a rule without one"),
                never: AddressSet::default(),
            });
        }
        peers.known = peers.known.union(&AddressSet::of(&prefixes));
        peers
    }

    fn take(&mut self, text: &str, knowledge: Knowledge<'_>, prefixes: &mut Vec<IpNet>) {
        if text == "*" || text.eq_ignore_ascii_case("any") {
            self.known = AddressSet::all();
        } else if let Some(prefix) = parse_prefix(text) {
            prefixes.push(prefix);
        } else if let Some(tag) = knowledge.tags.filter(|_| is_tag(text)).and_then(|tags| tags.resolve(text))
        {
            prefixes.extend_from_slice(tag);
        } else {
            let name: String = text.chars().take(200).collect();
            if !self.open.iter().any(|open| open.name.eq_ignore_ascii_case(&name)) {
                self.open.push(Open { name, never: AddressSet::default() });
            }
        }
    }

    fn group(&mut self, id: &str, inventory: Option<&Inventory>, prefixes: &mut Vec<IpNet>) {
        let mut others = Vec::new();
        for (address, inside) in inventory.into_iter().flat_map(|inventory| inventory.membership(id)) {
            if inside { &mut *prefixes } else { &mut others }.push(IpNet::from(address));
        }
        let name = id.rsplit('/').next().unwrap_or(id).chars().take(200).collect();
        self.open.push(Open { name, never: AddressSet::of(&others) });
    }

    /// Returns the names that may stand for an address, or none where it is certain; `None` where the side misses it.
    pub(super) fn undecided(&self, address: IpAddr) -> Option<Vec<&str>> {
        if self.known.contains(address) {
            return Some(Vec::new());
        }
        let open = self.open.iter().filter(|open| !open.never.contains(address));
        let names: Vec<&str> = open.map(|open| open.name.as_str()).collect();
        (!names.is_empty()).then_some(names)
    }
}

/// Tells whether a text means everybody there is.
pub(super) fn is_anybody(text: &str) -> bool {
    matches!(text, "*" | "0.0.0.0/0" | "::/0")
        || text.eq_ignore_ascii_case("internet")
        || text.eq_ignore_ascii_case("any")
}
