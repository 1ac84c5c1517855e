//! Builds states by folding events, and judges what they are shown as.

use std::time::Duration;

use ghost_agent::bot::show::{Message, People, Person, RenderContext};
use ghost_base::{Digest, SessionId, Timestamp};
use ghost_investigate::event::{Chain, Event, Recorded};
use ghost_investigate::state::State;
use ghost_lab_slack::block::{Content, Method, accept_message, accept_view};
use serde_json::{Value, json};

/// A ledger that is being written: each event a second behind the one before.
pub(super) struct Ledger {
    chain: Chain,
    pub(super) now: Timestamp,
    events: Vec<Recorded>,
}

fn session() -> SessionId {
    "ghost-7k2f".parse().unwrap()
}

impl Ledger {
    pub(super) fn open(symptom: &str) -> Self {
        let now = Timestamp::from_millis(1_760_000_000_000);
        let mut ledger = Self { chain: Chain::new(session()), now, events: Vec::new() };
        let brain = json!({"provider": "scripted", "model": "", "host": null, "window": 1000});
        ledger.add(
            "opened",
            json!({"symptom": symptom, "requester": "ana", "origin": {"place": "slack"}, "nonce": "n",
            "brain": brain, "limits": {}, "version": "0"}),
        );
        ledger
    }

    pub(super) fn add(&mut self, kind: &str, body: Value) -> &mut Self {
        let event: Event = serde_json::from_value(json!({"kind": kind, "body": body})).unwrap();
        self.events.push(self.chain.seal(self.now, &event).unwrap().1);
        self.now = self.now.plus(Duration::from_secs(1));
        self
    }

    pub(super) fn wait(&mut self, seconds: u64) -> &mut Self {
        self.now = self.now.plus(Duration::from_secs(seconds));
        self
    }

    pub(super) fn state(&self) -> State {
        State::fold(&session(), &self.events).unwrap()
    }

    pub(super) fn suppose(&mut self, id: &str, what: &str, state: &str) -> &mut Self {
        self.add("hypothesis_set", json!({"id": id, "description": what, "state": state, "by": "model"}))
    }

    /// Lets the model take a turn with as many calls, named `c1` and so on.
    pub(super) fn turn(&mut self, calls: u32) -> &mut Self {
        let calls =
            (1..=calls).map(|id| json!({"id": format!("c{id}"), "tool": "run_shell_cmd", "arguments": {}}));
        let brain = json!({"provider": "scripted", "model": "", "host": null, "window": 1000});
        let usage = json!({"input": 1, "output": 1});
        self.add(
            "answered",
            json!({"turn": 0, "brain": brain, "text": "", "calls": calls.collect::<Vec<_>>(), "usage": usage,
            "latency_ms": 1, "stop": "calls"}),
        )
    }

    pub(super) fn propose(&mut self, step: u32, command: &str, why: &str, hypothesis: &str) -> &mut Self {
        self.add(
            "proposed",
            json!({"step": step, "call": format!("c{step}"), "tool": "run_shell_cmd", "command": command,
            "reasoning": why, "hypothesis": hypothesis}),
        )
    }

    pub(super) fn judge(&mut self, step: u32, round: u32, command: &str, verdict: &str) -> &mut Self {
        self.add(
            "classified",
            json!({"step": step, "round": round, "command": command, "verdict": verdict, "tier": 2,
            "rule": "az.ask", "reason": "the verb is not known to only read",
            "digest": Digest::of(command).to_string(), "policy": Digest::of("policy").to_string()}),
        )
    }

    pub(super) fn ask(&mut self, approval: &str, step: u32, round: u32, more: Value) -> &mut Self {
        let mut body = json!({"approval": approval, "step": step, "round": round,
            "digest": Digest::of(approval).to_string(),
            "expires_at": self.now.plus(Duration::from_secs(900)).to_string(), "votes_needed": 1, "impact": "measurement"});
        for (key, value) in more.as_object().unwrap() {
            body.as_object_mut().unwrap().insert(key.clone(), value.clone());
        }
        self.add("approval_requested", body)
    }

    pub(super) fn vote(&mut self, approval: &str, who: &str, approves: bool) -> &mut Self {
        let at = self.now.to_string();
        self.add("approval_voted", json!({"approval": approval, "who": who, "approves": approves, "at": at}))
    }

