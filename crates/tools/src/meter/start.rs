//! `ghost meter run`.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;
use serde_json::json;

use super::figures::BAD_NEWS;
use super::named::MeterInput;
use super::pipe;
use super::terminal::Terminal;
use crate::config::Environment;
use crate::consent::Consent;
use crate::global::Global;
use crate::print::harmless;
use crate::print::{Hinted, line, note};
use crate::setup::Setup;
use crate::wait::drive;
use ghost_base::{Clock as _, SystemClock};
use ghost_cloud::meter::run::{
    AccessMethod, MeasurementRequest, Run, State, Store, TestSeconds, carry_out, summary,
};
use ghost_cloud::operation::CommandKind;
use ghost_shell::{Builder, Policy};

/// It is open whether the run is stable.
const INCONCLUSIVE: u8 = 4;

/// The arguments of `ghost meter run`.
#[derive(Debug, Default, Args)]
pub(super) struct Arguments {
    /// The machine that sends: its name, or its address.
    #[arg(long, alias = "source-ip", value_name = "VM|ADDRESS")]
    pub source: Option<String>,
    /// The machine that receives.
    #[arg(long, alias = "dest-ip", value_name = "VM|ADDRESS")]
    pub dest: Option<String>,
    /// The machines' resource group.
    #[arg(long, short = 'g', value_name = "GROUP")]
    pub resource_group: Option<String>,
    /// The subscription, by its id; the one that is signed in to unless said.
    #[arg(long, alias = "subscription-id", value_name = "ID")]
    pub subscription: Option<String>,
    /// How machines are reached: azure (by run-command) or ssh; azure unless said.
    #[arg(long, value_name = "PROVIDER")]
    pub provider: Option<String>,
    /// As whom ssh signs in; azureuser unless said.
    #[arg(long, value_name = "USER")]
    pub ssh_user: Option<String>,
    /// How the source is reached by ssh, where that is not its address; the destination is then reached through it.
    #[arg(long, alias = "source-public-ip", value_name = "HOST")]
    pub source_host: Option<String>,
    /// The file of the key for the source; an agent is asked unless said.
    #[arg(long, alias = "ssh-source-vm-key-path", value_name = "FILE")]
    pub source_key: Option<String>,
    /// The file of the key for the destination; that for the source unless said.
    #[arg(long, alias = "ssh-dest-vm-key-path", value_name = "FILE")]
    pub dest_key: Option<String>,
    /// The file of known host keys; ~/.ssh/known_hosts unless said.
    #[arg(long, value_name = "FILE")]
    pub known_hosts: Option<String>,
    /// What is measured: latency, throughput or both; both unless said.
    #[arg(long, value_name = "TEST")]
    pub test_type: Option<String>,
    /// How often each is measured; 8 unless said.
    #[arg(long, value_name = "N")]
    pub iterations: Option<u16>,
    /// Measure the other direction, too.
    #[arg(long)]
    pub both_directions: bool,
    /// How long one iteration of latency takes, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 2)]
    pub latency_seconds: u16,
    /// How long one iteration of throughput takes, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    pub throughput_seconds: u16,
    /// Keep the run as what later ones are compared with.
    #[arg(long)]
    pub is_baseline: bool,
    /// Compare with the baseline of these two machines, or with the run of a session.
    #[arg(long, value_name = "SESSION", num_args = 0..=1)]
    pub compare_baseline: Option<Option<String>>,
    /// So many percent worse than the baseline is a regression.
    #[arg(long, value_name = "PERCENT", default_value_t = 20.0)]
    pub tolerance: f64,
    /// The storage account that the result is uploaded to.
    #[arg(long, alias = "storage-account-name", value_name = "ACCOUNT")]
    pub storage_account: Option<String>,
    /// The container in it.
    #[arg(long, alias = "storage-container-name", value_name = "CONTAINER")]
    pub storage_container: Option<String>,
    /// Upload nothing, whatever the configuration says.
    #[arg(long)]
    pub no_upload: bool,
    /// The session; one that says when it was unless said.
    #[arg(long, alias = "session", value_name = "ID")]
    pub session_id: Option<String>,
    /// Measure although rules block a port; keep an unstable run as a baseline.
    #[arg(long)]
    pub force: bool,
    /// Print every command that it may run, with its verdict, and run none.
    #[arg(long)]
    plan: bool,
    /// What to do when a human has to be asked: the values of `ghost capture` and `ghost shell run`.
    #[arg(long, value_enum, default_value_t = Consent::Ask)]
    approve: Consent,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
    /// Exit with 3 on an anomaly or a regression, with 4 where it is open whether the run is stable.
    #[arg(long)]
    exit_code: bool,
}

