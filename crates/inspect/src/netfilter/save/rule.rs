//! One `-A` line.

use std::borrow::Cow;

use super::option::{Behind, base, canonical, is_module, shortened, words};
use crate::netfilter::ruleset::{Base, Body, Part, Rule};
use crate::netfilter::text::{Text, Texts};

/// A rule together with its chain and what is odd about it.
pub(super) struct Read<'a> {
    pub(super) chain: Cow<'a, str>,
    pub(super) rule: Rule,
    pub(super) odd: Vec<String>,
}

/// Reads a rule line without its counters; nothing where no chain stands in it.
pub(super) fn read<'a>(
    line: &'a str,
    packets: Option<u64>,
    bytes: Option<u64>,
    texts: &mut Texts,
) -> Option<Read<'a>> {
    let (words, open) = split(line);
    let parts = Vec::with_capacity(words.len() / 2);
    let mut words = words.into_iter().peekable();
    let add = words.next()?;
    if add.text != "-A" && add.text != "--append" {
        return None;
    }
    let chain = words.next()?.text;
    let mut reader = Reader { words, texts, parts, modules: Vec::new(), odd: Vec::new() };
    reader.all();
    let Reader { mut parts, mut odd, .. } = reader;
    parts.shrink_to_fit();
    if open {
        odd.push("a quote that is never closed".to_owned());
    }
    let opaque: Vec<String> = parts.iter().filter(|part| !part.known).map(in_words).collect();
    let comment = parts
        .iter()
        .find(|part| part.name == "--comment")
        .and_then(|part| part.values.first().map(Text::to_string));
    let rule = Rule {
        position: 0,
        handle: None,
        raw: line.to_owned(),
        body: Body::Save(parts),
        comment,
        packets,
        bytes,
        rest: None,
        opaque,
    };
    Some(Read { chain, rule, odd })
}

/// Writes a part as it stands in a rule.
pub(in crate::netfilter) fn in_words(part: &Part) -> String {
    let mut text = if part.negated { "! ".to_owned() } else { String::new() };
    text.push_str(&part.name);
    for value in &part.values {
        text.push(' ');
        text.push_str(value);
    }
    text
}

struct Reader<'a, 't, I: Iterator<Item = Word<'a>>> {
    words: std::iter::Peekable<I>,
    texts: &'t mut Texts,
    parts: Vec<Part>,
    /// The modules that are loaded, the last one last, and which of them are matches that nobody knows.
    modules: Vec<(Text, bool)>,
    odd: Vec<String>,
}

impl<'a, I: Iterator<Item = Word<'a>>> Reader<'a, '_, I> {
    fn all(&mut self) {
        let mut negated = false;
        while let Some(word) = self.words.next() {
            if word.text == "!" && !word.quoted {
                if negated {
                    self.odd.push("two exclamation marks".to_owned());
                }
                negated = true;
                continue;
            }
            if word.quoted || !word.text.starts_with('-') {
                self.odd.push(format!("a word that belongs to nothing: {}", word.text));
                // Nothing says what it is: it is kept as it stood.
                let name =
                    if word.quoted { Text::from(&*quoted(&word.text)) } else { Text::from(&*word.text) };
                self.parts.push(Part { name, module: None, negated, values: Box::default(), known: false });
            } else {
                self.option(&word.text, negated);
            }
            negated = false;
        }
        if negated {
            self.odd.push("an exclamation mark before nothing".to_owned());
        }
    }

    fn option(&mut self, name: &str, negated: bool) {
        if let Some((name, count)) = base(name) {
            return self.base(name, count, negated);
        }
        // The module that was loaded last is asked first, as `iptables` does.
        let mut latest = self.modules.iter().rev();
        let found = latest.find_map(|(module, stranger)| match words(module, name) {
            Some(count) => Some(Some((module.clone(), count))),
            // What is not known may have an option of any name.
            None if *stranger => Some(None),
            None => None,
        });
        let part = match (found, shortened(name)) {
            (Some(Some((module, count))), _) => self.take(name, Some(module), negated, Some(count)),
            (None, Some((name, count))) => return self.base(name, count, negated),
            (Some(None), _) | (None, None) => {
                let module = self.modules.last().map(|(module, _)| module.clone());
                self.take(name, module, negated, None)
            }
        };
        self.parts.push(part);
    }

    fn base(&mut self, name: &str, count: usize, negated: bool) {
        let mut part = self.take(name, None, negated, Some(Behind::Words(count)));
        part.known &= self.module(&part);
        self.parts.push(part);
    }

