//! What the rules of one table can name.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::names::Names;
use super::program::{Code, CodeRule};
use super::test::Test;
use super::{iptables, nftables};
use crate::netfilter::ipset;
use crate::netfilter::ruleset::{Body, Part, Ruleset, Table};

/// What a rule can name: the chains and sets of its table.
pub(super) struct Scope<'a> {
    pub(super) ruleset: &'a Ruleset,
    pub(super) table: &'a Table,
    places: HashMap<&'a str, usize>,
    pub(super) names: &'a mut Names,
    seen: HashMap<String, usize>,
    /// The sets beside the rules that rules change, and what they do with packets.
    filled: HashSet<(&'a str, Updates)>,
    /// What rules write: an answer about it is not the same everywhere.
    changed: Rc<HashSet<String>>,
    /// How many more elements of such sets are laid out.
    elements: usize,
    /// What was laid out, by how it was asked: rules that ask the same share it.
    members: HashMap<(String, String, bool), Option<Test>>,
}

/// One table's rules may ask large sets again and again; above this many elements a set is called unknown.
const MAX_ELEMENTS: usize = 8_000_000;

/// What rules do with the elements of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Updates {
    Add,
    Delete,
}

/// Returns the sets of `ipset` that rules change.
fn filled(ruleset: &Ruleset) -> HashSet<(&str, Updates)> {
    if ruleset.ipsets.is_empty() {
        return HashSet::new();
    }
    let changes = parts(ruleset).filter_map(|part| {
        let updates = match part.name.as_str() {
            "--add-set" => Updates::Add,
            "--del-set" => Updates::Delete,
            _ => return None,
        };
        Some((part.values.first()?.as_str(), updates))
    });
    changes.collect()
}

fn parts(ruleset: &Ruleset) -> impl Iterator<Item = &Part> {
    let rules = ruleset.tables.iter().flat_map(|table| &table.chains).flat_map(|chain| &chain.rules);
    let parts = rules.filter_map(|rule| match &rule.body {
        Body::Save(parts) => Some(parts),
        Body::Nft(_) => None,
    });
    parts.flatten()
}

/// Returns what the rules of a ruleset write besides marks, addresses and ports: the modules of `iptables`, the operands of `nft`.
pub(super) fn changed(ruleset: &Ruleset) -> HashSet<String> {
    let mut changed = HashSet::new();
    for table in &ruleset.tables {
        for rule in table.chains.iter().flat_map(|chain| &chain.rules) {
            match &rule.body {
                Body::Save(parts) => iptables::writes(parts, &mut changed),
                Body::Nft(expressions) => nftables::writes(expressions, &mut changed),
            }
        }
    }
    changed
}

impl<'a> Scope<'a> {
    /// Examines one table, whose first chain has this number.
    pub(super) fn new(
        ruleset: &'a Ruleset,
        table: &'a Table,
        first: usize,
        names: &'a mut Names,
        changed: Rc<HashSet<String>>,
    ) -> Self {
        let places = table.chains.iter().enumerate().map(|(at, chain)| (chain.name.as_str(), first + at));
        let (places, filled) = (places.collect(), filled(ruleset));
        let (seen, members) = (HashMap::new(), HashMap::new());
        Self { ruleset, table, places, names, seen, filled, changed, elements: MAX_ELEMENTS, members }
    }
}

impl Scope<'_> {
    pub(super) fn rule(&mut self, body: &Body) -> CodeRule {
        match body {
            Body::Save(parts) => iptables::rule(self, parts),
            Body::Nft(expressions) => nftables::rule(self, expressions),
        }
    }

    pub(super) fn policy(&mut self, policy: Option<&str>, chain: &str) -> Code {
        match policy.map(str::to_ascii_lowercase).as_deref() {
            Some("accept") => Code::Accept,
            Some("drop") => Code::Drop,
            None => self.unknown(&format!("the policy of {chain}, which is not known")),
            Some(other) => self.unknown(&format!("the policy {other}")),
        }
    }

    /// Returns the step to another chain.
    pub(super) fn chain(&mut self, name: &str, goto: bool) -> Code {
        match self.places.get(name) {
            Some(at) if goto => Code::Goto(*at),
            Some(at) => Code::Jump(*at),
            None => self.unread(&format!("the chain {name}, which is missing")),
        }
    }

    pub(super) fn has_chain(&self, name: &str) -> bool {
        self.places.contains_key(name)
    }

    /// Whether rules add to a set that was given beside them, or to a set in it, or delete from it.
    pub(super) fn fills(&self, name: &str, updates: Updates) -> bool {
        if self.filled.is_empty() {
            return false;
        }
        let set = self.ruleset.ipsets.iter().find(|set| set.name == name);
        let inner = set.filter(|set| set.kind == "list:set").into_iter().flat_map(|set| &set.members);
        self.filled.contains(&(name, updates))
            || inner.into_iter().any(|member| self.filled.contains(&(member.value.as_str(), updates)))
    }

    /// Returns the test for being in a set whose printed elements rules change.
    pub(super) fn updated(&mut self, listed: Test, name: &str, adds: bool, deletes: bool) -> Test {
        let mut test = listed;
        if deletes {
            let gone = self.moody(&format!("whether it was taken out of the set {name} since"));
            test = test.and(gone.not());
        }
        if adds {
            // Packets put themselves in: what was printed is the least of it.
            let since = self.moody(&format!("whether it was put into the set {name} since"));
            test = Test::Any(vec![test, since]);
        }
        test
    }

    /// Returns the test for being in a set that was given beside the rules; nothing where it was not given, a description of a packet
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

    /// Returns the code of something that could not be read.
    pub(super) fn unread(&mut self, why: &str) -> Code {
        Code::Unread(self.names.number(why))
    }

    /// Returns a test about something that rules may write: then it answers anew wherever it stands.
    pub(super) fn about(&mut self, what: &str, text: &str) -> Test {
        let written =
            !self.changed.is_empty() && self.changed.iter().any(|changed| what.contains(changed.as_str()));
        if written { self.moody(text) } else { self.names.atom(text) }
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
