//! The routes of an interface: the platform's own, those of peerings and endpoints, those of the subnet's table.

use serde_json::{Value, json};

use super::nic::Nic;
use crate::lab::azure::cloud::Cloud;
use crate::lab::azure::target::Target;

/// What the platform drops unless the network holds it.
const RESERVED: [&str; 5] = ["10.0.0.0/8", "127.0.0.0/8", "100.64.0.0/10", "172.16.0.0/12", "192.168.0.0/16"];

/// Returns the effective routes of an interface.
pub(in crate::lab::azure) fn routes(cloud: &Cloud, nic: &Nic<'_>) -> Vec<Value> {
    let table = nic.subnet.and_then(|subnet| subnet.pointer("/properties/routeTable/id")?.as_str());
    let table = table.and_then(Target::parse).and_then(|table| cloud.estate.get(&table));
    let no_bgp = table
        .and_then(|table| table.pointer("/properties/disableBgpRoutePropagation")?.as_bool())
        .unwrap_or(false);
    let own = |prefixes: Vec<String>, hop: &str| row(None, "Default", prefixes, hop, None, no_bgp);
    let space = nic.network.map(space).unwrap_or_default();
    let mut rows = vec![own(space.clone(), "VnetLocal")];
    rows.extend(peered(cloud, nic).into_iter().map(|prefixes| own(prefixes, "VNetPeering")));
    rows.push(own(vec!["0.0.0.0/0".to_owned()], "Internet"));
    let reserved = RESERVED.iter().filter(|reserved| !space.iter().any(|prefix| prefix == *reserved));
    rows.extend(reserved.map(|prefix| own(vec![(*prefix).to_owned()], "None")));
    let endpoints = nic.subnet.and_then(|subnet| subnet.pointer("/properties/serviceEndpoints")?.as_array());
    for endpoint in endpoints.into_iter().flatten() {
        let service = endpoint.get("service").and_then(Value::as_str).unwrap_or_default();
        let tag = service.strip_prefix("Microsoft.").unwrap_or(service);
        if let Some(prefixes) = cloud.about.service_tags.get(tag) {
            rows.push(own(prefixes.clone(), "VirtualNetworkServiceEndpoint"));
        }
    }
    let users = table.and_then(|table| table.pointer("/properties/routes")?.as_array());
    for user in users.into_iter().flatten() {
        let word = |field: &str| user.pointer(&format!("/properties/{field}")).and_then(Value::as_str);
        let Some(prefix) = word("addressPrefix") else { continue };
        // The platform shows what a user's route takes the place of, and that it no longer counts.
        for other in rows.iter_mut().filter(|other| holds(other, prefix)) {
            if let Some(state) = other.get_mut("state") {
                *state = json!("Invalid");
            }
        }
        let prefixes =
            cloud.about.service_tags.get(prefix).cloned().unwrap_or_else(|| vec![prefix.to_owned()]);
        let name = user.get("name").and_then(Value::as_str);
        rows.push(row(
            name,
            "User",
            prefixes,
            word("nextHopType").unwrap_or_default(),
            word("nextHopIpAddress"),
            no_bgp,
        ));
    }
    rows
}

/// Returns the address space of a network.
fn space(network: &Value) -> Vec<String> {
    let list = network.pointer("/properties/addressSpace/addressPrefixes").and_then(Value::as_array);
    list.into_iter().flatten().filter_map(|prefix| prefix.as_str().map(str::to_owned)).collect()
}

/// Returns the address spaces of networks that are peered and connected.
fn peered(cloud: &Cloud, nic: &Nic<'_>) -> Vec<Vec<String>> {
    let peerings =
        nic.network.and_then(|network| network.pointer("/properties/virtualNetworkPeerings")?.as_array());
    let connected = peerings.into_iter().flatten().filter(|peering| {
        peering.pointer("/properties/peeringState").and_then(Value::as_str) == Some("Connected")
    });
    let remote = connected.filter_map(|peering| {
        let id = peering.pointer("/properties/remoteVirtualNetwork/id")?.as_str()?;
        cloud.estate.by_id(id).map(space)
    });
    remote.filter(|prefixes| !prefixes.is_empty()).collect()
}

fn holds(row: &Value, prefix: &str) -> bool {
    let list = row.get("addressPrefix").and_then(Value::as_array);
    let one = list.filter(|list| list.len() == 1).and_then(|list| list.first()).and_then(Value::as_str);
    one == Some(prefix) && row.get("source").and_then(Value::as_str) == Some("Default")
}

fn row(
    name: Option<&str>,
    source: &str,
    prefixes: Vec<String>,
    hop: &str,
    address: Option<&str>,
    no_bgp: bool,
) -> Value {
    let addresses: Vec<&str> = address.into_iter().collect();
    let mut row = json!({"source": source, "state": "Active", "addressPrefix": prefixes, "nextHopType": hop,
        "nextHopIpAddress": addresses, "disableBgpRoutePropagation": no_bgp, "hasBgpOverride": false});
    if let (Some(name), Some(map)) = (name, row.as_object_mut()) {
        map.insert("name".to_owned(), json!(name));
    }
    row
}
