//! `run_command`: a command through the gate. Nothing that a client says is consent.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::definition::{Definition, Finding, Work, arguments};
use crate::cli::mcp::answer::Found;
use crate::cli::mcp::call::Call;
use crate::cli::mcp::hint::Runs;
use crate::cli::mcp::job::listened;
use crate::cli::mcp::schema::{self, any, maybe, number, object, text, whole, words};
use crate::cli::mcp::workplace::{WAIT, Workplace};
use ghost_base::{Digest, SessionId};
use ghost_shell::{Action, Approver, CancelSignal, Response, Verdict};

/// The tool.
pub(super) const TOOL: Definition = Definition {
    name: "run_command",
    title: "Run a command behind the gate",
    description: "Proposes one shell command with the reason for it. SAFE commands run at once in a sandbox; BLOCKED ones never run, in no spelling; what needs a human's consent is asked about in Slack where this server may ask, and does not run without it, whatever the client or its user says. Where nobody has answered after `wait_seconds`, `status` is `waiting` and `approval.id` finds it again with approval_status; it runs once somebody approves it. A refusal is an answer: read `status`, `reason` and `approval`, and do not propose the same command again.",
    runs: Runs::Anything,
    lasts: asks,
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
    /// How long to wait for a human's answer, in seconds; 50 unless said.
    #[schemars(range(min = 0, max = 86_400))]
    wait_seconds: Option<u64>,
}

/// Tells whether a human would be asked.
fn asks(place: &Workplace, given: &Value) -> bool {
    let command = given.get("command").and_then(Value::as_str);
    command.is_some_and(|command| is_asked(place, command).unwrap_or(false))
}

fn is_asked(place: &Workplace, command: &str) -> anyhow::Result<bool> {
    if !place.approvals.asks() {
        return Ok(false);
    }
    let gate = place.setup.shell(place.session.clone(), None)?;
    Ok(gate.judge(command.trim())?.verdict == Verdict::Risky)
}

fn start(call: Call) -> Finding {
    Box::pin(run(call))
}

async fn run(mut call: Call) -> anyhow::Result<Found> {
    let input: Input = arguments(std::mem::take(&mut call.given))?;
    let place = Arc::clone(&call.place);
    if !is_asked(&place, &input.command)? {
        let document = ran(&place, &input, place.approvals.nobody_waits(), call.cancel).await?;
        return Ok(found(document));
    }
    // Exactly the same, proposed while it is waited for, is the same question.
    let job = Digest::of_fields(["run_command", input.command.as_str()]).to_string();
    let wait = input.wait_seconds.map_or(WAIT, Duration::from_secs);
    let attendance = place.commands.attend(&job, {
        let (place, job) = (Arc::clone(&place), job.clone());
        let input = Input { command: input.command.clone(), reasoning: input.reasoning.clone(), ..input };
        move |speaker, leave| {
            place.pending.forget(&job);
            async move {
                let ended = async {
                    let approver = place.approver(&job, leave.clone(), move |line| speaker.say(line))?;
                    ran(&place, &input, approver, leave).await
                };
                ended.await.map(Arc::new).map_err(|error| format!("{error:#}"))
            }
        }
    })?;
    let ended = listened(attendance, &mut call, wait).await;
    if call.cancel.is_canceled() {
        // The card says that nobody waits; a later yes counts once, for exactly the same text.
        place.commands.pause(&job);
    }
    match ended {
        Some(Ok(document)) => Ok(found((*document).clone())),
        Some(Err(error)) => anyhow::bail!("{error}"),
        None => Ok(found(waiting(place.pending.named(&job).await.as_ref()))),
    }
}

/// Runs it through the gate, and makes its document.
async fn ran(
    place: &Workplace,
    input: &Input,
    approver: Arc<dyn Approver>,
    cancel: CancelSignal,
) -> anyhow::Result<Value> {
    let seconds = input.timeout_seconds.map(|seconds| seconds.clamp(1, MAX_SECONDS));
    let shell = place.setup.shell(place.session.clone(), seconds)?.approver(approver).build()?;
    let response = shell.run_until(&input.command, &input.reasoning, cancel).await;
    let mut document = serde_json::to_value(&response)?;
    if let Some(fields) = document.as_object_mut() {
        let job = Digest::of_fields(["run_command", input.command.as_str()]).to_string();
        let id = place.pending.known(&job);
        let state = state(&response, place.approvals.asks());
        fields.insert(
            "approval".to_owned(),
            json!({ "state": state, "id": id.as_ref().map(SessionId::as_str) }),
        );
    }
    Ok(document)
}

fn found(document: Value) -> Found {
    Found::free(document, &["output", "stderr"])
}

/// What is known while a human is asked.
fn waiting(id: Option<&SessionId>) -> Value {
    let reason = match id {
        Some(id) => format!(
            "A human is asked in Slack. It runs once somebody approves it, as long as this server runs: approval_status with {id} says what became of it."
        ),
        None => "A human is being asked in Slack. Propose exactly the same again to learn what became of it."
            .to_owned(),
    };
    json!({
        "status": "waiting", "classification": "RISKY", "action": null, "exit_code": null, "output": "", "stderr": "", "error": null,
        "audit_id": null, "duration_seconds": null, "output_metadata": {}, "rule": null, "reason": reason,
        "approval": { "state": "waiting", "id": id.map(SessionId::as_str) },
    })
}

/// Says in a word what became of the question whether it may run.
fn state(response: &Response, asks: bool) -> &'static str {
    match response.action {
        Action::AutoApproved => "not_needed",
        Action::Blocked => "blocked",
        Action::UserApproved | Action::UserModified => "approved",
        Action::UserDenied if asks => "denied",
        // Nobody can be asked from here.
        Action::UserDenied => "not_asked",
        Action::UserAbandoned => "given_up",
        Action::Expired => "expired",
    }
}

fn output() -> Value {
    let states =
        ["not_needed", "blocked", "approved", "denied", "not_asked", "given_up", "expired", "waiting"];
    let approval = object(&[("state", words(&states)), ("id", maybe(text()))]);
    let actions = words(&[
        "auto_approved",
        "user_approved",
        "user_denied",
        "user_modified",
        "user_abandoned",
        "expired",
        "blocked",
    ]);
    object(&[
        ("status", words(&["completed", "denied", "error", "waiting"])),
        ("classification", words(&["SAFE", "RISKY", "BLOCKED"])),
        ("action", maybe(actions)),
        ("exit_code", maybe(whole())),
        ("output", text()),
        ("stderr", text()),
        ("error", maybe(text())),
        ("audit_id", maybe(text())),
        ("duration_seconds", maybe(number())),
        ("output_metadata", any()),
        ("rule", maybe(text())),
        ("reason", text()),
        ("approval", approval),
    ])
}
