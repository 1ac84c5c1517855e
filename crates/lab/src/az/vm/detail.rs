//! What a machine is like beside its own document: power, addresses.

use serde_json::{Value, json};

use super::machine::asked;
use crate::az::failure::Failure;
use crate::az::line::Line;
use crate::az::session::Session;
use crate::az::table::CommandResult;

/// The version in which interfaces and addresses are asked for.
const VERSION: &str = "2022-01-01";

fn text(document: &Value, path: &str) -> Option<String> {
    document.pointer(path).and_then(Value::as_str).map(str::to_owned)
}

fn entries<'a>(document: &'a Value, path: &str) -> impl Iterator<Item = &'a Value> {
    document.pointer(path).and_then(Value::as_array).into_iter().flatten()
}

/// Adds power and addresses to a machine in its printed form, and takes the view away from which the power is known.
pub(super) fn detailed(session: &mut Session<'_>, mut machine: Value) -> Result<Value, Failure> {
    let power = entries(&machine, "/instanceView/statuses")
        .find(|status| text(status, "/code").is_some_and(|code| code.starts_with("PowerState/")))
        .and_then(|status| text(status, "/displayStatus"));
    let nics: Vec<String> =
        entries(&machine, "/networkProfile/networkInterfaces").filter_map(|nic| text(nic, "/id")).collect();
    let (mut privates, mut publics, mut hardware, mut names) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for id in nics {
        let path = asked(session, &id)?;
        let nic = session.get(&path, VERSION)?;
        hardware.extend(text(&nic, "/properties/macAddress"));
        for config in entries(&nic, "/properties/ipConfigurations") {
            privates.extend(text(config, "/properties/privateIPAddress"));
            if let Some(id) = text(config, "/properties/publicIPAddress/id") {
                let path = asked(session, &id)?;
                let address = session.get(&path, VERSION)?;
                publics.extend(text(&address, "/properties/ipAddress"));
                names.extend(text(&address, "/properties/dnsSettings/fqdn"));
            }
        }
    }
    if let Some(map) = machine.as_object_mut() {
        map.remove("instanceView");
        map.insert("powerState".to_owned(), json!(power.unwrap_or_default()));
        let joined =
            [("privateIps", privates), ("publicIps", publics), ("macAddresses", hardware), ("fqdns", names)];
        for (field, values) in joined {
            map.insert(field.to_owned(), json!(values.join(",")));
        }
    }
    Ok(machine)
}

/// `az vm list-ip-addresses`: all addresses and all interfaces of the subscription, joined here.
pub(super) fn addresses(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let query = [("api-version", VERSION)];
    let place = session.place("/providers/Microsoft.Network/publicIPAddresses")?;
    let publics = session.list(&place, &query, None)?;
    let place = session.place("/providers/Microsoft.Network/networkInterfaces")?;
    let nics = session.list(&place, &query, None)?;
    let mut found: Vec<(String, Value)> = Vec::new();
    for nic in &nics {
        let Some(id) = text(nic, "/properties/virtualMachine/id") else { continue };
        let name = id.rsplit('/').next().unwrap_or_default().to_owned();
        let group = crate::az::flatten::group(&id).unwrap_or_default().to_owned();
        let match_option =
            |option: &str, given: &str| line.one(option).is_none_or(|word| word.eq_ignore_ascii_case(given));
        if !match_option("--name", &name) || !match_option("--resource-group", &group) {
            continue;
        }
        let mut own: Vec<String> = Vec::new();
        let mut outer: Vec<Value> = Vec::new();
        for config in entries(nic, "/properties/ipConfigurations") {
            own.extend(text(config, "/properties/privateIPAddress"));
            let id = text(config, "/properties/publicIPAddress/id");
            let is = |address: &&Value| {
                let known = text(address, "/id");
                known.zip(id.clone()).is_some_and(|(known, id)| known.eq_ignore_ascii_case(&id))
            };
            outer.extend(publics.iter().find(is).map(public));
        }
        let lower = id.to_lowercase();
        let at = match found.iter().position(|(known, _)| *known == lower) {
            Some(at) => at,
            None => {
                let network = json!({"privateIpAddresses": [], "publicIpAddresses": []});
                let entry =
                    json!({"virtualMachine": {"name": name, "resourceGroup": group, "network": network}});
                found.push((lower, entry));
                found.len() - 1
            }
        };
        let Some((_, entry)) = found.get_mut(at) else { continue };
        for (field, values) in [
            ("privateIpAddresses", own.into_iter().map(Value::from).collect::<Vec<_>>()),
            ("publicIpAddresses", outer),
        ] {
            let place = format!("/virtualMachine/network/{field}");
            let list = entry.pointer_mut(&place).and_then(Value::as_array_mut);
            list.into_iter().for_each(|list| list.extend(values.iter().cloned()));
        }
    }
    Ok(Some(Value::Array(found.into_iter().map(|(_, entry)| entry).collect())))
}

