//! Gateways to other sites: which connections are up, what they learned, who is at the other end.
//!
//! What a site is like stands below its local network gateway or circuit, in a document `site/far`: `sharedKey`, `ipsecPolicies` and
//! `gatewayIpAddress` as the other side has them, `answers`, `bgp`, `announces`, `hosts`, and `examined`, once somebody let the
//! platform look for the trouble. Without one nobody is there, and a connection that says nothing else is up.

use ipnet::IpNet;
use serde_json::{Value, json};

use super::cloud::Cloud;
use super::effective::{self, routes};
use crate::host::{Nic, Site, SiteHost};

/// Why a connection is not up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Down {
    Key,
    Proposals,
    Unreachable,
    Circuit,
    /// Its document says so.
    Written,
}

/// Returns the connection as whoever reads it sees it: without its key, and alone with its state.
pub(super) fn shown(cloud: &Cloud, mut found: Value, is_alone: bool) -> Value {
    if text(&found, "/type") != "Microsoft.Network/connections" {
        return found;
    }
    let down = down(cloud, &found);
    if let Some(properties) = found.get_mut("properties").and_then(Value::as_object_mut) {
        properties.remove("sharedKey");
        if is_alone {
            let (status, bytes) = match down {
                Some(_) => ("NotConnected", 0),
                None => ("Connected", 1_482_204),
            };
            properties.entry("connectionStatus").or_insert_with(|| json!(status));
            properties.insert("ingressBytesTransferred".to_owned(), json!(bytes));
            properties.insert("egressBytesTransferred".to_owned(), json!(bytes));
        } else {
            properties.remove("connectionStatus");
        }
    }
    found
}

/// Answers a gateway that is asked with whom it speaks, or what it learned or announces.
pub(super) fn asked(cloud: &Cloud, gateway: &Value, action: &str) -> Option<Value> {
    let own = || connections(cloud).filter(|own| leads_from(own, gateway) && is_bgp(own));
    let rows: Vec<Value> = match action {
        "getbgppeerstatus" => own().filter_map(|own| peer(cloud, own)).collect(),
        "getlearnedroutes" => {
            own_routes(cloud, gateway).chain(own().flat_map(|own| learned(cloud, own))).collect()
        }
        "getadvertisedroutes" => own_routes(cloud, gateway).collect(),
        _ => return None,
    };
    Some(json!({"value": rows}))
}

/// Returns what the platform found when somebody let it look; nothing where nobody did.
pub(super) fn trouble(cloud: &Cloud, id: &str) -> Option<Value> {
    let connection = cloud.estate.by_id(id)?;
    let far = far(cloud, connection)?;
    far.pointer("/properties/examined").and_then(Value::as_bool).filter(|is| *is)?;
    let down = down(cloud, connection);
    let (id, summary) = match down {
        Some(Down::Key) => ("Authentication", "The shared keys of both sides do not match."),
        Some(Down::Proposals) => ("IkePolicyMismatch", "The IPsec policies of both sides do not match."),
        Some(Down::Unreachable) => ("PeerReachability", "The peer does not answer."),
        Some(Down::Circuit | Down::Written) => ("ConnectionsNotConnected", "The connection is not up."),
        None => ("NoFault", "No fault was found."),
    };
    let code = if down.is_some() { "UnHealthy" } else { "Healthy" };
    Some(json!({"code": code, "startTime": "2025-05-20T08:00:00Z", "endTime": "2025-05-20T08:02:00Z",
        "results": [{"id": id, "reasonType": id, "summary": summary, "detail": summary, "recommendedActions": []}]}))
}

/// Returns the network whose gateway another one uses: itself, or a peered one that lends it.
pub(super) fn used_by<'a>(cloud: &'a Cloud, network: &'a Value) -> Option<&'a Value> {
    if !gateways(cloud, network).is_empty() {
        return Some(network);
    }
    let flag = |peering: &Value, name: &str| {
        peering.pointer(&format!("/properties/{name}")).and_then(Value::as_bool).unwrap_or(false)
    };
    let connected =
        |peering: &&Value| text(peering, "/properties/peeringState").eq_ignore_ascii_case("connected");
    let mut used = list(network, "/properties/virtualNetworkPeerings")
        .filter(connected)
        .filter(|peering| flag(peering, "useRemoteGateways"));
    used.find_map(|peering| {
        let hub = cloud.estate.by_id(text(peering, "/properties/remoteVirtualNetwork/id"))?;
        let back = list(hub, "/properties/virtualNetworkPeerings").filter(connected).find(|back| {
            text(back, "/properties/remoteVirtualNetwork/id").eq_ignore_ascii_case(text(network, "/id"))
        })?;
        (flag(back, "allowGatewayTransit") && !gateways(cloud, hub).is_empty()).then_some(hub)
    })
}

