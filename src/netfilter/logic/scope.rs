//! What the rules of one table can name.

use std::collections::{HashMap, HashSet};

use super::names::Names;
use super::program::{Code, CodeRule};
use super::test::Test;
use super::{iptables, nftables};
use crate::netfilter::ipset;
use crate::netfilter::ruleset::{Body, Ruleset, Table};
use crate::netfilter::text::Text;

/// What a rule can name: the chains and sets of its table.
pub(super) struct Scope<'a> {
    pub(super) ruleset: &'a Ruleset,
    pub(super) table: &'a Table,
    places: HashMap<&'a str, usize>,
    pub(super) names: &'a mut Names,
    seen: HashMap<String, usize>,
    /// The sets beside the rules into which rules put packets.
    filled: HashSet<&'a str>,
    /// How many more elements of such sets are laid out.
    elements: usize,
    /// What was laid out, by how it was asked: rules that ask the same share it.
    members: HashMap<(String, String, bool), Option<Test>>,
}

/// One table's rules may ask large sets again and again; above this many elements a set is called unknown.
const MOST_ELEMENTS: usize = 8_000_000;

/// Returns the sets of `ipset` into which rules put packets.
fn filled(ruleset: &Ruleset) -> HashSet<&str> {
    if ruleset.ipsets.is_empty() {
        return HashSet::new();
    }
    let rules = ruleset.tables.iter().flat_map(|table| &table.chains).flat_map(|chain| &chain.rules);
    let parts = rules.filter_map(|rule| match &rule.body {
        Body::Save(parts) => Some(parts),
        Body::Nft(_) => None,
    });
    let changes =
        parts.flatten().filter(|part| matches!(part.name.as_str(), "--add-set" | "--map-set" | "--del-set"));
    changes.filter_map(|part| part.values.first()).map(Text::as_str).collect()
}

impl<'a> Scope<'a> {
    /// Looks at one table, whose first chain has this number.
    pub(super) fn new(ruleset: &'a Ruleset, table: &'a Table, first: usize, names: &'a mut Names) -> Self {
        let places = table.chains.iter().enumerate().map(|(at, chain)| (chain.name.as_str(), first + at));
        let (places, filled) = (places.collect(), filled(ruleset));
        let (seen, members) = (HashMap::new(), HashMap::new());
        Self { ruleset, table, places, names, seen, filled, elements: MOST_ELEMENTS, members }
    }
}

impl Scope<'_> {
    pub(super) fn rule(&mut self, body: &Body) -> CodeRule {
        match body {
            Body::Save(parts) => iptables::rule(self, parts),
            Body::Nft(expressions) => nftables::rule(self, expressions),
        }
    }

    pub(super) fn policy(&mut self, policy: Option<&str>) -> Code {
        match policy.map(str::to_ascii_lowercase).as_deref() {
            Some("accept") | None => Code::Accept,
            Some("drop") => Code::Drop,
            Some(other) => self.unknown(&format!("the policy {other}")),
        }
    }

    /// Returns the step to another chain.
    pub(super) fn chain(&mut self, name: &str, goto: bool) -> Code {
        match self.places.get(name) {
            Some(at) if goto => Code::Goto(*at),
            Some(at) => Code::Jump(*at),
            None => self.unknown(&format!("the chain {name}, which is missing")),
        }
    }

    pub(super) fn has_chain(&self, name: &str) -> bool {
        self.places.contains_key(name)
    }

    /// Whether rules put packets into a set that was told beside them.
    pub(super) fn fills(&self, name: &str) -> bool {
        self.filled.contains(name)
    }

    /// Returns the test for being in a set that was told beside the rules; nothing where it is not told, a description of a packet
    /// cannot decide it, or too much was laid out before.
    pub(super) fn member(&mut self, name: &str, flags: &str, exceptions: bool) -> Option<Test> {
        let asked = (name.to_owned(), flags.to_owned(), exceptions);
        if let Some(known) = self.members.get(&asked) {
            return known.clone();
        }
        let test = if self.afford(name) {
            ipset::test(&self.ruleset.ipsets, self.names, name, flags, exceptions)
        } else {
            None
        };
        self.members.insert(asked, test.clone());
        test
    }

    /// Takes the elements of a set out of what may be laid out; false where that is used up.
    fn afford(&mut self, name: &str) -> bool {
        let size = self.ruleset.ipsets.iter().find(|set| set.name == name).map_or(0, |set| set.members.len());
        let left = self.elements.checked_sub(size);
        self.elements = left.unwrap_or(0);
        left.is_some()
    }

    pub(super) fn unknown(&mut self, why: &str) -> Code {
        Code::Unknown(self.names.number(why))
    }

    /// Returns a test that is the same for one packet wherever it stands.
    pub(super) fn atom(&mut self, text: &str) -> Test {
        self.names.atom(text)
    }

    /// Returns a test that answers anew wherever it stands: counts, rates, chance.
    pub(super) fn moody(&mut self, text: &str) -> Test {
        let key = format!("{text} in {}", self.table.name);
        let count = self.seen.entry(key.clone()).or_insert(0);
        *count += 1;
        let text = if *count == 1 { key } else { format!("{key}, number {count}") };
        self.names.atom(&text)
    }
}
