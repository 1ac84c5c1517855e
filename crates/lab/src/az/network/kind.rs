//! What every kind of resource can: listed, shown, made, changed, removed.

use serde_json::{Map, Value, json};

use crate::az::failure::Failure;
use crate::az::flatten::flattened;
use crate::az::line::Line;
use crate::az::reference::filled;
use crate::az::session::Session;
use crate::az::table::{Command, CommandResult};
use crate::azure::Verb;

const LIST: &str = "--resource-group,-g --max-items#";
const WHOLE: &str = "--resource-group,-g";
const SHOW: &str = "-n,--name!^ --resource-group,-g!^";
const GONE: &str = "-n,--name!^ --resource-group,-g!^ --no-wait%";

const GROUPS: &str = "Microsoft.Network/networkSecurityGroups";
const GROUP: &str = "Microsoft.Network/networkSecurityGroups/{--name}";
const TABLES: &str = "Microsoft.Network/routeTables";
const TABLE: &str = "Microsoft.Network/routeTables/{--name}";
const NETWORKS: &str = "Microsoft.Network/virtualNetworks";
const NETWORK: &str = "Microsoft.Network/virtualNetworks/{--name}";
const INTERFACES: &str = "Microsoft.Network/networkInterfaces";
const INTERFACE: &str = "Microsoft.Network/networkInterfaces/{--name}";
const ADDRESSES: &str = "Microsoft.Network/publicIPAddresses";
const BALANCERS: &str = "Microsoft.Network/loadBalancers";
const BALANCER: &str = "Microsoft.Network/loadBalancers/{--name}";
const APP_GATEWAYS: &str = "Microsoft.Network/applicationGateways";
const APP_GATEWAY: &str = "Microsoft.Network/applicationGateways/{--name}";
const CLUSTERS: &str = "Microsoft.ContainerService/managedClusters";
const CLUSTER: &str = "Microsoft.ContainerService/managedClusters/{--name}";
const BASTIONS: &str = "Microsoft.Network/bastionHosts";
const BASTION: &str = "Microsoft.Network/bastionHosts/{--name}";
const FIREWALLS: &str = "Microsoft.Network/azureFirewalls";
const FIREWALL: &str = "Microsoft.Network/azureFirewalls/{--name}";
const POLICIES: &str = "Microsoft.Network/firewallPolicies";
const POLICY: &str = "Microsoft.Network/firewallPolicies/{--name}";
const ADDRESS_GROUPS: &str = "Microsoft.Network/ipGroups";
const GATEWAYS: &str = "Microsoft.Network/natGateways";
const VIRTUAL_GATEWAYS: &str = "Microsoft.Network/virtualNetworkGateways";
const VIRTUAL_GATEWAY: &str = "Microsoft.Network/virtualNetworkGateways/{--name}";
const CONNECTIONS: &str = "Microsoft.Network/connections";
const CONNECTION: &str = "Microsoft.Network/connections/{--name}";
const SITES: &str = "Microsoft.Network/localNetworkGateways";
const SITE: &str = "Microsoft.Network/localNetworkGateways/{--name}";
const CIRCUITS: &str = "Microsoft.Network/expressRouteCircuits";
const CIRCUIT: &str = "Microsoft.Network/expressRouteCircuits/{--name}";
const IN_GROUP: &str = "--resource-group,-g! --max-items#";
const ZONES: &str = "Microsoft.Network/privateDnsZones";
const ENDPOINTS: &str = "Microsoft.Network/privateEndpoints";

