//! The rules of an interface: those of its subnet's group, then those of its own.

use serde_json::{Value, json};

use super::nic::Nic;
use crate::lab::azure::cloud::Cloud;
use crate::lab::azure::target::Target;

/// Returns the effective rules of an interface, gate by gate.
pub(in crate::lab::azure) fn rules(cloud: &Cloud, nic: &Nic<'_>) -> Vec<Value> {
    let gates = [("subnet", nic.subnet), ("networkInterface", Some(nic.document))];
    gates.into_iter().filter_map(|(side, document)| gate(cloud, side, document?)).collect()
}

fn gate(cloud: &Cloud, side: &str, document: &Value) -> Option<Value> {
    let id = document.pointer("/properties/networkSecurityGroup/id")?.as_str()?;
    let group = cloud.estate.get(&Target::parse(id)?)?;
    let list = |field: &str| group.pointer(&format!("/properties/{field}")).and_then(Value::as_array);
    let named = ["securityRules", "defaultSecurityRules"]
        .into_iter()
        .flat_map(|field| list(field).into_iter().flatten().map(move |rule| (field, rule)));
    let mut rules: Vec<Value> = named.map(|(field, rule)| effective(cloud, field, rule)).collect();
    rules.sort_by_key(|rule| {
        let inbound = rule.get("direction").and_then(Value::as_str) == Some("Inbound");
        (!inbound, rule.get("priority").and_then(Value::as_u64))
    });
    Some(json!({
        "networkSecurityGroup": {"id": group.get("id")},
        "association": {side: {"id": document.get("id")}},
        "effectiveSecurityRules": rules,
    }))
}

fn effective(cloud: &Cloud, field: &str, rule: &Value) -> Value {
    let word = |field: &str| {
        rule.pointer(&format!("/properties/{field}")).and_then(Value::as_str).unwrap_or_default()
    };
    let values = |one: &str, several: &str| -> Vec<String> {
        let list = rule.pointer(&format!("/properties/{several}")).and_then(Value::as_array);
        let many: Vec<String> =
            list.into_iter().flatten().filter_map(|value| value.as_str().map(str::to_owned)).collect();
        if many.is_empty() && !word(one).is_empty() { vec![word(one).to_owned()] } else { many }
    };
    let ports = |one: &str, several: &str| -> Vec<String> {
        values(one, several).iter().map(|port| range(port)).collect()
    };
    let prefixes = |one: &str, several: &str| -> Vec<String> {
        let open = |value: String| if value == "*" { "0.0.0.0/0".to_owned() } else { value };
        values(one, several).into_iter().map(open).collect()
    };
    let expanded = |values: &[String]| -> Vec<String> {
        let known = |value: &String| {
            let found = cloud.about.expansions.get(value).or_else(|| cloud.about.service_tags.get(value));
            found.cloned().unwrap_or_default()
        };
        values.iter().flat_map(known).collect()
    };
    let from = prefixes("sourceAddressPrefix", "sourceAddressPrefixes");
    let to = prefixes("destinationAddressPrefix", "destinationAddressPrefixes");
    let (out, into) = (
        ports("sourcePortRange", "sourcePortRanges"),
        ports("destinationPortRange", "destinationPortRanges"),
    );
    let name = rule.get("name").and_then(Value::as_str).unwrap_or_default();
    let protocol = if word("protocol") == "*" { "All" } else { word("protocol") };
    let mut told = json!({
        "name": format!("{field}/{name}"), "protocol": protocol,
        "sourcePortRanges": out, "destinationPortRanges": into,
        "sourceAddressPrefixes": from, "destinationAddressPrefixes": to,
        "expandedSourceAddressPrefix": expanded(&from), "expandedDestinationAddressPrefix": expanded(&to),
        "access": word("access"), "priority": rule.pointer("/properties/priority"), "direction": word("direction"),
    });
    // One value stands in a field of its own, too.
    let single = [
        ("sourcePortRange", &out),
        ("destinationPortRange", &into),
        ("sourceAddressPrefix", &from),
        ("destinationAddressPrefix", &to),
    ];
    if let Some(map) = told.as_object_mut() {
        for (field, values) in single {
            if let [one] = values.as_slice() {
                map.insert(field.to_owned(), json!(one));
            }
        }
    }
    told
}

/// Writes a port as the platform does: always a range.
fn range(port: &str) -> String {
    match port {
        "*" => "0-65535".to_owned(),
        port if port.contains('-') => port.to_owned(),
        port => format!("{port}-{port}"),
    }
}
