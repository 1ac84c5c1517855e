//! Tables, chains, rules.

use std::sync::OnceLock;

use super::judge::Judge;
use super::native::Native;
use super::spec::Spec;

/// Which of the two programs called `iptables` keeps a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::host::simulated) enum Backend {
    /// `iptables-nft`.
    Nft,
    /// `iptables-legacy`.
    Legacy,
}

/// A backend and a family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::host::simulated) struct Side {
    pub(in crate::host::simulated) backend: Backend,
    /// Whether it is for IPv6.
    pub(in crate::host::simulated) six: bool,
}

impl Side {
    /// All of them.
    pub(in crate::host::simulated) const ALL: [Self; 4] = [
        Self { backend: Backend::Legacy, six: false },
        Self { backend: Backend::Legacy, six: true },
        Self { backend: Backend::Nft, six: false },
        Self { backend: Backend::Nft, six: true },
    ];
}

/// A machine's packet filter.
#[derive(Debug, Default)]
pub(in crate::host::simulated) struct Firewall {
    pub(super) tables: Vec<Table>,
    pub(super) native: Native,
    /// Rules made ready for packets; gone as soon as one changes.
    pub(super) ready: OnceLock<Judge>,
    pub(super) table_handle: u64,
}

impl Clone for Firewall {
    fn clone(&self) -> Self {
        Self {
            tables: self.tables.clone(),
            native: self.native.clone(),
            ready: OnceLock::new(),
            table_handle: self.table_handle,
        }
    }
}

