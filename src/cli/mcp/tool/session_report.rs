//! `session_report`: what an investigation found, as it was delivered.

use std::sync::Arc;

use anyhow::Context as _;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::definition::{Definition, Finding, Work, arguments, soon};
use crate::cli::mcp::answer::Found;
use crate::cli::mcp::call::Call;
use crate::cli::mcp::hint::Runs;
use crate::cli::mcp::schema::{self, any, object, text};
use crate::cli::mcp::workplace::Workplace;
use ghost_base::SessionId;
use ghost_tools::sessions::{ReportKind, report};

/// The tool.
pub(super) const TOOL: Definition = Definition {
    name: "session_report",
    title: "Read the report of an investigation",
    description: "Returns what is known of a session of this installation: its state and outcome, and the report as Markdown, for engineers (root_cause), for auditors (audit), or as a timeline.",
    runs: Runs::Nothing,
    lasts: soon,
    input: schema::input::<Input>,
    output,
    work: Work::Task(start),
};

#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    /// The root cause, as it was delivered.
    #[default]
    RootCause,
    /// The report for auditors.
    Audit,
    /// What happened, event by event.
    Timeline,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The session.
    session: String,
    /// Which report; that of the root cause unless said.
    #[serde(default)]
    kind: Kind,
}

fn start(call: Call) -> Finding {
    Box::pin(run(call.place, call.given))
}

async fn run(place: Arc<Workplace>, given: Value) -> anyhow::Result<Found> {
    let Input { session, kind } = arguments(given)?;
    let session: SessionId =
        session.parse().with_context(|| format!("{session:?} is no name of a session"))?;
    let kind = match kind {
        Kind::RootCause => ReportKind::RootCause,
        Kind::Audit => ReportKind::Audit,
        Kind::Timeline => ReportKind::Timeline,
    };
    let (summary, text) = report(&place.setup, &session, kind).await?;
    let document = json!({ "session": session.as_str(), "summary": summary, "report": text });
    Ok(Found::free(document, &["report"]))
}

fn output() -> Value {
    object(&[("session", text()), ("summary", any()), ("report", text())])
}
