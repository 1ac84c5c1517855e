//! The words of one `az` command, sorted.

use crate::judge::path::base;
use crate::policy::Cloud;
pub(super) use crate::policy::is_below;

/// Tells whether a program is `az`.
pub(in crate::judge) fn is_az(program: &str) -> bool {
    base(program) == "az"
}

/// A command path and what stands behind it.
#[derive(Debug)]
pub(super) struct Line<'a, 'w> {
    /// The words before the first option, global options in front left out.
    pub(super) path: Vec<&'w str>,
    /// Options in front.
    pub(super) front: &'a [&'w str],
    /// Everything behind the path.
    pub(super) rest: &'a [&'w str],
}

impl<'a, 'w> Line<'a, 'w> {
    /// Reads a command in front of which only global options stand, spelled out.
    pub(super) fn read(words: &'a [&'w str], table: &Cloud) -> Self {
        Self::read_from(words, |word| {
            let name = word.split('=').next().unwrap_or(word);
            if table.globals.iter().any(|option| option == name) {
                Some(if word.contains('=') { 1 } else { 2 })
            } else {
                table.global_flags.iter().any(|option| option == word).then_some(1)
            }
        })
    }

    /// Reads a command that is searched for what never runs: anything may stand in front of it, with a value or without.
    pub(super) fn readings(words: &'a [&'w str], table: &Cloud) -> [Self; 2] {
        [1, 2].map(|taken| {
            Self::read_from(words, |word| {
                let flag = |option: &String| option.starts_with(word) && word.len() > 1;
                let alone = word.contains('=') || table.front_flags.iter().any(flag);
                word.starts_with('-').then_some(if alone { 1 } else { taken })
            })
        })
    }

    fn read_from(words: &'a [&'w str], skip: impl Fn(&str) -> Option<usize>) -> Self {
        let mut at = 1;
        while let Some(taken) = words.get(at).and_then(|word| skip(word)) {
            at += taken;
        }
        let at = at.min(words.len());
        let rest = words.get(at..).unwrap_or_default();
        let length = rest.iter().position(|word| word.starts_with('-')).unwrap_or(rest.len());
        let (path, rest) = rest.split_at_checked(length).unwrap_or((rest, &[]));
        Self { path: path.to_vec(), front: words.get(1..at).unwrap_or_default(), rest }
    }

    /// Returns the path as `az` reads it, which is not particular about case.
    pub(super) fn folded(&self) -> Vec<String> {
        self.path.iter().map(|word| word.to_ascii_lowercase()).collect()
    }
}

/// An option and its values.
#[derive(Debug)]
pub(super) struct Given<'w> {
    /// The word as it stands there.
    pub(super) word: &'w str,
    /// The name: a letter with its dash, or what stands before `=`.
    pub(super) name: &'w str,
    /// The value in the same word.
    pub(super) attached: Option<&'w str>,
    /// The words behind it.
    pub(super) behind: Vec<&'w str>,
}

impl<'w> Given<'w> {
    /// Sorts words into options; what stands before the first one is left out.
    pub(super) fn all(words: &[&'w str]) -> Vec<Self> {
        let mut found: Vec<Self> = Vec::new();
        for &word in words {
            if word.len() > 1 && word.starts_with('-') {
                found.push(Self::read(word));
            } else if let Some(given) = found.last_mut() {
                given.behind.push(word);
            }
        }
        found
    }

    fn read(word: &'w str) -> Self {
        let (name, attached) = if word.starts_with("--") {
            word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)))
        } else {
            let length = word.chars().take(2).map(char::len_utf8).sum();
            let (name, value) = word.split_at_checked(length).unwrap_or((word, ""));
            (name, Some(value.strip_prefix('=').unwrap_or(value)).filter(|value| !value.is_empty()))
        };
        Self { word, name, attached, behind: Vec::new() }
    }

    /// Returns every value.
    pub(super) fn values(&self) -> impl Iterator<Item = &'w str> {
        self.attached.into_iter().chain(self.behind.iter().copied())
    }

    /// Tells whether it is a long option, shortened or not.
    pub(super) fn may_be(&self, option: &str) -> bool {
        self.name.len() > 2 && option.starts_with(&self.name.to_ascii_lowercase())
    }
}
