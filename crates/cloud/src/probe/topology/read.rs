//! What `az` prints, and what of it is kept.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::document::{
    Address, Machine, Network, Nic, Peering, Route, RouteTable, Rule, SecurityGroup, Subnet, Topology, Unread,
};
use crate::operation::Issue;
use ghost_inspect::path::{Cloud, Reading};

use crate::probe::resource::{Pointer, behind, document, list};

/// Which list is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    Machines,
    Interfaces,
    Networks,
    SecurityGroups,
    RouteTables,
}

pub(super) const ALL: [List; 5] =
    [List::Machines, List::Interfaces, List::Networks, List::SecurityGroups, List::RouteTables];

impl List {
    /// Returns its name in the document.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Machines => "machines",
            Self::Interfaces => "interfaces",
            Self::Networks => "networks",
            Self::SecurityGroups => "security_groups",
            Self::RouteTables => "route_tables",
        }
    }

    /// Reads a list into the document.
    pub(super) fn read(self, text: &str, into: &mut Topology) -> Result<(), Issue> {
        let doing = format!("listing the {} of {}", self.word().replace('_', " "), into.group);
        let group = into.group.clone();
        match self {
            Self::Machines => {
                into.machines = all::<RawMachine, _>(text, &doing, |raw| raw.into_topology(&group))?
            }
            Self::Interfaces => {
                into.interfaces = all::<RawNic, _>(text, &doing, |raw| raw.into_topology(&group))?
            }
            Self::Networks => {
                into.networks = all::<RawNetwork, _>(text, &doing, |raw| raw.into_topology(&group))?
            }
            Self::SecurityGroups => {
                into.security_groups = all::<RawGroup, _>(text, &doing, RawGroup::into_topology)?
            }
            Self::RouteTables => {
                into.route_tables = all::<RawTable, _>(text, &doing, RawTable::into_topology)?
            }
        }
        Ok(())
    }
}

impl Topology {
    /// Reads the lists of a resource group as they were printed. One that was not read is reported.
    #[must_use]
    pub fn read(group: &str, cloud: &Cloud) -> Self {
        let mut found = Self { group: group.to_owned(), ..Self::default() };
        for list in ALL {
            let reading = match list {
                List::Machines => &cloud.machines,
                List::Interfaces => &cloud.interfaces,
                List::Networks => &cloud.networks,
                List::SecurityGroups => &cloud.groups,
                List::RouteTables => &cloud.route_tables,
            };
            let read = match reading {
                Some(Reading::Text(text)) => list.read(text, &mut found).map_err(|issue| issue.text),
                Some(Reading::Failed { error }) => Err(error.clone()),
                None => Err("it was not read".to_owned()),
            };
            if let Err(why) = read {
                found.unread.push(Unread { what: list.word().to_owned(), why });
            }
        }
        found
    }
}

fn all<Raw: DeserializeOwned, T>(
    text: &str,
    doing: &str,
    into_topology: impl Fn(Raw) -> T,
) -> Result<Vec<T>, Issue> {
    Ok(document::<Vec<Raw>>(text, doing)?.into_iter().map(into_topology).collect())
}

/// Names a resource as seen from a group.
fn name(pointer: &Pointer, group: &str) -> Option<String> {
    let last = Some(pointer.last()).filter(|last| !last.is_empty())?;
    match behind(&pointer.id, "resourceGroups") {
        Some(own) if !own.eq_ignore_ascii_case(group) => Some(format!("{own}/{last}")),
        Some(_) | None => Some(last.to_owned()),
    }
}

/// Returns the group of a resource: what belongs to another one was joined with the list.
fn home(id: &str, group: &str) -> String {
    behind(id, "resourceGroups").unwrap_or(group).to_owned()
}

fn named(pointer: Option<&Pointer>, group: &str) -> Option<String> {
    name(pointer?, group)
}

