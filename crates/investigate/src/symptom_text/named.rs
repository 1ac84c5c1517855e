//! Whether words name something whose name is known.

/// Tells whether a text holds a name as a word of its own.
#[must_use]
pub fn names(text: &str, name: &str) -> bool {
    let (text, name) = (text.to_lowercase(), name.to_lowercase());
    let is_part = |char: char| char.is_alphanumeric() || "-_".contains(char);
    text.match_indices(&name).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let mut behind = text.get(at + name.len()..).unwrap_or_default().chars();
        // A full stop ends a sentence, or goes on with a domain.
        let goes_on = match (behind.next(), behind.next()) {
            (Some('.'), Some(next)) => next.is_alphanumeric(),
            (Some(next), _) => is_part(next),
            (None, _) => false,
        };
        !before.is_some_and(|before| is_part(before) || before == '.') && !goes_on
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_word_of_its_own() {
        for text in ["web-1 is slow", "from WEB-1.", "(web-1)", "web-1:80"] {
            assert!(names(text, "web-1"), "{text}");
        }
        for text in ["web-10 is slow", "my-web-1", "web-1.example.com", "xweb-1", "web"] {
            assert!(!names(text, "web-1"), "{text}");
        }
    }
}