fn public(address: &Value) -> Value {
    let id = text(address, "/id").unwrap_or_default();
    json!({"id": id, "name": address.get("name"), "ipAddress": address.pointer("/properties/ipAddress"),
        "ipAllocationMethod": address.pointer("/properties/publicIPAllocationMethod"),
        "resourceGroup": crate::az::flatten::group(&id), "zone": address.pointer("/zones/0")})
}

/// A row of a table of machines.
pub(super) fn row(machine: &Value) -> Vec<(&'static str, Value)> {
    let own = |field: &str| machine.get(field).cloned();
    let mut row = vec![
        ("Name", own("name").unwrap_or_default()),
        ("ResourceGroup", own("resourceGroup").unwrap_or_default()),
    ];
    for (name, field) in [("PowerState", "powerState"), ("PublicIps", "publicIps"), ("Fqdns", "fqdns")] {
        row.extend(own(field).map(|value| (name, value)));
    }
    row.push(("Location", own("location").unwrap_or_default()));
    row.extend(machine.get("zones").and_then(|zones| zones.get(0)).map(|zone| ("Zones", zone.clone())));
    row
}

/// A row of a table of machines with what they are like now.
pub(super) fn view_row(machine: &Value) -> Vec<(&'static str, Value)> {
    let own = |field: &str| machine.get(field).cloned().unwrap_or_default();
    let power = entries(machine, "/instanceView/statuses")
        .find(|status| text(status, "/code").is_some_and(|code| code.starts_with("PowerState/")))
        .and_then(|status| text(status, "/displayStatus"));
    vec![
        ("Name", own("name")),
        ("ResourceGroup", own("resourceGroup")),
        ("Location", own("location")),
        ("ProvisioningState", own("provisioningState")),
        ("PowerState", json!(power)),
    ]
}

/// A row of a table of extensions.
pub(super) fn extension_row(extension: &Value) -> Vec<(&'static str, Value)> {
    let own = |field: &str| extension.get(field).cloned().unwrap_or_default();
    vec![
        ("Name", own("name")),
        ("ProvisioningState", own("provisioningState")),
        ("Publisher", own("publisher")),
        ("Version", own("typeHandlerVersion")),
        ("AutoUpgradeMinorVersion", own("autoUpgradeMinorVersion")),
    ]
}

/// A row of a table of addresses.
pub(super) fn address_row(entry: &Value) -> Vec<(&'static str, Value)> {
    let joined = |place: &str, field: &str| {
        let words =
            entries(entry, place).filter_map(|entry| entry.as_str().or_else(|| entry.get(field)?.as_str()));
        Value::from(words.collect::<Vec<_>>().join(","))
    };
    let name = entry.pointer("/virtualMachine/name").cloned().unwrap_or_default();
    let outer = joined("/virtualMachine/network/publicIpAddresses", "ipAddress");
    let own = joined("/virtualMachine/network/privateIpAddresses", "");
    let mut row = vec![("VirtualMachine", name)];
    row.extend(
        [("PublicIPAddresses", outer), ("PrivateIPAddresses", own)]
            .into_iter()
            .filter(|(_, value)| value != ""),
    );
    row
}
