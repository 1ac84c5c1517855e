//! `topology`: what a resource group consists of.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::argument::{Refused, place};
use super::inspecting::Inspector;
use super::seen::{Halt, Seen};
use crate::suspect::{Layer, plain};
use crate::tool::Site;
use crate::tool::errand::Trail;
use ghost_cloud::ResourceGroup;
use ghost_cloud::probe::topology::{self, TopologyOperation};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {}

/// See the module.
pub(super) struct Topology;

impl Inspector for Topology {
    type Arguments = Arguments;
    type Wish = ResourceGroup;
    const NAME: &'static str = "topology";
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
        place(site, group)
    }

    fn look(&self, place: &ResourceGroup, _site: &Site, trail: &mut Trail<'_, '_>) -> Result<Seen, Halt> {
        let found = trail.carry(&mut TopologyOperation::new(place))??;
        Ok(told(&found))
    }
}

fn told(found: &topology::Topology) -> Seen {
    let mut seen = Seen::default();
    let machines: Vec<Value> = found.machines.iter().map(|one| machine(found, one)).collect();
    seen.fact("group", plain(&found.group));
    seen.fact("machines", machines);
    seen.fact("networks", found.networks.iter().map(network).collect::<Vec<Value>>());
    let tables = found.route_tables.iter().map(|table| {
        let routes = table.routes.iter().map(|route| {
            json!({"name": plain(&route.name), "prefix": prefix(&route.prefix), "next_hop_type": plain(&route.next_hop_type),
                "next_hop_ip": route.next_hop_ip.as_deref().map(plain)})
        });
        json!({"name": plain(&table.name), "routes": routes.collect::<Vec<Value>>()})
    });
    seen.fact("route_tables", tables.collect::<Vec<Value>>());
    for list in &found.unread {
        seen.notes.push(format!("the {} could not be read", plain(&list.what)));
        seen.line(&format!("{}: {}", list.what, list.why));
    }
    for group in &found.security_groups {
        for rule in &group.rules {
            let ports = rule.ports.join(",");
            let (from, to) = (rule.sources.join(","), rule.destinations.join(","));
            seen.line(&format!(
                "{} {} {} {} {} {} from {from} to {to} port {ports}",
                group.name, rule.direction, rule.priority, rule.name, rule.access, rule.protocol
            ));
        }
    }
    if found.unread.is_empty() {
        seen.looked(Layer::Topology, &found.group);
        for machine in &found.machines {
            seen.looked(Layer::Topology, &machine.name);
        }
    }
    seen
}

/// A prefix, or a service tag.
fn prefix(text: &str) -> String {
    text.split('/').map(plain).collect::<Vec<_>>().join("/")
}

fn prefixes(all: &[String]) -> Vec<String> {
    all.iter().map(|one| prefix(one)).collect()
}

fn machine(found: &topology::Topology, machine: &topology::Machine) -> Value {
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
    json!({
        "name": plain(&machine.name), "region": plain(&machine.region), "addresses": addresses, "public": public,
        "nic": first.map(|nic| plain(&nic.name)), "nsg": first.and_then(|nic| nic.security_group.as_deref()).map(prefix),
        "forwards": first.map(|nic| nic.forwards),
        "vnet": parts.map(|(network, _)| prefix(network)), "subnet": parts.map(|(_, subnet)| plain(subnet)),
        "subnet_nsg": subnet.and_then(|subnet| subnet.security_group.as_deref()).map(prefix),
        "route_table": subnet.and_then(|subnet| subnet.route_table.as_deref()).map(prefix),
    })
}

fn network(network: &topology::Network) -> Value {
    let subnet = |subnet: &topology::Subnet| {
        json!({
            "name": plain(&subnet.name), "prefixes": prefixes(&subnet.prefixes),
            "nsg": subnet.security_group.as_deref().map(prefix), "route_table": subnet.route_table.as_deref().map(prefix),
            "endpoints": subnet.service_endpoints.iter().map(|one| plain(one)).collect::<Vec<_>>(),
        })
    };
    let peering = |peering: &topology::Peering| {
        json!({"name": plain(&peering.name), "remote": prefix(&peering.remote), "state": plain(&peering.state),
            "prefixes": prefixes(&peering.prefixes)})
    };
    json!({
        "name": plain(&network.name), "prefixes": prefixes(&network.prefixes),
        "subnets": network.subnets.iter().map(subnet).collect::<Vec<Value>>(),
        "peerings": network.peerings.iter().map(peering).collect::<Vec<Value>>(),
    })
}
