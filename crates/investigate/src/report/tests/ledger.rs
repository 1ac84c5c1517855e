//! Builds ledgers, event by event, for tests of what they tell.

use std::time::Duration;

use serde_json::{Value, json};

use crate::event::{
    ApprovalDecided, ApprovalExpired, ApprovalRequested, ApprovalVoted, Chain, Classified, Done, Event,
    Executing, Impact, Intent, Opened, Origin, Proposed, Recorded, Reply, StepId,
};
use crate::event::{Concluded, EvidenceSource, ModelAnswered, ObservationId, Observed};
use crate::model::{Call, Investigator, Stop, Usage};
use crate::state::State;
use crate::{Limits, Outcome};
use ghost_base::{Digest, SessionId, Timestamp};

/// A ledger that is being written: each event a second behind the one before.
pub(crate) struct Ledger {
    chain: Chain,
    pub(crate) now: Timestamp,
    pub(crate) events: Vec<Recorded>,
}

pub(crate) fn session() -> SessionId {
    "ghost-7k2f".parse().unwrap()
}

impl Ledger {
    /// Begins a session with a symptom.
    pub(crate) fn open(symptom: &str) -> Self {
        let now = Timestamp::from_millis(1_760_000_000_000);
        let mut ledger = Self { chain: Chain::new(session()), now, events: Vec::new() };
        ledger.add(Event::Opened(Opened {
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
        ledger
    }

    pub(crate) fn add(&mut self, event: Event) {
        let (_, recorded) = self.chain.seal(self.now, &event).unwrap();
        self.events.push(recorded);
        self.now = self.now.plus(Duration::from_secs(1));
    }

    /// Adds an event as it stands in a line: for kinds without a helper.
    pub(crate) fn json(&mut self, kind: &str, body: Value) {
        self.add(serde_json::from_value(json!({ "kind": kind, "body": body })).unwrap());
    }

    pub(crate) fn wait(&mut self, seconds: u64) {
        self.now = self.now.plus(Duration::from_secs(seconds));
    }

    pub(crate) fn state(&self) -> State {
        State::fold(&session(), &self.events).unwrap()
    }

    /// Lets the model take a turn with calls named so.
    pub(crate) fn turn(&mut self, turn: u32, calls: &[&str], cost_micros: Option<u64>) {
        self.turn_of(turn, calls, "run_shell_cmd", cost_micros);
    }

    /// Lets the model take a turn with one call of a tool.
    pub(crate) fn calls(&mut self, turn: u32, call: &str, tool: &str) {
        self.turn_of(turn, &[call], tool, None);
    }

    fn turn_of(&mut self, turn: u32, calls: &[&str], tool: &str, cost_micros: Option<u64>) {
        let call = |id: &&str| Call { id: (*id).to_owned(), tool: tool.to_owned(), arguments: json!({}) };
        self.add(Event::ModelAnswered(ModelAnswered {
            turn,
            investigator: investigator(),
            text: "I look.".to_owned(),
            calls: calls.iter().map(call).collect(),
            carry: None,
            usage: Usage { input: Some(1200), output: Some(80), ..Usage::default() },
            cost_micros,
            latency_ms: 850,
            stop: Stop::Calls,
        }));
    }

    /// Proposes a command for a hypothesis and judges it.
    pub(crate) fn propose(&mut self, step: u32, call: &str, command: &str, hypothesis: &str, verdict: &str) {
        self.add(Event::Proposed(Proposed {
            step: StepId(step),
            call: call.to_owned(),
            tool: "run_shell_cmd".to_owned(),
            command: command.to_owned(),
            reasoning: format!("{hypothesis} needs it"),
            hypothesis: Some(hypothesis.to_owned()),
            script: None,
            plan: Vec::new(),
        }));
        self.judge(step, 1, command, verdict);
    }

    pub(crate) fn judge(&mut self, step: u32, round: u32, command: &str, verdict: &str) {
        self.add(Event::Classified(Classified {
            step: StepId(step),
            round,
            command: command.to_owned(),
            verdict: verdict.to_owned(),
            tier: if verdict == "BLOCKED" { 0 } else { 1 },
            rule: "program.entry".to_owned(),
            reason: "the entry of the program says so".to_owned(),
            impact: None,
            digest: Digest::of(command),
            policy: Digest::of("policy"),
        }));
    }

    pub(crate) fn ask(&mut self, approval: &str, step: u32, round: u32) {
        self.add(Event::ApprovalRequested(ApprovalRequested {
            approval: approval.to_owned(),
            step: StepId(step),
            round,
            digest: Digest::of(approval),
            expires_at: self.now.plus(Duration::from_secs(900)),
            votes_needed: 1,
            impact: Impact::Change,
            outcome_unknown: false,
            plan: Vec::new(),
            judgements: Vec::new(),
            forecast: None,
        }));
    }

    pub(crate) fn answer(&mut self, approval: &str, step: u32, who: &str, answer: Reply) {
        let at = self.now;
        let approves = answer == Reply::Approve;
        self.add(Event::ApprovalVoted(ApprovalVoted {
            approval: approval.to_owned(),
            who: who.to_owned(),
            approves,
            at,
        }));
        self.add(Event::ApprovalDecided(ApprovalDecided {
            approval: approval.to_owned(),
            step: StepId(step),
            answer,
            who: who.to_owned(),
            name: None,
            at,
        }));
    }

    pub(crate) fn expire(&mut self, approval: &str, step: u32) {
        self.add(Event::ApprovalExpired(ApprovalExpired {
            approval: approval.to_owned(),
            step: StepId(step),
        }));
    }

    pub(crate) fn run(&mut self, step: u32, approval: Option<&str>) {
        self.add(Event::Intent(Intent {
            step: StepId(step),
            digest: Digest::of("argv"),
            approval: approval.map(str::to_owned),
        }));
        self.add(Event::Executing(Executing { step: StepId(step), epoch: 1 }));
    }

    /// Ends a step; what ran has an exit code of zero.
    pub(crate) fn done(&mut self, step: u32, status: &str, action: &str, reason: &str) {
        self.ended(step, (status, action, reason), "out");
    }

    /// Ends a step that ran and printed this.
    pub(crate) fn prints(&mut self, step: u32, output: &str) {
        self.ended(step, ("completed", "auto_approved", "it only reads"), output);
    }

    fn ended(&mut self, step: u32, (status, action, reason): (&str, &str, &str), output: &str) {
        let ran = status == "completed";
        self.add(Event::Done(Done {
            step: StepId(step),
            status: status.to_owned(),
            classification: "SAFE".to_owned(),
            action: action.to_owned(),
            exit_code: ran.then_some(0),
            output: output.to_owned(),
            stderr: String::new(),
            error: (action == "blocked").then(|| "blocked".to_owned()),
            reason: reason.to_owned(),
            hint: None,
            modified_command: None,
            audit_id: format!("ghost-7k2f-{step}"),
            audit_head: Some(Digest::of(format!("audit {step}")).to_string()),
            duration_ms: ran.then_some(4_200),
            evidence: ran.then(|| Digest::of(format!("out {step}")).to_string()),
            output_metadata: Value::Null,
            restored: false,
        }));
    }

    pub(crate) fn observe(&mut self, id: u32, call: &str, step: Option<u32>, what: &str) {
        self.add(Event::Observed(Observed {
            id: ObservationId(id),
            call: call.to_owned(),
            step: step.map(StepId),
            tool: "run_shell_cmd".to_owned(),
            what: what.to_owned(),
            source: EvidenceSource::Effective,
            digest: Digest::of(what),
            bytes: 120,
        }));
    }

    pub(crate) fn conclude(&mut self, outcome: Outcome, summary: &str) {
        self.add(Event::Concluded(Concluded {
            outcome,
            confidence: outcome.confidence(),
            summary: summary.to_owned(),
            actions: vec!["Remove rule 1 of INPUT on tf-dest-vm.".to_owned(), "Run iperf again.".to_owned()],
            waived: Vec::new(),
            open_questions: vec!["Who added the rule?".to_owned()],
            by: "model".to_owned(),
            claimed: None,
            recheck: Vec::new(),
            complaints: Vec::new(),
            stands: None,
            replaced: Vec::new(),
        }));
    }
}

fn investigator() -> Investigator {
    Investigator {
        provider: "anthropic".to_owned(),
        model: "large_1".to_owned(),
        host: Some("models.example".to_owned()),
        window: 200_000,
    }
}

/// Reads back what was spelled out.
pub(crate) fn unspell(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let slashes = rest[at..].len() - rest[at..].trim_start_matches('\\').len();
        rest = &rest[at + slashes..];
        let Some(spelled) = rest.strip_prefix("u{") else {
            out.push_str(&"\\".repeat(slashes));
            continue;
        };
        out.push_str(&"\\".repeat(slashes / 2));
        if slashes % 2 == 1 {
            let (digits, behind) = spelled.split_once('}').unwrap();
            out.push(char::from_u32(u32::from_str_radix(digits, 16).unwrap()).unwrap());
            rest = behind;
        } else if let Some(behind) = rest.strip_prefix('u') {
            out.push('u');
            rest = behind;
        }
    }
    out + rest
}
