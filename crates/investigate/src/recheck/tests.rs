//! Facts about checking again, with a tool that is asked and runs nothing.

use serde_json::{Map, Value, json};

use crate::Outcome as End;
use crate::decision::{DecisionContext, Effect, next};
use crate::event::{Event, Now, Rechecked};
use crate::finding::Fault;
use crate::model::ToolSpec;
use crate::recheck::{Refused, Verdict, possible, report, verdict};
use crate::report::tests::Ledger;
use crate::report::{headline, rca};
use crate::state::State;
use crate::suspect::{Layer, Looked, SupportedFaults, Suspect};
use crate::tool::{CallContext, CallResult, NoEvidence, Registry, Tool, ToolAction};
use ghost_shell::Policy;

const OBJECT: &str = "nsg/web-nsg/deny-5001";

/// Supports what its result says, which stands in the words that its call is asked with.
struct Eye {
    sees: fn(again: bool) -> SupportedFaults,
    fails: bool,
}

impl Tool for Eye {
    fn spec(&self) -> ToolSpec {
        ToolSpec { name: "eye".to_owned(), description: String::new(), parameters: json!({}) }
    }

    fn advance(&self, _arguments: &Map<String, Value>, _context: &CallContext<'_>) -> ToolAction {
        let status = if self.fails {
            json!({"status": "denied", "reason": "no"})
        } else {
            json!({"status": "completed"})
        };
        ToolAction::Return(Box::new(CallResult { is_error: self.fails, ..CallResult::completed(status) }))
    }

    fn supports(&self, _arguments: &Map<String, Value>, context: &CallContext<'_>) -> SupportedFaults {
        let again = context.call.call.id != "c1";
        if again && self.fails { SupportedFaults::default() } else { (self.sees)(again) }
    }
}

fn suspect(object: &str) -> Suspect {
    Suspect::new(Fault::NsgDeny, object.to_owned(), "it denies tcp to port 5001")
}

fn looked() -> Vec<Looked> {
    vec![Looked { layer: Layer::Rules, subject: "web-1".to_owned() }]
}

fn still(_: bool) -> SupportedFaults {
    SupportedFaults { suspects: vec![suspect(OBJECT)], looked: looked(), ..SupportedFaults::default() }
}

fn gone(again: bool) -> SupportedFaults {
    if again { SupportedFaults { looked: looked(), ..SupportedFaults::default() } } else { still(again) }
}

fn other(again: bool) -> SupportedFaults {
    if again {
        SupportedFaults {
            suspects: vec![suspect("nsg/web-nsg/deny-all")],
            looked: looked(),
            ..SupportedFaults::default()
        }
    } else {
        still(again)
    }
}

fn half(again: bool) -> SupportedFaults {
    if again { SupportedFaults::default() } else { still(again) }
}

/// A session whose report was delivered.
fn reported(findings: bool) -> Ledger {
    let mut ledger = Ledger::open("5001 hangs");
    ledger.json(
        "hypothesis_set",
        json!({"id": "H1", "description": "a rule", "state": "CONFIRMED", "by": "model"}),
    );
    ledger.json(
        "answered",
        json!({"turn": 0, "brain": {"provider": "playbook", "model": "", "host": null, "window": 1000}, "text": "",
            "calls": [{"id": "c0", "tool": "eye", "arguments": {"vm_name": "other"}},
                {"id": "c1", "tool": "eye", "arguments": {"vm_name": "web-1", "is_baseline": true}}],
            "usage": {}, "cost_micros": 0, "latency_ms": 0, "stop": "calls"}),
    );
    for (id, call) in [(1, "c0"), (2, "c1")] {
        ledger.observe(id, call, None, "rules");
        ledger
            .json("returned", json!({"call": call, "tool": "eye", "content": "{\"status\":\"completed\"}"}));
    }
    if findings {
        let finding = json!({"code": "nsg_deny", "object": OBJECT, "statement": "it denies", "why": "o2: it denies",
            "evidence": [{"observation": "o2"}]});
        ledger.json("finding_accepted", finding);
    }
    ledger.conclude(if findings { End::Confirmed } else { End::NoFaultFound }, "");
    ledger.json("delivered", json!({"what": "report", "place": "terminal", "digest": "0".repeat(64)}));
    ledger
}

