//! Lines of `iptables`, `nft` and `tc` carried out on what was printed inside a machine.

use std::collections::BTreeMap;

use serde_json::json;

use super::documents::texts;
use super::native;
use crate::netfilter::{self, Body, Chain, Format, Part, Rule, Ruleset, Table};
use crate::path::{Bundle, Guest, Reading};

/// Returns the documents of a machine.
pub(super) fn of<'a>(bundle: &'a mut Bundle, machine: &str) -> Option<&'a mut Guest> {
    bundle.guests.iter_mut().find(|(name, _)| name.eq_ignore_ascii_case(machine)).map(|(_, guest)| guest)
}

/// Carries a line out on every document of the packet filter that shows what it changes.
///
/// # Errors
/// Says why nobody can say what it does.
pub(super) fn filter(bundle: &mut Bundle, machine: &str, words: &[String]) -> Result<(), String> {
    let line = Line::read(words)?;
    let guest = of(bundle, machine).ok_or_else(|| format!("the packet filter of {machine} was not read"))?;
    let sources = line.sources(&guest.filters);
    if sources.is_empty() {
        return Err(format!("the packet filter of {machine} was not read"));
    }
    let (mut touched, mut problem) = (false, None);
    for source in sources {
        let Some(Reading::Text(text)) = guest.filters.get_mut(&source) else { continue };
        match line.edited(text) {
            Ok(edited) => {
                *text = edited;
                touched = true;
            }
            Err(why) => problem = Some(why),
        }
    }
    if !touched {
        return Err(problem.unwrap_or_else(|| format!("the packet filter of {machine} was not read")));
    }
    line.forget_native(&mut guest.filters);
    Ok(())
}

/// So many lines take a line back at the most.
const MAX_LINES: usize = 50;

/// Returns the lines that take a line of `iptables` or `nft` back; nothing where that depends on what was not read.
pub(super) fn inverse(bundle: &Bundle, machine: &str, words: &[String]) -> Option<Vec<String>> {
    let (line, program) = (Line::read(words).ok()?, words.first()?);
    line.is_plain(program).then_some(())?;
    let chains = line.chains_in(bundle, machine)?;
    if let Deed::Flush = line.deed {
        let lines = line.refilled(program, &chains)?;
        return (1..=MAX_LINES).contains(&lines.len()).then_some(lines);
    }
    line.one_back(program, &chains).map(|back| vec![back])
}

/// Returns the line that deletes what a line of `nft` has put in, by the number that the kernel gave it; nothing where that number does
/// not stand out.
pub(super) fn inverse_read(
    before: &Bundle,
    after: &Bundle,
    machine: &str,
    words: &[String],
) -> Option<String> {
    let (line, program) = (Line::read(words).ok()?, words.first()?);
    line.is_plain(program).then_some(())?;
    let (Deed::After(_, rule) | Deed::Before(_, rule)) = &line.deed else { return None };
    let chain = line.chain.as_deref()?;
    let handles = |bundle| -> Option<BTreeMap<u64, String>> {
        let chain = line.chains_in(bundle, machine)?.into_iter().find(|own| own.name == chain)?;
        Some(chain.rules.into_iter().filter_map(|rule| Some((rule.handle?, rule.raw))).collect())
    };
    let old = handles(before)?;
    let mut new = handles(after)?.into_iter().filter(|(handle, _)| !old.contains_key(handle));
    let (handle, raw) = new.next()?;
    // What somebody else has put in meanwhile is not taken for it.
    let is_own = uncounted(&line.native_rule(rule).ok()?.raw) == uncounted(&raw);
    (is_own && new.next().is_none())
        .then(|| format!("{program} delete rule {} {chain} handle {handle}", line.table))
}

/// Returns a rule of `nft` as a shell takes it: the braces of a set mean something there.
fn quoted(rule: &str) -> String {
    if rule.contains(['{', '"', '!']) { format!("'{rule}'") } else { rule.to_owned() }
}

