//! One thing that a change does to an estate.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use serde_json::Value;

use super::admission::Admission;
use super::balancer::BalancerList;
use super::firewall::FirewallEdit;

/// A rule of a security group, as it is configured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SecurityRule {
    /// Its name.
    pub name: String,
    /// The lowest number is tried first.
    pub priority: u32,
    /// `Inbound` or `Outbound`.
    pub direction: String,
    /// `Allow` or `Deny`.
    pub access: String,
    /// `Tcp`, `Udp`, `Icmp`, `*` …
    pub protocol: String,
    /// Prefixes and service tags.
    pub sources: Vec<String>,
    /// Ports and ranges.
    pub source_ports: Vec<String>,
    /// Prefixes and service tags.
    pub destinations: Vec<String>,
    /// Ports and ranges.
    pub destination_ports: Vec<String>,
}

/// A route of a route table, as it is configured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RouteRow {
    /// Its name.
    pub name: String,
    /// Where to.
    pub prefix: String,
    /// `VirtualAppliance`, `VnetLocal`, `Internet`, `VirtualNetworkGateway` or `None`.
    pub hop_type: String,
    /// The address of the appliance.
    pub hop: Option<String>,
}

/// One side of a peering.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Peering {
    /// Its name.
    pub name: String,
    /// The name of the other network.
    pub remote: String,
    /// Whether the other network is part of its own.
    pub access: bool,
    /// Whether it lets in what others forward.
    pub forwarded: bool,
    /// Whether it lends its gateway to the other side.
    pub transit: bool,
    /// Whether it uses the gateway of the other side.
    pub remote_gateway: bool,
}

/// A network interface.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// Its private addresses.
    pub addresses: Vec<String>,
    /// Network and subnet.
    pub subnet: (String, String),
    /// Its public address, where it has one.
    pub public: Option<String>,
    /// Whether it forwards what is not for it.
    pub forwards: bool,
    /// The security group at it.
    pub group: Option<String>,
}

/// What a change touches, where it does not say how.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// A security group.
    Group(String),
    /// A route table.
    Table(String),
    /// A network, with its subnets and peerings.
    Network(String),
    /// A network interface.
    Interface(String),
    /// What is inside a machine.
    Machine(String),
    /// A load balancer.
    Balancer(String),
    /// The rules of a firewall of the platform, or of a policy.
    Firewall(String),
    /// Something else of the network: what it does to flows is judged nowhere here.
    Other(String),
}

impl fmt::Display for Target {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Group(name) => write!(out, "the security group {name}"),
            Self::Table(name) => write!(out, "the route table {name}"),
            Self::Network(name) => write!(out, "the network {name}"),
            Self::Interface(name) => write!(out, "the network interface {name}"),
            Self::Machine(name) => write!(out, "the inside of {name}"),
            Self::Balancer(name) => write!(out, "the load balancer {name}"),
            Self::Firewall(name) => write!(out, "the rules of {name}"),
            Self::Other(name) => out.write_str(name),
        }
    }
}

