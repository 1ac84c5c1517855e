//! What `iptables` does to tables.

use super::argument::{Arguments, read};
use super::module::doing;
use super::refusal::Refusal;
use super::table::{Backend, Chain, Firewall, Rule, Side, built_in};

/// The most rules of a chain, and the most chains of a table.
const MAX_RULES: usize = 20_000;

/// One call of `iptables`.
#[derive(Debug)]
pub(in crate::host::simulated) struct Command {
    side: Side,
    arguments: Arguments,
}

impl Command {
    /// Reads the words behind the program's name.
    pub(in crate::host::simulated) fn read(words: &[String], side: Side) -> Result<Self, Refusal> {
        Ok(Self { side, arguments: read(words, side.six)? })
    }

    /// Does it; returns what is printed.
    pub(in crate::host::simulated) fn run(&self, firewall: &mut Firewall) -> Result<String, Refusal> {
        let own = &self.arguments;
        if built_in(&own.table).is_none() {
            return Err(Refusal {
                what: format!(
                    "table '{}' does not exist\nPerhaps {} or your kernel needs to be upgraded.",
                    own.table,
                    if self.side.six { "ip6tables" } else { "iptables" }
                ),
                code: 3,
                usage: true,
            });
        }
        let chain = own.chain.as_deref().unwrap_or_default();
        match own.command.unwrap_or('L') {
            'L' => return firewall.list(self.side, own),
            'S' => return firewall.rules(self.side, own),
            'C' => firewall.check(self.side, own, chain)?,
            'A' | 'I' | 'R' => firewall.put(self.side, own, chain)?,
            'D' => firewall.delete(self.side, own, chain)?,
            'N' => firewall.new_chain(self.side, &own.table, chain)?,
            'X' => firewall.delete_chains(self.side, &own.table, own.chain.as_deref())?,
            'E' => {
                let to = own.second.clone().unwrap_or_default();
                firewall.rename(self.side, &own.table, chain, &to)?;
            }
            'F' => firewall.each(self.side, &own.table, own.chain.as_deref(), |chain| chain.rules.clear())?,
            'Z' => firewall.each(self.side, &own.table, own.chain.as_deref(), Chain::zero)?,
            _ => firewall.policy(self.side, own, chain)?,
        }
        Ok(String::new())
    }
}

impl Chain {
    fn zero(&mut self) {
        (self.packets, self.bytes) = (0, 0);
        self.rules.iter_mut().for_each(|rule| (rule.packets, rule.bytes) = (0, 0));
    }
}

impl Firewall {
    /// Refuses a target that is not there.
    fn check_target(&self, side: Side, own: &Arguments) -> Result<(), Refusal> {
        let Some(target) = own.spec.target.as_deref() else { return Ok(()) };
        if doing(target).is_some() && !own.spec.goto {
            let only = match target {
                "SNAT" | "DNAT" | "MASQUERADE" | "REDIRECT" => Some("nat"),
                "NOTRACK" | "CT" => Some("raw"),
                _ => None,
            };
            if only.is_some_and(|only| only != own.table) {
                return Err(Refusal {
                    what: " RULE_APPEND failed (Invalid argument): rule in chain ".to_owned()
                        + own.chain.as_deref().unwrap_or_default(),
                    code: 4,
                    usage: true,
                });
            }
            return Ok(());
        }
        let table = self.table(side, &own.table);
        let there =
            table.is_some_and(|table| table.chain(target).is_some_and(|chain| chain.policy.is_none()));
        if there {
            return Ok(());
        }
        if side.backend == Backend::Legacy {
            return Err(Refusal::usage(format!(
                "Couldn't load target `{target}':No such file or directory\n"
            )));
        }
        Err(Refusal::usage(format!("Chain '{target}' does not exist")))
    }