/// What is to be measured, as somebody said it who types no command line. The rest is what the configuration says.
pub struct WantedMeasurement {
    /// The machine that sends: its name, or its address.
    pub source: Option<String>,
    /// The machine that receives.
    pub dest: Option<String>,
    /// The machines' resource group.
    pub resource_group: Option<String>,
    /// The subscription.
    pub subscription: Option<String>,
    /// What is measured.
    pub test_type: Option<String>,
    /// How often each is measured.
    pub iterations: Option<u16>,
    /// Measure the other direction, too.
    pub both_directions: bool,
    /// How long one iteration takes.
    pub seconds: TestSeconds,
    /// Keep the run as what later ones are compared with.
    pub is_baseline: bool,
    /// Compare with the baseline of these two machines (`None` within), or with the run of a session.
    pub compare_baseline: Option<Option<String>>,
    /// So many percent worse than the baseline is a regression.
    pub tolerance: f64,
}

impl WantedMeasurement {
    /// Checks it, and makes the run and the policy that knows its carriers. Nothing is started.
    pub fn prepared(self, setup: &Setup, store: &Store) -> anyhow::Result<(Run, Policy)> {
        let arguments = Arguments {
            source: self.source,
            dest: self.dest,
            resource_group: self.resource_group,
            subscription: self.subscription,
            test_type: self.test_type,
            iterations: self.iterations,
            both_directions: self.both_directions,
            latency_seconds: self.seconds.latency,
            throughput_seconds: self.seconds.throughput,
            is_baseline: self.is_baseline,
            compare_baseline: self.compare_baseline,
            tolerance: self.tolerance,
            ..Arguments::default()
        };
        let input = MeterInput { arguments: &arguments, pipe: BTreeMap::new(), setup };
        let ask = input.ask(store)?;
        let policy = known(setup.policy()?.as_ref(), &ask);
        Ok((Run::new(ask, SystemClock.now()), policy))
    }
}

/// Runs the subcommand.
pub(super) fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<u8> {
    let environment = Environment::read();
    let pipe = match &global.config {
        Some(path) => pipe::read(path, &environment)?,
        None => None,
    };
    let setup = match &pipe {
        // Such a file says nothing about the rest of the program.
        Some(_) => Setup::new(&Global { config: None, ..global.clone() })?,
        None => Setup::new(global)?,
    };
    let store = Store::open(setup.data()?)?;
    let said = MeterInput { arguments, pipe: pipe.unwrap_or_default(), setup: &setup };
    let ask = said.ask(&store)?;
    let policy = known(setup.policy()?.as_ref(), &ask);
    let mut run = Run::new(ask, SystemClock.now());
    if arguments.plan {
        let gate = setup.shell(run.ask().session.clone(), None)?.policy(Arc::new(policy.clone()));
        return plan(&run, &policy, &gate, arguments);
    }
    store.is_new(&run.ask().session)?;
    note(&format!(
        "session {}; everything that it changes is asked for once; Ctrl-C ends it and its servers",
        run.ask().session
    ));
    note(&arguments.approve.describe(&setup));
    let state = drive(|| async {
        let terminal = Terminal::new(&setup, policy, &run, arguments.approve)?;
        anyhow::Ok(carry_out(&mut run, &terminal, &store, &SystemClock).await?)
    })??;
    finish(&run, state, &store, arguments)
}

/// Lets the policy know by which words of ssh our scripts are carried.
fn known(policy: &Policy, ask: &MeasurementRequest) -> Policy {
    let ends = match &ask.access {
        AccessMethod::Platform => Vec::new(),
        AccessMethod::Ssh(source, destination) => vec![source.clone(), destination.clone()],
    };
    let words = ends.into_iter().filter_map(|ssh| ghost_cloud::guest::GuestAccess::Ssh(ssh).known());
    policy.clone().carried_by(words)
}

