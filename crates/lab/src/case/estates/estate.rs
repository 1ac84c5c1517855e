//! An estate while it is drawn: what the platform is configured to do, the machines, and what is on them.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use super::address::{Prefix, Range};
use super::guest::GuestStep;
use crate::host::Protocol;

/// All of it. Names are keys: nothing stands twice.
#[derive(Debug, Clone, Default)]
pub(super) struct Estate {
    pub(super) networks: Vec<Network>,
    /// By `NETWORK/SUBNET`.
    pub(super) subnets: Vec<Subnet>,
    pub(super) groups: BTreeMap<String, Vec<GroupRule>>,
    pub(super) tables: BTreeMap<String, Vec<Route>>,
    pub(super) machines: Vec<Machine>,
    /// Names of groups of interfaces.
    pub(super) interface_groups: Vec<String>,
    /// What happened inside guests, in order.
    pub(super) steps: Vec<(String, GuestStep)>,
    pub(super) services: Vec<Service>,
    /// The name server of the platform fails for whoever is named.
    pub(super) dns_fails_for: Option<(String, &'static str)>,
    pub(super) storage: Storage,
    /// A network, and the one that its peering keeps out of what rules call the network.
    pub(super) kept_out: Vec<(String, String)>,
    /// Subnets that the platform does not let out by itself.
    pub(super) closed: Vec<String>,
    /// Those of them that have a NAT gateway without an address.
    pub(super) bare_gateway: Vec<String>,
    /// A network, and the one from which its peering takes in only what comes from there itself.
    pub(super) unforwarded: Vec<(String, String)>,
}

/// What the storage account lets in.
#[derive(Debug, Clone, Default)]
pub(super) struct Storage {
    /// It denies whoever it does not name.
    pub(super) denies: bool,
    /// The subnets that it names.
    pub(super) lets: Vec<String>,
    /// The subnet that lost its endpoint.
    pub(super) endpoint_lost: Option<String>,
}

#[derive(Debug, Clone)]
pub(super) struct Network {
    pub(super) name: String,
    pub(super) prefix: Prefix,
    /// The other network, and the state.
    pub(super) peerings: Vec<(String, &'static str)>,
}

#[derive(Debug, Clone)]
pub(super) struct Subnet {
    /// `NETWORK/SUBNET`.
    pub(super) name: String,
    pub(super) prefix: Prefix,
    pub(super) group: Option<String>,
    pub(super) table: Option<String>,
}

impl Subnet {
    pub(super) fn network(&self) -> &str {
        self.name.split('/').next().unwrap_or_default()
    }

