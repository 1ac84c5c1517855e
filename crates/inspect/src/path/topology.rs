//! What the cloud lists: networks with subnets and peerings, network interfaces with addresses, machines.

use std::net::IpAddr;

use ipnet::IpNet;
use serde_json::{Map, Value};

use super::balancer::Sku;
use super::place::Place;
use crate::flowlog::plain_mac;
use crate::net::{DocumentError, Fields, document, each_text, parse_prefix, placed};

/// A network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Network {
    /// Its name.
    pub(super) name: String,
    /// Its address space.
    pub(super) prefixes: Vec<IpNet>,
    /// Its subnets.
    pub(super) subnets: Vec<Subnet>,
    /// Its side of its peerings.
    pub(super) peerings: Vec<Peering>,
    /// The name servers that its machines ask; the platform's where there are none.
    pub(super) servers: Vec<IpAddr>,
    /// Its resource group and subscription, where its id names them.
    pub(super) place: Option<Place>,
}

/// A subnet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Subnet {
    /// Its name.
    pub(super) name: String,
    /// Its addresses.
    pub(super) prefixes: Vec<IpNet>,
    /// The name of its route table.
    pub(super) table: Option<String>,
    /// The name of its security group.
    pub(super) group: Option<String>,
    /// Whether anything has an address in it.
    pub(super) is_used: bool,
    /// The name of its NAT gateway.
    pub(super) nat: Option<String>,
    /// Whether the platform lets its machines out by itself, where it says so.
    pub(super) default_outbound: Option<bool>,
    /// Which policies hold for private endpoints in it.
    pub(super) endpoint_policies: Option<String>,
}

/// One side of a peering.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Peering {
    /// Its name.
    pub(super) name: String,
    /// The name of the other network.
    pub(super) remote: String,
    /// Where that one is.
    pub(super) place: Option<Place>,
    /// Its state, as the cloud writes it.
    pub(super) state: String,
    /// Whether it lets in what others forward.
    pub(super) forwarded: Option<bool>,
    /// Whether the other network belongs to what rules call the network.
    pub(super) access: Option<bool>,
    /// Whether it lends the gateway of its own side.
    pub(super) transit: Option<bool>,
    /// Whether it uses the gateway of the other side.
    pub(super) remote_gateway: bool,
    /// The addresses of the other side that it knows; none where it is not reported.
    pub(super) synced: Vec<IpNet>,
}

impl Peering {
    /// Tells whether packets pass it.
    #[must_use]
    pub(super) fn is_connected(&self) -> bool {
        self.state.eq_ignore_ascii_case("connected")
    }

    /// True if nothing passes it: the other side is missing, or was taken out.
    #[must_use]
    pub(super) fn is_cut(&self) -> bool {
        ["initiated", "disconnected"].iter().any(|word| self.state.eq_ignore_ascii_case(word))
    }

    /// Tells whether it leads to an address of the other side: one that the other network got later is known once both are in step.
    #[must_use]
    pub(super) fn knows(&self, address: IpAddr) -> bool {
        self.synced.is_empty() || self.synced.iter().any(|prefix| prefix.contains(&address))
    }

    /// Returns those of the addresses of the other side to which it leads.
    pub(super) fn known(&self, remote: &[IpNet]) -> Vec<IpNet> {
        if self.synced.is_empty() {
            return remote.to_vec();
        }
        let within = |inner: &IpNet, outer: &[IpNet]| outer.iter().any(|outer| outer.contains(inner));
        let whole = remote.iter().filter(|prefix| within(prefix, &self.synced));
        let parts = self.synced.iter().filter(|prefix| within(prefix, remote) && !remote.contains(*prefix));
        whole.chain(parts).copied().collect()
    }
}

impl Network {
    /// Tells whether an address lies in it.
    #[must_use]
    pub(super) fn contains(&self, address: IpAddr) -> bool {
        self.prefixes.iter().any(|prefix| prefix.contains(&address))
    }

    /// Returns the subnet in which an address lies.
    #[must_use]
    pub(super) fn subnet_of(&self, address: IpAddr) -> Option<&Subnet> {
        self.subnets.iter().find(|subnet| subnet.prefixes.iter().any(|prefix| prefix.contains(&address)))
    }

    /// Tells whether it has a gateway of its own: routes that nobody configured may come from there. A subnet that is kept for one
    /// and in which nothing is does not make one.
    #[must_use]
    pub(super) fn has_gateway(&self) -> bool {
        let reserved = ["GatewaySubnet", "RouteServerSubnet"];
        let is_gateway = |subnet: &Subnet| {
            reserved.iter().any(|name| subnet.name.eq_ignore_ascii_case(name)) && subnet.is_used
        };
        self.subnets.iter().any(is_gateway)
    }

    /// Returns its side of the peering with another network.
    #[must_use]
    pub(super) fn peering_with(&self, other: &str) -> Option<&Peering> {
        self.peerings.iter().find(|peering| peering.remote.eq_ignore_ascii_case(other))
    }
}

