//! A command line, taken apart.

use std::collections::BTreeMap;

use super::failure::Failure;
use super::option::{OptionArgument, OptionMatch, OptionSpec, known, match_option};
use super::table::{Command, Ids};

/// The options of a command, read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Line {
    values: BTreeMap<&'static str, Vec<String>>,
}

/// What `--ids` could stand for and is not there.
pub(super) fn parts_missing(command: &Command, line: &Line) -> Result<(), Failure> {
    let options = known(command.options);
    let missing: Vec<&OptionSpec> =
        options.iter().filter(|option| option.part && option.needed && !line.has(option.name())).collect();
    let named = missing.iter().find(|option| option.names.contains(&"-n"));
    let Some(first) = named.or(missing.first()) else { return Ok(()) };
    Err(match command.ids {
        Ids::Late => {
            let short =
                first.names.iter().find(|name| !name.starts_with("--")).copied().unwrap_or(first.name());
            Failure::new(1, format!("InvalidArgumentValue: Missing required field: {short}"))
        }
        Ids::Early => {
            let names: Vec<&str> = missing.iter().map(|option| option.name()).collect();
            Failure::new(1, format!("({} | --ids) are required", names.join(" ")))
        }
    })
}

impl Line {
    /// Reads what follows the words of a command.
    pub(super) fn read(command: &Command, words: &[String]) -> Result<Self, Failure> {
        let options = known(command.options);
        let mut line = Self::default();
        let mut open: Option<&OptionSpec> = None;
        let (mut stray, mut plain): (Vec<&str>, bool) = (Vec::new(), false);
        for word in words {
            if word == "--" && !plain {
                plain = true;
                finish(&line, open.take())?;
                stray.push(word);
                continue;
            }
            if plain || !dashed(word) {
                match open.filter(|_| !plain) {
                    Some(option) => {
                        line.values.entry(option.name()).or_default().push(word.clone());
                        open = Some(option).filter(|option| option.takes == OptionArgument::Several);
                    }
                    None => stray.push(word),
                }
                continue;
            }
            finish(&line, open.take())?;
            match match_option(&options, word) {
                OptionMatch::Option(option, None) => {
                    line.values.insert(option.name(), Vec::new());
                    open = Some(option).filter(|option| option.takes != OptionArgument::Nothing);
                }
                OptionMatch::Option(option, Some(_)) if option.takes == OptionArgument::Nothing => {
                    return Err(Failure::usage(format!(
                        "argument {}: ignored explicit argument '{}'",
                        option.spelled(),
                        word.split_once('=').map_or(word.as_str(), |(_, value)| value)
                    )));
                }
                OptionMatch::Option(option, Some(value)) => {
                    drop(line.values.insert(option.name(), vec![value]))
                }
                OptionMatch::Several(names) => {
                    let names = names.join(", ");
                    return Err(Failure::usage(format!("ambiguous option: {word} could match {names}")));
                }
                OptionMatch::Unknown => stray.push(word),
            }
        }
        finish(&line, open)?;
        if line.has("--help") {
            return Ok(line);
        }
        line.checked(&options, &stray)
    }

    fn checked(self, options: &[OptionSpec], stray: &[&str]) -> Result<Self, Failure> {
        for option in options.iter().filter(|option| option.takes == OptionArgument::Number) {
            if let Some(text) = self.one(option.name()).filter(|text| text.trim().parse::<i64>().is_err()) {
                let (name, text) = (option.name(), text.escape_debug());
                let why = format!(
                    "Failed to parse '{name}' argument: invalid literal for int() with base 10: '{text}'"
                );
                return Err(Failure::new(1, why));
            }
        }
        let missing: Vec<String> = options
            .iter()
            .filter(|option| option.needed && !option.part && !self.has(option.name()))
            .map(OptionSpec::spelled)
            .collect();
        if !missing.is_empty() {
            return Err(Failure::usage(format!(
                "the following arguments are required: {}",
                missing.join(", ")
            )));
        }
        if !stray.is_empty() {
            return Err(Failure::usage(format!("unrecognized arguments: {}", stray.join(" "))));
        }
        Ok(self)
    }

    /// Sets a value that stands somewhere else: in an identifier, in the settings.
    pub(super) fn set(&mut self, name: &'static str, value: impl Into<String>) {
        self.values.insert(name, vec![value.into()]);
    }

    /// Forgets an option.
    pub(super) fn forget(&mut self, name: &'static str) {
        self.values.remove(name);
    }

    /// Returns the values of an option.
    pub(super) fn many(&self, name: &str) -> Option<&[String]> {
        self.values.get(name).map(Vec::as_slice)
    }

    /// Returns the value of an option.
    pub(super) fn one(&self, name: &str) -> Option<&str> {
        self.many(name)?.first().map(String::as_str)
    }

    /// Returns a value that the table says is there.
    pub(super) fn need(&self, name: &str) -> Result<&str, Failure> {
        self.one(name).ok_or_else(|| Failure::usage(format!("the following arguments are required: {name}")))
    }

    /// Returns a number; that it is one was seen before.
    pub(super) fn number(&self, name: &str) -> Option<i64> {
        self.one(name)?.trim().parse().ok()
    }

    /// Tells whether something is wanted: by the name of the option alone, or by a word that says so.
    pub(super) fn wants(&self, name: &str) -> Option<bool> {
        let words = self.many(name)?;
        let word = words.first().map_or("true", String::as_str).to_ascii_lowercase();
        Some(!matches!(word.as_str(), "false" | "f" | "no" | "n" | "0"))
    }

    /// Tells whether an option is there.
    pub(super) fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// Returns the names of the options that are there, for the log of the service.
    pub(super) fn names(&self) -> String {
        self.values.keys().copied().collect::<Vec<_>>().join(" ")
    }
}

/// Says that an option has too few values.
fn finish(line: &Line, open: Option<&OptionSpec>) -> Result<(), Failure> {
    let empty = |option: &&OptionSpec| {
        option.takes != OptionArgument::Maybe && line.many(option.name()).is_none_or(<[String]>::is_empty)
    };
    let Some(option) = open.filter(empty) else {
        return Ok(());
    };
    let what = if option.takes == OptionArgument::Several { "at least one argument" } else { "one argument" };
    Err(Failure::usage(format!("argument {}: expected {what}", option.spelled())))
}

/// Tells whether a word is written like an option: a dash, and neither a number nor a sentence.
fn dashed(word: &str) -> bool {
    let Some(rest) = word.strip_prefix('-').filter(|rest| !rest.is_empty()) else { return false };
    let number =
        rest.parse::<f64>().is_ok() && rest.starts_with(|first: char| first.is_ascii_digit() || first == '.');
    let name = word.split('=').next().unwrap_or_default();
    !(number || name.contains(' ') || (word.contains(' ') && !word.contains('=')))
}