/// One thing that a change does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Edit {
    /// Creates a security group, or gives it other rules; those of the platform stay.
    PutGroup {
        /// The group.
        group: String,
        /// All its rules.
        rules: Vec<SecurityRule>,
    },
    /// Deletes a security group.
    DeleteGroup {
        /// The group.
        group: String,
    },
    /// Adds a rule to a security group, or changes it.
    PutRule {
        /// The group.
        group: String,
        /// The rule.
        rule: SecurityRule,
    },
    /// Deletes a rule of a security group.
    DeleteRule {
        /// The group.
        group: String,
        /// The rule.
        rule: String,
    },
    /// Creates a route table, or gives it other routes.
    PutTable {
        /// The table.
        table: String,
        /// All its routes.
        routes: Vec<RouteRow>,
    },
    /// Deletes a route table.
    DeleteTable {
        /// The table.
        table: String,
    },
    /// Adds a route to a table, or changes it.
    PutRoute {
        /// The table.
        table: String,
        /// The route.
        route: RouteRow,
    },
    /// Deletes a route of a table.
    DeleteRoute {
        /// The table.
        table: String,
        /// The route.
        route: String,
    },
    /// Creates a network, or gives it another address space.
    PutNetwork {
        /// The network.
        network: String,
        /// Its address space.
        prefixes: Vec<String>,
    },
    /// Creates a subnet, or gives it other addresses.
    PutSubnet {
        /// The network.
        network: String,
        /// The subnet.
        subnet: String,
        /// Its addresses.
        prefixes: Vec<String>,
    },
    /// Puts a security group at a subnet, or takes it off.
    SetSubnetGroup {
        /// The network.
        network: String,
        /// The subnet.
        subnet: String,
        /// The group.
        group: Option<String>,
    },
    /// Puts a route table at a subnet, or takes it off.
    SetSubnetTable {
        /// The network.
        network: String,
        /// The subnet.
        subnet: String,
        /// The table.
        table: Option<String>,
    },
    /// Creates one side of a peering, or changes it.
    PutPeering {
        /// The network.
        network: String,
        /// The peering.
        peering: Peering,
    },
    /// Deletes one side of a peering.
    DeletePeering {
        /// The network.
        network: String,
        /// The peering.
        peering: String,
    },
    /// Creates a network interface, or changes its addresses.
    PutInterface(Interface),
    /// Deletes a network interface.
    DeleteInterface {
        /// The network interface.
        nic: String,
    },
    /// Puts a security group at a network interface, or takes it off.
    SetInterfaceGroup {
        /// The network interface.
        nic: String,
        /// The group.
        group: Option<String>,
    },
    /// Lets an interface forward what is not for it, or not.
    SetForwarding {
        /// The network interface.
        nic: String,
        /// Whether it does.
        forwards: bool,
    },
    /// Says which machine an interface belongs to.
    Attach {
        /// The network interface.
        nic: String,
        /// The machine.
        machine: String,
    },
    /// Starts or stops a machine.
    SetPower {
        /// The machine.
        machine: String,
        /// Whether it runs afterwards.
        runs: bool,
    },
    /// Creates a load balancer, or gives it other parts; lists that are not named stay as they are.
    PutBalancer {
        /// The load balancer.
        balancer: String,
        /// Its parts, in the platform's form.
        lists: BTreeMap<BalancerList, Vec<Value>>,
    },
    /// Deletes a load balancer.
    DeleteBalancer {
        /// The load balancer.
        balancer: String,
    },
    /// Adds a part to a load balancer, or changes it.
    PutBalancerPart {
        /// The load balancer.
        balancer: String,
        /// To which list it belongs.
        list: BalancerList,
        /// The part, in the platform's form.
        part: Value,
    },
    /// Deletes a part of a load balancer.
    DeleteBalancerPart {
        /// The load balancer.
        balancer: String,
        /// To which list it belongs.
        list: BalancerList,
        /// The part.
        part: String,
    },
    /// Puts an interface into a pool of a load balancer, or takes it out.
    SetPoolMember {
        /// The load balancer.
        balancer: String,
        /// The pool.
        pool: String,
        /// The network interface.
        nic: String,
        /// Whether it is in the pool afterwards.
        is_in: bool,
    },
    /// Changes the rules of a firewall of the platform.
    Firewall(FirewallEdit),
    /// Changes which networks may call a service of data.
    Admit(Admission),
    /// Runs a line of `iptables`, `ip6tables` or `nft` in a machine.
    Filter {
        /// The machine.
        machine: String,
        /// The words of the line.
        words: Vec<String>,
    },
    /// Runs a line of `tc qdisc` in a machine.
    Shape {
        /// The machine.
        machine: String,
        /// The words of the line.
        words: Vec<String>,
    },
    /// Changes something in a manner that is not known before it is done, or not here.
    Obscure {
        /// What it touches.
        target: Target,
        /// Why it cannot be said.
        why: String,
    },
}

/// Something that could not be judged.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Unread {
    /// What.
    pub what: String,
    /// Why not.
    pub why: String,
}

