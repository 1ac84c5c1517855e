//! Texts: measured, cut, spelled out, escaped.

use ghost_investigate::report::plain;
use ghost_shell::visible;

/// Escapes data for the one text that Slack interprets: no mention, link or command of Slack begins in it.
pub(super) use ghost_slack::text::escape;

/// Returns how long a text is in the units that Slack counts at worst: those of UTF-16.
pub(super) fn length(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// Takes so many units off the front of a text; returns them and how many characters are left behind.
pub(super) fn head(text: &str, max_units: usize) -> (&str, usize) {
    let mut used = 0;
    let end = text.char_indices().find(|(_, char)| {
        used += char.len_utf16();
        used > max_units
    });
    match end.and_then(|(at, _)| text.split_at_checked(at)) {
        Some((head, rest)) => (head, rest.chars().count()),
        None => (text, 0),
    }
}

/// Splits a text into chunks of at most so many units.
pub(super) fn chunks(text: &str, max_units: usize) -> Vec<&str> {
    let mut chunks = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (chunk, _) = head(rest, max_units.max(2));
        chunks.push(chunk);
        rest = rest.get(chunk.len()..).unwrap_or_default();
    }
    chunks
}

/// Returns data as it is, on its own lines: what nobody can see is spelled out, line breaks stay.
pub(super) fn spelled(data: &str) -> String {
    data.split('\n').map(plain).collect::<Vec<_>>().join("\n")
}

/// Returns data on one line of at most so many units: what nobody can see is spelled out, where something is missing it
/// ends in `…`.
pub(super) fn short(data: &str, max_units: usize) -> String {
    // Spelling makes a text longer, never shorter, so more than this is never shown.
    let (start, _) = head(data, max_units.saturating_add(1));
    let spelled = plain(start);
    match head(&spelled, max_units) {
        (_, 0) => spelled,
        (_, _) => format!("{}…", head(&spelled, max_units.saturating_sub(1)).0.trim_end()),
    }
}

/// Returns prose on one line of at most so many units: line breaks become blanks.
pub(super) fn prose(data: &str, max_units: usize) -> String {
    // Far more than fits, so that a megabyte of blanks is not walked through.
    let (start, left) = head(data, max_units.saturating_mul(4).saturating_add(1));
    let words = start.split_whitespace().collect::<Vec<_>>().join(" ");
    if left > 0 && length(&words) <= max_units {
        short(&format!("{words} …"), max_units)
    } else {
        short(&words, max_units)
    }
}

/// Returns data as prose that keeps its lines, at most so many units of it, and how many characters are missing.
pub(super) fn paragraph(data: &str, max_units: usize) -> (String, usize) {
    let (start, behind) = head(data, max_units);
    let spelled = spelled(start);
    match head(&spelled, max_units) {
        (_, 0) => (spelled, behind),
        // What spelling added pushes something out; the count is then of what is shown spelled.
        (shown, pushed) => (shown.to_owned(), behind.saturating_add(pushed)),
    }
}

/// Returns a command as whoever decides has to see it, at most so many units of it, and how many characters of that are
/// missing.
pub(super) fn command(command: &str, max_units: usize) -> (String, usize) {
    let shown = visible(command);
    let (start, left) = head(&shown, max_units);
    (start.to_owned(), left)
}

/// Returns a command on one line of at most so many units; where something is missing it ends in `…`.
pub(super) fn short_command(command: &str, max_units: usize) -> String {
    let shown = visible(command).replace('\n', "\\u{a}");
    match head(&shown, max_units) {
        (_, 0) => shown,
        (_, _) => format!("{}…", head(&shown, max_units.saturating_sub(1)).0.trim_end()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_cut_says_so() {
        assert_eq!(short("abcdef", 6), "abcdef");
        assert_eq!(short("abcdef", 5), "abcd…");
        assert_eq!(short("a\u{202e}b", 20), r"a\u{202e}b");
        assert_eq!(prose("a\n\n b", 10), "a b");
        assert_eq!(prose(&format!("a{}b", " ".repeat(1_000)), 10), "a …");
        assert_eq!(paragraph("ab\ncd", 3), ("ab\n".to_owned(), 2));
        assert_eq!(command("a\u{3164}b", 20), (r"a\u{3164}b".to_owned(), 0));
        assert_eq!(command(&format!("a{}; b", " ".repeat(3_000)), 40), ("a ⟨3000 spaces⟩ ; b".to_owned(), 0));
        assert_eq!(short_command("a\nb", 20), r"a\u{a}b");
    }

    proptest! {
        #[test]
        fn chunks_are_the_whole(text in any::<String>(), max_units in 2_usize..20) {
            let chunks = chunks(&text, max_units);
            prop_assert!(chunks.iter().all(|chunk| length(chunk) <= max_units && !chunk.is_empty()));
            prop_assert_eq!(chunks.concat(), text.as_str());
        }

        #[test]
        fn nothing_is_longer_than_it_may_be(text in any::<String>(), max_units in 1_usize..40) {
            prop_assert!(length(&short(&text, max_units)) <= max_units);
            prop_assert!(length(&prose(&text, max_units)) <= max_units);
            prop_assert!(length(&paragraph(&text, max_units).0) <= max_units);
        }
    }
}
