//! Facts about a tool that walks along its record: what it runs, what one consent covers, where it goes on.

#![expect(clippy::wildcard_enum_match_arm, reason = "whatever else comes is a failure of the test")]

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::call_replay::CallReplay;
use super::*;
use crate::decision::{DecisionContext, Effect, next, observed_file_task};
use crate::event::{
    ApprovalDecided, ApprovalRequested, Chain, Done, Event, Executing, HypothesisSet, Intent, ModelAnswered,
    Opened, Origin, Recorded, Reply, StepId,
};
use crate::model::{Call, Investigator, Stop, ToolSpec, Usage};
use crate::state::State;
use crate::{HypothesisState, Limits};
use ghost_base::{Digest, SessionId, Timestamp};
use ghost_cloud::line;
use ghost_cloud::operation::{CommandOutcome, CommandRequest, ReadOperation};
use ghost_shell::{Impact, Policy, script_line};

type Body = fn(&mut CallReplay<'_, '_>) -> Result<String, Box<ToolAction>>;

struct TestTool(Body);

impl Tool for TestTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec { name: "walk".to_owned(), description: String::new(), parameters: json!({}) }
    }

    fn advance(&self, _: &Map<String, Value>, context: &CallContext<'_>) -> ToolAction {
        let mut replay = CallReplay::new(context, None);
        match (self.0)(&mut replay) {
            Ok(text) => {
                let (observations, at) = (replay.observations(), replay.now().to_string());
                ToolAction::Return(Box::new(CallResult::completed(
                    json!({ "text": text, "observations": observations, "at": at }),
                )))
            }
            Err(next) => *next,
        }
    }
}

#[derive(Default)]
struct Texts(Mutex<BTreeMap<String, String>>);

impl Evidence for Texts {
    fn text(&self, digest: &str) -> Option<String> {
        self.0.lock().unwrap().get(digest).cloned()
    }

    fn keep(&self, text: &str) -> Result<Digest, EvidenceError> {
        self.0.lock().unwrap().insert(Digest::of(text).to_string(), text.to_owned());
        Ok(Digest::of(text))
    }
}

/// A session whose one call walks, driven by hand.
struct TestSession {
    tools: Registry,
    texts: Texts,
    chain: Chain,
    events: Vec<Recorded>,
    now: Timestamp,
    /// What ran, in order.
    ran: Vec<String>,
}

fn session_id() -> SessionId {
    "s1".parse().unwrap()
}

fn investigator() -> Investigator {
    Investigator { provider: "scripted".to_owned(), model: String::new(), host: None, window: 100_000 }
}

impl TestSession {
    fn new(body: Body) -> Self {
        let mut session = Self {
            tools: Registry::new(vec![Box::new(TestTool(body))]),
            texts: Texts::default(),
            chain: Chain::new(session_id()),
            events: Vec::new(),
            now: Timestamp::from_millis(1_760_000_000_000),
            ran: Vec::new(),
        };
        session.add(Event::Opened(Opened {
            symptom: "5001 hangs".to_owned(),
            requester: "ana".to_owned(),
            origin: Origin { place: "terminal".to_owned(), team: None, channel: None, thread: None },
            quotes: Vec::new(),
            nonce: "n".to_owned(),
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
            version: "0".to_owned(),
        }));
        session.add(Event::HypothesisSet(HypothesisSet {
            id: "H1".to_owned(),
            description: Some("the NSG".to_owned()),
            state: HypothesisState::Active,
            by: "model".to_owned(),
            why: None,
        }));
        session.add(Event::ModelAnswered(ModelAnswered {
            turn: 0,
            investigator: investigator(),
            text: String::new(),
            calls: vec![Call { id: "c1".to_owned(), tool: "walk".to_owned(), arguments: json!({}) }],
            carry: None,
            usage: Usage::default(),
            cost_micros: None,
            latency_ms: 1,
            stop: Stop::Calls,
        }));
        session
    }

    fn add(&mut self, event: Event) {
        self.now = self.now.plus(Duration::from_secs(1));
        let (_, recorded) = self.chain.seal(self.now, &event).unwrap();
        self.events.push(recorded);
    }

    fn state(&self) -> State {
        State::fold(&session_id(), &self.events).unwrap()
    }

    fn next(&self) -> Effect {
        let investigator = investigator();
        let context = DecisionContext {
            policy: Policy::builtin().unwrap(),
            tools: &self.tools,
            evidence: &self.texts,
            investigator: &investigator,
            site: None,
        };
        next(&self.state(), &context, self.now)
    }

