//! Every mistake of a configuration file at once, not only the first.
//!
//! Goes in: the text of a file. Comes out: what can be read of it, the sections that have mistakes, and each mistake with its line. Never:
//! a mistake that only follows from another one.

use std::collections::BTreeSet;
use std::ops::Range;

use serde::de::DeserializeOwned;

/// Limits the mistakes that are named: a file with more is no configuration.
const MAX_MISTAKES: usize = 20;

/// Reads a text as far as it goes. Returns what was read with the names of the sections in which something was left out, and every
/// mistake; nothing where the text is no TOML.
pub(super) fn read_with_mistakes<T: DeserializeOwned>(
    text: &str,
) -> (Option<(T, BTreeSet<String>)>, Vec<String>) {
    let (mut rest, mut sections) = (text.to_owned(), BTreeSet::new());
    let mut mistakes: Vec<(usize, String)> = Vec::new();
    let mut left_out: Vec<Range<usize>> = Vec::new();
    while mistakes.len() < MAX_MISTAKES {
        let error = match toml::from_str::<T>(&rest) {
            Ok(read) => return (Some((read, sections)), in_order(mistakes)),
            Err(error) => error,
        };
        let is_toml = toml::from_str::<toml::Table>(&rest).is_ok();
        let place = error.span().filter(|_| is_toml).map(|span| statement(&rest, &span));
        let Some(place) = place.filter(|place| is_something(&rest, place)) else {
            mistakes.push((usize::MAX, named(text, &error)));
            return (None, in_order(mistakes));
        };
        // A key that is missing because its line was left out is no mistake.
        let follows = left_out.iter().any(|known| place.start <= known.start && known.end <= place.end);
        if !follows {
            mistakes.push((place.start, named(text, &error)));
        }
        sections.extend(section(&rest, place.start));
        blank(&mut rest, &place);
        left_out.push(place);
    }
    (None, in_order(mistakes))
}

/// Returns mistakes in the order of the file.
fn in_order(mut mistakes: Vec<(usize, String)>) -> Vec<String> {
    mistakes.sort();
    mistakes.into_iter().map(|(_, mistake)| mistake).collect()
}

/// Words a mistake: its own words show lines of the text that was read, which are those of the file.
fn named(text: &str, error: &toml::de::Error) -> String {
    let line =
        error.span().map_or(1, |span| text.get(..span.start).unwrap_or(text).matches('\n').count() + 1);
    let shown = error.to_string();
    match shown.contains(&format!("line {line}")) {
        true => shown,
        false => format!("line {line}: {}", error.message()),
    }
}

/// Returns the lines of the statement that a place belongs to: of a key its value, of a header its whole table.
fn statement(text: &str, span: &Range<usize>) -> Range<usize> {
    let start = text.get(..span.start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    let line_end = |from: usize| {
        text.get(from..).and_then(|behind| behind.find('\n')).map_or(text.len(), |at| from + at)
    };
    let first = text.get(start..line_end(start)).unwrap_or_default().trim_start();
    let end = if first.starts_with('[') {
        let behind = line_end(start);
        let next = text.get(behind..).and_then(|behind| behind.find("\n["));
        next.map_or(text.len(), |at| behind + at)
    } else {
        line_end(span.end.max(start))
    };
    start..end
}

fn is_something(text: &str, place: &Range<usize>) -> bool {
    text.get(place.clone()).is_some_and(|lines| !lines.trim().is_empty())
}

/// Puts blanks in the place of some lines, so that all others keep their numbers.
fn blank(text: &mut String, place: &Range<usize>) {
    let Some(lines) = text.get(place.clone()) else { return };
    let blanks: String = lines.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect();
    text.replace_range(place.clone(), &blanks);
}

/// Returns the first name of the section that a line belongs to.
fn section(text: &str, at: usize) -> Option<String> {
    let end = text.get(at..).and_then(|behind| behind.find('\n')).map_or(text.len(), |end| at + end);
    let header = text.get(..end)?.lines().rev().find(|line| line.trim_start().starts_with('['))?;
    let name = header.trim().trim_matches(['[', ']']).split(['.', ']']).next()?;
    Some(name.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::config::Config;

    fn mistakes(text: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ghost.toml");
        std::fs::write(&path, text).unwrap();
        let error = Config::load(Path::new(&path)).unwrap_err().to_string();
        error.lines().filter(|line| line.starts_with("  - ")).map(str::to_owned).collect()
    }

    #[test]
    fn two_misspelled_keys_are_two_mistakes() {
        let found = mistakes("[shell]\ntimeuot_seconds = 5\n\n[limits]\ntruns = 9\n");
        assert_eq!(found.len(), 2, "{found:?}");
        let found = mistakes("[shell]\ntimeuot_seconds = 5\napproval_minuets = 5\n");
        assert_eq!(found.len(), 2, "{found:?}");
    }

    #[test]
    fn a_wrong_type_an_unknown_section_and_a_wrong_value_are_three_mistakes() {
        let text = "[limits]\nturns = \"many\"\n\n[shel]\nx = 1\ny = 2\n\n[audit]\nanchor = \"x\"\n";
        let found = mistakes(text);
        assert_eq!(found.len(), 3, "{found:?}");
    }

    #[test]
    fn what_follows_from_a_mistake_is_none() {
        let text = "[model]\nbrain = \"openai\"\n\n[model.openai]\nmodell = \"m\"\n";
        let found = mistakes(text);
        assert_eq!(found.len(), 1, "{found:?}");
    }

    #[test]
    fn what_is_no_toml_is_one_mistake() {
        assert_eq!(mistakes("[shell\nx = \n").len(), 1);
    }
}
