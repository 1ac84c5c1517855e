//! The grammar of one program's command line: which options, which values, which operands.
//!
//! Goes in: the lines of a policy file. Comes out: a reader of words. Never: an option that nobody wrote down.

use std::collections::HashMap;

use super::kind::Kind;
use super::{Files, Refusal};

/// What follows an option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Arity {
    Flag,
    /// A value, attached or in the next word.
    Value(Kind),
    /// A value only where it is attached.
    Attached(Kind),
    /// A value where the next word fits.
    Maybe(Kind),
    /// A value in each of the next two words.
    Two(Kind),
    /// Every word up to the next option.
    Many(Kind),
}

/// How often an operand may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Times {
    Once,
    AtMostOnce,
    Any,
    AtLeastOnce,
}

/// How options are spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Style {
    /// `-nr FILE`, `-rFILE`, `--long`, `--long=value`, in any order.
    #[default]
    Getopt,
    /// `-details`, `-type=mx`: every word is one option.
    Words,
    /// No word is an option: `echo ---`.
    Plain,
}

/// What the words of a command are allowed to be.
#[derive(Debug, Clone)]
pub(crate) struct Grammar {
    pub(super) style: Style,
    pub(super) options: HashMap<String, Arity>,
    /// Long options by how they begin: `--list-*`.
    families: Vec<(String, Arity)>,
    /// `-5`, as in `head -5`.
    digits: bool,
    pub(super) operands: Vec<(Kind, Times)>,
    /// Options end at the first operand, and what stands behind the operands is another command.
    wraps: bool,
    /// The first operand ends the options.
    stop: bool,
}

/// The words of a command, sorted.
#[derive(Debug, Default)]
pub(crate) struct Given<'w> {
    /// The options as they were written, with their values.
    pub(crate) options: Vec<(String, Option<&'w str>)>,
    /// The operands, in order.
    pub(crate) operands: Vec<&'w str>,
    /// Where the inner command begins, for a program that wraps one.
    pub(crate) inner: usize,
}

impl Given<'_> {
    /// Tells whether an option was given.
    pub(crate) fn has(&self, name: &str) -> bool {
        match name.strip_suffix('*') {
            Some(front) => self.options.iter().any(|(option, _)| option.starts_with(front)),
            None => self.options.iter().any(|(option, _)| option == name),
        }
    }

    /// Returns the last value of an option that has several names.
    pub(crate) fn last_value(&self, names: &[&str]) -> Option<&str> {
        let named = self.options.iter().rev().find(|(option, _)| names.contains(&option.as_str()));
        named.and_then(|(_, value)| *value)
    }

    /// Lists the values of an option that has several names.
    pub(crate) fn values<'g>(&'g self, names: &'g [&'g str]) -> impl Iterator<Item = &'g str> {
        self.options
            .iter()
            .filter(|(option, _)| names.contains(&option.as_str()))
            .filter_map(|(_, value)| *value)
    }
}

/// The raw lines of a grammar.
#[derive(Debug, Default)]
pub(super) struct Lines<'a> {
    pub(super) style: Style,
    pub(super) options: &'a [String],
    pub(super) operands: &'a [String],
    pub(super) wraps: bool,
    pub(super) stop: bool,
}

impl Grammar {
    /// Compiles the lines of a policy entry.
    pub(super) fn compile(lines: &Lines<'_>) -> Result<Self, String> {
        let mut grammar = Self {
            style: lines.style,
            options: HashMap::new(),
            families: Vec::new(),
            digits: false,
            operands: Vec::new(),
            wraps: lines.wraps,
            stop: lines.stop || lines.wraps,
        };
        lines.options.iter().try_for_each(|line| grammar.add_options(line))?;
        for operand in lines.operands {
            let (name, times) = match operand.as_bytes().last() {
                Some(b'?') => (operand.trim_end_matches('?'), Times::AtMostOnce),
                Some(b'*') => (operand.trim_end_matches('*'), Times::Any),
                Some(b'+') => (operand.trim_end_matches('+'), Times::AtLeastOnce),
                _ => (operand.as_str(), Times::Once),
            };
            grammar.operands.push((Kind::parse(name).ok_or_else(|| format!("no kind `{name}`"))?, times));
        }
        Ok(grammar)
    }

    fn add_options(&mut self, line: &str) -> Result<(), String> {
        let mut words: Vec<&str> = line.split_whitespace().collect();
        let kind = words.last().copied().filter(|last| !last.starts_with('-'));
        let arity = match kind {
            None => Arity::Flag,
            Some(name) => {
                words.pop();
                let bare = name.trim_start_matches('[').trim_end_matches([']', '?', '.']);
                let kind = Kind::parse(bare).ok_or_else(|| format!("no kind `{bare}`"))?;
                let is_doubled = words.last() == Some(&name);
                if is_doubled {
                    words.pop();
                }
                match name {
                    _ if is_doubled => Arity::Two(kind),
                    _ if name.starts_with('[') => Arity::Attached(kind),
                    _ if name.ends_with('?') => Arity::Maybe(kind),
                    _ if name.ends_with("...") => Arity::Many(kind),
                    _ => Arity::Value(kind),
                }
            }
        };
        for word in words {
            if word == "-NUMBER" {
                self.digits = true;
            } else if let Some(front) = word.strip_suffix('*') {
                self.families.push((front.to_owned(), arity.clone()));
            } else {
                self.options.insert(word.to_owned(), arity.clone());
            }
        }
        Ok(())
    }