    /// Goes on until somebody else has to do something: a human, a clock, the file tasks, the model.
    fn go(&mut self) -> Effect {
        loop {
            match self.next() {
                Effect::Record(events) => events.into_iter().for_each(|event| self.add(event)),
                Effect::Execute { step, consumes, intended } => {
                    self.begin(step, consumes, intended);
                    self.end(step);
                }
                Effect::Refuse { step } => {
                    self.add(Event::Done(Done { action: "user_denied".to_owned(), ..done(step, "denied") }))
                }
                Effect::Request(requested) => {
                    self.add(Event::ApprovalRequested(requested.clone()));
                    return Effect::Request(requested);
                }
                other => return other,
            }
        }
    }

    fn begin(&mut self, step: StepId, consumes: Option<String>, intended: bool) {
        let digest = self.state().step(step).unwrap().round().unwrap().classified.digest;
        if !intended {
            self.add(Event::Intent(Intent { step, digest, approval: consumes }));
        }
        self.add(Event::Executing(Executing { step, epoch: 1 }));
    }

    fn end(&mut self, step: StepId) {
        let command = self.state().step(step).unwrap().current().to_owned();
        let digest = self.texts.keep(&format!("whole {command}")).unwrap();
        self.ran.push(command);
        let metadata =
            json!({ "stdout": { "applied": true, "total_bytes": 9 }, "evidence": digest.to_string() });
        self.add(Event::Done(Done {
            exit_code: Some(0),
            evidence: Some(digest.to_string()),
            output_metadata: metadata,
            output: "clipped".to_owned(),
            ..done(step, "completed")
        }));
    }

    fn answer(&mut self, asked: &ApprovalRequested, answer: Reply) {
        let decided = ApprovalDecided {
            approval: asked.approval.clone(),
            step: asked.step,
            answer,
            who: "ben".to_owned(),
            name: None,
            at: self.now,
        };
        self.add(Event::ApprovalDecided(decided));
    }

    fn result(&self) -> Value {
        let state = self.state();
        serde_json::from_str(&state.call_named("c1").unwrap().returned.as_ref().unwrap().content).unwrap()
    }
}

fn done(step: StepId, status: &str) -> Done {
    Done {
        step,
        status: status.to_owned(),
        classification: "RISKY".to_owned(),
        action: "user_approved".to_owned(),
        exit_code: None,
        output: String::new(),
        stderr: String::new(),
        error: None,
        reason: "not now".to_owned(),
        hint: None,
        modified_command: None,
        audit_id: String::new(),
        audit_head: None,
        duration_ms: None,
        evidence: None,
        output_metadata: Value::Null,
        restored: false,
    }
}

#[track_caller]
fn asked(effect: Effect) -> ApprovalRequested {
    match effect {
        Effect::Request(requested) => requested,
        other => panic!("nobody is asked: {other:?}"),
    }
}

#[track_caller]
fn over(effect: &Effect) {
    assert!(matches!(effect, Effect::Ask { .. }), "{effect:?}");
}

fn printed(answer: &CommandOutcome) -> String {
    match answer {
        CommandOutcome::Ran { stdout, .. } => stdout.clone(),
        CommandOutcome::Denied { all, .. } => format!("denied, all: {all}"),
        CommandOutcome::Unknown { .. } => "unknown".to_owned(),
        CommandOutcome::Refused { .. } => "refused".to_owned(),
        CommandOutcome::NotRun { .. } => "not run".to_owned(),
    }
}

#[test]
fn two_reads_and_it_is_over() {
    let mut session = TestSession::new(|replay| {
        let look = || {
            ReadOperation::new(CommandRequest::line(line::signed_in(), "who are we?"), "asking who we are")
        };
        let first = replay.run(&mut look())?.unwrap_or_default();
        let second = replay.run(&mut look())?.unwrap_or_default();
        Ok(format!("{}+{}", first.len(), second.len()))
    });
    over(&session.go());
    let who = line::signed_in().text();
    assert_eq!(session.ran, [who.clone(), who.clone()]);
    let length = "whole ".len() + who.len();
    assert_eq!(
        session.result()["text"],
        format!("{length}+{length}"),
        "the whole text is read, not the clipped one"
    );
    assert_eq!(session.result()["observations"], json!(["o1", "o2"]));
    assert_eq!(session.result()["at"], session.state().steps.last().unwrap().done_at.unwrap().to_string());
}

