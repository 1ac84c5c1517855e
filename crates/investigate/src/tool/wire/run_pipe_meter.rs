//! `run_pipe_meter`: how long a packet takes between two machines, and how much they carry.

use std::net::Ipv4Addr;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::argument::{self, malformed};
use super::figures::{self, PathExpectation};
use super::{capture, result};
use crate::model::ToolSpec;
use crate::suspect::{Layer, Looked, SupportedFaults};
use crate::tool::argument::{incident_ends, incident_group, parse, schema};
use crate::tool::call_replay::CallReplay;
use crate::tool::{CallContext, CallResult, FileTask, Site, StoredKind, Tool, ToolAction};
use ghost_base::SessionId;
use ghost_cloud::guest::HostAccess;
use ghost_cloud::meter::TestType;
use ghost_cloud::meter::run::{
    AccessMethod, Baseline, Compare, MeasurementRequest, Run, State, TestSeconds, summary,
};
use ghost_cloud::operation::{CommandRequest, ReadOperation};
use ghost_cloud::{Name, ResourceGroup, line};

const NAME: &str = "run_pipe_meter";
/// How often each metric is measured unless more is asked for.
const DEFAULT_ITERATIONS: u16 = 5;
/// More would keep people waiting.
const MAX_ITERATIONS: u16 = 20;
/// A result that is this many percent worse than its baseline is a regression.
const TOLERANCE: f64 = 10.0;
/// Limits how much of the summary a result shows.
const MAX_SUMMARY_CHARS: usize = 6_000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The machine that sends; the caller of the incident, where none is given.
    #[serde(default)]
    #[schemars(with = "String")]
    source: Option<String>,
    /// The machine that receives; the one that is called in the incident, where none is given.
    #[serde(default)]
    #[schemars(with = "String")]
    destination: Option<String>,
    /// `latency`, `throughput` or `both`.
    test_type: TestWord,
    /// How often each is measured, from 1 to 20; 5 unless said.
    #[serde(default)]
    #[schemars(with = "u16")]
    iterations: Option<u16>,
    /// Whether later runs are to be compared with this one.
    #[serde(default)]
    is_baseline: bool,
    /// The session whose measurement it is compared with.
    #[serde(default)]
    #[schemars(with = "String")]
    compare_baseline: Option<String>,
    /// Whether the return path is measured, too.
    #[serde(default)]
    both_directions: bool,
    /// The machines' resource group.
    #[serde(default)]
    #[schemars(with = "String")]
    resource_group: Option<String>,
    /// What it will tell, and what follows from each answer. A human who has to approve it reads this.
    reasoning: String,
    /// The hypothesis that it tests, such as `H1`.
    #[serde(default)]
    #[schemars(with = "String")]
    hypothesis_id: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum TestWord {
    Latency,
    Throughput,
    Both,
}

/// The result of a run.
struct Measured {
    run: Run,
    expected: PathExpectation,
    kept: Option<String>,
}

/// See the module.
pub(in crate::tool) struct RunPipeMeter {
    site: Site,
}

impl RunPipeMeter {
    pub(in crate::tool) fn new(site: Site) -> Self {
        Self { site }
    }

