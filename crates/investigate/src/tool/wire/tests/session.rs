//! A session at a session: calls of a tool, carried out by hand and written down as the engine does it.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use crate::decision::{DecisionContext, Effect, next};
use crate::event::{
    ApprovalRequested, Chain, Classified, Done, Event, EvidenceSource, HypothesisSet, Impact, ModelAnswered,
    ObservationId, Observed, Opened, Origin, Proposed, Recorded, Returned, StepId,
};
use crate::model::{Call, Investigator, Stop, Usage};
use crate::state::State;
use crate::suspect::SupportedFaults;
use crate::tool::registry::wire_tools;
use crate::tool::{CallContext, Evidence, FileTask, ProposedCommand, Reads, Registry, Site, ToolAction};
use crate::{HypothesisState, Limits};
use ghost_base::{Digest, SessionId, Timestamp};
use ghost_cloud::capture::Storage;
use ghost_cloud::{Account, Container, Name};
use ghost_shell::Policy;

/// What the world does with a command: its output, or why a human would not have it.
pub(super) type World<'a> = &'a mut dyn FnMut(&str) -> Result<String, String>;

#[derive(Default)]
pub(super) struct Texts(BTreeMap<String, String>);

impl Evidence for Texts {
    fn text(&self, digest: &str) -> Option<String> {
        self.0.get(digest).cloned()
    }
}

pub(super) struct TestSession {
    chain: Chain,
    pub(super) now: Timestamp,
    pub(super) events: Vec<Recorded>,
    texts: Texts,
    tools: Registry,
    /// What was asked next at each moment: how many events there were, and what.
    pub(super) moves: Vec<(usize, ToolAction)>,
    /// How often a human was asked.
    pub(super) asked: usize,
    granted: Vec<String>,
}

pub(super) fn site() -> Site {
    Site {
        group: Name::parse("rg").ok(),
        storage: Some(Storage {
            account: Account::parse("nwlogs080613").unwrap(),
            container: Container::parse("captures").unwrap(),
            group: None,
        }),
        captures: "/tmp/captures".to_owned(),
        ..Site::default()
    }
}

fn session() -> SessionId {
    "s1".parse().unwrap()
}

impl TestSession {
    pub(super) fn open(symptom: &str, site: &Site) -> Self {
        let mut session = Self {
            chain: Chain::new(session()),
            now: Timestamp::from_millis(1_760_000_000_000),
            events: Vec::new(),
            texts: Texts::default(),
            tools: Registry::new(wire_tools(site)),
            moves: Vec::new(),
            asked: 0,
            granted: Vec::new(),
        };
        session.add(Event::Opened(Opened {
            symptom: symptom.to_owned(),
            requester: "ana".to_owned(),
            origin: Origin { place: "terminal".to_owned(), team: None, channel: None, thread: None },
            quotes: Vec::new(),
            nonce: "n0".to_owned(),
            investigator: investigator(),
            limits: Limits::default(),
            scope: None,
            hosts: Vec::new(),
            cloud_too: false,
            clusters: Vec::new(),
            surroundings: None,
            gathered: Box::default(),
            by_program: false,
            outside: None,
            alert: None,
            version: "0.1.0".to_owned(),
        }));
        session.add(Event::HypothesisSet(HypothesisSet {
            id: "H1".to_owned(),
            description: Some("the wire".to_owned()),
            state: HypothesisState::Active,
            by: "model".to_owned(),
            why: None,
        }));
        session
    }

    pub(super) fn add(&mut self, event: Event) {
        let (_, recorded) = self.chain.seal(self.now, &event).unwrap();
        self.events.push(recorded);
        self.now = self.now.plus(Duration::from_millis(700));
    }

    pub(super) fn state(&self) -> State {
        State::fold(&session(), &self.events).unwrap()
    }

    /// Lets the model make a call, and asks what is next.
    pub(super) fn begin(&mut self, id: &str, tool: &str, arguments: &Value) {
        self.granted.clear();
        let call = Call { id: id.to_owned(), tool: tool.to_owned(), arguments: arguments.clone() };
        self.add(Event::ModelAnswered(ModelAnswered {
            turn: 0,
            investigator: investigator(),
            text: String::new(),
            calls: vec![call],
            carry: None,
            usage: Usage::default(),
            cost_micros: None,
            latency_ms: 1,
            stop: Stop::Calls,
        }));
    }

