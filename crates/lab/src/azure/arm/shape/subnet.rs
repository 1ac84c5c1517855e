//! Subnets.

use serde_json::{Map, Value, json};

use super::network::prefix;
use crate::azure::cloud::Cloud;
use crate::azure::refusal::Refusal;
use crate::azure::target::Target;

/// What only the platform writes.
const OWN: [&str; 3] = ["ipConfigurations", "privateEndpoints", "serviceAssociationLinks"];

/// A subnet of a network that is there.
pub(super) fn placed(
    cloud: &Cloud,
    target: &Target,
    properties: &mut Map<String, Value>,
    before: Option<&Value>,
) -> Result<(), Refusal> {
    let network = target.parent().and_then(|network| cloud.estate.get(&network));
    let list = |pointer: &str| {
        network.and_then(|network| network.pointer(pointer)?.as_array()).into_iter().flatten()
    };
    let space: Vec<Value> = list("/properties/addressSpace/addressPrefixes").cloned().collect();
    let others: Vec<Value> = list("/properties/subnets").cloned().collect();
    inside(target, properties, &space, &others)?;
    subnet(properties, before)
}

/// A subnet: its service endpoints get what the platform knows of them; what only it writes stays.
pub(super) fn subnet(properties: &mut Map<String, Value>, before: Option<&Value>) -> Result<(), Refusal> {
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

/// Refuses prefixes that are none, that the network does not hold, or that other subnets have.
pub(super) fn inside(
    target: &Target,
    properties: &Map<String, Value>,
    space: &[Value],
    others: &[Value],
) -> Result<(), Refusal> {
    let several = properties.get("addressPrefixes").and_then(Value::as_array);
    let own = several.into_iter().flatten().chain(properties.get("addressPrefix"));
    let read = |value: &Value| value.as_str().and_then(prefix);
    let space: Vec<ipnet::IpNet> = space.iter().filter_map(read).collect();
    let others: Vec<ipnet::IpNet> = others
        .iter()
        .filter(|other| {
            other
                .get("name")
                .and_then(Value::as_str)
                .is_some_and(|name| !name.eq_ignore_ascii_case(target.name()))
        })
        .filter_map(|other| read(other.pointer("/properties/addressPrefix")?))
        .collect();
    for value in own {
        let Some(net) = read(value) else {
            let message = format!("The address prefix {value} of subnet {} is not valid.", target.name());
            return Err(Refusal::network(400, "InvalidAddressPrefixFormat", message));
        };
        if !space.iter().any(|space| space.contains(&net)) {
            let message = format!(
                "Subnet '{}' is not valid because its IP address range is outside the IP address range of its virtual network.",
                target.name()
            );
            return Err(Refusal::network(400, "NetcfgInvalidSubnet", message));
        }
        if others.iter().any(|other| other.contains(&net) || net.contains(other)) {
            let message = format!(
                "Subnet '{}' is not valid because its IP address range overlaps with that of an existing subnet.",
                target.name()
            );
            return Err(Refusal::network(400, "NetcfgSubnetRangesOverlap", message));
        }
    }
    Ok(())
}
