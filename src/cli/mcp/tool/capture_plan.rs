//! `capture_plan`: every command that a capture may run, as the gate judges it. Nothing runs.

use anyhow::Context as _;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::definition::{Definition, Work, arguments, soon};
use crate::cli::capture::{WantedCapture, hinted, planned, storage};
use crate::cli::mcp::answer::Found;
use crate::cli::mcp::hint::Runs;
use crate::cli::mcp::schema::{self, list, maybe, object, text, words};
use crate::cli::mcp::workplace::Workplace;
use ghost_base::{Clock as _, SystemClock};
use ghost_cloud::capture::{CaptureRequest, CaptureTask, Filter, Limits, SNAPLEN};
use ghost_tools::name::new_session;
use ghost_tools::setup::Setup;

/// The tool.
pub(super) const TOOL: Definition = Definition {
    name: "capture_plan",
    title: "What a packet capture would do",
    description: "Lists every command that a packet capture of one machine, or of both ends of a path, may run, each with the gate's verdict and its reason. Nothing runs, and nobody is asked. capture_start takes the same arguments.",
    runs: Runs::Nothing,
    lasts: soon,
    input: schema::input::<Wanted>,
    output,
    work: Work::Thread(run),
};

/// What is to be captured.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    /// One machine; or the source and then the destination, which are captured together and compared.
    target: Vec<String>,
    /// The machines' resource group.
    resource_group: String,
    /// The subscription, by its id; the one that is signed in to unless said.
    subscription: Option<String>,
    /// How long to capture, in seconds; 60 unless said.
    #[schemars(range(min = 1, max = 18_000))]
    duration_seconds: Option<u32>,
    /// How many bytes of each packet to keep; 256 unless said, which is headers and hardly any payload. 0 is all of it.
    snaplen: Option<u32>,
    /// How large each capture may become, in bytes; 100 MB unless said.
    max_bytes: Option<u64>,
    /// Which packets to keep, as seen from the first machine: `protocol=tcp,remote-port=5432` for instance. All unless said.
    #[serde(default)]
    filters: Vec<String>,
}

impl Wanted {
    /// Checks it. The storage account is the configured one: no client names another.
    pub(super) fn checked(self, setup: &Setup) -> anyhow::Result<CaptureRequest> {
        let read =
            |text: &String| text.parse::<Filter>().with_context(|| format!("reading the filter {text:?}"));
        let usual = Limits::default();
        let wanted = WantedCapture {
            target: self.target,
            resource_group: self.resource_group,
            subscription: self.subscription,
            limits: Limits {
                seconds: self.duration_seconds.unwrap_or(usual.seconds),
                bytes: self.max_bytes.unwrap_or(usual.bytes),
                snaplen: self.snaplen.unwrap_or(SNAPLEN),
            },
            filters: self.filters.iter().map(read).collect::<anyhow::Result<_>>()?,
        };
        wanted.checked(storage(setup, (&None, &None, &None))?, setup)
    }
}

fn run(place: &Workplace, given: Value) -> anyhow::Result<Found> {
    let wanted: Wanted = arguments(given)?;
    let order = wanted.checked(&place.setup)?;
    let task = CaptureTask::new(new_session("capture")?, 1, order, SystemClock.now()).map_err(hinted)?;
    let steps = planned(&task, &place.setup)?;
    let plan: Vec<Value> = steps
        .iter()
        .map(|(ruling, step)| {
            json!({"command": step.command(), "verdict": ruling.verdict, "impact": ruling.impact, "why": step.why})
        })
        .collect();
    Ok(json!({ "plan": plan }).into())
}

fn output() -> Value {
    let step = object(&[
        ("command", text()),
        ("verdict", words(&["SAFE", "RISKY", "BLOCKED"])),
        ("impact", maybe(words(&["measurement", "change", "outage"]))),
        ("why", text()),
    ]);
    object(&[("plan", list(step))])
}
