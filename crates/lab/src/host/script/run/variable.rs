//! Variables, and what `${…}` makes of them.

use super::expand::Part;
use super::shell::{Flow, Io, Shell};
use crate::host::script::pattern::matches;
use crate::host::script::tree::{Change, Variable};

impl Shell<'_> {
    /// Returns the value of a variable.
    pub(in crate::host::script) fn value(&self, name: &str) -> Option<String> {
        match name {
            "#" => Some(self.arguments.len().to_string()),
            "?" => Some(self.status.to_string()),
            "$" => Some("1847".to_owned()),
            "!" => self.started.map(|pid| pid.to_string()),
            "-" => Some(if self.options.errexit { "ehB" } else { "hB" }.to_owned()),
            "@" | "*" => Some(self.arguments.join(" ")),
            "0" => Some(self.variables.get("0").cloned().unwrap_or_else(|| "bash".to_owned())),
            "SECONDS" => Some(self.calls.now().since(self.begun).as_secs().to_string()),
            "LINENO" => Some(self.line.to_string()),
            "RANDOM" => None,
            _ => match name.parse::<usize>() {
                Ok(number) => self.arguments.get(number.checked_sub(1)?).cloned(),
                Err(_) => self.variables.get(name).cloned(),
            },
        }
    }

    /// Puts the value of a variable into the parts of a word.
    pub(super) fn variable(
        &mut self,
        variable: &Variable,
        quoted: bool,
        io: &Io,
        parts: &mut Vec<Part>,
    ) -> Result<(), Flow> {
        let part = |text, quoted| Part { text, quoted, own: false, begins: false, nothing: false };
        if variable.name == "@" && quoted && variable.change == Change::None {
            if self.arguments.is_empty() {
                parts.push(Part { nothing: true, ..part(String::new(), false) });
            }
            for (at, argument) in self.arguments.iter().enumerate() {
                parts.push(Part { begins: at > 0, ..part(argument.clone(), true) });
            }
            return Ok(());
        }
        let value = self.value(&variable.name);
        if let Change::Instead(operator, colon, word) = &variable.change {
            let there = value.as_ref().is_some_and(|value| !(*colon && value.is_empty()));
            match (operator, there) {
                ('+', false) => {}
                ('+', true) | ('-', false) => parts.extend(self.parts(word, io)?),
                ('=', false) => {
                    let text = self.text(word, io)?;
                    self.variables.insert(variable.name.clone(), text.clone());
                    parts.push(part(text, quoted));
                }
                ('?', false) => {
                    let text = self.text(word, io)?;
                    let text = if text.is_empty() { "parameter null or not set" } else { &text };
                    self.status = self.protest(io, &format!("{}: {text}", variable.name), 1);
                    return Err(Flow::Exit);
                }
                _ => parts.push(part(value.unwrap_or_default(), quoted)),
            }
            return Ok(());
        }
        if value.is_none() && self.options.nounset && !matches!(variable.name.as_str(), "@" | "*" | "!") {
            let name = if variable.name.chars().all(|char| char.is_ascii_digit()) {
                format!("${}", variable.name)
            } else {
                variable.name.clone()
            };
            self.status = self.protest(io, &format!("{name}: unbound variable"), 1);
            return Err(Flow::Exit);
        }
        let value = value.unwrap_or_default();
        let text = match &variable.change {
            Change::None | Change::Instead(..) => value,
            Change::Length if variable.name == "@" => self.arguments.len().to_string(),
            Change::Length => value.chars().count().to_string(),
            Change::Cut { end, longest, pattern } => cut(&value, &self.pattern(pattern, io)?, *end, *longest),
            Change::Replace { all, pattern, with } => {
                let (pattern, with) = (self.pattern(pattern, io)?, self.text(with, io)?);
                replace(&value, &pattern, &with, *all)
            }
            Change::Part(start, length) => {
                let start = self.text(start, io)?;
                let start = self.number(&start, io)?;
                let length = match length {
                    Some(length) => {
                        let length = self.text(length, io)?;
                        Some(self.number(&length, io)?)
                    }
                    None => None,
                };
                slice(&value, start, length)
            }
        };
        parts.push(part(text, quoted));
        Ok(())
    }
}

/// The longest value in which patterns are looked for: trying every place costs the square of it.
const MAX_SEARCHED_LEN: usize = 4_096;

fn cut(value: &str, pattern: &str, end: bool, longest: bool) -> String {
    if value.len() > MAX_SEARCHED_LEN {
        return value.to_owned();
    }
    let places = || value.char_indices().map(|(at, _)| at).chain([value.len()]);
    let fits = |at: &usize| {
        let (first, last) = value.split_at(*at);
        matches(pattern, if end { last } else { first })
    };
    let found = if end == longest { places().find(fits) } else { places().rev_find(fits) };
    let Some(at) = found else { return value.to_owned() };
    let (first, last) = value.split_at(at);
    if end { first } else { last }.to_owned()
}

trait RevFind: Iterator<Item = usize> + Sized {
    /// Returns the last that fits.
    fn rev_find(self, fits: impl Fn(&usize) -> bool) -> Option<usize> {
        let all: Vec<usize> = self.collect();
        all.into_iter().rev().find(|at| fits(at))
    }
}

impl<T: Iterator<Item = usize>> RevFind for T {}

fn replace(value: &str, pattern: &str, with: &str, all: bool) -> String {
    if value.len() > MAX_SEARCHED_LEN || pattern.is_empty() {
        return value.to_owned();
    }
    // Plain text is looked for as it is.
    if !pattern.contains(['*', '?', '[']) {
        let plain: String = pattern.replace('\\', "");
        return if all { value.replace(&plain, with) } else { value.replacen(&plain, with, 1) };
    }
    let chars: Vec<char> = value.chars().collect();
    let (mut out, mut at) = (String::new(), 0);
    let mut left = if all { chars.len().min(256) } else { 1 };
    while at < chars.len() {
        let rest = chars.get(at..).unwrap_or_default();
        let found = (1..=rest.len().min(256)).rev().find(|length| {
            let text: String = rest.iter().take(*length).collect();
            left > 0 && matches(pattern, &text)
        });
        match found {
            Some(length) => {
                out.push_str(with);
                at += length;
                left -= 1;
            }
            None => {
                out.extend(rest.first());
                at += 1;
            }
        }
    }
    out
}

fn slice(value: &str, start: i64, length: Option<i64>) -> String {
    let all = i64::try_from(value.chars().count()).unwrap_or(i64::MAX);
    let from = if start < 0 { all.saturating_add(start) } else { start };
    if from < 0 || from > all {
        return String::new();
    }
    let to = match length {
        Some(length) if length < 0 => all.saturating_add(length),
        Some(length) => from.saturating_add(length),
        None => all,
    };
    let (from, to) = (usize::try_from(from).unwrap_or(0), usize::try_from(to).unwrap_or(0));
    value.chars().skip(from).take(to.saturating_sub(from)).collect()
}
