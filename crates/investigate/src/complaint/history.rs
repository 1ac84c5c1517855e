//! What was, and is not what is complained about: `like last week with A`.

use super::clause::{has_verdict, names_something};
use super::vocabulary::WORDS;

/// `like last week with A: …`, `…, similar to the one where A could not reach B`: where what was begins, and where it ends.
pub(super) fn history_cuts(text: &str) -> Vec<usize> {
    let mut cuts = Vec::new();
    for place in WORDS.history.like.find_all(text) {
        let rest = text.get(place.end..).unwrap_or_default();
        let end = rest.char_indices().find(|(at, char)| {
            let gap = rest.get(at + char.len_utf8()..).and_then(|text| text.chars().next());
            ",;:，、；：)".contains(*char) && gap.is_none_or(|gap| gap.is_whitespace() || !gap.is_ascii())
        });
        let end = end.map_or(text.len(), |(at, char)| place.end + at + char.len_utf8());
        let phrase = text.get(place.end..end).unwrap_or_default();
        let before = text.get(..place.start).unwrap_or_default();
        // `like last week A cannot reach B` is what is, and `like last week when A could not reach B` what was.
        let is_now = has_verdict(phrase) && !WORDS.history.when.are_in(phrase) && !has_verdict(before);
        if !is_now && names_something(phrase) {
            cuts.extend([place.start, end].into_iter().filter(|at| (1..text.len()).contains(at)));
        }
    }
    cuts
}

/// Tells whether a clause is about what was.
pub(super) fn is_history(text: &str) -> bool {
    let text = text.trim_start_matches(|char: char| !char.is_alphanumeric());
    let history = &WORDS.history;
    let like = history.like.find_all(text).into_iter().find(|place| place.start == 0);
    let is_like = like.is_some_and(|place| {
        let rest = text.get(place.end..).unwrap_or_default();
        !has_verdict(rest) || history.when.are_in(rest)
    });
    is_like || history.past.begin(text)
}
