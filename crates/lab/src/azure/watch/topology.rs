//! What belongs to what in a group.

use serde_json::{Value, json};

use crate::azure::arm::guid;
use crate::azure::cloud::Cloud;
use crate::azure::target::Target;

const TYPES: [&str; 4] = [
    "Microsoft.Network/virtualNetworks",
    "Microsoft.Network/networkInterfaces",
    "Microsoft.Network/networkSecurityGroups",
    "Microsoft.Compute/virtualMachines",
];

/// Draws a group.
pub(super) fn topology(cloud: &Cloud, group: &str) -> Value {
    let mut resources = Vec::new();
    for kind in TYPES {
        for document in cloud.estate.of(kind).filter(|document| within(document, group)) {
            let subnets = document.pointer("/properties/subnets").and_then(Value::as_array);
            let subnets: Vec<&Value> =
                subnets.into_iter().flatten().filter(|_| kind.ends_with("virtualNetworks")).collect();
            let contains = subnets.iter().map(|subnet| association(subnet, "Contains"));
            let bound = ["virtualMachine", "networkSecurityGroup"].into_iter().filter_map(|field| {
                let id = document.pointer(&format!("/properties/{field}/id"))?.as_str()?;
                cloud.estate.by_id(id).map(|other| association(other, "Associated"))
            });
            let bound = bound.filter(|_| kind.ends_with("networkInterfaces"));
            resources.push(resource(document, contains.chain(bound).collect()));
            resources.extend(subnets.iter().map(|subnet| {
                let used = ["networkSecurityGroup", "routeTable"].into_iter().filter_map(|field| {
                    let id = subnet.pointer(&format!("/properties/{field}/id"))?.as_str()?;
                    cloud.estate.by_id(id).map(|other| association(other, "Associated"))
                });
                resource(subnet, used.collect())
            }));
        }
    }
    json!({"id": guid(group), "createdDateTime": "2025-06-02T09:30:00.000000Z", "lastModified": "2025-06-02T09:29:00.000000Z",
        "resources": resources})
}

fn resource(document: &Value, associations: Vec<Value>) -> Value {
    json!({"name": document.get("name"), "id": document.get("id"),
        "location": document.get("location").cloned().unwrap_or_else(|| json!("eastus")), "associations": associations})
}

fn association(other: &Value, kind: &str) -> Value {
    json!({"name": other.get("name"), "resourceId": other.get("id"), "associationType": kind})
}

fn within(document: &Value, group: &str) -> bool {
    let id = document.get("id").and_then(Value::as_str).and_then(Target::parse);
    id.and_then(|id| id.group).is_some_and(|found| found.eq_ignore_ascii_case(group))
}
