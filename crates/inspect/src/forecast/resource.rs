//! Resources of the resource manager, as edits: what REST, `az` and `what-if` write of them.

use serde_json::Value;

use super::balancer::{BalancerList, part_of, whole};
use super::documents::{body, id_name, items, texts};
use super::edit::{Edit, Interface, Peering, Target};
use super::firewall::{FirewallEdit, group_of};
use super::name::{last, part_after, subnet};
use super::routes::route_of;
use super::rules::rule_of;
use crate::net::Fields as _;

/// Returns the kind of a resource: the types of its id, as `virtualNetworks/subnets`, and the provider before it.
pub(super) fn kind(id: &str) -> Option<(String, String)> {
    let (_, rest) = id.rsplit_once("/providers/")?;
    let parts: Vec<&str> = rest.split('/').collect();
    let (provider, rest) = parts.split_first()?;
    let types: Vec<&str> = rest.iter().step_by(2).copied().collect();
    Some(((*provider).to_ascii_lowercase(), types.join("/").to_ascii_lowercase()))
}

/// Returns what a resource puts there.
///
/// # Errors
/// Says which part of it could not be read.
pub(super) fn put(id: &str, kind: &str, row: &Value) -> Result<Vec<Edit>, (Target, String)> {
    let name = last(id).unwrap_or_default();
    let inner = body(row);
    let parent = |word: &str| part_after(id, word).unwrap_or_default();
    let odd = |target: Target| (target, "a part of it cannot be read".to_owned());
    Ok(match kind {
        "networksecuritygroups" => {
            let all: Vec<&Value> = items(row, "securityRules").collect();
            let rules: Option<Vec<_>> = all.into_iter().map(rule_of).collect();
            let rules = rules.ok_or_else(|| odd(Target::Group(name.clone())))?;
            vec![Edit::PutGroup { group: name, rules }]
        }
        "networksecuritygroups/securityrules" => {
            let group = parent("networkSecurityGroups");
            let rule = rule_of(&named(row, &name)).ok_or_else(|| odd(Target::Group(group.clone())))?;
            vec![Edit::PutRule { group, rule }]
        }
        "routetables" => {
            let routes: Option<Vec<_>> = items(row, "routes").map(route_of).collect();
            let routes = routes.ok_or_else(|| odd(Target::Table(name.clone())))?;
            vec![Edit::PutTable { table: name, routes }]
        }
        "routetables/routes" => {
            let table = parent("routeTables");
            let route = route_of(&named(row, &name)).ok_or_else(|| odd(Target::Table(table.clone())))?;
            vec![Edit::PutRoute { table, route }]
        }
        "virtualnetworks" => {
            let space = inner.field("addressSpace").ok_or_else(|| odd(Target::Network(name.clone())))?;
            let mut edits = vec![Edit::PutNetwork {
                network: name.clone(),
                prefixes: texts(space, &["addressPrefixes"]),
            }];
            for one in items(row, "subnets") {
                let own = one.text("name").ok_or_else(|| odd(Target::Network(name.clone())))?;
                edits.extend(of_subnet(&name, own, one));
            }
            for one in items(row, "virtualNetworkPeerings") {
                edits.push(peering(&name, one).ok_or_else(|| odd(Target::Network(name.clone())))?);
            }
            edits
        }
        "virtualnetworks/subnets" => of_subnet(&parent("virtualNetworks"), &name, row),
        "virtualnetworks/virtualnetworkpeerings" => {
            let network = parent("virtualNetworks");
            vec![peering(&network, &named(row, &name)).ok_or_else(|| odd(Target::Network(network)))?]
        }
        "networkinterfaces" => interface(&name, row).ok_or_else(|| odd(Target::Interface(name.clone())))?,
        "firewallpolicies/rulecollectiongroups" => {
            let edit = group_of(id, &name, row);
            vec![edit.map(Edit::Firewall).ok_or_else(|| odd(Target::Firewall(parent("firewallPolicies"))))?]
        }
        "loadbalancers" => vec![whole(&name, row)],
        "loadbalancers/inboundnatrules" => put_part(id, BalancerList::NatRules, row),
        "loadbalancers/backendaddresspools" => put_part(id, BalancerList::Pools, row),
        "virtualmachines" => {
            let nics =
                inner.field("networkProfile").into_iter().flat_map(|one| items(one, "networkInterfaces"));
            let nics = nics.filter_map(|one| id_name(Some(one)));
            nics.map(|nic| Edit::Attach { nic, machine: name.clone() }).collect()
        }
        _ => Vec::new(),
    })
}

