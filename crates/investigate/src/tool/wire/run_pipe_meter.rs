//! `run_pipe_meter`: how long a packet takes between two machines, and how much they carry.

use std::net::Ipv4Addr;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::figures::{self, Way as Known};
use super::purpose::{self, malformed};
use super::{history, told};
use crate::model::ToolSpec;
use crate::suspect::{Borne, Layer, Looked};
use crate::tool::argument::{parse, schema};
use crate::tool::errand::Trail;
use crate::tool::{Bench, Chore, Kept, Move, Outcome, Site, Tool, subject};
use ghost_base::SessionId;
use ghost_cloud::meter::TestType;
use ghost_cloud::meter::run::{
    AccessMethod, Baseline, Compare, MeasurementRequest, Run, State, TestSeconds, summary,
};
use ghost_cloud::operation::{CommandRequest, ReadOperation};
use ghost_cloud::{Name, ResourceGroup, line};

const NAME: &str = "run_pipe_meter";
/// So often each metric is measured unless more is asked for.
const USUAL: u16 = 5;
/// More would keep people waiting.
const MOST: u16 = 20;
/// So many percent worse than a baseline is a regression.
const TOLERANCE: f64 = 10.0;
/// So much of the summary stands in a result.
const LONGEST: usize = 6_000;

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
    /// Whether the way back is measured, too.
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

/// What a run came to.
struct Measured {
    run: Run,
    known: Known,
    kept: Option<String>,
}

/// See the module.
pub(super) struct RunPipeMeter {
    site: Site,
}

impl RunPipeMeter {
    pub(super) fn new(site: Site) -> Self {
        Self { site }
    }

    fn measure(
        &self,
        arguments: &Map<String, Value>,
        bench: &Bench<'_>,
        trail: &mut Trail<'_, '_>,
    ) -> Result<Measured, Box<Move>> {
        let read = arguments_of(arguments)?;
        let group = read.resource_group.clone().or_else(|| subject::group(&self.site, bench));
        let place = purpose::place(group.as_deref(), &self.site)?;
        let ask = self.ask(&read, &place, bench)?;
        let compare = match &read.compare_baseline {
            Some(session) => baseline(session, trail)?,
            None => Compare::Nothing,
        };
        // What is known of the machines only sharpens the judgement: without it the figures stand for themselves.
        let sizes = if ask.test_type.throughput() {
            let order = CommandRequest::line(line::machines(&place), "how much should these machines carry?");
            trail.carry(&mut ReadOperation::new(order, "reading the sizes of the machines"))?.ok()
        } else {
            None
        };
        let mut run = Run::new(MeasurementRequest { compare, ..ask }, history::made(bench.state, bench.call));
        let state = trail.carry(&mut run)?;
        let [source, destination] = figures::ends(&run);
        let ends = [source.as_str(), destination.as_str()];
        let known = Known {
            expected_gbps: sizes.and_then(|list| figures::expected(&list, ends)),
            same_network: interfaces(&place, bench).and_then(|list| figures::same_network(&list, ends)),
        };
        let mut kept = None;
        if state == State::Success {
            let session = run.ask().session.to_string();
            let chore = Chore::Keep {
                kind: Kept::Meter.word().to_owned(),
                session: session.clone(),
                text: run.result().to_string(),
            };
            let told = trail.chore(chore)?;
            let told: Value = serde_json::from_str(&told).unwrap_or_default();
            kept = told.get("kept").map(|_| session);
        }
        Ok(Measured { run, known, kept })
    }