#[test]
fn a_record_that_was_cut_off_goes_on_where_it_ended() {
    let body: Body = |replay| {
        let (first, _) = replay.command("date -u", "first", &[])?;
        let (second, _) = replay.command("uname -a", "second", &[])?;
        Ok(format!("{} {}", printed(&first), printed(&second)))
    };
    let mut session = TestSession::new(body);
    over(&session.go());
    let whole = session.events.clone();
    for length in 3..=whole.len() {
        let mut part = TestSession::new(body);
        part.texts = Texts(Mutex::new(session.texts.0.lock().unwrap().clone()));
        part.events = whole[..length].to_vec();
        (part.chain, part.now) = (Chain::behind(session_id(), &part.events), part.events.last().unwrap().at);
        over(&part.go());
        assert_eq!(part.result()["text"], session.result()["text"], "cut off behind event {length}");
    }
}

fn plan() -> Vec<String> {
    ["touch /tmp/a", "touch /tmp/b", "touch /tmp/a"].map(str::to_owned).to_vec()
}

fn planned(replay: &mut CallReplay<'_, '_>) -> Result<String, Box<ToolAction>> {
    let mut outputs = Vec::new();
    for command in plan() {
        // A read in between leaves the consent as it is.
        replay.command("date -u", "look", &[])?;
        let (answer, _) = replay.command(&command, "make it", &plan())?;
        outputs.push(printed(&answer));
        if matches!(answer, CommandOutcome::Denied { all: true, .. }) {
            break;
        }
    }
    Ok(outputs.join("; "))
}

#[test]
fn one_consent_covers_the_plan_each_command_once_and_in_order() {
    let mut session = TestSession::new(|replay| {
        planned(replay)?;
        let (more, _) = replay.command("touch /tmp/b", "once more", &plan())?;
        Ok(printed(&more))
    });
    let first = asked(session.go());
    assert_eq!(first.plan, plan());
    let judged = first.judgements.iter().map(|judged| (judged.verdict.as_str(), judged.impact));
    assert_eq!(judged.collect::<Vec<_>>(), [("RISKY", Some(Impact::Change)); 3]);
    assert_ne!(
        first.digest,
        session.state().steps[1].round().unwrap().classified.digest,
        "it binds all of them"
    );
    session.answer(&first, Reply::Approve);
    let more = asked(session.go());
    assert_eq!(session.ran.iter().filter(|command| command.starts_with("touch")).count(), 3);
    assert_eq!(session.state().steps.iter().flat_map(|step| &step.consents).count(), 3);
    assert!(session.state().steps.iter().flat_map(|step| &step.consents).all(|name| *name == first.approval));
    assert_eq!(more.plan, plan()[1..], "what is used up is asked for anew");
    session.answer(&more, Reply::Deny { reason: "no".to_owned() });
    over(&session.go());
    assert_eq!(session.result()["text"], "denied, all: true");
}

#[test]
fn a_denial_or_a_change_denies_the_whole_plan() {
    for no in [Reply::Deny { reason: "no".to_owned() }, Reply::Modify { command: "true".to_owned() }] {
        let mut session = TestSession::new(planned);
        let first = asked(session.go());
        session.answer(&first, no);
        over(&session.go());
        assert_eq!(session.ran, ["date -u"]);
        assert_eq!(session.result()["text"], "denied, all: true");
    }
}

#[test]
fn a_command_that_was_passed_over_is_given_up() {
    let mut session = TestSession::new(|replay| {
        let plan = plan();
        replay.command(&plan[0], "first", &plan)?;
        replay.command(&plan[2], "last", &plan)?;
        let (answer, _) = replay.command(&plan[1], "passed over", &plan)?;
        Ok(printed(&answer))
    });
    let first = asked(session.go());
    session.answer(&first, Reply::Approve);
    let again = asked(session.go());
    assert_eq!(session.ran, ["touch /tmp/a", "touch /tmp/a"]);
    assert_eq!(session.state().step(again.step).unwrap().command, "touch /tmp/b");
}

#[test]
fn a_takeover_keeps_the_consent_but_not_for_what_was_cut_off() {
    let mut session = TestSession::new(planned);
    let first = asked(session.go());
    session.answer(&first, Reply::Approve);
    // The first command and the reads beside it end; the second one is cut off.
    let cut = loop {
        match session.next() {
            Effect::Record(events) => events.into_iter().for_each(|event| session.add(event)),
            Effect::Execute { step, consumes, intended } => {
                session.begin(step, consumes.clone(), intended);
                if consumes.is_some() && !session.ran.iter().all(|command| command == "date -u") {
                    break step;
                }
                session.end(step);
            }
            other => panic!("{other:?}"),
        }
    };
    assert!(
        matches!(session.next(), Effect::Record(events) if matches!(events.as_slice(), [Event::Unknown(_)]))
    );
    let again = asked(session.go());
    assert_eq!((again.step, again.outcome_unknown, again.plan.len()), (cut, true, 0));
    session.answer(&again, Reply::Approve);
    over(&session.go());
    assert_eq!(session.ran.iter().filter(|command| command.starts_with("touch")).count(), 3);
    assert_eq!(session.state().approvals.len(), 2, "what is left of the plan needs no other answer");
}