/// Returns what the deletion of a resource takes away; nothing where that cannot be said.
pub(super) fn delete(id: &str, kind: &str) -> Vec<Edit> {
    let name = last(id).unwrap_or_default();
    let parent = |word: &str| part_after(id, word).unwrap_or_default();
    let gone = |target: Target| Edit::Obscure { target, why: "it is deleted".to_owned() };
    match kind {
        "networksecuritygroups" => vec![Edit::DeleteGroup { group: name }],
        "networksecuritygroups/securityrules" => {
            vec![Edit::DeleteRule { group: parent("networkSecurityGroups"), rule: name }]
        }
        "routetables" => vec![Edit::DeleteTable { table: name }],
        "routetables/routes" => vec![Edit::DeleteRoute { table: parent("routeTables"), route: name }],
        "virtualnetworks" => vec![gone(Target::Network(name))],
        "virtualnetworks/subnets" => vec![gone(Target::Network(parent("virtualNetworks")))],
        "virtualnetworks/virtualnetworkpeerings" => {
            vec![Edit::DeletePeering { network: parent("virtualNetworks"), peering: name }]
        }
        "firewallpolicies/rulecollectiongroups" => {
            vec![Edit::Firewall(FirewallEdit::DeleteGroup {
                policy: parent("firewallPolicies"),
                group: name,
            })]
        }
        "networkinterfaces" => vec![Edit::DeleteInterface { nic: name }],
        "virtualmachines" => vec![Edit::SetPower { machine: name, runs: false }],
        "loadbalancers" => vec![Edit::DeleteBalancer { balancer: name }],
        "loadbalancers/inboundnatrules" => delete_part(id, BalancerList::NatRules),
        "loadbalancers/backendaddresspools" => delete_part(id, BalancerList::Pools),
        _ => Vec::new(),
    }
}

fn put_part(id: &str, list: BalancerList, row: &Value) -> Vec<Edit> {
    let own = part_of(id);
    own.map(|(balancer, name)| Edit::PutBalancerPart { balancer, list, part: named(row, &name) })
        .into_iter()
        .collect()
}

fn delete_part(id: &str, list: BalancerList) -> Vec<Edit> {
    let own = part_of(id);
    own.map(|(balancer, part)| Edit::DeleteBalancerPart { balancer, list, part }).into_iter().collect()
}

/// Gives a row the name at the end of its id, where it has none.
fn named(row: &Value, name: &str) -> Value {
    let mut row = row.clone();
    if let Some(map) = row.as_object_mut() {
        map.entry("name").or_insert_with(|| Value::String(name.to_owned()));
    }
    row
}

fn of_subnet(network: &str, name: &str, row: &Value) -> Vec<Edit> {
    let inner = body(row);
    let own = |field: &str| id_name(inner.field(field));
    let (network, subnet) = (network.to_owned(), name.to_owned());
    let prefixes = texts(inner, &["addressPrefix", "addressPrefixes"]);
    vec![
        Edit::PutSubnet { network: network.clone(), subnet: subnet.clone(), prefixes },
        Edit::SetSubnetGroup {
            network: network.clone(),
            subnet: subnet.clone(),
            group: own("networkSecurityGroup"),
        },
        Edit::SetSubnetTable { network, subnet, table: own("routeTable") },
    ]
}

fn peering(network: &str, row: &Value) -> Option<Edit> {
    Some(Edit::PutPeering { network: network.to_owned(), peering: peering_of(row)? })
}

/// Reads one side of a peering as it is configured.
pub(super) fn peering_of(row: &Value) -> Option<Peering> {
    let inner = body(row);
    let flag = |name: &str, usual: bool| inner.field(name).and_then(Value::as_bool).unwrap_or(usual);
    Some(Peering {
        name: row.text("name")?.to_owned(),
        remote: id_name(inner.field("remoteVirtualNetwork"))?,
        access: flag("allowVirtualNetworkAccess", true),
        forwarded: flag("allowForwardedTraffic", false),
        transit: flag("allowGatewayTransit", false),
        remote_gateway: flag("useRemoteGateways", false),
    })
}

fn interface(name: &str, row: &Value) -> Option<Vec<Edit>> {
    let inner = body(row);
    let mut addresses = Vec::new();
    let (mut place, mut public) = (None, None);
    for one in items(row, "ipConfigurations").map(body) {
        addresses.push(one.text("privateIPAddress")?.to_owned());
        place = place.or_else(|| subnet(one.field("subnet")?.text("id")?));
        public = public.or_else(|| {
            one.field("publicIPAddress").and_then(|one| body(one).text("ipAddress")).map(str::to_owned)
        });
    }
    let machine = id_name(inner.field("virtualMachine"));
    let mut edits = vec![Edit::PutInterface(Interface {
        name: name.to_owned(),
        addresses,
        subnet: place?,
        public,
        forwards: inner.field("enableIPForwarding").and_then(Value::as_bool).unwrap_or(false),
        group: id_name(inner.field("networkSecurityGroup")),
    })];
    edits.extend(machine.map(|machine| Edit::Attach { nic: name.to_owned(), machine }));
    Some(edits)
}