    pub(super) fn short(&self) -> &str {
        self.name.split('/').nth(1).unwrap_or_default()
    }
}

/// Whom a rule of a group speaks of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    Any,
    Of(Prefix),
    VirtualNetwork,
    Internet,
    LoadBalancer,
    /// A group of interfaces.
    Interfaces(String),
}

#[derive(Debug, Clone)]
pub(super) struct GroupRule {
    pub(super) name: String,
    pub(super) priority: u16,
    pub(super) inbound: bool,
    pub(super) allows: bool,
    /// All protocols where none is named.
    pub(super) protocol: Option<Protocol>,
    pub(super) source: Place,
    pub(super) destination: Place,
    /// All ports where none is named.
    pub(super) ports: Vec<Range>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hop {
    None,
    Appliance(Ipv4Addr),
    Internet,
    Gateway,
}

#[derive(Debug, Clone)]
pub(super) struct Route {
    pub(super) name: String,
    pub(super) prefix: Prefix,
    pub(super) hop: Hop,
}

/// What a machine is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Role {
    #[default]
    Web,
    App,
    Db,
    Cache,
    Jump,
    Appliance,
    Names,
    Partner,
}

#[derive(Debug, Clone)]
pub(super) struct Machine {
    pub(super) name: String,
    pub(super) role: Role,
    pub(super) address: Ipv4Addr,
    /// `NETWORK/SUBNET`.
    pub(super) subnet: String,
    pub(super) group: Option<String>,
    pub(super) interface_group: Option<String>,
    /// Its interface passes on what is not its own.
    pub(super) forwards: bool,
    pub(super) public: Option<Ipv4Addr>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Service {
    pub(super) machine: String,
    pub(super) port: u16,
    pub(super) program: &'static str,
    /// It is bound to the loopback: nobody else reaches it.
    pub(super) is_local: bool,
    /// The status of its pages by path.
    pub(super) pages: Vec<(&'static str, u16)>,
}

impl Service {
    pub(super) fn new(machine: String, port: u16, program: &'static str) -> Self {
        Self { machine, port, program, is_local: false, pages: Vec::new() }
    }
}

impl Estate {
    /// Tells whether a peering of a network keeps another one out.
    pub(super) fn keeps_out(&self, own: &str, other: &str) -> bool {
        self.kept_out.iter().any(|(network, remote)| network == own && remote == other)
    }

    /// Tells whether a peering of a network takes in what others forward.
    pub(super) fn takes_forwarded(&self, own: &str, other: &str) -> bool {
        self.unforwarded.iter().all(|(network, remote)| network != own || remote != other)
    }

    /// The network that holds an address.
    pub(super) fn holding(&self, address: Ipv4Addr) -> Option<&Network> {
        self.networks.iter().find(|network| network.prefix.holds(address))
    }

    pub(super) fn machine(&self, name: &str) -> Option<&Machine> {
        self.machines.iter().find(|machine| machine.name == name)
    }

    pub(super) fn owner(&self, address: Ipv4Addr) -> Option<&Machine> {
        self.machines.iter().find(|machine| machine.address == address)
    }

    pub(super) fn subnet(&self, name: &str) -> Option<&Subnet> {
        self.subnets.iter().find(|subnet| subnet.name == name)
    }

    pub(super) fn network(&self, name: &str) -> Option<&Network> {
        self.networks.iter().find(|network| network.name == name)
    }

    pub(super) fn of_role(&self, role: Role) -> Vec<&Machine> {
        self.machines.iter().filter(|machine| machine.role == role).collect()
    }

    /// Adds a route to the table of a subnet, which is made where there is none.
    pub(super) fn add_route(&mut self, subnet: &str, table: &str, route: Route) {
        let Some(own) = self.subnets.iter_mut().find(|own| own.name == subnet) else { return };
        let table = own.table.get_or_insert_with(|| table.to_owned()).clone();
        let routes = self.tables.entry(table).or_default();
        if routes.iter().all(|known| known.prefix != route.prefix && known.name != route.name) {
            routes.push(route);
        }
    }

    /// Adds a rule where its name and its priority are free, at the next priority that is.
    pub(super) fn add_rule(&mut self, group: &str, mut rule: GroupRule) {
        let rules = self.groups.entry(group.to_owned()).or_default();
        let taken = |rules: &[GroupRule], rule: &GroupRule| {
            rules.iter().any(|known| known.inbound == rule.inbound && known.priority == rule.priority)
        };
        while taken(rules, &rule) {
            rule.priority += 1;
        }
        while rules.iter().any(|known| known.name == rule.name) {
            rule.name.push('x');
        }
        rules.push(rule);
    }

    /// The groups that a packet of a machine meets: that of its interface, that of its subnet.
    pub(super) fn groups_of(&self, machine: &Machine) -> [Option<String>; 2] {
        let subnet = self.subnet(&machine.subnet).and_then(|subnet| subnet.group.clone());
        [machine.group.clone(), subnet]
    }

    pub(super) fn listens(&self, machine: &str, port: u16) -> bool {
        let mut all = self.services.iter();
        all.any(|service| service.machine == machine && service.port == port && !service.is_local)
    }
}
