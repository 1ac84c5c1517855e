//! The page about the cases: what is asked, what is wrong, how a person sees it.

use super::cases;
use super::fault::CODES;
use super::problem::Problems;

/// Writes the generated part of `demo/README.md`.
///
/// # Errors
/// Fails where a case that comes with the program is broken, which no test lets pass.
pub fn markdown() -> Result<String, Problems> {
    let mut text = String::from(
        "| case | what has to be found | a person sees it with | and there |\n|---|---|---|---|\n",
    );
    for case in cases::all()? {
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
    text.push_str(
        "| `no_drift` | an `effective` baseline, and nothing that changes the effective state after it |\n",
    );
    Ok(text)
}

/// A bar would end the cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