    fn measure(
        &self,
        arguments: &Map<String, Value>,
        context: &CallContext<'_>,
        replay: &mut CallReplay<'_, '_>,
    ) -> Result<Measured, Box<ToolAction>> {
        let read = arguments_of(arguments)?;
        let (near, far) = ends(&read, context)?;
        let own = own_ends(&near, &far, context)?;
        // Where the session reaches both by itself, the cloud need not know them.
        let place = match own {
            Some(_) => None,
            None => {
                let group = read.resource_group.clone().or_else(|| incident_group(&self.site, context));
                Some(argument::resource_group(group.as_deref(), &self.site)?)
            }
        };
        let (access, ends) = own.unwrap_or_else(|| self.access_method(&near, &far));
        let ask = self.ask(&read, place.clone(), (access, ends), context)?;
        let compare = match &read.compare_baseline {
            Some(session) => baseline(session, replay)?,
            None => Compare::Nothing,
        };
        // What is known of the machines only sharpens the judgement: without it the figures stand for themselves.
        let sizes = match place.as_ref().filter(|_| ask.test_type.throughput()) {
            Some(place) => {
                let request =
                    CommandRequest::line(line::machines(place), "how much should these machines carry?");
                replay.run(&mut ReadOperation::new(request, "reading the sizes of the machines"))?.ok()
            }
            None => None,
        };
        let mut run =
            Run::new(MeasurementRequest { compare, ..ask }, capture::made(context.state, context.call));
        let state = replay.run(&mut run)?;
        let [source, destination] = figures::ends(&run);
        let ends = [source.as_str(), destination.as_str()];
        let expected = PathExpectation {
            expected_gbps: sizes.and_then(|list| figures::expected(&list, ends)),
            same_network: place
                .as_ref()
                .and_then(|place| interfaces(place, context))
                .and_then(|list| figures::same_network(&list, ends)),
        };
        let mut kept = None;
        if state == State::Success {
            let session = run.ask().session.to_string();
            let task = FileTask::Keep {
                kind: StoredKind::Meter.as_str().to_owned(),
                session: session.clone(),
                text: run.result().to_string(),
            };
            let stored = replay.file_task(task)?;
            let stored: Value = serde_json::from_str(&stored).unwrap_or_default();
            kept = stored.get("kept").map(|_| session);
        }
        Ok(Measured { run, expected, kept })
    }

    fn ask(
        &self,
        read: &Arguments,
        place: Option<ResourceGroup>,
        (access, [source, destination]): (AccessMethod, [String; 2]),
        context: &CallContext<'_>,
    ) -> Result<MeasurementRequest, Box<ToolAction>> {
        let iterations = read.iterations.unwrap_or(DEFAULT_ITERATIONS);
        if !(1..=MAX_ITERATIONS).contains(&iterations) {
            return Err(malformed(format!(
                "iterations is {iterations}, and has to lie between 1 and {MAX_ITERATIONS}"
            )));
        }
        for (key, name) in [("source", &source), ("destination", &destination)] {
            Name::parse(name).map_err(|error| malformed(format!("{key}: {error}")))?;
        }
        let ask = MeasurementRequest {
            session: session(context)?,
            source,
            destination,
            place,
            access,
            test_type: match read.test_type {
                TestWord::Latency => TestType::Latency,
                TestWord::Throughput => TestType::Throughput,
                TestWord::Both => TestType::Both,
            },
            iterations,
            both_directions: read.both_directions,
            seconds: TestSeconds::default(),
            // What is uploaded would have to lie on the disk first; the result is kept with the session instead.
            storage: None,
            folder: self.site.captures.clone(),
            is_baseline: read.is_baseline,
            compare: Compare::Nothing,
            tolerance: TOLERANCE,
            force: false,
        };
        ask.check().map_err(|error| malformed(error.to_string()))
    }

    /// Chooses how both machines are reached: by ssh where both are configured with the addresses that are measured, else by the
    /// platform.
    fn access_method(&self, source: &str, destination: &str) -> (AccessMethod, [String; 2]) {
        let find = |name: &str| {
            let ssh = self.site.ssh.iter().find(|(own, _)| own.eq_ignore_ascii_case(name))?.1;
            let address: Ipv4Addr = ssh.target().host().parse().ok()?;
            address.is_private().then(|| (Box::new(ssh.clone()), address.to_string()))
        };
        match (find(source), find(destination)) {
            (Some((near, from)), Some((far, to))) => (AccessMethod::Ssh(near, far), [from, to]),
            (Some(_) | None, Some(_) | None) => {
                (AccessMethod::Platform, [source.to_owned(), destination.to_owned()])
            }
        }
    }
}

