//! `ghost sessions show`.

use std::io::{self, IsTerminal as _, Write as _};

use anyhow::Context as _;
use clap::Args;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::command::{missing, store_of};
use crate::print::line;
use crate::setup::Setup;
use ghost_base::SessionId;
use ghost_investigate::event::{Content, Event, Recorded, read};
use ghost_investigate::report::{Summary, audit, rca, timeline};
use ghost_investigate::state::State;

/// The arguments of `ghost sessions show`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The session.
    session: SessionId,
    /// Print the root cause as Markdown, as it was delivered.
    #[arg(long, conflicts_with_all = ["audit", "json"])]
    report: bool,
    /// Print the report for auditors as Markdown.
    #[arg(long, conflicts_with = "json")]
    audit: bool,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub(super) async fn run(arguments: &Arguments, setup: &Setup) -> anyhow::Result<()> {
    let session = &arguments.session;
    let lines = store_of(setup, session).await?.read(session, 0).await?;
    if lines.is_empty() {
        return Err(missing(session));
    }
    let reading = || format!("reading session {session}");
    let recorded = read(session, lines.iter().map(String::as_str)).with_context(reading)?;
    if arguments.json {
        return line(&document(session, &lines, &recorded)?);
    }
    let text = if arguments.report {
        written(ReportKind::RootCause, session, &recorded)
    } else if arguments.audit {
        written(ReportKind::Audit, session, &recorded)
    } else {
        Ok(timeline(&recorded, io::stdout().is_terminal()))
    };
    let text = text.with_context(reading)?;
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

/// Which report of a session is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportKind {
    /// The root cause, as it was delivered.
    RootCause,
    /// The one for auditors.
    Audit,
    /// Event by event.
    Timeline,
}

/// Returns what is known of a session, and one of its reports.
pub async fn report(
    setup: &Setup,
    session: &SessionId,
    kind: ReportKind,
) -> anyhow::Result<(Summary, String)> {
    let lines = store_of(setup, session).await?.read(session, 0).await?;
    if lines.is_empty() {
        return Err(missing(session));
    }
    let reading = || format!("reading session {session}");
    let recorded = read(session, lines.iter().map(String::as_str)).with_context(reading)?;
    let text = written(kind, session, &recorded).with_context(reading)?;
    Ok((Summary::of_recorded(session, &recorded), text))
}

fn written(kind: ReportKind, session: &SessionId, recorded: &[Recorded]) -> anyhow::Result<String> {
    Ok(match kind {
        ReportKind::RootCause => rca(&State::fold(session, reported(recorded))?),
        ReportKind::Audit => audit(&State::fold(session, recorded)?),
        ReportKind::Timeline => timeline(recorded, false),
    })
}

/// Returns the events that the delivered report tells of: those before its last delivery.
fn reported(recorded: &[Recorded]) -> &[Recorded] {
    let delivered = |event: &Recorded| matches!(&event.content, Content::Known(event) if matches!(event.as_ref(), Event::Delivered(delivered) if delivered.is_report()));
    let end = recorded.iter().rposition(delivered).unwrap_or(recorded.len());
    recorded.get(..end).unwrap_or(recorded)
}

fn document(session: &SessionId, lines: &[String], recorded: &[Recorded]) -> anyhow::Result<String> {
    let events: Vec<&RawValue> =
        lines.iter().map(|line| serde_json::from_str(line)).collect::<Result<_, _>>()?;
    let head = recorded.last().map(|last| last.hash.to_string());
    let mut document = json!(Summary::of_recorded(session, recorded));
    if let Value::Object(object) = &mut document {
        object.insert("head".to_owned(), json!(head));
    }
    // The lines are printed as they are: their own bytes are what was digested.
    let mut text = document.to_string();
    if text.pop() == Some('}') {
        text.push_str(&format!(",\"events\":{}}}", serde_json::to_string(&events)?));
    }
    Ok(text)
}
