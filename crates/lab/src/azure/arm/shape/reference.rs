//! References to other resources: well formed, and to something that is there.

use serde_json::{Map, Value};

use crate::azure::cloud::Cloud;
use crate::azure::refusal::Refusal;
use crate::azure::target::Target;

/// Fields that refer, and the type to which.
const REFERENCES: [(&str, &str); 4] = [
    ("networkSecurityGroup", "networkSecurityGroups"),
    ("routeTable", "routeTables"),
    ("natGateway", "natGateways"),
    ("subnet", "subnets"),
];

/// Refuses what refers to nothing.
pub(super) fn exist(cloud: &Cloud, target: &Target, properties: &Map<String, Value>) -> Result<(), Refusal> {
    for (field, kind) in REFERENCES {
        let Some(id) = properties.get(field).and_then(|found| found.get("id")).and_then(Value::as_str) else {
            continue;
        };
        let referred = Target::parse(id).filter(|found| {
            found.tail.is_none()
                && found.chain.last().is_some_and(|(last, _)| last.eq_ignore_ascii_case(kind))
        });
        let Some(referred) = referred else {
            let message = format!(
                "Reference Id {id} is not formatted correctly. The Id is expected to reference resources of type {kind}. Path properties.{field}."
            );
            return Err(Refusal::new(400, "InvalidRequestFormat", "Cannot parse the request.")
                .detail("InvalidJsonReferenceFormat", message));
        };
        if cloud.estate.get(&referred).is_none() {
            let message = format!(
                "Resource {id} referenced by resource {} was not found. Please make sure that the referenced resource exists, and that both resources are in the same region.",
                target.id()
            );
            return Err(Refusal::network(400, "InvalidResourceReference", message));
        }
    }
    Ok(())
}

/// Refuses to remove what is in use.
pub(in crate::azure::arm) fn removable(cloud: &Cloud, target: &Target) -> Result<(), Refusal> {
    let Some(found) = cloud.estate.get(target) else { return Ok(()) };
    let users = |field: &str| -> Vec<String> {
        let list = found.pointer(&format!("/properties/{field}")).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(|user| user.get("id")?.as_str().map(str::to_owned)).collect()
    };
    match target.kind().as_str() {
        "networksecuritygroups" => {
            let users = [users("networkInterfaces"), users("subnets")].concat();
            if users.is_empty() {
                return Ok(());
            }
            let message = format!(
                "Network security group {} cannot be deleted because it is in use by the following resources: {}. In order to delete the Network security group, remove the association with the resource(s). To learn how to do this, see aka.ms/deletensg.",
                target.id(),
                users.join(", ")
            );
            Err(Refusal::network(400, "InUseNetworkSecurityGroupCannotBeDeleted", message))
        }
        "routetables" if !users("subnets").is_empty() => {
            let message = format!(
                "Route table {} is in use and cannot be deleted. In order to delete the route table, remove the association with the resource(s). The associated resource(s) are: {}.",
                target.name(),
                users("subnets").join(", ")
            );
            Err(Refusal::network(400, "InUseRouteTableCannotBeDeleted", message))
        }
        "virtualnetworks/subnets" if !users("ipConfigurations").is_empty() => {
            let message = format!(
                "Subnet {} is in use by {} and cannot be deleted. In order to delete the subnet, delete all the resources within the subnet. See aka.ms/deletesubnet.",
                target.name(),
                users("ipConfigurations").join(", ")
            );
            Err(Refusal::network(400, "InUseSubnetCannotBeDeleted", message))
        }
        _ => Ok(()),
    }
}