/// A network interface as the cloud lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) name: String,
    pub(super) machine: Option<String>,
    pub(super) addresses: Vec<IpAddr>,
    pub(super) publics: Vec<PublicOf>,
    /// Whether it has a public address, known or not.
    pub(super) has_public: bool,
    /// The names of its public addresses, each with the private one that it leads to.
    pub(super) public_names: Vec<(String, Option<IpAddr>)>,
    /// Its configurations by name.
    pub(super) configurations: Vec<(String, IpAddr)>,
    /// That of its public addresses.
    pub(super) sku: Sku,
    /// Network and subnet.
    pub(super) subnet: Option<(String, String)>,
    pub(super) group: Option<String>,
    pub(super) forwards: Option<bool>,
    /// The name servers that are set for it.
    pub(super) servers: Vec<IpAddr>,
    /// Its region.
    pub(super) region: Option<String>,
    /// Its hardware address, as in `00-22-48-71-C2-05`.
    pub(super) mac: Option<String>,
}

/// A public address of an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PublicOf {
    pub(super) public: IpAddr,
    /// The private address that it leads to, where that is known.
    pub(super) private: Option<IpAddr>,
}

/// Rows that were read, and what could not be.
pub(super) type Decoded<T> = (Vec<T>, Vec<String>);

/// Returns what lies in `properties`, or the row itself: REST nests what `az` flattens.
pub(super) fn inner(value: &Value) -> &Value {
    value.field("properties").filter(|inner| inner.is_object()).unwrap_or(value)
}

/// Returns the last part of an id that stands in a field, be it an object with `id` or a text.
pub(super) fn last_of(value: Option<&Value>) -> Option<String> {
    let id = value.and_then(|value| value.text("id").or_else(|| value.as_str()))?;
    id.rsplit('/').next().filter(|name| !name.is_empty()).map(str::to_owned)
}

pub(super) fn part_after(id: &str, name: &str) -> Option<String> {
    let mut parts = id.split('/');
    parts.find(|part| part.eq_ignore_ascii_case(name))?;
    parts.next().filter(|part| !part.is_empty()).map(str::to_owned)
}

fn name_of(value: &Value) -> Option<String> {
    value.text("name").map(str::to_owned).or_else(|| last_of(value.field("id")))
}

