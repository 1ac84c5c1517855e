//! `az network …`: groups and rules, tables and routes, subnets.

use serde_json::{Map, Value, json};

use super::failure::Failure;
use super::flatten::flattened;
use super::session::Session;
use super::words::Words;
use crate::lab::azure::Verb;

const GROUP: &[&str] = &["--resource-group", "-g"];
const NAME: &[&str] = &["--name", "-n"];

/// What a command prints; nothing where it prints nothing.
pub(super) type Told = Result<Option<Value>, Failure>;

/// Runs a command of the network; nothing where it is none.
pub(super) fn network(session: &mut Session<'_, '_>, words: &Words) -> Option<Told> {
    let command = words.command.strip_prefix("network ")?;
    Some(match command {
        "nsg list" => list(session, words, "networkSecurityGroups"),
        "nsg show" => show(session, words, "networkSecurityGroups"),
        "nsg create" => create(session, words, "networkSecurityGroups")
            .map(|told| told.map(|group| json!({"NewNSG": group}))),
        "nsg delete" => delete(session, words, "networkSecurityGroups"),
        "nsg rule list" => rules(session, words),
        "nsg rule show" => {
            below(session, words, Verb::Get, ("networkSecurityGroups", "--nsg-name", "securityRules"), None)
        }
        "nsg rule delete" => below(
            session,
            words,
            Verb::Delete,
            ("networkSecurityGroups", "--nsg-name", "securityRules"),
            None,
        ),
        "nsg rule create" => rule(words).and_then(|body| {
            below(
                session,
                words,
                Verb::Put,
                ("networkSecurityGroups", "--nsg-name", "securityRules"),
                Some(&body),
            )
        }),
        "route-table list" => list(session, words, "routeTables"),
        "route-table show" => show(session, words, "routeTables"),
        "route-table create" => create(session, words, "routeTables"),
        "route-table delete" => delete(session, words, "routeTables"),
        "route-table route list" => children(session, words, ("routeTables", "--route-table-name", "routes")),
        "route-table route show" => {
            below(session, words, Verb::Get, ("routeTables", "--route-table-name", "routes"), None)
        }
        "route-table route delete" => {
            below(session, words, Verb::Delete, ("routeTables", "--route-table-name", "routes"), None)
        }
        "route-table route create" => route(words).and_then(|body| {
            below(session, words, Verb::Put, ("routeTables", "--route-table-name", "routes"), Some(&body))
        }),
        "vnet list" => list(session, words, "virtualNetworks"),
        "vnet show" => show(session, words, "virtualNetworks"),
        "vnet peering list" => {
            children(session, words, ("virtualNetworks", "--vnet-name", "virtualNetworkPeerings"))
        }
        "vnet subnet list" => children(session, words, ("virtualNetworks", "--vnet-name", "subnets")),
        "vnet subnet show" => {
            below(session, words, Verb::Get, ("virtualNetworks", "--vnet-name", "subnets"), None)
        }
        "vnet subnet update" => subnet(session, words),
        "nic list" => list(session, words, "networkInterfaces"),
        "nic show" => show(session, words, "networkInterfaces"),
        "nic show-effective-route-table" => effective(session, words, "effectiveRouteTable"),
        "nic list-effective-nsg" => effective(session, words, "effectiveNetworkSecurityGroups"),
        "private-endpoint list" => list(session, words, "privateEndpoints"),
        _ => return None,
    })
}

fn list(session: &mut Session<'_, '_>, words: &Words, kind: &str) -> Told {
    let path = match words.one(GROUP) {
        Some(group) => session.network(group, kind),
        None => session.place(&format!("/providers/Microsoft.Network/{kind}")),
    };
    let found = session.list(&path)?;
    Ok(Some(flattened(Value::Array(found))))
}

fn path(session: &Session<'_, '_>, words: &Words, kind: &str) -> Result<String, Failure> {
    Ok(session.network(words.need(GROUP)?, &format!("{kind}/{}", words.need(NAME)?)))
}

fn show(session: &mut Session<'_, '_>, words: &Words, kind: &str) -> Told {
    let path = path(session, words, kind)?;
    session.call(Verb::Get, &path, None).map(|found| Some(flattened(found)))
}

fn create(session: &mut Session<'_, '_>, words: &Words, kind: &str) -> Told {
    let path = path(session, words, kind)?;
    let location = match words.one(&["--location", "-l"]) {
        Some(location) => location.to_owned(),
        None => {
            let group = session.place(&format!("/resourcegroups/{}", words.need(GROUP)?));
            let found = session.call(Verb::Get, &group, None)?;
            found.get("location").and_then(Value::as_str).unwrap_or_default().to_owned()
        }
    };
    session.call(Verb::Put, &path, Some(&json!({"location": location}))).map(|found| Some(flattened(found)))
}

fn delete(session: &mut Session<'_, '_>, words: &Words, kind: &str) -> Told {
    let path = path(session, words, kind)?;
    session.call(Verb::Delete, &path, None).map(|_| None)
}

/// Parent's type, the option that names it, and the children's type.
type Kin<'a> = (&'a str, &'a str, &'a str);

fn below(
    session: &mut Session<'_, '_>,
    words: &Words,
    verb: Verb,
    (parent, option, kind): Kin<'_>,
    body: Option<&Value>,
) -> Told {
    let rest = format!("{parent}/{}/{kind}/{}", words.need(&[option])?, words.need(NAME)?);
    let path = session.network(words.need(GROUP)?, &rest);
    let found = session.call(verb, &path, body)?;
    Ok((verb != Verb::Delete).then(|| flattened(found)))
}