/// Returns the prefixes to which the gateway of a network leads.
pub(super) fn prefixes(cloud: &Cloud, network: &Value) -> Vec<String> {
    let Some(hub) = used_by(cloud, network) else { return Vec::new() };
    let mut found: Vec<String> = Vec::new();
    for gateway in gateways(cloud, hub) {
        for connection in connections(cloud).filter(|own| leads_from(own, gateway)) {
            found.extend(own_prefixes(cloud, connection));
        }
    }
    found.sort();
    found.dedup();
    found
}

/// Returns the other ends of all connections.
pub(super) fn sites(cloud: &Cloud) -> Vec<Site> {
    let site = |connection: &Value| {
        let far = far(cloud, connection);
        let gateway = cloud.estate.by_id(text(connection, "/properties/virtualNetworkGateway1/id"))?;
        let subnet = text(gateway, "/properties/ipConfigurations/0/properties/subnet/id");
        // What comes from there goes by the routes of the gateway's subnet.
        let document =
            json!({"properties": {"ipConfigurations": [{"properties": {"subnet": {"id": subnet}}}]}});
        let seen = effective::Nic::of(&cloud.estate, &document);
        let network = text(seen.network?, "/id").to_ascii_lowercase();
        let host = |own: &Value| {
            let ports = own.get("ports").and_then(Value::as_array).into_iter().flatten();
            Some(SiteHost {
                address: text(own, "/address").parse().ok()?,
                ports: ports.filter_map(|port| u16::try_from(port.as_u64()?).ok()).collect(),
            })
        };
        Some(Site {
            gateway: Nic {
                name: text(gateway, "/name").to_owned(),
                routes: json!({"value": routes(cloud, &seen)}),
                forwards: true,
                ..Nic::default()
            },
            network,
            prefixes: own_prefixes(cloud, connection).iter().filter_map(|text| text.parse().ok()).collect(),
            is_up: down(cloud, connection).is_none(),
            hosts: far.into_iter().flat_map(|far| list(far, "/properties/hosts").filter_map(host)).collect(),
        })
    };
    connections(cloud).filter_map(site).collect()
}

fn connections(cloud: &Cloud) -> impl Iterator<Item = &Value> {
    cloud.estate.of("Microsoft.Network/connections")
}

fn gateways<'a>(cloud: &'a Cloud, network: &Value) -> Vec<&'a Value> {
    let own = format!("{}/subnets/", text(network, "/id").to_ascii_lowercase());
    let stands = |gateway: &&Value| {
        let mut all = list(gateway, "/properties/ipConfigurations");
        all.any(|one| text(one, "/properties/subnet/id").to_ascii_lowercase().starts_with(&own))
    };
    cloud.estate.of("Microsoft.Network/virtualNetworkGateways").filter(stands).collect()
}

fn leads_from(connection: &Value, gateway: &Value) -> bool {
    text(connection, "/properties/virtualNetworkGateway1/id").eq_ignore_ascii_case(text(gateway, "/id"))
}

fn is_bgp(connection: &Value) -> bool {
    let is_on = connection.pointer("/properties/enableBgp").and_then(Value::as_bool).unwrap_or(false);
    is_on || connection.pointer("/properties/peer/id").is_some()
}

/// Returns what a connection leads to: a local network gateway or a circuit.
fn end<'a>(cloud: &'a Cloud, connection: &Value) -> Option<&'a Value> {
    let mut ends = ["localNetworkGateway2", "peer"].into_iter();
    ends.find_map(|end| cloud.estate.by_id(text(connection, &format!("/properties/{end}/id"))))
}

/// Returns the document about the other side.
fn far<'a>(cloud: &'a Cloud, connection: &Value) -> Option<&'a Value> {
    cloud.estate.by_id(&format!("{}/site/far", text(end(cloud, connection)?, "/id")))
}

fn down(cloud: &Cloud, connection: &Value) -> Option<Down> {
    let written = text(connection, "/properties/connectionStatus");
    if !written.is_empty() {
        return (!written.eq_ignore_ascii_case("connected")).then_some(Down::Written);
    }
    let end = end(cloud, connection)?;
    let provider = text(end, "/properties/serviceProviderProvisioningState");
    let circuit = text(end, "/properties/circuitProvisioningState");
    let is_good = |own: &str, good: &str| own.is_empty() || own.eq_ignore_ascii_case(good);
    if !is_good(provider, "provisioned") || !is_good(circuit, "enabled") {
        return Some(Down::Circuit);
    }
    let far = far(cloud, connection)?.get("properties")?;
    let differs = |name: &str, own: Option<&Value>| far.get(name).is_some_and(|far| Some(far) != own);
    let of = |pointer: &str| connection.pointer(pointer);
    if far.get("answers") == Some(&json!(false))
        || differs("gatewayIpAddress", end.pointer("/properties/gatewayIpAddress"))
    {
        Some(Down::Unreachable)
    } else if differs("sharedKey", of("/properties/sharedKey")) {
        Some(Down::Key)
    } else if differs("ipsecPolicies", of("/properties/ipsecPolicies")) {
        Some(Down::Proposals)
    } else {
        None
    }
}

