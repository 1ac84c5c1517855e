//! Whole commands.

use super::rng::Rng;
use super::value::{anything, phrase, value};
use crate::policy::grammar::{Arity, Style, Times};
use crate::policy::kind::Kind;
use crate::policy::script::quote;
use crate::policy::{Check, Entry, Policy};

/// Enough options for every interplay of two or three.
const MAX_OPTIONS: usize = 4;

impl Policy {
    /// Makes up command lines from the allow list's grammars; `az` has none, so that it stands among the examples alone.
    #[must_use]
    pub fn sample(&self, seed: u64, count: usize) -> Vec<String> {
        let mut rng = Rng(seed);
        let (programs, transparent) = self.local_entries();
        let one = |rng: &mut Rng| {
            let mut words = Vec::new();
            if rng.one_in(6)
                && let Some(entry) = rng.pick(&transparent)
            {
                words.extend(entry_words(entry, rng));
            }
            if let Some(entry) = rng.pick(&programs) {
                words.extend(entry_words(entry, rng));
            }
            words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ")
        };
        (0..count).map(|_| one(&mut rng)).collect()
    }
}

fn entry_words(entry: &Entry, rng: &mut Rng) -> Vec<String> {
    let mut words: Vec<String> = rng.pick(&entry.names).cloned().into_iter().collect();
    let grammar = &entry.grammar;
    if let Some(kind) = &grammar.any {
        let least = usize::from(!grammar.bare);
        let count = least + rng.below(3);
        words.extend((0..count).map(|_| anything(entry, kind, rng)));
        return words;
    }
    let mut names: Vec<&String> = grammar.options.keys().collect();
    names.sort();
    let extra = if entry.single { 0 } else { rng.below(MAX_OPTIONS + 1) };
    let needed: &[String] = if entry.single { &[] } else { &entry.needs };
    let mut chosen: Vec<&String> = rng.pick(needed).into_iter().chain(&entry.all).collect();
    let count = if entry.single { 1 } else { extra };
    chosen.extend((0..count).filter_map(|_| rng.pick(&names).copied()));
    let options: Vec<String> = chosen.into_iter().flat_map(|name| option(entry, name, rng)).collect();
    let operands = operands(entry, rng);
    let (first, then) = if entry.verb_first { (operands, options) } else { (options, operands) };
    words.extend(first.into_iter().chain(then));
    words
}

fn option(entry: &Entry, name: &str, rng: &mut Rng) -> Vec<String> {
    let grammar = &entry.grammar;
    if let Some(front) = name.strip_suffix('*') {
        return vec![format!("{front}all")];
    }
    if matches!(name, "-L" | "--location") && entry.check == Some(Check::Curl) {
        return vec![name.to_owned(), "--max-redirs".to_owned(), rng.word(&["0", "3", "5"])];
    }
    let long = name.starts_with("--") || grammar.style == Style::Words;
    let joined = |value: String| match (name.ends_with('='), long) {
        (false, true) => vec![format!("{name}={value}")],
        (true, _) | (false, false) => vec![format!("{name}{value}")],
    };
    match grammar.options.get(name) {
        Some(Arity::Value(kind)) if name.ends_with('=') || rng.one_in(3) => joined(value(entry, kind, rng)),
        Some(Arity::Value(kind) | Arity::Many(kind)) => vec![name.to_owned(), value(entry, kind, rng)],
        Some(Arity::Maybe(kind)) if rng.one_in(2) => vec![name.to_owned(), value(entry, kind, rng)],
        Some(Arity::Attached(kind)) if rng.one_in(2) => joined(value(entry, kind, rng)),
        Some(Arity::Attached(_) | Arity::Maybe(_) | Arity::Flag) | None => vec![name.to_owned()],
    }
}

