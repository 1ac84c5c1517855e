//! What every kind of resource can: listed, shown, made, changed, removed.

use serde_json::{Map, Value, json};

use crate::az::failure::Failure;
use crate::az::flatten::flattened;
use crate::az::line::Line;
use crate::az::reference::{filled, identifier};
use crate::az::session::{Session, checked};
use crate::az::table::{Command, Told};
use crate::az::update::{change, put_in, writable};
use crate::azure::Verb;

const LIST: &str = "--resource-group,-g --max-items#";
const WHOLE: &str = "--resource-group,-g";
const SHOW: &str = "-n,--name!^ --resource-group,-g!^";
const GONE: &str = "-n,--name!^ --resource-group,-g!^ --no-wait%";
const CHANGED: &str = "-n,--name!^ --resource-group,-g!^ --tags* --no-wait% --set* --add* --remove*";

const GROUPS: &str = "Microsoft.Network/networkSecurityGroups";
const GROUP: &str = "Microsoft.Network/networkSecurityGroups/{--name}";
const TABLES: &str = "Microsoft.Network/routeTables";
const TABLE: &str = "Microsoft.Network/routeTables/{--name}";
const NETWORKS: &str = "Microsoft.Network/virtualNetworks";
const NETWORK: &str = "Microsoft.Network/virtualNetworks/{--name}";
const INTERFACES: &str = "Microsoft.Network/networkInterfaces";
const INTERFACE: &str = "Microsoft.Network/networkInterfaces/{--name}";
const ADDRESSES: &str = "Microsoft.Network/publicIPAddresses";
const ADDRESS: &str = "Microsoft.Network/publicIPAddresses/{--name}";
const ENDPOINTS: &str = "Microsoft.Network/privateEndpoints";
const ENDPOINT: &str = "Microsoft.Network/privateEndpoints/{--name}";
const SETS: &str = "Microsoft.Network/applicationSecurityGroups";
const SET: &str = "Microsoft.Network/applicationSecurityGroups/{--name}";
const BALANCERS: &str = "Microsoft.Network/loadBalancers";
const BALANCER: &str = "Microsoft.Network/loadBalancers/{--name}";

/// The commands.
pub(in crate::az) const COMMANDS: &[Command] = &[
    Command::list("network nsg list", WHOLE, GROUPS, "2022-01-01"),
    Command::show("network nsg show", SHOW, GROUP, "2022-01-01"),
    Command::delete("network nsg delete", GONE, GROUP, "2022-01-01"),
    Command::own("network nsg create", "-n,--name! --resource-group,-g! --location,-l --tags* --no-wait%", wrapped)
        .at(GROUP, "2022-01-01"),
    Command::own("network nsg update", CHANGED, changed).at(GROUP, "2022-01-01"),
    Command::list("network route-table list", "--resource-group,-g! --max-items#", TABLES, "2025-07-01"),
    Command::show("network route-table show", SHOW, TABLE, "2025-07-01"),
    Command::delete("network route-table delete", GONE, TABLE, "2025-07-01"),
    Command::own(
        "network route-table create",
        "-n,--name! --resource-group,-g! --location,-l --tags* --disable-bgp-route-propagation% --no-wait%",
        created,
    )
    .at(TABLE, "2025-07-01"),
    Command::own(
        "network route-table update",
        "-n,--name!^ --resource-group,-g!^ --tags* --disable-bgp-route-propagation% --no-wait% --set* --add* --remove*",
        changed,
    )
    .at(TABLE, "2025-07-01"),
    Command::list("network vnet list", LIST, NETWORKS, "2025-07-01").rows(network_row),
    Command::show("network vnet show", SHOW, NETWORK, "2025-07-01"),
    Command::delete("network vnet delete", GONE, NETWORK, "2025-07-01"),
    Command::own(
        "network vnet create",
        "-n,--name! --resource-group,-g! --location,-l --tags* --address-prefixes,--address-prefix* --subnet-name --subnet-prefixes,--subnet-prefix* --dns-servers* --no-wait%",
        network,
    )
    .at(NETWORK, "2025-07-01"),
    Command::own(
        "network vnet update",
        "-n,--name!^ --resource-group,-g!^ --tags* --address-prefixes* --dns-servers* --no-wait% --set* --add* --remove*",
        changed,
    )
    .at(NETWORK, "2025-07-01"),
    Command::list("network nic list", LIST, INTERFACES, "2023-11-01"),
    Command::show("network nic show", SHOW, INTERFACE, "2023-11-01"),
    Command::delete("network nic delete", GONE, INTERFACE, "2023-11-01"),
    Command::own(
        "network nic update",
        "-n,--name!^ --resource-group,-g!^ --network-security-group --accelerated-networking% --ip-forwarding% --dns-servers* --no-wait% --set* --add* --remove*",
        changed,
    )
    .at(INTERFACE, "2023-11-01"),
    Command::list("network public-ip list", LIST, ADDRESSES, "2022-01-01").rows(address_row),
    Command::show("network public-ip show", SHOW, ADDRESS, "2022-01-01").rows(address_row),
    Command::delete("network public-ip delete", GONE, ADDRESS, "2022-01-01"),
    Command::list("network private-endpoint list", LIST, ENDPOINTS, "2026-01-01"),
    Command::show("network private-endpoint show", SHOW, ENDPOINT, "2026-01-01"),
    Command::list("network asg list", WHOLE, SETS, "2023-11-01"),
    Command::show("network asg show", SHOW, SET, "2023-11-01"),
    Command::delete("network asg delete", GONE, SET, "2023-11-01"),
    Command::own("network asg create", "-n,--name! --resource-group,-g! --location,-l --tags* --no-wait%", created)
        .at(SET, "2023-11-01"),
    Command::list("network lb list", LIST, BALANCERS, "2023-11-01"),
    Command::show("network lb show", SHOW, BALANCER, "2023-11-01"),
    Command::delete("network lb delete", GONE, BALANCER, "2023-11-01"),
];