#[test]
fn a_no_to_what_was_cut_off_leaves_nothing_of_the_plan() {
    let mut session = TestSession::new(planned);
    let first = asked(session.go());
    session.answer(&first, Reply::Approve);
    let Effect::Execute { step, consumes, intended } = session.next() else { panic!("it does not run") };
    session.begin(step, consumes, intended);
    let again = asked(session.go());
    session.answer(&again, Reply::Deny { reason: "no".to_owned() });
    let rest = asked(session.go());
    assert_eq!(rest.plan, plan()[1..]);
}

#[test]
fn a_wait_ends_at_its_moment_and_is_not_waited_for_again() {
    let mut session = TestSession::new(|replay| {
        let until = replay.now().plus(Duration::from_secs(60));
        replay.wait(until)?;
        let behind = replay.now() == until;
        replay.command("date -u", "behind it", &[])?;
        Ok(behind.to_string())
    });
    let Effect::Wait { until: Some(until) } = session.go() else { panic!("no wait") };
    session.now = until;
    over(&session.go());
    assert_eq!(session.result()["text"], "true");
}

#[test]
fn a_file_task_is_done_once_and_its_result_is_read_each_time() {
    let mut session = TestSession::new(|replay| {
        let kept = replay.file_task(FileTask::Keep {
            kind: "effective".to_owned(),
            session: "before".to_owned(),
            text: "a long text".to_owned(),
        })?;
        let (date, _) = replay.command("date -u", "behind it", &[])?;
        Ok(format!("{kept} {}", printed(&date)))
    });
    let Effect::FileTask { call, task } = session.go() else { panic!("no file task") };
    let digest = session.texts.keep("kept").unwrap();
    let state = session.state();
    let observed = observed_file_task(&state, state.call_named(&call).unwrap(), &task, digest, 4);
    assert!(!observed.what.contains("a long text"), "a text is no name: {}", observed.what);
    session.add(Event::Observed(observed));
    over(&session.go());
    assert_eq!(session.result()["text"], "kept whole date -u");
    assert_eq!(session.result()["observations"], json!(["o1", "o2"]));
}

#[test]
fn a_changed_mind_is_an_answer_and_no_command() {
    let mut session = TestSession::new(|replay| {
        let early = replay.context().state.steps.is_empty();
        replay.command(if early { "date -u" } else { "uname -a" }, "look", &[])?;
        Ok(String::new())
    });
    over(&session.go());
    assert_eq!(
        (session.ran.as_slice(), &session.result()["status"]),
        (&["date -u".to_owned()][..], &json!("failed"))
    );
}

fn carrier() -> Vec<String> {
    "az vm run-command invoke -g rg -n vm --command-id RunShellScript --scripts"
        .split(' ')
        .map(str::to_owned)
        .collect()
}

/// Proposes a script whose line has more behind it.
struct Scripts(&'static str);

impl Tool for Scripts {
    fn spec(&self) -> ToolSpec {
        TestTool(|_| Ok(String::new())).spec()
    }

    fn advance(&self, _: &Map<String, Value>, context: &CallContext<'_>) -> ToolAction {
        if context.steps().next().is_some() {
            return ToolAction::Return(Box::new(CallResult::completed(json!({}))));
        }
        let variables = vec![("device".to_owned(), "eth0".to_owned())];
        let line = script_line(&carrier(), "guest-network", &variables).unwrap();
        ToolAction::Run(Box::new(ProposedCommand {
            command: format!("{line}{}", self.0),
            reasoning: "look at it".to_owned(),
            hypothesis: None,
            script: Some(DeclaredScript {
                carrier: carrier(),
                script: "guest-network".to_owned(),
                variables,
            }),
            plan: Vec::new(),
        }))
    }
}

#[test]
fn a_declared_script_is_safe_and_one_that_is_not_the_declared_one_never_runs() {
    for (more, verdict) in [("", "SAFE"), (" true", "BLOCKED")] {
        let mut session = TestSession::new(|_| Ok(String::new()));
        session.tools = Registry::new(vec![Box::new(Scripts(more))]);
        over(&session.go());
        let state = session.state();
        assert_eq!(state.steps[0].round().unwrap().classified.verdict, verdict, "{more:?}");
        assert_eq!(session.ran.len(), usize::from(verdict == "SAFE"));
    }
}
