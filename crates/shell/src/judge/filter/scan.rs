//! Reading a small program character by character.

/// What is left of a program.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scan<'t> {
    rest: &'t str,
}

impl<'t> Scan<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { rest: text }
    }

    pub(super) fn is_done(self) -> bool {
        self.rest.is_empty()
    }

    /// Returns the text between this place and a later one.
    pub(super) fn taken(self, later: Self) -> &'t str {
        let length = self.rest.len().saturating_sub(later.rest.len());
        self.rest.get(..length).unwrap_or_default()
    }

    pub(super) fn peek(self) -> Option<char> {
        self.rest.chars().next()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let next = chars.next();
        self.rest = chars.as_str();
        next
    }

    /// Takes these characters where they stand next.
    pub(super) fn take(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    pub(super) fn blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }

    /// Takes digits, at least one and no more than could be a number.
    pub(super) fn number(&mut self) -> bool {
        let rest = self.rest.trim_start_matches(|char: char| char.is_ascii_digit());
        let length = self.rest.len() - rest.len();
        self.rest = rest;
        (1..=10).contains(&length)
    }

    /// Takes a name: letters, digits and `_`.
    pub(super) fn name(&mut self) -> &'t str {
        let end = self
            .rest
            .find(|char: char| !char.is_ascii_alphanumeric() && char != '_')
            .unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        self.rest = rest;
        name
    }

    /// Takes a pattern up to the character that ends it, which was not escaped. Where it stands inside `[ ]` programs
    /// differ on whether it ends the pattern, so that it does not end it here either: nothing is taken for read.
    pub(super) fn pattern(&mut self, end: char) -> bool {
        let mut bracket = None;
        let mut length = 0_usize;
        while let Some(next) = self.next() {
            match next {
                '\n' | '\r' => return false,
                '\\' if self.next().is_none_or(|escaped| escaped.is_control()) => return false,
                '\\' => {}
                _ if next == end => return bracket.is_none(),
                '[' if bracket.is_none() => bracket = Some(length),
                // `[]x]` and `[^]x]`: the first one stands for itself to most, and is not worth a guess.
                ']' if bracket.is_some_and(|start| start + 1 == length) => return false,
                '^' if bracket.is_some_and(|start| start + 1 == length) && self.peek() == Some(']') => {
                    return false;
                }
                // `[[:alpha:]]` is the one thing inside brackets that brackets may surround.
                '[' if matches!(self.peek(), Some(':')) => {
                    self.next();
                    if self.name().is_empty() || !self.take(":]") {
                        return false;
                    }
                }
                '[' if matches!(self.peek(), Some('.' | '=')) => return false,
                ']' => bracket = None,
                _ => {}
            }
            length += 1;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_ends_where_every_program_says_so() {
        for (text, rest) in [
            ("a/b", Some("b")),
            (r"a\/b/c", Some("c")),
            ("[ab]/c", Some("c")),
            ("[[:alpha:]_]x/", Some("")),
            (r"\[/c", Some("c")),
            ("a", None),
            ("[/]/c", None),
            ("[a/c", None),
            ("[]a]/c", None),
            ("[^]a]/c", None),
            ("[[.a.]]/", None),
            ("a\n/", None),
            ("a\\", None),
            ("a\\\n/", None),
        ] {
            let mut scan = Scan::new(text);
            assert_eq!(scan.pattern('/').then_some(()).map(|()| scan.rest), rest, "{text:?}");
        }
    }
}
