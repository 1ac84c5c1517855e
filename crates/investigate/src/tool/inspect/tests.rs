//! Facts about what an inspector takes and says.

#![expect(clippy::wildcard_enum_match_arm, reason = "whatever else comes is a failure of the test")]

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::inspectors;
use crate::Limits;
use crate::event::{Event, Opened, Origin};
use crate::model::{Call, Investigator};
use crate::report::tests::Ledger;
use crate::state::{CallState, State};
use crate::tool::{CallContext, NoEvidence, Reads, Registry, Site, ToolAction};
use ghost_base::Timestamp;
use ghost_cloud::Name;

fn site() -> Arc<Site> {
    Arc::new(Site { group: Some(Name::parse("rg").unwrap()), ..Site::default() })
}

fn arguments(value: &Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn state(symptom: &str) -> State {
    let name: ghost_base::SessionId = "s1".parse().unwrap();
    let opened = Event::Opened(Opened {
        symptom: symptom.to_owned(),
        requester: "ana".to_owned(),
        origin: Origin { place: "terminal".to_owned(), team: None, channel: None, thread: None },
        quotes: Vec::new(),
        nonce: "n0nce".to_owned(),
        investigator: Investigator {
            provider: "scripted".to_owned(),
            model: String::new(),
            host: None,
            window: 1,
        },
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
    });
    let sealed = crate::event::Chain::new(name.clone()).seal(Timestamp::from_millis(0), &opened).unwrap().1;
    State::fold(&name, &[sealed]).unwrap()
}

/// Asks a tool for its first move.
fn first(tool: &str, asked: &Value) -> ToolAction {
    first_of(&state("8080 hangs"), &site(), tool, asked)
}

fn first_of(state: &State, site: &Arc<Site>, tool: &str, asked: &Value) -> ToolAction {
    let registry = Registry::new(inspectors(site));
    let call = CallState {
        call: Call { id: "c1".to_owned(), tool: tool.to_owned(), arguments: asked.clone() },
        steps: Vec::new(),
        observations: Vec::new(),
        returned: None,
    };
    let context = CallContext {
        state,
        call: &call,
        evidence: &NoEvidence,
        tools: &registry,
        now: Timestamp::from_millis(0),
        reads: Reads::New,
    };
    registry.find(tool).unwrap().advance(&arguments(asked), &context)
}

/// Returns the first command of a call in a session about this.
fn asked_of(symptom: &str, tool: &str, asked: &Value) -> String {
    match first_of(&state(symptom), &site(), tool, asked) {
        ToolAction::Run(command) => command.command,
        other => panic!("{other:?}"),
    }
}

fn refused(tool: &str, asked: &Value) -> String {
    match first(tool, asked) {
        ToolAction::Return(outcome) if outcome.is_error => {
            outcome.content["reason"].as_str().unwrap().to_owned()
        }
        other => panic!("{other:?}"),
    }
}

fn runs(tool: &str, asked: &Value) -> String {
    match first(tool, asked) {
        ToolAction::Run(command) => command.command,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_inspector_begins_with_a_command_that_reads() {
    for (tool, asked, wanted) in [
        ("topology", json!({"reasoning": "r"}), "az vm list"),
        ("inspect_nsg", json!({"reasoning": "r", "vm_name": "web-1"}), "az vm show"),
        (
            "effective_route_inspector",
            json!({"reasoning": "r", "vm_name": "web-1", "dst_ip": "10.0.1.5"}),
            "az vm show",
        ),
        ("detect_effective_network_drift", json!({"reasoning": "r", "vm_name": "web-1"}), "az vm show"),
        ("detect_config_drift", json!({"reasoning": "r", "vm_name": "web-1"}), "az vm run-command invoke"),
        ("inspect_qdisc", json!({"reasoning": "r", "vm_name": "web-1"}), "az vm run-command invoke"),
        ("inspect_storage", json!({"reasoning": "r", "account": "nwlogs080613"}), "az storage account show"),
        (
            "list_changes",
            json!({"reasoning": "r", "causes": [{"fault": "nsg_deny", "object": "nsg/a/r"}]}),
            "az monitor activity-log list --resource-group rg --start-time 1969-12-30T12:00:00.000Z --end-time 1970-01-01T00:00:01.000Z",
        ),
        (
            "walk_packet",
            json!({"reasoning": "r", "vm_name": "web-1", "src_ip": "10.0.1.4", "dst_ip": "10.0.1.5", "proto": "icmp"}),
            "az vm run-command invoke",
        ),
    ] {
        let command = runs(tool, &asked);
        assert!(command.starts_with(wanted), "{tool}: {command}");
    }
}

#[test]
fn nonsense_is_refused_with_words_that_help() {
    for (tool, asked, wanted) in [
        ("inspect_nsg", json!({"reasoning": "r", "vm_name": "web 1"}), "vm_name"),
        (
            "inspect_nsg",
            json!({"reasoning": "r", "vm_name": "web-1", "src_ip": "10.0.1.0/24", "dst_port": 1}),
            "src_ip",
        ),
        ("inspect_nsg", json!({"reasoning": "r", "vm_name": "web-1", "dst_port": 80}), "other end"),
        ("inspect_nsg", json!({"reasoning": "r", "vm_name": "web-1", "dst_port": 99_999}), "u16"),
        ("inspect_nsg", json!({"reasoning": "r", "vm_name": "web-1", "shoe": 1}), "shoe"),
        ("inspect_nsg", json!({"reasoning": " ", "vm_name": "web-1"}), "reasoning is empty"),
        ("inspect_qdisc", json!({"reasoning": "r", "vm_name": "web-1", "hypothesis_id": "H9"}), "H9"),
        ("inspect_qdisc", json!({"reasoning": "r", "vm_name": "web-1", "provider": "telnet"}), "telnet"),
        ("detect_config_drift", json!({"reasoning": "r", "vm_name": "web-1", "src_ip": "10.0.1.4"}), "both"),
        (
            "detect_effective_network_drift",
            json!({"reasoning": "r", "vm_name": "w", "compare_session_id": "../x"}),
            "compare_session_id",
        ),
        ("inspect_storage", json!({"reasoning": "r", "account": "UPPER"}), "account"),
        (
            "walk_packet",
            json!({"reasoning": "r", "vm_name": "w", "src_ip": "10.0.1.4", "dst_ip": "10.0.1.5", "proto": "tcp"}),
            "dst_port",
        ),
    ] {
        let reason = refused(tool, &asked);
        assert!(reason.contains(wanted), "{tool} {asked}: {reason}");
    }
}

#[test]
fn a_baseline_is_recalled_before_anything_is_asked() {
    let asked = json!({"reasoning": "r", "vm_name": "web-1", "compare_session_id": "before"});
    for tool in ["detect_config_drift", "detect_effective_network_drift"] {
        assert!(matches!(first(tool, &asked), ToolAction::FileTask(_)), "{tool}");
    }
}

/// A session that found a rule in the hub's subscription, and asks the log about it.
fn hub_rule() -> (Ledger, Value) {
    let mut ledger = Ledger::open("app-1 gets nothing from orders-db on 5432");
    ledger.calls(0, "c1", "check_path");
    let facts = json!({"complaints": [], "flows": [], "noticed": [],
        "elsewhere": {"nsg/hub-nsg/harden": "hub-rg --subscription s2"}});
    let content = json!({"status": "completed", "observations": [], "facts": facts}).to_string();
    ledger
        .json("returned", json!({"call": "c1", "tool": "check_path", "content": content, "is_error": false}));
    ledger.calls(1, "c2", "list_changes");
    (ledger, json!({"reasoning": "r", "causes": [{"fault": "nsg_deny", "object": "nsg/hub-nsg/harden"}]}))
}

fn last_call(ledger: &Ledger, asked: &Value) -> ToolAction {
    let (state, registry) = (ledger.state(), Registry::new(inspectors(&site())));
    let call = state.calls().next_back().unwrap();
    let now = Timestamp::from_millis(1_760_000_100_000);
    let context =
        CallContext { state: &state, call, evidence: &NoEvidence, tools: &registry, now, reads: Reads::New };
    registry.find("list_changes").unwrap().advance(&arguments(asked), &context)
}

#[test]
fn the_log_of_the_group_in_which_a_cause_lies_is_read() {
    let (ledger, asked) = hub_rule();
    let ToolAction::Run(command) = last_call(&ledger, &asked) else { panic!("nothing is run") };
    let wanted = "az monitor activity-log list --resource-group hub-rg --subscription s2 --start-time";
    assert!(command.command.starts_with(wanted), "{}", command.command);
}

#[test]
fn a_log_of_another_group_that_is_closed_is_not_said_to_have_no_entry() {
    let (mut ledger, asked) = hub_rule();
    let ToolAction::Run(command) = last_call(&ledger, &asked) else { panic!("nothing is run") };
    ledger.propose(1, "c2", &command.command, "H1", "SAFE");
    ledger.done(1, "denied", "auto_approved", "the policy does not allow it");
    let ToolAction::Return(result) = last_call(&ledger, &asked) else { panic!("it does not end") };
    assert!(!result.is_error, "{}", result.content);
    let facts = &result.content["facts"];
    assert_eq!(facts["complete"], json!(false));
    assert!(facts["unread"][0].as_str().unwrap().starts_with("hub-rg in the subscription s2 ("), "{facts}");
    let sentence = facts["origins"][0]["sentence"].as_str().unwrap();
    assert!(sentence.starts_with("which change made nsg/hub-nsg/harden is not known"), "{sentence}");
    assert!(!sentence.contains("has no entry"), "{sentence}");
}

#[test]
fn without_a_record_nothing_is_supported() {
    let asked = json!({"reasoning": "r", "vm_name": "web-1"});
    let (state, registry) = (state("8080 hangs"), Registry::new(inspectors(&site())));
    let call = CallState {
        call: Call { id: "c1".to_owned(), tool: "inspect_qdisc".to_owned(), arguments: asked },
        steps: Vec::new(),
        observations: Vec::new(),
        returned: None,
    };
    let context = CallContext {
        state: &state,
        call: &call,
        evidence: &NoEvidence,
        tools: &registry,
        now: Timestamp::from_millis(0),
        reads: Reads::New,
    };
    let supported = context.supported(&call);
    assert!(supported.suspects.is_empty() && supported.looked.is_empty());
}

/// The tools of the older list, with what each of them demands there, as far as it means anything here.
#[test]
fn what_the_older_list_leaves_out_is_optional_here_too() {
    let registry = Registry::with(Site::clone(&site()));
    for (tool, demanded, optional) in [
        ("run_shell_cmd", vec!["command", "reasoning"], vec!["hypothesis_id"]),
        (
            "capture_traffic",
            vec!["target"],
            vec!["resource_group", "duration_seconds", "investigation_context", "hypothesis_id"],
        ),
        ("check_task", vec!["task_id"], vec![]),
        ("cancel_task", vec!["task_id"], vec!["reason", "hypothesis_id"]),
        ("cleanup_task", vec!["task_id"], vec!["hypothesis_id"]),
        ("manage_hypotheses", vec![], vec!["add", "update", "remove_ids"]),
        (
            "complete_investigation",
            vec!["confidence", "root_cause_summary"],
            vec![
                "confirmed_hypotheses",
                "refuted_hypotheses",
                "unverifiable_hypotheses",
                "contradicted_hypotheses",
                "recommended_actions",
            ],
        ),
        (
            "run_pipe_meter",
            vec!["test_type", "reasoning"],
            vec!["is_baseline", "compare_baseline", "iterations", "hypothesis_id"],
        ),
        (
            "detect_config_drift",
            vec!["reasoning"],
            vec![
                "is_baseline",
                "compare_session_id",
                "session_id",
                "vm_name",
                "provider",
                "explain",
                "hypothesis_id",
            ],
        ),
        (
            "detect_effective_network_drift",
            vec!["reasoning"],
            vec!["is_baseline", "compare_session_id", "session_id", "hypothesis_id"],
        ),
        (
            "effective_route_inspector",
            vec!["vm_name", "reasoning"],
            vec!["resource_group", "dst_ip", "subscription_id", "hypothesis_id"],
        ),
        (
            "inspect_nsg",
            vec!["vm_name", "reasoning"],
            vec![
                "resource_group",
                "src_ip",
                "dst_ip",
                "dst_port",
                "proto",
                "direction",
                "nic_name",
                "session_id",
                "subscription_id",
                "hypothesis_id",
            ],
        ),
    ] {
        let spec = registry.specs().iter().find(|spec| spec.name == tool).unwrap();
        let list = |key: &str| spec.parameters[key].as_array().cloned().unwrap_or_default();
        let required: std::collections::BTreeSet<String> =
            list("required").iter().map(|name| name.as_str().unwrap().to_owned()).collect();
        let wanted: std::collections::BTreeSet<String> =
            demanded.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(required, wanted, "{tool}");
        for name in demanded.iter().chain(&optional) {
            assert!(spec.parameters["properties"].get(*name).is_some(), "{tool} takes no {name}");
        }
    }
}

#[test]
fn a_machine_that_is_left_out_is_the_one_of_the_incident() {
    for tool in ["detect_effective_network_drift", "detect_config_drift"] {
        let answer = refused(tool, &json!({"reasoning": "r"}));
        assert!(answer.contains("vm_name is missing") && answer.contains("topology"), "{answer}");
        let command =
            asked_of("8080 on tf-dest-vm hangs from tf-source-vm", tool, &json!({"reasoning": "r"}));
        assert!(command.contains("tf-dest-vm"), "{command}");
    }
    let outbound =
        json!({"reasoning": "r", "direction": "outbound", "src_ip": "10.0.1.4", "dst_ip": "10.0.1.5"});
    let command = asked_of("8080 on tf-dest-vm hangs from tf-source-vm", "detect_config_drift", &outbound);
    assert!(command.contains("tf-source-vm"), "{command}");
}

#[test]
fn another_subscription_than_the_pinned_one_is_refused() {
    let named =
        json!({"reasoning": "r", "vm_name": "web-1", "subscription_id": "s-2", "session_id": "nsg_x"});
    assert!(runs("inspect_nsg", &named).contains("--subscription s-2"));
    let pinned = Site { subscription: Some(Name::parse("s-1").unwrap()), ..Site::clone(&site()) };
    let answer = first_of(&state("8080 hangs"), &Arc::new(pinned), "inspect_nsg", &named);
    assert!(
        matches!(answer, ToolAction::Return(outcome) if outcome.content.to_string().contains("only s-1"))
    );
}
