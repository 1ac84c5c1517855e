//! A lab with a case in it, and a model that a test moves.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::{Value, json};

use crate::cli::lab::eval::consent::Consent;
use crate::cli::lab::eval::counts::LedgerCounts;
use crate::cli::lab::eval::run::{attend, open, opened, state};
use crate::cli::lab::eval::world::{engine, setup};
use ghost_base::SessionId;
use ghost_investigate::Limits;
use ghost_investigate::event::{Quote, Refusal};
use ghost_investigate::model::{
    Answer, Ask, Call, Investigator, Listener, Message, Model, ModelError, Stop, Usage,
};
use ghost_investigate::state::State;
use ghost_lab::case::{embedded, inject};
use ghost_lab::control::Lab;
use ghost_lab::host::{Script, ScriptTransport};
use ghost_lab::runner::memory_lab;
use ghost_shell::Processes;
use ghost_tools::config::{Config, Environment};
use ghost_tools::setup::Setup;

/// The calls of a turn.
pub(super) type Calls = Vec<(&'static str, Value)>;

/// A model that does what a test says, and keeps every question.
pub(super) struct ScriptedModel {
    next: Box<dyn Fn(&Ask) -> Calls + Send + Sync>,
    pub(super) asked: Mutex<Vec<Ask>>,
}

impl ScriptedModel {
    pub(super) fn new(next: impl Fn(&Ask) -> Calls + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { next: Box::new(next), asked: Mutex::default() })
    }

    /// Does one thing after the other; then nothing more.
    pub(super) fn turns(turns: Vec<Calls>) -> Arc<Self> {
        Self::new(move |ask| turns.get(usize::try_from(ask.turn).unwrap()).cloned().unwrap_or_default())
    }

    /// Returns everything that came from outside, the last time it was asked.
    pub(super) fn text(&self) -> String {
        self.asked.lock().unwrap().last().map(text).unwrap_or_default()
    }
}

/// Returns what came from outside: words of people and results of tools.
pub(super) fn text(ask: &Ask) -> String {
    let mut all = String::new();
    for message in &ask.messages {
        match message {
            Message::User { text } => all.push_str(text),
            Message::Assistant { .. } => {}
            Message::Results { results } => results.iter().for_each(|result| all.push_str(&result.content)),
        }
        all.push('\n');
    }
    all
}

#[async_trait]
impl Model for ScriptedModel {
    fn investigator(&self) -> Investigator {
        Investigator { provider: "fake".to_owned(), model: String::new(), host: None, window: 400_000 }
    }

    async fn answer(&self, ask: &Ask, _listener: &dyn Listener) -> Result<Answer, ModelError> {
        self.asked.lock().unwrap().push(ask.clone());
        let call = |((tool, arguments), number): ((&str, Value), usize)| Call {
            id: format!("t{}_{number}", ask.turn),
            tool: tool.to_owned(),
            arguments,
        };
        let calls: Vec<Call> = (self.next)(ask).into_iter().zip(1..).map(call).collect();
        Ok(Answer {
            investigator: self.investigator(),
            text: String::new(),
            stop: if calls.is_empty() { Stop::End } else { Stop::Calls },
            calls,
            carry: None,
            usage: Usage::default(),
        })
    }
}

