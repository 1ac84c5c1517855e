//! `pcap_analyze`: what a capture shows.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::definition::{Definition, Work, arguments, soon};
use crate::cli::mcp::answer::Found;
use crate::cli::mcp::hint::Runs;
use crate::cli::mcp::schema::{self, any, list, object, text};
use crate::cli::mcp::source;
use crate::cli::mcp::workplace::Workplace;
use crate::cli::pcap::{opened, refused};
use ghost_pcap::{AddressFilter, Analyzer, Scope, frames};
use ghost_tools::print::Hinted;

/// The tool.
pub(super) const TOOL: Definition = Definition {
    name: "pcap_analyze",
    title: "What a packet capture shows",
    description: "Reads a capture file (pcap or pcapng, packed with gzip or not) in one pass and bounded memory: counts as tshark makes them, connections in trouble, DNS, ICMP, ARP, and findings with the frames that show them. A capture that is cut off is read as far as it goes.",
    runs: Runs::Nothing,
    lasts: soon,
    input: schema::input::<Input>,
    output,
    work: Work::Thread(run),
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The capture, below the working folder, the data folder, the captures folder or a shared one.
    file: String,
    /// Narrow lists to an address, or to one of its ports, as in `10.0.0.4:443`; counts and findings stay those of the whole capture.
    focus: Option<String>,
}

fn run(place: &Workplace, given: Value) -> anyhow::Result<Found> {
    let input: Input = arguments(given)?;
    let focus = input.focus.as_deref().map(str::parse::<AddressFilter>).transpose();
    let focus = focus.map_err(|error| Hinted::new(error, "for example 10.0.0.4, or 10.0.0.4:443"))?;
    let capture = opened(&source::file(place, &input.file)?)?;
    let mut analyzer = Analyzer::new(Scope { full: false, frames: None, focus, pictures: false });
    let ending = frames(capture, |frame| {
        analyzer.feed(frame);
    });
    let ending = ending.map_err(|error| refused(error, &input.file))?;
    Ok(serde_json::to_value(analyzer.finish(&ending))?.into())
}

fn output() -> Value {
    let finding = object(&[("code", text()), ("severity", text()), ("title", text()), ("evidence", any())]);
    object(&[
        ("file", any()),
        ("counts", any()),
        ("tcp", any()),
        ("dns", any()),
        ("icmp", any()),
        ("arp", any()),
        ("findings", list(finding)),
        ("warnings", list(text())),
    ])
}
