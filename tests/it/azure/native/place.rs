//! A gate before the native reader, and a lab that it reads.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use ghost_cloud::reader::{NativeReader, Place};
use ghost_cloud::sign_in::{Account, SignInMethod, identity};
use ghost_shell::{
    Approver, CancelSignal, Choice, ClipLimits, Decision, DenyAll, ExecError, Identities, Limits, Output,
    Permit, Policy, Problem, Request, Response, Reviewer, Runner, Setting, Shell, Status, quote,
};
use serde_json::Value;

use crate::azure::stage::Stage;

/// How a line ends that is left to `az`: nobody is there.
const LEFT: i32 = 99;

/// Answers what is left to `az`: that it was.
#[derive(Debug)]
struct Nobody;

#[async_trait]
impl Runner for Nobody {
    fn starts_processes(&self) -> bool {
        false
    }

    async fn run(&self, permit: Permit, _: &Setting, _: CancelSignal) -> Result<Output, ExecError> {
        // A sign-in goes before what is left to `az`.
        let signs_in = permit.words().is_some_and(|words| words.get(1).is_some_and(|word| word == "login"));
        let (exit, why) = if signs_in { (0, "") } else { (LEFT, "left to az") };
        Ok(Output::answered(exit, Vec::new(), why.into(), Duration::ZERO, "(nobody)"))
    }
}

/// Approves of everything.
#[derive(Debug)]
struct Yes;

#[async_trait]
impl Approver for Yes {
    async fn decide(&self, _: &Request) -> Decision {
        Decision { choice: Choice::Approve, who: Reviewer::new("ana") }
    }
}

/// Returns the policy; its examples are judged once.
fn policy() -> Arc<Policy> {
    static POLICY: OnceLock<Arc<Policy>> = OnceLock::new();
    Arc::clone(POLICY.get_or_init(|| Arc::new(Policy::builtin().unwrap().clone())))
}

/// Where everything is recorded, and a gate.
pub(in crate::azure) struct Native {
    pub(super) data: tempfile::TempDir,
    pub(super) shell: Shell,
}

impl Native {
    /// Reads a lab as its managed identity.
    pub(in crate::azure) fn over(stage: &Stage) -> Self {
        Self::with(stage, SignInMethod::Managed { client: None }, &[])
    }

    /// Reads a lab as somebody, with other variables in the environment.
    pub(super) fn with(stage: &Stage, method: SignInMethod, other: &[(&str, &str)]) -> Self {
        Self::within(stage, method, other, Duration::from_secs(120))
    }

    /// The same with so much time for a command.
    pub(super) fn within(
        stage: &Stage,
        method: SignInMethod,
        other: &[(&str, &str)],
        timeout: Duration,
    ) -> Self {
        Self::asking(stage, method, other, timeout, Arc::new(DenyAll))
    }

    /// The same with somebody who approves of everything.
    pub(super) fn approving(stage: &Stage, method: SignInMethod) -> Self {
        Self::asking(stage, method, &[], Duration::from_secs(120), Arc::new(Yes))
    }

    fn asking(
        stage: &Stage,
        method: SignInMethod,
        other: &[(&str, &str)],
        timeout: Duration,
        approver: Arc<dyn Approver>,
    ) -> Self {
        let data = tempfile::tempdir().unwrap();
        let exports = stage.exports.iter().map(|(name, value)| (*name, value.as_str()));
        let environment: BTreeMap<String, OsString> = exports
            .chain(other.iter().copied())
            .map(|(name, value)| (name.to_owned(), value.into()))
            .collect();
        let like = PathBuf::from(stage.export("AZURE_CONFIG_DIR"));
        let account = Account { method, subscription: None };
        let reader = identity("reader", &account, data.path(), Some(&like));
        let place = Place::read(Some(&like), &environment).unwrap();
        let folder = reader.folder().unwrap().to_owned();
        let native = NativeReader::new(&account, folder, place, Arc::new(Nobody)).unwrap();
        let shell = Shell::builder("s1".parse().unwrap(), data.path())
            .policy(policy())
            .environment(environment)
            .identities(Arc::new(Identities::one(reader)))
            .runner(Arc::new(native))
            .approver(approver)
            .clip(ClipLimits { lines: 1_000_000, tokens: 10_000_000 })
            .limits(Limits { timeout, ..Limits::default() })
            .build()
            .unwrap();
        Self { data, shell }
    }

    /// Runs words of `az`; nothing where they are left to it, or ask.
    pub(in crate::azure) async fn read(&self, words: &[String]) -> Option<Response> {
        let line: Vec<String> =
            std::iter::once("az").chain(words.iter().map(String::as_str)).map(quote).collect();
        let response = self.shell.run(&line.join(" "), "what is there?").await;
        let left = response.exit_code == Some(LEFT) || response.status == Status::Denied;
        (!left && response.error != Some(Problem::Blocked)).then_some(response)
    }

    /// Runs a line of `az` that has to be read natively.
    pub(in crate::azure) async fn line(&self, line: &str) -> Response {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        self.read(&words).await.unwrap_or_else(|| panic!("left to az: {line}"))
    }

    /// Runs a line that has to be answered, and returns the document.
    pub(in crate::azure) async fn document(&self, line: &str) -> Value {
        let response = self.line(line).await;
        assert_eq!(response.exit_code, Some(0), "{line}: {response:?}");
        serde_json::from_str(&response.output).unwrap()
    }

    /// Returns the records.
    pub(super) fn audit(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.data.path().join("audit/s1.jsonl")).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}