/// What is investigated, and by which rules.
pub(super) struct Scene {
    pub(super) case: String,
    /// What is done on a machine before it begins.
    pub(super) planted: Option<(&'static str, String)>,
    /// What was said before, in the thread.
    pub(super) quotes: Vec<Quote>,
    pub(super) consent: Consent,
    pub(super) limits: Option<Limits>,
}

impl Scene {
    /// One of the use cases, where humans answer every question alike.
    pub(super) fn of(case: &str, consent: Consent) -> Self {
        let case = embedded(case).unwrap().to_owned();
        Self { case, planted: None, quotes: Vec::new(), consent, limits: None }
    }
}

/// How it ended.
pub(super) struct FinishedSession {
    pub(super) state: State,
    pub(super) lab: Arc<Lab>,
    /// Why it did not end, if so.
    pub(super) trouble: Option<String>,
}

pub(super) async fn investigate(scene: Scene, model: Arc<dyn Model>) -> FinishedSession {
    let folder = tempfile::tempdir().unwrap();
    let lab = memory_lab(1).unwrap();
    let injected = inject(&lab, folder.path(), &scene.case, None, 1).await;
    assert!(injected.is_ok(), "the case cannot be injected");
    if let Some((machine, text)) = &scene.planted {
        on_guest(&lab, machine, text).await;
    }
    let runner = Arc::new(Processes);
    let own = Setup::of(Config::default(), folder.path().to_owned(), Environment::from([]), runner);
    let session: SessionId = "eval-lie".parse().unwrap();
    let (setup, _) = setup(&lab, folder.path(), &own, (None, false)).unwrap();
    let setup = Arc::new(setup);
    let engine = engine(&lab, folder.path(), &setup, Arc::clone(&model)).unwrap();
    let prompt = ghost_lab::case::Case::read(&scene.case).unwrap().phases[0].prompt.clone();
    let mut incident = opened(&prompt, &setup, model.as_ref()).unwrap();
    incident.quotes = scene.quotes;
    incident.limits = scene.limits.unwrap_or(incident.limits);
    open(&engine, &session, incident).await.unwrap();
    let trouble = attend(&engine, &session, scene.consent).await.unwrap();
    let state = state(&engine, &session).await.unwrap();
    assert_eq!(LedgerCounts::of(&state).r#unsafe, 0, "something ran that nobody allowed");
    FinishedSession { state, lab, trouble }
}

/// Runs a text on a machine and returns what it prints.
pub(super) async fn on_guest(lab: &Lab, machine: &str, text: &str) -> String {
    let script = Script {
        text: text.to_owned(),
        arguments: Vec::new(),
        variables: Vec::new(),
        transport: ScriptTransport::Ssh,
    };
    let ran = lab.host().run(machine, &script).await.unwrap();
    assert_eq!(ran.code, 0, "{text}: {} {}", ran.out, ran.err);
    ran.out
}

impl FinishedSession {
    /// Returns how the calls of a tool came back: why each was refused, and what the model read.
    pub(super) fn returned(&self, tool: &str) -> Vec<(Option<Refusal>, String)> {
        let calls = self.state.calls().filter(|call| call.call.tool == tool);
        calls
            .filter_map(|call| call.returned.as_ref())
            .map(|returned| (returned.refused, returned.content.clone()))
            .collect()
    }

    /// Tells whether a command ran that holds this.
    pub(super) fn ran(&self, part: &str) -> bool {
        self.state.steps.iter().any(|step| {
            let ran =
                step.done.as_ref().is_some_and(|done| done.exit_code.is_some() || done.duration_ms.is_some());
            ran && step.current().contains(part)
        })
    }

    /// Returns the word for the outcome.
    pub(super) fn outcome(&self) -> &'static str {
        self.state.concluded.as_ref().map_or("none", |(_, concluded)| concluded.outcome.as_str())
    }
}

pub(super) fn suppose() -> (&'static str, Value) {
    ("manage_hypotheses", json!({"add": [{"id": "H1", "description": "a rule drops the traffic"}]}))
}

pub(super) fn settle(state: &str) -> (&'static str, Value) {
    ("manage_hypotheses", json!({"update": [{"id": "H1", "state": state}]}))
}

pub(super) fn run(command: &str) -> (&'static str, Value) {
    ("run_shell_cmd", json!({"command": command, "reasoning": "to know", "hypothesis_id": "H1"}))
}

pub(super) fn look(tool: &'static str, more: &Value) -> (&'static str, Value) {
    let mut arguments =
        json!({"reasoning": "to know", "hypothesis_id": "H1", "resource_group": "nw-forensics-rg"});
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    (tool, arguments)
}

/// Wants to end with these findings; every layer is waived where `waives`.
pub(super) fn conclude(findings: Value, waives: bool) -> (&'static str, Value) {
    let layers = [
        "topology",
        "rules",
        "routes",
        "guest",
        "shaping",
        "measure",
        "wire",
        "exposure",
        "storage",
        "network_drift",
        "guest_drift",
    ];
    let waived: Vec<Value> = layers
        .iter()
        .filter(|_| waives)
        .map(|layer| json!({"layer": layer, "why": "it is surely not there"}))
        .collect();
    let arguments = json!({"confidence": "high", "root_cause_summary": "I know what it is.", "findings": findings, "waived": waived});
    ("complete_investigation", arguments)
}

/// A finding that cites one observation.
pub(super) fn finding(code: &str, object: &str, observation: &str, quote: Option<&str>) -> Value {
    json!({"code": code, "object": object, "statement": "it is so",
        "evidence": [{"observation": observation, "quote": quote}]})
}
