//! Effective routes and rules of an interface, made from what is configured, where nobody could read the effective ones.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use ipnet::IpNet;
use serde_json::{Map, Value, json};

use super::topology::{Network, Peering, Subnet, has, inner, rows};
use crate::net::{AddressSet, Family, Fields, Inventory, Platform, Tags, document, parse_prefix, placed};
use crate::nsg::{Knowledge, Ruleset};
use crate::route::{Hop, Route, Row, Source, State, Table};

/// A route of a route table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UserRoute {
    pub(super) name: String,
    pub(super) prefix: IpNet,
    hop_type: String,
    hop: Option<String>,
}

/// Route tables by name.
pub(super) type Tables = BTreeMap<String, Vec<UserRoute>>;

/// Security groups by name, as they were printed.
pub(super) type Groups = BTreeMap<String, Value>;

/// What the platform throws away unless something more specific holds it.
const RESERVED: [&str; 4] = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"];

/// Reads what `az network route-table list` prints. A table of which a route cannot be read is left out, and reported.
pub(super) fn tables(text: &str) -> Result<(Tables, Vec<String>), String> {
    let is_row = |map: &Map<String, Value>| has(map, "routes");
    let read = rows(text, "route tables", is_row, |row, _| {
        let name = row.text("name")?.to_owned();
        let routes = inner(row).field("routes").and_then(Value::as_array)?;
        let routes = routes.iter().map(|route| {
            let body = inner(route);
            Some(UserRoute {
                name: route.text("name")?.to_owned(),
                prefix: parse_prefix(body.text("addressPrefix")?)?,
                hop_type: body.text("nextHopType")?.to_owned(),
                hop: body.text("nextHopIpAddress").map(str::to_owned),
            })
        });
        Some((name, routes.collect::<Option<Vec<_>>>()?))
    });
    let (found, odd) = read.map_err(|error| error.to_string())?;
    Ok((found.into_iter().collect(), odd))
}

/// Returns the names of the tables that keep out what gateways learned.
pub(super) fn unpropagated(text: &str) -> Result<Vec<String>, String> {
    let is_row = |map: &Map<String, Value>| has(map, "routes");
    let read = rows(text, "route tables", is_row, |row, _| {
        let is_off = inner(row).field("disableBgpRoutePropagation").and_then(Value::as_bool);
        Some(is_off.unwrap_or(false).then(|| row.text("name").unwrap_or_default().to_owned()))
    });
    let (found, _) = read.map_err(|error| error.to_string())?;
    Ok(found.into_iter().flatten().collect())
}

/// Reads what `az network nsg list` prints.
pub(super) fn groups(text: &str) -> Result<Groups, String> {
    let document = document(text).map_err(|error| error.to_string())?;
    let is_row = |map: &Map<String, Value>| has(map, "securityRules") || has(map, "defaultSecurityRules");
    let found =
        placed(&document, &["value"], is_row, "security groups").map_err(|error| error.to_string())?;
    let named = found.iter().filter_map(|row| Some((row.value.text("name")?.to_owned(), row.value.clone())));
    Ok(named.collect())
}

fn route(prefix: IpNet, source: Source, hop_type: &str, hop: Option<&str>, name: Option<&str>) -> Route {
    let row = Row {
        number: 0,
        source,
        hop: Hop::parse(hop_type),
        hop_type: hop_type.to_owned(),
        hop_ips: hop.map(str::to_owned).into_iter().collect(),
        name: name.map(str::to_owned),
        state: State::Active,
    };
    Route { prefix, tag: None, row: Arc::new(row) }
}

/// Makes the routes of an interface from its network and its subnet's table.
///
/// # Errors
/// Says why they are not certain: a gateway brings routes that nobody configured, or a table was not read.
pub(super) fn routes(
    networks: &[Network],
    network: &str,
    subnet: &str,
    tables: Option<&Tables>,
) -> Result<Table, String> {
    let find = |name: &str| networks.iter().find(|own| own.name.eq_ignore_ascii_case(name));
    let own = find(network).ok_or_else(|| format!("the network {network} was not read"))?;
    let subnet = own.subnets.iter().find(|one| one.name.eq_ignore_ascii_case(subnet));
    let subnet = subnet.ok_or("its subnet was not read")?;
    let lends = |peering: &Peering| {
        let back = find(&peering.remote).and_then(|other| other.peering_with(&own.name));
        back.is_none_or(|back| back.transit != Some(false))
    };
    let borrowed =
        own.peerings.iter().any(|peering| peering.is_connected() && peering.remote_gateway && lends(peering));
    if own.has_gateway() || borrowed {
        return Err("a gateway may bring routes that nobody configured".to_owned());
    }
    own_routes(networks, own, subnet, tables)
}