/// Returns the path that a command asks for.
pub(in crate::az) fn path(session: &Session<'_>, line: &Line) -> Result<String, Failure> {
    let path = filled(session.command.path, line)?;
    match line.one("--resource-group") {
        Some(group) => session.inside(group, &path),
        None => session.place(&format!("/providers/{path}")),
    }
}

/// Lists.
pub(in crate::az) fn list(session: &mut Session<'_>, line: &Line) -> Told {
    let found = entries(session, line)?;
    Ok(Some(flattened(Value::Array(found))))
}

/// Returns the entries of a list, as many as are wanted.
pub(in crate::az) fn entries(session: &mut Session<'_>, line: &Line) -> Result<Vec<Value>, Failure> {
    let path = path(session, line)?;
    let most = line.number("--max-items").and_then(|most| usize::try_from(most).ok());
    let mut found = session.list(&path, &[("api-version", session.command.version)], most)?;
    if let Some(most) = most.filter(|most| *most < found.len()) {
        found.truncate(most);
        session.warnings.push(format!("Token of next page: {most}"));
    }
    Ok(found)
}

/// Shows.
pub(in crate::az) fn show(session: &mut Session<'_>, line: &Line) -> Told {
    let path = path(session, line)?;
    session.get(&path, session.command.version).map(|found| Some(flattened(found)))
}

/// Removes.
pub(in crate::az) fn delete(session: &mut Session<'_>, line: &Line) -> Told {
    let path = path(session, line)?;
    session.call(Verb::Delete, &path, session.command.version, None).map(|_| None)
}

/// Sends a body to where the command points, and prints what came of it.
pub(in crate::az) fn put(session: &mut Session<'_>, line: &Line, body: &Value) -> Told {
    let path = path(session, line)?;
    let found = session.call(Verb::Put, &path, session.command.version, Some(body))?;
    Ok(Some(flattened(found)).filter(|found| !found.is_null()))
}