/// Returns how both machines are reached and their addresses, where the session reaches both by itself; nothing where it does not.
fn own_ends(
    source: &str,
    destination: &str,
    context: &CallContext<'_>,
) -> Result<Option<(AccessMethod, [String; 2])>, Box<ToolAction>> {
    let find = |name: &str| {
        let mut all = context.state.opened.hosts.iter();
        let host = all.find(|host| host.name.eq_ignore_ascii_case(name))?;
        match HostAccess::of_carrier(&host.carrier)? {
            HostAccess::Ssh(ssh) => Some(ssh),
            HostAccess::Here => None,
        }
    };
    let (Some(near), Some(far)) = (find(source), find(destination)) else { return Ok(None) };
    for (name, ssh) in [(source, &near), (destination, &far)] {
        if ssh.target().host().parse::<Ipv4Addr>().is_err() {
            return Err(malformed(format!(
                "{name} is reached as {}, and what is measured is an IPv4 address: give it one in the inventory or in [hosts]",
                ssh.target().host()
            )));
        }
    }
    let addresses = [near.target().host().to_owned(), far.target().host().to_owned()];
    Ok(Some((AccessMethod::Ssh(near, far), addresses)))
}

fn arguments_of(arguments: &Map<String, Value>) -> Result<Arguments, Box<ToolAction>> {
    parse(arguments, NAME).map_err(|refused| Box::new(ToolAction::Return(refused)))
}

/// Returns the two machines: those that are named, else those of the incident.
fn ends(read: &Arguments, context: &CallContext<'_>) -> Result<(String, String), Box<ToolAction>> {
    if let (Some(source), Some(destination)) = (&read.source, &read.destination) {
        return Ok((source.clone(), destination.clone()));
    }
    let incident = incident_ends(context);
    let known: Vec<&str> = incident.source.iter().chain(&incident.destination).map(String::as_str).collect();
    let known =
        if known.is_empty() { String::new() } else { format!(" (known so far: {})", known.join(", ")) };
    let near = read.source.clone().or(incident.source);
    let far = read.destination.clone().or(incident.destination);
    match (near, far) {
        (Some(near), Some(far)) if near != far => Ok((near, far)),
        (_, _) => Err(malformed(format!(
            "which machines are to be measured cannot be seen from the incident{known}; name them as source and destination"
        ))),
    }
}

/// Names a run: the first of a session as the session, each further one with its number.
fn session(context: &CallContext<'_>) -> Result<SessionId, Box<ToolAction>> {
    let own = &context.call.call.id;
    let before = context.state.calls().take_while(|call| call.call.id != *own);
    let earlier = before.filter(|call| call.call.tool == NAME && !call.steps.is_empty()).count();
    if earlier == 0 {
        return Ok(context.state.session.clone());
    }
    let id = format!("{}-{}", context.state.session, earlier + 1);
    id.parse().map_err(|error| malformed(format!("{id}: {error}")))
}

/// Recalls what a run is compared with.
fn baseline(session: &str, replay: &mut CallReplay<'_, '_>) -> Result<Compare, Box<ToolAction>> {
    let id: SessionId =
        session.parse().map_err(|error| malformed(format!("compare_baseline {session:?}: {error}")))?;
    let recall = FileTask::Recall { kind: StoredKind::Meter.as_str().to_owned(), session: id.to_string() };
    let text = replay.file_task(recall)?;
    if text.trim() == "null" {
        return Ok(Compare::Missing(format!("no measurement is kept of the session {id}")));
    }
    Ok(match Baseline::parse(&text) {
        Ok(baseline) => Compare::With(Box::new(baseline)),
        Err(error) => {
            Compare::Missing(format!("what is kept of the session {id} is no measurement: {error}"))
        }
    })
}

