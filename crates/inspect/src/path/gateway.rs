//! Gateways to other sites, as `az network vnet-gateway list` and its neighbors print them: connections, the sites that they lead to,
//! circuits, and the routes that gateways learned.

use std::net::IpAddr;

use ipnet::IpNet;
use serde_json::{Map, Value};

use super::bundle::Cloud;
use super::document::Known;
use super::fault::{Fault, Object};
use super::topology::{Network, has, inner, last_of, part_after, rows};
use crate::net::{Fields, each_text, parse_prefix};

/// What kind of gateway it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GatewayKind {
    Vpn,
    ExpressRoute,
}

/// A gateway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct VirtualGateway {
    pub(super) name: String,
    /// The network in which it stands.
    pub(super) network: String,
    pub(super) kind: GatewayKind,
}

/// What a connection leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Remote {
    /// A site of somebody's own, by the name of its local network gateway.
    Site(String),
    /// The gateway of another network.
    Gateway(String),
    Circuit(String),
}

/// How a connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Connected,
    /// It is not, or it still tries.
    Down,
    Unknown,
}

/// A connection of a gateway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Connection {
    pub(super) name: String,
    pub(super) gateway: String,
    pub(super) remote: Remote,
    pub(super) status: Status,
    /// The status as it is written.
    pub(super) written: String,
    pub(super) is_bgp: bool,
}

/// A site, as a local network gateway describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Site {
    pub(super) name: String,
    pub(super) prefixes: Vec<IpNet>,
    /// The address with which it speaks BGP.
    pub(super) peer: Option<IpAddr>,
}

/// A circuit, with the names of its peerings and whether each is enabled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Circuit {
    pub(super) name: String,
    /// Why it carries nothing; nothing where it does.
    pub(super) closed: Option<String>,
    pub(super) peerings: Vec<(String, bool)>,
}

/// Somebody with whom a gateway speaks BGP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Peer {
    pub(super) gateway: String,
    pub(super) address: IpAddr,
    pub(super) state: String,
}

impl Peer {
    pub(super) fn is_connected(&self) -> bool {
        self.state.eq_ignore_ascii_case("connected")
    }
}

/// A route that a gateway learned from somebody else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Learned {
    pub(super) gateway: String,
    pub(super) prefix: IpNet,
    pub(super) from: Option<IpAddr>,
}

/// What the platform found when somebody last let it look for the trouble of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trouble {
    Key,
    Proposals,
    Unreachable,
}

/// What a gateway has for an address.
#[derive(Debug, Clone)]
pub(super) enum Towards<'a> {
    /// Connections whose prefixes hold it, the longest ones.
    Held(Vec<&'a Connection>),
    /// Nothing holds it, and why.
    Cause(Fault, Object, String),
    /// That is not known.
    Open(String),
    Nothing,
}

/// Everything about gateways.
#[derive(Debug, Clone, Default)]
pub(super) struct VirtualGateways {
    pub(super) all: Vec<VirtualGateway>,
    pub(super) connections: Known<Vec<Connection>>,
    pub(super) sites: Known<Vec<Site>>,
    pub(super) circuits: Known<Vec<Circuit>>,
    pub(super) peers: Known<Vec<Peer>>,
    pub(super) learned: Known<Vec<Learned>>,
    troubles: Vec<(String, Trouble)>,
}

impl VirtualGateways {
    /// Returns the gateways of a network.
    pub(super) fn of(&self, network: &str) -> Vec<&VirtualGateway> {
        self.all.iter().filter(|own| own.network.eq_ignore_ascii_case(network)).collect()
    }

    /// Returns what the platform found about a connection.
    pub(super) fn trouble(&self, connection: &str) -> Option<Trouble> {
        let own = self.troubles.iter().find(|(name, _)| name.eq_ignore_ascii_case(connection));
        own.map(|(_, trouble)| *trouble)
    }

