//! `ghost ask`: a question about a session, answered from what it recorded.

use anyhow::Context as _;
use clap::Args;
use serde_json::json;

use super::engine::tools;
use ghost_base::SessionId;
use ghost_investigate::complaint::{Request, request};
use ghost_investigate::event::read;
use ghost_investigate::report::{Recorded, UNANSWERED, follow_up};
use ghost_investigate::state::State;
use ghost_session::EvidenceFolder;
use ghost_tools::print::line;
use ghost_tools::sessions::{missing, store_of};
use ghost_tools::setup::Setup;
use ghost_tools::wait::drive;

/// Nothing recorded answers it.
const UNKNOWN: u8 = 4;

/// The arguments of `ghost ask`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ghost ask ghost-7k2f 'which rule is it?'\n  ghost ask ghost-7k2f 'would ssh be affected?'\n  ghost ask ghost-7k2f 'how do I undo the fix?' --json | jq -r .answer\n\nNothing is read again, and no work begins. Exit codes: 0 answered, 1 it cannot be read; with --exit-code 4 where nothing recorded answers it."
)]
pub(super) struct Arguments {
    /// The session.
    session: SessionId,
    /// The question, in any of the languages that complaints are read in.
    question: String,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
    /// Exit with 4 where nothing recorded answers it.
    #[arg(long)]
    exit_code: bool,
}

/// Runs the subcommand.
pub(super) fn run(arguments: &Arguments, setup: &Setup) -> anyhow::Result<u8> {
    drive(|| ask(arguments, setup))?
}

async fn ask(arguments: &Arguments, setup: &Setup) -> anyhow::Result<u8> {
    let session = &arguments.session;
    let lines = store_of(setup, session).await?.read(session, 0).await?;
    if lines.is_empty() {
        return Err(missing(session));
    }
    let reading = || format!("reading session {session}");
    let events = read(session, lines.iter().map(String::as_str)).with_context(reading)?;
    let state = State::fold(session, &events).with_context(reading)?;
    let evidence = EvidenceFolder::new(setup.data()?.join("evidence"));
    let registry = tools(setup)?;
    let recorded = Recorded { state: &state, tools: &registry, evidence: &evidence, approvers: None };
    let answer = follow_up(&recorded, &arguments.question);
    let text = answer.as_ref().map_or_else(|| nothing(&arguments.question), |answer| answer.text.clone());
    let look = answer.as_ref().and_then(|answer| answer.look.as_deref());
    let document = json!({
        "session": session.as_str(), "question": arguments.question, "answered": answer.is_some(), "answer": text, "look": look,
    });
    line(&if arguments.json { document.to_string() } else { text })?;
    Ok(if answer.is_none() && arguments.exit_code { UNKNOWN } else { 0 })
}

/// Says that nothing recorded answers it.
fn nothing(question: &str) -> String {
    match request(question) {
        Request::Look => {
            "That is an order to look. Begin it with `ghost investigate`; the session stays as it is."
                .to_owned()
        }
        Request::Question | Request::Remark => {
            format!("{UNANSWERED} `ghost investigate \"…\"` begins a new look.")
        }
    }
}
