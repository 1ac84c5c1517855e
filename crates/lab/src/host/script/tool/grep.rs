//! `grep`.

use regex::bytes::{Regex, RegexBuilder};

use super::options::{Options, lines};
use crate::host::script::run::{Io, Shell};

pub(super) fn grep(shell: &mut Shell<'_>, arguments: &[String], io: &Io) -> u8 {
    let long = ["color", "colour", "line-buffered", "quiet", "count", "invert-match", "ignore-case", "text"];
    let mut options = match Options::read(arguments, "EFGPivcqonwxsahHrIl", "emABC", &long) {
        Ok(options) => options,
        Err(what) => return shell.complain(io, &format!("grep: {what}"), 2),
    };
    let mut language = 'G';
    for letter in ['E', 'F', 'G', 'P'] {
        if options.has(&letter.to_string()) {
            language = letter;
        }
    }
    let mut patterns: Vec<String> =
        options.values.iter().filter(|(name, _)| name == "e").map(|(_, value)| value.clone()).collect();
    if patterns.is_empty() {
        if options.rest.is_empty() {
            return shell.complain(io, "Usage: grep [OPTION]... PATTERNS [FILE]...", 2);
        }
        patterns.push(options.rest.remove(0));
    }
    let (whole, word) = (options.has("x"), options.has("w"));
    let each = patterns.iter().flat_map(|pattern| pattern.split('\n')).map(|pattern| {
        let pattern = translate(pattern, language);
        if whole {
            format!("^(?:{pattern})$")
        } else if word {
            format!(r"\b(?:{pattern})\b")
        } else {
            pattern
        }
    });
    let all = each.map(|pattern| format!("(?:{pattern})")).collect::<Vec<_>>().join("|");
    let regex = compile(&all, options.has("i") || options.has("ignore-case"));
    let Some(regex) = regex else {
        return shell.complain(io, &format!("grep: Invalid regular expression: {}", patterns.join(" ")), 2);
    };
    let (inputs, mut code) = shell.inputs("grep", &options.rest, io);
    code *= 2;
    let named = (options.rest.len() > 1 && !options.has("h")) || options.has("H");
    let around = |name: &str| {
        options
            .value(name)
            .or_else(|| options.value("C"))
            .and_then(|text| text.parse::<usize>().ok())
            .unwrap_or(0)
    };
    let (before, after) = (around("B"), around("A"));
    let most = options.value("m").and_then(|text| text.parse::<usize>().ok()).unwrap_or(usize::MAX);
    let inverted = options.has("v") || options.has("invert-match");
    let mut any = false;
    for (name, content) in inputs {
        let all = lines(&content);
        let hits: Vec<usize> = all
            .iter()
            .enumerate()
            .filter(|(_, line)| regex.is_match(line) != inverted)
            .map(|(at, _)| at)
            .take(most)
            .collect();
        any |= !hits.is_empty();
        if options.has("q") || options.has("quiet") {
            continue;
        }
        let prefix = if named { format!("{name}:") } else { String::new() };
        if options.has("l") {
            if !hits.is_empty() {
                shell.say(io, &name);
            }
            continue;
        }
        if options.has("c") || options.has("count") {
            shell.say(io, &format!("{prefix}{}", hits.len()));
            continue;
        }
        let mut shown = 0;
        for hit in hits {
            let begin = hit.saturating_sub(before).max(shown);
            if (before > 0 || after > 0) && shown > 0 && begin > shown {
                shell.say(io, "--");
            }
            for at in begin..=(hit + after).min(all.len().saturating_sub(1)) {
                let line = all.get(at).copied().unwrap_or_default();
                let prefix = if options.has("n") { format!("{prefix}{}:", at + 1) } else { prefix.clone() };
                if options.has("o") && !inverted {
                    for found in regex.find_iter(line).filter(|found| !found.is_empty()) {
                        shell.put(io, 1, prefix.as_bytes());
                        shell.put(io, 1, found.as_bytes());
                        shell.put(io, 1, b"\n");
                    }
                } else if at >= shown || shown == 0 {
                    shell.put(io, 1, prefix.as_bytes());
                    shell.put(io, 1, line);
                    shell.put(io, 1, b"\n");
                }
                shown = at + 1;
            }
        }
    }
    if code != 0 && !any { 2 } else { u8::from(!any) }
}

/// Makes a pattern ready; one that would be too large is none.
pub(super) fn compile(pattern: &str, blind: bool) -> Option<Regex> {
    RegexBuilder::new(pattern).case_insensitive(blind).unicode(false).size_limit(1 << 20).build().ok()
}

/// Writes a basic (`G`), extended (`E`), Perl (`P`) or fixed (`F`) pattern in the one language of the reader.
pub(super) fn translate(pattern: &str, language: char) -> String {
    match language {
        'F' => return regex::escape(pattern),
        'P' => return pattern.to_owned(),
        _ => {}
    }
    let mut out = String::new();
    let mut chars = pattern.chars().peekable();
    let mut first = true;
    while let Some(char) = chars.next() {
        match char {
            '\\' => match chars.next() {
                Some(char @ ('(' | ')' | '{' | '}' | '|' | '+' | '?')) if language == 'G' => out.push(char),
                Some('<' | '>') => out.push_str(r"\b"),
                Some(char) if char.is_ascii_alphanumeric() => {
                    out.push('\\');
                    out.push(char);
                }
                Some(char) => out.push_str(&regex::escape(&char.to_string())),
                None => out.push_str(r"\\"),
            },
            '[' => {
                // A bracket as a shell's tools read it: nothing in it is escaped.
                out.push('[');
                if chars.peek() == Some(&'^') {
                    chars.next();
                    out.push('^');
                }
                let mut begun = true;
                while let Some(char) = chars.next() {
                    if char == ']' && !begun {
                        break;
                    }
                    begun = false;
                    if char == '[' && chars.peek() == Some(&':') {
                        out.push('[');
                        for char in chars.by_ref() {
                            out.push(char);
                            if char == ']' {
                                break;
                            }
                        }
                        continue;
                    }
                    if matches!(char, '\\' | '[' | ']' | '&' | '~' | '^') {
                        out.push('\\');
                    }
                    out.push(char);
                }
                out.push(']');
            }
            '*' if first && language == 'G' => out.push_str(r"\*"),
            '(' | ')' | '{' | '}' | '|' | '+' | '?' if language == 'G' => {
                out.push('\\');
                out.push(char);
            }
            char => out.push(char),
        }
        first = char == '^' && first;
    }
    out
}