/// Returns a rule without what it has counted.
fn uncounted(rule: &str) -> Vec<&str> {
    let words: Vec<&str> = rule.split_whitespace().collect();
    let is_count = |at: usize| {
        matches!(words.get(at), Some(&("packets" | "bytes")))
            || at
                .checked_sub(1)
                .is_some_and(|before| matches!(words.get(before), Some(&("packets" | "bytes"))))
    };
    words.iter().enumerate().filter(|(at, _)| !is_count(*at)).map(|(_, word)| *word).collect()
}

/// Tells whether the line that takes a line back can only be said once it has run.
pub(super) fn is_named_later(words: &[String]) -> bool {
    Line::read(words).is_ok_and(|line| matches!(line.deed, Deed::After(..) | Deed::Before(..)))
}

/// Returns words as a shell takes them for the same words; nothing where that is not so easy.
fn as_typed(words: &[String]) -> Option<String> {
    let one = |word: &String| match (is_name(word), word.contains('\'')) {
        (true, _) => Some(word.clone()),
        (false, false) => Some(format!("'{word}'")),
        (false, true) => None,
    };
    words.iter().map(one).collect::<Option<Vec<_>>>().map(|words| words.join(" "))
}

/// Tells whether a shell takes a text for nothing but a word.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|char| char.is_ascii_alphanumeric() || "_-./:,=+@%".contains(char))
}

/// Tells whether a rule can stand in a script: the line goes through a shell, and what means something there is not offered.
fn is_plain(rule: &str) -> bool {
    rule.chars().all(|char| char.is_ascii_alphanumeric() || " _-./:,{}!=+\"".contains(char))
        && rule.matches('"').count().is_multiple_of(2)
}

/// The chains with which a table of `iptables` begins.
fn built_in(table: &str) -> &'static [&'static str] {
    match table {
        "nat" => &["PREROUTING", "INPUT", "OUTPUT", "POSTROUTING"],
        "mangle" => &["PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING"],
        "raw" => &["PREROUTING", "OUTPUT"],
        _ => &["INPUT", "FORWARD", "OUTPUT"],
    }
}

/// What a line does to a chain.
enum Deed {
    Append(Vec<String>),
    /// Before the rule of that number, from 1.
    Insert(usize, Vec<String>),
    DeleteAt(usize),
    Delete(Vec<String>),
    /// The rule that `nft` gave a number.
    DeleteHandle(u64),
    /// Behind a rule of `nft`, or the last one.
    After(Near, Vec<String>),
    /// Before a rule of `nft`, or the first one.
    Before(Near, Vec<String>),
    Policy(String),
    Flush,
}

/// Which rule of a chain of `nft` is meant.
enum Near {
    /// None of them.
    End,
    Handle(u64),
    /// From 0.
    Index(usize),
}

impl Near {
    /// Returns its place; nothing where none is meant.
    fn find(&self, chain: &Chain) -> Result<Option<usize>, String> {
        let found = match self {
            Self::End => return Ok(None),
            Self::Handle(handle) => chain.rules.iter().position(|own| own.handle == Some(*handle)),
            Self::Index(index) => Some(*index).filter(|index| *index < chain.rules.len()),
        };
        found.map(Some).ok_or_else(|| format!("{} has no such rule", chain.name))
    }
}

/// A line that is understood.
struct Line {
    /// `iptables`, `ip6tables` or `nft`.
    program: &'static str,
    /// `legacy` or `nft`, where the line says which of the two it means.
    backend: Option<&'static str>,
    table: String,
    /// None for all chains.
    chain: Option<String>,
    deed: Deed,
}