    pub(super) fn decide(&mut self, approval: &str, step: u32, who: &str, answer: Value) -> &mut Self {
        let at = self.now.to_string();
        self.add(
            "approval_decided",
            json!({"approval": approval, "step": step, "answer": answer, "who": who, "at": at}),
        )
    }

    pub(super) fn run(&mut self, step: u32) -> &mut Self {
        self.add("intent", json!({"step": step, "digest": Digest::of("x").to_string()}));
        self.add("executing", json!({"step": step, "epoch": 1}))
    }

    pub(super) fn done(&mut self, step: u32, status: &str, action: &str, reason: &str) -> &mut Self {
        let ran = status == "completed";
        let (exit, time) = (ran.then_some(0), ran.then_some(4_200));
        self.add(
            "done",
            json!({"step": step, "status": status, "classification": "RISKY", "action": action, "exit_code": exit,
            "output": "", "stderr": "", "reason": reason, "audit_id": "x", "duration_ms": time}),
        )
    }

    pub(super) fn observe(&mut self, id: &str, step: u32, what: &str) -> &mut Self {
        self.add(
            "observed",
            json!({"id": id, "call": format!("c{step}"), "step": step, "tool": "run_shell_cmd", "what": what,
            "source": "wire", "digest": Digest::of(what).to_string(), "bytes": 1}),
        );
        let call = format!("c{step}");
        self.add("returned", json!({"call": call, "tool": "run_shell_cmd", "content": ""}))
    }

    pub(super) fn finding(&mut self, statement: &str, observation: &str) -> &mut Self {
        self.add(
            "finding_accepted",
            json!({"code": "guest_firewall_drop", "object": "netfilter/tf-dest-vm/filter/INPUT/tcp/5001",
            "statement": statement, "evidence": [{"observation": observation, "quote": "DROP"}], "why": "it says so"}),
        )
    }

    pub(super) fn conclude(&mut self, outcome: &str, summary: &str) -> &mut Self {
        self.add(
            "concluded",
            json!({"outcome": outcome, "confidence": "high", "summary": summary,
            "actions": ["Remove rule 1 of INPUT."], "open_questions": [], "by": "model"}),
        )
    }
}

pub(super) const CAPTURE: &str = "az network watcher packet-capture create --resource-group rg-net --vm tf-dest-vm \
    --name ghost-7k2f-1 --storage-account diag --time-limit 60";

/// Returns a session up to its open question.
pub(super) fn open_question() -> Ledger {
    let mut ledger = Ledger::open(
        "iperf from tf-source-vm to tf-dest-vm:5001 hangs\nsince the hardening run, NSG says allowed",
    );
    ledger.suppose("H1", "NSG or effective rule denies 5001", "ACTIVE");
    ledger.suppose("H2", "route detour", "ACTIVE").suppose("H3", "guest firewall drops 5001", "ACTIVE");
    ledger.suppose("H4", "traffic shaping on the path", "ACTIVE").turn(4);
    for (step, command, seen) in [
        (
            1,
            "az network nic list-effective-nsg -g rg-net --name tf-dest-nic",
            "effective NSG: ALLOW at subnet and NIC",
        ),
        (
            2,
            "az network nic show-effective-route-table -g rg-net --name tf-source-nic",
            "effective route 10.0.1.5: VnetLocal",
        ),
    ] {
        ledger
            .propose(step, command, "effective state decides", &format!("H{step}"))
            .judge(step, 1, command, "SAFE");
        ledger.run(step).done(step, "completed", "auto_approved", "");
        ledger.observe(&format!("o{step}"), step, seen).suppose(&format!("H{step}"), seen, "REFUTED");
    }
    ledger.suppose("H1", "NSG or effective rule denies 5001", "REFUTED").suppose(
        "H2",
        "route detour",
        "REFUTED",
    );
    ledger
        .propose(3, CAPTURE, "H3 needs wire evidence: do SYNs reach the NIC?", "H3")
        .judge(3, 1, CAPTURE, "RISKY");
    ledger
}