    /// Returns the site that a connection leads to.
    pub(super) fn site(&self, connection: &Connection) -> Option<&Site> {
        let Remote::Site(name) = &connection.remote else { return None };
        self.sites.read()?.iter().find(|site| site.name.eq_ignore_ascii_case(name))
    }

    /// Says which connections of the gateways of a network lead to an address.
    pub(super) fn towards(&self, network: &str, to: IpAddr, networks: &[Network]) -> Towards<'_> {
        let gateways = self.of(network);
        let Some(first) = gateways.first() else {
            return Towards::Open(format!("the gateway of {network} is none that was listed"));
        };
        let Some(all) = self.connections.read() else {
            return Towards::Open(format!("its connections: {}", self.connections.why_not()));
        };
        let is_own = |gateway: &str| gateways.iter().any(|own| own.name.eq_ignore_ascii_case(gateway));
        let own: Vec<&Connection> = all.iter().filter(|own| is_own(&own.gateway)).collect();
        let Some(sites) = self.sites.read() else {
            return Towards::Open(format!("the sites of its connections: {}", self.sites.why_not()));
        };
        let mut held: Vec<(u8, &Connection)> = Vec::new();
        for connection in &own {
            let longest = |prefixes: &[IpNet]| {
                let holding = prefixes.iter().filter(|prefix| prefix.contains(&to));
                holding.map(IpNet::prefix_len).max()
            };
            let length = match &connection.remote {
                Remote::Site(name) => {
                    let Some(site) = sites.iter().find(|site| site.name.eq_ignore_ascii_case(name)) else {
                        return Towards::Open(format!("the site {name} was not listed"));
                    };
                    longest(&site.prefixes)
                }
                Remote::Gateway(name) => {
                    let other = self.all.iter().find(|own| own.name.eq_ignore_ascii_case(name));
                    let Some(other) = other else {
                        return Towards::Open(format!("the gateway {name} was not listed"));
                    };
                    let there = networks.iter().find(|one| one.name.eq_ignore_ascii_case(&other.network));
                    there.and_then(|there| longest(&there.prefixes))
                }
                Remote::Circuit(_) => None,
            };
            held.extend(length.map(|length| (length, *connection)));
        }
        let dynamic: Vec<&Connection> = own.iter().copied().filter(|own| own.is_bgp).collect();
        match self.learned.read() {
            Some(learned) => {
                for route in learned.iter().filter(|own| is_own(&own.gateway) && own.prefix.contains(&to)) {
                    let from = |own: &&&Connection| {
                        let peer = self.site(own).and_then(|site| site.peer);
                        own.gateway.eq_ignore_ascii_case(&route.gateway)
                            && (peer.is_none() || route.from.is_none() || peer == route.from)
                    };
                    held.extend(dynamic.iter().filter(from).map(|own| (route.prefix.prefix_len(), *own)));
                }
            }
            None if held.is_empty() && !dynamic.is_empty() => {
                return Towards::Open(format!("the routes that it learned: {}", self.learned.why_not()));
            }
            None => {}
        }
        if let Some(longest) = held.iter().map(|(length, _)| *length).max() {
            let mut best: Vec<&Connection> = Vec::new();
            for (_, connection) in held.into_iter().filter(|(length, _)| *length == longest) {
                if !best.iter().any(|own| own.name == connection.name) {
                    best.push(connection);
                }
            }
            best.sort_by(|one, other| one.name.cmp(&other.name));
            return Towards::Held(best);
        }
        match dynamic.as_slice() {
            [] => match own.as_slice() {
                [Connection { remote: Remote::Site(site), name, .. }] => {
                    let why = format!(
                        "the local network gateway {site} of the connection {name} does not hold {to}"
                    );
                    Towards::Cause(Fault::VpnPrefixMissing, Object::LocalGateway { name: site.clone() }, why)
                }
                _ => Towards::Nothing,
            },
            dynamic => self.unlearned(&first.name, dynamic, to),
        }
    }

    /// Says why a gateway that learns its routes did not learn one.
    fn unlearned(&self, gateway: &str, dynamic: &[&Connection], to: IpAddr) -> Towards<'_> {
        if let Some(down) = dynamic.iter().find(|own| own.status == Status::Down) {
            let (fault, object, why) = self.down(down);
            return Towards::Cause(fault, object, why);
        }
        for connection in dynamic {
            if let Remote::Circuit(name) = &connection.remote {
                match self.closed(name) {
                    Ok(Some((fault, object, why))) => return Towards::Cause(fault, object, why),
                    Ok(None) => {}
                    Err(why) => return Towards::Open(why),
                }
            }
        }
        let Some(peers) = self.peers.read() else {
            return Towards::Open(format!("with whom it speaks BGP: {}", self.peers.why_not()));
        };
        for (connection, peer) in dynamic.iter().filter_map(|own| Some((own, self.site(own)?.peer?))) {
            let rows = || peers.iter().filter(|own| own.address == peer);
            if !rows().any(Peer::is_connected) {
                let state = rows().next().map_or("not there", |own| own.state.as_str());
                let why = format!(
                    "the BGP peer {peer} of {} is {state}: the gateway learns nothing from it",
                    connection.gateway
                );
                let object = Object::GatewayPeer { gateway: connection.gateway.clone(), peer };
                return Towards::Cause(Fault::BgpPeerDown, object, why);
            }
        }
        let why = format!("nobody announces {to} to the gateway {gateway}, and its BGP peers are connected");
        let object = Object::GatewayPrefix { gateway: gateway.to_owned(), prefix: IpNet::from(to) };
        Towards::Cause(Fault::BgpRouteMissing, object, why)
    }

    /// Says what is wrong with a connection that is down.
    pub(super) fn down(&self, connection: &Connection) -> (Fault, Object, String) {
        let name = &connection.name;
        if let Remote::Circuit(circuit) = &connection.remote
            && let Ok(Some(closed)) = self.closed(circuit)
        {
            return closed;
        }
        let (fault, why) = match self.trouble(name) {
            Some(Trouble::Key) => (Fault::VpnKeyMismatch, ": both sides have different keys"),
            Some(Trouble::Proposals) => {
                (Fault::VpnIkeMismatch, ": both sides do not agree on how to encrypt")
            }
            Some(Trouble::Unreachable) => (Fault::VpnPeerUnreachable, ": the other side does not answer"),
            None => (Fault::VpnDown, ""),
        };
        let why = format!("the connection {name} is {}{why}", connection.written);
        (fault, Object::Connection { connection: name.clone() }, why)
    }

    /// Says why a circuit carries nothing; nothing where it does.
    fn closed(&self, name: &str) -> Result<Option<(Fault, Object, String)>, String> {
        let Some(circuits) = self.circuits.read() else {
            return Err(format!("the circuit {name}: {}", self.circuits.why_not()));
        };
        let own = circuits.iter().find(|own| own.name.eq_ignore_ascii_case(name));
        let own = own.ok_or_else(|| format!("the circuit {name} was not listed"))?;
        if let Some(why) = &own.closed {
            let why = format!("the circuit {} carries nothing: {why}", own.name);
            return Ok(Some((Fault::ErCircuitDown, Object::Circuit { circuit: own.name.clone() }, why)));
        }
        let private = |(peering, _): &&(String, bool)| peering.eq_ignore_ascii_case("AzurePrivatePeering");
        Ok(own.peerings.iter().find(private).filter(|(_, is_on)| !is_on).map(|(peering, _)| {
            let object = Object::CircuitPeering { circuit: own.name.clone(), peering: peering.clone() };
            (
                Fault::ErPeeringDown,
                object,
                format!("the peering {peering} of the circuit {} is off", own.name),
            )
        }))
    }

    /// Returns the addresses of all sites.
    pub(super) fn prefixes(&self) -> Vec<IpNet> {
        let sites = self.sites.read().into_iter().flatten().flat_map(|site| &site.prefixes);
        let learned = self.learned.read().into_iter().flatten().map(|own| &own.prefix);
        sites.chain(learned).filter(|prefix| prefix.prefix_len() > 0).copied().collect()
    }

    /// Tells whether some connection leads to a site that holds an address.
    pub(super) fn holds(&self, address: IpAddr) -> bool {
        self.prefixes().iter().any(|prefix| prefix.contains(&address))
    }
}