impl Line {
    fn read(words: &[String]) -> Result<Self, String> {
        let (first, rest) = words.split_first().ok_or("it has no words")?;
        let name = first.rsplit('/').next().unwrap_or(first);
        match name {
            "iptables" => Self::of_tables(("iptables", None), rest),
            "iptables-nft" => Self::of_tables(("iptables", Some("nft")), rest),
            "iptables-legacy" => Self::of_tables(("iptables", Some("legacy")), rest),
            "ip6tables" => Self::of_tables(("ip6tables", None), rest),
            "ip6tables-nft" => Self::of_tables(("ip6tables", Some("nft")), rest),
            "ip6tables-legacy" => Self::of_tables(("ip6tables", Some("legacy")), rest),
            "nft" => Self::of_nft(rest),
            other => Err(format!("nobody carries out a line of {other} here")),
        }
    }

    fn of_tables(
        (program, backend): (&'static str, Option<&'static str>),
        words: &[String],
    ) -> Result<Self, String> {
        let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
        words.retain(|word| !matches!(*word, "-w" | "--wait" | "-v" | "--verbose" | "-n" | "--numeric"));
        let mut table = "filter".to_owned();
        if let Some(at) = words.iter().position(|word| matches!(*word, "-t" | "--table")) {
            table = (*words.get(at + 1).ok_or("-t names no table")?).to_owned();
            words.drain(at..=at + 1);
        }
        let at = words
            .iter()
            .position(|word| {
                matches!(
                    *word,
                    "-A" | "--append"
                        | "-I"
                        | "--insert"
                        | "-D"
                        | "--delete"
                        | "-P"
                        | "--policy"
                        | "-F"
                        | "--flush"
                )
            })
            .ok_or("it neither adds nor deletes a rule, nor sets a policy")?;
        let option = words.remove(at);
        let chain = (at < words.len()).then(|| words.remove(at).to_owned());
        let number = || words.get(at).and_then(|word| word.parse::<usize>().ok());
        let own = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let deed = match option {
            "-A" | "--append" => Deed::Append(own(&words)),
            "-I" | "--insert" => match number() {
                Some(number) => {
                    words.remove(at);
                    Deed::Insert(number, own(&words))
                }
                None => Deed::Insert(1, own(&words)),
            },
            "-D" | "--delete" => number().map_or_else(|| Deed::Delete(own(&words)), Deed::DeleteAt),
            "-P" | "--policy" => Deed::Policy((*words.get(at).ok_or("-P names no policy")?).to_owned()),
            _ => Deed::Flush,
        };
        if chain.is_none() && !matches!(deed, Deed::Flush) {
            return Err("it names no chain".to_owned());
        }
        Ok(Self { program, backend, table, chain, deed })
    }

    fn of_nft(words: &[String]) -> Result<Self, String> {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let [verb, what @ ("rule" | "chain"), rest @ ..] = words.as_slice() else {
            return Err("of nft only rules of a chain are added and deleted here".to_owned());
        };
        let (family, rest) = match rest {
            [family @ ("ip" | "ip6" | "inet"), rest @ ..] => (*family, rest),
            _ => ("ip", rest),
        };
        let [table, chain, rest @ ..] = rest else { return Err("it names no chain".to_owned()) };
        let number = |text: &str| text.parse::<u64>().map_err(|_| format!("`{text}` is no number"));
        // The place where a rule is put, and the rule.
        let placed = || match rest {
            ["handle" | "position", handle, rule @ ..] => Ok((Near::Handle(number(handle)?), rule)),
            ["index", index, rule @ ..] => {
                Ok((Near::Index(usize::try_from(number(index)?).unwrap_or(usize::MAX)), rule))
            }
            rule => Ok::<_, String>((Near::End, rule)),
        };
        let own = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let deed = match (*verb, *what, rest) {
            ("add", "rule", _) => placed().map(|(near, rule)| Deed::After(near, own(rule)))?,
            ("insert", "rule", _) => placed().map(|(near, rule)| Deed::Before(near, own(rule)))?,
            ("delete", "rule", ["handle", handle]) => Deed::DeleteHandle(number(handle)?),
            ("delete", "rule", _) => return Err("it names no rule by its handle".to_owned()),
            ("flush", "chain", []) => Deed::Flush,
            _ => return Err(format!("`nft {verb} {what}` is not carried out here")),
        };
        let (table, chain) = (format!("{family} {table}"), Some((*chain).to_owned()));
        Ok(Self { program: "nft", backend: None, table, chain, deed })
    }

