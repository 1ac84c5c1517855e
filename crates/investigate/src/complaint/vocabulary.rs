//! The words of `words.toml`, ready to be found in a folded text.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde::Deserialize;

use super::fold::{fold, is_unspaced};
use crate::symptom_text::Symptom;

/// The vocabulary. A file that does not parse is found by a test, never by a user.
pub(super) static WORDS: LazyLock<Vocabulary> =
    LazyLock::new(|| toml::from_str(include_str!("words.toml")).unwrap_or_default());

/// Every word of the file, whatever it is there for: what stands there is a word of some language, and no name.
pub(super) static KNOWN: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let file: toml::Value = toml::from_str(include_str!("words.toml")).unwrap_or(toml::Value::Boolean(false));
    let mut found = BTreeSet::new();
    collect(&file, &mut found);
    found
});

/// Collects the words of all texts and keys of a document.
fn collect(value: &toml::Value, found: &mut BTreeSet<String>) {
    let mut take = |text: &str| {
        let text = fold(text);
        let words = text.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty());
        found.extend(words.map(str::to_owned));
    };
    match value {
        toml::Value::String(text) => take(text),
        toml::Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        toml::Value::Table(table) => {
            table.keys().for_each(|key| take(key));
            table.values().for_each(|value| collect(value, found));
        }
        toml::Value::Integer(_)
        | toml::Value::Float(_)
        | toml::Value::Boolean(_)
        | toml::Value::Datetime(_) => {}
    }
}

/// Words by language.
type ByLanguage = BTreeMap<String, Phrases>;

/// Everything that the file holds.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Vocabulary {
    pub(super) symptom: BTreeMap<Symptom, ByLanguage>,
    pub(super) healthy: ByLanguage,
    pub(super) negation: Negation,
    pub(super) control: ControlWords,
    pub(super) history: History,
    pub(super) change: Change,
    pub(super) ping: Ping,
    pub(super) doubt: Doubt,
    pub(super) direction: Direction,
    pub(super) boundary: Boundaries,
    pub(super) guess: Guess,
    pub(super) number: Numbers,
    pub(super) services: Services,
    pub(super) role: BTreeMap<String, Role>,
    pub(super) outside: Outside,
    pub(super) question: Questions,
    pub(super) chat: Chat,
    pub(super) follow_up: FollowUp,
    pub(super) capture: Capture,
    pub(super) baseline: Baseline,
    pub(super) thread: ThreadWords,
}

macro_rules! section {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Default, Deserialize)]
        pub(super) struct $name {
            $(pub(super) $field: $type),+
        }
    };
}

section!(/// Words that take something back.
Negation {
    elliptic: Phrases, before: Phrases, behind: Phrases, of_symptoms: Phrases, alone: Phrases, affirmed: Phrases,
    particles: Phrases,
});
section!(/// Words of people who say that it works for others.
    ControlWords { others: Phrases });
section!(/// Words about what was, and is not any more.
    History { like: Phrases, past: Phrases, over: Phrases, when: Phrases });
section!(/// Words about what was done to a machine.
    Change { before: Phrases, behind: Phrases });
section!(/// Words for ping.
    Ping { words: Vec<String>, within: Phrases });
section!(/// Words of people who are not sure that anything is wrong.
    Doubt { words: Phrases });
section!(/// Words that say who calls whom.
Direction {
    from: Phrases, kept_out: Phrases, refused_by: Phrases, passive_by: Phrases, of: Phrases, with: Phrases, from_behind: Phrases, to: Phrases, at: Phrases,
    to_behind: Phrases, via: Phrases, via_behind: Phrases, between: Phrases, observer: Phrases,
    says: Phrases, receives: Phrases, silent: Phrases, serves: Phrases, filler: Phrases, roman_gate: Phrases, roman_from_behind: Phrases,
    roman_to_behind: Phrases, endings: Phrases, answers: Phrases, awaits: Phrases, pushed: Phrases, pulled: Phrases,
    unlike: Phrases, cannot: Phrases, there: Phrases,
});
section!(/// Words between two complaints, or between two halves of one.
    Boundaries { next: Phrases, but: Phrases, and: Phrases, or: Phrases, list: Phrases });
section!(/// Words of people who believe to know the cause.
    Guess { subjects: Phrases, speculation: Phrases, checked: Phrases, rules: Phrases, starters: Phrases });