/// Reads everything about gateways.
pub(super) fn virtual_gateways(cloud: &Cloud) -> Known<VirtualGateways> {
    Known::of(cloud.virtual_gateways.as_ref(), |text| {
        let troubles = Known::of(cloud.troubles.as_ref(), troubles);
        Ok(VirtualGateways {
            all: gateways(text)?,
            connections: Known::of(cloud.connections.as_ref(), connections),
            sites: Known::of(cloud.local_gateways.as_ref(), sites),
            circuits: Known::of(cloud.circuits.as_ref(), circuits),
            peers: Known::of(cloud.bgp_peers.as_ref(), peers),
            learned: Known::of(cloud.learned_routes.as_ref(), learned),
            troubles: troubles.read().cloned().unwrap_or_default(),
        })
    })
}

/// Returns all rows; one that cannot be read leaves everything unknown, since it might be the one that decides.
fn whole<T>(
    text: &str,
    what: &'static str,
    is_row: impl Fn(&Map<String, Value>) -> bool,
    read: impl Fn(&Value, &Value) -> Option<T>,
) -> Result<Vec<T>, String> {
    let (found, odd) =
        rows(text, what, is_row, |row, _| read(row, inner(row))).map_err(|error| error.to_string())?;
    odd.into_iter().next().map_or(Ok(found), Err)
}