    /// Tells whether what it names can stand in another line that goes through a shell.
    fn is_plain(&self, program: &str) -> bool {
        is_name(program)
            && self.table.split(' ').all(is_name)
            && self.chain.as_deref().is_none_or(is_name)
            && !matches!(&self.deed, Deed::Policy(policy) if !is_name(policy))
    }

    /// Returns the chains of the table in the document that shows what the line changes; none where nobody has used the table.
    fn chains_in(&self, bundle: &Bundle, machine: &str) -> Option<Vec<Chain>> {
        let own = bundle.guests.iter().find(|(name, _)| name.eq_ignore_ascii_case(machine));
        let filters = &own?.1.filters;
        let source = self.sources(filters).into_iter().next()?;
        let Some(Reading::Text(text)) = filters.get(&source) else { return None };
        let ruleset = netfilter::read(text).and_then(Ruleset::whole).ok()?;
        let table = ruleset.tables.into_iter().find(|own| own.name == self.table);
        Some(table.map(|table| table.chains).unwrap_or_default())
    }

    /// Returns the start of another line of `iptables` for the same table.
    fn beginning(&self, program: &str) -> String {
        if self.table == "filter" { program.to_owned() } else { format!("{program} -t {}", self.table) }
    }

    /// Returns the line that takes this one back, where one does.
    fn one_back(&self, program: &str, chains: &[Chain]) -> Option<String> {
        let chain = self.chain.as_deref()?;
        let begun = self.beginning(program);
        let said = |rest: String| Some(format!("{begun} {rest}"));
        let known = chains.iter().find(|own| own.name == chain);
        let put_back = |at: usize| {
            let raw = text_of(known?.rules.get(at)?, chain);
            is_plain(raw).then(|| format!("{begun} -I {chain} {} {raw}", at + 1))
        };
        match &self.deed {
            Deed::Append(rule) | Deed::Insert(_, rule) => said(format!("-D {chain} {}", as_typed(rule)?)),
            Deed::DeleteAt(number) => put_back(number.checked_sub(1)?),
            Deed::Delete(rule) => {
                let wanted = essence(&self.rule(rule).ok()?);
                put_back(known?.rules.iter().position(|own| essence(own) == wanted)?)
            }
            Deed::Policy(_) => {
                let old = known.map_or("ACCEPT", |chain| chain.policy.as_deref().unwrap_or("ACCEPT"));
                said(format!("-P {chain} {old}"))
            }
            Deed::DeleteHandle(handle) => {
                let at = known?.rules.iter().position(|own| own.handle == Some(*handle))?;
                let raw = known?.rules.get(at)?.raw.trim();
                let place = match at.checked_sub(1).and_then(|before| known?.rules.get(before)) {
                    Some(before) => format!("add rule {} {chain} handle {}", self.table, before.handle?),
                    None => format!("insert rule {} {chain}", self.table),
                };
                is_plain(raw).then(|| format!("{program} {place} {}", quoted(raw)))
            }
            // The rule gets its handle when it stands there, and a chain is not filled by one line.
            Deed::After(..) | Deed::Before(..) | Deed::Flush => None,
        }
    }

