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