fn items<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    value.field(name).and_then(Value::as_array).into_iter().flatten()
}

fn gateways(text: &str) -> Result<Vec<VirtualGateway>, String> {
    let is_row = |map: &Map<String, Value>| has(map, "gatewayType");
    let found = whole(text, "gateways", is_row, |row, body| {
        let kind = match body.text("gatewayType")?.to_ascii_lowercase().as_str() {
            "vpn" => GatewayKind::Vpn,
            "expressroute" => GatewayKind::ExpressRoute,
            _ => return Some(None),
        };
        let mut subnets =
            items(body, "ipConfigurations").filter_map(|own| inner(own).field("subnet")?.text("id"));
        let network = part_after(subnets.next()?, "virtualNetworks")?;
        Some(Some(VirtualGateway { name: row.text("name")?.to_owned(), network, kind }))
    })?;
    Ok(found.into_iter().flatten().collect())
}

fn connections(text: &str) -> Result<Vec<Connection>, String> {
    let is_row = |map: &Map<String, Value>| has(map, "connectionType");
    let found = whole(text, "connections", is_row, |row, body| {
        let site = || last_of(body.field("localNetworkGateway2")).map(Remote::Site);
        let gateway = || last_of(body.field("virtualNetworkGateway2")).map(Remote::Gateway);
        let circuit = || last_of(body.field("peer")).map(Remote::Circuit);
        let Some(remote) = site().or_else(gateway).or_else(circuit) else { return Some(None) };
        let written = body.text("connectionStatus").unwrap_or("Unknown");
        Some(Some(Connection {
            name: row.text("name")?.to_owned(),
            gateway: last_of(body.field("virtualNetworkGateway1"))?,
            // A circuit is asked for its routes whatever this says.
            is_bgp: body.field("enableBgp").and_then(Value::as_bool).unwrap_or(false)
                || matches!(remote, Remote::Circuit(_)),
            remote,
            status: match written.to_ascii_lowercase().as_str() {
                "connected" => Status::Connected,
                "notconnected" | "connecting" => Status::Down,
                _ => Status::Unknown,
            },
            written: written.to_owned(),
        }))
    })?;
    Ok(found.into_iter().flatten().collect())
}