/// Makes the routes of the subnet of a firewall or gateway, whether or not a gateway brings others: what leads to the network or a peered one goes
/// before these.
///
/// # Errors
/// Says why they are not certain.
pub(super) fn firewall_routes(
    networks: &[Network],
    (network, subnet): (&str, &str),
    tables: Option<&Tables>,
) -> Result<Table, String> {
    let own = networks.iter().find(|own| own.name.eq_ignore_ascii_case(network));
    let own = own.ok_or_else(|| format!("the network {network} was not read"))?;
    let subnet = own.subnets.iter().find(|one| one.name.eq_ignore_ascii_case(subnet));
    own_routes(networks, own, subnet.ok_or("its subnet was not read")?, tables)
}

fn own_routes(
    networks: &[Network],
    own: &Network,
    subnet: &Subnet,
    tables: Option<&Tables>,
) -> Result<Table, String> {
    let find = |name: &str| networks.iter().find(|own| own.name.eq_ignore_ascii_case(name));
    let mut routes: Vec<Route> = Vec::new();
    let system = |prefix: IpNet, hop: &str| route(prefix, Source::System, hop, None, None);
    routes.extend(own.prefixes.iter().map(|prefix| system(*prefix, "VnetLocal")));
    for peering in own.peerings.iter().filter(|peering| peering.is_connected()) {
        // Where nobody read the other network, its side of the peering says which addresses it has.
        let known = match find(&peering.remote) {
            Some(remote) => peering.known(&remote.prefixes),
            None if !peering.synced.is_empty() => peering.synced.clone(),
            None => return Err(format!("the network {} was not read", peering.remote)),
        };
        routes.extend(known.into_iter().map(|prefix| system(prefix, "VNetPeering")));
    }
    if let Some(name) = &subnet.table {
        let tables = tables.ok_or("the route tables were not read")?;
        let table = tables.iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, table)| table);
        let table = table.ok_or_else(|| format!("the route table {name} was not read"))?;
        routes.extend(
            table.iter().map(|own| {
                route(own.prefix, Source::User, &own.hop_type, own.hop.as_deref(), Some(&own.name))
            }),
        );
    }
    for (text, hop) in
        RESERVED.iter().map(|text| (*text, "None")).chain([("0.0.0.0/0", "Internet"), ("::/0", "Internet")])
    {
        let Some(prefix) = parse_prefix(text) else { continue };
        if !routes.iter().any(|route| route.prefix == prefix) {
            routes.push(system(prefix, hop));
        }
    }
    Ok(Table::new(routes))
}

/// Makes the rules of an interface from the groups at its subnet and at itself.
///
/// # Errors
/// Says why they are not known.
pub(super) fn rules(
    networks: &[Network],
    (network, subnet): (&str, &str),
    own_group: Option<&str>,
    groups: Option<&Groups>,
    table: Option<&Table>,
    (tags, inventory, sites): (Option<&str>, Option<&Inventory>, &[IpNet]),
) -> Result<Ruleset, String> {
    let own = networks.iter().find(|own| own.name.eq_ignore_ascii_case(network));
    let own = own.ok_or_else(|| format!("the network {network} was not read"))?;
    let subnet = own.subnets.iter().find(|one| one.name.eq_ignore_ascii_case(subnet));
    let subnet = subnet.ok_or("its subnet was not read")?;
    let mut entries = Vec::new();
    for (gate, name) in [("subnet", subnet.group.as_deref()), ("networkInterface", own_group)] {
        let Some(name) = name else { continue };
        let groups = groups.ok_or("the security groups were not read")?;
        let group = groups.iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, group)| group);
        let group = group.ok_or_else(|| format!("the security group {name} was not read"))?;
        entries.push(json!({
            "networkSecurityGroup": {"id": format!("/networkSecurityGroups/{name}")},
            "association": {gate: {"id": gate}},
            "effectiveSecurityRules": listed(group),
        }));
    }
    let tags = spaces(networks, own, table, (tags, sites))?;
    let knowledge = Knowledge { tags: Some(&tags), inventory };
    Ruleset::parse(&Value::Array(entries).to_string(), knowledge).map_err(|error| error.to_string())
}

