//! The next hop of a packet.

use std::net::IpAddr;

use serde_json::{Value, json};

use super::flow::holds;
use crate::azure::cloud::Cloud;
use crate::azure::effective::{Nic, platform_tag, routes};

/// A route that a packet takes.
#[derive(Debug, Clone)]
pub(super) struct Hop {
    /// The kind of the next hop.
    pub(super) kind: String,
    /// Its address, where it has one.
    pub(super) address: Option<String>,
    /// Somebody's own route, rather than the platform's.
    pub(super) user: bool,
}

/// Chooses the route to an address: the longest prefix, then an endpoint's, a user's, a gateway's, the platform's.
///
/// To the platform's own addresses its routes hold even where a table has put others in their place.
pub(super) fn choose(cloud: &Cloud, nic: &Nic<'_>, to: IpAddr) -> Option<Hop> {
    let rows = routes(cloud, nic);
    let own = platform_tag(to).is_some();
    let holding = if own { ("source", "Default") } else { ("state", "Active") };
    let fitting = rows.iter().filter(|row| word(row, holding.0) == holding.1).filter_map(|row| {
        let prefixes = row.get("addressPrefix").and_then(Value::as_array)?;
        let longest = prefixes.iter().filter_map(|prefix| holds(prefix.as_str()?, to)).max()?;
        let rank = match (word(row, "source"), word(row, "nextHopType")) {
            (_, "VirtualNetworkServiceEndpoint") => 3,
            ("User", _) => 2,
            ("VirtualNetworkGateway", _) => 1,
            _ => 0,
        };
        Some(((longest, rank), row))
    });
    let (_, row) = fitting.max_by_key(|(rank, _)| *rank)?;
    let address = row.pointer("/nextHopIpAddress/0").and_then(Value::as_str).map(str::to_owned);
    Some(Hop { kind: word(row, "nextHopType").to_owned(), address, user: word(row, "source") == "User" })
}

/// Tells the next hop in the platform's form.
pub(super) fn document(nic: &Nic<'_>, hop: &Hop) -> Value {
    let table = nic.subnet.and_then(|subnet| subnet.pointer("/properties/routeTable/id")?.as_str());
    let table = table.filter(|_| hop.user).unwrap_or("System Route");
    let mut document = json!({"nextHopType": hop.kind, "routeTableId": table});
    if let (Some(address), Some(map)) = (&hop.address, document.as_object_mut()) {
        map.insert("nextHopIpAddress".to_owned(), json!(address));
    }
    document
}

fn word<'a>(row: &'a Value, field: &str) -> &'a str {
    row.get(field).and_then(Value::as_str).unwrap_or_default()
}