fn sites(text: &str) -> Result<Vec<Site>, String> {
    let is_row = |map: &Map<String, Value>| {
        has(map, "localNetworkAddressSpace") || has(map, "gatewayIpAddress") || has(map, "fqdn")
    };
    whole(text, "local network gateways", is_row, |row, body| {
        let mut prefixes = Vec::new();
        let space = body.field("localNetworkAddressSpace");
        each_text(space.and_then(|space| space.field("addressPrefixes")), &mut |text, _| {
            prefixes.extend(text.ok().and_then(parse_prefix));
        });
        let peer = body.field("bgpSettings").and_then(|own| own.text("bgpPeeringAddress"));
        let peer = peer.and_then(|text| text.parse().ok());
        Some(Site { name: row.text("name")?.to_owned(), prefixes, peer })
    })
}

fn circuits(text: &str) -> Result<Vec<Circuit>, String> {
    let is_row = |map: &Map<String, Value>| {
        has(map, "circuitProvisioningState") || has(map, "serviceProviderProvisioningState")
    };
    whole(text, "circuits", is_row, |row, body| {
        let state = |field: &str, good: &str| {
            let own = body.text(field).filter(|own| !own.is_empty());
            own.filter(|own| !own.eq_ignore_ascii_case(good)).map(str::to_owned)
        };
        let provider = state("serviceProviderProvisioningState", "provisioned")
            .map(|own| format!("its provider says {own}"));
        let circuit = state("circuitProvisioningState", "enabled").map(|own| format!("it is {own}"));
        let peerings = items(body, "peerings").filter_map(|own| {
            let state = inner(own).text("state").unwrap_or("Enabled");
            Some((own.text("name")?.to_owned(), state.eq_ignore_ascii_case("enabled")))
        });
        Some(Circuit {
            name: row.text("name")?.to_owned(),
            closed: circuit.or(provider),
            peerings: peerings.collect(),
        })
    })
}

/// Returns the rows that gateways gave, each with the name of its gateway.
fn by_gateway(text: &str) -> Result<Vec<(String, Value)>, String> {
    let is_row = |map: &Map<String, Value>| has(map, "gateway");
    let found = whole(text, "answers of gateways", is_row, |row, _| {
        let gateway = row.text("gateway")?.to_owned();
        let rows = row.field("value").and_then(Value::as_array)?;
        Some(rows.iter().map(|own| (gateway.clone(), own.clone())).collect::<Vec<_>>())
    })?;
    Ok(found.into_iter().flatten().collect())
}

fn peers(text: &str) -> Result<Vec<Peer>, String> {
    let all = by_gateway(text)?.into_iter().filter_map(|(gateway, row)| {
        let address = row.text("neighbor")?.parse().ok()?;
        Some(Peer { gateway, address, state: row.text("state").unwrap_or("Unknown").to_owned() })
    });
    Ok(all.collect())
}

/// What it has of its own network or of its connections is none that somebody else announced.
fn learned(text: &str) -> Result<Vec<Learned>, String> {
    let all = by_gateway(text)?.into_iter().filter_map(|(gateway, row)| {
        let is_own = row.text("origin").is_some_and(|origin| origin.eq_ignore_ascii_case("network"));
        let prefix = row.text("network").filter(|_| !is_own).and_then(parse_prefix)?;
        Some(Learned { gateway, prefix, from: row.text("sourcePeer").and_then(|text| text.parse().ok()) })
    });
    Ok(all.collect())
}

fn troubles(text: &str) -> Result<Vec<(String, Trouble)>, String> {
    let is_row = |map: &Map<String, Value>| has(map, "connection");
    let found = whole(text, "troubles of connections", is_row, |row, _| {
        let known =
            items(row, "results").find_map(|own| match own.text("id")?.to_ascii_lowercase().as_str() {
                "authentication" => Some(Trouble::Key),
                "ikepolicymismatch" | "policymismatch" => Some(Trouble::Proposals),
                "peerreachability" => Some(Trouble::Unreachable),
                _ => None,
            });
        Some(known.map(|known| (row.text("connection").unwrap_or_default().to_owned(), known)))
    })?;
    Ok(found.into_iter().flatten().collect())
}