impl Edit {
    /// Says that something changes what becomes of flows in a manner that is judged nowhere here.
    #[must_use]
    pub fn not_judged(name: &str, what: &str) -> Self {
        Self::Obscure {
            target: Target::Other(name.to_owned()),
            why: format!("what {what} does to flows is not judged"),
        }
    }

    /// Returns who may call a service of data, if the edit changes that.
    pub(super) fn admission(&self) -> Option<&Admission> {
        if let Self::Admit(admission) = self { Some(admission) } else { None }
    }

    /// True if only the comparison of flows says what the edit does.
    #[must_use]
    pub const fn needs_flows(&self) -> bool {
        !matches!(self, Self::Admit(_))
    }

    /// Returns the machine whose inside it changes; nothing where it changes the cloud.
    #[must_use]
    pub fn machine(&self) -> Option<&str> {
        match self {
            Self::Filter { machine, .. }
            | Self::Shape { machine, .. }
            | Self::Obscure { target: Target::Machine(machine), .. } => Some(machine),
            Self::PutGroup { .. }
            | Self::DeleteGroup { .. }
            | Self::PutRule { .. }
            | Self::DeleteRule { .. }
            | Self::PutTable { .. }
            | Self::DeleteTable { .. }
            | Self::PutRoute { .. }
            | Self::DeleteRoute { .. }
            | Self::PutNetwork { .. }
            | Self::PutSubnet { .. }
            | Self::SetSubnetGroup { .. }
            | Self::SetSubnetTable { .. }
            | Self::PutPeering { .. }
            | Self::DeletePeering { .. }
            | Self::PutInterface(_)
            | Self::DeleteInterface { .. }
            | Self::SetInterfaceGroup { .. }
            | Self::SetForwarding { .. }
            | Self::Attach { .. }
            | Self::SetPower { .. }
            | Self::PutBalancer { .. }
            | Self::DeleteBalancer { .. }
            | Self::PutBalancerPart { .. }
            | Self::DeleteBalancerPart { .. }
            | Self::SetPoolMember { .. }
            | Self::Firewall(_)
            | Self::Admit(_)
            | Self::Obscure {
                target: Target::Balancer(_) | Target::Firewall(_) | Target::Other(_), ..
            }
            | Self::Obscure { target: Target::Group(_), .. }
            | Self::Obscure { target: Target::Table(_), .. }
            | Self::Obscure { target: Target::Network(_), .. }
            | Self::Obscure { target: Target::Interface(_), .. } => None,
        }
    }

    /// Returns its rank where several are applied: what others stand in comes first, and what is deleted goes before what is put.
    pub(super) const fn rank(&self) -> u8 {
        match self {
            Self::PutNetwork { .. } => 0,
            Self::Firewall(edit) => {
                if edit.is_deletion() {
                    2
                } else {
                    4
                }
            }
            Self::PutSubnet { .. } => 1,
            Self::DeleteRule { .. }
            | Self::DeleteRoute { .. }
            | Self::DeletePeering { .. }
            | Self::DeleteBalancerPart { .. }
            | Self::DeleteInterface { .. } => 2,
            Self::PutGroup { .. } | Self::PutTable { .. } | Self::PutBalancer { .. } => 3,
            Self::PutRule { .. }
            | Self::PutRoute { .. }
            | Self::PutBalancerPart { .. }
            | Self::PutInterface(_) => 4,
            Self::PutPeering { .. }
            | Self::SetSubnetGroup { .. }
            | Self::SetSubnetTable { .. }
            | Self::SetInterfaceGroup { .. }
            | Self::SetForwarding { .. }
            | Self::Attach { .. }
            | Self::SetPoolMember { .. }
            | Self::SetPower { .. }
            | Self::Admit(_) => 5,
            Self::Filter { .. } | Self::Shape { .. } => 6,
            Self::DeleteGroup { .. } | Self::DeleteTable { .. } | Self::DeleteBalancer { .. } => 7,
            Self::Obscure { .. } => 8,
        }
    }
}

