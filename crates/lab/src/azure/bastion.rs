//! Bastion hosts: from where each calls machines, for whoever carries packets and for a connection that is tried.

use serde_json::{Map, Value, json};

use super::app_gateway::free;
use super::cloud::Cloud;
use super::effective::{self, routes, rules};
use super::target::Target;
use crate::host::{Bastion, Nic};

/// A whole host: its configurations get identifiers, and what nobody set is off.
pub(super) fn whole(target: &Target, properties: &mut Map<String, Value>) {
    let parts = properties.entry("ipConfigurations").or_insert_with(|| json!([])).as_array_mut();
    for part in parts.into_iter().flatten() {
        let name = part.get("name").and_then(Value::as_str).unwrap_or("IpConf").to_owned();
        let chain = [&target.chain[..], &[("bastionHostIpConfigurations".to_owned(), name)]].concat();
        let id = Target { chain, ..target.clone() }.id();
        if let Some(map) = part.as_object_mut() {
            map.insert("id".to_owned(), json!(id));
            map.insert(
                "type".to_owned(),
                json!("Microsoft.Network/bastionHosts/bastionHostIpConfigurations"),
            );
            if let Some(own) = map.get_mut("properties").and_then(Value::as_object_mut) {
                own.insert("provisioningState".to_owned(), json!("Succeeded"));
            }
        }
    }
    for feature in ["enableTunneling", "enableIpConnect", "enableFileCopy", "enableShareableLink"] {
        properties.entry(feature).or_insert_with(|| json!(false));
    }
    properties.entry("scaleUnits").or_insert_with(|| json!(2));
    let host = format!("bst-{}.bastion.azure.com", super::arm::guid(&target.id()));
    properties.entry("dnsName").or_insert_with(|| json!(host));
}

/// Returns all hosts as whoever carries packets needs them.
pub(super) fn bastions(cloud: &Cloud) -> Vec<Bastion> {
    cloud.estate.of("Microsoft.Network/bastionHosts").filter_map(|found| one(cloud, found)).collect()
}

/// Returns what stands for a host among interfaces: one with an address of its subnet.
pub(super) fn interface(cloud: &Cloud, found: &Value) -> Option<Value> {
    let configuration = found.pointer("/properties/ipConfigurations/0")?;
    let id = configuration.pointer("/properties/subnet/id")?.as_str()?;
    let subnet = cloud.estate.by_id(id)?;
    let address = free(cloud, subnet, &[])?;
    let own = configuration.get("id").cloned().unwrap_or_default();
    Some(json!({"id": found.get("id"), "name": found.get("name"), "properties": {"ipConfigurations": [
        {"id": own, "properties": {"privateIPAddress": address.to_string(), "subnet": {"id": id}}}]}}))
}

fn one(cloud: &Cloud, found: &Value) -> Option<Bastion> {
    let text = |of: &Value, pointer: &str| {
        of.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let document = interface(cloud, found)?;
    let seen = effective::Nic::of(&cloud.estate, &document);
    let network = seen.network.map(|network| text(network, "/id").to_ascii_lowercase()).unwrap_or_default();
    let name = text(found, "/name");
    Some(Bastion {
        address: seen.addresses().first()?.parse().ok()?,
        nic: Nic {
            name: name.clone(),
            rules: json!({"value": rules(cloud, &seen)}),
            routes: json!({"value": routes(cloud, &seen)}),
            network,
            ..Nic::default()
        },
        has_public: found.pointer("/properties/ipConfigurations/0/properties/publicIPAddress/id").is_some(),
        ip_connect: found.pointer("/properties/enableIpConnect") == Some(&json!(true)),
        name,
    })
}