/// Lets the session go on until there is something for somebody to do.
fn checked(eye: Eye) -> State {
    let mut ledger = reported(true);
    assert_eq!(possible(&ledger.state()), Ok(()));
    ledger.json("reopened", json!({"who": "ana", "text": "fixed, check again", "recheck": true}));
    assert_eq!(possible(&ledger.state()), Err(Refused::Running));
    let tools = Registry::new(vec![Box::new(eye)]);
    let policy = Policy::builtin().unwrap();
    for _ in 0..10 {
        let state = ledger.state();
        let brain = state.opened.investigator.clone();
        let context = DecisionContext {
            policy,
            tools: &tools,
            evidence: &NoEvidence,
            investigator: &brain,
            site: None,
        };
        let effect = next(&state, &context, ledger.now);
        if let Effect::Record(events) = effect {
            events.into_iter().for_each(|event| ledger.add(event));
            continue;
        }
        assert_eq!(effect, Effect::Deliver);
        return state;
    }
    panic!("it does not end")
}

fn row(state: &State) -> Rechecked {
    let (_, concluded) = state.concluded.as_ref().unwrap();
    assert!(!concluded.recheck.is_empty());
    concluded.recheck[0].clone()
}

#[test]
fn only_the_look_that_showed_the_fault_is_taken_again() {
    let state = checked(Eye { sees: gone, fails: false });
    let turn = state.turns().next_back().unwrap();
    let calls: Vec<_> =
        turn.calls.iter().map(|call| (call.call.tool.as_str(), call.call.arguments.clone())).collect();
    assert_eq!(calls, [("eye", json!({"vm_name": "web-1"}))], "and nothing is kept a second time");
    assert!(state.asked.is_none(), "no model is asked");
}

#[test]
fn what_is_gone_is_verified_fixed() {
    let state = checked(Eye { sees: gone, fails: false });
    assert_eq!(row(&state).now, Now::Fixed);
    assert_eq!(headline(&state), "Checked again: verified fixed");
    let report = rca(&state);
    assert!(
        report.contains("| Fault | Before | Now |") && report.contains("✔ Security rule deny-5001"),
        "{report}"
    );
    assert!(!report.contains("## What to do"));
}

#[test]
fn what_is_there_is_still_broken_and_so_is_what_came_in_its_place() {
    let state = checked(Eye { sees: still, fails: false });
    assert_eq!(row(&state).now, Now::Broken);
    assert!(headline(&state).ends_with("still broken") && rca(&state).contains("## What to do"));
    let state = checked(Eye { sees: other, fails: false });
    let rows = &state.concluded.as_ref().unwrap().1.recheck;
    assert_eq!(rows.iter().map(|row| row.now).collect::<Vec<_>>(), [Now::Fixed, Now::New]);
    assert!(headline(&state).ends_with("still broken"));
}

#[test]
fn what_nobody_could_look_at_is_not_fixed() {
    for eye in [Eye { sees: gone, fails: true }, Eye { sees: half, fails: false }] {
        let state = checked(eye);
        assert_eq!(row(&state).now, Now::Unknown);
        assert!(headline(&state).ends_with("not clear"));
    }
}

#[test]
fn a_second_look_can_be_taken_again_and_a_first_one_needs_a_fault() {
    assert_eq!(possible(&reported(false).state()), Err(Refused::NothingFound));
    assert_eq!(possible(&Ledger::open("x").state()), Err(Refused::AtWork));
}

#[test]
fn one_thing_left_is_enough_to_be_broken() {
    let of = |now: Now| Rechecked {
        code: Fault::NsgDeny.into(),
        object: OBJECT.to_owned(),
        before: "a | b".to_owned(),
        after: "c".to_owned(),
        now,
        seen: Vec::new(),
    };
    assert_eq!(verdict(&[of(Now::Fixed), of(Now::Broken)]), Verdict::Broken);
    assert_eq!(verdict(&[of(Now::Fixed), of(Now::Unknown)]), Verdict::Unclear);
    assert_eq!(verdict(&[]), Verdict::Unclear);
    let text = report(&reported(true).state(), &[of(Now::Fixed)]);
    assert!(text.contains("a &#124; b"), "{text}");
}

#[test]
fn an_event_of_before_reads_as_it_did() {
    let text: Event =
        serde_json::from_value(json!({"kind": "reopened", "body": {"who": "ana", "text": "so?"}})).unwrap();
    let Event::Reopened(reopened) = &text else { panic!() };
    assert!(!reopened.recheck);
    assert!(!serde_json::to_string(&text).unwrap().contains("recheck"));
}
