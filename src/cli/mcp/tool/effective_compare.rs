//! `effective_compare`: what changed between two states of routes and rules.

use anyhow::Context as _;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::definition::{Definition, Work, arguments, soon};
use crate::cli::mcp::answer::Found;
use crate::cli::mcp::hint::Runs;
use crate::cli::mcp::schema::{self, any, list, maybe, object, text, truth, words};
use crate::cli::mcp::source::Source;
use crate::cli::mcp::workplace::Workplace;
use ghost_inspect::effective::{Options, Side, doubts, objections};
use ghost_tools::print::Hinted;

/// The tool.
pub(super) const TOOL: Definition = Definition {
    name: "effective_compare",
    title: "What changed in routes and security rules",
    description: "Compares two recorded states of effective routes and security rules: snapshots that `ghost effective snapshot` sealed, whose digests are checked, or bundles {\"nics\":[{\"nic\",\"routes\",\"nsg\",\"error\"}]}. Certain drift is DRIFT; what could not be read makes it INCONCLUSIVE, never CLEAN.",
    runs: Runs::Nothing,
    lasts: soon,
    input: schema::input::<Input>,
    output,
    work: Work::Thread(run),
};

/// A sealed file may have this many bytes.
const MAX_BYTES: usize = 64 << 20;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The earlier state.
    baseline: Source,
    /// The later state.
    current: Source,
    /// Tell of service tags that stand for other prefixes, and do not count it as drift.
    #[serde(default)]
    ignore_tag_churn: bool,
}

fn run(place: &Workplace, given: Value) -> anyhow::Result<Found> {
    let input: Input = arguments(given)?;
    let side = |source: &Source| -> anyhow::Result<Side> {
        let text = source.read(place, MAX_BYTES)?;
        let read = Side::parse(&text).with_context(|| format!("reading {}", source.name()));
        let hint = "give a snapshot as it was written, or a bundle {\"nics\":[{\"nic\",\"routes\",\"nsg\",\"error\"}]}";
        read.map_err(|error| Hinted::new(error, hint).into())
    };
    let (before, after) = (side(&input.baseline)?, side(&input.current)?);
    let found = objections(&before, &after, None);
    if !found.is_empty() {
        let error = anyhow::anyhow!("{}", found.join("; "));
        return Err(Hinted::new(error, "compare two states of the same thing, the earlier one first").into());
    }
    let compared = before.compare(&after, Options { ignore_tag_churn: input.ignore_tag_churn });
    let mut document = serde_json::to_value(&compared)?;
    if let Some(fields) = document.as_object_mut() {
        fields.insert("notes".to_owned(), json!(doubts(&before, &after, None)));
    }
    Ok(document.into())
}

fn output() -> Value {
    object(&[
        ("status", words(&["CLEAN", "DRIFT", "INCONCLUSIVE"])),
        ("drift_detected", maybe(truth())),
        ("changes", list(any())),
        ("nic_errors", list(any())),
        ("baseline_sha256", text()),
        ("current_sha256", text()),
        ("verified", truth()),
        ("notes", list(text())),
    ])
}
