//! The options of a command, as its row in the table spells them.
//!
//! `--name,-n!` is an option with two names, in the order in which messages spell them, that has to be there; the first long name
//! stands for it elsewhere. What follows the names: `!` has to be there, `*` takes several
//! values, `?` stands alone, `%` alone or with `true` or `false`, `#` takes a whole number, `^` is a part of an identifier, so that `--ids` can stand for it.

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OptionSpec {
    pub(super) names: Vec<&'static str>,
    pub(super) takes: OptionArgument,
    /// Whether it has to be there.
    pub(super) needed: bool,
    /// Whether it is a part of an identifier.
    pub(super) part: bool,
}

/// What an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OptionArgument {
    Nothing,
    /// Nothing, or whether it is meant.
    Maybe,
    /// One value.
    One,
    Number,
    /// One value or several.
    Several,
}

/// What every command knows.
const EVERYWHERE: &str =
    "--output,-o --query --subscription --only-show-errors? --debug? --verbose? --help,-h?";

/// What a command knows whose resource has an identifier.
const BY_ID: &str = "--ids*";

impl OptionSpec {
    /// Returns its long name.
    pub(super) fn name(&self) -> &'static str {
        let long = self.names.iter().find(|name| name.starts_with("--"));
        long.copied().unwrap_or_default()
    }

    /// Returns its names as messages spell them.
    pub(super) fn spelled(&self) -> String {
        self.names.join("/")
    }
}

/// Reads the options of a row, and adds those that every command has.
pub(super) fn known(row: &'static str) -> Vec<OptionSpec> {
    let mut known: Vec<OptionSpec> = row.split_whitespace().map(one).collect();
    let by_id = if known.iter().any(|option| option.part) { BY_ID } else { "" };
    for option in by_id.split_whitespace().chain(EVERYWHERE.split_whitespace()).map(one) {
        // What the row spells otherwise stays as the row has it.
        if known.iter().all(|known| known.name() != option.name()) {
            known.push(option);
        }
    }
    known
}

fn one(word: &'static str) -> OptionSpec {
    let names = word.trim_end_matches(['!', '*', '?', '%', '#', '^']);
    let marks = word.get(names.len()..).unwrap_or_default();
    let takes = match () {
        () if marks.contains('?') => OptionArgument::Nothing,
        () if marks.contains('%') => OptionArgument::Maybe,
        () if marks.contains('*') => OptionArgument::Several,
        () if marks.contains('#') => OptionArgument::Number,
        () => OptionArgument::One,
    };
    OptionSpec {
        names: names.split(',').collect(),
        takes,
        needed: marks.contains('!'),
        part: marks.contains('^'),
    }
}

/// How the word of a line that begins with a dash is to be understood.
pub(super) enum OptionMatch<'a> {
    /// An option, and a value that is written with it.
    Option(&'a OptionSpec, Option<String>),
    /// The beginning of several options.
    Several(Vec<&'static str>),
    /// No option.
    Unknown,
}

/// Finds the option that a word means: by its name, by `--name=value`, by `-nvalue`, or by the beginning of one long name.
pub(super) fn match_option<'a>(known: &'a [OptionSpec], word: &str) -> OptionMatch<'a> {
    let exactly = |name: &str| known.iter().find(|option| option.names.contains(&name));
    if let Some(option) = exactly(word) {
        return OptionMatch::Option(option, None);
    }
    let (name, value) = match word.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (word, None),
    };
    if value.is_some()
        && let Some(option) = exactly(name)
    {
        return OptionMatch::Option(option, value);
    }
    if !name.starts_with("--") {
        let short = name.char_indices().nth(2).and_then(|(at, _)| Some((word.get(..at)?, word.get(at..)?)));
        return match short.and_then(|(short, rest)| Some((exactly(short)?, rest))) {
            Some((option, rest)) => OptionMatch::Option(option, Some(rest.to_owned())),
            None => OptionMatch::Unknown,
        };
    }
    let begun: Vec<&OptionSpec> = known
        .iter()
        .filter(|option| name.len() > 2 && option.names.iter().any(|long| long.starts_with(name)))
        .collect();
    match begun.as_slice() {
        [] => OptionMatch::Unknown,
        [option] => OptionMatch::Option(option, value),
        several => OptionMatch::Several(several.iter().map(|option| option.name()).collect()),
    }
}
