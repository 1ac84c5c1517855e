//! `topology`: what a resource group consists of.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::argument::{Refused, resource_group};
use super::inspector::{Inspection, Inspector, Unfinished};
use crate::listed::{
    self, ListedMachine, ListedNetwork, ListedPeering, ListedResources, ListedRoute, ListedRouteTable,
    ListedSubnet,
};
use crate::suspect::{Layer, plain};
use crate::tool::Site;
use crate::tool::call_replay::CallReplay;
use ghost_cloud::ResourceGroup;
use ghost_cloud::probe::topology::{self, TopologyOperation};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {}

/// See the module.
pub(super) struct Topology;

impl Inspector for Topology {
    type Arguments = Arguments;
    type Request = ResourceGroup;
    const NAME: &'static str = listed::TOOL;
    const ASKS_WHY: bool = false;
    const DESCRIPTION: &'static str = "Lists the machines of a resource group with their addresses, interfaces and subnets, the \
        networks with their subnets, security groups, route tables and service endpoints. It turns names and addresses of a symptom \
        into objects; call it early, once. Example: {\"reasoning\":\"who owns 10.0.1.5, and behind which security groups?\"}";

    fn check(
        &self,
        _arguments: &Arguments,
        group: Option<&str>,
        site: &Site,
    ) -> Result<ResourceGroup, Refused> {
        resource_group(site, group)
    }

    fn inspect(
        &self,
        resource_group: &ResourceGroup,
        _site: &Site,
        replay: &mut CallReplay<'_, '_>,
    ) -> Result<Inspection, Unfinished> {
        let found = replay.run(&mut TopologyOperation::new(resource_group))??;
        Ok(inspection_of(&found))
    }
}

fn inspection_of(found: &topology::Topology) -> Inspection {
    let mut inspection = Inspection { facts: json!(listed(found)), ..Inspection::default() };
    for list in &found.unread {
        inspection.notes.push(format!("the {} could not be read", plain(&list.what)));
        inspection.line(&format!("{}: {}", list.what, list.why));
    }
    for group in &found.security_groups {
        for rule in &group.rules {
            let ports = rule.ports.join(",");
            let (from, to) = (rule.sources.join(","), rule.destinations.join(","));
            inspection.line(&format!(
                "{} {} {} {} {} {} from {from} to {to} port {ports}",
                group.name, rule.direction, rule.priority, rule.name, rule.access, rule.protocol
            ));
        }
    }
    if found.unread.is_empty() {
        inspection.looked(Layer::Topology, &found.group);
        for machine in &found.machines {
            inspection.looked(Layer::Topology, &machine.name);
        }
    }
    inspection
}

/// A prefix, or a service tag.
fn prefix(text: &str) -> String {
    text.split('/').map(plain).collect::<Vec<_>>().join("/")
}

fn prefixes(all: &[String]) -> Vec<String> {
    all.iter().map(|one| prefix(one)).collect()
}

fn listed(found: &topology::Topology) -> ListedResources {
    let route = |route: &topology::Route| ListedRoute {
        name: plain(&route.name),
        prefix: prefix(&route.prefix),
        next_hop_type: plain(&route.next_hop_type),
        next_hop_ip: route.next_hop_ip.as_deref().map(plain),
    };
    let table = |table: &topology::RouteTable| ListedRouteTable {
        name: plain(&table.name),
        routes: table.routes.iter().map(route).collect(),
    };
    ListedResources {
        group: Some(plain(&found.group)),
        machines: found.machines.iter().map(|one| machine(found, one)).collect(),
        networks: found.networks.iter().map(network).collect(),
        route_tables: found.route_tables.iter().map(table).collect(),
    }
}

fn machine(found: &topology::Topology, machine: &topology::Machine) -> ListedMachine {
    let nics: Vec<&topology::Nic> = found.of(&machine.name).collect();
    let first =
        machine.interfaces.first().and_then(|name| nics.iter().find(|nic| nic.name == *name).copied());
    let first = first.or_else(|| nics.first().copied());
    let addresses: Vec<String> =
        nics.iter().flat_map(|nic| &nic.addresses).filter_map(|one| Some(one.ip?.to_string())).collect();
    let public: Vec<String> = nics
        .iter()
        .flat_map(|nic| &nic.addresses)
        .filter_map(|one| Some(plain(one.public.as_deref()?)))
        .collect();
    let path = first.and_then(|nic| nic.addresses.iter().find_map(|one| one.subnet.as_deref()));
    let subnet = path.and_then(|path| found.subnet(path));
    let parts = path.and_then(|path| path.rsplit_once('/'));
    ListedMachine {
        name: plain(&machine.name),
        region: plain(&machine.region),
        addresses,
        public,
        nic: first.map(|nic| plain(&nic.name)),
        nsg: first.and_then(|nic| nic.security_group.as_deref()).map(prefix),
        forwards: first.map(|nic| nic.forwards),
        vnet: parts.map(|(network, _)| prefix(network)),
        subnet: parts.map(|(_, subnet)| plain(subnet)),
        subnet_nsg: subnet.and_then(|subnet| subnet.security_group.as_deref()).map(prefix),
        route_table: subnet.and_then(|subnet| subnet.route_table.as_deref()).map(prefix),
    }
}

fn network(network: &topology::Network) -> ListedNetwork {
    let subnet = |subnet: &topology::Subnet| ListedSubnet {
        name: plain(&subnet.name),
        prefixes: prefixes(&subnet.prefixes),
        nsg: subnet.security_group.as_deref().map(prefix),
        route_table: subnet.route_table.as_deref().map(prefix),
        endpoints: subnet.service_endpoints.iter().map(|one| plain(one)).collect(),
    };
    let peering = |peering: &topology::Peering| ListedPeering {
        name: plain(&peering.name),
        remote: prefix(&peering.remote),
        state: plain(&peering.state),
        prefixes: prefixes(&peering.prefixes),
    };
    ListedNetwork {
        name: plain(&network.name),
        prefixes: prefixes(&network.prefixes),
        subnets: network.subnets.iter().map(subnet).collect(),
        peerings: network.peerings.iter().map(peering).collect(),
    }
}
