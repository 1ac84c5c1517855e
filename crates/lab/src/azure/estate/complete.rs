//! What a file may leave out, because it follows: names and types from identifiers, the rules that every group has, how a machine is.

use serde_json::{Map, Value, json};

use super::child::list_of;
use crate::azure::arm::{default_rules, guid};
use crate::azure::target::Target;

/// Lists of a resource in which its children stand, and their types.
const CHILDREN: [(&str, &str); 5] = [
    ("securityRules", "securityRules"),
    ("subnets", "subnets"),
    ("virtualNetworkPeerings", "virtualNetworkPeerings"),
    ("routes", "routes"),
    ("ipConfigurations", "ipConfigurations"),
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
