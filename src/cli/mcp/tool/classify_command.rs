//! `classify_command`: what the gate would say, without running anything.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::definition::{Definition, Work, arguments, soon};
use crate::cli::mcp::answer::Found;
use crate::cli::mcp::hint::Runs;
use crate::cli::mcp::schema::{self, list, maybe, object, text, whole, words};
use crate::cli::mcp::workplace::Workplace;
use ghost_shell::Ruling;
use ghost_tools::shell::Classified;

/// The tool.
pub(super) const TOOL: Definition = Definition {
    name: "classify_command",
    title: "Judge a command",
    description: "Says what the safety gate thinks of a shell command, without running it: SAFE runs at once, RISKY needs a human's consent, BLOCKED never runs in any spelling. `at_gate` is what run_command would do with it on this machine, `in_a_shell` what holds if a shell of yours runs it.",
    runs: Runs::Nothing,
    lasts: soon,
    input: schema::input::<Input>,
    output,
    work: Work::Thread(run),
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The whole command, as one text.
    command: String,
}

fn run(place: &Workplace, given: Value) -> anyhow::Result<Found> {
    let Input { command } = arguments(given)?;
    let policy = place.setup.policy()?;
    let ruling = policy.classify(&command);
    let gate = place.setup.shell(place.session.clone(), None)?.judge(command.trim())?;
    let mut document = serde_json::to_value(Classified::new(&command, &ruling))?;
    if let Some(fields) = document.as_object_mut() {
        let shown = |ruling: &Ruling| json!({ "verdict": ruling.verdict, "rule": ruling.rule, "reason": ruling.reason });
        fields.insert("at_gate".to_owned(), shown(&gate));
        fields.insert("in_a_shell".to_owned(), shown(&policy.for_caller(command.trim(), gate)));
    }
    Ok(document.into())
}

fn output() -> Value {
    let verdict = || words(&["SAFE", "RISKY", "BLOCKED"]);
    let place = || object(&[("verdict", verdict()), ("rule", text()), ("reason", text())]);
    object(&[
        ("command", text()),
        ("verdict", verdict()),
        ("tier", whole()),
        ("rule", text()),
        ("reason", text()),
        ("argv", maybe(list(text()))),
        ("pipeline", maybe(list(list(text())))),
        ("impact", maybe(words(&["measurement", "change", "outage"]))),
        ("destinations", list(text())),
        ("at_gate", place()),
        ("in_a_shell", place()),
    ])
}