/// Returns the rules of a group with those that the platform puts into every one.
pub(super) fn listed(group: &Value) -> Vec<Value> {
    let body = inner(group);
    let flat = |list: &str, prefix: &str| -> Vec<Value> {
        let rules = body.field(list).and_then(Value::as_array).into_iter().flatten();
        let flat = rules.map(|rule| {
            let mut map = inner(rule).as_object().cloned().unwrap_or_default();
            let name = rule.text("name").unwrap_or("unnamed");
            map.insert("name".to_owned(), format!("{prefix}/{name}").into());
            Value::Object(map)
        });
        flat.collect()
    };
    let mut rules = flat("securityRules", "securityRules");
    let mut defaults = flat("defaultSecurityRules", "defaultSecurityRules");
    if defaults.is_empty() {
        let (network, any) = ("VirtualNetwork", "*");
        defaults = [
            ("AllowVnetInBound", 65_000, "Inbound", "Allow", network, network),
            ("AllowAzureLoadBalancerInBound", 65_001, "Inbound", "Allow", "AzureLoadBalancer", any),
            ("DenyAllInBound", 65_500, "Inbound", "Deny", any, any),
            ("AllowVnetOutBound", 65_000, "Outbound", "Allow", network, network),
            ("AllowInternetOutBound", 65_001, "Outbound", "Allow", any, "Internet"),
            ("DenyAllOutBound", 65_500, "Outbound", "Deny", any, any),
        ]
        .map(|(name, priority, direction, access, source, destination)| {
            json!({
                "name": format!("defaultSecurityRules/{name}"), "priority": priority, "direction": direction,
                "access": access, "protocol": "*", "sourcePortRange": "*", "destinationPortRange": "*",
                "sourceAddressPrefix": source, "destinationAddressPrefix": destination,
            })
        })
        .to_vec();
    }
    rules.append(&mut defaults);
    rules
}

/// Says what the names stand for that mean something else in every network.
fn spaces(
    networks: &[Network],
    own: &Network,
    table: Option<&Table>,
    (tags, sites): (Option<&str>, &[IpNet]),
) -> Result<Tags, String> {
    let mut space: Vec<IpNet> = own.prefixes.clone();
    // What lies behind a gateway belongs to the network, too.
    if own.has_gateway()
        || own.peerings.iter().any(|peering| peering.is_connected() && peering.remote_gateway)
    {
        space.extend(sites);
    }
    let open = |peering: &&Peering| peering.is_connected() && peering.access != Some(false);
    for peering in own.peerings.iter().filter(open) {
        let remote = networks.iter().find(|other| other.name.eq_ignore_ascii_case(&peering.remote));
        space.extend(remote.map_or_else(|| peering.synced.clone(), |remote| peering.known(&remote.prefixes)));
    }
    space.extend(Platform::ALL.map(|platform| IpNet::from(platform.address())));
    // What a user's route leads to an appliance or a gateway belongs to the network, too; so does what a gateway, a virtual hub or a
    // connected group brings.
    let routes = table.into_iter().flat_map(Table::routes);
    let led = routes.filter(|route| match route.row.hop {
        Hop::Appliance => route.row.source == Source::User,
        Hop::Gateway => route.row.source == Source::User || route.prefix.prefix_len() > 0,
        Hop::Peering => route.row.hop_type.eq_ignore_ascii_case("ConnectedGroup"),
        Hop::None | Hop::Local | Hop::ServiceEndpoint | Hop::Other => false,
    });
    space.extend(led.map(|route| route.prefix));
    // Nor does the Internet reach what is reserved for private networks, whoever has it.
    let private =
        RESERVED.iter().chain(&["169.254.0.0/16", "fc00::/7"]).filter_map(|text| parse_prefix(text));
    let kept: Vec<IpNet> = space.iter().copied().chain(private).collect();
    let inside = AddressSet::of(&kept);
    let outside: Vec<IpNet> = Family::ALL
        .into_iter()
        .flat_map(|family| family.prefixes(&family.all().difference(inside.family(family))))
        .collect();
    let text = |prefixes: &[IpNet]| prefixes.iter().map(ToString::to_string).collect::<Vec<_>>();
    let server: IpAddr = Platform::Server.address();
    let mut values =
        vec![tag("VirtualNetwork", &text(&space)), tag("AzureLoadBalancer", &[server.to_string()])];
    // A tag has to stand for something: where the network is everything, for an address that nobody has.
    let nobody = ["255.255.255.255/32".to_owned()];
    let outside = text(&outside);
    values.push(tag("Internet", if outside.is_empty() { &nobody } else { &outside }));
    if let Some(text) = tags {
        let document = document(text).map_err(|error| error.to_string())?;
        let listed = document.field("values").or_else(|| document.field("value")).and_then(Value::as_array);
        let names = ["VirtualNetwork", "AzureLoadBalancer", "Internet"];
        let own = |row: &&Value| row.text("name").is_some_and(|name| names.contains(&name));
        values.extend(listed.into_iter().flatten().filter(|row| !own(row)).cloned());
    }
    Tags::parse(&json!({"values": values}).to_string()).map_err(|error| error.to_string())
}

fn tag(name: &str, prefixes: &[String]) -> Value {
    json!({"name": name, "properties": {"addressPrefixes": prefixes}})
}
