//! Where a name stands in what was said.

/// Words that may stand between those and a name.
const BETWEEN: &[&str] = &[
    "the", "vm", "host", "server", "machine", "der", "dem", "den", "die", "das", "la", "el", "le", "il",
    "our", "a", "ip", "address",
];

/// Finds a name that no letter of a name touches.
pub(super) fn occurrence(text: &str, name: &str) -> Option<usize> {
    let touches = |char: char| char.is_ascii_alphanumeric() || "-_".contains(char);
    text.match_indices(name).map(|(at, _)| at).find(|at| {
        let before = text.get(..*at).and_then(|before| before.chars().next_back());
        let behind = text.get(at + name.len()..).and_then(|behind| behind.chars().next());
        !before.is_some_and(|char| touches(char) || char == '.') && !behind.is_some_and(touches)
    })
}

/// Tells whether a name stands behind one of some words, with nothing much between.
pub(super) fn stands_behind(text: &str, name: &str, marks: &[&str]) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        // A clause that ended says nothing about what follows.
        let clause = before.rsplit([',', ';', '.', ':', '\n']).next().unwrap_or_default();
        let clause = if clause.trim().is_empty() && before.ends_with('(') { "" } else { clause };
        let words = clause.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty());
        let last = words.rev().find(|word| !BETWEEN.contains(word) || marks.contains(word));
        last.is_some_and(|word| marks.contains(&word))
    })
}
