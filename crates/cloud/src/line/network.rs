//! Networks, interfaces, rules and routes.

use super::text::Line;
use crate::name::{Name, ResourceGroup};
use ghost_base::Timestamp;

/// Shows as whom `az` is signed in, without a request.
#[must_use]
pub fn signed_in() -> Line {
    Line::read("account show").json()
}

/// Lists the interfaces of a group.
#[must_use]
pub fn interfaces(place: &ResourceGroup) -> Line {
    Line::read("network nic list").within(place).json()
}

/// Shows an interface.
#[must_use]
pub fn interface(place: &ResourceGroup, name: &Name) -> Line {
    Line::read("network nic show").option("--name", name).within(place).json()
}

/// Shows the effective routes of an interface.
#[must_use]
pub fn effective_routes(place: &ResourceGroup, interface: &Name) -> Line {
    Line::read("network nic show-effective-route-table").option("--name", interface).within(place).json()
}

/// Lists the effective security rules of an interface.
#[must_use]
pub fn effective_rules(place: &ResourceGroup, interface: &Name) -> Line {
    Line::read("network nic list-effective-nsg").option("--name", interface).within(place).json()
}

/// Lists the security groups of a group.
#[must_use]
pub fn security_groups(place: &ResourceGroup) -> Line {
    Line::read("network nsg list").within(place).json()
}

/// Shows a security group with its rules.
#[must_use]
pub fn security_group(place: &ResourceGroup, name: &Name) -> Line {
    Line::read("network nsg show").option("--name", name).within(place).json()
}

/// Lists the route tables of a group.
#[must_use]
pub fn route_tables(place: &ResourceGroup) -> Line {
    Line::read("network route-table list").within(place).json()
}

/// Shows a route table with its routes.
#[must_use]
pub fn route_table(place: &ResourceGroup, name: &Name) -> Line {
    Line::read("network route-table show").option("--name", name).within(place).json()
}

/// Lists the load balancers of a group, with frontends, pools, rules and probes.
#[must_use]
pub fn load_balancers(place: &ResourceGroup) -> Line {
    Line::read("network lb list").within(place).json()
}

/// Lists the application gateways of a group.
#[must_use]
pub fn application_gateways(place: &ResourceGroup) -> Line {
    Line::read("network application-gateway list").within(place).json()
}

/// Asks an application gateway how the servers behind it are.
#[must_use]
pub fn backend_health(place: &ResourceGroup, gateway: &Name) -> Line {
    Line::read("network application-gateway show-backend-health")
        .option("--name", gateway)
        .within(place)
        .json()
}

/// Lists the bastion hosts of a group.
#[must_use]
pub fn bastions(place: &ResourceGroup) -> Line {
    Line::read("network bastion list").within(place).json()
}

/// Lists the Kubernetes clusters of a group.
#[must_use]
pub fn clusters(place: &ResourceGroup) -> Line {
    Line::read("aks list").within(place).json()
}

/// Lists the public addresses of a group.
#[must_use]
pub fn public_addresses(place: &ResourceGroup) -> Line {
    Line::read("network public-ip list").within(place).json()
}

/// Lists the firewalls of a group, with the rules that stand in them.
#[must_use]
pub fn firewalls(place: &ResourceGroup) -> Line {
    Line::read("network firewall list").within(place).json()
}

/// Shows the policy of a firewall.
#[must_use]
pub fn firewall_policy(place: &ResourceGroup, name: &Name) -> Line {
    Line::read("network firewall policy show").option("--name", name).within(place).json()
}

/// Lists the groups of rule collections of a policy.
#[must_use]
pub fn firewall_rules(place: &ResourceGroup, policy: &Name) -> Line {
    Line::read("network firewall policy rule-collection-group list")
        .option("--policy-name", policy)
        .within(place)
        .json()
}

/// Lists the groups of addresses of a group.
#[must_use]
pub fn address_groups(place: &ResourceGroup) -> Line {
    Line::read("network ip-group list").within(place).json()
}

/// Lists the NAT gateways of a group.
#[must_use]
pub fn nat_gateways(place: &ResourceGroup) -> Line {
    Line::read("network nat gateway list").within(place).json()
}

/// Counts the connections of the last hours for which a NAT gateway or a load balancer had no port. `kind` is its type in the provider of
/// networks, and `subscription` that of its id.
#[must_use]
pub fn failed_connections(
    place: &ResourceGroup,
    subscription: &Name,
    kind: &'static str,
    name: &Name,
) -> Line {
    let id = format!(
        "/subscriptions/{subscription}/resourceGroups/{}/providers/Microsoft.Network/{kind}/{name}",
        place.group
    );
    let metric = if kind == "natGateways" { "SNATConnectionCount" } else { "SnatConnectionCount" };
    Line::read("monitor metrics list")
        .option("--resource", id)
        .option("--metrics", metric)
        .option("--aggregation", "Total")
        .option("--interval", "PT5M")
        .option("--offset", "6h")
        .option("--filter", "ConnectionState eq 'Failed'")
        .pinned(place)
        .json()
}

/// Lists the private endpoints of a group.
#[must_use]
pub fn private_endpoints(place: &ResourceGroup) -> Line {
    Line::read("network private-endpoint list").within(place).json()
}

/// Lists the private zones of a group, or of the whole subscription.
#[must_use]
pub fn zones(place: &ResourceGroup, whole: bool) -> Line {
    let line = Line::read("network private-dns zone list");
    if whole { line.pinned(place).json() } else { line.within(place).json() }
}

/// Lists the networks that see a private zone.
#[must_use]
pub fn zone_links(place: &ResourceGroup, zone: &Name) -> Line {
    Line::read("network private-dns link vnet list").option("--zone-name", zone).within(place).json()
}

/// Lists the addresses that a private zone holds.
#[must_use]
pub fn zone_records(place: &ResourceGroup, zone: &Name) -> Line {
    Line::read("network private-dns record-set a list").option("--zone-name", zone).within(place).json()
}

/// Lists the virtual networks of a group, with subnets and peerings.
#[must_use]
pub fn networks(place: &ResourceGroup) -> Line {
    Line::read("network vnet list").within(place).json()
}

/// Shows a virtual network.
#[must_use]
pub fn network(place: &ResourceGroup, name: &Name) -> Line {
    Line::read("network vnet show").option("--name", name).within(place).json()
}

/// Shows a subnet.
#[must_use]
pub fn subnet(place: &ResourceGroup, network: &Name, name: &Name) -> Line {
    Line::read("network vnet subnet show")
        .option("--vnet-name", network)
        .option("--name", name)
        .within(place)
        .json()
}

/// Lists the prefixes of service tags in a region.
#[must_use]
pub fn service_tags(place: &ResourceGroup, region: &Name) -> Line {
    Line::read("network list-service-tags").option("--location", region).pinned(place).json()
}

/// Lists what was changed in a group in the last hours.
#[must_use]
pub fn activity(place: &ResourceGroup, hours: u16) -> Line {
    Line::read("monitor activity-log list")
        .within(place)
        .option("--offset", format!("{hours}h"))
        .option("--max-events", "200")
        .json()
}

/// Lists what was changed in a group between two moments, the latest first.
#[must_use]
pub fn activity_between(place: &ResourceGroup, from: Timestamp, until: Timestamp, most: usize) -> Line {
    Line::read("monitor activity-log list")
        .within(place)
        .option("--start-time", from.to_string())
        .option("--end-time", until.to_string())
        .option("--max-events", most.to_string())
        .json()
}
