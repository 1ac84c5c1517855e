//! One `-A` line.

use super::option::{canonical, is_module, words};
use super::word::{Word, quoted, split};
use crate::netfilter::ruleset::{Body, Part, Rule};

/// A rule together with its chain and what is odd about it.
pub(super) struct Read {
    pub(super) chain: String,
    pub(super) rule: Rule,
    pub(super) odd: Vec<String>,
}

/// Reads a rule line without its counters; nothing where no chain stands in it.
pub(super) fn read(line: &str, packets: Option<u64>, bytes: Option<u64>) -> Option<Read> {
    let (words, open) = split(line);
    let mut words = words.into_iter().peekable();
    let add = words.next()?;
    if add.text != "-A" && add.text != "--append" {
        return None;
    }
    let chain = words.next()?.text;
    let mut reader = Reader { words, parts: Vec::new(), modules: Vec::new(), odd: Vec::new() };
    reader.all();
    let Reader { parts, mut odd, .. } = reader;
    if open {
        odd.push("a quote that is never closed".to_owned());
    }
    let opaque: Vec<String> = parts.iter().filter(|part| !part.known).map(in_words).collect();
    let comment =
        parts.iter().find(|part| part.name == "--comment").and_then(|part| part.values.first().cloned());
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

struct Reader<I: Iterator<Item = Word>> {
    words: std::iter::Peekable<I>,
    parts: Vec<Part>,
    /// The modules that are loaded, the last one last.
    modules: Vec<String>,
    odd: Vec<String>,
}

impl<I: Iterator<Item = Word>> Reader<I> {
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
                self.parts.push(Part {
                    // Nothing says what it is: it is kept as it stood.
                    name: if word.quoted { quoted(&word.text) } else { word.text },
                    module: None,
                    negated,
                    values: Vec::new(),
                    known: false,
                });
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
        let main = match name {
            "-p" | "--protocol" | "--proto" => Some(("-p", 1)),
            "-s" | "--source" | "--src" => Some(("-s", 1)),
            "-d" | "--destination" | "--dst" => Some(("-d", 1)),
            "-i" | "--in-interface" => Some(("-i", 1)),
            "-o" | "--out-interface" => Some(("-o", 1)),
            "-m" | "--match" => Some(("-m", 1)),
            "-j" | "--jump" => Some(("-j", 1)),
            "-g" | "--goto" => Some(("-g", 1)),
            "-f" | "--fragment" => Some(("-f", 0)),
            _ => None,
        };
        if let Some((name, count)) = main {
            let mut part = self.take(name, None, negated, Some(count));
            part.known &= self.module(&part);
            self.parts.push(part);
            return;
        }
        // The module that was loaded last is asked first, as `iptables` does.
        let found = self
            .modules
            .iter()
            .rev()
            .find_map(|module| words(module, name).map(|count| (module.clone(), count)));
        let part = match found {
            Some((module, count)) => self.take(name, Some(module), negated, Some(count)),
            None => {
                let module = self.modules.last().cloned();
                self.take(name, module, negated, None)
            }
        };
        self.parts.push(part);
    }

    /// Takes the words behind an option; where their number is not known, up to the next option.
    fn take(&mut self, name: &str, module: Option<String>, negated: bool, count: Option<usize>) -> Part {
        let mut part =
            Part { name: name.to_owned(), module, negated, values: Vec::new(), known: count.is_some() };
        if count.is_some_and(|count| count > 0)
            && let Some(_) = self.words.next_if(|word| word.text == "!" && !word.quoted)
        {
            // The old place of the exclamation mark.
            part.negated = true;
        }
        while part.values.len() < count.unwrap_or(usize::MAX) {
            let is_value = |word: &Word| {
                word.quoted || count.is_some() && part.values.is_empty() || !is_option(&word.text)
            };
            let Some(word) = self.words.next_if(is_value) else { break };
            part.values.push(word.text);
        }
        if count.is_some_and(|count| part.values.len() < count) {
            self.odd.push(format!("nothing behind {name}"));
            part.known = false;
        }
        part
    }

    /// Loads what an option brings; false where it brings a match that is not known.
    fn module(&mut self, part: &Part) -> bool {
        let Some(value) = part.values.first() else { return true };
        match part.name.as_str() {
            // A protocol brings its own match.
            "-p" if is_module(value) => self.modules.push(canonical(value).to_owned()),
            "-m" => {
                self.modules.push(value.clone());
                return is_module(value);
            }
            "-j" => self.modules.push(value.clone()),
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
