//! Whole networks.

use std::net::IpAddr;

use ipnet::IpNet;
use serde_json::{Map, Value, json};

use super::group::{below, child};
use super::shaped::document;
use super::{reference, subnet};
use crate::azure::cloud::Cloud;
use crate::azure::refusal::Refusal;
use crate::azure::target::Target;

/// A network: its space, its subnets; its peerings are their own.
pub(super) fn whole(
    cloud: &Cloud,
    target: &Target,
    properties: &mut Map<String, Value>,
    before: Option<&Value>,
) -> Result<(), Refusal> {
    let space = properties
        .get("addressSpace")
        .and_then(|space| space.get("addressPrefixes"))
        .and_then(Value::as_array);
    let good = |value: &Value| value.as_str().and_then(prefix).is_some();
    let space = space.cloned().unwrap_or_default();
    if space.is_empty() || !space.iter().all(good) {
        let message = format!("Address space of virtual network {} is missing or not valid.", target.name());
        return Err(Refusal::network(400, "InvalidAddressPrefixFormat", message));
    }
    let sent = match properties.remove("subnets") {
        None => Vec::new(),
        Some(Value::Array(sent)) => sent,
        Some(_) => return Err(Refusal::unreadable("subnets are expected to be a list")),
    };
    let mut subnets = Vec::new();
    for sent in sent {
        let (name, mut inner) = child(sent)?;
        let place = below(target, "subnets", &name);
        inner.retain(|_, value| !value.is_null());
        inner.insert("provisioningState".to_owned(), json!("Succeeded"));
        reference::exist(cloud, &place, &inner)?;
        subnet::inside(&place, &inner, &space, &subnets)?;
        subnet::subnet(&mut inner, cloud.estate.get(&place))?;
        subnets.push(document(&place, Map::new(), inner, None));
    }
    properties.insert("subnets".to_owned(), json!(subnets));
    let known = before.and_then(|before| before.pointer("/properties/virtualNetworkPeerings")).cloned();
    properties.insert("virtualNetworkPeerings".to_owned(), known.unwrap_or_else(|| json!([])));
    properties.entry("enableDdosProtection").or_insert(json!(false));
    Ok(())
}

/// Reads a prefix, or an address alone.
pub(super) fn prefix(text: &str) -> Option<IpNet> {
    text.parse().ok().or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from))
}

/// Tells whether a text may be the name of a service tag.
pub(super) fn is_word(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
}

/// Tells whether a text is a port, a range of ports, or any.
pub(super) fn is_ports(text: &str) -> bool {
    let (low, high) = text.split_once('-').unwrap_or((text, text));
    text == "*" || matches!((low.parse::<u16>(), high.parse::<u16>()), (Ok(low), Ok(high)) if low <= high)
}