/// Prints what would run.
fn plan(run: &Run, policy: &Policy, gate: &Builder, arguments: &Arguments) -> anyhow::Result<u8> {
    let mut steps: Vec<(String, String, String, usize)> = Vec::new();
    for order in run.foreseen() {
        let (verdict, text) = match &order.what {
            CommandKind::Line(line) => {
                let text = line.text();
                (gate.judge(&text)?.verdict, text)
            }
            CommandKind::Script { carrier, script, variables } => {
                let values: Vec<(&str, &str)> =
                    variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
                let declared =
                    policy.script(script).context("finding a script of the policy")?.fill(&values)?;
                let ruling = gate.judge_script(carrier.words(), &declared)?;
                (ruling.verdict, format!("{} (script {script})", carrier.text()))
            }
        };
        match steps.last_mut().filter(|(_, last, ..)| *last == text) {
            Some((.., times)) => *times += 1,
            None => steps.push((verdict.to_string(), text, order.why, 1)),
        }
    }
    if arguments.json {
        let commands: Vec<_> = steps
            .iter()
            .map(|(verdict, command, why, times)| json!({"command": command, "verdict": verdict, "why": why, "times": times}))
            .collect();
        line(&json!({"plan": commands}).to_string())?;
        return Ok(0);
    }
    for (verdict, command, why, times) in &steps {
        let times = if *times > 1 { format!(" ({times} times)") } else { String::new() };
        line(&harmless(&format!("{verdict:<5} {command}\n      {why}{times}")))?;
    }
    line(
        "0.0.0.0, MACHINE-OF- and INTERFACE-OF- stand for what is looked up first; stale servers and missing tools add to it.\nNothing was run; what is RISKY is asked for once, all of it together.",
    )?;
    Ok(0)
}

/// Tells how it went, and returns the exit code.
fn finish(run: &Run, state: State, store: &Store, arguments: &Arguments) -> anyhow::Result<u8> {
    let session = &run.ask().session;
    let result = store.path(session, "result");
    #[cfg(feature = "plot")]
    picture(run, store);
    let text = harmless(&summary(run, &result.display().to_string()));
    if state != State::Success {
        let measured = run.judged().iter().any(Option::is_some);
        let kept = if measured { result } else { store.path(session, "preflight") };
        if measured {
            note(&text);
        }
        let trouble = run.trouble();
        let what = trouble.map_or_else(|| state.word().to_owned(), |trouble| harmless(&trouble.text));
        let error = anyhow::anyhow!("{what} ({})", state.word().replace('_', " "));
        let hint = trouble.and_then(|trouble| trouble.hint.as_deref()).map(harmless);
        let hint = hint.map(|hint| format!("{hint}; ")).unwrap_or_default();
        return Err(Hinted::new(error, format!("{hint}what is known lies in {}", kept.display())).into());
    }
    line(&if arguments.json { run.result().to_string() } else { text })?;
    if !arguments.exit_code {
        return Ok(0);
    }
    let judged: Vec<_> = run.judged().into_iter().flatten().collect();
    let regression = run.comparison().is_some_and(|comparison| comparison.is_regression());
    let bad = regression || judged.iter().any(|judged| judged.anomaly().is_some());
    let open = judged.iter().any(|judged| judged.is_stable.is_none());
    Ok(match (bad, open) {
        (true, _) => BAD_NEWS,
        (false, true) => INCONCLUSIVE,
        (false, false) => 0,
    })
}

#[cfg(feature = "plot")]
fn picture(run: &Run, store: &Store) {
    let path = store.folder().join(format!("{}_chart.png", run.ask().session));
    let drawn = ghost_cloud::meter::run::chart(run).map_err(|error| error.to_string());
    let kept = drawn.and_then(|png| match png {
        Some(png) => ghost_base::write_private(&path, &png).map(|()| true).map_err(|error| error.to_string()),
        None => Ok(false),
    });
    match kept {
        Ok(true) => note(&format!("picture: {}", path.display())),
        Ok(false) => {}
        Err(error) => note(&harmless(&format!("warning: the picture could not be kept: {error}"))),
    }
}
