//! `classify_command`: what the gate would say, without running anything.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::definition::{Definition, Work, arguments, soon};
use crate::cli::mcp::answer::Found;
use crate::cli::mcp::hint::Runs;
use crate::cli::mcp::schema::{self, list, maybe, object, text, whole, words};
use crate::cli::mcp::workplace::Workplace;
use ghost_tools::shell::Classified;

/// The tool.
pub(super) const TOOL: Definition = Definition {
    name: "classify_command",
    title: "Judge a command",
    description: "Says what the safety gate thinks of a shell command, without running it: SAFE runs at once, RISKY needs a human's consent, BLOCKED never runs in any spelling. `at_gate` is what run_command would do with it on this machine.",
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
    let ruling = place.setup.policy()?.classify(&command);
    let gate = place.setup.shell(place.session.clone(), None)?.judge(command.trim())?;
    let mut document = serde_json::to_value(Classified::new(&command, &ruling))?;
    if let Some(fields) = document.as_object_mut() {
        let at_gate = json!({ "verdict": gate.verdict, "rule": gate.rule, "reason": gate.reason });
        fields.insert("at_gate".to_owned(), at_gate);
    }
    Ok(document.into())
}

fn output() -> Value {
    let verdict = || words(&["SAFE", "RISKY", "BLOCKED"]);
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
        ("at_gate", object(&[("verdict", verdict()), ("rule", text()), ("reason", text())])),
    ])
}