fn prefixes(value: &Value, names: [&str; 2], odd: &mut Vec<String>) -> Vec<IpNet> {
    let mut found = Vec::new();
    for name in names {
        each_text(value.field(name), &mut |text, _| match text.ok().and_then(parse_prefix) {
            Some(prefix) => found.push(prefix),
            None => odd.push(format!("a prefix in {name} cannot be read")),
        });
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn items<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    value.field(name).and_then(Value::as_array).into_iter().flatten()
}

/// Returns the name servers that a setting names.
fn servers(settings: &Value) -> Vec<IpAddr> {
    let named = items(settings, "dnsServers").filter_map(|server| server.as_str()?.parse::<IpAddr>().ok());
    named.map(|server| server.to_canonical()).collect()
}

/// Reads rows of one kind.
pub(super) fn rows<T>(
    text: &str,
    expected: &'static str,
    is_row: impl Fn(&Map<String, Value>) -> bool,
    read: impl Fn(&Value, &mut Vec<String>) -> Option<T>,
) -> Result<Decoded<T>, DocumentError> {
    let document = document(text)?;
    let mut odd = Vec::new();
    let mut found = Vec::new();
    for row in placed(&document, &["value", "resources"], is_row, expected)? {
        match read(row.value, &mut odd) {
            Some(one) => found.push(one),
            None => odd.push(format!("{}: not one of {expected}", row.place)),
        }
    }
    Ok((found, odd))
}

/// Tells whether a row, or what is nested in it, has a field.
pub(super) fn has(map: &Map<String, Value>, name: &str) -> bool {
    map.field(name).is_some() || map.field("properties").is_some_and(|inner| inner.field(name).is_some())
}

/// Reads what `az network vnet list` prints.
pub(super) fn networks(text: &str) -> Result<Decoded<Network>, DocumentError> {
    rows(
        text,
        "networks",
        |map| has(map, "addressSpace"),
        |row, odd| {
            let body = inner(row);
            let space = body.field("addressSpace")?;
            let subnets = items(body, "subnets").filter_map(|subnet| {
                let body = inner(subnet);
                Some(Subnet {
                    name: name_of(subnet)?,
                    prefixes: prefixes(body, ["addressPrefix", "addressPrefixes"], odd),
                    table: last_of(body.field("routeTable")),
                    group: last_of(body.field("networkSecurityGroup")),
                    is_used: items(body, "ipConfigurations").next().is_some(),
                    nat: last_of(body.field("natGateway")),
                    default_outbound: body.field("defaultOutboundAccess").and_then(Value::as_bool),
                    endpoint_policies: body.text("privateEndpointNetworkPolicies").map(str::to_owned),
                })
            });
            let subnets = subnets.collect();
            let peerings: Vec<Peering> = items(body, "virtualNetworkPeerings")
                .filter_map(|peering| {
                    let body = inner(peering);
                    let flag = |name: &str| body.field(name).and_then(Value::as_bool);
                    Some(Peering {
                        name: name_of(peering)?,
                        remote: last_of(body.field("remoteVirtualNetwork"))?,
                        place: body
                            .field("remoteVirtualNetwork")
                            .and_then(|remote| Place::of(remote.text("id")?)),
                        state: body.text("peeringState").unwrap_or("unknown").to_owned(),
                        forwarded: flag("allowForwardedTraffic"),
                        access: flag("allowVirtualNetworkAccess"),
                        transit: flag("allowGatewayTransit"),
                        remote_gateway: flag("useRemoteGateways").unwrap_or(false),
                        synced: body
                            .field("remoteAddressSpace")
                            .map(|space| prefixes(space, ["addressPrefixes", "addressPrefix"], odd))
                            .unwrap_or_default(),
                    })
                })
                .collect();
            Some(Network {
                name: name_of(row)?,
                prefixes: prefixes(space, ["addressPrefixes", "addressPrefix"], odd),
                subnets,
                peerings,
                servers: body.field("dhcpOptions").map(servers).unwrap_or_default(),
                place: row.text("id").and_then(Place::of),
            })
        },
    )
}

/// Reads what `az network nic list` prints.
pub(super) fn interfaces(text: &str) -> Result<Decoded<Listed>, DocumentError> {
    rows(
        text,
        "network interfaces",
        |map| has(map, "ipConfigurations"),
        |row, odd| {
            let body = inner(row);
            let name = name_of(row)?;
            let mut listed = Listed {
                machine: last_of(body.field("virtualMachine")),
                addresses: Vec::new(),
                publics: Vec::new(),
                has_public: false,
                public_names: Vec::new(),
                configurations: Vec::new(),
                sku: Sku::Unknown,
                subnet: None,
                group: last_of(body.field("networkSecurityGroup")),
                servers: body.field("dnsSettings").map(servers).unwrap_or_default(),
                region: row.text("location").map(str::to_owned),
                mac: body.text("macAddress").map(plain_mac),
                forwards: match body.field("enableIpForwarding") {
                    None | Some(Value::Null) => Some(false),
                    Some(value) => value.as_bool(),
                },
                name,
            };
            for row in items(body, "ipConfigurations") {
                let configuration = inner(row);
                let private = configuration.text("privateIpAddress").and_then(|text| text.parse().ok());
                let private = private.map(|own: IpAddr| own.to_canonical());
                match private {
                    Some(address) => {
                        listed.addresses.push(address);
                        listed.configurations.extend(name_of(row).map(|name| (name, address)));
                    }
                    None => odd.push(format!("an address of {} cannot be read", listed.name)),
                }
                let public = configuration.field("publicIpAddress");
                listed.has_public |= public.is_some_and(|public| !public.is_null());
                let address = public.and_then(|public| inner(public).text("ipAddress"));
                let address = address.and_then(|text| text.parse::<IpAddr>().ok());
                listed.publics.extend(address.map(|public| PublicOf { public, private }));
                listed.public_names.extend(last_of(public).map(|name| (name, private)));
                listed.sku = listed.sku.or(|| public.map_or(Sku::Unknown, Sku::of));
                let id = configuration.field("subnet").and_then(|subnet| subnet.text("id"));
                let place =
                    id.and_then(|id| Some((part_after(id, "virtualNetworks")?, part_after(id, "subnets")?)));
                listed.subnet = listed.subnet.take().or(place);
            }
            Some(listed)
        },
    )
}

/// Reads what `az vm list -d` and `az vm get-instance-view` print: every machine, and whether it runs, where that is said.
pub(super) fn machines(text: &str) -> Result<Decoded<(String, Option<bool>)>, DocumentError> {
    let is_row =
        |map: &Map<String, Value>| has(map, "storageProfile") || has(map, "vmId") || has(map, "powerState");
    rows(text, "machines", is_row, |row, _| {
        let seen = row.field("instanceView").or_else(|| inner(row).field("instanceView"));
        let viewed = seen.into_iter().flat_map(|view| items(view, "statuses")).find_map(|status| {
            let (kind, state) = status.text("code")?.split_once('/')?;
            kind.eq_ignore_ascii_case("PowerState").then_some(state)
        });
        let state = row.text("powerState").or_else(|| inner(row).text("powerState")).or(viewed);
        let running =
            state.and_then(|state| match state.trim_start_matches("VM ").to_ascii_lowercase().as_str() {
                "running" => Some(true),
                "stopped" | "deallocated" | "deallocating" | "stopping" => Some(false),
                _ => None,
            });
        Some((name_of(row)?, running))
    })
}