pub(in crate::az) const COMMANDS: &[Command] = &[
    Command::list("network nsg list", WHOLE, GROUPS, "2022-01-01"),
    Command::show("network nsg show", SHOW, GROUP, "2022-01-01"),
    Command::delete("network nsg delete", GONE, GROUP, "2022-01-01"),
    Command::own(
        "network nsg create",
        "-n,--name! --resource-group,-g! --location,-l --tags* --no-wait%",
        wrapped,
    )
    .at(GROUP, "2022-01-01"),
    Command::list("network route-table list", "--resource-group,-g! --max-items#", TABLES, "2025-07-01"),
    Command::show("network route-table show", SHOW, TABLE, "2025-07-01"),
    Command::delete("network route-table delete", GONE, TABLE, "2025-07-01"),
    Command::own(
        "network route-table create",
        "-n,--name! --resource-group,-g! --location,-l --tags* --disable-bgp-route-propagation% --no-wait%",
        created,
    )
    .at(TABLE, "2025-07-01"),
    Command::list("network vnet list", LIST, NETWORKS, "2025-07-01").rows(network_row),
    Command::show("network vnet show", SHOW, NETWORK, "2025-07-01"),
    Command::list(
        "network vnet peering list",
        "--resource-group,-g! --vnet-name! --max-items#",
        "Microsoft.Network/virtualNetworks/{--vnet-name}/virtualNetworkPeerings",
        "2023-11-01",
    ),
    Command::list("network nic list", LIST, INTERFACES, "2023-11-01"),
    Command::show("network nic show", SHOW, INTERFACE, "2023-11-01"),
    Command::list("network public-ip list", LIST, ADDRESSES, "2022-01-01").rows(address_row),
    Command::list("network lb list", LIST, BALANCERS, "2025-07-01"),
    Command::show("network lb show", SHOW, BALANCER, "2025-07-01"),
    Command::list("network application-gateway list", LIST, APP_GATEWAYS, "2025-07-01"),
    Command::show("network application-gateway show", SHOW, APP_GATEWAY, "2025-07-01"),
    Command::list("aks list", LIST, CLUSTERS, "2026-03-01"),
    Command::show("aks show", SHOW, CLUSTER, "2026-03-01"),
    // In `az` these stand in extensions.
    Command::list("network bastion list", LIST, BASTIONS, "2024-05-01"),
    Command::show("network bastion show", SHOW, BASTION, "2024-05-01"),
    Command::list("network firewall list", LIST, FIREWALLS, "2024-05-01"),
    Command::show("network firewall show", SHOW, FIREWALL, "2024-05-01"),
    Command::list("network firewall policy list", LIST, POLICIES, "2024-05-01"),
    Command::show("network firewall policy show", SHOW, POLICY, "2024-05-01"),
    Command::list(
        "network firewall policy rule-collection-group list",
        "--resource-group,-g! --policy-name! --max-items#",
        "Microsoft.Network/firewallPolicies/{--policy-name}/ruleCollectionGroups",
        "2024-05-01",
    ),
    Command::list("network ip-group list", LIST, ADDRESS_GROUPS, "2024-05-01"),
    Command::list("network private-endpoint list", LIST, ENDPOINTS, "2026-01-01"),
    Command::list("network vnet-gateway list", IN_GROUP, VIRTUAL_GATEWAYS, "2025-01-01"),
    Command::show("network vnet-gateway show", SHOW, VIRTUAL_GATEWAY, "2025-01-01"),
    Command::list("network vpn-connection list", IN_GROUP, CONNECTIONS, "2025-01-01"),
    Command::show("network vpn-connection show", SHOW, CONNECTION, "2025-01-01"),
    Command::list("network local-gateway list", IN_GROUP, SITES, "2021-08-01"),
    Command::show("network local-gateway show", SHOW, SITE, "2021-08-01"),
    Command::list("network express-route list", LIST, CIRCUITS, "2022-01-01"),
    Command::show("network express-route show", SHOW, CIRCUIT, "2022-01-01"),
    Command::list("network nat gateway list", LIST, GATEWAYS, "2025-07-01"),
    Command::list("network private-dns zone list", LIST, ZONES, "2018-09-01"),
    Command::list(
        "network private-dns link vnet list",
        "--resource-group,-g! --zone-name,-z! --max-items#",
        "Microsoft.Network/privateDnsZones/{--zone-name}/virtualNetworkLinks",
        "2024-06-01",
    ),
    Command::list(
        "network private-dns record-set a list",
        "--resource-group,-g! --zone-name,-z! --max-items#",
        "Microsoft.Network/privateDnsZones/{--zone-name}/A",
        "2018-09-01",
    ),
];

/// Returns the path that a command asks for.
pub(in crate::az) fn path(session: &Session<'_>, line: &Line) -> Result<String, Failure> {
    let path = filled(session.command.path, line)?;
    match line.one("--resource-group") {
        Some(group) => session.inside(group, &path),
        None => session.place(&format!("/providers/{path}")),
    }
}

pub(in crate::az) fn list(session: &mut Session<'_>, line: &Line) -> CommandResult {
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

pub(in crate::az) fn show(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let path = path(session, line)?;
    session.get(&path, session.command.version).map(|found| Some(flattened(found)))
}

/// Removes.
pub(in crate::az) fn delete(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let path = path(session, line)?;
    session.call(Verb::Delete, &path, session.command.version, None).map(|_| None)
}

/// Sends a body to where the command points, and prints its result.
pub(in crate::az) fn put(session: &mut Session<'_>, line: &Line, body: &Value) -> CommandResult {
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

fn created(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let mut body = begun(session, line)?;
    if let Some(off) = line.wants("--disable-bgp-route-propagation") {
        body.insert("properties".to_owned(), json!({"disableBgpRoutePropagation": off}));
    }
    put(session, line, &Value::Object(body))
}

fn wrapped(session: &mut Session<'_>, line: &Line) -> CommandResult {
    Ok(created(session, line)?.map(|group| json!({"NewNSG": group})))
}
