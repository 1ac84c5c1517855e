//! The cases that come with the program.

use super::model::Case;
use super::problem::Problems;

/// The text of every case, by its name.
pub const CASES: [(&str, &str); 23] = [
    ("a", include_str!("../../cases/a.toml")),
    ("b", include_str!("../../cases/b.toml")),
    ("c", include_str!("../../cases/c.toml")),
    ("d", include_str!("../../cases/d.toml")),
    ("e", include_str!("../../cases/e.toml")),
    ("f", include_str!("../../cases/f.toml")),
    ("g", include_str!("../../cases/g.toml")),
    ("h", include_str!("../../cases/h.toml")),
    ("i", include_str!("../../cases/i.toml")),
    ("j", include_str!("../../cases/j.toml")),
    ("k", include_str!("../../cases/k.toml")),
    ("l", include_str!("../../cases/l.toml")),
    ("m", include_str!("../../cases/m.toml")),
    ("n", include_str!("../../cases/n.toml")),
    ("o", include_str!("../../cases/o.toml")),
    ("p", include_str!("../../cases/p.toml")),
    ("q", include_str!("../../cases/q.toml")),
    ("r", include_str!("../../cases/r.toml")),
    ("s", include_str!("../../cases/s.toml")),
    ("t", include_str!("../../cases/t.toml")),
    ("u", include_str!("../../cases/u.toml")),
    ("v", include_str!("../../cases/v.toml")),
    ("w", include_str!("../../cases/w.toml")),
];

/// Returns the text of a case that comes with the program, by its name in either case.
#[must_use]
pub fn embedded(name: &str) -> Option<&'static str> {
    CASES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, text)| *text)
}

/// Reads every case that comes with the program.
///
/// # Errors
/// Fails where one of them is broken, which no test lets pass.
pub(super) fn all() -> Result<Vec<Case>, Problems> {
    CASES.iter().map(|(_, text)| Case::read(text)).collect()
}
