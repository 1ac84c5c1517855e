//! Words to arguments: split, and patterns of file names put in their place.

use super::shell::{Flow, Io, Shell};
use crate::host::script::pattern::{escape, is_pattern, matches};
use crate::host::script::tree::{Word, WordPart};

/// A list in braces may stand for so many words.
const MAX_BRACE_WORDS: i64 = 10_000;

/// An argument in the making, beside the pattern that it may be.
#[derive(Default)]
struct Field {
    text: String,
    pattern: String,
    there: bool,
}

impl Shell<'_> {
    /// Returns the arguments that words stand for.
    pub(super) fn fields(&mut self, words: &[Word], io: &Io) -> Result<Vec<String>, Flow> {
        let mut fields = Vec::new();
        for word in words {
            for word in braces(word) {
                self.split(&word, io, &mut fields)?;
            }
        }
        Ok(fields)
    }

    fn split(&mut self, word: &Word, io: &Io, fields: &mut Vec<String>) -> Result<(), Flow> {
        let tilde = word.parts.first().is_some_and(
            |word_part| matches!(word_part, WordPart::Text(text, false) if text == "~" || text.starts_with("~/")),
        );
        if tilde {
            fields.push(self.text(word, io)?);
            return Ok(());
        }
        let separators = self.variables.get("IFS").cloned().unwrap_or_else(|| " \t\n".to_owned());
        let mut field = Field::default();
        for part in self.parts(word, io)? {
            if part.begins {
                self.done(&mut field, fields);
            }
            if part.quoted {
                field.there = true;
                field.pattern.push_str(&escape(&part.text));
                field.text.push_str(&part.text);
            } else if part.own {
                field.there = true;
                field.pattern.push_str(&part.text);
                field.text.push_str(&part.text);
            } else if !part.nothing {
                for char in part.text.chars() {
                    if separators.contains(char) {
                        // Blanks in a row are one separator, any other character is one each.
                        if char.is_whitespace() {
                            self.done(&mut field, fields)
                        } else {
                            field.there = true;
                            self.done(&mut field, fields);
                        }
                    } else {
                        field.there = true;
                        field.text.push(char);
                        field.pattern.push(char);
                    }
                }
            }
        }
        self.done(&mut field, fields);
        Ok(())
    }

    fn done(&mut self, field: &mut Field, fields: &mut Vec<String>) {
        let field = std::mem::take(field);
        if !field.there {
            return;
        }
        let unescaped = field.pattern.replace("\\*", "").replace("\\?", "").replace("\\[", "");
        if is_pattern(&unescaped) {
            let whole = if field.pattern.starts_with('/') {
                field.pattern.clone()
            } else {
                format!(
                    "{}/{}",
                    escape(self.variables.get("PWD").map_or("/root", String::as_str)),
                    field.pattern
                )
            };
            let depth = whole.matches('/').count();
            let here = field.text.starts_with('/');
            let prefix = self.variables.get("PWD").map_or(5, |here| here.len()) + 1;
            let found: Vec<String> = self
                .calls
                .files()
                .paths()
                .filter(|path| path.matches('/').count() == depth && matches(&whole, path))
                .map(|path| if here { path } else { path.get(prefix..).unwrap_or(path) }.to_owned())
                .collect();
            if !found.is_empty() {
                fields.extend(found);
                return;
            }
        }
        fields.push(field.text);
    }
}

/// Puts lists in braces in their place: `{1..3}`, `{a,b}`. One list a word, without quotes in it.
fn braces(word: &Word) -> Vec<Word> {
    let whole = || vec![word.clone()];
    for (at, word_part) in word.parts.iter().enumerate() {
        let WordPart::Text(text, false) = word_part else { continue };
        let Some((before, rest)) = text.split_once('{') else { continue };
        let Some((inside, after)) = rest.split_once('}') else { continue };
        let values: Vec<String> = if let Some((from, to)) = inside.split_once("..") {
            let (Ok(from), Ok(to)) = (from.parse::<i64>(), to.parse::<i64>()) else { return whole() };
            if from.abs_diff(to) > MAX_BRACE_WORDS.unsigned_abs() {
                return whole();
            }
            if from <= to {
                (from..=to).map(|number| number.to_string()).collect()
            } else {
                (to..=from).rev().map(|number| number.to_string()).collect()
            }
        } else if inside.contains(',') && !inside.contains('{') {
            inside.split(',').map(str::to_owned).collect()
        } else {
            return whole();
        };
        return values
            .into_iter()
            .map(|value| {
                let mut parts = word.parts.clone();
                if let Some(place) = parts.get_mut(at) {
                    *place = WordPart::Text(format!("{before}{value}{after}"), false);
                }
                Word { parts }
            })
            .collect();
    }
    whole()
}