fn operands(entry: &Entry, rng: &mut Rng) -> Vec<String> {
    match entry.check {
        Some(Check::Objects) => objects(entry, rng),
        Some(Check::Curl) => vec![rng.word(&[
            "http://127.0.0.1/",
            "http://127.0.0.1:8080/x%3Fy",
            "https://localhost/",
            "localhost",
            "http://[::1]:8080/",
            "http://127.0.0.1:8080/",
        ])],
        Some(Check::Nft) => {
            let rest = rng.word(&[
                "ruleset",
                "tables",
                "chains",
                "sets",
                "table inet fw",
                "flowtables",
                "counters",
                "ruleset ip",
            ]);
            std::iter::once("list".to_owned()).chain(rest.split(' ').map(str::to_owned)).collect()
        }
        Some(Check::PatternAndFiles) => {
            vec![rng.word(&["tcp", "lo", "x.y"]), value(entry, &Kind::Readable, rng)]
        }
        Some(Check::IntervalAndCount) => vec!["1".to_owned(), rng.word(&["1", "2"])],
        Some(
            Check::Networksetup
            | Check::OnePattern
            | Check::FewPorts
            | Check::NoSecrets
            | Check::Awk
            | Check::Sed
            | Check::Jq,
        )
        | None => {
            let mut words = Vec::new();
            for (kind, times) in &entry.grammar.operands {
                let count = match times {
                    Times::Once => 1,
                    Times::AtMostOnce => rng.below(2),
                    Times::Any => rng.below(3),
                    Times::AtLeastOnce => 1 + rng.below(2),
                };
                if *kind == Kind::Text && count > 0 {
                    words.extend(phrase(entry, rng).split(' ').map(str::to_owned));
                } else {
                    words.extend((0..count).map(|_| value(entry, kind, rng)));
                }
            }
            words
        }
    }
}

/// An object, perhaps shortened, and what to do with it.
fn objects(entry: &Entry, rng: &mut Rng) -> Vec<String> {
    let shown: Vec<&String> = entry.objects.iter().filter(|name| !name.starts_with('!')).collect();
    let object = rng.pick(&shown).map_or("", |name| name.as_str());
    let shortest = object.len().min(3);
    let length = if rng.one_in(3) { shortest + rng.below(object.len() + 1 - shortest) } else { object.len() };
    let mut words = vec![object.get(..length).unwrap_or(object).to_owned()];
    if entry.gets.iter().any(|name| name == object) && rng.one_in(4) {
        words.extend(["get".to_owned(), rng.word(&["127.0.0.1", "::1", "10.0.0.4"])]);
    } else if rng.one_in(2) {
        words.push(rng.word(&["show", "list", "ls"]));
        let behind =
            rng.word(&["", "", "dev lo", "table all", "type veth", "scope link", "up", "dev lo parent 1:"]);
        words.extend(behind.split_whitespace().map(str::to_owned));
    }
    words
}

#[cfg(test)]
mod tests {
    use crate::{Policy, Verdict};

    #[test]
    fn a_seed_makes_the_same_commands_every_time() {
        let policy = Policy::builtin().unwrap();
        assert_eq!(policy.sample(7, 50), policy.sample(7, 50));
        assert_ne!(policy.sample(7, 50), policy.sample(8, 50));
    }

    #[test]
    fn most_of_what_a_grammar_makes_up_is_safe_and_every_rule_is_reached() {
        let policy = Policy::builtin().unwrap();
        let commands = policy.sample(1, 6000);
        let rulings: Vec<_> = commands.iter().map(|command| policy.classify(command)).collect();
        let safe: Vec<_> = rulings.iter().filter(|ruling| ruling.verdict == Verdict::Safe).collect();
        assert!(safe.len() > 4500, "{} of {} are SAFE", safe.len(), commands.len());
        let missed: Vec<_> = policy
            .local_entries()
            .0
            .into_iter()
            .filter(|entry| !safe.iter().any(|ruling| ruling.rule == entry.id.as_str()))
            .map(|entry| entry.id.as_str())
            .collect();
        assert_eq!(missed, ["link.networksetup"], "its verbs are no grammar");
    }
}
