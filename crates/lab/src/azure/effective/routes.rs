//! The routes of an interface: the platform's own, those of peerings and endpoints, those of the subnet's table.

use std::net::IpAddr;

use serde_json::{Value, json};

use super::nic::Nic;
use super::nic::{neighbors, space};
use super::tag::service;
use crate::azure::cloud::Cloud;
use crate::azure::gateway;
use crate::azure::target::Target;

/// What the platform drops unless the network holds it.
const RESERVED: [&str; 5] = ["10.0.0.0/8", "127.0.0.0/8", "100.64.0.0/10", "172.16.0.0/12", "192.168.0.0/16"];

/// A row of the table, before it is written.
#[derive(Debug, Clone)]
struct Row {
    /// Its name; rows of the platform have none.
    name: Option<String>,
    source: &'static str,
    active: bool,
    prefixes: Vec<String>,
    hop: String,
    address: Option<String>,
    /// Its prefixes come from a service tag: what is written out goes before it.
    tagged: bool,
}

/// Returns the effective routes of an interface.
pub(in crate::azure) fn routes(cloud: &Cloud, nic: &Nic<'_>) -> Vec<Value> {
    let table = nic.subnet.and_then(|subnet| subnet.pointer("/properties/routeTable/id")?.as_str());
    let table = table.and_then(Target::parse).and_then(|table| cloud.estate.get(&table));
    let no_bgp = table
        .and_then(|table| table.pointer("/properties/disableBgpRoutePropagation")?.as_bool())
        .unwrap_or(false);
    let mut rows = own(cloud, nic, no_bgp);
    let users = table.and_then(|table| table.pointer("/properties/routes")?.as_array());
    let users: Vec<Row> = users.into_iter().flatten().filter_map(|route| user(cloud, route)).collect();
    // The platform shows what a user's route takes the place of, and that it no longer counts.
    rows = rows.into_iter().flat_map(|row| shadowed(row, &users)).collect();
    let written: Vec<Row> = users.iter().filter(|row| !row.tagged).cloned().collect();
    let endpoints: Vec<Row> = rows.iter().filter(|row| is_endpoint(row)).cloned().collect();
    for row in users {
        let above = if row.tagged { [&written[..], &endpoints[..]].concat() } else { endpoints.clone() };
        rows.extend(split(row, |prefix| above.iter().any(|other| names(other, prefix))));
    }
    rows.iter().map(|row| document(row, no_bgp)).collect()
}

/// Returns the rows that nobody wrote; those of a gateway only where the table takes them in.
fn own(cloud: &Cloud, nic: &Nic<'_>, no_bgp: bool) -> Vec<Row> {
    let row = |prefixes: Vec<String>, hop: &str| Row {
        name: None,
        source: "Default",
        active: true,
        prefixes,
        hop: hop.to_owned(),
        address: None,
        tagged: false,
    };
    let mut rows = Vec::new();
    if let Some(network) = nic.network {
        rows.extend(space(network).into_iter().map(|prefix| row(vec![prefix], "VnetLocal")));
        for neighbor in neighbors(cloud, network) {
            let hop = if neighbor.far { "VNetGlobalPeering" } else { "VNetPeering" };
            rows.extend(neighbor.space().into_iter().map(|prefix| row(vec![prefix], hop)));
        }
    }
    // What leads to the network itself goes before whatever a gateway brings.
    for prefix in nic.network.filter(|_| !no_bgp).map(|own| gateway::prefixes(cloud, own)).unwrap_or_default()
    {
        if !rows.iter().any(|own| names(own, &prefix)) {
            let own = row(vec![prefix], "VirtualNetworkGateway");
            rows.push(Row { source: "VirtualNetworkGateway", ..own });
        }
    }
    let taken: Vec<String> = rows.iter().flat_map(|row| row.prefixes.clone()).collect();
    let free = |prefix: &str| !taken.iter().any(|taken| same(taken, prefix));
    if free("0.0.0.0/0") {
        rows.push(row(vec!["0.0.0.0/0".to_owned()], "Internet"));
    }
    let reserved = RESERVED.iter().filter(|prefix| free(prefix));
    rows.extend(reserved.map(|prefix| row(vec![(*prefix).to_owned()], "None")));
    let endpoints = nic.subnet.and_then(|subnet| subnet.pointer("/properties/serviceEndpoints")?.as_array());
    for endpoint in endpoints.into_iter().flatten() {
        let word = |field: &str| endpoint.get(field).and_then(Value::as_str).unwrap_or_default();
        let ready = matches!(word("provisioningState"), "" | "Succeeded");
        if let Some(prefixes) = service(cloud, word("service")).filter(|_| ready) {
            rows.push(row(prefixes, "VirtualNetworkServiceEndpoint"));
        }
    }
    rows
}

/// Reads a route of a table.
fn user(cloud: &Cloud, route: &Value) -> Option<Row> {
    let word = |field: &str| {
        let found = route.pointer(&format!("/properties/{field}")).and_then(Value::as_str);
        found.filter(|text| !text.is_empty())
    };
    let prefix = word("addressPrefix")?;
    let tag = super::tag::tag(cloud, prefix);
    Some(Row {
        name: route.get("name").and_then(Value::as_str).map(str::to_owned),
        source: "User",
        active: true,
        tagged: tag.is_some(),
        prefixes: tag.unwrap_or_else(|| vec![prefix.to_owned()]),
        hop: word("nextHopType").unwrap_or_default().to_owned(),
        address: word("nextHopIpAddress").map(str::to_owned),
    })
}

/// Takes out of a row of the platform what a user's route stands for. An endpoint's row cannot be overridden.
fn shadowed(row: Row, users: &[Row]) -> Vec<Row> {
    if is_endpoint(&row) {
        return vec![row];
    }
    split(row, |prefix| users.iter().any(|user| names(user, prefix)))
}

/// Parts a row into what counts and what does not.
fn split(row: Row, gone: impl Fn(&str) -> bool) -> Vec<Row> {
    let (gone, kept): (Vec<String>, Vec<String>) =
        row.prefixes.iter().cloned().partition(|prefix| gone(prefix));
    let part = |prefixes: Vec<String>, active: bool| Row { prefixes, active, ..row.clone() };
    [part(kept, true), part(gone, false)].into_iter().filter(|row| !row.prefixes.is_empty()).collect()
}

fn is_endpoint(row: &Row) -> bool {
    row.hop == "VirtualNetworkServiceEndpoint"
}

fn names(row: &Row, prefix: &str) -> bool {
    row.prefixes.iter().any(|own| same(own, prefix))
}

/// Tells whether two texts write the same prefix.
fn same(one: &str, other: &str) -> bool {
    one == other || read(one).is_some_and(|found| Some(found) == read(other))
}

fn read(prefix: &str) -> Option<ipnet::IpNet> {
    let net: Option<ipnet::IpNet> = prefix.parse().ok();
    net.or_else(|| prefix.parse::<IpAddr>().ok().map(ipnet::IpNet::from)).map(|net| net.trunc())
}

fn document(row: &Row, no_bgp: bool) -> Value {
    let addresses: Vec<&String> = row.address.iter().collect();
    let mut document = json!({"source": row.source,
        "state": if row.active { "Active" } else { "Invalid" }, "addressPrefix": row.prefixes, "nextHopType": row.hop,
        "nextHopIpAddress": addresses, "disableBgpRoutePropagation": no_bgp, "hasBgpOverride": false});
    if let (Some(name), Some(map)) = (&row.name, document.as_object_mut()) {
        map.insert("name".to_owned(), json!(name));
    }
    document
}