    /// Says what is next after so many events, at a moment.
    pub(super) fn next(&self, events: usize, now: Timestamp) -> ToolAction {
        let state = State::fold(&session(), &self.events[..events]).unwrap();
        let call = state.open_call().unwrap();
        let context = CallContext {
            state: &state,
            call,
            evidence: &self.texts,
            tools: &self.tools,
            now,
            reads: Reads::New,
        };
        self.tools.find(&call.call.tool).unwrap().advance(call.call.arguments.as_object().unwrap(), &context)
    }

    /// Carries a call out to its result, or until so many commands ran.
    pub(super) fn carry(&mut self, most: usize, world: World<'_>) -> Option<Value> {
        let mut ran = 0;
        for _ in 0..2_000 {
            let next = self.next(self.events.len(), self.now);
            self.moves.push((self.events.len(), next.clone()));
            match next {
                ToolAction::Run(_) if ran == most => return None,
                ToolAction::Run(command) => {
                    ran += 1;
                    self.run(*command, world);
                }
                ToolAction::RunAll(commands) => {
                    commands.into_iter().for_each(|command| self.run(command, world))
                }
                ToolAction::FileTask(task) => self.file_task(&task),
                ToolAction::Wait(until) => self.now = self.now.max(until),
                ToolAction::Return(outcome) => {
                    let call = self.state().open_call().unwrap().call.clone();
                    self.add(Event::Returned(Returned {
                        call: call.id,
                        tool: call.tool,
                        content: outcome.content.to_string(),
                        is_error: outcome.is_error,
                        refused: outcome.refused,
                    }));
                    return Some(outcome.content);
                }
            }
        }
        panic!("it never ends");
    }

    /// Makes a call and carries it out.
    pub(super) fn call(&mut self, id: &str, tool: &str, arguments: &Value, world: World<'_>) -> Value {
        self.begin(id, tool, arguments);
        self.carry(usize::MAX, world).unwrap()
    }

    /// Ends the open call without a result of its own, as a session that ends does.
    pub(super) fn abandon(&mut self) {
        let call = self.state().open_call().unwrap().call.clone();
        self.add(Event::Returned(Returned {
            call: call.id,
            tool: call.tool,
            content: json!({"status": "rejected", "reason": "the session is ending"}).to_string(),
            is_error: true,
            refused: None,
        }));
    }

    pub(super) fn supported(&self, id: &str) -> SupportedFaults {
        let state = self.state();
        let call = state.calls().find(|call| call.call.id == id).unwrap();
        self.with_context(&state, id, |context| context.supported(call))
    }

