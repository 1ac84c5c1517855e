//! What a session did, as spans: model calls, tools, commands, and waits for people, below the run that they belong to.

use std::collections::HashMap;

use crate::telemetry::{SpanId, TraceId, TraceParent};
use ghost_base::{SessionId, Timestamp};
use ghost_investigate::event::{Content, Event, ModelAnswered, Opened, Recorded, Reply, StepId};
use ghost_investigate::model::Stop;

/// What a session did from its beginning, or from the moment when it was opened again, to its report.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    pub id: TraceId,
    /// The run last, what it consists of before it.
    pub spans: Vec<Span>,
}

/// Something that took time.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    pub id: SpanId,
    pub parent: Option<SpanId>,
    pub name: String,
    pub kind: SpanKind,
    pub start: Timestamp,
    pub end: Timestamp,
    pub attributes: Vec<Attribute>,
    /// Whether it did not do what it was there for.
    pub failed: bool,
}

/// On whose side something happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanKind {
    Internal,
    /// Somebody else was asked.
    Client,
}

/// A named value. Names are those of OpenTelemetry's conventions where there is one, and begin with `ghost.` otherwise.
pub type Attribute = (&'static str, Value);

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Text(String),
    Number(i64),
    Texts(Vec<String>),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Number(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

/// Returns the trace of the last run of a session; nothing where the events do not begin with its opening.
#[must_use]
pub fn trace(session: &SessionId, events: &[Recorded]) -> Option<Trace> {
    let first = events.first()?;
    let Content::Known(event) = &first.content else { return None };
    let Event::Opened(opened) = event.as_ref() else { return None };
    let parent: Option<TraceParent> =
        opened.alert.as_ref().and_then(|alert| alert.traceparent.as_deref()?.parse().ok());
    let mut run = Run::new(session, opened, parent.map(|parent| parent.span), first);
    for recorded in events.iter().skip(1) {
        if let Content::Known(event) = &recorded.content {
            run.take(recorded, event);
        }
    }
    Some(Trace { id: parent.map_or_else(|| TraceId::of(session), |parent| parent.trace), spans: run.end() })
}

/// A run that is being put together.
struct Run<'a> {
    session: &'a SessionId,
    opened: &'a Opened,
    parent: Option<SpanId>,
    id: SpanId,
    start: Timestamp,
    end: Timestamp,
    spans: Vec<Span>,
    attributes: Vec<Attribute>,
    codes: Vec<String>,
    asked: Option<Timestamp>,
    calls: HashMap<&'a str, (SpanId, Timestamp)>,
    steps: HashMap<StepId, Command<'a>>,
    approvals: HashMap<&'a str, Question>,
}

/// A command that was proposed.
struct Command<'a> {
    call: &'a str,
    program: String,
    verdict: &'a str,
    /// When it began to run.
    began: Option<Timestamp>,
}

/// A question that waits for people.
struct Question {
    since: Timestamp,
    impact: &'static str,
    parent: SpanId,
}

impl<'a> Run<'a> {
    fn new(session: &'a SessionId, opened: &'a Opened, parent: Option<SpanId>, begins: &Recorded) -> Self {
        Self {
            session,
            opened,
            parent,
            id: SpanId::of(session, &format!("run {}", begins.seq)),
            start: begins.at,
            end: begins.at,
            spans: Vec::new(),
            attributes: Vec::new(),
            codes: Vec::new(),
            asked: None,
            calls: HashMap::new(),
            steps: HashMap::new(),
            approvals: HashMap::new(),
        }
    }

