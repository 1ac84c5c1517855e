//! Files that hold credentials, wherever a command names one.

use super::address::decode;
use super::path::{base, clean, from_place, part_may_be};
use crate::policy::{Credentials, Policy};
use crate::text::brace::{alternatives, expand, split_outside_braces};

/// Lists the words that name a credential file; relative ones start at `place`, where that is known.
pub(super) fn find<'w>(words: &[&'w str], table: &Credentials, place: &str) -> Vec<&'w str> {
    let moved = |word: &str| {
        !place.is_empty() && !word.starts_with('-') && names_one(&from_place(word, place), table)
    };
    words.iter().copied().filter(|word| names_one(word, table) || moved(word)).collect()
}

/// Drops what is the identity of a connection from the list. `own` are the words behind the program that are its own,
/// not those of a command that it runs elsewhere.
pub(super) fn drop_identities(found: &mut Vec<&str>, program: &str, own: &[&str]) {
    let options: &[&str] = match program {
        "ssh" | "scp" | "sftp" => &["-i"],
        "az" if own.first() == Some(&"ssh") => &["-i"],
        "curl" => &["--cert", "--key", "-E"],
        _ => return,
    };
    let mut before = "";
    for &word in own {
        if is_identity(word, before, options) {
            // The same word, not the same text: what else names the file still counts.
            found.retain(|other| !std::ptr::eq(*other, word));
        }
        before = word;
    }
}

fn is_identity(word: &str, before: &str, options: &[&str]) -> bool {
    options.iter().any(|option| {
        let attached = word
            .strip_prefix(option)
            .is_some_and(|rest| rest.starts_with('=') || (!option.starts_with("--") && !rest.is_empty()));
        before == *option || attached
    })
}

/// Tells whether a word is, or holds behind `@`, `=`, `:` or an option letter, a credential file.
pub(super) fn names_one(word: &str, table: &Credentials) -> bool {
    if word.starts_with("http://") || word.starts_with("https://") {
        return false;
    }
    if !may_be_one(word) {
        return false;
    }
    let attached = word.strip_prefix('-').filter(|rest| !rest.starts_with('-')).and_then(|rest| {
        let mut letters = rest.chars();
        letters.next().map(|_| letters.as_str())
    });
    if file_of_url(word).is_some_and(|path| is_one(&path, table)) {
        return true;
    }
    // Line by line: no brace reaches farther in a text of several.
    let (braced, plain): (Vec<&str>, Vec<&str>) = word.split('\n').partition(|line| line.contains('{'));
    has_one(&plain.join("\n"), table)
        || braced.into_iter().any(|line| writes_one(line, table))
        || attached.is_some_and(|path| is_one(path, table))
}

/// Every name in the table has a dot, a slash or an underscore: most words are done here.
fn may_be_one(text: &str) -> bool {
    text.contains(['.', '/', '_'])
}

impl Policy {
    /// True if a pattern of file names, as searches take them, can stand for a credential file. A pattern for every name does not count.
    pub(crate) fn may_name_credential(&self, pattern: &str) -> bool {
        let (patterns, whole) = expand(pattern);
        let may_be = |pattern: &String| {
            let last: Vec<char> = base(pattern).chars().collect();
            let chosen = last.iter().any(|char| !"*?[]!".contains(*char))
                && last.iter().any(|char| "*?[".contains(*char));
            let mut names = self.block.credentials.tails.iter().filter(|tail| !tail.contains('/'));
            chosen
                && names.any(|name| part_may_be(&last, &name.replace('*', "x").chars().collect::<Vec<_>>()))
        };
        !whole || patterns.iter().any(may_be)
    }
}

/// What stands beside a path in a word: `@file`, `key=file`, `user:file`, lists, quotes of another language.
const SEPARATORS: [char; 7] = ['@', '=', ':', ',', ';', '\'', '"'];

/// Tells whether a part of a text is one.
fn has_one(text: &str, table: &Credentials) -> bool {
    text.split(SEPARATORS).any(|segment| is_one(segment, table))
}

/// Tells whether a line is one where its braces are written out. Braces of different parts do not multiply, so a long list of objects is
/// read to its end.
fn writes_one(line: &str, table: &Credentials) -> bool {
    // With blanks it is a text: what that runs is read on its own.
    let is_name = !line.contains(char::is_whitespace);
    let mut open = vec![line];
    while let Some(text) = open.pop() {
        for part in split_outside_braces(text, &SEPARATORS).unwrap_or_else(|| vec![text]) {
            // The brackets of a list of objects.
            let part = part.trim_start_matches('[').trim_end_matches(']');
            if let Some(alternatives) = alternatives(part) {
                open.extend(alternatives);
                continue;
            }
            if !may_be_one(part) {
                continue;
            }
            let (words, whole) = expand(part);
            // A name that stands for more than anybody could review may be any.
            if (!whole && is_name) || words.iter().any(|word| has_one(word, table)) {
                return true;
            }
        }
    }
    false
}

/// Returns the path that a `file:` URL in a word names, decoded and without its host.
fn file_of_url(word: &str) -> Option<String> {
    const SCHEME: &str = "file://";
    let at = word.to_ascii_lowercase().find(SCHEME)?;
    let rest = word.get(at + SCHEME.len()..)?;
    let path = rest.get(rest.find('/')?..)?;
    Some(decode(path.split(['?', '#']).next().unwrap_or_default()))
}

fn is_one(path: &str, table: &Credentials) -> bool {
    if !may_be_one(path) {
        return false;
    }
    let cleaned = clean(path);
    let tail = |pattern: &String| {
        let depth = pattern.split('/').count();
        let parts: Vec<&str> = cleaned.rsplit('/').take(depth).collect();
        parts.len() == depth && pattern.rsplit('/').zip(parts).all(|(pattern, part)| matches(pattern, part))
    };
    let whole = |pattern: &String| {
        pattern.split('/').count() == cleaned.split('/').count()
            && pattern.split('/').zip(cleaned.split('/')).all(|(pattern, part)| matches(pattern, part))
    };
    let opens = || {
        cleaned.rsplit_once('/').is_some_and(|(folder, last)| {
            let folder = folder.rsplit('/').next().unwrap_or_default();
            last.contains(['*', '?', '[', '{']) && table.patterns_in.iter().any(|name| name == folder)
        })
    };
    let below = || cleaned.split('/').any(|part| table.folders.iter().any(|folder| folder == part));
    !table.except.iter().any(tail)
        && (table.paths.iter().any(whole) || table.tails.iter().any(tail) || opens() || below())
}

/// Matches one part of a path; `*` stands for any run without blanks.
fn matches(pattern: &str, part: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == part,
        Some((front, back)) => {
            part.len() >= front.len() + back.len()
                && part.starts_with(front)
                && part.ends_with(back)
                && !part.contains(char::is_whitespace)
        }
    }
}
