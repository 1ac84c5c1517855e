//! `audit_verify`: whether an audit file is whole.

use std::path::PathBuf;

use anyhow::Context as _;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::definition::{Definition, Work, arguments, soon};
use crate::cli::audit::verified;
use crate::cli::mcp::answer::Found;
use crate::cli::mcp::hint::Runs;
use crate::cli::mcp::schema::{self, maybe, object, text, truth, whole};
use crate::cli::mcp::source;
use crate::cli::mcp::workplace::Workplace;
use ghost_base::SessionId;
use ghost_tools::print::Hinted;

/// The tool.
pub(super) const TOOL: Definition = Definition {
    name: "audit_verify",
    title: "Check an audit file",
    description: "Checks the hash chain of a session's audit file: that no record was changed, removed from the middle or added. With the head that was noted at the end, a missing tail shows, too.",
    runs: Runs::Nothing,
    lasts: soon,
    input: schema::input::<Input>,
    output,
    work: Work::Thread(run),
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The session whose audit file is meant; that of this client's commands unless this or `file` is given.
    session: Option<String>,
    /// The audit file.
    file: Option<String>,
    /// The head that was noted.
    head: Option<String>,
}

fn run(place: &Workplace, given: Value) -> anyhow::Result<Found> {
    let input: Input = arguments(given)?;
    let of = |session: &SessionId| -> anyhow::Result<PathBuf> {
        Ok(place.setup.data()?.join("audit").join(format!("{session}.jsonl")))
    };
    let file = match (&input.session, &input.file) {
        (None, Some(file)) => source::file(place, file)?,
        (Some(session), None) => {
            of(&session.parse().with_context(|| format!("{session:?} is no name of a session"))?)?
        }
        (None, None) => of(&place.session)?,
        (Some(_), Some(_)) => {
            let error = anyhow::anyhow!("either a session or a file is meant");
            return Err(Hinted::new(error, "give one of the two").into());
        }
    };
    Ok(serde_json::to_value(verified(&file, input.head.as_deref())?)?.into())
}

fn output() -> Value {
    object(&[
        ("ok", truth()),
        ("records", whole()),
        ("head", maybe(text())),
        ("first_bad", maybe(whole())),
        ("reason", maybe(text())),
    ])
}
