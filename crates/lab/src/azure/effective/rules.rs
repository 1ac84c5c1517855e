//! The rules of an interface: those of its subnet's group, then those of its own.

use serde_json::{Value, json};

use super::nic::Nic;
use super::tag::expanded;
use crate::azure::cloud::Cloud;
use crate::azure::target::Target;

/// Returns the effective rules of an interface, gate by gate.
pub(in crate::azure) fn rules(cloud: &Cloud, nic: &Nic<'_>) -> Vec<Value> {
    let gates = [("subnet", nic.subnet), ("networkInterface", Some(nic.document))];
    gates.into_iter().filter_map(|(side, document)| gate(cloud, nic, side, document?)).collect()
}

fn gate(cloud: &Cloud, nic: &Nic<'_>, side: &str, document: &Value) -> Option<Value> {
    let id = document.pointer("/properties/networkSecurityGroup/id")?.as_str()?;
    let group = cloud.estate.get(&Target::parse(id)?)?;
    let list = |field: &str| group.pointer(&format!("/properties/{field}")).and_then(Value::as_array);
    let named = ["securityRules", "defaultSecurityRules"]
        .into_iter()
        .flat_map(|field| list(field).into_iter().flatten().map(move |rule| (field, rule)));
    let mut rules: Vec<Value> =
        named.filter_map(|(field, rule)| effective(cloud, nic, field, rule)).collect();
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

/// Writes a rule as it stands at an interface; nothing where it names groups in which nobody is, and so meets nobody.
fn effective(cloud: &Cloud, nic: &Nic<'_>, field: &str, rule: &Value) -> Option<Value> {
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
    let prefixes = |side: &str| -> Option<Vec<String>> {
        let open = |value: String| if value == "*" { "0.0.0.0/0".to_owned() } else { value };
        let written = values(&format!("{side}AddressPrefix"), &format!("{side}AddressPrefixes"));
        let groups = rule.pointer(&format!("/properties/{side}ApplicationSecurityGroups"));
        let groups: Vec<&str> = groups
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(|group| group.get("id")?.as_str())
            .collect();
        let members = groups.iter().flat_map(|group| members(cloud, group));
        let all: Vec<String> = written.into_iter().map(open).chain(members).collect();
        (!all.is_empty() || groups.is_empty()).then_some(all)
    };
    // Where a word is expanded, the list holds everything that the side means: readers take it in place of the other.
    let expansion = |values: &[String]| -> Vec<String> {
        let found: Vec<Option<Vec<String>>> =
            values.iter().map(|value| expanded(cloud, nic, value)).collect();
        if found.iter().all(Option::is_none) {
            return Vec::new();
        }
        let written = |value: &String| if is_word(value) { Vec::new() } else { vec![value.clone()] };
        let all = values.iter().zip(found).flat_map(|(value, found)| found.unwrap_or_else(|| written(value)));
        all.collect()
    };
    let (from, to) = (prefixes("source")?, prefixes("destination")?);
    let (out, into) = (
        ports("sourcePortRange", "sourcePortRanges"),
        ports("destinationPortRange", "destinationPortRanges"),
    );
    let name = rule.get("name").and_then(Value::as_str).unwrap_or_default();
    let protocol = if word("protocol") == "*" { "All" } else { word("protocol") };
    let mut row = json!({
        "name": format!("{field}/{name}"), "protocol": protocol,
        "sourcePortRanges": out, "destinationPortRanges": into,
        "sourceAddressPrefixes": from, "destinationAddressPrefixes": to,
        "expandedSourceAddressPrefix": expansion(&from), "expandedDestinationAddressPrefix": expansion(&to),
        "access": word("access"), "priority": rule.pointer("/properties/priority"), "direction": word("direction"),
    });
    // One value stands in a field of its own, too.
    let single = [
        ("sourcePortRange", &out),
        ("destinationPortRange", &into),
        ("sourceAddressPrefix", &from),
        ("destinationAddressPrefix", &to),
    ];
    if let Some(map) = row.as_object_mut() {
        for (field, values) in single {
            if let [one] = values.as_slice() {
                map.insert(field.to_owned(), json!(one));
            }
        }
    }
    Some(row)
}

/// Returns the addresses of the interfaces in an application security group.
fn members(cloud: &Cloud, group: &str) -> Vec<String> {
    let configurations = cloud.estate.of("Microsoft.Network/networkInterfaces").flat_map(|nic| {
        nic.pointer("/properties/ipConfigurations").and_then(Value::as_array).into_iter().flatten()
    });
    let inside = configurations.filter(|one| {
        let groups = one.pointer("/properties/applicationSecurityGroups").and_then(Value::as_array);
        let mut ids = groups.into_iter().flatten().filter_map(|found| found.get("id")?.as_str());
        ids.any(|id| id.eq_ignore_ascii_case(group))
    });
    let address = |one: &Value| one.pointer("/properties/privateIPAddress")?.as_str().map(str::to_owned);
    inside
        .filter_map(address)
        .map(|address| format!("{address}/{}", if address.contains(':') { 128 } else { 32 }))
        .collect()
}

/// Tells whether a text is a word rather than a prefix.
fn is_word(text: &str) -> bool {
    text.chars().next().is_some_and(char::is_alphabetic) && !text.contains([':', '/'])
}

/// Writes a port as the platform does: always a range.
fn range(port: &str) -> String {
    match port {
        "*" => "0-65535".to_owned(),
        port if port.contains('-') => port.to_owned(),
        port => format!("{port}-{port}"),
    }
}
