//! `pcap_compare`: what became of packets between two captures.

use std::fs::File;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::definition::{Definition, Work, arguments, soon};
use crate::cli::mcp::answer::Found;
use crate::cli::mcp::hint::Runs;
use crate::cli::mcp::schema::{self, any, list, object};
use crate::cli::mcp::source;
use crate::cli::mcp::workplace::Workplace;
use crate::cli::pcap::refused;
use ghost_pcap::{Error, compare};

/// The tool.
pub(super) const TOOL: Definition = Definition {
    name: "pcap_compare",
    title: "Compare two packet captures",
    description: "Compares two captures: two ends of one path (what was lost, delayed or rewritten between them), or two times (what became worse, better, new or gone). Give the source or the earlier one as `a`.",
    runs: Runs::Nothing,
    lasts: soon,
    input: schema::input::<Input>,
    output,
    work: Work::Thread(run),
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The source side, or the time before.
    a: String,
    /// The destination side, or now.
    b: String,
}

fn run(place: &Workplace, given: Value) -> anyhow::Result<Found> {
    let Input { a, b } = arguments(given)?;
    let files = (source::file(place, &a)?, source::file(place, &b)?);
    let open = |at: usize| File::open(if at == 0 { &files.0 } else { &files.1 }).map_err(Error::Read);
    let pair = compare(open, false).map_err(|(at, error)| refused(error, if at == 0 { &a } else { &b }))?;
    Ok(serde_json::to_value(&pair)?.into())
}

fn output() -> Value {
    object(&[("a", any()), ("b", any()), ("packets", any()), ("directions", list(any()))])
}
