//! A lab with two machines, and a human who agrees or not.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use ghost_base::{SystemClock, Timestamp};
use ghost_cloud::meter::TestType;
use ghost_cloud::meter::run::{
    AccessMethod, Compare, MeasurementContext, MeasurementRequest, Run, Store, TestSeconds, carry_out,
};
use ghost_cloud::operation::{CommandOutcome, CommandRequest, ShellExecutor};
use ghost_cloud::{Account, Container, Name, ResourceGroup};
use ghost_shell::{Approver, CancelSignal, Choice, Decision, Programs, Request, Reviewer, Shell};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::Notify;

/// A lab that runs.
pub(crate) struct Lab {
    child: Child,
    folder: TempDir,
    pub(crate) az: PathBuf,
    pub(super) environment: BTreeMap<String, OsString>,
}

impl Lab {
    /// Brings one up.
    pub(crate) fn up(hosts: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("lab");
        let mut child =
            ghost(&data, &["lab", "up", "--hosts", hosts]).stdout(Stdio::piped()).spawn().unwrap();
        let mut environment = BTreeMap::new();
        let mut az = None;
        for line in BufReader::new(child.stdout.take().unwrap()).lines() {
            let line = line.unwrap();
            if let Some((name, value)) = line.strip_prefix("export ").and_then(|line| line.split_once('=')) {
                environment.insert(name.to_owned(), value.trim_matches('\'').into());
            }
            if let Some(folder) = line.strip_prefix("# no az here? this folder has one: ") {
                az = Some(Path::new(folder).join("az"));
            }
            if line == "# ready" {
                break;
            }
        }
        Self { child, folder, az: az.unwrap(), environment }
    }

    /// Runs a subcommand of the lab, which has to succeed.
    pub(crate) fn order(&self, words: &[&str]) -> String {
        let words = [&["lab"], words].concat();
        let output = ghost(&self.folder.path().join("lab"), &words).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    /// Runs lines on a machine and returns what the platform tells of it.
    pub(super) fn guest(&self, machine: &str, lines: &str) -> String {
        let words = ["az", "--", "vm", "run-command", "invoke", "-g", "nw-forensics-rg", "-n", machine];
        let script = ["--command-id", "RunShellScript", "--scripts", lines];
        self.order(&[&words[..], &script].concat())
    }

    /// Says who listens on the ports of a measurement.
    pub(crate) fn listeners(&self, machine: &str) -> usize {
        let reported = self.guest(machine, "ss -Hltn");
        ["5001", "19765", "19766"].iter().filter(|port| reported.contains(&format!(":{port} "))).count()
    }

    pub(super) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub(super) fn store(&self) -> Store {
        Store::open(&self.data()).unwrap()
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        // Namespaces are taken down by the lab itself.
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        drop(self.child.wait());
    }
}

/// Makes a call of the program.
pub(super) fn ghost(data: &Path, words: &[&str]) -> Command {
    #[expect(clippy::disallowed_methods, reason = "a test runs programs")]
    let mut command = Command::new(env!("CARGO_BIN_EXE_ghost"));
    // What stands behind `--` is somebody else's.
    command.arg("--data-dir").arg(data).args(words).stdin(Stdio::null());
    command
}

/// What is measured unless a test says something else: short, and from one machine to the other.
pub(super) fn ask(session: &str, store: &Store) -> MeasurementRequest {
    MeasurementRequest {
        session: session.parse().unwrap(),
        source: "tf-source-vm".to_owned(),
        destination: "tf-dest-vm".to_owned(),
        place: Some(ResourceGroup { subscription: None, group: Name::parse("nw-forensics-rg").unwrap() }),
        access: AccessMethod::Platform,
        test_type: TestType::Both,
        iterations: 4,
        both_directions: false,
        seconds: TestSeconds { latency: 2, throughput: 10 },
        storage: None,
        folder: store.folder().display().to_string(),
        is_baseline: false,
        compare: Compare::Nothing,
        tolerance: 20.0,
        force: false,
    }
}

/// The storage of the lab's estate.
pub(super) fn storage() -> Option<(Account, Container)> {
    Some((Account::parse("nwlogs080613").unwrap(), Container::parse("pktcaptures").unwrap()))
}

/// Agrees to everything, or to nothing that holds a word; notes how often it was asked.
#[derive(Clone, Default)]
pub(super) struct Human {
    pub(super) never: &'static str,
    pub(super) asked: Arc<Mutex<Vec<Vec<String>>>>,
}

#[async_trait]
impl Approver for Human {
    async fn decide(&self, request: &Request) -> Decision {
        let mut commands: Vec<String> = request.plan.iter().map(|step| step.command.clone()).collect();
        if commands.is_empty() {
            commands.push(request.command.clone());
        }
        let denied = !self.never.is_empty() && commands.iter().any(|command| command.contains(self.never));
        self.asked.lock().unwrap().push(commands);
        let choice = if denied { Choice::Deny { reason: "not now".to_owned() } } else { Choice::Approve };
        Decision { choice, who: Reviewer::new("ana") }
    }
}

/// An executor that may fall silent for ever at a command.
pub(super) struct Table {
    pub(super) gate: ShellExecutor,
    pub(super) dies_at: Option<&'static str>,
    pub(super) dead: Arc<Notify>,
}

impl Table {
    pub(super) fn new(lab: &Lab, session: &str, human: Human, az: &Path) -> Self {
        let data = lab.data();
        let programs = Programs::new([("az".to_owned(), az.to_owned())].into()).unwrap();
        let shell = Shell::builder(session.parse().unwrap(), &data)
            .approver(Arc::new(human))
            .programs(programs)
            .environment(lab.environment.clone())
            .build()
            .unwrap();
        Self {
            gate: ShellExecutor::new(Arc::new(shell), data.join("evidence")),
            dies_at: None,
            dead: Arc::default(),
        }
    }
}

#[async_trait]
impl MeasurementContext for Table {
    async fn run(&self, order: &CommandRequest) -> CommandOutcome {
        if self.dies_at.is_some_and(|word| order.why.contains(word)) {
            self.dead.notify_one();
            std::future::pending::<()>().await;
        }
        self.gate.run(order, CancelSignal::never()).await
    }

    async fn wait(&self, _until: Timestamp) {}

    fn is_left(&self) -> bool {
        false
    }

    fn tell(&self, _run: &Run, _doing: &str) {}
}

/// Measures, and returns the run and what the human was asked.
pub(super) async fn measured(lab: &Lab, ask: MeasurementRequest, human: Human) -> (Run, Vec<Vec<String>>) {
    let az = lab.az.clone();
    measured_by(lab, ask, human, &az).await
}

/// Measures with a certain `az`.
pub(super) async fn measured_by(
    lab: &Lab,
    ask: MeasurementRequest,
    human: Human,
    az: &Path,
) -> (Run, Vec<Vec<String>>) {
    let table = Table::new(lab, ask.session.as_str(), human.clone(), az);
    let store = lab.store();
    let mut run = Run::new(ask.check().unwrap(), Timestamp::from_millis(1_700_000_000_000));
    carry_out(&mut run, &table, &store, &SystemClock).await.unwrap();
    let asked = human.asked.lock().unwrap().clone();
    (run, asked)
}

/// Reads a document of a session.
pub(super) fn document(store: &Store, session: &str, what: &str) -> Value {
    let path = store.path(&session.parse().unwrap(), what);
    serde_json::from_str(&store.read(&path).unwrap()).unwrap()
}