impl PartialEq for Firewall {
    fn eq(&self, other: &Self) -> bool {
        self.tables == other.tables && self.native == other.native
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Table {
    pub(super) side: Side,
    pub(super) name: String,
    pub(super) chains: Vec<Chain>,
    /// The number that nft gave it, and the last one in it.
    pub(super) handle: u64,
    pub(super) last: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Chain {
    pub(super) name: String,
    /// What happens at its end; nothing for a chain of the user's own.
    pub(super) policy: Option<bool>,
    pub(super) packets: u64,
    pub(super) bytes: u64,
    pub(super) rules: Vec<Rule>,
    /// The number that nft gave it; nothing for a built-in chain that nothing needed yet.
    pub(super) handle: Option<u64>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rule {
    pub(super) spec: Spec,
    pub(super) packets: u64,
    pub(super) bytes: u64,
    pub(super) handle: u64,
}

/// Names the built-in chains of a table; nothing where there is no such table.
pub(super) fn built_in(table: &str) -> Option<&'static [&'static str]> {
    Some(match table {
        "filter" | "security" => &["INPUT", "FORWARD", "OUTPUT"],
        "nat" => &["PREROUTING", "INPUT", "OUTPUT", "POSTROUTING"],
        "mangle" => &["PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING"],
        "raw" => &["PREROUTING", "OUTPUT"],
        _ => return None,
    })
}

impl Firewall {
    pub(super) fn table(&self, side: Side, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.side == side && table.name == name)
    }

    /// Returns a table to change it; it is made where it was not there. Nothing where there is none of that name.
    pub(super) fn table_mut(&mut self, side: Side, name: &str) -> Option<&mut Table> {
        let own = built_in(name)?;
        self.ready = OnceLock::new();
        let at = self.tables.iter().position(|table| table.side == side && table.name == name);
        let at = match at {
            Some(at) => at,
            None => {
                self.table_handle += 1;
                let chain = |name: &&str| Chain {
                    name: (*name).to_owned(),
                    policy: Some(true),
                    packets: 0,
                    bytes: 0,
                    rules: Vec::new(),
                    handle: None,
                };
                self.tables.push(Table {
                    side,
                    name: name.to_owned(),
                    chains: own.iter().map(chain).collect(),
                    handle: self.table_handle,
                    last: 0,
                });
                self.tables.len() - 1
            }
        };
        self.tables.get_mut(at)
    }

    /// Whether `iptables-legacy` made tables, which its sibling warns of.
    pub(in crate::host::simulated) fn has_legacy(&self, six: bool) -> bool {
        self.tables.iter().any(|table| table.side == Side { backend: Backend::Legacy, six })
    }

    /// Names the tables that the kernel has for `iptables-legacy`.
    pub(in crate::host::simulated) fn legacy_names(&self, six: bool) -> Vec<&str> {
        let own = self.tables.iter().filter(|table| table.side == Side { backend: Backend::Legacy, six });
        own.map(|table| table.name.as_str()).rev().collect()
    }
}

impl Firewall {
    /// Names the chains of all tables, each once.
    pub(in crate::host::simulated) fn chain_names(&self) -> Vec<String> {
        let all = self.tables.iter().flat_map(|table| &table.chains).map(|chain| chain.name.clone());
        let mut names: Vec<String> = all.collect();
        names.sort();
        names.dedup();
        names
    }

    /// Returns the addresses that a chain refuses.
    pub(in crate::host::simulated) fn sources(&self, chain: &str) -> Vec<String> {
        let chains = self.tables.iter().flat_map(|table| &table.chains).filter(|own| own.name == chain);
        let refused = chains
            .flat_map(|chain| &chain.rules)
            .filter(|rule| matches!(rule.spec.target.as_deref(), Some("REJECT" | "DROP")));
        let bare = |text: &str| text.trim_end_matches("/32").trim_end_matches("/128").to_owned();
        refused.filter_map(|rule| rule.spec.src.as_ref()).map(|src| bare(&src.value)).collect()
    }

    /// Lets an address in again that a chain refuses; returns how many rules went.
    pub(in crate::host::simulated) fn drop_source(&mut self, chain: &str, address: &str) -> usize {
        self.changed();
        let mut gone = 0;
        for own in self.tables.iter_mut().flat_map(|table| &mut table.chains).filter(|own| own.name == chain)
        {
            let before = own.rules.len();
            own.rules.retain(|rule| {
                let src = rule.spec.src.as_ref().map(|src| src.value.as_str());
                src != Some(&format!("{address}/32")) && src != Some(&format!("{address}/128"))
            });
            gone += before - own.rules.len();
        }
        gone
    }
}

impl Table {
    pub(super) fn chain(&self, name: &str) -> Option<&Chain> {
        self.chains.iter().find(|chain| chain.name == name)
    }

    pub(super) fn chain_mut(&mut self, name: &str) -> Option<&mut Chain> {
        self.chains.iter_mut().find(|chain| chain.name == name)
    }

    /// Gives out a number, and one to a chain that has none yet.
    pub(super) fn number(&mut self, chain: &str) -> u64 {
        let mut last = self.last;
        if let Some(chain) = self.chain_mut(chain)
            && chain.handle.is_none()
        {
            last += 1;
            chain.handle = Some(last);
        }
        self.last = last + 1;
        self.last
    }

    /// Counts the rules that lead into a chain.
    pub(super) fn references(&self, name: &str) -> usize {
        let rules = self.chains.iter().flat_map(|chain| &chain.rules);
        rules.filter(|rule| rule.spec.target.as_deref() == Some(name)).count()
    }

    /// Returns the chains in the order in which they are printed: the built-in ones first, the user's own by name.
    pub(super) fn chains_in_order(&self) -> Vec<&Chain> {
        let mut own: Vec<&Chain> = self.chains.iter().filter(|chain| chain.policy.is_none()).collect();
        own.sort_by(|left, right| left.name.cmp(&right.name));
        self.chains.iter().filter(|chain| chain.policy.is_some()).chain(own).collect()
    }
}

impl Firewall {
    /// Counts a packet at a rule of `iptables`.
    pub(super) fn count(&mut self, side: Side, table: &str, chain: &str, position: usize, bytes: u64) {
        let found = self.tables.iter_mut().find(|own| own.side == side && own.name == table);
        let chain = found.and_then(|table| table.chain_mut(chain));
        if let Some(rule) = chain.and_then(|chain| chain.rules.get_mut(position.wrapping_sub(1))) {
            rule.packets = rule.packets.saturating_add(1);
            rule.bytes = rule.bytes.saturating_add(bytes);
        }
    }

    /// Counts a packet at the policy of a chain, named as `filter INPUT`.
    pub(super) fn count_policy(&mut self, side: Side, policy: &str, bytes: u64) {
        let Some((table, chain)) = policy.split_once(' ') else { return };
        let found = self.tables.iter_mut().find(|own| own.side == side && own.name == table);
        if let Some(chain) = found.and_then(|table| table.chain_mut(chain)) {
            chain.packets = chain.packets.saturating_add(1);
            chain.bytes = chain.bytes.saturating_add(bytes);
        }
    }
}