    fn put(&mut self, side: Side, own: &Arguments, chain: &str) -> Result<(), Refusal> {
        self.check_target(side, own)?;
        let place = own
            .second
            .as_deref()
            .map_or(Ok(1), str::parse::<usize>)
            .map_err(|_| Refusal::usage("Invalid rule number"))?;
        let known = built_in(&own.table).is_some_and(|names| names.contains(&chain));
        if !known && self.table(side, &own.table).and_then(|table| table.chain(chain)).is_none() {
            return Err(Refusal::no_chain());
        }
        // What is refused makes no table either.
        let there = self.table(side, &own.table).and_then(|table| table.chain(chain));
        let count = there.map_or(0, |chain| chain.rules.len());
        match own.command {
            Some('I') if place < 1 || place > count + 1 => {
                return Err(Refusal::kernel("Index of insertion too big."));
            }
            Some('R') if there.is_none() && side.backend == Backend::Nft => return Err(Refusal::no_chain()),
            Some('R') if place < 1 || place > count => {
                return Err(Refusal::kernel("Index of replacement too big."));
            }
            _ => {}
        }
        let Some(table) = self.table_mut(side, &own.table) else { return Err(Refusal::no_chain()) };
        let handle = table.number(chain);
        let (packets, bytes) = own.counters.unwrap_or_default();
        let rule = Rule { spec: own.spec.clone(), packets, bytes, handle };
        let Some(found) = table.chain_mut(chain) else { return Err(Refusal::no_chain()) };
        if found.rules.len() >= MAX_RULES {
            return Err(Refusal::kernel("Memory allocation problem."));
        }
        match own.command {
            Some('A') => found.rules.push(rule),
            Some('I') => found.rules.insert((place - 1).min(count), rule),
            _ => {
                if let Some(old) = found.rules.get_mut(place - 1) {
                    *old = rule;
                }
            }
        }
        Ok(())
    }

    fn delete(&mut self, side: Side, own: &Arguments, chain: &str) -> Result<(), Refusal> {
        let by_number = own.second.as_deref().and_then(|text| text.parse::<usize>().ok());
        let found = self.table(side, &own.table).and_then(|table| table.chain(chain));
        let at = match (found, by_number) {
            (None, None) => return Err(Refusal::no_rule()),
            (None, Some(_)) => return Err(Refusal::no_chain()),
            (Some(found), Some(number)) => {
                let at = number.wrapping_sub(1);
                if found.rules.get(at).is_none() {
                    let late = "Index of deletion too big.";
                    return Err(if side.backend == Backend::Legacy {
                        Refusal::kernel(late)
                    } else {
                        Refusal::no_chain()
                    });
                }
                at
            }
            (Some(found), None) => {
                found.rules.iter().position(|rule| rule.spec == own.spec).ok_or_else(Refusal::no_rule)?
            }
        };
        if let Some(found) = self.table_mut(side, &own.table).and_then(|table| table.chain_mut(chain)) {
            found.rules.remove(at);
        }
        Ok(())
    }

    fn check(&self, side: Side, own: &Arguments, chain: &str) -> Result<(), Refusal> {
        let found = self.table(side, &own.table).and_then(|table| table.chain(chain));
        let there = found.is_some_and(|chain| chain.rules.iter().any(|rule| rule.spec == own.spec));
        if there { Ok(()) } else { Err(Refusal::no_rule()) }
    }

    pub(super) fn new_chain(&mut self, side: Side, table: &str, chain: &str) -> Result<(), Refusal> {
        if chain.is_empty() || chain.len() > 28 {
            return Err(Refusal::usage(format!("chain name `{chain}' too long (must be under 29 chars)")));
        }
        if doing(chain).is_some() {
            return Err(Refusal::usage("chain name may not clash with target name"));
        }
        let Some(table) = self.table_mut(side, table) else { return Err(Refusal::no_chain()) };
        if table.chain(chain).is_some() {
            return Err(Refusal::kernel("Chain already exists."));
        }
        if table.chains.len() >= MAX_RULES {
            return Err(Refusal::kernel("Memory allocation problem."));
        }
        table.chains.push(Chain {
            name: chain.to_owned(),
            policy: None,
            packets: 0,
            bytes: 0,
            rules: Vec::new(),
            handle: None,
        });
        table.last += 1;
        let last = table.last;
        if let Some(chain) = table.chains.last_mut() {
            chain.handle = Some(last);
        }
        Ok(())
    }