    /// Returns the lines that fill the chains that this one empties.
    fn refilled(&self, program: &str, chains: &[Chain]) -> Option<Vec<String>> {
        let begun = self.beginning(program);
        let is_emptied = |own: &&Chain| self.chain.as_ref().is_none_or(|name| own.name == *name);
        let mut lines = Vec::new();
        for chain in chains.iter().filter(is_emptied) {
            for rule in &chain.rules {
                let raw = text_of(rule, &chain.name);
                if !is_plain(raw) {
                    return None;
                }
                lines.push(match self.program {
                    "nft" => format!("{program} add rule {} {} {}", self.table, chain.name, quoted(raw)),
                    _ => format!("{begun} -A {} {raw}", chain.name),
                });
            }
        }
        Some(lines)
    }

    /// Returns the documents that show what the line changes. Of the two backends of `iptables` it is the one that the line names,
    /// or that the machine has chosen, or in which there is something.
    fn sources(&self, filters: &BTreeMap<String, Reading>) -> Vec<String> {
        let all = filters.iter().filter_map(|(source, reading)| match reading {
            Reading::Text(text) if source.starts_with(self.program) => Some((source, text)),
            Reading::Text(_) | Reading::Failed { .. } => None,
        });
        let all: Vec<(&String, &String)> = all.collect();
        let chosen = || match filters.get("alternatives") {
            Some(Reading::Text(text)) => {
                text.lines().filter(|line| line.contains(self.program)).find_map(|line| {
                    ["legacy", "nft"]
                        .into_iter()
                        .find(|backend| line.contains(&format!("{}-{backend}", self.program)))
                })
            }
            Some(Reading::Failed { .. }) | None => None,
        };
        let head = format!("*{}", self.table);
        let own = |test: &dyn Fn(&String, &String) -> bool| -> Vec<String> {
            all.iter()
                .filter(|(source, text)| test(source, text))
                .map(|(source, _)| (*source).clone())
                .collect()
        };
        let filled = own(&|_, text| self.program == "nft" || text.lines().any(|line| line.trim() == head));
        let of_backend = |backend: &str| own(&|source, _| source.ends_with(backend));
        let named = self.backend.or_else(chosen).map(of_backend).unwrap_or_default();
        [named, filled, of_backend("nft"), own(&|_, _| true)]
            .into_iter()
            .find(|some| !some.is_empty())
            .unwrap_or_default()
    }

    /// Returns a document as it would be printed after the line.
    fn edited(&self, text: &str) -> Result<String, String> {
        let head = format!("*{}", self.table);
        let mut text = text.to_owned();
        if self.program != "nft" && !text.lines().any(|line| line.trim() == head) {
            // Nobody has used the table: it is printed once somebody has.
            let chains: Vec<String> =
                built_in(&self.table).iter().map(|chain| format!(":{chain} ACCEPT [0:0]\n")).collect();
            text = format!("{}\n{head}\n{}COMMIT\n", text.trim_end(), chains.concat());
        }
        let mut ruleset =
            netfilter::read(&text).and_then(Ruleset::whole).map_err(|error| error.to_string())?;
        self.carry_out(&mut ruleset)?;
        let comments: String = match ruleset.format {
            Format::Save => {
                text.lines().filter(|line| line.starts_with('#')).map(|line| format!("{line}\n")).collect()
            }
            Format::Nft => String::new(),
        };
        Ok(comments + &netfilter::print(&ruleset))
    }

    /// What `nft` shows of a table that belongs to `iptables` is old after the line; the table's own document says it now.
    fn forget_native(&self, filters: &mut BTreeMap<String, Reading>) {
        let native = match self.program {
            "iptables" => format!("ip {}", self.table),
            "ip6tables" => format!("ip6 {}", self.table),
            _ => return,
        };
        for (_, reading) in filters.iter_mut().filter(|(source, _)| source.starts_with("nft")) {
            let Reading::Text(text) = reading else { continue };
            let Ok(mut ruleset) = netfilter::read(text).and_then(Ruleset::whole) else { continue };
            let before = ruleset.tables.len();
            ruleset.tables.retain(|table| table.name != native);
            if ruleset.tables.len() < before {
                *text = netfilter::print(&ruleset);
            }
        }
    }