/// Returns the list of interfaces that the run read.
fn interfaces(place: &ResourceGroup, context: &CallContext<'_>) -> Option<String> {
    let command = line::interfaces(place).text();
    let step = context.steps().find(|step| step.current() == command && step.is_completed())?;
    let seen = context.state.observations.iter().find(|seen| seen.observed.step == Some(step.id))?;
    context.whole(seen.observed.id)
}

fn outcome(measured: &Measured, replay: &CallReplay<'_, '_>, context: &CallContext<'_>) -> CallResult {
    let Measured { run, expected, kept } = measured;
    let status = match run.state() {
        State::Success => "completed",
        State::Denied => "denied",
        State::Preflight | State::Measuring | State::AbortedPreflight | State::Canceled | State::Failed => {
            "failed"
        }
    };
    let audit = kept.as_ref().map_or("nothing was kept".to_owned(), |name| format!("kept as {name}"));
    let text: String = summary(run, &audit).chars().take(MAX_SUMMARY_CHARS).collect();
    let mut content = json!({
        "status": status, "observations": result::names(&replay.observations()), "suspects": [],
        "looked": looked(run), "facts": figures::facts(run, expected),
        "document": context.fence("measurement", &text),
    });
    if let (Some(fields), Some(trouble)) = (content.as_object_mut(), run.trouble()) {
        fields.insert("reason".to_owned(), json!(context.fence("reason", &trouble.text)));
        let hint = match run.state() {
            State::Denied => "nothing was started; find another test of the hypothesis",
            State::AbortedPreflight => "what blocks the measurement may be what is looked for: inspect it",
            State::Preflight | State::Measuring | State::Success | State::Canceled | State::Failed => {
                "the figures that there are stand in the facts"
            }
        };
        fields.insert("hint".to_owned(), json!(hint));
    }
    CallResult { is_error: status != "completed", ..CallResult::completed(content) }
}

/// Returns what was looked at: both ends, where all was measured that was asked for.
fn looked(run: &Run) -> Vec<Looked> {
    if run.state() != State::Success {
        return Vec::new();
    }
    figures::ends(run).map(|subject| Looked { layer: Layer::Measure, subject }).to_vec()
}

impl Tool for RunPipeMeter {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: NAME.to_owned(),
            description: "Measures latency and throughput from one machine to another with qperf and iperf, installs them where they \
                lack, and ends its servers behind it. A human is asked once for all of it. Read the figures themselves: a path can be \
                stable and slow; is_low and is_slow compare it with what such machines should carry. Example: \
                {\"source\":\"web-1\",\"destination\":\"db-1\",\"test_type\":\"both\",\"reasoning\":\"is the path slow, or the \
                application?\",\"hypothesis_id\":\"H1\"}"
                .to_owned(),
            parameters: schema::<Arguments>(),
        }
    }

    fn advance(&self, arguments: &Map<String, Value>, context: &CallContext<'_>) -> ToolAction {
        let measured = arguments_of(arguments).and_then(|read| {
            argument::check(&read.reasoning, read.hypothesis_id.as_deref(), context)?;
            let same = |other: &Value| {
                ["source", "destination"].iter().all(|key| other.get(*key) == arguments.get(*key))
            };
            argument::denied_before("a measurement between these machines", same, context)?;
            let mut replay = CallReplay::new(context, read.hypothesis_id);
            let measured = self.measure(arguments, context, &mut replay)?;
            Ok(outcome(&measured, &replay, context))
        });
        measured.map_or_else(|next| *next, |outcome| ToolAction::Return(Box::new(outcome)))
    }

    fn supports(&self, arguments: &Map<String, Value>, context: &CallContext<'_>) -> SupportedFaults {
        let measured = self.measure(arguments, context, &mut CallReplay::new(context, None));
        let looked = measured.map(|measured| looked(&measured.run)).unwrap_or_default();
        SupportedFaults { looked, ..SupportedFaults::default() }
    }
}
