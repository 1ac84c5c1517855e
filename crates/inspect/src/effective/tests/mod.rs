//! Facts about effective state.

use serde_json::{Value, json};

use super::*;
use ghost_base::Timestamp;

mod comparing;
mod property;
mod sealing;

fn route(prefix: &str, source: &str, hop: &str) -> Value {
    let hops: Vec<&str> = hop.split(' ').filter(|hop| !hop.is_empty()).collect();
    json!({"addressPrefix": [prefix], "nextHopType": "VirtualAppliance", "nextHopIpAddress": hops, "source": source,
        "state": "Active", "name": null, "disableBgpRoutePropagation": false})
}

fn rule(name: &str, priority: u32, access: &str, port: &str) -> Value {
    json!({"name": format!("securityRules/{name}"), "priority": priority, "direction": "Inbound", "access": access,
        "protocol": "Tcp", "sourceAddressPrefix": "*", "sourcePortRange": "0-65535", "destinationAddressPrefix": "*",
        "destinationPortRange": port})
}

fn group(gate: &str, nsg: &str, rules: Vec<Value>) -> Value {
    let id = format!("/subscriptions/s/resourceGroups/rg/networkSecurityGroups/{nsg}");
    json!({"association": {gate: {"id": "/x"}}, "networkSecurityGroup": {"id": id}, "effectiveSecurityRules": rules})
}

fn nic(name: &str, routes: Vec<Value>, groups: Vec<Value>) -> Value {
    json!({"nic": name, "routes": {"nextLink": null, "value": routes}, "nsg": {"value": groups}, "error": null})
}

fn bundle(nics: Vec<Value>) -> Value {
    json!({ "nics": nics })
}

/// One interface with a route and a rule at either gate.
fn plain() -> Value {
    let rules = |access| vec![rule("a", 100, access, "443"), rule("b", 65_000, "Deny", "*")];
    let groups =
        vec![group("subnet", "app", rules("Allow")), group("networkInterface", "vm", rules("Allow"))];
    bundle(vec![nic(
        "nic-a",
        vec![route("10.0.0.0/16", "Default", ""), route("0.0.0.0/0", "User", "10.0.1.4")],
        groups,
    )])
}

fn compare(a: &Value, b: &Value) -> Comparison {
    let side = |value: &Value| Side::parse(&value.to_string()).unwrap();
    side(a).compare(&side(b), Options::default())
}

fn taken(baseline: bool, at: i64) -> Taken {
    Taken {
        session: "before".parse().unwrap(),
        baseline,
        scope: Scope::default(),
        at: Timestamp::from_millis(at),
        answers_at: None,
        by: Some("ana".into()),
        tool: "ghost 0".into(),
    }
}

fn sealed(value: &Value, at: i64) -> (String, Snapshot) {
    Snapshot::seal(&Bundle::parse(&value.to_string()).unwrap(), taken(false, at)).unwrap()
}
