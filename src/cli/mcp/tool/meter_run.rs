//! `meter_run`: latency and throughput from one machine to another.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::cloud;
use super::definition::{Definition, Finding, Work, arguments, long};
use crate::cli::mcp::answer::Found;
use crate::cli::mcp::call::{Call, Progress};
use crate::cli::mcp::hint::Runs;
use crate::cli::mcp::schema::{self, any, list, maybe, object, text, words};
use ghost_base::{Clock as _, SystemClock, Timestamp};
use ghost_cloud::meter::run::{MeasurementContext, Run, Store, TestSeconds, carry_out};
use ghost_cloud::operation::{CommandOutcome, CommandRequest, ShellExecutor};
use ghost_shell::{Cancel, CancelSignal};
use ghost_tools::meter::WantedMeasurement;

/// The tool.
pub(super) const TOOL: Definition = Definition {
    name: "meter_run",
    title: "Measure latency and throughput",
    description: "Measures latency (qperf) and throughput (iperf 2) from one machine to another, several times each, judges whether the figures are stable, and compares them with an earlier run. It checks security rules and tools first, asks a human once for everything that it changes, and ends the servers that it started, also when the call is canceled. `status` says how it ended; `denied` is an answer, not an error.",
    runs: Runs::Those(cloud::measurement),
    lasts: long,
    input: schema::input::<Input>,
    output,
    work: Work::Task(start),
};

/// A package manager takes its time.
const MAX_COMMAND_SECONDS: u64 = 900;

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum TestType {
    Latency,
    Throughput,
    Both,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The machine that sends: its name, or its address. That of `[meter]` unless said.
    source: Option<String>,
    /// The machine that receives. That of `[meter]` unless said.
    dest: Option<String>,
    /// The machines' resource group. That of `[meter]` unless said.
    resource_group: Option<String>,
    /// The subscription, by its id; the one that is signed in to unless said.
    subscription: Option<String>,
    /// What is measured; both unless said.
    test_type: Option<TestType>,
    /// How often each is measured; 8 unless said.
    #[schemars(range(min = 1))]
    iterations: Option<u16>,
    /// Measure the other direction, too.
    #[serde(default)]
    both_directions: bool,
    /// How long one iteration of latency takes, in seconds; 2 unless said.
    latency_seconds: Option<u16>,
    /// How long one iteration of throughput takes, in seconds; 10 unless said.
    throughput_seconds: Option<u16>,
    /// Keep the run as what later ones are compared with.
    #[serde(default)]
    is_baseline: bool,
    /// Compare with the baseline of these two machines.
    #[serde(default)]
    compare_baseline: bool,
    /// Compare with the run of this session.
    compare_with: Option<String>,
}

fn start(call: Call) -> Finding {
    Box::pin(run(call))
}

async fn run(mut call: Call) -> anyhow::Result<Found> {
    let input: Input = arguments(std::mem::take(&mut call.given))?;
    let place = &call.place;
    let store = Store::open(place.setup.data()?)?;
    let compare = match input.compare_with {
        Some(session) => Some(Some(session)),
        None => input.compare_baseline.then_some(None),
    };
    let wanted = WantedMeasurement {
        source: input.source,
        dest: input.dest,
        resource_group: input.resource_group,
        subscription: input.subscription,
        test_type: input.test_type.map(|test| {
            let word = match test {
                TestType::Latency => "latency",
                TestType::Throughput => "throughput",
                TestType::Both => "both",
            };
            word.to_owned()
        }),
        iterations: input.iterations,
        both_directions: input.both_directions,
        seconds: TestSeconds {
            latency: input.latency_seconds.unwrap_or(2),
            throughput: input.throughput_seconds.unwrap_or(10),
        },
        is_baseline: input.is_baseline,
        compare_baseline: compare,
        tolerance: 20.0,
    };
    let (mut run, policy) = wanted.prepared(&place.setup, &store)?;
    let session = run.ask().session.clone();
    store.is_new(&session)?;
    let timeout = place.setup.config.shell.timeout_seconds.max(MAX_COMMAND_SECONDS);
    let shell = place.setup.shell(session.clone(), Some(timeout))?.policy(Arc::new(policy));
    let progress = call.progress.clone();
    let approver = place.approver(session.as_str(), call.cancel.clone(), move |line| progress.tell(line))?;
    let shell = shell.approver(approver).build()?;
    let context = Context {
        gate: ShellExecutor::new(Arc::new(shell), place.setup.data()?.join("evidence")),
        progress: call.progress.clone(),
        leaving: call.cancel.clone(),
        agreed: AtomicBool::new(false),
    };
    let state = carry_out(&mut run, &context, &store, &SystemClock).await?;
    let mut document = run.result();
    if let Some(fields) = document.as_object_mut() {
        fields.insert("session".to_owned(), json!(session.as_str()));
        fields.insert("status".to_owned(), json!(state.word()));
    }
    Ok(document.into())
}

/// A run that a client began.
struct Context {
    gate: ShellExecutor,
    progress: Progress,
    leaving: CancelSignal,
    /// Something was agreed to: from here on a command is not cut off because the client is gone, for servers have to be ended.
    agreed: AtomicBool,
}

#[async_trait]
impl MeasurementContext for Context {
    async fn run(&self, order: &CommandRequest) -> CommandOutcome {
        let (cancel, stop) = Cancel::new();
        let running = self.gate.run(order, stop);
        tokio::pin!(running);
        let is_patient = self.agreed.load(Ordering::SeqCst);
        let mut leaving = self.leaving.clone();
        let answer = tokio::select! {
            answer = &mut running => answer,
            () = leaving.canceled(), if !is_patient => {
                cancel.cancel();
                running.await
            }
        };
        if !order.plan.is_empty() && !matches!(answer, CommandOutcome::Denied { .. }) {
            self.agreed.store(true, Ordering::SeqCst);
        }
        answer
    }

    async fn wait(&self, until: Timestamp) {
        let mut leaving = self.leaving.clone();
        tokio::select! {
            () = tokio::time::sleep(until.since(SystemClock.now())) => {}
            () = leaving.canceled() => {}
        }
    }

    fn is_left(&self) -> bool {
        self.leaving.is_canceled()
    }

    fn tell(&self, run: &Run, doing: &str) {
        self.progress.tell(format!("{} · {doing}", run.state().word()));
    }
}

fn output() -> Value {
    object(&[
        ("session", text()),
        (
            "status",
            words(&[
                "preflight",
                "measuring",
                "success",
                "aborted_preflight",
                "denied",
                "canceled",
                "failed",
            ]),
        ),
        ("trouble", maybe(any())),
        ("test_metadata", any()),
        ("preflight", any()),
        ("results", any()),
        ("comparison", maybe(any())),
        ("needs_cleanup", list(text())),
    ])
}