    /// Takes over the options of another grammar, so that a line of this one can only add to them.
    pub(super) fn inherit(&mut self, other: &Self) {
        self.style = other.style;
        self.digits |= other.digits;
        for (name, arity) in &other.options {
            self.options.entry(name.clone()).or_insert_with(|| arity.clone());
        }
        self.families.extend(other.families.iter().cloned());
    }

    fn arity(&self, name: &str) -> Option<&Arity> {
        let of_family = || {
            let fits = |front: &str| name.len() > front.len() && name.starts_with(front);
            self.families.iter().find(|(front, _)| fits(front)).map(|(_, arity)| arity)
        };
        self.options.get(name).or_else(of_family)
    }

    /// Returns how many verbs stand in front: operands that are one of a few words.
    pub(crate) fn verbs(&self) -> usize {
        let is_verb = |operand: &&(Kind, Times)| matches!(operand, (Kind::OneOf(_), Times::Once));
        self.operands.iter().take_while(is_verb).count()
    }

    /// Lists the values and operands of a kind among the words that the grammar accepted.
    pub(crate) fn of_kind<'w>(&self, kind: &Kind, given: &Given<'w>, files: &Files) -> Vec<&'w str> {
        let takes = |name: &str| match self.arity(name) {
            Some(
                Arity::Value(found)
                | Arity::Attached(found)
                | Arity::Maybe(found)
                | Arity::Two(found)
                | Arity::Many(found),
            ) => found == kind,
            Some(Arity::Flag) | None => false,
        };
        let values = given.options.iter().filter(|(name, _)| takes(name)).filter_map(|(_, value)| *value);
        let stands = self.operands.iter().any(|(found, _)| found == kind);
        let operands = given.operands.iter().copied().filter(|word| stands && kind.accepts(word, files));
        values.chain(operands).collect()
    }

    /// Returns where the operands begin, if `--` can stand there: no `--` and no option stands behind.
    pub(crate) fn first_operand(&self, words: &[&str], files: &Files) -> Option<usize> {
        let given = self.read(words, files).ok().filter(|_| self.style == Style::Getopt)?;
        let first = given.operands.first()?;
        let at = words.iter().position(|word| std::ptr::eq(word.as_ptr(), first.as_ptr()))?;
        let (before, behind) = words.split_at_checked(at)?;
        let fits = !before.contains(&"--") && !behind.iter().any(|word| word.starts_with('-'));
        fits.then_some(at)
    }

    /// Sorts the words behind a program's name, or says which of them is not allowed.
    pub(crate) fn read<'w>(&self, words: &[&'w str], files: &Files) -> Result<Given<'w>, Refusal> {
        let mut given = Given::default();
        let mut at = 0;
        let mut only_operands = self.style == Style::Plain;
        while let Some(&word) = words.get(at) {
            at += 1;
            if only_operands || !word.starts_with('-') || word == "-" {
                given.operands.push(word);
                if self.wraps && given.operands.len() > self.operands.len() {
                    given.operands.pop();
                    at -= 1;
                    break;
                }
                only_operands |= self.stop;
            } else if word == "--" {
                only_operands = true;
            } else if word.starts_with("--") || self.style == Style::Words {
                self.read_long(word, words, &mut at, &mut given, files)?;
            } else {
                self.read_bundle(word, words, &mut at, &mut given, files)?;
            }
        }
        given.inner = at;
        self.check_operands(&given.operands, files)?;
        Ok(given)
    }

    fn read_long<'w>(
        &self,
        word: &'w str,
        words: &[&'w str],
        at: &mut usize,
        given: &mut Given<'w>,
        files: &Files,
    ) -> Result<(), Refusal> {
        let (name, attached) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
        // `-type=` in a policy file means that the value has to be attached.
        // iproute2 takes `--json` for `-json`.
        let known = self
            .arity(name)
            .or_else(|| name.strip_prefix('-').filter(|_| self.stop).and_then(|name| self.arity(name)));
        let arity = match (known, attached) {
            (Some(arity), _) => arity,
            (None, Some(_)) => word
                .find('=')
                .and_then(|end| word.get(..=end))
                .and_then(|name| self.options.get(name))
                .ok_or_else(|| Refusal::option(word))?,
            (None, None) => return Err(Refusal::option(word)),
        };
        let value = match (arity, attached) {
            (Arity::Flag, None) | (Arity::Attached(_), None) => None,
            (Arity::Flag, Some(_)) => return Err(Refusal::option(word)),
            (Arity::Value(kind) | Arity::Attached(kind) | Arity::Maybe(kind), Some(value)) => {
                Some(checked(kind, word, value, files)?)
            }
            (Arity::Value(kind), None) => {
                let value = words.get(*at).copied().ok_or_else(|| Refusal::missing(word))?;
                *at += 1;
                Some(checked(kind, word, value, files)?)
            }
            (Arity::Maybe(kind), None) => maybe(kind, words, at, files),
            (Arity::Two(_), Some(_)) => return Err(Refusal::option(word)),
            (Arity::Two(kind), None) => {
                for _ in 0..2 {
                    let value = words.get(*at).copied().ok_or_else(|| Refusal::missing(word))?;
                    *at += 1;
                    given.options.push((name.to_owned(), Some(checked(kind, word, value, files)?)));
                }
                return Ok(());
            }
            (Arity::Many(kind), attached) => {
                return many(kind, (name, attached), words, at, given, files);
            }
        };
        given.options.push((name.to_owned(), value));
        Ok(())
    }

    fn read_bundle<'w>(
        &self,
        word: &'w str,
        words: &[&'w str],
        at: &mut usize,
        given: &mut Given<'w>,
        files: &Files,
    ) -> Result<(), Refusal> {
        let letters = word.get(1..).unwrap_or_default();
        if self.digits && letters.len() <= 9 && letters.bytes().all(|byte| byte.is_ascii_digit()) {
            return Ok(());
        }
        for (offset, letter) in letters.char_indices() {
            let name = format!("-{letter}");
            let arity = self.options.get(&name).ok_or_else(|| Refusal::option(word))?;
            let attached = letters.get(offset + letter.len_utf8()..).filter(|rest| !rest.is_empty());
            let value = match (arity, attached) {
                (Arity::Flag, _) => {
                    given.options.push((name, None));
                    continue;
                }
                (Arity::Attached(_), None) => None,
                (Arity::Value(kind) | Arity::Attached(kind), Some(value)) => {
                    Some(checked(kind, word, value, files)?)
                }
                // `-wn` may be `-w` without its value and `-n`: only what fits is a value.
                (Arity::Maybe(kind), Some(value)) if kind.accepts(value, files) => Some(value),
                (Arity::Maybe(_), Some(_)) => {
                    given.options.push((name, None));
                    continue;
                }
                (Arity::Value(kind), None) => {
                    let value = words.get(*at).copied().ok_or_else(|| Refusal::missing(word))?;
                    *at += 1;
                    Some(checked(kind, word, value, files)?)
                }
                (Arity::Maybe(kind), None) => maybe(kind, words, at, files),
                // No program of the policy has such an option of one letter.
                (Arity::Two(_), _) => return Err(Refusal::option(word)),
                (Arity::Many(kind), attached) => {
                    return many(kind, (&name, attached), words, at, given, files);
                }
            };
            given.options.push((name, value));
            break;
        }
        Ok(())
    }

    fn check_operands(&self, operands: &[&str], files: &Files) -> Result<(), Refusal> {
        let mut rest = operands.iter().peekable();
        for (kind, times) in &self.operands {
            match times {
                Times::Once => match rest.next() {
                    Some(operand) if kind.accepts(operand, files) => {}
                    Some(operand) => return Err(Refusal::operand(operand)),
                    None => return Err(Refusal::missing("an operand")),
                },
                Times::AtMostOnce => {
                    rest.next_if(|operand| kind.accepts(operand, files));
                }
                Times::Any => while rest.next_if(|operand| kind.accepts(operand, files)).is_some() {},
                Times::AtLeastOnce => {
                    if rest.next_if(|operand| kind.accepts(operand, files)).is_none() {
                        return Err(rest.next().map_or_else(
                            || Refusal::missing("an operand"),
                            |operand| Refusal::operand(operand),
                        ));
                    }
                    while rest.next_if(|operand| kind.accepts(operand, files)).is_some() {}
                }
            }
        }
        rest.next().map_or(Ok(()), |operand| Err(Refusal::operand(operand)))
    }
}

fn checked<'w>(kind: &Kind, option: &str, value: &'w str, files: &Files) -> Result<&'w str, Refusal> {
    if kind.accepts(value, files) { Ok(value) } else { Err(Refusal::value(option, value)) }
}

/// Takes an attached value, or every word up to the next option.
fn many<'w>(
    kind: &Kind,
    (name, attached): (&str, Option<&'w str>),
    words: &[&'w str],
    at: &mut usize,
    given: &mut Given<'w>,
    files: &Files,
) -> Result<(), Refusal> {
    let before = given.options.len();
    if let Some(value) = attached {
        given.options.push((name.to_owned(), Some(checked(kind, name, value, files)?)));
    }
    while let Some(value) = words.get(*at).filter(|word| !word.starts_with('-')) {
        given.options.push((name.to_owned(), Some(checked(kind, name, value, files)?)));
        *at += 1;
    }
    if given.options.len() == before { Err(Refusal::missing(name)) } else { Ok(()) }
}

fn maybe<'w>(kind: &Kind, words: &[&'w str], at: &mut usize, files: &Files) -> Option<&'w str> {
    let value = words.get(*at).copied().filter(|value| kind.accepts(value, files))?;
    *at += 1;
    Some(value)
}
