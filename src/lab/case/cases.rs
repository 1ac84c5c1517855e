//! The cases that come with the program.

use super::problem::Problems;
use super::story::Case;

/// The text of every case, by its name.
pub const CASES: [(&str, &str); 23] = [
    ("a", include_str!("../../../demo/cases/a.toml")),
    ("b", include_str!("../../../demo/cases/b.toml")),
    ("c", include_str!("../../../demo/cases/c.toml")),
    ("d", include_str!("../../../demo/cases/d.toml")),
    ("e", include_str!("../../../demo/cases/e.toml")),
    ("f", include_str!("../../../demo/cases/f.toml")),
    ("g", include_str!("../../../demo/cases/g.toml")),
    ("h", include_str!("../../../demo/cases/h.toml")),
    ("i", include_str!("../../../demo/cases/i.toml")),
    ("j", include_str!("../../../demo/cases/j.toml")),
    ("k", include_str!("../../../demo/cases/k.toml")),
    ("l", include_str!("../../../demo/cases/l.toml")),
    ("m", include_str!("../../../demo/cases/m.toml")),
    ("n", include_str!("../../../demo/cases/n.toml")),
    ("o", include_str!("../../../demo/cases/o.toml")),
    ("p", include_str!("../../../demo/cases/p.toml")),
    ("q", include_str!("../../../demo/cases/q.toml")),
    ("r", include_str!("../../../demo/cases/r.toml")),
    ("s", include_str!("../../../demo/cases/s.toml")),
    ("t", include_str!("../../../demo/cases/t.toml")),
    ("u", include_str!("../../../demo/cases/u.toml")),
    ("v", include_str!("../../../demo/cases/v.toml")),
    ("w", include_str!("../../../demo/cases/w.toml")),
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
