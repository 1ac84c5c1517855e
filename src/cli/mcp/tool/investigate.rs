//! `investigate`: a whole investigation. It goes on when the client is gone.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::definition::{Definition, Finding, Work, arguments, long};
use crate::cli::mcp::answer::Found;
use crate::cli::mcp::call::Call;
use crate::cli::mcp::hint::Runs;
use crate::cli::mcp::investigation::{Ended, attend, board, open, say, state};
use crate::cli::mcp::job::listened;
use crate::cli::mcp::schema::{self, list, maybe, object, text, words};
use crate::cli::mcp::workplace::{WAIT, Workplace};
use ghost_base::SessionId;
use ghost_investigate::event::Instruction;
use ghost_investigate::state::State;
use ghost_tools::print::Hinted;
use ghost_tools::sessions::{ReportKind, report};

/// The tool.
pub(super) const TOOL: Definition = Definition {
    name: "investigate",
    title: "Investigate a network incident",
    description: "Investigates a network incident from a symptom in plain words: forms hypotheses, reads what decides over the flow, names what is broken with the observation that proves it, and returns the report. What it does is reported as progress. It goes on when the call is canceled, when `wait_seconds` are over and when the client is gone: call again with `session` to listen to it, or to let a paused one go on. `status` is `running`, `waiting` for a human's consent, `paused`, `stopped` or `concluded`.",
    runs: Runs::Anything,
    lasts: long,
    input: schema::input::<Input>,
    output,
    work: Work::Task(start),
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// What is wrong, in plain words: who cannot reach whom, on which port, since when. Or `session`.
    symptom: Option<String>,
    /// A session that was begun before: listen to it, or let it go on.
    session: Option<String>,
    /// Something that the investigation should take into account. Needs `session`.
    say: Option<String>,
    /// End the session now, with the report of what is known. Needs `session`.
    #[serde(default)]
    stop: bool,
    /// Answer after so many seconds, whether or not it is over; 50 unless said.
    #[schemars(range(min = 0, max = 86_400))]
    wait_seconds: Option<u64>,
}

fn start(call: Call) -> Finding {
    Box::pin(run(call))
}

async fn run(mut call: Call) -> anyhow::Result<Found> {
    let input: Input = arguments(std::mem::take(&mut call.given))?;
    let place = Arc::clone(&call.place);
    let session: SessionId = match (&input.symptom, &input.session) {
        (Some(symptom), None) if input.say.is_none() && !input.stop => open(&place, symptom).await?,
        (None, Some(session)) => {
            session.parse().with_context(|| format!("{session:?} is no name of a session"))?
        }
        (Some(_), _) | (None, None) => {
            let error = anyhow::anyhow!("either a symptom begins a session, or `session` names one");
            return Err(Hinted::new(error, "give `symptom`, or `session` with what you want of it").into());
        }
    };
    call.progress.tell(format!("session {session}"));
    let before = state(place.setup.store().await?.as_ref(), &session).await?;
    let is_over = |state: &State| state.concluded.is_some() && !state.delivered.is_empty();
    if let Some(state) = before.filter(is_over) {
        // The report is there; whether what was left may go is asked beside it.
        if state.open_approval().is_some() {
            drop(attend(&place, &session).await?);
        }
        return found(&place, &session, Some(Ended::Over)).await;
    }
    if let Some(words) = &input.say {
        say(&place, &session, Instruction::Steer, words).await?;
    }
    if input.stop {
        say(&place, &session, Instruction::Stop, "stop").await?;
    }
    let attendance = attend(&place, &session).await?;
    let wait = input.wait_seconds.map_or(WAIT, Duration::from_secs);
    let ended = tokio::select! {
        ended = listened(attendance, &mut call, wait) => ended,
        () = reported(&place, &session) => None,
    };
    found(&place, &session, ended).await
}

/// How often it is looked whether the report is there.
const REPORT_CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// Waits until the report is delivered: what is asked below it keeps no client waiting.
async fn reported(place: &Workplace, session: &SessionId) {
    let mut seen = 0;
    loop {
        tokio::time::sleep(REPORT_CHECK_INTERVAL).await;
        let Ok(store) = place.setup.store().await else { continue };
        let length = store.length(session).await.unwrap_or(seen);
        if length == seen {
            continue;
        }
        seen = length;
        let found = state(store.as_ref(), session).await;
        if found.is_ok_and(|found| found.is_some_and(|state| state.is_reported())) {
            return;
        }
    }
}

async fn found(place: &Workplace, session: &SessionId, ended: Option<Ended>) -> anyhow::Result<Found> {
    let Some(state) = state(place.setup.store().await?.as_ref(), session).await? else {
        let document = json!({
            "session": session.as_str(), "status": status(ended.as_ref(), false, "open"), "outcome": null, "confidence": null,
            "summary": null, "findings": [], "actions": [], "open_questions": [], "board": [], "problem": null, "next": next(session, "running"), "report": "",
        });
        return Ok(document.into());
    };
    let concluded = state.concluded.as_ref().map(|(_, concluded)| concluded);
    let status = status(ended.as_ref(), concluded.is_some(), state.standing());
    let findings: Vec<Value> = state
        .accepted
        .iter()
        .map(|found| {
            json!({"fault": found.finding.code, "object": found.finding.object, "statement": found.finding.statement, "why": found.why})
        })
        .collect();
    let report = match concluded {
        Some(_) => report(&place.setup, session, ReportKind::RootCause).await?.1,
        None => String::new(),
    };
    let problem = match ended {
        Some(Ended::Stopped(why)) => Some(why),
        Some(Ended::Over | Ended::Paused) | None => None,
    };
    let text = (!report.is_empty()).then(|| report.clone());
    let document = json!({
        "session": session.as_str(),
        "status": status,
        "outcome": concluded.map(|concluded| concluded.outcome),
        "confidence": concluded.map(|concluded| concluded.confidence),
        "summary": concluded.map(|concluded| &concluded.summary),
        "findings": findings,
        "actions": concluded.map(|concluded| concluded.actions.as_slice()).unwrap_or_default(),
        "open_questions": concluded.map(|concluded| concluded.open_questions.as_slice()).unwrap_or_default(),
        "board": board(place, &state),
        "problem": problem,
        "next": next(session, status),
        "report": report,
    });
    Ok(Found { text, ..Found::free(document, &["report"]) })
}

fn status(ended: Option<&Ended>, concluded: bool, standing: &str) -> &'static str {
    match ended {
        _ if concluded => "concluded",
        Some(Ended::Over | Ended::Paused) => "paused",
        Some(Ended::Stopped(_)) => "stopped",
        None if standing == "waiting" => "waiting",
        None => "running",
    }
}

fn next(session: &SessionId, status: &str) -> Option<String> {
    match status {
        "running" | "waiting" => {
            Some(format!("It goes on by itself. Call investigate with session {session} to hear the rest."))
        }
        "paused" | "stopped" => Some(format!("Call investigate with session {session} to let it go on.")),
        _ => None,
    }
}

fn output() -> Value {
    let finding = object(&[("fault", text()), ("object", text()), ("statement", text()), ("why", text())]);
    object(&[
        ("session", text()),
        ("status", words(&["running", "waiting", "paused", "stopped", "concluded"])),
        ("outcome", maybe(text())),
        ("confidence", maybe(text())),
        ("summary", maybe(text())),
        ("findings", list(finding)),
        ("actions", list(text())),
        ("open_questions", list(text())),
        ("board", list(text())),
        ("problem", maybe(text())),
        ("next", maybe(text())),
        ("report", text()),
    ])
}
