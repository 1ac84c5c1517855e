//! What the shells of callers make of a text, as data.

use serde::Deserialize;

use super::Example;
use crate::Verdict;

/// Texts that bash, zsh, dash, ksh, busybox sh and fish read differently.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Callers {
    /// Characters that stand for themselves outside quotes, besides ASCII letters and digits.
    plain: String,
    #[serde(rename = "expansion")]
    expansions: Vec<Expansion>,
    #[serde(rename = "builtin")]
    builtins: Vec<Builtin>,
}

/// Characters that a shell replaces.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expansion {
    chars: String,
    /// The shell does so at the start of a word (`""`) or behind one of these; anywhere if the list is empty.
    #[serde(default)]
    behind: Vec<String>,
    /// What a shell does, for a reason; `{word}` stands for the word.
    does: String,
    #[expect(dead_code, reason = "for the readers of the file")]
    manual: String,
    #[serde(default)]
    safe: Vec<String>,
    #[serde(default)]
    asks: Vec<String>,
}

/// Names that a shell runs itself.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Builtin {
    /// The names, separated by blanks.
    names: String,
    /// With any words it does what the program of that name does.
    #[serde(default)]
    same: bool,
    /// It does so if its first operand is a format without conversions but these.
    #[serde(default)]
    formats: String,
    #[expect(dead_code, reason = "for the readers of the file")]
    manual: String,
    #[serde(default)]
    safe: Vec<String>,
    #[serde(default)]
    asks: Vec<String>,
}

impl Callers {
    /// Returns what a shell does with a character outside quotes, if any shell may replace it; `{word}` stands for the word in it.
    pub(crate) fn replaces(&self, char: char, before: Option<char>) -> Option<&str> {
        const UNKNOWN: &str = "the shells do not read `{word}` alike";
        let here = |row: &&Expansion| {
            let is_behind = |place: &String| match before {
                None => place.is_empty(),
                Some(before) => place.starts_with(before),
            };
            row.chars.contains(char) && (row.behind.is_empty() || row.behind.iter().any(is_behind))
        };
        if let Some(row) = self.expansions.iter().find(here) {
            return Some(&row.does);
        }
        let plain = char.is_ascii_alphanumeric() || self.plain.contains(char);
        (!plain).then_some(UNKNOWN)
    }

    /// True if a shell's own command of that name may do something else than the program.
    pub(crate) fn differs(&self, name: &str, arguments: &[String]) -> bool {
        let row = self.builtins.iter().find(|row| row.names.split_whitespace().any(|known| known == name));
        row.is_some_and(|row| {
            let format = arguments.iter().find(|word| *word != "--").map_or("", String::as_str);
            !row.same && (row.formats.is_empty() || !converts_only(format, &row.formats))
        })
    }

    /// Lists the examples of all rows. Each is SAFE for the gate; the verdict holds for a caller.
    pub(crate) fn examples(&self) -> impl Iterator<Item = Example> {
        let characters = self.expansions.iter().map(|row| (&row.chars, &row.safe, &row.asks));
        let names = self.builtins.iter().map(|row| (&row.names, &row.safe, &row.asks));
        characters.chain(names).flat_map(|(row, safe, asks)| {
            Example::all(row, Verdict::Safe, safe).chain(Example::all(row, Verdict::Risky, asks))
        })
    }
}

/// True if a format holds no conversions but these letters, each with a width in digits at most.
fn converts_only(format: &str, letters: &str) -> bool {
    format.replace("%%", "").split('%').skip(1).all(|rest| {
        let rest = rest.trim_start_matches(|char: char| char == '-' || char.is_ascii_digit());
        rest.starts_with(|char| letters.contains(char))
    })
}