    fn carry_out(&self, ruleset: &mut Ruleset) -> Result<(), String> {
        let no_table = || format!("there is no table {} there", self.table);
        let at = ruleset.tables.iter().position(|own| own.name == self.table).ok_or_else(no_table)?;
        let table = ruleset.tables.get_mut(at).ok_or_else(no_table)?;
        let Some(name) = &self.chain else {
            table.chains.iter_mut().for_each(|chain| chain.rules.clear());
            return Ok(());
        };
        let chain = table.chains.iter_mut().find(|own| own.name == *name);
        let chain = chain.ok_or_else(|| format!("there is no chain {name} there"))?;
        match &self.deed {
            Deed::Append(words) => {
                let rule = self.rule(words)?;
                chain.rules.push(rule);
            }
            Deed::Insert(number, words) => {
                let rule = self.rule(words)?;
                let at = number.saturating_sub(1);
                if at > chain.rules.len() {
                    return Err(format!("{name} has {} rules", chain.rules.len()));
                }
                chain.rules.insert(at, rule);
            }
            Deed::DeleteAt(number) => {
                let at = number.checked_sub(1).filter(|at| *at < chain.rules.len());
                chain.rules.remove(at.ok_or_else(|| format!("{name} has no rule {number}"))?);
            }
            Deed::Delete(words) => {
                let wanted = essence(&self.rule(words)?);
                let at = chain.rules.iter().position(|own| essence(own) == wanted);
                chain.rules.remove(at.ok_or_else(|| format!("{name} has no such rule"))?);
            }
            Deed::DeleteHandle(handle) => {
                let at = chain.rules.iter().position(|own| own.handle == Some(*handle));
                chain.rules.remove(at.ok_or_else(|| format!("{name} has no rule with the handle {handle}"))?);
            }
            Deed::After(near, words) => {
                let at = near.find(chain)?.map_or(chain.rules.len(), |at| at + 1);
                let rule = self.native_rule(words)?;
                chain.rules.insert(at, rule);
            }
            Deed::Before(near, words) => {
                let at = near.find(chain)?.unwrap_or(0);
                let rule = self.native_rule(words)?;
                chain.rules.insert(at, rule);
            }
            Deed::Policy(policy) => chain.policy = Some(policy.clone()),
            Deed::Flush => chain.rules.clear(),
        }
        number(chain);
        Ok(())
    }

    /// Reads the words of a rule as `nft -j list ruleset` would print them.
    fn native_rule(&self, words: &[String]) -> Result<Rule, String> {
        let expressions = native::expressions(words)?;
        let (family, table) = self.table.split_once(' ').ok_or("it names no table")?;
        let chain = self.chain.as_deref().unwrap_or("input");
        let text = json!({"nftables": [
            {"table": {"family": family, "name": table, "handle": 1}},
            {"chain": {"family": family, "table": table, "name": chain, "handle": 1}},
            {"rule": {"family": family, "table": table, "chain": chain, "handle": 0, "expr": expressions}},
        ]});
        let parsed = netfilter::read(&text.to_string()).and_then(Ruleset::whole);
        let mut parsed = parsed.map_err(|error| error.to_string())?;
        let chain = parsed.tables.first_mut().and_then(|table: &mut Table| table.chains.first_mut());
        let mut rule = chain.and_then(|chain| chain.rules.pop()).ok_or("the rule cannot be read")?;
        // It gets one when it stands there.
        rule.handle = None;
        if rule.opaque.is_empty() {
            Ok(rule)
        } else {
            Err(format!("`{}` is not known", rule.opaque.join(" ")))
        }
    }