/// Returns the tags of a line: `name=value`, or a name alone.
pub(in crate::az) fn tags(line: &Line) -> Option<Value> {
    let pair = |word: &String| {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        (name.to_owned(), Value::from(value))
    };
    let words = line.many("--tags")?;
    let pairs = words.iter().flat_map(|word| word.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
    Some(Value::Object(pairs.filter(|word| !word.is_empty()).map(|word| pair(&word)).collect()))
}

/// Returns where something is made: where the line says, else where its group is.
fn location(session: &mut Session<'_>, line: &Line) -> Result<String, Failure> {
    if let Some(location) = line.one("--location") {
        return session.region(location);
    }
    let group = crate::az::reference::segment(line.need("--resource-group")?);
    let path = session.place(&format!("/resourcegroups/{group}"))?;
    let found = session.get(&path, "2024-11-01")?;
    Ok(found.get("location").and_then(Value::as_str).unwrap_or_default().to_owned())
}

fn begun(session: &mut Session<'_>, line: &Line) -> Result<Map<String, Value>, Failure> {
    let mut body = Map::from_iter([("location".to_owned(), json!(location(session, line)?))]);
    body.extend(tags(line).map(|tags| ("tags".to_owned(), tags)));
    Ok(body)
}

/// A row of a table of networks.
fn network_row(network: &Value) -> Vec<(&'static str, Value)> {
    let own = |field: &str| network.get(field).cloned().unwrap_or_default();
    let words = |place: &str| {
        let words =
            network.pointer(place).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        json!(words.collect::<Vec<_>>().join(", "))
    };
    let subnets = network.get("subnets").and_then(Value::as_array).map_or(0, Vec::len);
    vec![
        ("Name", own("name")),
        ("ResourceGroup", own("resourceGroup")),
        ("Location", own("location")),
        ("NumSubnets", json!(subnets)),
        ("Prefixes", words("/addressSpace/addressPrefixes")),
        ("DnsServers", words("/dhcpOptions/dnsServers")),
        ("DDOSProtection", own("enableDdosProtection")),
        ("VMProtection", own("enableVmProtection")),
    ]
}

/// A row of a table of public addresses.
fn address_row(address: &Value) -> Vec<(&'static str, Value)> {
    let own = |field: &str| address.get(field).cloned().unwrap_or_default();
    let zones =
        address.get("zones").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    vec![
        ("Name", own("name")),
        ("ResourceGroup", own("resourceGroup")),
        ("Location", own("location")),
        ("Zones", json!(zones.collect::<Vec<_>>().join(" "))),
        ("Address", own("ipAddress")),
        ("IdleTimeoutInMinutes", own("idleTimeoutInMinutes")),
        ("ProvisioningState", own("provisioningState")),
    ]
}

fn created(session: &mut Session<'_>, line: &Line) -> Told {
    let mut body = begun(session, line)?;
    if let Some(off) = line.wants("--disable-bgp-route-propagation") {
        body.insert("properties".to_owned(), json!({"disableBgpRoutePropagation": off}));
    }
    put(session, line, &Value::Object(body))
}

fn wrapped(session: &mut Session<'_>, line: &Line) -> Told {
    Ok(created(session, line)?.map(|group| json!({"NewNSG": group})))
}

fn network(session: &mut Session<'_>, line: &Line) -> Told {
    let mut body = begun(session, line)?;
    let all = ["10.0.0.0/16".to_owned()];
    let mut properties =
        json!({"addressSpace": {"addressPrefixes": line.many("--address-prefixes").unwrap_or(&all)}});
    if let Some(servers) = line.many("--dns-servers") {
        put_in(&mut properties, "dhcpOptions", json!({"dnsServers": servers}));
    }
    if let Some(name) = line.one("--subnet-name") {
        let prefix = line.one("--subnet-prefixes").unwrap_or("10.0.0.0/24");
        put_in(&mut properties, "subnets", json!([{"name": name, "properties": {"addressPrefix": prefix}}]));
    }
    body.insert("properties".to_owned(), properties);
    Ok(put(session, line, &Value::Object(body))?.map(|made| json!({"newVNet": made})))
}

/// Reads, changes what is asked for, and sends the whole.
fn changed(session: &mut Session<'_>, line: &Line) -> Told {
    let place = path(session, line)?;
    let found = session.ask(Verb::Get, &place, &[("api-version", session.command.version)], None)?;
    let mut body = checked(&found)?;
    writable(&mut body);
    let mut fields: Vec<(&str, Value)> = Vec::new();
    let flags = [
        ("--disable-bgp-route-propagation", "disableBgpRoutePropagation"),
        ("--accelerated-networking", "enableAcceleratedNetworking"),
        ("--ip-forwarding", "enableIPForwarding"),
    ];
    for (option, field) in flags {
        fields.extend(line.wants(option).map(|wanted| (field, json!(wanted))));
    }
    if let Some(name) = line.one("--network-security-group") {
        let id = identifier(session, line, GROUPS, name)?;
        fields.push(("networkSecurityGroup", if name == "null" { Value::Null } else { json!({"id": id}) }));
    }
    if let Some(prefixes) = line.many("--address-prefixes") {
        fields.push(("addressSpace", json!({"addressPrefixes": prefixes})));
    }
    if let Some(servers) = line.many("--dns-servers") {
        let servers = if servers.iter().any(|server| server == "null") { &[][..] } else { servers };
        let field = if session.command.path == NETWORK { "dhcpOptions" } else { "dnsSettings" };
        fields.push((field, json!({"dnsServers": servers})));
    }
    if let (Some(tags), Some(map)) = (tags(line), body.as_object_mut()) {
        map.insert("tags".to_owned(), tags);
    }
    if let Some(properties) = body.get_mut("properties").and_then(Value::as_object_mut) {
        for (field, value) in fields {
            if value.is_null() {
                properties.remove(field);
            } else {
                properties.insert(field.to_owned(), value);
            }
        }
    }
    change(&mut body, line)?;
    put(session, line, &body)
}