    fn take(&mut self, recorded: &'a Recorded, event: &'a Event) {
        let at = recorded.at;
        if let Event::Reopened(_) = event {
            *self = Self::new(self.session, self.opened, self.parent, recorded);
            return;
        }
        self.end = self.end.max(at);
        match event {
            Event::ModelAsked(_) => self.asked = Some(at),
            Event::ModelAnswered(answered) => {
                self.answered(recorded, answered);
                for call in &answered.calls {
                    let id = self.name(&format!("call {} {}", recorded.seq, call.id));
                    self.calls.insert(&call.id, (id, at));
                }
            }
            Event::AnswerFailed(_) => {
                let start = self.asked.take().unwrap_or(at);
                let span = Span {
                    kind: SpanKind::Client,
                    failed: true,
                    ..self.span(recorded, "chat".to_owned(), self.id, start)
                };
                self.spans.push(span);
            }
            Event::Returned(returned) => {
                if let Some((id, start)) = self.calls.remove(returned.call.as_str()) {
                    let name = format!("execute_tool {}", returned.tool);
                    let mut attributes: Vec<Attribute> = vec![
                        ("gen_ai.operation.name", "execute_tool".into()),
                        ("gen_ai.tool.name", returned.tool.as_str().into()),
                        ("gen_ai.tool.call.id", returned.call.as_str().into()),
                    ];
                    if returned.is_error {
                        attributes.push(("error.type", "tool".into()));
                    }
                    let span = Span {
                        id,
                        attributes,
                        failed: returned.is_error,
                        ..self.span(recorded, name, self.id, start)
                    };
                    self.spans.push(span);
                }
            }
            Event::Proposed(proposed) => {
                let command = Command {
                    call: &proposed.call,
                    program: program(&proposed.command),
                    verdict: "",
                    began: None,
                };
                self.steps.insert(proposed.step, command);
            }
            Event::Classified(judged) => {
                if let Some(command) = self.steps.get_mut(&judged.step) {
                    command.verdict = &judged.verdict;
                    command.program = program(&judged.command);
                }
            }
            Event::Executing(executing) => {
                if let Some(command) = self.steps.get_mut(&executing.step) {
                    command.began = Some(at);
                }
            }
            Event::Done(done) => {
                let exit = done.exit_code.map(|code| ("process.exit.code", Value::Number(code.into())));
                self.ran(recorded, done.step, &done.status, exit, done.error.is_some());
            }
            Event::Unknown(unknown) => self.ran(recorded, unknown.step, "unknown", None, true),
            Event::ApprovalRequested(requested) => {
                let question = Question {
                    since: at,
                    impact: requested.impact.as_str(),
                    parent: self.caller(requested.step),
                };
                self.approvals.insert(&requested.approval, question);
            }
            Event::ApprovalDecided(decided) => {
                let answer = match decided.answer {
                    Reply::Approve => "approved",
                    Reply::Deny { .. } => "denied",
                    Reply::Modify { .. } => "modified",
                };
                self.decided(recorded, &decided.approval, answer);
            }
            Event::ApprovalExpired(expired) => self.decided(recorded, &expired.approval, "expired"),
            Event::FindingAccepted(accepted) => self.codes.push(accepted.finding.code.as_str().to_owned()),
            Event::Concluded(concluded) => {
                self.attributes.push(("ghost.outcome", concluded.outcome.as_str().into()));
                self.attributes.push(("ghost.confidence", Value::Text(concluded.confidence.to_string())));
            }
            Event::Opened(_)
            | Event::Reopened(_)
            | Event::HypothesisSet(_)
            | Event::ApprovalVoted(_)
            | Event::Intent(_)
            | Event::Observed(_)
            | Event::FindingRejected(_)
            | Event::HumanMessage(_)
            | Event::Noted(_)
            | Event::Discarded(_)
            | Event::BudgetSpent(_)
            | Event::Resumed(_)
            | Event::Delivered(_)
            | Event::Taken(_)
            | Event::TakeRequested(_)
            | Event::ForecastChecked(_)
            | Event::Attended(_)
            | Event::Reworded(_)
            | Event::Alerted(_) => {}
        }
    }

    fn answered(&mut self, recorded: &Recorded, answered: &ModelAnswered) {
        self.asked = None;
        let latency = i64::try_from(answered.latency_ms).unwrap_or(i64::MAX);
        let start = Timestamp::from_millis(recorded.at.as_millis().saturating_sub(latency)).max(self.start);
        let whose = &answered.investigator;
        // Where nothing leaves the process no model was asked.
        let span = if whose.host.is_none() {
            let attributes = vec![("ghost.investigator", whose.provider.as_str().into())];
            Span { attributes, ..self.span(recorded, format!("plan {}", whose.provider), self.id, start) }
        } else {
            let finish = match &answered.stop {
                Stop::End => "stop",
                Stop::Calls => "tool_calls",
                Stop::Length => "length",
                Stop::Refused { .. } => "content_filter",
                Stop::Malformed { .. } => "error",
            };
            let mut attributes: Vec<Attribute> = vec![
                ("gen_ai.operation.name", "chat".into()),
                ("gen_ai.provider.name", whose.provider.as_str().into()),
                ("gen_ai.request.model", whose.model.as_str().into()),
                ("gen_ai.response.finish_reasons", Value::Texts(vec![finish.to_owned()])),
            ];
            let counts = [
                ("gen_ai.usage.input_tokens", answered.usage.input),
                ("gen_ai.usage.output_tokens", answered.usage.output),
                ("ghost.cost_micros", answered.cost_micros),
            ];
            attributes.extend(counts.into_iter().filter_map(|(name, count)| Some((name, count?.into()))));
            attributes
                .extend(whose.host.as_deref().map(|host| ("server.address", without_port(host).into())));
            let failed = matches!(answered.stop, Stop::Refused { .. } | Stop::Malformed { .. });
            let kind = SpanKind::Client;
            let name = format!("chat {}", whose.model);
            Span { kind, attributes, failed, ..self.span(recorded, name, self.id, start) }
        };
        self.spans.push(span);
    }

