//! A ruleset as a program: chains of steps.

use std::collections::{HashMap, HashSet};

use super::index::Index;
use super::test::Test;
use super::{iptables, nftables};
use crate::netfilter::ruleset::{Body, Family, Ruleset, Table};

/// The texts behind numbers: names of devices, and what cannot be told.
#[derive(Debug, Clone, Default)]
pub(in crate::netfilter) struct Names {
    atoms: Vec<String>,
    by_text: HashMap<String, u32>,
    /// Devices: the first is "none", then exact names, and for every `eth+` one that stands for all that begin so.
    devices: Vec<Device>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Device {
    name: String,
    /// Whether it stands for every name that begins so and is nowhere else.
    open: bool,
}

impl Names {
    /// Collects the devices that rulesets name; a test can then be a set of numbers.
    pub(in crate::netfilter) fn of(rulesets: &[&Ruleset]) -> Self {
        let mut names = Self::default();
        names.devices.push(Device { name: String::new(), open: false });
        // Whatever is named nowhere.
        names.devices.push(Device { name: String::new(), open: true });
        let mut found = Vec::new();
        for ruleset in rulesets {
            crate::netfilter::ipset::devices(&ruleset.ipsets, &mut found);
            for table in &ruleset.tables {
                iptables::devices(table, &mut found);
                nftables::devices(table, &mut found);
            }
        }
        found.sort_unstable();
        found.dedup();
        names.devices.extend(found.into_iter().map(|(name, open)| Device { name, open }));
        names
    }

    /// Returns the number of a text that stands for something unknown.
    pub(in crate::netfilter) fn atom(&mut self, text: &str) -> Test {
        Test::Atom(self.number(text))
    }

    fn number(&mut self, text: &str) -> u32 {
        if let Some(number) = self.by_text.get(text) {
            return *number;
        }
        let number = u32::try_from(self.atoms.len()).unwrap_or(u32::MAX);
        self.atoms.push(text.to_owned());
        self.by_text.insert(text.to_owned(), number);
        number
    }

    /// Returns the text of an atom.
    pub(in crate::netfilter) fn text(&self, atom: u32) -> &str {
        usize::try_from(atom).ok().and_then(|at| self.atoms.get(at)).map_or("something", String::as_str)
    }

    /// Returns the number of a device, or of what stands for all names that are treated like it.
    pub(in crate::netfilter) fn device(&self, name: &str) -> u128 {
        let number = |at: usize| u128::try_from(at).unwrap_or_default();
        if let Some(at) = self.devices.iter().position(|device| !device.open && device.name == name) {
            return number(at);
        }
        let longest = self
            .devices
            .iter()
            .enumerate()
            .filter(|(_, device)| device.open && name.starts_with(&device.name))
            .max_by_key(|(_, device)| device.name.len());
        longest.map_or(1, |(at, _)| number(at))
    }

    /// Returns the numbers of the devices that a pattern means.
    pub(in crate::netfilter) fn matching(&self, name: &str, open: bool) -> super::Spans {
        let fits = |device: &&Device| {
            if open { device.name.starts_with(name) } else { !device.open && device.name == name }
        };
        let number = |at: usize| u128::try_from(at).unwrap_or_default();
        super::Spans::of(
            self.devices
                .iter()
                .enumerate()
                .filter(|(_, device)| fits(device))
                .map(|(at, _)| (number(at), number(at))),
        )
    }

    /// Returns the name that a number stands for, and whether it stands for every name that begins so.
    pub(in crate::netfilter) fn device_name(&self, number: u128) -> Option<(&str, bool)> {
        let device = self.devices.get(usize::try_from(number).ok()?)?;
        Some((&device.name, device.open))
    }

