//! Facts about the path.

use serde_json::{Value, json};

use crate::Outcome;
use crate::report::path::{NodeState, description, nodes, picture};
use crate::report::tests::Ledger;

/// A session about two machines; `findings` are codes and objects.
fn ledger(findings: &[(&str, &str)], looked: Value) -> Ledger {
    let machine = |name: &str, ip: &str, subnet: &str| {
        json!({"name": name, "region": "r", "addresses": [ip], "public": [], "nic": format!("{name}-nic"),
            "nsg": format!("{name}-nsg"), "vnet": "rg/net", "subnet": subnet, "subnet_nsg": null, "route_table": "rg/rt"})
    };
    let facts = json!({"machines": [machine("web-1", "10.0.0.4", "front"), machine("db-1", "10.0.0.5", "back")], "networks": []});
    let mut ledger = Ledger::open("web-1 cannot reach db-1");
    ledger.json(
        "answered",
        json!({"turn": 0, "brain": {"provider": "playbook", "model": "", "host": null, "window": 1000}, "text": "",
            "calls": [{"id": "c1", "tool": "topology", "arguments": {}}],
            "usage": {}, "cost_micros": 0, "latency_ms": 0, "stop": "calls"}),
    );
    let content = json!({"status": "completed", "facts": facts, "looked": looked}).to_string();
    ledger.json("returned", json!({"call": "c1", "tool": "topology", "content": content}));
    for (code, object) in findings {
        ledger.json(
            "finding_accepted",
            json!({"code": code, "object": object, "statement": "", "why": "", "evidence": []}),
        );
    }
    ledger.conclude(Outcome::Confirmed, "");
    ledger
}

#[test]
fn the_path_leads_from_the_caller_to_the_called_one() {
    let state = ledger(&[], json!([])).state();
    let names: Vec<String> = nodes(&state).into_iter().map(|node| node.name).collect();
    assert_eq!(names, ["web-1", "front", "back", "db-1"]);
    assert!(nodes(&Ledger::open("x").state()).is_empty() && picture(&Ledger::open("x").state()).is_none());
}

#[test]
fn a_fault_stands_where_it_lies() {
    let faults = [
        ("nsg_deny", "nsg/db-1-nsg/deny-5001"),
        ("route_dead_nva", "route/rt/all"),
        ("netem_delay", "qdisc/web-1/eth0"),
        ("guest_firewall_drop", "netfilter/db-1/filter/INPUT/tcp/5001"),
        ("arp_conflict", "host/10.9.9.9"),
    ];
    let state = ledger(&faults, json!([])).state();
    let at_fault: Vec<String> = nodes(&state)
        .into_iter()
        .filter(|node| node.lines.iter().any(|(known, _)| *known == NodeState::Fault))
        .map(|node| node.name)
        .collect();
    assert_eq!(at_fault, ["web-1", "front", "db-1", "Elsewhere"]);
    assert!(
        description(&state).contains("db-1 (at fault: Security rule deny-5001"),
        "{}",
        description(&state)
    );
}

#[test]
fn only_what_was_looked_at_is_clean() {
    let looked = json!([{"layer": "guest", "subject": "web-1"}, {"layer": "rules", "subject": "db-1"}]);
    let nodes = nodes(&ledger(&[], looked).state());
    let clean: Vec<&str> = nodes
        .iter()
        .flat_map(|node| &node.lines)
        .filter(|(known, _)| *known == NodeState::Clean)
        .map(|(_, text)| text.as_str())
        .collect();
    assert_eq!(clean, ["packet filter", "security rules, inbound (db-1-nsg)"]);
}