/// Returns the same session to its end.
pub(super) fn concluded() -> Ledger {
    let mut ledger = open_question();
    ledger.ask("a1", 3, 1, json!({})).wait(60).vote("a1", "ben", true);
    ledger.decide("a1", 3, "ben", json!({"is": "approve"})).run(3);
    ledger.done(3, "completed", "user_approved", "").observe("o3", 3, "12 SYN in, 0 SYN-ACK out");
    let del = "tc qdisc del dev eth0 root";
    ledger.propose(4, del, "is it the delay?", "H4").judge(4, 1, del, "RISKY");
    ledger.ask("a2", 4, 1, json!({"impact": "change"})).vote("a2", "cleo", false);
    ledger.decide("a2", 4, "cleo", json!({"is": "deny", "reason": "not during business hours"}));
    ledger.done(4, "denied", "user_denied", "not during business hours");
    ledger.finding("The guest firewall of tf-dest-vm drops tcp/5001.", "o3");
    ledger.suppose("H3", "guest firewall drops 5001", "CONFIRMED");
    ledger.add(
        "hypothesis_set",
        json!({"id": "H4", "state": "UNVERIFIABLE", "by": "code", "why": "denied by cleo"}),
    );
    ledger.conclude("LIKELY", "The guest firewall of tf-dest-vm drops tcp/5001.");
    ledger
}

pub(super) fn context() -> RenderContext {
    let people = People::new()
        .with("ana", Person::Member("U0ANA".to_owned()))
        .with("ben", Person::Member("U0BEN".to_owned()))
        .with("dora", Person::Terminal("dora".to_owned()));
    RenderContext {
        people,
        card: Some("https://example.com/card".to_owned()),
        thread: Some("https://example.com/thread".to_owned()),
        ..RenderContext::default()
    }
}

/// Holds a message against the rules of Slack and against our own, and returns all of its text.
#[track_caller]
pub(super) fn good(message: &Message) -> String {
    let blocks = Value::Array(message.blocks.clone());
    let content = Content { text: Some(&message.text), blocks: Some(&blocks), ..Content::default() };
    accept_message(content, Method::Update).unwrap();
    let text = words(&blocks);
    assert!(text.encode_utf16().count() <= 13_000, "{}", text.len());
    assert!(!message.text.is_empty());
    assert!(!message.text.contains("<!") && !message.text.contains("<http"), "{}", message.text);
    never_interpreted(&blocks);
    text
}

/// Holds a view against the rules of Slack and returns all of its text.
#[track_caller]
pub(super) fn good_view(view: &Value) -> String {
    accept_view(view).unwrap();
    never_interpreted(view);
    words(view)
}

/// Nothing that is shown goes through `mrkdwn`, and emoji names stay names.
#[track_caller]
fn never_interpreted(value: &Value) {
    let text = value.to_string();
    assert!(!text.contains("\"mrkdwn\"") && !text.contains("\"emoji\":true"), "{text}");
}

/// Returns all text that stands in a value, in order, a block a line.
pub(super) fn words(value: &Value) -> String {
    match value {
        Value::Array(items) => items.iter().map(words).collect::<Vec<_>>().join(""),
        Value::Object(object) => {
            let own = ["text", "fallback", "user_id", "initial_value"]
                .iter()
                .filter_map(|key| object.get(*key))
                .map(|value| value.as_str().map_or_else(|| words(value), str::to_owned));
            let inner = ["elements", "element", "label", "hint", "title", "blocks", "confirm"].iter();
            let inner = inner.filter_map(|key| object.get(*key)).map(words);
            let end = if object.contains_key("type") && object.get("type").is_some_and(is_block) {
                "\n"
            } else {
                ""
            };
            own.chain(inner).collect::<String>() + end
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => String::new(),
    }
}

fn is_block(kind: &Value) -> bool {
    let blocks = [
        "rich_text",
        "section",
        "header",
        "context",
        "actions",
        "markdown",
        "button",
        "rich_text_section",
        "rich_text_quote",
        "rich_text_preformatted",
    ];
    kind.as_str().is_some_and(|kind| blocks.contains(&kind))
}

/// Returns the names of all buttons.
pub(super) fn buttons(message: &Message) -> Vec<String> {
    let rows = message.blocks.iter().filter(|block| block["type"] == "actions");
    let buttons = rows.flat_map(|row| row["elements"].as_array().unwrap());
    buttons.map(|button| button["action_id"].as_str().unwrap().to_owned()).collect()
}