    /// Takes the words behind an option; where their number is not known, up to the next option.
    fn take(&mut self, name: &str, module: Option<Text>, negated: bool, behind: Option<Behind>) -> Part {
        let mut negated = negated;
        let (least, most) = match behind {
            Some(Behind::Words(count)) => (count, count),
            Some(Behind::Perhaps) => (0, 1),
            None => (0, usize::MAX),
        };
        let mut values = Vec::with_capacity(least);
        if least > 0
            && let Some(_) = self.words.next_if(|word| word.text == "!" && !word.quoted)
        {
            // The old place of the exclamation mark.
            negated = true;
        }
        while values.len() < most {
            let is_value =
                |word: &Word| word.quoted || least > 0 && values.is_empty() || !is_option(&word.text);
            let Some(word) = self.words.next_if(is_value) else { break };
            values.push(self.texts.value(&word.text));
        }
        let short = values.len() < least;
        if short {
            self.odd.push(format!("nothing behind {name}"));
        }
        let known = behind.is_some() && !short;
        Part { name: self.texts.name(name), module, negated, values: values.into(), known }
    }

    /// Loads what an option brings; false where it brings a match that is not known.
    fn module(&mut self, part: &Part) -> bool {
        let Some(value) = part.values.first() else { return true };
        match part.name.as_str() {
            // A protocol brings its own match.
            "-p" if is_module(value) => {
                let module = self.texts.value(canonical(value));
                self.modules.push((module, false));
            }
            "-m" => {
                let known = is_module(value);
                self.modules.push((value.clone(), !known));
                return known;
            }
            "-j" => self.modules.push((value.clone(), false)),
            _ => {}
        }
        true
    }
}

fn is_option(text: &str) -> bool {
    text == "!"
        || text.starts_with('-')
            && text.len() > 1
            && !text.trim_start_matches('-').starts_with(|char: char| char.is_ascii_digit())
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word<'a> {
    pub(super) text: Cow<'a, str>,
    /// Whether it stood in quotes: then it is no option, whatever its text.
    pub(super) quoted: bool,
}

/// Splits a line; the flag tells whether a quote was left open.
pub(super) fn split(line: &str) -> (Vec<Word<'_>>, bool) {
    if !line.contains(['"', '\'']) {
        let words = line.split([' ', '\t']).filter(|word| !word.is_empty());
        return (words.map(|word| Word { text: Cow::Borrowed(word), quoted: false }).collect(), false);
    }
    let mut words = Vec::new();
    let (mut text, mut quoted) = (String::new(), false);
    let mut inside = false;
    let mut quote = None;
    let mut chars = line.chars();
    while let Some(char) = chars.next() {
        match (quote, char) {
            (None, ' ' | '\t') => {
                if inside {
                    words.push(Word { text: Cow::Owned(std::mem::take(&mut text)), quoted });
                    (inside, quoted) = (false, false);
                }
            }
            (None, '"' | '\'') if !inside => {
                quote = Some(char);
                inside = true;
                quoted = true;
            }
            (Some(open), _) if open == char => quote = None,
            // In double quotes a backslash protects what follows it.
            (Some('"'), '\\') => text.extend(chars.next()),
            _ => {
                text.push(char);
                inside = true;
            }
        }
    }
    if inside {
        words.push(Word { text: Cow::Owned(text), quoted });
    }
    (words, quote.is_some())
}

/// Writes a word in quotes.
pub(super) fn quoted(text: &str) -> String {
    let mut word = String::with_capacity(text.len() + 2);
    word.push('"');
    for char in text.chars() {
        if matches!(char, '"' | '\\' | '\'') {
            word.push('\\');
        }
        word.push(char);
    }
    word.push('"');
    word
}

/// Where the kernel calls the chains that are built in.
pub(super) fn built_in(table: &str, chain: &str) -> Option<Base> {
    let hook = match chain {
        "PREROUTING" => "prerouting",
        "INPUT" => "input",
        "FORWARD" => "forward",
        "OUTPUT" => "output",
        "POSTROUTING" => "postrouting",
        _ => return None,
    };
    let (kind, priority) = match (table, hook) {
        ("raw", "prerouting" | "output") => ("filter", -300),
        ("mangle", "output") => ("route", -150),
        ("mangle", _) => ("filter", -150),
        ("nat", "prerouting" | "output") => ("nat", -100),
        ("nat", "input" | "postrouting") => ("nat", 100),
        ("filter", "input" | "forward" | "output") => ("filter", 0),
        ("security", "input" | "forward" | "output") => ("filter", 50),
        _ => return None,
    };
    Some(Base { kind: kind.to_owned(), hook: hook.to_owned(), priority, device: None })
}

/// What an option says about the family.
pub(super) fn family_of(part: &Part) -> Option<bool> {
    let value = part.values.first()?;
    match part.name.as_str() {
        "-s" | "-d" => Some(value.contains(':')),
        "--src-range" | "--dst-range" | "--to-source" | "--to-destination" if value.contains("::") => {
            Some(true)
        }
        "-p" if matches!(value.as_str(), "ipv6-icmp" | "icmpv6") => Some(true),
        "-p" if value == "icmp" => Some(false),
        "--icmpv6-type" => Some(true),
        "--icmp-type" => Some(false),
        "--reject-with" if value.starts_with("icmp6") => Some(true),
        "--reject-with" if value.starts_with("icmp-") => Some(false),
        _ => None,
    }
}