section!(/// What makes a port of a number, or something else.
Numbers {
    port_before: Phrases, port_behind: Phrases, not_before: Phrases, units: Phrases, errors: Vec<u16>,
});
section!(/// Words that stand for a port.
    Services { ports: BTreeMap<String, u16>, weak: Vec<String>, udp: Vec<u16> });
section!(/// A kind of machine.
    Role { parts: Vec<String>, words: Phrases, ports: Vec<u16>, callers: Vec<String> });
section!(/// Ends that are no machine here.
    Outside { words: Phrases });
section!(/// Questions whose answer is an object.
    Questions { leftovers: Phrases, authors: Phrases, exposure_ports: Phrases });
section!(/// Talk.
    Chat { greetings: Phrases, thanks: Phrases, about: Phrases, asking: Phrases, network: Phrases });
section!(/// What somebody wants behind a report.
FollowUp {
    fillers: Phrases, asks: Phrases, weak: Phrases, endings: Phrases, tells: Phrases, orders: Phrases,
    orders_within: Phrases, requests: Phrases, requested: Phrases,
});
section!(/// The wish for packets.
    Capture { words: Phrases, both_ends: Phrases });
section!(/// What people write in a thread about a complaint that stands in it.
    ThreadWords { correction: Phrases, instead: Phrases, bare: BTreeSet<String> });
section!(/// Names of what was kept before.
    Baseline { words: Phrases, prefixes: Vec<String>, since_prefixes: Vec<String> });

/// A list of words and groups of words.
#[derive(Debug, Default, Deserialize)]
#[serde(from = "Vec<String>")]
pub(crate) struct Phrases(Vec<Phrase>);

/// A group of words, cut at its `*`.
#[derive(Debug)]
struct Phrase {
    /// What stands between the stars.
    parts: Vec<String>,
    /// Any ending will do.
    is_stem: bool,
    /// Its script has no spaces.
    is_unspaced: bool,
    /// What the parts are made of.
    bytes: Bytes,
}

impl From<Vec<String>> for Phrases {
    fn from(list: Vec<String>) -> Self {
        let phrase = |text: String| {
            let text = fold(&text);
            let is_stem = text.ends_with('*');
            let parts: Vec<String> =
                text.split('*').filter(|part| !part.trim().is_empty()).map(str::to_owned).collect();
            let is_unspaced = text.chars().any(is_unspaced);
            let bytes = parts.iter().fold(Bytes::default(), |bytes, part| bytes.and(part.trim()));
            Phrase { parts, is_stem, is_unspaced, bytes }
        };
        Self(list.into_iter().map(phrase).filter(|phrase| !phrase.parts.is_empty()).collect())
    }
}

/// Where a phrase stands in a folded text, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Found {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Phrases {
    /// Tells whether any of them stands in a text.
    pub(crate) fn are_in(&self, text: &str) -> bool {
        let bytes = Bytes::default().and(text);
        self.0.iter().any(|phrase| bytes.hold(phrase.bytes) && phrase.find(text, 0).is_some())
    }

    /// Returns all places, in order; of those that begin at one place the longest.
    pub(crate) fn find_all(&self, text: &str) -> Vec<Found> {
        let mut found = Vec::new();
        let bytes = Bytes::default().and(text);
        for phrase in self.0.iter().filter(|phrase| bytes.hold(phrase.bytes)) {
            let mut from = 0;
            while let Some(place) = phrase.find(text, from) {
                from = place.end.max(place.start + 1);
                found.push(place);
            }
        }
        found.sort_by_key(|place| (place.start, std::cmp::Reverse(place.end)));
        found.dedup_by_key(|place| place.start);
        found
    }

    /// Tells whether a word is one of them, whole.
    pub(super) fn hold(&self, word: &str) -> bool {
        self.0.iter().any(|phrase| match phrase.parts.as_slice() {
            [part] if phrase.is_stem => word.starts_with(part.as_str()),
            [part] => word == part,
            _ => false,
        })
    }

    /// Tells whether a text ends with one of them, as a word of its own or glued in a script without spaces.
    pub(super) fn end(&self, text: &str) -> bool {
        self.0
            .iter()
            .any(|phrase| phrase.parts.len() == 1 && phrase.parts.iter().any(|part| ends(text, part)))
    }

    /// Returns what stands behind the longest of them that a text begins with.
    pub(super) fn behind<'a>(&self, text: &'a str) -> Option<&'a str> {
        let first = self.find_all(text).into_iter().next().filter(|place| place.start == 0)?;
        text.get(first.end..)
    }

    /// Tells whether a text begins with one of them, as `end` does.
    pub(super) fn begin(&self, text: &str) -> bool {
        self.0.iter().any(|phrase| {
            phrase.parts.len() == 1
                && phrase.parts.iter().any(|part| {
                    text.strip_prefix(part.as_str()).is_some_and(|rest| {
                        part.chars().all(is_unspaced)
                            || phrase.is_stem
                            || !rest.chars().next().is_some_and(char::is_alphanumeric)
                    })
                })
        })
    }
}