    /// Reads the words of a rule as `iptables-save` would print them.
    fn rule(&self, words: &[String]) -> Result<Rule, String> {
        let chain = self.chain.as_deref().unwrap_or("INPUT");
        let mut line: Vec<String> = Vec::new();
        for (at, word) in words.iter().enumerate() {
            line.push(long(word).to_owned());
            let is_protocol = at > 0
                && words.get(at - 1).is_some_and(|before| matches!(before.as_str(), "-p" | "--protocol"));
            let has_module = words.iter().any(|other| other == "-m" || other == "--match");
            if is_protocol
                && matches!(word.as_str(), "tcp" | "udp" | "icmp")
                && !has_module
                && words.len() > at + 1
            {
                line.extend(["-m".to_owned(), word.clone()]);
            }
        }
        if line.iter().any(|word| word.contains(['\n', '\r', '"'])) {
            return Err("its words cannot stand in a line".to_owned());
        }
        let line: Vec<String> = line
            .into_iter()
            .map(|word| if word.contains(' ') { format!("\"{word}\"") } else { word })
            .collect();
        let table = &self.table;
        let text = format!("*{table}\n:{chain} - [0:0]\n-A {chain} {}\nCOMMIT\n", line.join(" "));
        let mut parsed = netfilter::read(&text).map_err(|error| error.to_string())?;
        let rules = parsed.tables.first_mut().and_then(|table: &mut Table| table.chains.first_mut());
        let rule = rules.and_then(|chain| chain.rules.pop()).ok_or("the rule cannot be read")?;
        if rule.opaque.is_empty() {
            Ok(rule)
        } else {
            Err(format!("`{}` is not known", rule.opaque.join(" ")))
        }
    }
}

/// Returns an option in the spelling of `iptables-save`.
fn long(word: &str) -> &str {
    match word {
        "--protocol" => "-p",
        "--source" | "--src" => "-s",
        "--destination" | "--dst" => "-d",
        "--in-interface" => "-i",
        "--out-interface" => "-o",
        "--jump" => "-j",
        "--goto" => "-g",
        "--match" => "-m",
        "--destination-port" => "--dport",
        "--source-port" => "--sport",
        other => other,
    }
}

/// Returns the words of a rule without the chain that it stands in.
fn text_of<'a>(rule: &'a Rule, chain: &str) -> &'a str {
    rule.raw.strip_prefix(&format!("-A {chain} ")).unwrap_or(&rule.raw).trim()
}

/// Returns what a rule says, whatever its order and spelling.
fn essence(rule: &Rule) -> Vec<(String, bool, Vec<String>)> {
    let Body::Save(parts) = &rule.body else { return Vec::new() };
    let is_own = |part: &&Part| part.name.as_str() != "-m";
    let plain = |text: &str| {
        text.strip_suffix("/32").or_else(|| text.strip_suffix("/128")).unwrap_or(text).to_owned()
    };
    let mut all: Vec<_> = parts
        .iter()
        .filter(is_own)
        .map(|part| {
            let values = part.values.iter().map(|value| plain(value.as_str())).collect();
            (part.name.as_str().to_owned(), part.negated, values)
        })
        .collect();
    all.sort();
    all
}

fn number(chain: &mut Chain) {
    chain.rules.iter_mut().enumerate().for_each(|(at, rule)| rule.position = at + 1);
}

