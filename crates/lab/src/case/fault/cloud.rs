//! What can be wrong with what the platform is configured to do.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::check;
use crate::case::problem::Problem;

/// Whether a rule lets packets through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub enum Access {
    /// It does.
    Allow,
    /// It does not.
    #[default]
    Deny,
}

/// Which packets a rule is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub enum Direction {
    /// Those that come in.
    #[default]
    Inbound,
    /// Those that go out.
    Outbound,
}

/// A rule of a security group. A group that is not there yet is made, and put before a subnet or an interface.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NsgRule {
    /// The group.
    pub nsg: String,
    /// The rule.
    pub name: String,
    /// From 100 to 4096; the lowest decides.
    pub priority: u16,
    /// Which packets it is about.
    #[serde(default)]
    pub direction: Direction,
    /// Whether it lets them through.
    #[serde(default)]
    pub access: Access,
    /// `Tcp`, `Udp`, `Icmp`, `Esp`, `Ah` or `*`.
    #[serde(default = "any")]
    pub protocol: String,
    /// A prefix, an address, a service tag or `*`.
    #[serde(default = "any")]
    pub source: String,
    #[serde(default = "all")]
    pub source_ports: Vec<String>,
    /// A prefix, an address, a service tag or `*`.
    #[serde(default = "any")]
    pub destination: String,
    /// Destination ports: `22`, `80-90` or `*`.
    #[serde(default = "all")]
    pub ports: Vec<String>,
    /// A new group stands before this subnet, `VNET/SUBNET`.
    pub subnet: Option<String>,
    /// A new group stands before this interface.
    pub nic: Option<String>,
}

fn any() -> String {
    "*".to_owned()
}

fn all() -> Vec<String> {
    vec![any()]
}

impl NsgRule {
    pub(super) fn problems(&self) -> Vec<Problem> {
        let protocols = ["Tcp", "Udp", "Icmp", "Esp", "Ah", "*"];
        let priority = (!(100..=4096).contains(&self.priority)).then(|| {
            Problem::new(
                format!("`priority` is {}", self.priority),
                "rules of a security group have priorities from 100 to 4096",
            )
        });
        let protocol = (!protocols.contains(&self.protocol.as_str())).then(|| {
            Problem::new(format!("`protocol` is `{}`", self.protocol), "write Tcp, Udp, Icmp, Esp, Ah or *")
        });
        let none = (self.ports.is_empty() || self.source_ports.is_empty())
            .then(|| Problem::new("`ports` names no port", "write [\"*\"] for all"));
        let both = (self.subnet.is_some() && self.nic.is_some()).then(|| {
            Problem::new("`subnet` and `nic` are both named", "a new group stands before one of the two")
        });
        let found = [
            priority,
            protocol,
            none,
            both,
            check::name("nsg", &self.nsg),
            check::name("name", &self.name),
            check::place("source", &self.source),
            check::place("destination", &self.destination),
            self.subnet.as_deref().and_then(|subnet| check::vnet("subnet", subnet)),
            self.nic.as_deref().and_then(|nic| check::name("nic", nic)),
        ];
        let ports = self.ports.iter().chain(&self.source_ports).filter(|port| *port != "*");
        found.into_iter().flatten().chain(ports.filter_map(|port| check::ports("ports", port))).collect()
    }
}

/// Where a route leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Hop {
    /// An appliance at an address.
    VirtualAppliance,
    /// Nowhere.
    None,
    /// Out.
    Internet,
    /// The virtual network itself.
    VnetLocal,
    VirtualNetworkGateway,
}

impl Hop {
    /// Returns the platform's word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::VirtualAppliance => "VirtualAppliance",
            Self::None => "None",
            Self::Internet => "Internet",
            Self::VnetLocal => "VnetLocal",
            Self::VirtualNetworkGateway => "VirtualNetworkGateway",
        }
    }
}

/// A user's route. A table that is not there yet is made, and the subnet gets it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Route {
    pub table: String,
    /// The route.
    pub name: String,
    /// Where packets go that it takes.
    pub prefix: String,
    /// Where it leads.
    pub hop: Hop,
    /// The appliance.
    pub address: Option<IpAddr>,
    /// The subnet that gets the table, `VNET/SUBNET`.
    pub subnet: String,
}