    /// Returns how many devices there are to be told apart.
    pub(in crate::netfilter) fn devices(&self) -> u128 {
        u128::try_from(self.devices.len()).unwrap_or_default()
    }
}

/// A ruleset, ready to be walked.
#[derive(Debug)]
pub(in crate::netfilter) struct Program {
    /// The chains that packets enter, by priority.
    pub(in crate::netfilter) bases: Vec<usize>,
    pub(in crate::netfilter) chains: Vec<CodeChain>,
}

/// A chain of a program.
#[derive(Debug)]
pub(in crate::netfilter) struct CodeChain {
    /// Where it stands in the ruleset.
    pub(in crate::netfilter) table: usize,
    pub(in crate::netfilter) chain: usize,
    pub(in crate::netfilter) family: Family,
    pub(in crate::netfilter) base: Option<CodeBase>,
    pub(in crate::netfilter) rules: Vec<CodeRule>,
    pub(in crate::netfilter) index: Option<Index>,
}

/// The entry of a chain.
#[derive(Debug)]
pub(in crate::netfilter) struct CodeBase {
    pub(in crate::netfilter) hook: String,
    pub(in crate::netfilter) priority: i64,
    pub(in crate::netfilter) nat: bool,
    pub(in crate::netfilter) policy: Code,
    /// Whether the table sleeps.
    pub(in crate::netfilter) dormant: bool,
}

/// A rule of a program.
#[derive(Debug, Default)]
pub(in crate::netfilter) struct CodeRule {
    /// Steps, each with the number of the part of the rule from which it comes.
    pub(in crate::netfilter) steps: Vec<(usize, Step)>,
}

/// One step of a rule.
#[derive(Debug, Clone)]
pub(in crate::netfilter) enum Step {
    /// Go on only where this holds.
    Match(Test),
    Change(Change),
    Do(Code),
    /// The first that holds is done; where none does, the rule is left.
    Choose(Vec<(Test, Code)>),
}

/// What a rule changes on a packet.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::netfilter) enum Change {
    /// Bits to clear, then bits to turn over.
    Mark { clear: u32, flip: u32 },
    /// The mark is something else now.
    MarkUnknown,
    /// The connection is not tracked.
    Untrack,
    /// An address or port becomes this, or something unknown.
    Set(super::Field, Option<u128>),
}

/// What a rule does with a packet.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::netfilter) enum Code {
    Accept,
    Drop,
    Reject,
    Return,
    /// Nothing; the next rule follows.
    Continue,
    Jump(usize),
    Goto(usize),
    /// Something about the packet changes, and the rule goes on.
    Change(Change),
    /// It is out of our hands: the atom says why.
    Unknown(u32),
}

/// Compiles a ruleset; the names have to know its devices.
pub(in crate::netfilter) fn compile(ruleset: &Ruleset, names: &mut Names) -> Program {
    let mut chains = Vec::new();
    for (table_at, table) in ruleset.tables.iter().enumerate() {
        let first = chains.len();
        let places: HashMap<&str, usize> =
            table.chains.iter().enumerate().map(|(at, chain)| (chain.name.as_str(), first + at)).collect();
        let filled = filled(ruleset);
        let mut scope =
            Scope { ruleset, table, places, names, seen: HashMap::new(), filled, elements: MOST_ELEMENTS };
        for (chain_at, chain) in table.chains.iter().enumerate() {
            let rules: Vec<CodeRule> = chain.rules.iter().map(|rule| scope.rule(&rule.body)).collect();
            let index = Index::of(&rules);
            let base = chain.base.as_ref().map(|base| CodeBase {
                hook: base.hook.clone(),
                priority: base.priority,
                nat: base.kind == "nat",
                dormant: table.dormant,
                policy: scope.policy(chain.policy.as_deref()),
            });
            chains.push(CodeChain {
                table: table_at,
                chain: chain_at,
                family: table.family,
                base,
                rules,
                index,
            });
        }
    }
    let priority =
        |at: &usize| chains.get(*at).and_then(|chain| chain.base.as_ref()).map(|base| base.priority);
    let mut bases: Vec<usize> = (0..chains.len()).filter(|at| priority(at).is_some()).collect();
    // Of two chains with one priority the kernel asks the younger one first.
    bases.sort_by_key(|at| (priority(at), std::cmp::Reverse(*at)));
    Program { bases, chains }
}

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
    changes.filter_map(|part| part.values.first()).map(String::as_str).collect()
}

impl Scope<'_> {
    fn rule(&mut self, body: &Body) -> CodeRule {
        match body {
            Body::Save(parts) => iptables::rule(self, parts),
            Body::Nft(expressions) => nftables::rule(self, expressions),
        }
    }

    fn policy(&mut self, policy: Option<&str>) -> Code {
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

    /// Takes the elements of a set out of what may be laid out; false where that is used up.
    pub(super) fn afford(&mut self, name: &str) -> bool {
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
