//! Subnets.

use serde_json::{Map, Value, json};

use crate::lab::azure::cloud::Cloud;
use crate::lab::azure::refusal::Refusal;
use crate::lab::azure::target::Target;

/// What only the platform writes.
const OWN: [&str; 3] = ["ipConfigurations", "privateEndpoints", "serviceAssociationLinks"];

/// A subnet: its service endpoints get what the platform knows of them; what only it writes stays.
pub(super) fn subnet(
    _cloud: &Cloud,
    _target: &Target,
    properties: &mut Map<String, Value>,
    before: Option<&Value>,
) -> Result<(), Refusal> {
    if !properties.contains_key("addressPrefix") && !properties.contains_key("addressPrefixes") {
        return Err(Refusal::network(
            400,
            "MissingRequiredProperty",
            "The property 'addressPrefix' is required.",
        ));
    }
    let sent = match properties.remove("serviceEndpoints") {
        None => Vec::new(),
        Some(Value::Array(endpoints)) => endpoints,
        Some(_) => return Err(Refusal::unreadable("serviceEndpoints are expected to be a list")),
    };
    let endpoints: Vec<Value> = sent
        .into_iter()
        .map(|endpoint| {
            let service = endpoint.get("service").cloned().unwrap_or_default();
            let pair = service == json!("Microsoft.Storage");
            let usual = if pair { json!(["eastus", "westus"]) } else { json!(["eastus"]) };
            json!({"provisioningState": "Succeeded", "service": service, "locations": usual})
        })
        .collect();
    properties.insert("serviceEndpoints".to_owned(), json!(endpoints));
    properties.entry("delegations").or_insert(json!([]));
    properties.entry("privateEndpointNetworkPolicies").or_insert(json!("Disabled"));
    properties.entry("privateLinkServiceNetworkPolicies").or_insert(json!("Enabled"));
    for field in OWN {
        properties.remove(field);
        if let Some(known) =
            before.and_then(|before| before.pointer(&format!("/properties/{field}"))).cloned()
        {
            properties.insert(field.to_owned(), known);
        }
    }
    Ok(())
}
