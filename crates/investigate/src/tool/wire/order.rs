//! From the arguments of a capture to a checked order.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::purpose::{fail, malformed, place};
use crate::state::Entry;
use crate::tool::argument::parse;
use crate::tool::{Bench, Move, Site, subject};
use ghost_cloud::capture::{CaptureRequest, Filter, Group, Limits};

/// The name of the tool.
pub(super) const CAPTURE: &str = "capture_traffic";
/// How long a capture lasts unless more is asked for.
const USUAL: u32 = 20;
/// A shorter one sees nothing; a longer one keeps people waiting.
const SHORTEST: u32 = 5;
const LONGEST: u32 = 300;
/// So many bytes each end may record: with headers alone that is far more than a few minutes of ordinary traffic.
const BYTES: u64 = 50_000_000;

/// The arguments of `capture_traffic`. A storage account is none of them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// A machine, such as `web-1`; or the source and the destination, such as `web-1 to db-1`: both are recorded at the same time and
    /// compared.
    pub(super) target: String,
    /// How long to record, from 5 to 300; 20 unless said. The trouble has to happen in that time.
    #[serde(default)]
    #[schemars(with = "u32")]
    pub(super) duration_seconds: Option<u32>,
    /// Which packets to keep; all of them, if there is none. What fits one of them is kept.
    #[serde(default)]
    pub(super) filters: Vec<Packets>,
    /// The machines' resource group.
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) resource_group: Option<String>,
    /// What is looked for, in a sentence; it stands in for `reasoning` where that is left out.
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) investigation_context: Option<String>,
    /// What the packets will tell, and what follows from each answer. A human who has to approve it reads this.
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) reasoning: Option<String>,
    /// The hypothesis that it tests, such as `H1`.
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) hypothesis_id: Option<String>,
}

/// Packets that are kept, whichever way they go.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Packets {
    /// `tcp`, `udp` or `any`. ICMP cannot be told apart: leave the filters away for it.
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) protocol: Option<String>,
    /// The port, of either end.
    #[serde(default)]
    #[schemars(with = "u16")]
    pub(super) port: Option<u16>,
    /// The address, of either end.
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) ip: Option<String>,
}

impl Arguments {
    /// Returns what it is for.
    pub(super) fn purpose(&self) -> &str {
        let said = self.reasoning.as_deref().or(self.investigation_context.as_deref());
        said.unwrap_or("to see what the packets do")
    }
}

/// Reads the arguments.
pub(super) fn read(arguments: &Map<String, Value>) -> Result<Arguments, Box<Move>> {
    parse(arguments, CAPTURE).map_err(|refused| Box::new(Move::Return(refused)))
}

/// Takes a target apart: one machine, or a source and a destination.
pub(super) fn machines(target: &str) -> Vec<String> {
    let words: Vec<&str> = target
        .split(|char: char| char.is_whitespace() || char == ',')
        .filter(|word| !word.is_empty())
        .collect();
    let named = words.iter().filter(|word| !matches!(**word, "to" | "->" | "and"));
    named.map(|word| (*word).to_owned()).collect()
}

/// Makes a checked order of arguments, with the storage account of the configuration.
pub(super) fn order(
    arguments: &Arguments,
    bench: &Bench<'_>,
    site: &Site,
) -> Result<CaptureRequest, Box<Move>> {
    let seconds = arguments.duration_seconds.unwrap_or(USUAL);
    if !(SHORTEST..=LONGEST).contains(&seconds) {
        return Err(malformed(format!(
            "duration_seconds is {seconds}, and has to lie between {SHORTEST} and {LONGEST}"
        )));
    }
    let Some(storage) = site.storage.clone() else {
        return Err(fail(
            "packets cannot be captured here: no storage account is configured that the platform can write to",
            "an operator sets storage_account and storage_container below [capture] in the configuration; go on without packets",
        ));
    };
    let group = arguments.resource_group.clone().or_else(|| subject::group(site, bench));
    let place = place(group.as_deref(), site)?;
    let mut filters = Vec::new();
    for packets in &arguments.filters {
        filters.extend(filter(packets).map_err(malformed)?);
    }
    let order = CaptureRequest {
        group: Group { subscription: place.subscription, name: place.group },
        machines: machines(&arguments.target),
        storage,
        folder: site.captures.clone(),
        limits: Limits { seconds, bytes: BYTES, ..Limits::default() },
        filters,
    };
    order.check(&subjects(bench)).map_err(|error| match error.hint() {
        Some(hint) => malformed(format!("target {:?}: {error}; {hint}", arguments.target)),
        None => malformed(error.to_string()),
    })
}

/// Writes packets as the platform's filters: an address and a port are local in one direction and remote in the other.
fn filter(packets: &Packets) -> Result<Vec<Filter>, String> {
    let protocol = packets.protocol.as_deref().unwrap_or("any").to_ascii_lowercase();
    let sides = ["local", "remote"];
    let ip = |side: &str| packets.ip.as_ref().map(|ip| format!(",{side}-ip={ip}"));
    let port = |side: &str| packets.port.map(|port| format!(",{side}-port={port}"));
    let (ips, ports): (Vec<_>, Vec<_>) = (
        sides.iter().map(|side| ip(side).unwrap_or_default()).collect(),
        sides.iter().map(|side| port(side).unwrap_or_default()).collect(),
    );
    let mut texts: Vec<String> = Vec::new();
    for ip in &ips {
        for port in &ports {
            let text = format!("protocol={protocol}{ip}{port}");
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
    }
    texts.iter().map(|text| text.parse().map_err(|error| format!("filters: {error}"))).collect()
}

/// Returns what the investigation may be about: every word that people had said when the call was made.
fn subjects(bench: &Bench<'_>) -> Vec<String> {
    let own = &bench.call.call.id;
    let before = bench.state.entries.iter().take_while(|entry| match entry {
        Entry::Turn(turn) => turn.calls.iter().all(|call| call.call.id != *own),
        Entry::Said { .. } | Entry::Noted { .. } => true,
    });
    let said = before.filter_map(|entry| match entry {
        Entry::Said { text, .. } => Some(text.as_str()),
        Entry::Turn(_) | Entry::Noted { .. } => None,
    });
    std::iter::once(bench.state.opened.symptom.as_str())
        .chain(said)
        .flat_map(|text| text.split(|char: char| !char.is_ascii_alphanumeric()))
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}