    /// Runs `read` with the context of the call of that name.
    pub(super) fn with_context<T>(
        &self,
        state: &State,
        id: &str,
        read: impl FnOnce(&CallContext<'_>) -> T,
    ) -> T {
        let call = state.calls().find(|call| call.call.id == id).unwrap();
        read(&CallContext {
            state,
            call,
            evidence: &self.texts,
            tools: &self.tools,
            now: self.now,
            reads: Reads::New,
        })
    }

    /// Returns the commands that ran, those that hold this word.
    pub(super) fn ran(&self, word: &str) -> Vec<String> {
        let state = self.state();
        let done = state.steps.iter().filter(|step| step.is_completed());
        done.map(|step| step.command.clone()).filter(|command| command.contains(word)).collect()
    }

    /// Adds an event as it stands in a line.
    pub(super) fn json(&mut self, kind: &str, body: Value) {
        self.add(serde_json::from_value(json!({ "kind": kind, "body": body })).unwrap());
    }

    /// Says what the session does next.
    pub(super) fn decides(&self) -> Effect {
        let context = DecisionContext {
            policy: Policy::builtin().unwrap(),
            tools: &self.tools,
            evidence: &self.texts,
            investigator: &investigator(),
            site: None,
        };
        next(&self.state(), &context, self.now)
    }

    /// Clears up behind the report what a call left in the cloud, as far as humans let it.
    pub(super) fn clear_up(&mut self, id: &str, world: World<'_>) {
        self.granted.clear();
        for _ in 0..200 {
            let state = self.state();
            let call = state.calls().find(|call| call.call.id == id).unwrap().clone();
            let arguments = call.call.arguments.as_object().unwrap();
            let tool = self.tools.find(&call.call.tool).unwrap();
            let next = self.with_context(&state, id, |context| tool.behind_report(arguments, context));
            match next {
                None => return,
                Some(ToolAction::Run(command)) => self.run(*command, world),
                Some(ToolAction::Wait(until)) => self.now = self.now.max(until),
                Some(other) => panic!("{other:?}"),
            }
        }
        panic!("it never ends");
    }

    /// Returns the call that a command belongs to: the open one, or the last.
    fn current(&self) -> Call {
        let state = self.state();
        state.open_call().or_else(|| state.calls().next_back()).unwrap().call.clone()
    }

    fn run(&mut self, command: ProposedCommand, world: World<'_>) {
        let state = self.state();
        let step = StepId(u32::try_from(state.steps.len() + 1).unwrap());
        let call = self.current();
        let ProposedCommand { command, reasoning, hypothesis, script, plan } = command;
        self.add(Event::Proposed(Proposed {
            step,
            call: call.id.clone(),
            tool: call.tool.clone(),
            command: command.clone(),
            reasoning,
            hypothesis,
            script,
            plan: plan.clone(),
        }));
        let risky = !plan.is_empty() && !self.granted.contains(&command);
        self.add(Event::Classified(Classified {
            step,
            round: 1,
            command: command.clone(),
            verdict: if risky { "RISKY" } else { "SAFE" }.to_owned(),
            tier: 1,
            rule: "program.entry".to_owned(),
            reason: "the entry of the program says so".to_owned(),
            impact: None,
            digest: Digest::of(&command),
            policy: Digest::of("policy"),
        }));
        if risky {
            self.asked += 1;
            self.granted.clone_from(&plan);
            self.add(Event::ApprovalRequested(ApprovalRequested {
                approval: format!("a{}", step.0),
                step,
                round: 1,
                digest: Digest::of(&command),
                expires_at: self.now.plus(Duration::from_secs(900)),
                votes_needed: 1,
                impact: Impact::Measurement,
                outcome_unknown: false,
                plan: if plan.len() > 1 { plan } else { Vec::new() },
                judgements: Vec::new(),
                forecast: None,
            }));
        }
        let came = world(&command);
        let (status, action, output) = match &came {
            Ok(output) => ("completed", "auto_approved", output.clone()),
            Err(_) => ("denied", "user_denied", String::new()),
        };
        if came.is_err() {
            self.granted.clear();
        }
        self.add(Event::Done(Done {
            step,
            status: status.to_owned(),
            classification: "SAFE".to_owned(),
            action: action.to_owned(),
            exit_code: came.is_ok().then_some(0),
            output: output.clone(),
            stderr: String::new(),
            error: None,
            reason: came.clone().err().unwrap_or_default(),
            hint: None,
            modified_command: None,
            audit_id: format!("s1-{}", step.0),
            audit_head: None,
            duration_ms: came.is_ok().then_some(900),
            evidence: None,
            output_metadata: Value::Null,
            restored: false,
        }));
        if came.is_ok() {
            self.observe(&call, Some(step), command, &output);
        }
    }

    fn file_task(&mut self, task: &FileTask) {
        let text = match task {
            FileTask::Verify { .. } => json!({"packets": 7, "cut_off": false}),
            FileTask::Store { file, .. } => json!({ "kept": file }),
            FileTask::Analyze { work } => {
                let files: Vec<String> =
                    work.iter().map(|(_, name, _)| format!("{name}_semantic.json")).collect();
                json!({"analysis": {"files": files, "findings": ["WARNING: SYNs without an answer"], "critical": 0,
                    "trouble": null}, "documents": work.iter().map(|(_, name, _)| (name.clone(), json!({}))).collect::<serde_json::Map<_, _>>()})
            }
            FileTask::Recall { session, .. } if session == "before" => {
                json!({"results": {"latency_p90": 100.0, "throughput_p90": 9.0}})
            }
            FileTask::Recall { .. } => Value::Null,
            FileTask::Keep { session, .. } => json!({ "kept": session }),
        };
        let call = self.state().open_call().unwrap().call.clone();
        self.observe(&call, None, task.what(), &text.to_string());
    }

    fn observe(&mut self, call: &Call, step: Option<StepId>, what: String, text: &str) {
        let digest = Digest::of(text);
        self.texts.0.insert(digest.to_string(), text.to_owned());
        let id = ObservationId(u32::try_from(self.state().observations.len() + 1).unwrap());
        let bytes = u64::try_from(text.len()).unwrap();
        let (call, tool, source) = (call.id.clone(), call.tool.clone(), EvidenceSource::Configured);
        self.add(Event::Observed(Observed { id, call, step, tool, what, source, digest, bytes }));
    }
}

fn investigator() -> Investigator {
    Investigator { provider: "scripted".to_owned(), model: String::new(), host: None, window: 200_000 }
}
