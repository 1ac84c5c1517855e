//! The dialog in which a command is changed, with the verdict on what stands there.

use serde_json::Value;

use crate::bot::show::block::{Line, say};
use crate::bot::show::card::tier;
use crate::bot::show::modal::form::{Field, errors, field, filled, meta, modal};
use crate::bot::show::text::{head, prose, short};
use crate::bot::show::{FormError, Meta};
use ghost_investigate::report::plain;
use ghost_shell::{Ruling, Verdict};
use ghost_slack::arrive::View;

const CALLBACK: &str = "modify";
const COMMAND: &str = "command";

/// A field of Slack holds no more.
const MAX_INPUT_LEN: usize = 3_000;

/// The verdict on a command, as the dialog shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preview {
    pub verdict: Verdict,
    /// The number of the tier.
    pub tier: u8,
    pub rule: String,
    /// Why.
    pub reason: String,
}

impl From<&Ruling> for Preview {
    fn from(ruling: &Ruling) -> Self {
        Self {
            verdict: ruling.verdict,
            tier: ruling.tier.number(),
            rule: ruling.rule.to_string(),
            reason: ruling.reason.to_string(),
        }
    }
}

/// A change as somebody submitted it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Modified {
    /// Where it belongs.
    pub meta: Meta,
    /// The whole new command.
    pub command: String,
}

/// Returns the dialog: the command in a field, below it the verdict on what stands there now.
///
/// It is both opened and updated with this: the field keeps what was typed as long as its name stays. A command that a field
/// cannot hold is not filled in, because a cut one could be submitted.
#[must_use]
pub fn modify_modal(meta: &Meta, command: &str, verdict: Option<&Preview>) -> Value {
    let fits = head(command, MAX_INPUT_LEN).1 == 0;
    let hint = if fits {
        "It is judged as you type. What can change something gets a card of its own; nothing runs unseen."
    } else {
        "The command is too long for a field of Slack, so it is not filled in. Write the whole new command."
    };
    let input = Field {
        name: COMMAND,
        label: "Command",
        hint,
        initial: if fits { command } else { "" },
        least: 1,
        most: MAX_INPUT_LEN,
        live: true,
    };
    let mut blocks = vec![field(&input)];
    blocks.extend(verdict.map(|preview| say(judged(preview, command))));
    modal(CALLBACK, "Change the command", Some("Propose"), meta, blocks)
}

fn judged(preview: &Preview, command: &str) -> Line {
    let (sign, means) = match preview.verdict {
        Verdict::Safe => ("✔", "only reads; it runs as soon as you propose it"),
        Verdict::Risky => ("▲", "needs an approval; a new card follows"),
        Verdict::Blocked => ("✘", "never runs, whoever approves"),
    };
    let line = Line::new()
        .text(&format!("{sign} "))
        .bold(preview.verdict.as_str())
        .text(&format!(" · {means}"))
        .below(Line::new().code(&short(&preview.rule, 80)).text(&format!(
            " (tier {}, {}): {}",
            preview.tier,
            tier(preview.tier),
            prose(&preview.reason, 600)
        )));
    let (start, _) = head(command, MAX_INPUT_LEN);
    if plain(start) == start.replace('\n', r"\u{a}") {
        return line;
    }
    line.below(Line::new().text("It holds characters that nobody can see; the card will spell them out."))
}

/// Returns the answer to a submission that cannot be taken: the command would never run. `None` where it can.
#[must_use]
pub fn modify_errors(preview: &Preview) -> Option<Value> {
    match preview.verdict {
        Verdict::Safe | Verdict::Risky => None,
        Verdict::Blocked => {
            let problem = format!(
                "BLOCKED, it never runs: {} ({})",
                prose(&preview.reason, 200),
                short(&preview.rule, 60)
            );
            Some(errors(COMMAND, &problem))
        }
    }
}

/// Reads the dialog back.
///
/// # Errors
/// Fails where it is another dialog, or the field is empty.
pub fn read_modify(view: &View) -> Result<Modified, FormError> {
    let meta = meta(view, CALLBACK)?;
    let command = filled(view, COMMAND);
    if command.trim().is_empty() {
        let problem = "Write the whole command, or cancel and deny.".to_owned();
        return Err(FormError::Field { field: COMMAND, problem });
    }
    Ok(Modified { meta, command: command.to_owned() })
}

/// Reads what stands in the field while it is typed, from the view of the press.
///
/// # Errors
/// Fails where it is another dialog.
pub fn typed_command(view: &View) -> Result<Modified, FormError> {
    Ok(Modified { meta: meta(view, CALLBACK)?, command: filled(view, COMMAND).to_owned() })
}