    fn delete_chains(&mut self, side: Side, table: &str, chain: Option<&str>) -> Result<(), Refusal> {
        let Some(found) = self.table(side, table) else {
            return if chain.is_some() { Err(Refusal::no_chain()) } else { Ok(()) };
        };
        let names: Vec<String> = match chain {
            Some(chain) => {
                let own = found.chain(chain).ok_or_else(Refusal::no_chain)?;
                if own.policy.is_some() {
                    return Err(Refusal::kernel("Can't delete built-in chain."));
                }
                vec![chain.to_owned()]
            }
            None => found
                .chains
                .iter()
                .filter(|chain| chain.policy.is_none())
                .map(|chain| chain.name.clone())
                .collect(),
        };
        let all = chain.is_none();
        for name in &names {
            let own = found.chain(name);
            let elsewhere = found
                .chains
                .iter()
                .filter(|other| !(all && names.contains(&other.name)) || other.name == *name);
            let used = elsewhere
                .flat_map(|chain| &chain.rules)
                .any(|rule| rule.spec.target.as_deref() == Some(name));
            let full = own.is_some_and(|own| !own.rules.is_empty());
            if !(used || full) {
                continue;
            }
            return Err(if side.backend == Backend::Legacy {
                Refusal::kernel(if used { "Too many links." } else { "Directory not empty." })
            } else {
                Refusal {
                    what: format!(" CHAIN_DEL failed (Device or resource busy): chain {name}"),
                    code: 4,
                    usage: true,
                }
            });
        }
        if let Some(table) = self.table_mut(side, table) {
            table.chains.retain(|chain| !names.contains(&chain.name));
        }
        Ok(())
    }

    fn rename(&mut self, side: Side, table: &str, from: &str, to: &str) -> Result<(), Refusal> {
        let Some(table) = self.table_mut(side, table) else { return Err(Refusal::no_chain()) };
        if table.chain(to).is_some() {
            return Err(Refusal::kernel("File exists."));
        }
        match table.chain_mut(from) {
            Some(chain) if chain.policy.is_none() => to.clone_into(&mut chain.name),
            _ => return Err(Refusal::no_chain()),
        }
        for rule in table.chains.iter_mut().flat_map(|chain| &mut chain.rules) {
            if rule.spec.target.as_deref() == Some(from) {
                rule.spec.target = Some(to.to_owned());
            }
        }
        Ok(())
    }

    fn each(
        &mut self,
        side: Side,
        table: &str,
        chain: Option<&str>,
        change: fn(&mut Chain),
    ) -> Result<(), Refusal> {
        let built = built_in(table).unwrap_or_default();
        if self.table(side, table).is_none() && chain.is_none_or(|chain| built.contains(&chain)) {
            return Ok(());
        }
        let Some(table) = self.table_mut(side, table) else { return Err(Refusal::no_chain()) };
        match chain {
            None => table.chains.iter_mut().for_each(change),
            Some(name) => change(table.chain_mut(name).ok_or_else(Refusal::no_chain)?),
        }
        Ok(())
    }

    fn policy(&mut self, side: Side, own: &Arguments, chain: &str) -> Result<(), Refusal> {
        let passes = match own.second.as_deref() {
            Some("ACCEPT") => true,
            Some("DROP") => false,
            _ => return Err(Refusal::kernel("Bad policy name. Run `dmesg' for more information.")),
        };
        let known = built_in(&own.table).is_some_and(|names| names.contains(&chain));
        if !known {
            return Err(Refusal::kernel("Bad built-in chain name."));
        }
        if let Some(table) = self.table_mut(side, &own.table) {
            if table.chain(chain).is_some_and(|chain| chain.handle.is_none()) {
                table.last += 1;
            }
            let last = table.last;
            if let Some(chain) = table.chain_mut(chain) {
                chain.handle.get_or_insert(last);
                chain.policy = Some(passes);
            }
        }
        Ok(())
    }
}
