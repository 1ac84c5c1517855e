//! Peerings of networks.

use serde_json::{Map, Value, json};

use crate::azure::cloud::Cloud;
use crate::azure::refusal::Refusal;
use crate::azure::target::Target;

/// A peering: connected once both sides have one. Writing it brings it in step with the addresses of the other side.
pub(super) fn peering(
    cloud: &Cloud,
    target: &Target,
    properties: &mut Map<String, Value>,
    before: Option<&Value>,
) -> Result<(), Refusal> {
    let own = target.parent().and_then(|network| cloud.estate.get(&network));
    let remote =
        properties.get("remoteVirtualNetwork").and_then(|found| found.get("id")).and_then(Value::as_str);
    let missing = || {
        let message = format!("Cannot parse the remote virtual network of peering {}.", target.id());
        Refusal::network(400, "InvalidRequestFormat", message)
    };
    let place = remote
        .and_then(Target::parse)
        .filter(|place| place.kind() == "virtualnetworks")
        .ok_or_else(missing)?;
    let Some(other) = cloud.estate.get(&place) else {
        let message = format!(
            "Resource {} referenced by resource {} was not found. Please make sure that the referenced resource exists, and that both resources are in the same region.",
            place.id(),
            target.id()
        );
        return Err(Refusal::network(400, "InvalidResourceReference", message));
    };
    let same = |one: Option<&Value>, other: &Value| id(one).eq_ignore_ascii_case(id(Some(other)));
    if same(own, other) {
        let message = "A virtual network cannot be peered with itself.";
        return Err(Refusal::network(400, "VirtualNetworkPeeringCannotHaveSelfReference", message));
    }
    let flag = |field: &str| properties.get(field).and_then(Value::as_bool);
    if flag("useRemoteGateways") == Some(true) && !has_gateway(other) {
        let message = "The remote virtual network has no gateway.";
        return Err(Refusal::network(400, "RemotePeeringHasNoGateways", message));
    }
    let nets = |network: Option<&Value>| -> Vec<ipnet::IpNet> {
        let list = network
            .and_then(|network| network.pointer("/properties/addressSpace/addressPrefixes")?.as_array());
        list.into_iter().flatten().filter_map(|prefix| prefix.as_str()?.parse().ok()).collect()
    };
    let theirs = nets(Some(other));
    let overlap = |one: &ipnet::IpNet| {
        theirs.iter().any(|other| one.contains(&other.network()) || other.contains(&one.network()))
    };
    if nets(own).iter().any(overlap) {
        let message = format!(
            "Cannot create or update peering {}. Virtual networks {} and {} cannot be peered because their address spaces overlap.",
            target.id(),
            id(own),
            place.id()
        );
        return Err(Refusal::network(400, "VnetAddressSpacesOverlap", message));
    }
    let usual = [
        ("allowVirtualNetworkAccess", true),
        ("allowForwardedTraffic", false),
        ("allowGatewayTransit", false),
        ("useRemoteGateways", false),
    ];
    for (field, value) in usual {
        properties.entry(field).or_insert(json!(value));
    }
    let peerings = other.pointer("/properties/virtualNetworkPeerings").and_then(Value::as_array);
    let back = peerings.into_iter().flatten().find(|peering| {
        own.is_some_and(|own| same(peering.pointer("/properties/remoteVirtualNetwork"), own))
    });
    let word = |peering: &Value| {
        peering.pointer("/properties/peeringState").and_then(Value::as_str).map(str::to_owned)
    };
    let known = before.and_then(word);
    // One whose other side was removed stays apart until it is made anew.
    let state = match (back.and_then(word).as_deref(), known.as_deref()) {
        (_, Some("Connected")) => "Connected",
        (Some("Initiated" | "Connected"), _) => "Connected",
        (Some(_), _) | (None, _) => "Initiated",
    };
    properties.insert("peeringState".to_owned(), json!(state));
    // Whoever says that it is not in step says which addresses it knows.
    let is_behind = properties.get("peeringSyncLevel") == Some(&json!("LocalNotInSync"))
        && properties.get("remoteAddressSpace").is_some_and(Value::is_object);
    if is_behind {
        properties.insert("peeringState".to_owned(), json!(state));
        return Ok(());
    }
    properties.insert(
        "peeringSyncLevel".to_owned(),
        json!(if state == "Connected" { "FullyInSync" } else { "RemoteNotInSync" }),
    );
    let space = other.pointer("/properties/addressSpace").cloned().unwrap_or_else(|| json!({}));
    properties.insert("remoteAddressSpace".to_owned(), space);
    Ok(())
}

fn id(document: Option<&Value>) -> &str {
    document.and_then(|document| document.get("id")).and_then(Value::as_str).unwrap_or_default()
}

/// Tells whether something is in the subnet that a network keeps for its gateway.
fn has_gateway(network: &Value) -> bool {
    let subnets = network.pointer("/properties/subnets").and_then(Value::as_array);
    subnets.into_iter().flatten().any(|subnet| {
        let is_its = subnet.get("name").and_then(Value::as_str) == Some("GatewaySubnet");
        let used = subnet.pointer("/properties/ipConfigurations").and_then(Value::as_array);
        is_its && used.is_some_and(|used| !used.is_empty())
    })
}
