//! `capture_traffic`: packets of one machine or of two, from the first check to the removal of what was left in the cloud.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::argument::{fail, malformed, resource_group};
use super::capture::ReplayedCapture;
use super::host_capture::{CapturedHosts, hosts_of};
use super::{argument, capture, result};
use crate::model::ToolSpec;
use crate::state::Entry;
use crate::suspect::SupportedFaults;
use crate::tool::argument::{incident_group, parse, schema};
use crate::tool::call_replay::CallReplay;
use crate::tool::{CallContext, Site, Tool, ToolAction};
use ghost_cloud::capture::{CaptureRequest, Filter, Group, Limits};

/// See the module.
pub(in crate::tool) struct CaptureTraffic {
    site: Site,
}

impl CaptureTraffic {
    pub(in crate::tool) fn new(site: Site) -> Self {
        Self { site }
    }

    fn replay(
        &self,
        arguments: &Map<String, Value>,
        context: &CallContext<'_>,
    ) -> Result<ReplayedCapture, Box<ToolAction>> {
        let read = read(arguments)?;
        argument::check(read.purpose(), read.hypothesis_id.as_deref(), context)?;
        let wanted = machines(&read.target);
        let same = |other: &Value| {
            other.get("target").and_then(Value::as_str).is_some_and(|target| machines(target) == wanted)
        };
        argument::denied_before("a capture of these machines", same, context)?;
        let mut capture = capture::fresh(arguments, context, &self.site)?;
        capture.removes_later = true;
        capture.replay(&mut CallReplay::new(context, read.hypothesis_id))?;
        Ok(capture)
    }
}

impl Tool for CaptureTraffic {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: CAPTURE.to_owned(),
            description: "Records packets on one machine, or on two at once, fetches and analyzes them, all in one call. A human is \
                asked once before it begins. What it leaves in the cloud is removed behind the report, where a human is asked once more; on \
                machines that the session names a human is asked once for each machine, and nothing is left there. It takes its duration \
                and a minute or two beside; use it when rules, routes and guests leave it open what the wire does. Only headers are \
                kept. Examples: {\"target\":\"web-1 to db-1\",\"duration_seconds\":20,\"filters\":[{\"protocol\":\"tcp\",\
                \"port\":5001}],\"reasoning\":\"do the SYNs leave web-1 and arrive at db-1?\",\"hypothesis_id\":\"H2\"}, \
                {\"target\":\"web-1\",\"reasoning\":\"does anything answer its DNS queries?\",\"hypothesis_id\":\"H3\"}"
                .to_owned(),
            parameters: schema::<Arguments>(),
        }
    }

    fn advance(&self, arguments: &Map<String, Value>, context: &CallContext<'_>) -> ToolAction {
        match of_hosts(arguments, context) {
            Ok(Some(captured)) => return ToolAction::Return(Box::new(captured.outcome(context))),
            Ok(None) => {}
            Err(next) => return *next,
        }
        match self.replay(arguments, context) {
            Ok(capture) => {
                ToolAction::Return(Box::new(result::outcome(result::status(&capture), &capture, context)))
            }
            Err(next) => *next,
        }
    }

    fn behind_report(&self, arguments: &Map<String, Value>, context: &CallContext<'_>) -> Option<ToolAction> {
        let read = read(arguments).ok()?;
        match hosts_of(&read.target, context) {
            // A recording on a machine leaves nothing there.
            Some(_) => None,
            None => capture::removal(arguments, context, &self.site),
        }
    }

    fn supports(&self, arguments: &Map<String, Value>, context: &CallContext<'_>) -> SupportedFaults {
        match of_hosts(arguments, context) {
            Ok(Some(captured)) => return captured.supported(),
            Ok(None) => {}
            Err(_) => return SupportedFaults::default(),
        }
        let Ok(mut capture) = capture::fresh(arguments, context, &self.site) else {
            return SupportedFaults::default();
        };
        // A call that was interrupted supports what it had found by then.
        let _ = capture.replay(&mut CallReplay::new(context, None));
        result::supported(&capture)
    }
}