fn children(session: &mut Session<'_, '_>, words: &Words, (parent, option, kind): Kin<'_>) -> Told {
    let rest = format!("{parent}/{}/{kind}", words.need(&[option])?);
    let path = session.network(words.need(GROUP)?, &rest);
    let found = session.list(&path)?;
    Ok(Some(flattened(Value::Array(found))))
}

fn rules(session: &mut Session<'_, '_>, words: &Words) -> Told {
    let group = format!("networkSecurityGroups/{}", words.need(&["--nsg-name"])?);
    let path = session.network(words.need(GROUP)?, &group);
    let found = session.call(Verb::Get, &path, None)?;
    let list = |field: &str| {
        found.pointer(&format!("/properties/{field}")).and_then(Value::as_array).cloned().unwrap_or_default()
    };
    let mut all = list("securityRules");
    if words.has(&["--include-default"]) {
        all.extend(list("defaultSecurityRules"));
    }
    Ok(Some(flattened(Value::Array(all))))
}

/// One value stands in the field for one, several in the field for several.
fn rule(words: &Words) -> Result<Value, Failure> {
    let mut properties = Map::new();
    let pairs = [
        ("--source-address-prefixes", "sourceAddressPrefix", "sourceAddressPrefixes"),
        ("--source-port-ranges", "sourcePortRange", "sourcePortRanges"),
        ("--destination-address-prefixes", "destinationAddressPrefix", "destinationAddressPrefixes"),
        ("--destination-port-ranges", "destinationPortRange", "destinationPortRanges"),
    ];
    for (option, one, several) in pairs {
        match words.many(&[option]) {
            None | Some([]) => properties.insert(one.to_owned(), json!("*")),
            Some([value]) => properties.insert(one.to_owned(), json!(value)),
            Some(values) => properties.insert(several.to_owned(), json!(values)),
        };
    }
    let enums = [
        ("--access", "access", "Allow", &["Allow", "Deny"][..]),
        ("--direction", "direction", "Inbound", &["Inbound", "Outbound"][..]),
        ("--protocol", "protocol", "*", &["*", "Ah", "Esp", "Icmp", "Tcp", "Udp"][..]),
    ];
    for (option, field, usual, known) in enums {
        let value = words.one(&[option]).unwrap_or(usual);
        let spelled = known.iter().find(|one| one.eq_ignore_ascii_case(value)).copied().unwrap_or(value);
        properties.insert(field.to_owned(), json!(spelled));
    }
    let priority = words.need(&["--priority"])?;
    let priority: u32 = priority.parse().map_err(|_| {
        Failure::new(2, format!("ERROR: argument --priority: invalid int value: '{priority}'"))
    })?;
    properties.insert("priority".to_owned(), json!(priority));
    if let Some(text) = words.one(&["--description"]) {
        properties.insert("description".to_owned(), json!(text));
    }
    Ok(json!({"name": words.need(NAME)?, "properties": properties}))
}

fn route(words: &Words) -> Result<Value, Failure> {
    let mut properties = Map::from_iter([
        ("addressPrefix".to_owned(), json!(words.need(&["--address-prefix"])?)),
        ("nextHopType".to_owned(), json!(words.need(&["--next-hop-type"])?)),
    ]);
    if let Some(address) = words.one(&["--next-hop-ip-address"]) {
        properties.insert("nextHopIpAddress".to_owned(), json!(address));
    }
    Ok(json!({"name": words.need(NAME)?, "properties": properties}))
}

/// Reads a subnet, changes what was asked for, and sends all of it that can be written.
fn subnet(session: &mut Session<'_, '_>, words: &Words) -> Told {
    let group = words.need(GROUP)?;
    let rest = format!("virtualNetworks/{}/subnets/{}", words.need(&["--vnet-name"])?, words.need(NAME)?);
    let path = session.network(group, &rest);
    let mut found = session.call(Verb::Get, &path, None)?;
    if let Some(map) = found.as_object_mut() {
        map.remove("etag");
    }
    let Some(properties) = found.get_mut("properties").and_then(Value::as_object_mut) else {
        return Err(Failure::new(1, "ERROR: The subnet has no properties."));
    };
    for own in ["ipConfigurations", "privateEndpoints", "provisioningState", "serviceAssociationLinks"] {
        properties.remove(own);
    }
    if let Some(services) = words.many(&["--service-endpoints"]) {
        let services: Vec<Value> = services
            .iter()
            .filter(|service| *service != "[]")
            .map(|service| json!({"service": service}))
            .collect();
        properties.insert("serviceEndpoints".to_owned(), json!(services));
    } else if let Some(list) = properties.get_mut("serviceEndpoints").and_then(Value::as_array_mut) {
        for endpoint in list {
            let service = endpoint.get("service").cloned().unwrap_or_default();
            *endpoint = json!({"service": service});
        }
    }
    let references = [
        ("--network-security-group", "networkSecurityGroup", "networkSecurityGroups"),
        ("--route-table", "routeTable", "routeTables"),
    ];
    for (option, field, kind) in references {
        match words.one(&[option]) {
            None => {}
            Some("null") => drop(properties.remove(field)),
            Some(id) if id.starts_with('/') => drop(properties.insert(field.to_owned(), json!({"id": id}))),
            Some(name) => {
                let id = session.network(group, &format!("{kind}/{name}"));
                properties.insert(field.to_owned(), json!({"id": id}));
            }
        }
    }
    for removed in words.many(&["--remove"]).into_iter().flatten() {
        properties.remove(removed);
    }
    session.call(Verb::Put, &path, Some(&found)).map(|found| Some(flattened(found)))
}

fn effective(session: &mut Session<'_, '_>, words: &Words, action: &str) -> Told {
    let path = format!("{}/{action}", path(session, words, "networkInterfaces")?);
    session.call(Verb::Post, &path, None).map(|found| Some(flattened(found)))
}
