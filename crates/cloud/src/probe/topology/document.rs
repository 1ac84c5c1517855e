//! The document.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

/// What a resource group consists of. Names of other resources are bare where they are in this group, else `group/name`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Topology {
    pub group: String,
    pub machines: Vec<Machine>,
    pub interfaces: Vec<Nic>,
    /// Its virtual networks.
    pub networks: Vec<Network>,
    pub security_groups: Vec<SecurityGroup>,
    pub route_tables: Vec<RouteTable>,
    /// What could not be read.
    pub unread: Vec<Unread>,
}

/// A list that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unread {
    /// Which: `networks`, `route_tables` …
    pub what: String,
    pub why: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    pub name: String,
    pub region: String,
    /// Its interfaces, the primary one first.
    pub interfaces: Vec<String>,
}

/// An interface.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nic {
    pub name: String,
    /// The machine that it belongs to.
    pub machine: Option<String>,
    /// Its addresses, the primary one first.
    pub addresses: Vec<Address>,
    /// Its own security group.
    pub security_group: Option<String>,
    /// The application security groups that it is in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub application_groups: Vec<String>,
    /// Whether it may pass on what is not for it.
    pub forwards: bool,
}

/// An address of an interface.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Address {
    /// The private address.
    pub ip: Option<IpAddr>,
    /// The subnet that it is in, as `network/subnet`.
    pub subnet: Option<String>,
    /// The public address that leads to it, by its name.
    pub public: Option<String>,
}

/// A virtual network.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    pub name: String,
    /// Its address space.
    pub prefixes: Vec<String>,
    pub subnets: Vec<Subnet>,
    /// The networks that it is peered with.
    pub peerings: Vec<Peering>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subnet {
    pub name: String,
    pub prefixes: Vec<String>,
    pub security_group: Option<String>,
    pub route_table: Option<String>,
    /// Services that it reaches without leaving the platform, as `Microsoft.Storage`.
    pub service_endpoints: Vec<String>,
}

/// A peering, seen from one side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peering {
    pub name: String,
    /// The other network.
    pub remote: String,
    /// `Connected`, `Initiated` or `Disconnected`.
    pub state: String,
    /// The other network's address space.
    pub prefixes: Vec<String>,
    /// Whether the other side may send what it only passes on.
    pub forwarded: bool,
}

/// A security group; the platform's own rules are left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecurityGroup {
    pub name: String,
    /// Its rules, inbound first, in the order in which they are tried.
    pub rules: Vec<Rule>,
}

/// A security rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    pub name: String,
    pub direction: String,
    /// When it is tried.
    pub priority: u32,
    /// `Allow` or `Deny`.
    pub access: String,
    pub protocol: String,
    /// From where.
    pub sources: Vec<String>,
    pub source_ports: Vec<String>,
    /// Where to.
    pub destinations: Vec<String>,
    pub ports: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RouteTable {
    pub name: String,
    pub routes: Vec<Route>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Route {
    pub name: String,
    /// Where to.
    pub prefix: String,
    /// What kind of hop.
    pub next_hop_type: String,
    /// The hop, where it is an appliance.
    pub next_hop_ip: Option<String>,
}

impl Topology {
    /// Returns the interface that owns an address.
    #[must_use]
    pub fn owner(&self, ip: IpAddr) -> Option<&Nic> {
        self.interfaces.iter().find(|nic| nic.addresses.iter().any(|address| address.ip == Some(ip)))
    }

    /// Returns the interfaces of a machine.
    pub fn of<'a>(&'a self, machine: &'a str) -> impl Iterator<Item = &'a Nic> {
        self.interfaces
            .iter()
            .filter(move |nic| nic.machine.as_deref().is_some_and(|name| name.eq_ignore_ascii_case(machine)))
    }

    /// Returns a subnet by its `network/subnet`.
    #[must_use]
    pub fn subnet(&self, path: &str) -> Option<&Subnet> {
        let (network, name) = path.split_once('/')?;
        let network = self.networks.iter().find(|one| one.name.eq_ignore_ascii_case(network))?;
        network.subnets.iter().find(|one| one.name.eq_ignore_ascii_case(name))
    }
}