impl fmt::Display for Edit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = |one: &Option<String>| one.clone().unwrap_or_else(|| "none".to_owned());
        match self {
            Self::PutGroup { group, rules } => {
                write!(out, "the security group {group} has {} rules", rules.len())
            }
            Self::DeleteGroup { group } => write!(out, "the security group {group} is deleted"),
            Self::PutRule { group, rule } => write!(
                out,
                "the rule {} of {group}: {} {} {} {} from {} to {} port {}",
                rule.name,
                rule.priority,
                rule.direction,
                rule.access,
                rule.protocol,
                rule.sources.join(","),
                rule.destinations.join(","),
                rule.destination_ports.join(",")
            ),
            Self::DeleteRule { group, rule } => write!(out, "the rule {rule} of {group} is deleted"),
            Self::PutTable { table, routes } => {
                write!(out, "the route table {table} has {} routes", routes.len())
            }
            Self::DeleteTable { table } => write!(out, "the route table {table} is deleted"),
            Self::PutRoute { table, route } => {
                write!(out, "the route {} of {table}: {} to {}", route.name, route.prefix, route.hop_type)?;
                route.hop.as_ref().map_or(Ok(()), |hop| write!(out, " {hop}"))
            }
            Self::DeleteRoute { table, route } => write!(out, "the route {route} of {table} is deleted"),
            Self::PutNetwork { network, prefixes } => {
                write!(out, "the network {network} has {}", prefixes.join(", "))
            }
            Self::PutSubnet { network, subnet, prefixes } => {
                write!(out, "the subnet {network}/{subnet} has {}", prefixes.join(", "))
            }
            Self::SetSubnetGroup { network, subnet, group } => {
                write!(out, "the security group at {network}/{subnet}: {}", at(group))
            }
            Self::SetSubnetTable { network, subnet, table } => {
                write!(out, "the route table at {network}/{subnet}: {}", at(table))
            }
            Self::PutPeering { network, peering } => {
                write!(out, "the peering {} of {network} with {}", peering.name, peering.remote)
            }
            Self::DeletePeering { network, peering } => {
                write!(out, "the peering {peering} of {network} is deleted")
            }
            Self::PutInterface(nic) => {
                write!(out, "the network interface {} has {}", nic.name, nic.addresses.join(", "))
            }
            Self::DeleteInterface { nic } => write!(out, "the network interface {nic} is deleted"),
            Self::SetInterfaceGroup { nic, group } => {
                write!(out, "the security group at {nic}: {}", at(group))
            }
            Self::SetForwarding { nic, forwards } => {
                write!(out, "{nic} {} what is not for it", if *forwards { "forwards" } else { "drops" })
            }
            Self::Attach { nic, machine } => write!(out, "{nic} belongs to {machine}"),
            Self::SetPower { machine, runs } => {
                write!(out, "{machine} is {}", if *runs { "started" } else { "stopped" })
            }
            Self::PutBalancer { balancer, lists } => {
                let parts: usize = lists.values().map(Vec::len).sum();
                write!(out, "the load balancer {balancer} has {parts} parts")
            }
            Self::DeleteBalancer { balancer } => write!(out, "the load balancer {balancer} is deleted"),
            Self::PutBalancerPart { balancer, list, part } => {
                let name = part.get("name").and_then(Value::as_str).unwrap_or_default();
                write!(out, "the {list} {name} of {balancer}")
            }
            Self::DeleteBalancerPart { balancer, list, part } => {
                write!(out, "the {list} {part} of {balancer} is deleted")
            }
            Self::SetPoolMember { balancer, pool, nic, is_in } => {
                write!(out, "{nic} is {} the pool {pool} of {balancer}", if *is_in { "in" } else { "not in" })
            }
            Self::Firewall(edit) => edit.fmt(out),
            Self::Admit(admission) => write!(out, "{}: other networks may call it", admission.object),
            Self::Filter { machine, words } | Self::Shape { machine, words } => {
                write!(out, "{} in {machine}", words.join(" "))
            }
            Self::Obscure { target, why } => write!(out, "{target}: {why}"),
        }
    }
}
