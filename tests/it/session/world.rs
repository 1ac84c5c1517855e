//! A session to drive in a test, and a human who answers its questions.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ghost_base::{Clock, ManualClock, SessionId, Timestamp};
use ghost_investigate::event::{HumanMessage, Instruction, Opened, Origin, Recorded, Reply, read};
use ghost_investigate::model::{Investigator, Scripted};
use ghost_investigate::replay::{ReplayInputs, Wording, replay};
use ghost_investigate::state::State;
use ghost_investigate::{Limits, SelfApproval};
use ghost_session::export::export;
use ghost_session::{
    DeliveryError, DriveControl, DriveOutcome, Engine, InboxMessage, NoObserver, Observer, ReportDelivery,
    SubmittedVote, VoteResult, submit_vote,
};
use ghost_shell::{CancelSignal, Policy, Programs, Scope, Shell, Support, Surroundings};
use ghost_store::{EmbeddedStore, Settings, Store};
use tempfile::TempDir;

/// Puts reports into a file each.
pub(super) struct Folder(pub(super) PathBuf);

#[async_trait]
impl ReportDelivery for Folder {
    async fn deliver(&self, _state: &State, report: &str) -> Result<String, DeliveryError> {
        std::fs::write(self.0.join("rca.md"), report).map_err(DeliveryError::service)?;
        Ok("a file".to_owned())
    }
}

/// A session and everything around it.
pub(super) struct World {
    pub(super) folder: TempDir,
    pub(super) store: Arc<dyn Store>,
    pub(super) clock: Arc<ManualClock>,
    pub(super) session: SessionId,
    pub(super) limits: Limits,
    pub(super) scope: Option<Scope>,
    pub(super) programs: Programs,
    /// What the machine offers to confine a command with, where it is another one.
    pub(super) support: Option<Support>,
    /// Whether sessions are opened where nothing confines a command.
    pub(super) without_sandbox: bool,
    script: Scripted,
}

impl World {
    /// Begins with a script, a turn a line.
    pub(super) fn new(turns: &[String]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(ManualClock::new(Timestamp::from_millis(1_700_000_000_000)));
        let file = folder.path().join("store.redb");
        let store = EmbeddedStore::with_clock(&file, Settings::default(), clock.clone()).unwrap();
        let session = "ghost-test".parse().unwrap();
        let script = Scripted::parse(&turns.join("\n")).unwrap();
        Self {
            folder,
            store: Arc::new(store),
            clock,
            session,
            limits: Limits::default(),
            scope: None,
            programs: Programs::default(),
            support: None,
            without_sandbox: false,
            script,
        }
    }