/// Records on machines that the session reaches by itself; nothing where the target is the cloud's.
fn of_hosts(
    arguments: &Map<String, Value>,
    context: &CallContext<'_>,
) -> Result<Option<CapturedHosts>, Box<ToolAction>> {
    let read = read(arguments)?;
    let Some(hosts) = hosts_of(&read.target, context) else { return Ok(None) };
    argument::check(read.purpose(), read.hypothesis_id.as_deref(), context)?;
    let wanted = machines(&read.target);
    let same = |other: &Value| {
        other.get("target").and_then(Value::as_str).is_some_and(|target| machines(target) == wanted)
    };
    argument::denied_before("a capture of these machines", same, context)?;
    let mut replay = CallReplay::new(context, read.hypothesis_id.clone());
    CapturedHosts::replayed(&read, &hosts, &mut replay).map(Some)
}

/// The name of the tool.
pub(super) const CAPTURE: &str = "capture_traffic";
/// How long a capture lasts unless more is asked for.
pub(super) const DEFAULT_SECONDS: u32 = 20;
/// A shorter one sees nothing; a longer one keeps people waiting.
pub(super) const MIN_SECONDS: u32 = 5;
pub(super) const MAX_SECONDS: u32 = 300;
/// Limits what each end records: with headers alone that is far more than a few minutes of ordinary traffic.
const MAX_BYTES_PER_END: u64 = 50_000_000;

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

/// Packets that are kept, in either direction.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Packets {
    /// `tcp`, `udp` or `any`. ICMP can only be selected on machines that the session names: leave the filters out for it elsewhere.
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
    pub(super) fn purpose(&self) -> &str {
        let purpose = self.reasoning.as_deref().or(self.investigation_context.as_deref());
        purpose.unwrap_or("to see what the packets do")
    }
}

/// Reads the arguments.
pub(super) fn read(arguments: &Map<String, Value>) -> Result<Arguments, Box<ToolAction>> {
    parse(arguments, CAPTURE).map_err(|refused| Box::new(ToolAction::Return(refused)))
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

/// Makes a checked request of arguments, with the storage account of the configuration.
pub(super) fn capture_request(
    arguments: &Arguments,
    context: &CallContext<'_>,
    site: &Site,
) -> Result<CaptureRequest, Box<ToolAction>> {
    let seconds = arguments.duration_seconds.unwrap_or(DEFAULT_SECONDS);
    if !(MIN_SECONDS..=MAX_SECONDS).contains(&seconds) {
        return Err(malformed(format!(
            "duration_seconds is {seconds}, and has to lie between {MIN_SECONDS} and {MAX_SECONDS}"
        )));
    }
    let Some(storage) = site.storage.clone() else {
        return Err(fail(
            "packets cannot be captured here: no storage account is configured that the platform can write to",
            "an operator sets storage_account and storage_container below [capture] in the configuration; go on without packets",
        ));
    };
    let group = arguments.resource_group.clone().or_else(|| incident_group(site, context));
    let group = resource_group(group.as_deref(), site)?;
    let mut filters = Vec::new();
    for packets in &arguments.filters {
        filters.extend(filter(packets).map_err(malformed)?);
    }
    let request = CaptureRequest {
        group: Group { subscription: group.subscription, name: group.group },
        machines: machines(&arguments.target),
        storage,
        folder: site.captures.clone(),
        limits: Limits { seconds, bytes: MAX_BYTES_PER_END, ..Limits::default() },
        filters,
    };
    request.check(&subjects(context)).map_err(|error| match error.hint() {
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
fn subjects(context: &CallContext<'_>) -> Vec<String> {
    let own = &context.call.call.id;
    let before = context.state.entries.iter().take_while(|entry| match entry {
        Entry::Turn(turn) => turn.calls.iter().all(|call| call.call.id != *own),
        Entry::Message { .. } | Entry::Note { .. } => true,
    });
    let said = before.filter_map(|entry| match entry {
        Entry::Message { text, .. } => Some(text.as_str()),
        Entry::Turn(_) | Entry::Note { .. } => None,
    });
    std::iter::once(context.state.opened.symptom.as_str())
        .chain(said)
        .flat_map(|text| text.split(|char: char| !char.is_ascii_alphanumeric()))
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}
