//! `iptables-restore`: many changes at once, all or none.

use super::argument::read;
use super::change::Command;
use super::refusal::Refusal;
use super::table::{Backend, Firewall, Side, built_in};

impl Firewall {
    /// Takes a text as `iptables-save` prints it. Tables that it names are emptied before, unless it is to keep them.
    pub(in crate::host::simulated) fn restore(
        &mut self,
        side: Side,
        text: &str,
        keep: bool,
        counters: bool,
    ) -> Result<(), Refusal> {
        let mut changed = self.clone();
        let mut table: Option<String> = None;
        let at = |line: usize, refusal: Refusal| Refusal {
            what: format!("{}\nError occurred at line: {line}", refusal.what.trim_end()),
            ..refusal
        };
        let broken = |line: usize| Refusal::kernel(&format!("line {line} failed"));
        let mut ended = true;
        for (number, line) in text.lines().enumerate() {
            let number = number + 1;
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if let Some(name) = line.strip_prefix('*') {
                if built_in(name).is_none() {
                    return Err(broken(number));
                }
                ended = false;
                table = Some(name.to_owned());
                if let Some(found) = changed.table_mut(side, name).filter(|_| !keep) {
                    found.chains.retain(|chain| chain.policy.is_some());
                    found.chains.iter_mut().for_each(|chain| chain.rules.clear());
                }
                continue;
            }
            let Some(table_name) = table.clone() else { return Err(broken(number)) };
            if line == "COMMIT" {
                (table, ended) = (None, true);
                continue;
            }
            if let Some(rest) = line.strip_prefix(':') {
                changed.declare(side, &table_name, rest, counters).ok_or_else(|| broken(number))?;
                continue;
            }
            let mut words = words(line);
            let counted = words.first().and_then(|word| counts(word));
            if counted.is_some() {
                words.remove(0);
            }
            if let Some((packets, bytes)) = counted.filter(|_| counters) {
                words.extend(["-c".to_owned(), packets.to_string(), bytes.to_string()]);
            }
            if words.iter().any(|word| word == "-t" || word == "--table") {
                return Err(at(number, Refusal::usage("The -t option (seen in line 3) cannot be used.")));
            }
            words.extend(["-t".to_owned(), table_name]);
            Command::read(&words, side).and_then(|command| command.run(&mut changed)).map_err(|refusal| {
                // That backend searches for chains when all of a table was read.
                let late = side.backend == Backend::Nft && refusal.what.starts_with("Chain '");
                let commit = || text.lines().skip(number).position(|line| line.trim() == "COMMIT");
                let line = if late { number + commit().map_or(0, |more| more + 1) } else { number };
                if refusal.usage { at(line, refusal) } else { broken(number) }
            })?;
        }
        if !ended {
            return Err(Refusal::usage(
                "COMMIT expected at line ".to_owned() + &(text.lines().count() + 1).to_string(),
            ));
        }
        *self = changed;
        Ok(())
    }

    /// Takes `INPUT DROP [1:2]`.
    fn declare(&mut self, side: Side, table: &str, text: &str, counters: bool) -> Option<()> {
        let mut parts = text.split_whitespace();
        let (name, policy) = (parts.next()?, parts.next()?);
        let (packets, bytes) = parts.next().and_then(counts).filter(|_| counters).unwrap_or_default();
        if policy == "-" {
            if self.table(side, table)?.chain(name).is_none() {
                self.new_chain(side, table, name).ok()?;
            }
            return Some(());
        }
        let words = ["-t", table, "-P", name, policy].map(str::to_owned);
        drop(read(&words, side.six).ok()?);
        Command::read(&words, side).ok()?.run(self).ok()?;
        let chain = self.table_mut(side, table)?.chain_mut(name)?;
        (chain.packets, chain.bytes) = (packets, bytes);
        Some(())
    }
}

/// Reads `[1:2]`.
fn counts(text: &str) -> Option<(u64, u64)> {
    let (packets, bytes) = text.strip_prefix('[')?.strip_suffix(']')?.split_once(':')?;
    Some((packets.parse().ok()?, bytes.parse().ok()?))
}

/// Splits a line into words; quotes hold words together.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut there, mut quote) = (Vec::new(), String::new(), false, None);
    let mut chars = line.chars();
    while let Some(char) = chars.next() {
        match (quote, char) {
            (Some(_), '\\') => word.extend(chars.next()),
            (Some(open), char) if char == open => quote = None,
            (None, '"' | '\'') => (quote, there) = (Some(char), true),
            (None, ' ' | '\t') => {
                if std::mem::take(&mut there) {
                    words.push(std::mem::take(&mut word));
                }
            }
            (_, char) => {
                word.push(char);
                there = true;
            }
        }
    }
    if there {
        words.push(word);
    }
    words
}
