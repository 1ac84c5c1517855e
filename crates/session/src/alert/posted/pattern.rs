//! Patterns of `forms.toml`: letters, `#` for a number, `##` for `#` and a number, `*` for anything up to what follows.

/// Returns what stands behind a pattern that a line begins with. Both are in small letters.
pub(super) fn behind<'a>(line: &'a str, pattern: &str) -> Option<&'a str> {
    let mut rest = line;
    let mut left = pattern;
    while let Some(char) = left.chars().next() {
        if let Some(next) = left.strip_prefix("##") {
            rest = number(rest.strip_prefix('#')?)?;
            left = next;
        } else if let Some(next) = left.strip_prefix('#') {
            rest = number(rest)?;
            left = next;
        } else if let Some(next) = left.strip_prefix('*') {
            let stop = next.chars().next()?;
            // The first place from which the rest of the pattern fits.
            return rest
                .char_indices()
                .filter(|(_, char)| *char == stop)
                .find_map(|(at, _)| behind(rest.get(at..)?, next));
        } else {
            rest = rest.strip_prefix(char)?;
            left = left.get(char.len_utf8()..)?;
        }
    }
    // A word ends where the pattern does.
    let glued = pattern.ends_with(char::is_alphanumeric) && rest.starts_with(char::is_alphanumeric);
    (!glued).then_some(rest)
}

fn number(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(|char: char| char.is_ascii_digit());
    (rest.len() < text.len()).then_some(rest)
}

/// Tells whether a text holds words as words of their own.
pub(super) fn holds(text: &str, words: &str) -> bool {
    let is_inside = |char: Option<char>| char.is_some_and(char::is_alphanumeric);
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(words)).map(|at| from + at) {
        let end = at + words.len();
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(end..).and_then(|after| after.chars().next());
        if !is_inside(before) && !is_inside(after) {
            return true;
        }
        from = end;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_stands_for_the_beginning_of_a_line() {
        for (line, pattern, rest) in [
            ("[firing:12] loss", "[firing:#]", Some(" loss")),
            ("[firing:x] loss", "[firing:#]", None),
            ("resolved #4711: loss", "resolved ##:", Some(" loss")),
            ("resolved in 5m 2s: loss", "resolved in *:", Some(" loss")),
            ("problems", "problem", None),
            ("problem web-1", "problem", Some(" web-1")),
            ("[x] [🔴 down] y", "[*] [* down]", Some(" y")),
            ("ok", "ok:", None),
            ("", "*", None),
        ] {
            assert_eq!(behind(line, pattern), rest, "{line} {pattern}");
        }
        assert!(holds("the cpu is hot", "cpu") && !holds("the cpus", "cpu") && !holds("", "cpu"));
    }
}
