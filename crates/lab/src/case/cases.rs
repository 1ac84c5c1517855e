//! The cases that come with the program.

use super::fault::{CLUSTER_CODES, CODES, DOCUMENT_CODES};
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

/// Cases about services beside the machines, for whoever picks in the demo; no scoreboard has them.
pub const SERVICE_CASES: [(&str, &str); 4] = [
    ("stopped", include_str!("../../services/stopped.toml")),
    ("outbound", include_str!("../../services/outbound.toml")),
    ("ports", include_str!("../../services/ports.toml")),
    ("pods", include_str!("../../services/pods.toml")),
];

/// Returns the names of everything that comes with the program.
pub fn names() -> impl Iterator<Item = &'static str> {
    CASES.iter().chain(&SERVICE_CASES).map(|(name, _)| *name)
}

/// Returns the text of a case that comes with the program, by its name in either case.
#[must_use]
pub fn embedded(name: &str) -> Option<&'static str> {
    CASES
        .iter()
        .chain(&SERVICE_CASES)
        .find(|(known, _)| known.eq_ignore_ascii_case(name))
        .map(|(_, text)| *text)
}

/// Reads every case that comes with the program.
///
/// # Errors
/// Fails where one of them is broken, which no test lets pass.
pub(super) fn all() -> Result<Vec<Case>, Problems> {
    CASES.iter().map(|(_, text)| Case::read(text)).collect()
}

/// Writes the generated part of `demo/README.md`.
///
/// # Errors
/// Fails where a case that comes with the program is broken, which no test lets pass.
pub fn markdown() -> Result<String, Problems> {
    let mut text = String::from(
        "| case | what has to be found | a person sees it with | and there |\n|---|---|---|---|\n",
    );
    for case in all()? {
        let pairs: Vec<String> = case
            .phases
            .iter()
            .flat_map(|phase| &phase.expected)
            .map(|pair| format!("`{} {}`", pair.fault, pair.object))
            .collect();
        let pairs = if pairs.is_empty() { "nothing is wrong".to_owned() } else { pairs.join("<br>") };
        for (at, seen) in case.seen.iter().enumerate() {
            let (id, pairs) = if at == 0 {
                (format!("**{}** {}", case.id.to_uppercase(), case.title), pairs.clone())
            } else {
                (String::new(), String::new())
            };
            text.push_str(&format!(
                "| {id} | {pairs} | `{}` | `{}` |\n",
                cell(&seen.sight.command()),
                cell(&seen.shows)
            ));
        }
    }
    text.push_str("\n| fault code | `kind` that injects it |\n|---|---|\n");
    for (code, kind) in CODES {
        text.push_str(&format!("| `{code}` | `{kind}` |\n"));
    }
    for code in DOCUMENT_CODES {
        text.push_str(&format!("| `{code}` | documents of a `[[change]]` |\n"));
    }
    for (code, kind) in CLUSTER_CODES {
        text.push_str(&format!("| `{code}` | `{kind}` of a `[[kubernetes.fault]]` |\n"));
    }
    text.push_str(
        "| `no_drift` | an `effective` baseline, and nothing that changes the effective state after it |\n",
    );
    Ok(text)
}

/// A bar would end the cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
