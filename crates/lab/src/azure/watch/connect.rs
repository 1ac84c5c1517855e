//! A connection that is tried, hop by hop.

use std::net::IpAddr;

use serde_json::{Value, json};

use super::flow::{Packet, verdict};
use super::hop::choose;
use crate::azure::arm::{guid, runs};
use crate::azure::cloud::Cloud;
use crate::azure::effective::{Nic, by_machine, neighbors};
use crate::azure::target::Target;

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
        let whose = if hop.as_ref().is_some_and(|hop| hop.user) { "User" } else { "System" };
        there.push(issue("Outbound", "UserDefinedRoute", "RouteType", whose));
    }
    let appliance = hop.filter(|hop| hop.kind == "VirtualAppliance").and_then(|hop| hop.address);
    let nobody =
        |address: &str| address.parse().ok().and_then(|address| owner(cloud, source, address)).is_none();
    let dead = appliance.as_deref().is_some_and(nobody);
    let off = target.is_some_and(|target| !on(cloud, target) || !near(cloud, source, target));
    let last = target.map(|target| {
        let inward = verdict(cloud, target, packet("Inbound"));
        (!inward.allowed)
            .then(|| issue("Inbound", "NetworkSecurityRule", "RuleName", &rule_name(&inward.rule)))
    });
    let reachable = there.is_empty() && !dead && !off && !matches!(last, Some(Some(_)));
    let hops = hops(source, target, to.0, (there, appliance, last.flatten()));
    let mut result = json!({"hops": hops, "connectionStatus": if reachable { "Reachable" } else { "Unreachable" },
        "probesSent": if reachable { 66 } else { 30 }, "probesFailed": if reachable { 0 } else { 30 }});
    if let (true, Some(map)) = (reachable, result.as_object_mut()) {
        for (field, value) in [("avgLatencyInMs", 1), ("minLatencyInMs", 1), ("maxLatencyInMs", 3)] {
            map.insert(field.to_owned(), json!(value));
        }
    }
    result
}

/// Finds the interface that owns an address, as seen from another one.
pub(super) fn owner<'a>(cloud: &'a Cloud, from: &Nic<'_>, address: IpAddr) -> Option<Nic<'a>> {
    let all = cloud.estate.of("Microsoft.Network/networkInterfaces");
    let own = |nic: &Nic<'_>| nic.addresses().iter().any(|found| found.parse() == Ok(address));
    all.map(|document| Nic::of(&cloud.estate, document)).find(|nic| own(nic) && near(cloud, from, nic))
}

/// Tells whether two interfaces are in one network, or in networks that are peered.
fn near(cloud: &Cloud, one: &Nic<'_>, other: &Nic<'_>) -> bool {
    let id = |network: Option<&Value>| {
        network.and_then(|network| network.get("id")?.as_str()).map(str::to_ascii_lowercase)
    };
    let (own, far) = (id(one.network), id(other.network));
    let peered = one.network.map(|network| neighbors(cloud, network)).unwrap_or_default();
    own == far || peered.iter().any(|neighbor| id(Some(neighbor.network)) == far)
}

/// Returns the address of a storage account, the only thing whose name the platform knows here.
pub(super) fn named(cloud: &Cloud, name: &str) -> Option<IpAddr> {
    let account = name.split_once(".blob.").map(|(account, _)| account)?;
    cloud.estate.of("Microsoft.Storage/storageAccounts").find(|found| {
        found.get("name").and_then(Value::as_str).is_some_and(|found| found.eq_ignore_ascii_case(account))
    })?;
    let prefix = cloud.about.service_tags.get("Storage")?.first()?;
    let network: std::net::Ipv4Addr = prefix.split('/').next()?.parse().ok()?;
    Some(IpAddr::V4(std::net::Ipv4Addr::from(u32::from(network) | 4)))
}

/// Tells of a name that nobody knows.
pub(super) fn unresolved(source: &Nic<'_>) -> Value {
    let (place, address) = (place(source), source.addresses().first().copied().unwrap_or_default());
    json!({"hops": [{"type": "Source", "id": guid(&place), "address": address, "resourceId": place, "nextHopIds": [],
        "issues": [{"origin": "Local", "severity": "Error", "type": "DnsResolution", "context": []}]}],
        "connectionStatus": "Unreachable", "probesSent": 0, "probesFailed": 0})
}

fn place(nic: &Nic<'_>) -> String {
    let found = nic.document.pointer("/properties/ipConfigurations/0/id").and_then(Value::as_str);
    found.unwrap_or_default().to_owned()
}

/// What stopped it: at the source, at an appliance between, at the target.
type Traced = (Vec<Value>, Option<String>, Option<Value>);

fn hops(
    source: &Nic<'_>,
    target: Option<&Nic<'_>>,
    to: IpAddr,
    (there, appliance, last): Traced,
) -> Vec<Value> {
    let mut hops = Vec::new();
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

/// Tells whether the machine of an interface runs.
fn on(cloud: &Cloud, nic: &Nic<'_>) -> bool {
    nic.machine().and_then(Target::parse).is_some_and(|machine| runs(cloud, machine.name()))
}

fn issue(origin: &str, kind: &str, key: &str, value: &str) -> Value {
    json!({"origin": origin, "severity": "Error", "type": kind, "context": [{"key": key, "value": value}]})
}

/// Writes a rule as the platform does here.
pub(super) fn rule_name(rule: &str) -> String {
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
