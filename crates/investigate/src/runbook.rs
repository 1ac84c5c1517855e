//! Notes of a site: sections of Markdown files that name what a session found. They are offered to people after the report.
//!
//! Goes in: the texts of files, and what a session found. Comes out: the sections that name it, the best first, as short texts. Never: a
//! note that a model reads, that a gate counts, or that changes an outcome.

use std::collections::BTreeSet;

use crate::memory::Memory;

/// So many sections are offered.
const MAX_OFFERED: usize = 2;

/// So much of a section is shown.
const MAX_SHOWN_CHARS: usize = 500;

/// A shorter name is no name.
const MIN_NAME_CHARS: usize = 4;

/// What network interfaces are called: every machine has them.
const INTERFACES: [&str; 5] = ["eth", "ens", "eno", "enp", "lo"];

/// A section of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The name of the file.
    pub file: String,
    /// Its heading, or that of the file.
    pub heading: String,
    pub text: String,
}

impl Note {
    /// Returns the beginning of its text.
    #[must_use]
    pub fn shown(&self) -> String {
        let text = self.text.trim();
        let shown: String = text.chars().take(MAX_SHOWN_CHARS).collect();
        if shown.len() < text.len() { format!("{}…", shown.trim_end()) } else { shown }
    }
}

/// Takes a file apart at its headings. What stands before the first one, and a file without headings, bear the file's name.
#[must_use]
pub fn notes(file: &str, text: &str) -> Vec<Note> {
    let mut found = vec![Note { file: file.to_owned(), heading: file.to_owned(), text: String::new() }];
    let mut is_code = false;
    for line in text.lines() {
        is_code ^= line.trim_start().starts_with("```");
        let level = line.chars().take_while(|char| *char == '#').count();
        let heading = line.get(level..).filter(|rest| (1..=6).contains(&level) && rest.starts_with(' '));
        match (heading, found.last_mut()) {
            (Some(heading), _) if !is_code => {
                let heading = heading.trim().trim_end_matches('#').trim().to_owned();
                found.push(Note { file: file.to_owned(), heading, text: String::new() });
            }
            (_, Some(last)) => {
                last.text.push_str(line);
                last.text.push('\n');
            }
            (_, None) => {}
        }
    }
    found.retain(|note| !note.text.trim().is_empty());
    found
}

/// Returns the sections that name something that was found: those that name most come first.
#[must_use]
pub fn naming<'a>(notes: &'a [Note], found: &Memory) -> Vec<&'a Note> {
    let names = names(found);
    let mut fitting: Vec<(usize, &Note)> = notes
        .iter()
        .filter_map(|note| {
            let said = words(&format!("{} {}", note.heading, note.text));
            let count = names.iter().filter(|name| said.contains(*name)).count();
            (count > 0).then_some((count, note))
        })
        .collect();
    fitting.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    fitting.into_iter().take(MAX_OFFERED).map(|(_, note)| note).collect()
}

/// The names of what was found: codes, machines, rules, addresses. A port or a chain names nothing of a site's own.
fn names(found: &Memory) -> BTreeSet<String> {
    let parts = found.causes.iter().flat_map(|cause| cause.object.split('/').chain([cause.code.as_str()]));
    parts.filter(|part| is_name(part)).map(str::to_lowercase).collect()
}

fn is_name(part: &str) -> bool {
    let has = |test: fn(char) -> bool| part.contains(test);
    let (digit, letter) = (has(|char| char.is_ascii_digit()), has(char::is_alphabetic));
    let joined = letter && part.contains(['-', '_', '.']);
    let address = !letter && part.split('.').count() == 4;
    let is_interface = INTERFACES.iter().any(|kind| {
        part.strip_prefix(kind).is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
    });
    part.chars().count() >= MIN_NAME_CHARS && !is_interface && (joined || address || (letter && digit))
}

fn words(text: &str) -> BTreeSet<String> {
    let inside = |char: char| char.is_alphanumeric() || matches!(char, '.' | '-' | '_');
    let words = text.split(|char: char| !inside(char)).map(|word| word.trim_matches(['.', '-']));
    words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Cause;

    const FILE: &str = "Who owns what.\n\n# Databases\n\nWhen db-1 is behind a rule, ask the platform team first.\n\n```\n# db-9 is no heading\n```\n\n\
        ## The hardening run\n\nIt writes `guest_firewall_drop` rules on db-1 and web-1 every night.\n\n# Nothing below\n";

    fn memory(objects: &[(&str, &str)]) -> Memory {
        let cause =
            |(code, object): &(&str, &str)| Cause { code: (*code).to_owned(), object: (*object).to_owned() };
        Memory { causes: objects.iter().map(cause).collect(), ..Memory::default() }
    }

    #[test]
    fn a_file_is_taken_apart_at_its_headings() {
        let notes = notes("hosts.md", FILE);
        let headings: Vec<&str> = notes.iter().map(|note| note.heading.as_str()).collect();
        assert_eq!(headings, ["hosts.md", "Databases", "The hardening run"]);
        assert!(notes[1].text.contains("# db-9 is no heading"));
        assert!(super::notes("empty.md", "").is_empty());
    }

    #[test]
    fn the_section_that_names_most_comes_first() {
        let notes = notes("hosts.md", FILE);
        let named = |objects: &[(&str, &str)]| {
            naming(&notes, &memory(objects)).into_iter().map(|note| note.heading.clone()).collect::<Vec<_>>()
        };
        assert_eq!(
            named(&[("guest_firewall_drop", "netfilter/db-1/filter/INPUT/tcp/5001")]),
            ["The hardening run", "Databases"]
        );
        assert_eq!(named(&[("netem_delay", "qdisc/web-1/eth0")]), ["The hardening run"]);
        // Ports, chains and interfaces are everybody's.
        assert!(named(&[("netem_delay", "qdisc/web-2/eth0")]).is_empty());
        assert!(named(&[]).is_empty());
    }

    #[test]
    fn a_long_section_is_cut() {
        let note = Note { file: "a.md".to_owned(), heading: "h".to_owned(), text: "word ".repeat(1_000) };
        assert!(note.shown().ends_with('…') && note.shown().chars().count() <= MAX_SHOWN_CHARS + 1);
    }
}
