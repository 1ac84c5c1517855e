//! The document that is stored, by its type.

use serde_json::{Map, Value, json};

use super::{firewall, group, interface, network, peering, reference, subnet, table};
use crate::azure::app_gateway;
use crate::azure::bastion;
use crate::azure::cloud::Cloud;
use crate::azure::cluster;
use crate::azure::refusal::Refusal;
use crate::azure::target::Target;
use ghost_base::Digest;

/// Returns what is stored in place of what was sent.
pub(in crate::azure::arm) fn shaped(
    cloud: &Cloud,
    target: &Target,
    sent: Value,
    before: Option<&Value>,
) -> Result<Value, Refusal> {
    let Value::Object(mut whole) = sent else { return Err(Refusal::unreadable("an object is expected")) };
    let properties = match whole.remove("properties") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(properties)) => properties,
        Some(_) => return Err(Refusal::unreadable("properties are expected to be an object")),
    };
    let mut properties: Map<String, Value> =
        properties.into_iter().filter(|(_, value)| !value.is_null()).collect();
    properties.insert("provisioningState".to_owned(), json!("Succeeded"));
    let kind = target.kind();
    match kind.as_str() {
        "networksecuritygroups" => group::whole(target, &mut properties, before)?,
        "networksecuritygroups/securityrules" => group::rule(cloud, target, &mut properties)?,
        "routetables" => table::whole(target, &mut properties, before)?,
        "routetables/routes" => table::route(cloud, target, &mut properties)?,
        "virtualnetworks" => network::whole(cloud, target, &mut properties, before)?,
        "virtualnetworks/subnets" => subnet::placed(cloud, target, &mut properties, before)?,
        "virtualnetworks/virtualnetworkpeerings" => peering::peering(cloud, target, &mut properties, before)?,
        "networkinterfaces" => interface::interface(cloud, target, &mut properties, before)?,
        "virtualnetworkgateways" => firewall::gateway(target, &mut properties)?,
        "applicationgateways" => app_gateway::whole(target, &mut properties)?,
        "managedclusters" => cluster::whole(target, &mut properties),
        "bastionhosts" => bastion::whole(target, &mut properties),
        "azurefirewalls" => firewall::whole(target, &mut properties)?,
        "publicipaddresses" => interface::public(cloud, target, &mut properties, before)?,
        _ => {}
    }
    if target.namespace() == "microsoft.network" {
        reference::exist(cloud, target, &properties)?;
    }
    Ok(document(target, whole, properties, before))
}

/// Puts name, identifier and type around properties.
pub(super) fn document(
    target: &Target,
    mut whole: Map<String, Value>,
    mut properties: Map<String, Value>,
    before: Option<&Value>,
) -> Value {
    let kinds: Vec<&str> = target.chain.iter().map(|(kind, _)| kind.as_str()).collect();
    let kind = format!("{}/{}", target.provider.as_deref().unwrap_or_default(), kinds.join("/"));
    if target.chain.len() == 1 {
        whole.entry("tags").or_insert_with(|| json!({}));
        if target.namespace() == "microsoft.network" {
            let known = before.and_then(|before| before.pointer("/properties/resourceGuid")).cloned();
            properties.insert("resourceGuid".to_owned(), known.unwrap_or_else(|| json!(guid(&target.id()))));
        }
    }
    whole.insert("name".to_owned(), json!(target.name()));
    whole.insert("id".to_owned(), json!(target.id()));
    whole.insert("type".to_owned(), json!(kind));
    whole.insert("properties".to_owned(), Value::Object(properties));
    Value::Object(whole)
}

/// Returns an identifier that follows from a text.
pub(in crate::azure) fn guid(text: &str) -> String {
    let digest = Digest::of(text).to_string();
    let part = |from: usize, to: usize| digest.get(from..to).unwrap_or_default();
    format!("{}-{}-5{}-8{}-{}", part(0, 8), part(8, 12), part(13, 16), part(17, 20), part(20, 32))
}