impl Route {
    pub(super) fn problems(&self) -> Vec<Problem> {
        let appliance = self.hop == Hop::VirtualAppliance;
        let address = (appliance != self.address.is_some()).then(|| {
            Problem::new(
                format!(
                    "`hop` is {} and `address` is {}",
                    self.hop.name(),
                    if appliance { "missing" } else { "there" }
                ),
                "an address belongs to VirtualAppliance, and to nothing else",
            )
        });
        [
            address,
            check::name("table", &self.table),
            check::name("name", &self.name),
            check::prefix("prefix", &self.prefix),
            check::vnet("subnet", &self.subnet),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// A service endpoint that a subnet lost, and those that it has instead.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServiceEndpoint {
    /// The subnet, `VNET/SUBNET`.
    pub subnet: String,
    /// The service that is missing: `Microsoft.Storage`.
    pub service: String,
    /// The services that are there.
    #[serde(default)]
    pub left: Vec<String>,
}

impl ServiceEndpoint {
    pub(super) fn problems(&self) -> Vec<Problem> {
        let words = self.left.iter().chain([&self.service]);
        let odd =
            words.filter(|service| !service.starts_with("Microsoft.") || check::name("", service).is_some());
        let odd = odd.map(|service| {
            Problem::new(format!("`{service}` is no service"), "services are called as in Microsoft.Storage")
        });
        let left = self.left.contains(&self.service).then(|| {
            Problem::new(
                format!("`{}` is missing, and left", self.service),
                "take it out of `left`: it is what the subnet lost",
            )
        });
        odd.chain(left).chain(check::vnet("subnet", &self.subnet)).collect()
    }
}

/// Network rules of a storage account.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StorageFirewall {
    pub account: String,
    /// What happens to whoever no rule lets in.
    #[serde(default)]
    pub default: Access,
    /// Subnets that may come, each `VNET/SUBNET`.
    #[serde(default)]
    pub subnets: Vec<String>,
    /// Public addresses or prefixes that may come.
    #[serde(default)]
    pub addresses: Vec<String>,
    /// Who may come whatever the rules say.
    #[serde(default = "platform")]
    pub bypass: String,
}

fn platform() -> String {
    "AzureServices".to_owned()
}

impl StorageFirewall {
    pub(super) fn problems(&self) -> Vec<Problem> {
        let subnets = self.subnets.iter().filter_map(|subnet| check::vnet("subnets", subnet));
        let addresses = self.addresses.iter().filter_map(|address| check::prefix("addresses", address));
        let known = ["None", "AzureServices", "Logging", "Metrics"];
        let bypass = (!self.bypass.split(", ").all(|word| known.contains(&word))).then(|| {
            Problem::new(
                format!("`bypass` is `{}`", self.bypass),
                "write None, AzureServices, Logging or Metrics",
            )
        });
        subnets.chain(addresses).chain(bypass).chain(check::account("account", &self.account)).collect()
    }
}

/// A machine that somebody stopped.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineStopped {
    pub vm: String,
    /// Whether only its system was shut down, so that it still costs money.
    #[serde(default)]
    pub inside: bool,
}

impl MachineStopped {
    pub(super) fn problems(&self) -> Vec<Problem> {
        check::machine("vm", &self.vm).into_iter().collect()
    }
}

/// One side of a peering, as it is after somebody took away the other, or never made it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peering {
    /// The network.
    pub vnet: String,
    /// The peering.
    pub name: String,
    /// The other network, in the same group.
    pub remote: String,
    /// `Connected`, `Initiated` or `Disconnected`; connected where a setting is what is wrong.
    pub state: Option<String>,
    /// Whether the other network belongs to what rules call the network.
    #[serde(default = "yes")]
    pub access: bool,
    /// Whether it lets in what others forward.
    #[serde(default = "yes")]
    pub forwarded: bool,
    /// The addresses of the other network that it knows; all of them where none are named.
    #[serde(default)]
    pub known: Vec<String>,
}

const fn yes() -> bool {
    true
}

impl Peering {
    /// Returns its state: broken, unless a setting is what is wrong.
    #[must_use]
    pub fn state(&self) -> &str {
        let is_set = !self.access || !self.forwarded || !self.known.is_empty();
        self.state.as_deref().unwrap_or(if is_set { "Connected" } else { "Disconnected" })
    }

    pub(super) fn problems(&self) -> Vec<Problem> {
        let state = self.state();
        let state = (!["Connected", "Initiated", "Disconnected"].contains(&state)).then(|| {
            Problem::new(format!("`state` is `{state}`"), "write Connected, Initiated or Disconnected")
        });
        let known = self.known.iter().find_map(|known| check::prefix("known", known));
        [
            state,
            known,
            check::name("vnet", &self.vnet),
            check::name("name", &self.name),
            check::name("remote", &self.remote),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}