    /// Returns a path below the world's own folder.
    pub(super) fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_string_lossy().into_owned()
    }

    pub(super) fn engine(&self) -> Engine {
        self.observed(Arc::new(NoObserver))
    }

    pub(super) fn observed(&self, observer: Arc<dyn Observer>) -> Engine {
        let data = self.folder.path().join("data");
        let clock = self.clock.clone();
        let (programs, support) = (self.programs.clone(), self.support.clone());
        let open_shell = move |state: &State| {
            let builder = Shell::builder(state.session.clone(), &data)
                .scope(state.opened.scope.clone())
                .programs(programs.clone())
                .clock(clock.clone());
            Ok(match &support {
                Some(support) => builder.support(support.clone()),
                None => builder,
            })
        };
        let (model, policy) = (Arc::new(self.script.clone()), Arc::new(Policy::builtin().unwrap().clone()));
        Engine::builder(self.store.clone(), model, policy, &self.folder.path().join("data"))
            .clock(self.clock.clone())
            .lease_ttl(Duration::from_secs(30))
            .open_shell(open_shell)
            .delivery(Arc::new(Folder(self.folder.path().to_owned())))
            .observer(observer)
            .build("owner-a")
    }

    /// Tells the session of an incident.
    pub(super) async fn mention(&self, symptom: &str) {
        self.message("open", &InboxMessage::Open(Box::new(self.incident("ana", symptom)))).await;
    }

    /// Describes the session that an incident opens.
    pub(super) fn incident(&self, who: &str, symptom: &str) -> Opened {
        Opened {
            symptom: symptom.to_owned(),
            requester: who.to_owned(),
            origin: Origin { place: "test".to_owned(), team: None, channel: None, thread: None },
            quotes: Vec::new(),
            nonce: "nonce".to_owned(),
            investigator: Investigator {
                provider: "scripted".to_owned(),
                model: String::new(),
                host: None,
                window: 200_000,
            },
            limits: self.limits,
            scope: self.scope.clone(),
            hosts: Vec::new(),
            cloud_too: false,
            clusters: Vec::new(),
            surroundings: Some(
                Surroundings::read(&["status.example".to_owned()], "nameserver 10.0.0.2")
                    .unwrap()
                    .without_sandbox(self.without_sandbox),
            ),
            gathered: Box::default(),
            by_program: false,
            outside: None,
            alert: None,
            version: "test".to_owned(),
        }
    }

    /// Mentions it once more.
    pub(super) async fn again(&self, who: &str, text: &str) {
        let said =
            HumanMessage { who: who.to_owned(), text: text.to_owned(), instruction: Instruction::Steer };
        self.message(text, &InboxMessage::Again(said)).await;
    }

    pub(super) async fn say(&self, who: &str, text: &str, instruction: Instruction) {
        let said = HumanMessage { who: who.to_owned(), text: text.to_owned(), instruction };
        self.message(text, &InboxMessage::Said(said)).await;
    }

    pub(super) async fn message(&self, key: &str, message: &InboxMessage) {
        let text = serde_json::to_string(message).unwrap();
        self.store.deliver(&self.session, key, &text).await.unwrap();
    }

    /// Drives it, and decides everything that is recorded by then once more.
    pub(super) async fn drive(&self) -> DriveOutcome {
        let rest = self.engine().drive(&self.session, &control()).await.unwrap();
        self.replays().await;
        rest
    }

    /// Holds that the record is what follows from itself.
    pub(super) async fn replays(&self) {
        let engine = self.engine();
        let source = ReplayInputs {
            policy: &engine.policy,
            tools: &engine.tools,
            evidence: engine.evidence.as_ref(),
            site: None,
            wording: Wording::Same,
        };
        let recorded = self.recorded().await;
        if recorded.is_empty() {
            return;
        }
        let replayed = replay(&self.session, &recorded, &source).unwrap_or_else(|found| panic!("{found}"));
        assert_eq!(replayed.events, u64::try_from(recorded.len()).unwrap());
    }

    /// Returns the data folder.
    pub(super) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Returns the session as a text by itself.
    pub(super) async fn exported(&self) -> String {
        let found = export(self.store.as_ref(), &self.session, &self.data(), "test").await.unwrap();
        let mut text = Vec::new();
        found.write(&mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    /// Drives to the next question and returns its name.
    pub(super) async fn question(&self) -> String {
        let rest = self.drive().await;
        let DriveOutcome::Waiting { approval, .. } = rest else { panic!("no question but {rest:?}") };
        approval
    }

    pub(super) async fn answer(&self, approval: &str, who: &str, answer: Reply) -> VoteResult {
        let key = format!("{who}-{}", self.clock.now());
        let vote = SubmittedVote {
            approval: approval.to_owned(),
            who: who.to_owned(),
            name: String::new(),
            answer,
            key,
            at: self.clock.now(),
        };
        submit_vote(self.store.as_ref(), &self.state().await, SelfApproval::default(), &vote).await.unwrap()
    }

    pub(super) async fn recorded(&self) -> Vec<Recorded> {
        let lines = self.store.read(&self.session, 0).await.unwrap();
        read(&self.session, lines.iter().map(String::as_str)).unwrap()
    }

    pub(super) async fn state(&self) -> State {
        State::fold(&self.session, &self.recorded().await).unwrap()
    }

    /// Returns the words for what happened, in order.
    pub(super) async fn kinds(&self) -> Vec<String> {
        self.recorded().await.into_iter().map(|event| event.kind).collect()
    }

    /// Returns the results of calls that the model received, in order.
    pub(super) async fn results(&self) -> Vec<serde_json::Value> {
        let state = self.state().await;
        let returned = state.calls().filter_map(|call| call.returned.as_ref());
        returned.map(|returned| serde_json::from_str(&returned.content).unwrap()).collect()
    }
}

pub(super) fn control() -> DriveControl {
    DriveControl { pause: CancelSignal::never(), transfers: false }
}

/// Writes a turn that calls tools.
pub(crate) fn turn(calls: &[(&str, serde_json::Value)]) -> String {
    let calls: Vec<_> = calls
        .iter()
        .map(|(tool, arguments)| serde_json::json!({"tool": tool, "arguments": arguments}))
        .collect();
    serde_json::json!({"text": "", "calls": calls}).to_string()
}

/// A command that reads, and whose output supports a finding: nobody listens there.
pub(crate) const REFUSED: &str = "nc -zv -w 1 127.0.0.1 1";

/// Writes a turn that runs a command for H1.
pub(crate) fn run(command: &str) -> String {
    let arguments = serde_json::json!({"command": command, "reasoning": "to know", "hypothesis_id": "H1"});
    turn(&[("run_shell_cmd", arguments)])
}

/// Writes the turn that puts H1 on the board.
pub(crate) fn suppose() -> String {
    turn(&[(
        "manage_hypotheses",
        serde_json::json!({"add": [{"id": "H1", "description": "the link is down"}]}),
    )])
}

/// Names every layer, and why nobody looked at it.
pub(crate) fn waived() -> serde_json::Value {
    let layers = [
        "topology", "rules", "routes", "guest", "shaping", "measure", "wire", "storage", "exposure", "links",
        "names", "sockets",
    ];
    layers
        .map(|layer| serde_json::json!({"layer": layer, "why": "there is no cloud in this test"}))
        .to_vec()
        .into()
}

/// Writes a turn that settles H1 and ends.
pub(crate) fn conclude(state: &str) -> String {
    turn(&[
        ("manage_hypotheses", serde_json::json!({"update": [{"id": "H1", "state": state}]})),
        (
            "complete_investigation",
            serde_json::json!({"confidence": "high", "root_cause_summary": "it is what it is", "waived": waived()}),
        ),
    ])
}

/// Tells whether an event of a kind was recorded exactly so often.
#[track_caller]
pub(super) fn times(events: &[Recorded], kind: &str, wanted: usize) {
    let found = events.iter().filter(|event| event.kind == kind).count();
    assert_eq!(found, wanted, "{kind}");
}
