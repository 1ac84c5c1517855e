//! Scripts for a guest: lists whose commands only read and come to an end.

use super::cost::Cost;
use super::list;
use crate::policy::{Policy, Refusal};
use crate::text::{self, Need};

/// Joins the values of `--scripts`, each of which is a line; `None` where one of them runs on into the next.
pub(super) fn join(lines: &[&str]) -> Option<String> {
    (!lines.iter().any(|line| line.ends_with('\\'))).then(|| lines.join("\n"))
}

/// Judges a script; every command in it has to be one that only reads. Returns what they take together.
pub(super) fn judge(policy: &Policy, script: &str) -> Result<Cost, Refusal> {
    if let Some((_, what)) = text::oddity(script) {
        return Err(Refusal::new("script", format!("the script holds {what}")));
    }
    if script.contains('\r') {
        return Err(Refusal::new("script", "the script holds a control character"));
    }
    // A real shell reads it: no backtick is literal, and `?` may stand for a file.
    let script = text::read(script);
    if let Some(opened) = script.broken {
        return Err(Refusal::new("script", format!("{opened} is not closed in the script")));
    }
    if script.commands.is_empty() {
        return Err(Refusal::missing("a script"));
    }
    let rows = script.plain_list().filter(|_| !script.needs.has(Need::Pattern) && !script.quoted_line_end);
    let rows = rows.ok_or_else(|| {
        Refusal::new(
            "script",
            "the script holds more than plain commands, chains, pipes and harmless redirections",
        )
    })?;
    // Sums that are beyond the bounds already are not worth a look at every command.
    Cost::of_parts(script.parts()).check(0)?;
    match list::judge(policy, &script, &rows, true) {
        Ok(allowed) => Ok(allowed.cost),
        Err(refused) => Err(refused
            .into_iter()
            .next()
            .map_or_else(|| Refusal::missing("a command"), |refused| refused.refusal)),
    }
}
