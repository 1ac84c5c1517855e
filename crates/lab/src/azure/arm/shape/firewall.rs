//! Firewalls and gateways of the platform.

use serde_json::{Map, Value, json};

use crate::azure::refusal::Refusal;
use crate::azure::target::Target;

/// What the platform calls the configurations of a firewall's addresses.
const CONFIGURATIONS: &str = "azureFirewallIpConfigurations";

/// A gateway: its configurations of addresses get identifiers, so that their subnet knows them.
pub(super) fn gateway(target: &Target, properties: &mut Map<String, Value>) -> Result<(), Refusal> {
    known(target, properties, ("virtualNetworkGateways", "ipConfigurations"))
}

/// A firewall: the same.
pub(super) fn whole(target: &Target, properties: &mut Map<String, Value>) -> Result<(), Refusal> {
    known(target, properties, ("azureFirewalls", CONFIGURATIONS))?;
    for list in ["natRuleCollections", "networkRuleCollections", "applicationRuleCollections"] {
        properties.entry(list).or_insert_with(|| json!([]));
    }
    Ok(())
}

fn known(
    target: &Target,
    properties: &mut Map<String, Value>,
    (kind, configurations): (&str, &str),
) -> Result<(), Refusal> {
    let all = properties.get_mut("ipConfigurations").and_then(Value::as_array_mut);
    for one in all.into_iter().flatten() {
        let name = one.get("name").and_then(Value::as_str).map(str::to_owned);
        let (Some(name), Some(map)) = (name, one.as_object_mut()) else {
            return Err(Refusal::unreadable("a configuration of addresses has no name"));
        };
        let chain = [&target.chain[..], &[(configurations.to_owned(), name)]].concat();
        map.insert("id".to_owned(), json!(Target { chain, ..target.clone() }.id()));
        map.insert("type".to_owned(), json!(format!("Microsoft.Network/{kind}/{configurations}")));
    }
    Ok(())
}
