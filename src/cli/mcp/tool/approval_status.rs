//! `approval_status`: what became of something that waits for a human.

use std::sync::Arc;

use anyhow::Context as _;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::definition::{Definition, Finding, Work, arguments, soon};
use crate::cli::mcp::answer::Found;
use crate::cli::mcp::approval::Asked;
use crate::cli::mcp::call::Call;
use crate::cli::mcp::hint::Runs;
use crate::cli::mcp::schema::{self, any, maybe, object, text, truth, words};
use crate::cli::mcp::workplace::Workplace;
use ghost_base::SessionId;
use ghost_session::outside::{Granted, Standing};

/// The tool.
pub(super) const TOOL: Definition = Definition {
    name: "approval_status",
    title: "What became of an approval",
    description: "Says what became of something that run_command, investigate, capture_start or meter_run asked a human about in Slack: `waiting`, `approved` (a yes that nobody used yet), `used`, `denied` with who and why, `expired` or `refused`. Nothing is approved here. Where the command ran meanwhile, `result` is its result. A yes that comes after everybody stopped waiting counts once, for exactly the same text: call run_command with it again.",
    runs: Runs::Nothing,
    lasts: soon,
    input: schema::input::<Input>,
    output,
    work: Work::Task(start),
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The approval, as `approval.id` of an answer or the progress of a call names it.
    id: String,
}

fn start(call: Call) -> Finding {
    Box::pin(run(call.place, call.given))
}

async fn run(place: Arc<Workplace>, given: Value) -> anyhow::Result<Found> {
    let Input { id } = arguments(given)?;
    let id: SessionId = id.parse().with_context(|| format!("{id:?} is no name of an approval"))?;
    // Whoever asks for it has to have asked for it: names of others lead nowhere.
    let asked = Asked::find(place.setup.data()?, &id)?;
    let standing = if place.approvals.asks() {
        place.approvals.client().await?.standing(&id).await.context("asking the bot")?
    } else {
        let reason = "nobody is asked here, so that nothing waits for an answer".to_owned();
        Some(Standing::Refused { reason })
    };
    let running = place.commands.running(&asked.job).is_some();
    let result = match place.commands.ended(&asked.job).filter(|_| !running) {
        Some(Ok(document)) => Some((*document).clone()),
        Some(Err(error)) => Some(json!({ "status": "error", "reason": error })),
        None => None,
    };
    let (state, by, reason, until) = match standing {
        Some(Standing::Queued) => ("waiting", None, None, None),
        Some(Standing::Waiting { until, .. }) => ("waiting", None, None, Some(until)),
        Some(Standing::Granted { granted: Granted { by, .. }, until }) => {
            ("approved", Some(by), None, Some(until))
        }
        Some(Standing::Taken { granted: Granted { by, .. }, .. }) => ("used", Some(by), None, None),
        Some(Standing::Denied { by, reason }) => ("denied", Some(by), Some(reason), None),
        Some(Standing::Expired { reason }) => ("expired", None, Some(reason), None),
        Some(Standing::Refused { reason }) => ("refused", None, Some(reason), None),
        None => ("expired", None, Some("the bot knows nothing of it any more".to_owned()), None),
    };
    let next = match (state, running) {
        ("waiting" | "approved", true) => {
            Some("It is waited for, and runs once somebody approves it. Ask again later.")
        }
        ("waiting", false) => Some(
            "Nobody waits for it here. Once it is approved, propose exactly the same again: it then runs, once.",
        ),
        ("approved", false) => Some("Propose exactly the same again: it then runs, once."),
        _ => None,
    };
    let document = json!({
        "id": id.as_str(), "state": state, "command": asked.text, "reasoning": asked.reasoning, "by": by, "reason": reason,
        "until": until, "running": running, "next": next, "result": result,
    });
    Ok(document.into())
}

fn output() -> Value {
    object(&[
        ("id", text()),
        ("state", words(&["waiting", "approved", "used", "denied", "expired", "refused"])),
        ("command", text()),
        ("reasoning", text()),
        ("by", maybe(text())),
        ("reason", maybe(text())),
        ("until", maybe(text())),
        ("running", truth()),
        ("next", maybe(text())),
        ("result", maybe(any())),
    ])
}
