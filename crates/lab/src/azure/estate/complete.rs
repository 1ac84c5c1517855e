//! What a file may leave out, because it follows: names and types from identifiers, the rules that every group has, how a machine is.

use serde_json::{Map, Value, json};

use super::documents::{Estate, list_mut};
use super::links::list_of;
use crate::azure::arm::{default_rules, guid};
use crate::azure::target::Target;

/// Lists of a resource in which its children stand, and their types.
const CHILDREN: [(&str, &str); 12] = [
    ("frontendIPConfigurations", "frontendIPConfigurations"),
    ("backendAddressPools", "backendAddressPools"),
    ("loadBalancingRules", "loadBalancingRules"),
    ("probes", "probes"),
    ("inboundNatRules", "inboundNatRules"),
    ("outboundRules", "outboundRules"),
    ("securityRules", "securityRules"),
    ("subnets", "subnets"),
    ("virtualNetworkPeerings", "virtualNetworkPeerings"),
    ("routes", "routes"),
    ("ipConfigurations", "ipConfigurations"),
    ("ipConfigurations", "azureFirewallIpConfigurations"),
];

/// Completes a document.
pub(super) fn complete(target: &Target, document: &mut Value) {
    let Some(map) = document.as_object_mut() else { return };
    let network = target.namespace() == "microsoft.network";
    let kinds: Vec<&str> = target.chain.iter().map(|(kind, _)| kind.as_str()).collect();
    let (name, kind) = match &target.provider {
        Some(provider) => (target.name().to_owned(), format!("{provider}/{}", kinds.join("/"))),
        None => (target.group.clone().unwrap_or_default(), "Microsoft.Resources/resourceGroups".to_owned()),
    };
    fill(map, "name", json!(name));
    fill(map, "type", json!(kind));
    if network {
        fill(map, "etag", json!(format!("W/\"{}\"", guid(&target.id()))));
    }
    let tag = map.get("etag").cloned();
    let properties = map.entry("properties").or_insert_with(|| json!({}));
    let Some(properties) = properties.as_object_mut() else { return };
    fill(properties, "provisioningState", json!("Succeeded"));
    if network && target.chain.len() == 1 && target.kind() != "networkwatchers" {
        fill(properties, "resourceGuid", json!(guid(&target.id().to_ascii_lowercase())));
    }
    for (list, kind) in CHILDREN {
        if list_of(&target.kind(), &kind.to_ascii_lowercase()).is_none() {
            continue;
        }
        let children = properties.get_mut(list).and_then(Value::as_array_mut);
        for child in children.into_iter().flatten() {
            let Some(name) = child.get("name").and_then(Value::as_str).map(str::to_owned) else { continue };
            let chain = [&target.chain[..], &[(kind.to_owned(), name)]].concat();
            let place = Target { chain, ..target.clone() };
            if let Some(map) = child.as_object_mut() {
                fill(map, "id", json!(place.id()));
                if let Some(tag) = &tag {
                    fill(map, "etag", tag.clone());
                }
            }
            complete(&place, child);
        }
    }
    match target.kind().as_str() {
        "networksecuritygroups" => {
            fill(properties, "securityRules", json!([]));
            fill(properties, "defaultSecurityRules", json!(default_rules(target)));
        }
        "networksecuritygroups/securityrules" => {
            for list in [
                "sourcePortRanges",
                "destinationPortRanges",
                "sourceAddressPrefixes",
                "destinationAddressPrefixes",
            ] {
                fill(properties, list, json!([]));
            }
        }
        "routetables" => fill(properties, "routes", json!([])),
        "routetables/routes" => fill(properties, "hasBgpOverride", json!(false)),
        _ => {}
    }
}

fn fill(map: &mut Map<String, Value>, field: &str, value: Value) {
    map.entry(field).or_insert(value);
}

