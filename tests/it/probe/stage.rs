//! A lab that is up, and `ghost` led to it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ghost_base::{Clock as _, ManualClock, Timestamp};
use ghost_cloud::operation::{
    CommandOutcome, CommandRequest, Operation, OperationExecutor, ShellExecutor, drive,
};
use ghost_cloud::{Name, ResourceGroup};
use ghost_shell::{CancelSignal, DenyAll, Programs, Shell};
use serde_json::Value;
use tempfile::TempDir;

pub(super) const GROUP: &str = "nw-forensics-rg";
pub(super) const SOURCE: &str = "tf-source-vm";
pub(super) const DEST: &str = "tf-dest-vm";

/// A lab that is up.
pub(super) struct Lab {
    child: Child,
    exports: Vec<(String, String)>,
    az: PathBuf,
    folder: TempDir,
}

impl Lab {
    /// Brings one up; the built-in `az` leads to it, or another one.
    pub(super) fn up(hosts: &str, az: Option<PathBuf>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = ghost(&folder.path().join("lab"));
        let mut child = command.args(["lab", "up", "--hosts", hosts]).stdout(Stdio::piped()).spawn().unwrap();
        let mut exports = Vec::new();
        for line in BufReader::new(child.stdout.take().unwrap()).lines() {
            let line = line.unwrap();
            if line == "# ready" {
                break;
            }
            if let Some((name, value)) = line.strip_prefix("export ").and_then(|line| line.split_once('=')) {
                exports.push((name.to_owned(), value.trim_matches('\'').to_owned()));
            }
        }
        let config = exports.iter().find(|(name, _)| name == "AZURE_CONFIG_DIR").map(|(_, value)| value);
        let built_in = Path::new(config.unwrap()).parent().unwrap().join("bin/az");
        let az = az.unwrap_or(built_in);
        std::fs::write(folder.path().join("ghost.toml"), format!("[programs]\naz = {az:?}\n")).unwrap();
        Self { child, exports, az, folder }
    }

    /// Gives the lab an order.
    pub(super) fn order(&self, words: &[&str]) {
        self.ordered(words).unwrap_or_else(|why| panic!("{words:?}: {why}"));
    }

    /// Gives the lab an order; returns what it said where it did not do it.
    pub(super) fn ordered(&self, words: &[&str]) -> Result<(), String> {
        let mut command = ghost(&self.folder.path().join("lab"));
        let ran = command.arg("lab").args(words).output().unwrap();
        if ran.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&ran.stderr).into_owned()) }
    }

    /// Runs `ghost`, led there.
    pub(super) fn ghost(&self, words: &[&str]) -> Output {
        let mut command = ghost(&self.data());
        command.envs(self.exports.iter().cloned()).args(words);
        command.arg("--config").arg(self.folder.path().join("ghost.toml")).output().unwrap()
    }

    /// Runs `ghost`, led there; somebody types this line at each question.
    pub(super) fn ghost_answered(&self, words: &[&str], answer: &str) -> Output {
        let mut command = ghost(&self.data());
        command.envs(self.exports.iter().cloned()).args(words).stdin(Stdio::piped());
        command.arg("--config").arg(self.folder.path().join("ghost.toml"));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (mut typed, mut printed) = (child.stdin.take().unwrap(), child.stderr.take().unwrap());
        let mut stdout = child.stdout.take().unwrap();
        let events = std::thread::spawn(move || {
            let mut all = Vec::new();
            stdout.read_to_end(&mut all).unwrap();
            all
        });
        let (mut stderr, mut part) = (Vec::new(), [0; 4096]);
        loop {
            let count = printed.read(&mut part).unwrap();
            if count == 0 {
                break;
            }
            stderr.extend_from_slice(&part[..count]);
            if stderr.ends_with(b"[M]odify > ") {
                stderr.push(b'\n');
                writeln!(typed, "{answer}").unwrap();
            }
        }
        Output { status: child.wait().unwrap(), stdout: events.join().unwrap(), stderr }
    }

    /// Starts `ghost`, led there, for whoever reads what it prints.
    pub(super) fn started(&self, words: &[&str]) -> Child {
        let mut command = ghost(&self.data());
        command.envs(self.exports.iter().cloned()).args(words).stdout(Stdio::piped()).stderr(Stdio::null());
        command.arg("--config").arg(self.folder.path().join("ghost.toml")).spawn().unwrap()
    }

    /// Runs `ghost … --json`, which has to go well.
    pub(super) fn json(&self, words: &[&str]) -> Value {
        let ran = self.ghost(&[words, &["--json"]].concat());
        assert!(ran.status.success(), "{words:?}: {}", String::from_utf8_lossy(&ran.stderr));
        serde_json::from_slice(&ran.stdout).unwrap()
    }

    /// Probes the machine `vm` with a subcommand.
    pub(super) fn vm(&self, words: &[&str], vm: &str) -> Value {
        self.json(&[words, &["--vm", vm, "-g", GROUP]].concat())
    }

    pub(super) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Drives an operation here, with a clock that jumps; returns what was waited for, too.
    pub(super) async fn drive<E: Operation>(&self, mut operation: E) -> (E::Result, Vec<String>) {
        let programs = Programs::new([("az".to_owned(), self.az.clone())].into()).unwrap();
        let environment =
            self.exports.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect();
        let shell = Shell::builder("s1".parse().unwrap(), &self.data())
            .approver(Arc::new(DenyAll))
            .programs(programs)
            .environment(environment)
            .build()
            .unwrap();
        let gate = ShellExecutor::new(Arc::new(shell), self.data().join("evidence"));
        let clock = ManualClock::new(Timestamp::from_millis(0));
        let here = Here { gate, clock, waited: std::sync::Mutex::default() };
        let result = drive(&mut operation, &here, &here.clock).await.unwrap();
        (result, here.waited.into_inner().unwrap())
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        // It takes its namespaces down with it.
        let mut command = ghost(&self.folder.path().join("lab"));
        drop(command.args(["lab", "down"]).output());
        drop(self.child.wait());
    }
}

pub(super) fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

pub(super) fn place() -> ResourceGroup {
    ResourceGroup { subscription: None, group: name(GROUP) }
}

/// Makes a call of the program with a data folder and nothing of this environment.
pub(super) fn ghost(data: &Path) -> Command {
    #[expect(clippy::disallowed_methods, reason = "a test runs programs")]
    let mut command = Command::new(env!("CARGO_BIN_EXE_ghost"));
    command.env_clear().env("GHOST_DATA_DIR", data).stdin(Stdio::null());
    command
}

struct Here {
    gate: ShellExecutor,
    clock: ManualClock,
    waited: std::sync::Mutex<Vec<String>>,
}

#[async_trait]
impl OperationExecutor for Here {
    async fn run(&self, order: &CommandRequest) -> CommandOutcome {
        self.clock.advance(Duration::from_secs(1));
        self.gate.run(order, CancelSignal::never()).await
    }

    async fn wait(&self, until: Timestamp, why: &str) -> bool {
        self.waited.lock().unwrap().push(why.to_owned());
        self.clock.advance(until.since(self.clock.now()));
        true
    }
}