    /// Notes that a command is over. One that never began has no span: the tool that wanted it has.
    fn ran(
        &mut self,
        recorded: &Recorded,
        step: StepId,
        status: &str,
        exit: Option<Attribute>,
        failed: bool,
    ) {
        let parent = self.caller(step);
        let Some(command) = self.steps.remove(&step) else { return };
        let Some(start) = command.began else { return };
        let mut attributes: Vec<Attribute> = vec![
            ("process.executable.name", command.program.as_str().into()),
            ("ghost.verdict", command.verdict.into()),
            ("ghost.status", status.into()),
        ];
        attributes.extend(exit);
        let span = Span {
            kind: SpanKind::Client,
            attributes,
            failed,
            ..self.span(recorded, format!("run {}", command.program), parent, start)
        };
        self.spans.push(span);
    }

    fn decided(&mut self, recorded: &Recorded, approval: &str, answer: &str) {
        let Some(question) = self.approvals.remove(approval) else { return };
        let attributes =
            vec![("ghost.approval.answer", answer.into()), ("ghost.approval.impact", question.impact.into())];
        let name = "wait for approval".to_owned();
        let span = Span { attributes, ..self.span(recorded, name, question.parent, question.since) };
        self.spans.push(span);
    }

    /// Returns the call that a command belongs to.
    fn caller(&self, step: StepId) -> SpanId {
        let call = self.steps.get(&step).and_then(|command| self.calls.get(command.call));
        call.map_or(self.id, |(id, _)| *id)
    }

    fn name(&self, what: &str) -> SpanId {
        SpanId::of(self.session, what)
    }

    /// Returns a span that an event ends.
    fn span(&self, recorded: &Recorded, name: String, parent: SpanId, start: Timestamp) -> Span {
        Span {
            id: self.name(&format!("{name} {}", recorded.seq)),
            parent: Some(parent),
            name,
            kind: SpanKind::Internal,
            start,
            end: recorded.at,
            attributes: Vec::new(),
            failed: false,
        }
    }

    fn end(mut self) -> Vec<Span> {
        let mut attributes: Vec<Attribute> = vec![
            ("gen_ai.operation.name", "invoke_agent".into()),
            ("gen_ai.agent.name", "ghost".into()),
            ("gen_ai.conversation.id", self.session.as_str().into()),
            ("ghost.origin", self.opened.origin.place.as_str().into()),
        ];
        attributes.extend(
            self.opened.alert.as_ref().map(|alert| ("ghost.alert.source", alert.source.as_str().into())),
        );
        attributes.append(&mut self.attributes);
        if !self.codes.is_empty() {
            attributes.push(("ghost.findings", Value::Texts(std::mem::take(&mut self.codes))));
        }
        self.spans.push(Span {
            id: self.id,
            parent: self.parent,
            name: "invoke_agent ghost".to_owned(),
            kind: SpanKind::Internal,
            start: self.start,
            end: self.end,
            attributes,
            failed: false,
        });
        self.spans
    }
}

/// Returns a host without its port.
fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        Some(_) | None => host,
    }
}

/// Returns the name of the program that a command line starts: what comes behind it may name machines and more.
fn program(line: &str) -> String {
    let first = line.split_whitespace().next().unwrap_or_default();
    let name = first.rsplit('/').next().unwrap_or_default();
    let plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_' | '.');
    if name.is_empty() || name.len() > 40 || !name.chars().all(plain) {
        "command".to_owned()
    } else {
        name.to_owned()
    }
}