/// Returns how a machine is that nobody described: it runs, its agent is ready, its extensions are installed.
pub(super) fn view(machine: &Value, extensions: &[&Value]) -> Value {
    let text = |pointer: &str| machine.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let time = "2025-06-02T09:30:00+00:00";
    let done = json!({"code": "ProvisioningState/succeeded", "level": "Info", "displayStatus": "Provisioning succeeded"});
    let timed = json!({"code": "ProvisioningState/succeeded", "level": "Info", "displayStatus": "Provisioning succeeded", "time": time});
    let word = |extension: &Value, pointer: &str| {
        extension.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let kind = |extension: &Value| {
        format!("{}.{}", word(extension, "/properties/publisher"), word(extension, "/properties/type"))
    };
    let version = |extension: &Value| format!("{}.3777.1", word(extension, "/properties/typeHandlerVersion"));
    let handlers = extensions.iter().map(|extension| {
        json!({"type": kind(extension), "typeHandlerVersion": version(extension),
            "status": {"code": "ProvisioningState/succeeded", "level": "Info", "displayStatus": "Ready"}})
    });
    let installed = extensions.iter().map(|extension| {
        json!({"name": word(extension, "/name"), "type": kind(extension), "typeHandlerVersion": version(extension), "statuses": [done]})
    });
    json!({"computerName": text("/name"), "osName": "ubuntu", "osVersion": "22.04",
        "vmAgent": {"vmAgentVersion": "2.13.1.1",
            "statuses": [{"code": "ProvisioningState/succeeded", "level": "Info", "displayStatus": "Ready",
                "message": "Guest Agent is running", "time": time}],
            "extensionHandlers": handlers.collect::<Vec<_>>()},
        "disks": [{"name": text("/properties/storageProfile/osDisk/name"), "statuses": [timed]}],
        "extensions": installed.collect::<Vec<_>>(), "hyperVGeneration": "V2",
        "statuses": [timed, {"code": "PowerState/running", "level": "Info", "displayStatus": "VM running"}]})
}

/// Peerings with a network that got other addresses know the old ones until they are synced.
fn out_of_step(estate: &mut Estate, before: &Value, after: &Value) {
    let space = |network: &Value| network.pointer("/properties/addressSpace/addressPrefixes").cloned();
    if space(before) == space(after) {
        return;
    }
    let peerings = after.pointer("/properties/virtualNetworkPeerings").and_then(Value::as_array);
    let remote = |peering: &Value| {
        let id = peering.pointer("/properties/remoteVirtualNetwork/id").and_then(Value::as_str)?;
        Target::parse(id)
    };
    let others: Vec<Target> = peerings.into_iter().flatten().filter_map(remote).collect();
    let own = after.get("id").and_then(Value::as_str).unwrap_or_default();
    for other in others {
        let list = estate.get_mut(&other).and_then(|network| list_mut(network, "virtualNetworkPeerings"));
        for back in list.into_iter().flatten() {
            let is_back = remote(back).is_some_and(|remote| remote.id().eq_ignore_ascii_case(own));
            let properties = back.get_mut("properties").and_then(Value::as_object_mut);
            if let Some(properties) = properties.filter(|_| is_back) {
                properties.insert("peeringSyncLevel".to_owned(), json!("LocalNotInSync"));
            }
        }
    }
}

/// Brings the other side of a peering in step with a change.
pub(super) fn follow(estate: &mut Estate, before: Option<&Value>, after: Option<&Value>) {
    let Some(changed) = after.or(before) else { return };
    let kind = changed.get("type").and_then(Value::as_str).unwrap_or_default();
    if let (Some(before), Some(after)) = (before, after)
        && kind.eq_ignore_ascii_case("microsoft.network/virtualnetworks")
    {
        out_of_step(estate, before, after);
    }
    let gone: Vec<Value> = match kind.to_ascii_lowercase().as_str() {
        "microsoft.network/virtualnetworks/virtualnetworkpeerings" => vec![changed.clone()],
        "microsoft.network/virtualnetworks" if after.is_none() => {
            let list = changed.pointer("/properties/virtualNetworkPeerings").and_then(Value::as_array);
            list.cloned().unwrap_or_default()
        }
        _ => return,
    };
    for peering in &gone {
        let text = |pointer: &str| peering.pointer(pointer).and_then(Value::as_str);
        let own = text("/id").and_then(Target::parse).and_then(|peering| peering.parent());
        let other = text("/properties/remoteVirtualNetwork/id").and_then(Target::parse);
        let (Some(own), Some(other)) = (own, other) else { continue };
        let state = match (after, text("/properties/peeringState")) {
            (None, _) => "Disconnected",
            (Some(_), Some("Connected")) => "Connected",
            (Some(_), _) => continue,
        };
        let list = estate.get_mut(&other).and_then(|network| list_mut(network, "virtualNetworkPeerings"));
        for back in list.into_iter().flatten() {
            let remote = back.pointer("/properties/remoteVirtualNetwork/id").and_then(Value::as_str);
            let mine = remote.is_some_and(|id| id.eq_ignore_ascii_case(&own.id()));
            if let (true, Some(properties)) =
                (mine, back.get_mut("properties").and_then(Value::as_object_mut))
            {
                properties.insert("peeringState".to_owned(), json!(state));
                let level = if state == "Connected" { "FullyInSync" } else { "RemoteNotInSync" };
                properties.insert("peeringSyncLevel".to_owned(), json!(level));
            }
        }
    }
}
