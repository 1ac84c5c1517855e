//! A connection that is tried, hop by hop.

use std::net::IpAddr;

use serde_json::{Value, json};

use super::flow::{Packet, verdict};
use super::hop::choose;
use crate::lab::azure::arm::guid;
use crate::lab::azure::cloud::Cloud;
use crate::lab::azure::effective::{Nic, by_machine};

/// From which port a trial comes.
const EPHEMERAL: u16 = 40_000;

/// Tries a connection from one machine to another, or to an address.
pub(super) fn connect(
    cloud: &Cloud,
    source: &Nic<'_>,
    target: Option<&Nic<'_>>,
    to: (IpAddr, u16),
    protocol: &str,
) -> Value {
    let from = source.addresses().first().and_then(|address| address.parse().ok()).unwrap_or(to.0);
    let packet = |direction| Packet { direction, protocol, from: (from, EPHEMERAL), to };
    let mut there = Vec::new();
    let out = verdict(cloud, source, packet("Outbound"));
    if !out.allowed {
        there.push(issue("Outbound", "NetworkSecurityRule", "RuleName", &rule_name(&out.rule)));
    }
    let hop = choose(cloud, source, to.0);
    let lost = hop.as_ref().is_none_or(|hop| hop.kind == "None");
    if lost {
        there.push(issue("Outbound", "UserDefinedRoute", "RouteType", "User"));
    }
    let appliance = hop.filter(|hop| hop.kind == "VirtualAppliance").and_then(|hop| hop.address);
    let owner = appliance.as_deref().map(|address| owner(cloud, address));
    let dead = matches!(owner, Some(None));
    let last = target.map(|target| {
        let inward = verdict(cloud, target, packet("Inbound"));
        (!inward.allowed)
            .then(|| issue("Inbound", "NetworkSecurityRule", "RuleName", &rule_name(&inward.rule)))
    });
    let reachable = there.is_empty() && !dead && !matches!(last, Some(Some(_)));
    let hops = hops(source, target, to.0, (there, appliance, last.flatten()));
    let mut told = json!({"hops": hops, "connectionStatus": if reachable { "Reachable" } else { "Unreachable" },
        "probesSent": if reachable { 66 } else { 30 }, "probesFailed": if reachable { 0 } else { 30 }});
    if let (true, Some(map)) = (reachable, told.as_object_mut()) {
        for (field, value) in [("avgLatencyInMs", 1), ("minLatencyInMs", 1), ("maxLatencyInMs", 3)] {
            map.insert(field.to_owned(), json!(value));
        }
    }
    told
}

fn owner<'a>(cloud: &'a Cloud, address: &str) -> Option<Nic<'a>> {
    let all = cloud.estate.of("Microsoft.Network/networkInterfaces");
    all.map(|document| Nic::of(&cloud.estate, document)).find(|nic| nic.addresses().contains(&address))
}

/// What stood in the way: at the source, an appliance between, at the target.
type Ways = (Vec<Value>, Option<String>, Option<Value>);

fn hops(
    source: &Nic<'_>,
    target: Option<&Nic<'_>>,
    to: IpAddr,
    (there, appliance, last): Ways,
) -> Vec<Value> {
    let mut hops = Vec::new();
    let place = |nic: &Nic<'_>| {
        nic.document
            .pointer("/properties/ipConfigurations/0/id")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let address =
        |nic: &Nic<'_>| nic.addresses().first().map(|address| (*address).to_owned()).unwrap_or_default();
    let (first, end) = (place(source), target.map(place).unwrap_or_default());
    let last_id = guid(if end.is_empty() { "internet" } else { &end });
    let between = appliance.as_deref().map(|appliance| (guid(appliance), appliance.to_owned()));
    let next = between.as_ref().map_or_else(|| last_id.clone(), |(id, _)| id.clone());
    hops.push(json!({"type": "Source", "id": guid(&first), "address": address(source), "resourceId": first,
        "nextHopIds": [next], "issues": there}));
    if let Some((id, appliance)) = between {
        hops.push(json!({"type": "VirtualAppliance", "id": id, "address": appliance, "resourceId": "",
            "nextHopIds": [last_id], "issues": []}));
    }
    let (kind, shown) =
        target.map_or_else(|| ("Internet", to.to_string()), |target| ("VirtualMachine", address(target)));
    let issues: Vec<Value> = last.into_iter().collect();
    hops.push(json!({"type": kind, "id": last_id, "address": shown, "resourceId": end, "nextHopIds": [], "issues": issues}));
    hops
}

fn issue(origin: &str, kind: &str, key: &str, value: &str) -> Value {
    json!({"origin": origin, "severity": "Error", "type": kind, "context": [{"key": key, "value": value}]})
}

/// Writes a rule as the platform does here.
fn rule_name(rule: &str) -> String {
    match rule.split_once('/') {
        Some(("securityRules", name)) => format!("UserRule_{name}"),
        Some((_, name)) => format!("DefaultRule_{name}"),
        None => rule.to_owned(),
    }
}

/// Finds the interface of a machine by its identifier.
pub(super) fn machine<'a>(cloud: &'a Cloud, id: &str) -> Option<Nic<'a>> {
    by_machine(&cloud.estate, id)
}