/// Carries out a line of `tc qdisc`.
///
/// # Errors
/// Says why nobody can say what it does.
pub(super) fn shape(bundle: &mut Bundle, machine: &str, words: &[String]) -> Result<(), String> {
    let line: Vec<&str> = words.iter().map(String::as_str).collect();
    let ["tc", "qdisc", deed, rest @ ..] = line.as_slice() else {
        return Err("of tc only `tc qdisc` is carried out here".to_owned());
    };
    let at = rest.iter().position(|word| *word == "dev").ok_or("it names no device")?;
    let device = *rest.get(at + 1).ok_or("it names no device")?;
    if !rest.contains(&"root") {
        return Err("only what stands at the root of a device is carried out here".to_owned());
    }
    let guest = of(bundle, machine).ok_or_else(|| format!("the shaping of {machine} was not read"))?;
    let Some(Reading::Text(text)) = &mut guest.shaping else {
        return Err(format!("the shaping of {machine} was not read"));
    };
    let new = match *deed {
        "del" | "delete" => "fq_codel 0: root refcnt 2".to_owned(),
        "add" | "replace" | "change" => {
            let behind = rest.iter().skip(at + 2).filter(|word| !matches!(**word, "root"));
            let behind: Vec<&str> = behind.copied().collect();
            let (kind, options) = match behind.as_slice() {
                ["handle", _, kind, options @ ..] | [kind, options @ ..] => (*kind, options),
                [] => return Err("it names no discipline".to_owned()),
            };
            format!("{kind} 8001: root refcnt 2 {}", options.join(" "))
        }
        other => return Err(format!("`tc qdisc {other}` is not known")),
    };
    let (kind, rest) = new.split_once(' ').unwrap_or((&new, ""));
    let rest = rest.replacen("root", &format!("dev {device} root"), 1);
    let kept = without_device(text, device)?;
    *text = format!("{kept}\nqdisc {kind} {rest}\n");
    Ok(())
}

/// What the kernel puts at a device by itself.
const DEFAULTS: [&str; 5] = ["fq", "fq_codel", "mq", "noqueue", "pfifo_fast"];

/// What is written as it is printed.
const WRITTEN: [&str; 2] = ["netem", "tbf"];

/// Returns the line that takes a line of `tc qdisc` back; nothing where what stood there cannot be written in one.
pub(super) fn unshaped(bundle: &Bundle, machine: &str, words: &[String]) -> Option<String> {
    let at = words.iter().position(|word| word == "dev")?;
    let device = words.get(at + 1).filter(|device| is_name(device))?;
    let guest = bundle.guests.iter().find(|(name, _)| name.eq_ignore_ascii_case(machine))?.1;
    let Some(Reading::Text(text)) = &guest.shaping else { return None };
    let old = text.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let ["qdisc", kind, _, "dev", own, "root", rest @ ..] = words.as_slice() else { return None };
        let options = if let ["refcnt", _, options @ ..] = rest { options } else { rest };
        (own == device).then(|| ((*kind).to_owned(), options.join(" ")))
    });
    let (kind, options) = old?;
    let is_default = DEFAULTS.contains(&kind.as_str());
    let is_plain =
        options.chars().all(|char| char.is_ascii_alphanumeric() || matches!(char, ' ' | '.' | '%' | '-'));
    match words.get(2).map(String::as_str) {
        Some("add" | "replace" | "change") if is_default => Some(format!("tc qdisc del dev {device} root")),
        Some("del" | "delete" | "replace" | "change") if WRITTEN.contains(&kind.as_str()) && is_plain => {
            Some(format!("tc qdisc replace dev {device} root {kind} {options}"))
        }
        Some(_) | None => None,
    }
}

/// Returns what `tc` printed without what belongs to a device.
fn without_device(text: &str, device: &str) -> Result<String, String> {
    if text.trim_start().starts_with('[') {
        let mut rows: Vec<serde_json::Value> =
            serde_json::from_str(text.trim()).map_err(|_| "what tc printed cannot be read")?;
        rows.retain(|row| texts(row, &["dev"]).first().is_none_or(|own| own != device));
        return if rows.is_empty() { Ok(String::new()) } else { Err("what tc printed is JSON".to_owned()) };
    }
    let (mut kept, mut is_kept) = (Vec::new(), true);
    for line in text.lines() {
        if !line.starts_with([' ', '\t']) {
            let words: Vec<&str> = line.split_whitespace().collect();
            is_kept = !words.windows(2).any(|pair| pair == ["dev", device]);
        }
        if is_kept {
            kept.push(line);
        }
    }
    Ok(kept.join("\n"))
}