fn ends(text: &str, part: &str) -> bool {
    text.strip_suffix(part).is_some_and(|rest| {
        part.chars().all(is_unspaced) || !rest.chars().next_back().is_some_and(char::is_alphanumeric)
    })
}

/// The most letters that may stand between the parts of a phrase: `erreicht * nicht`.
const MAX_GAP: usize = 40;

/// Which bytes a text has, a bit each. Most phrases of twenty languages have one that the text lacks: to see that takes less than to search for them.
#[derive(Debug, Clone, Copy, Default)]
struct Bytes {
    ascii: u128,
    others: u128,
}

impl Bytes {
    fn and(mut self, text: &str) -> Self {
        for &byte in text.as_bytes() {
            let half = if byte.is_ascii() { &mut self.ascii } else { &mut self.others };
            *half |= 1 << (byte & 0x7f);
        }
        self
    }

    fn hold(self, part: Self) -> bool {
        part.ascii & !self.ascii == 0 && part.others & !self.others == 0
    }
}

impl Phrase {
    fn find(&self, text: &str, from: usize) -> Option<Found> {
        let (first, rest) = self.parts.split_first()?;
        let mut from = from;
        loop {
            let place = self.part(first, text, from, rest.is_empty())?;
            let mut end = place.end;
            let mut whole = true;
            for (at, part) in rest.iter().enumerate() {
                match self.part(part.trim(), text, end, at + 1 == rest.len()) {
                    Some(next) if next.start <= end + MAX_GAP => end = next.end,
                    Some(_) | None => whole = false,
                }
            }
            if whole {
                return Some(Found { start: place.start, end });
            }
            from = place.start + 1;
            while !text.is_char_boundary(from) {
                from += 1;
            }
        }
    }

    fn part(&self, part: &str, text: &str, from: usize, is_last: bool) -> Option<Found> {
        let wants_word = part.ends_with(' ');
        let part = part.trim_end();
        text.get(from..)?.match_indices(part).find_map(|(at, _)| {
            let (start, end) = (from + at, from + at + part.len());
            let is_word = |char: Option<char>| char.is_some_and(char::is_alphanumeric);
            let before = text.get(..start).and_then(|text| text.chars().next_back());
            let behind = text.get(end..).and_then(|text| text.chars().next());
            let begins = self.is_unspaced || !is_word(before) || before.is_some_and(is_unspaced);
            let any_ending = self.is_unspaced || (is_last && self.is_stem && !wants_word);
            let ends = any_ending || !is_word(behind) || behind.is_some_and(is_unspaced);
            (begins && ends).then_some(Found { start, end })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_parses_and_knows_every_symptom_in_many_languages() {
        let words: Result<Vocabulary, _> = toml::from_str(include_str!("words.toml"));
        let words = words.unwrap();
        for symptom in Symptom::ALL {
            assert!(words.symptom.contains_key(&symptom), "{symptom:?}");
        }
        assert!(words.symptom[&Symptom::Unreachable].len() >= 12);
        assert!(words.symptom[&Symptom::Hanging].len() >= 12);
    }

    #[test]
    fn a_word_is_not_found_within_another_unless_its_script_has_no_spaces() {
        let phrases = Phrases::from(vec!["red".to_owned(), "hang*".to_owned(), "超时".to_owned()]);
        assert!(phrases.are_in("it is red") && phrases.are_in("hangs") && phrases.are_in("连接超时了"));
        assert!(!phrases.are_in("redis changed"));
    }

    #[test]
    fn a_star_within_stands_for_a_few_words() {
        let phrases = Phrases::from(vec!["erreicht * nicht".to_owned()]);
        assert!(phrases.are_in("a erreicht die db nicht"));
        assert!(!phrases.are_in("a erreicht die db"));
    }
}
