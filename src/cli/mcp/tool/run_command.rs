//! `run_command`: a command through the gate. Nothing that a client says is consent.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::definition::{Definition, Finding, Work, arguments};
use crate::cli::hook::NobodyAsked;
use crate::cli::mcp::answer::Found;
use crate::cli::mcp::hint::Runs;
use crate::cli::mcp::schema::{self, any, maybe, number, object, text, whole, words};
use crate::cli::mcp::workplace::Workplace;
use ghost_shell::{Action, CancelSignal, Response};

/// The tool.
pub(super) const TOOL: Definition = Definition {
    name: "run_command",
    title: "Run a command behind the gate",
    description: "Proposes one shell command with the reason for it. SAFE commands run at once in a sandbox; BLOCKED ones never run, in no spelling; what needs a human's consent does not run, whatever the client or its user says. A refusal is an answer: read `status`, `reason` and `approval`, and do not propose the same command again.",
    runs: Runs::Anything,
    input: schema::input::<Input>,
    output,
    work: Work::Task(start),
};

/// Longer than a day nothing runs.
const MAX_SECONDS: u64 = 86_400;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The whole command, as one text.
    command: String,
    /// Why it is wanted; a human who is asked sees it word for word.
    reasoning: String,
    /// How long it may run, in seconds; as configured unless said.
    #[schemars(range(min = 1, max = 86_400))]
    timeout_seconds: Option<u64>,
}

fn start(place: Arc<Workplace>, given: Value, cancel: CancelSignal) -> Finding {
    Box::pin(run(place, given, cancel))
}

async fn run(place: Arc<Workplace>, given: Value, cancel: CancelSignal) -> anyhow::Result<Found> {
    let input: Input = arguments(given)?;
    let seconds = input.timeout_seconds.map(|seconds| seconds.clamp(1, MAX_SECONDS));
    let shell = place.setup.shell(place.session.clone(), seconds)?.approver(Arc::new(NobodyAsked)).build()?;
    let response = shell.run_until(&input.command, &input.reasoning, cancel).await;
    let mut document = serde_json::to_value(&response)?;
    if let Some(fields) = document.as_object_mut() {
        fields.insert("approval".to_owned(), json!({ "state": state(&response), "id": null }));
    }
    Ok(Found { document, free: &["output", "stderr"] })
}

/// Says in a word what became of the question whether it may run.
fn state(response: &Response) -> &'static str {
    match response.action {
        Action::AutoApproved => "not_needed",
        Action::Blocked => "blocked",
        Action::UserApproved | Action::UserModified => "approved",
        // Nobody can be asked from here.
        Action::UserDenied => "not_asked",
        Action::UserAbandoned => "given_up",
        Action::Expired => "expired",
    }
}

fn output() -> Value {
    let approval = object(&[
        ("state", words(&["not_needed", "blocked", "approved", "not_asked", "given_up", "expired"])),
        ("id", maybe(text())),
    ]);
    object(&[
        ("status", words(&["completed", "denied", "error"])),
        ("classification", words(&["SAFE", "RISKY", "BLOCKED"])),
        (
            "action",
            words(&[
                "auto_approved",
                "user_approved",
                "user_denied",
                "user_modified",
                "user_abandoned",
                "expired",
                "blocked",
            ]),
        ),
        ("exit_code", maybe(whole())),
        ("output", text()),
        ("stderr", text()),
        ("error", maybe(text())),
        ("audit_id", text()),
        ("duration_seconds", maybe(number())),
        ("output_metadata", any()),
        ("rule", text()),
        ("reason", text()),
        ("approval", approval),
    ])
}