/// Tells whether both sides speak BGP.
fn speaks(cloud: &Cloud, connection: &Value) -> bool {
    let Some(end) = end(cloud, connection) else { return false };
    let mut peerings = list(end, "/properties/peerings");
    let is_off = peerings.any(|own| text(own, "/properties/state").eq_ignore_ascii_case("disabled"));
    let is_silent =
        far(cloud, connection).is_some_and(|far| far.pointer("/properties/bgp") == Some(&json!(false)));
    is_bgp(connection) && down(cloud, connection).is_none() && !is_off && !is_silent
}

fn announced(cloud: &Cloud, connection: &Value) -> Vec<String> {
    if !speaks(cloud, connection) {
        return Vec::new();
    }
    let all = far(cloud, connection).into_iter().flat_map(|far| list(far, "/properties/announces"));
    all.filter_map(|prefix| prefix.as_str().map(str::to_owned)).collect()
}

/// Returns the prefixes to which a connection leads: those that are written down, and those that it learned.
fn own_prefixes(cloud: &Cloud, connection: &Value) -> Vec<String> {
    let end = end(cloud, connection);
    let written =
        end.into_iter().flat_map(|end| list(end, "/properties/localNetworkAddressSpace/addressPrefixes"));
    let mut found: Vec<String> = written.filter_map(|prefix| prefix.as_str().map(str::to_owned)).collect();
    found.extend(announced(cloud, connection));
    found.retain(|text| text.parse::<IpNet>().is_ok());
    found
}

/// Returns the address and the number with which the other side speaks BGP.
fn neighbor(cloud: &Cloud, connection: &Value) -> Option<(String, u64)> {
    let end = end(cloud, connection)?;
    let own = text(end, "/properties/bgpSettings/bgpPeeringAddress");
    let asn = end.pointer("/properties/bgpSettings/asn").and_then(Value::as_u64);
    match own.is_empty() {
        false => Some((own.to_owned(), asn.unwrap_or(65_050))),
        // A circuit ends at routers of the platform's.
        true if connection.pointer("/properties/peer").is_some() => Some(("10.0.255.12".to_owned(), 12_076)),
        true => None,
    }
}

fn peer(cloud: &Cloud, connection: &Value) -> Option<Value> {
    let (neighbor, asn) = neighbor(cloud, connection)?;
    let speaks = speaks(cloud, connection);
    let routes = announced(cloud, connection).len();
    Some(json!({"neighbor": neighbor, "asn": asn, "localAddress": "10.0.255.30",
        "state": if speaks { "Connected" } else { "Connecting" },
        "connectedDuration": if speaks { "1.02:10:00" } else { "00:00:00" }, "routesReceived": routes,
        "messagesSent": if speaks { 1_812 } else { 40 }, "messagesReceived": if speaks { 1_790 } else { 0 }}))
}

fn learned(cloud: &Cloud, connection: &Value) -> Vec<Value> {
    let Some((neighbor, asn)) = neighbor(cloud, connection) else { return Vec::new() };
    let row = |prefix: String| {
        json!({"network": prefix, "nextHop": neighbor, "sourcePeer": neighbor, "origin": "EBgp",
            "asPath": asn.to_string(), "weight": 32_768, "localAddress": "10.0.255.30"})
    };
    announced(cloud, connection).into_iter().map(row).collect()
}

/// Returns what a gateway has of its own network.
fn own_routes(cloud: &Cloud, gateway: &Value) -> impl Iterator<Item = Value> {
    let subnet = text(gateway, "/properties/ipConfigurations/0/properties/subnet/id").to_ascii_lowercase();
    let network = subnet.split("/subnets/").next().and_then(|id| cloud.estate.by_id(id));
    let prefixes = network.map(effective::space).unwrap_or_default();
    prefixes.into_iter().map(|prefix| {
        json!({"network": prefix, "nextHop": "", "sourcePeer": "10.0.255.30", "origin": "Network", "asPath": "",
            "weight": 32_768, "localAddress": "10.0.255.30"})
    })
}

fn list<'a>(document: &'a Value, pointer: &str) -> impl Iterator<Item = &'a Value> {
    document.pointer(pointer).and_then(Value::as_array).into_iter().flatten()
}

fn text<'a>(document: &'a Value, pointer: &str) -> &'a str {
    document.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}