    fn ask(
        &self,
        read: &Arguments,
        place: &ResourceGroup,
        bench: &Bench<'_>,
    ) -> Result<MeasurementRequest, Box<Move>> {
        let iterations = read.iterations.unwrap_or(USUAL);
        if !(1..=MOST).contains(&iterations) {
            return Err(malformed(format!(
                "iterations is {iterations}, and has to lie between 1 and {MOST}"
            )));
        }
        let (near, far) = ends(read, bench)?;
        for (key, name) in [("source", &near), ("destination", &far)] {
            Name::parse(name).map_err(|error| malformed(format!("{key}: {error}")))?;
        }
        let (access, [source, destination]) = self.access(&near, &far);
        let ask = MeasurementRequest {
            session: session(bench)?,
            source,
            destination,
            place: Some(place.clone()),
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
    fn access(&self, source: &str, destination: &str) -> (AccessMethod, [String; 2]) {
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

fn arguments_of(arguments: &Map<String, Value>) -> Result<Arguments, Box<Move>> {
    parse(arguments, NAME).map_err(|refused| Box::new(Move::Return(refused)))
}

/// Returns the two machines: those that are named, else those of the incident.
fn ends(read: &Arguments, bench: &Bench<'_>) -> Result<(String, String), Box<Move>> {
    if let (Some(source), Some(destination)) = (&read.source, &read.destination) {
        return Ok((source.clone(), destination.clone()));
    }
    let meant = subject::ends(bench);
    let known: Vec<&str> = meant.source.iter().chain(&meant.destination).map(String::as_str).collect();
    let known =
        if known.is_empty() { String::new() } else { format!(" (known so far: {})", known.join(", ")) };
    let near = read.source.clone().or(meant.source);
    let far = read.destination.clone().or(meant.destination);
    match (near, far) {
        (Some(near), Some(far)) if near != far => Ok((near, far)),
        (_, _) => Err(malformed(format!(
            "which machines are to be measured cannot be told from the incident{known}; name them as source and destination"
        ))),
    }
}

/// Names a run: the first of a session as the session, each further one with its number.
fn session(bench: &Bench<'_>) -> Result<SessionId, Box<Move>> {
    let own = &bench.call.call.id;
    let before = bench.state.calls().take_while(|call| call.call.id != *own);
    let earlier = before.filter(|call| call.call.tool == NAME && !call.steps.is_empty()).count();
    if earlier == 0 {
        return Ok(bench.state.session.clone());
    }
    let id = format!("{}-{}", bench.state.session, earlier + 1);
    id.parse().map_err(|error| malformed(format!("{id}: {error}")))
}

/// Recalls what a run is compared with.
fn baseline(session: &str, trail: &mut Trail<'_, '_>) -> Result<Compare, Box<Move>> {
    let id: SessionId =
        session.parse().map_err(|error| malformed(format!("compare_baseline {session:?}: {error}")))?;
    let recall = Chore::Recall { kind: Kept::Meter.word().to_owned(), session: id.to_string() };
    let text = trail.chore(recall)?;
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
fn interfaces(place: &ResourceGroup, bench: &Bench<'_>) -> Option<String> {
    let command = line::interfaces(place).text();
    let step = bench.steps().find(|step| step.current() == command && step.is_completed())?;
    let seen = bench.state.observations.iter().find(|seen| seen.observed.step == Some(step.id))?;
    bench.whole(seen.observed.id)
}

fn outcome(measured: &Measured, trail: &Trail<'_, '_>, bench: &Bench<'_>) -> Outcome {
    let Measured { run, known, kept } = measured;
    let status = match run.state() {
        State::Success => "completed",
        State::Denied => "denied",
        State::Preflight | State::Measuring | State::AbortedPreflight | State::Canceled | State::Failed => {
            "failed"
        }
    };
    let audit = kept.as_ref().map_or("nothing was kept".to_owned(), |name| format!("kept as {name}"));
    let text: String = summary(run, &audit).chars().take(LONGEST).collect();
    let mut content = json!({
        "status": status, "observations": told::names(&trail.seen()), "suspects": [],
        "looked": looked(run), "facts": figures::facts(run, known),
        "document": bench.fence("measurement", &text),
    });
    if let (Some(fields), Some(trouble)) = (content.as_object_mut(), run.trouble()) {
        fields.insert("reason".to_owned(), json!(bench.fence("reason", &trouble.text)));
        let hint = match run.state() {
            State::Denied => "nothing was started; look for another way to test the hypothesis",
            State::AbortedPreflight => "what blocks the measurement may be what is looked for: inspect it",
            State::Preflight | State::Measuring | State::Success | State::Canceled | State::Failed => {
                "the figures that there are stand in the facts"
            }
        };
        fields.insert("hint".to_owned(), json!(hint));
    }
    Outcome { is_error: status != "completed", ..Outcome::of(content) }
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
                lack, and ends its servers behind it. A human is asked once for all of it. Read the figures themselves: a way can be \
                stable and slow; is_low and is_slow compare it with what such machines should carry. Example: \
                {\"source\":\"web-1\",\"destination\":\"db-1\",\"test_type\":\"both\",\"reasoning\":\"is the way slow, or the \
                application?\",\"hypothesis_id\":\"H1\"}"
                .to_owned(),
            parameters: schema::<Arguments>(),
        }
    }

    fn advance(&self, arguments: &Map<String, Value>, bench: &Bench<'_>) -> Move {
        let measured = arguments_of(arguments).and_then(|read| {
            purpose::check(&read.reasoning, read.hypothesis_id.as_deref(), bench)?;
            let same = |other: &Value| {
                ["source", "destination"].iter().all(|key| other.get(*key) == arguments.get(*key))
            };
            purpose::denied_before("a measurement between these machines", same, bench)?;
            let mut trail = Trail::new(bench, read.hypothesis_id);
            let measured = self.measure(arguments, bench, &mut trail)?;
            Ok(outcome(&measured, &trail, bench))
        });
        measured.map_or_else(|next| *next, |outcome| Move::Return(Box::new(outcome)))
    }

    fn bears(&self, arguments: &Map<String, Value>, bench: &Bench<'_>) -> Borne {
        let measured = self.measure(arguments, bench, &mut Trail::new(bench, None));
        let looked = measured.map(|measured| looked(&measured.run)).unwrap_or_default();
        Borne { looked, ..Borne::default() }
    }
}
