//! Places in a text that lie between two characters.
//!
//! Goes in: any place. Comes out: the nearest one at which the text may be cut. Never: a panic.

/// Returns the last boundary at or before a place.
pub(in crate::shell) fn before(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// Returns the first boundary at or behind a place.
pub(in crate::shell) fn behind(text: &str, at: usize) -> usize {
    (at..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_character_is_cut() {
        assert_eq!([0, 1, 2, 3, 9].map(|at| before("aéb", at)), [0, 1, 1, 3, 4]);
        assert_eq!([0, 1, 2, 3, 9].map(|at| behind("aéb", at)), [0, 1, 3, 3, 4]);
    }
}
