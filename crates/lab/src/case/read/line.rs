//! Where in a text something stands.

use std::ops::Range;

/// Returns the line of a place, from 1.
pub(super) fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

/// Returns the line in which a field stands: the one in the range that an error speaks of, else the first of the range.
pub(super) fn line_of_field(text: &str, range: Range<usize>, error: &str) -> usize {
    let first = line_of(text, range.start);
    // A table of a list reaches to the next one; its range may hold the header alone.
    let rest = text.lines().skip(first - 1);
    let block = rest.enumerate().take_while(|(at, line)| *at == 0 || !line.trim_start().starts_with('['));
    let mut named = error.split('`').skip(1).step_by(2);
    let found = named.find_map(|word| {
        block.clone().find(|(_, line)| {
            line.split_once('=')
                .is_some_and(|(key, value)| key.trim() == word || value.trim().trim_matches('"') == word)
        })
    });
    found.map_or(first, |(at, _)| first + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_where_the_field_is() {
        let text = "id = \"x\"\n\n[[fault]]\nkind = \"route\"\nprefixes = 1\n\n[[fault]]\nprefixes = 2\n";
        let start = text.find("[[fault]]").unwrap();
        assert_eq!(line_of_field(text, start..start + 9, "unknown field `prefixes`"), 5);
        assert_eq!(line_of_field(text, start..start + 9, "missing field `name`"), 3);
    }
}