/// Joins the singular and the plural field that the platform has of the same thing.
fn both(one: Option<String>, many: Vec<String>) -> Vec<String> {
    let mut found: Vec<String> = one.into_iter().filter(|text| !text.is_empty()).collect();
    found.extend(many.into_iter().filter(|text| !found.contains(text)).collect::<Vec<_>>());
    found
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawMachine {
    #[serde(default)]
    id: String,
    name: String,
    #[serde(default)]
    location: String,
    #[serde(default)]
    network_profile: Profile,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct Profile {
    #[serde(default, deserialize_with = "list")]
    network_interfaces: Vec<Attached>,
}

#[derive(Deserialize)]
struct Attached {
    #[serde(flatten)]
    to: Pointer,
    #[serde(default)]
    primary: Option<bool>,
}

impl RawMachine {
    fn into_topology(self, group: &str) -> Machine {
        let group = &home(&self.id, group);
        let mut attached = self.network_profile.network_interfaces;
        attached.sort_by_key(|one| one.primary != Some(true));
        let interfaces = attached.iter().filter_map(|one| name(&one.to, group)).collect();
        Machine { name: self.name, region: self.location, interfaces }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawNic {
    #[serde(default)]
    id: String,
    name: String,
    virtual_machine: Option<Pointer>,
    network_security_group: Option<Pointer>,
    #[serde(default, rename = "enableIPForwarding")]
    forwards: Option<bool>,
    #[serde(default, deserialize_with = "list")]
    ip_configurations: Vec<RawAddress>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawAddress {
    #[serde(default)]
    primary: Option<bool>,
    #[serde(default, rename = "privateIPAddress", alias = "privateIpAddress")]
    ip: Option<String>,
    subnet: Option<Pointer>,
    #[serde(default, deserialize_with = "list")]
    application_security_groups: Vec<Pointer>,
    #[serde(rename = "publicIPAddress", alias = "publicIpAddress")]
    public: Option<Pointer>,
}

impl RawNic {
    fn into_topology(self, group: &str) -> Nic {
        let group = &home(&self.id, group);
        let mut addresses = self.ip_configurations;
        addresses.sort_by_key(|one| one.primary == Some(false));
        let of = |one: &RawAddress| -> Vec<String> {
            one.application_security_groups.iter().map(|group| group.last().to_owned()).collect()
        };
        let mut application_groups: Vec<String> = addresses.iter().flat_map(of).collect();
        application_groups.sort_unstable();
        application_groups.dedup();
        let address = |one: RawAddress| Address {
            ip: one.ip.as_deref().and_then(|ip| ip.parse().ok()),
            subnet: one
                .subnet
                .as_ref()
                .and_then(|to| Some(format!("{}/{}", behind(&to.id, "virtualNetworks")?, to.last()))),
            public: named(one.public.as_ref(), group),
        };
        Nic {
            name: self.name,
            machine: named(self.virtual_machine.as_ref(), group),
            addresses: addresses.into_iter().map(address).collect(),
            security_group: named(self.network_security_group.as_ref(), group),
            application_groups,
            forwards: self.forwards.unwrap_or_default(),
        }
    }
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct Space {
    #[serde(default, deserialize_with = "list")]
    address_prefixes: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawNetwork {
    #[serde(default)]
    id: String,
    name: String,
    address_space: Option<Space>,
    #[serde(default, deserialize_with = "list")]
    subnets: Vec<RawSubnet>,
    #[serde(default, deserialize_with = "list")]
    virtual_network_peerings: Vec<RawPeering>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawSubnet {
    name: String,
    address_prefix: Option<String>,
    #[serde(default, deserialize_with = "list")]
    address_prefixes: Vec<String>,
    network_security_group: Option<Pointer>,
    route_table: Option<Pointer>,
    #[serde(default, deserialize_with = "list")]
    service_endpoints: Vec<Endpoint>,
}

#[derive(Deserialize)]
struct Endpoint {
    #[serde(default)]
    service: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawPeering {
    name: String,
    remote_virtual_network: Option<Pointer>,
    remote_address_space: Option<Space>,
    #[serde(default)]
    peering_state: Option<String>,
    #[serde(default)]
    allow_forwarded_traffic: Option<bool>,
}

impl RawNetwork {
    fn into_topology(self, group: &str) -> Network {
        let group = &home(&self.id, group);
        let prefixes = |space: Option<Space>| space.unwrap_or_default().address_prefixes;
        let subnet = |raw: RawSubnet| Subnet {
            name: raw.name,
            prefixes: both(raw.address_prefix, raw.address_prefixes),
            security_group: named(raw.network_security_group.as_ref(), group),
            route_table: named(raw.route_table.as_ref(), group),
            service_endpoints: raw.service_endpoints.into_iter().map(|one| one.service).collect(),
        };
        let peering = |raw: RawPeering| Peering {
            name: raw.name,
            remote: named(raw.remote_virtual_network.as_ref(), group).unwrap_or_default(),
            state: raw.peering_state.unwrap_or_default(),
            prefixes: prefixes(raw.remote_address_space),
            forwarded: raw.allow_forwarded_traffic.unwrap_or_default(),
        };
        Network {
            name: self.name,
            prefixes: prefixes(self.address_space),
            subnets: self.subnets.into_iter().map(subnet).collect(),
            peerings: self.virtual_network_peerings.into_iter().map(peering).collect(),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawGroup {
    name: String,
    #[serde(default, deserialize_with = "list")]
    security_rules: Vec<RawRule>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawRule {
    name: String,
    priority: u32,
    direction: String,
    access: String,
    protocol: String,
    source_address_prefix: Option<String>,
    #[serde(default, deserialize_with = "list")]
    source_address_prefixes: Vec<String>,
    #[serde(default, deserialize_with = "list")]
    source_application_security_groups: Vec<Pointer>,
    source_port_range: Option<String>,
    #[serde(default, deserialize_with = "list")]
    source_port_ranges: Vec<String>,
    destination_address_prefix: Option<String>,
    #[serde(default, deserialize_with = "list")]
    destination_address_prefixes: Vec<String>,
    #[serde(default, deserialize_with = "list")]
    destination_application_security_groups: Vec<Pointer>,
    destination_port_range: Option<String>,
    #[serde(default, deserialize_with = "list")]
    destination_port_ranges: Vec<String>,
}

impl RawGroup {
    fn into_topology(self) -> SecurityGroup {
        let with = |mut found: Vec<String>, groups: &[Pointer]| {
            found.extend(groups.iter().map(|group| group.last().to_owned()));
            found
        };
        let rule = |raw: RawRule| Rule {
            sources: with(
                both(raw.source_address_prefix, raw.source_address_prefixes),
                &raw.source_application_security_groups,
            ),
            source_ports: both(raw.source_port_range, raw.source_port_ranges),
            destinations: with(
                both(raw.destination_address_prefix, raw.destination_address_prefixes),
                &raw.destination_application_security_groups,
            ),
            ports: both(raw.destination_port_range, raw.destination_port_ranges),
            name: raw.name,
            direction: raw.direction,
            priority: raw.priority,
            access: raw.access,
            protocol: raw.protocol,
        };
        let mut rules: Vec<Rule> = self.security_rules.into_iter().map(rule).collect();
        rules.sort_by(|a, b| (&a.direction, a.priority).cmp(&(&b.direction, b.priority)));
        SecurityGroup { name: self.name, rules }
    }
}

#[derive(Deserialize)]
struct RawTable {
    name: String,
    #[serde(default, deserialize_with = "list")]
    routes: Vec<RawRoute>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawRoute {
    name: String,
    #[serde(default)]
    address_prefix: String,
    #[serde(default)]
    next_hop_type: String,
    next_hop_ip_address: Option<String>,
}

impl RawTable {
    fn into_topology(self) -> RouteTable {
        let route = |raw: RawRoute| Route {
            name: raw.name,
            prefix: raw.address_prefix,
            next_hop_type: raw.next_hop_type,
            next_hop_ip: raw.next_hop_ip_address,
        };
        RouteTable { name: self.name, routes: self.routes.into_iter().map(route).collect() }
    }
}
