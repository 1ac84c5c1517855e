//! Route tables and their routes.

use serde_json::{Map, Value, json};

use super::group::{below, child};
use super::network::{is_word, prefix};
use super::shaped::document;
use crate::azure::cloud::Cloud;
use crate::azure::refusal::Refusal;
use crate::azure::target::Target;

const HOPS: [&str; 5] = ["VirtualNetworkGateway", "VnetLocal", "Internet", "VirtualAppliance", "None"];

/// A whole table: its routes, and who uses it.
pub(super) fn whole(
    target: &Target,
    properties: &mut Map<String, Value>,
    before: Option<&Value>,
) -> Result<(), Refusal> {
    let sent = match properties.remove("routes") {
        None => Vec::new(),
        Some(Value::Array(routes)) => routes,
        Some(_) => return Err(Refusal::unreadable("routes are expected to be a list")),
    };
    let mut routes = Vec::new();
    for sent in sent {
        let (name, mut inner) = child(sent)?;
        inner.insert("provisioningState".to_owned(), json!("Succeeded"));
        checked(&name, &mut inner, &routes)?;
        routes.push(document(&below(target, "routes", &name), Map::new(), inner, None));
    }
    properties.insert("routes".to_owned(), json!(routes));
    properties.entry("disableBgpRoutePropagation").or_insert(json!(false));
    properties.remove("subnets");
    if let Some(users) = before.and_then(|before| before.pointer("/properties/subnets")).cloned() {
        properties.insert("subnets".to_owned(), users);
    }
    Ok(())
}

pub(super) fn route(
    cloud: &Cloud,
    target: &Target,
    properties: &mut Map<String, Value>,
) -> Result<(), Refusal> {
    let table = target.parent().and_then(|table| cloud.estate.get(&table));
    let others = table.and_then(|table| table.pointer("/properties/routes")?.as_array());
    checked(target.name(), properties, others.map_or(&[], Vec::as_slice))
}

fn checked(name: &str, properties: &mut Map<String, Value>, others: &[Value]) -> Result<(), Refusal> {
    let word = |field: &str| properties.get(field).and_then(Value::as_str).unwrap_or_default();
    let hop = word("nextHopType");
    if !HOPS.iter().any(|known| known.eq_ignore_ascii_case(hop)) {
        let message = format!("Value '{hop}' for the property 'nextHopType' is invalid.");
        return Err(Refusal::network(400, "InvalidRequestFormat", message));
    }
    let appliance = hop.eq_ignore_ascii_case("VirtualAppliance");
    if appliance == word("nextHopIpAddress").is_empty() {
        let message = "A next hop IP address is given exactly where the next hop is a virtual appliance.";
        return Err(Refusal::network(400, "NextHopIpAddressInvalid", message));
    }
    if word("addressPrefix").is_empty() {
        return Err(Refusal::network(
            400,
            "MissingRequiredProperty",
            "The property 'addressPrefix' is required.",
        ));
    }
    let sent = word("addressPrefix").to_owned();
    if prefix(&sent).is_none() && !is_word(&sent) {
        let message = format!("Address prefix {sent} of route {name} is not valid.");
        return Err(Refusal::network(400, "InvalidAddressPrefixFormat", message));
    }
    if appliance && word("nextHopIpAddress").parse::<std::net::IpAddr>().is_err() {
        let message = format!("The next hop IP address of route {name} is not valid.");
        return Err(Refusal::network(400, "NextHopIpAddressInvalid", message));
    }
    let same = others.iter().find(|other| {
        let own = other.get("name").and_then(Value::as_str).unwrap_or_default();
        let theirs = other.pointer("/properties/addressPrefix").and_then(Value::as_str).unwrap_or_default();
        let equal = match (prefix(theirs), prefix(&sent)) {
            (Some(one), Some(other)) => one.trunc() == other.trunc(),
            _ => theirs.eq_ignore_ascii_case(&sent),
        };
        !own.eq_ignore_ascii_case(name) && equal
    });
    if let Some(other) = same.and_then(|other| other.get("name")).and_then(Value::as_str) {
        let message = format!(
            "Route {name} conflicts with route {other}: routes of a table have different address prefixes."
        );
        return Err(Refusal::network(400, "RouteConflict", message));
    }
    properties.insert("hasBgpOverride".to_owned(), json!(false));
    Ok(())
}
