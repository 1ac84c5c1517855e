//! Load balancers as Terraform's provider for Azure writes them: each part is a resource of its own.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::balancer::{BalancerList, part_of, reference};
use super::documents::texts;
use super::edit::{Edit, Target};
use super::name::{last, part_after};
use super::terraform::is_later;
use crate::net::Fields as _;

/// Returns what a part puts there; a part that is known only later makes its load balancer unknown.
pub(super) fn put(
    kind: &str,
    values: &Value,
    later: &Value,
    publics: &BTreeMap<String, String>,
) -> Vec<Edit> {
    let name = values.text("name").unwrap_or_default();
    let balancer = match kind {
        "azurerm_lb" => Some(name.to_owned()),
        _ => ["loadbalancer_id", "backend_address_pool_id"]
            .iter()
            .find_map(|field| part_after(values.text(field)?, "loadBalancers")),
    };
    // What it belongs to is made by the same plan, and has no id yet.
    let Some(balancer) = balancer else {
        return vec![Edit::Obscure {
            target: Target::Balancer("that the plan makes".to_owned()),
            why: "the plan says so only after it was applied".to_owned(),
        }];
    };
    let edits = match kind {
        "azurerm_lb" => frontends(&balancer, values, publics),
        "azurerm_lb_rule" => rule(&balancer, values),
        "azurerm_lb_probe" => Some(part(&balancer, BalancerList::Probes, probe(values))),
        "azurerm_lb_backend_address_pool" => {
            Some(part(&balancer, BalancerList::Pools, json!({"name": name})))
        }
        _ => member(values, true),
    };
    let is_known = !FIELDS.iter().any(|field| is_later(later.field(field)));
    edits.filter(|_| is_known).unwrap_or_else(|| {
        vec![Edit::Obscure {
            target: Target::Balancer(balancer),
            why: "the plan says so only after it was applied".to_owned(),
        }]
    })
}

/// Fields without which nobody can say what a part does.
const FIELDS: [&str; 9] = [
    "frontend_ip_configuration",
    "frontend_ip_configuration_name",
    "backend_address_pool_ids",
    "backend_address_pool_id",
    "network_interface_id",
    "probe_id",
    "protocol",
    "frontend_port",
    "backend_port",
];

/// Returns what the deletion of a part takes away.
pub(super) fn deleted(values: &Value, list: BalancerList) -> Vec<Edit> {
    let balancer = values.text("loadbalancer_id").and_then(|id| part_after(id, "loadBalancers"));
    let own = balancer.zip(values.text("name").map(str::to_owned));
    own.map(|(balancer, part)| Edit::DeleteBalancerPart { balancer, list, part }).into_iter().collect()
}

/// Puts an interface into a pool, or takes it out.
pub(super) fn member(values: &Value, is_in: bool) -> Option<Vec<Edit>> {
    let (balancer, pool) = part_of(values.text("backend_address_pool_id")?)?;
    let nic = last(values.text("network_interface_id")?)?;
    Some(vec![Edit::SetPoolMember { balancer, pool, nic, is_in }])
}

fn part(balancer: &str, list: BalancerList, part: Value) -> Vec<Edit> {
    vec![Edit::PutBalancerPart { balancer: balancer.to_owned(), list, part }]
}

fn frontends(balancer: &str, values: &Value, publics: &BTreeMap<String, String>) -> Option<Vec<Edit>> {
    let all = values.field("frontend_ip_configuration").and_then(Value::as_array).into_iter().flatten();
    let mut found = Vec::new();
    for one in all {
        let public = one.text("public_ip_address_id").filter(|id| !id.is_empty());
        let address = match public {
            Some(id) => json!({"publicIPAddress": {"ipAddress": publics.get(&id.to_ascii_lowercase())?}}),
            None => json!({"privateIPAddress": one.text("private_ip_address")?}),
        };
        found.push(json!({"name": one.text("name")?, "properties": address}));
    }
    let lists = BTreeMap::from([(BalancerList::Frontends, found)]);
    Some(vec![Edit::PutBalancer { balancer: balancer.to_owned(), lists }])
}

fn rule(balancer: &str, values: &Value) -> Option<Vec<Edit>> {
    let pool = texts(values, &["backend_address_pool_ids", "backend_address_pool_id"]);
    let flag = |names: [&str; 2]| {
        names.iter().any(|name| values.field(name).and_then(Value::as_bool).unwrap_or(false))
    };
    let of = |list: BalancerList, id: &str| last(id).map(|name| reference(balancer, list, &name));
    let port = |name: &str| values.field(name).and_then(Value::as_u64);
    let properties = json!({
        "frontendIPConfiguration": reference(balancer, BalancerList::Frontends, values.text("frontend_ip_configuration_name")?),
        "backendAddressPool": pool.first().and_then(|id| of(BalancerList::Pools, id)),
        "probe": values.text("probe_id").and_then(|id| of(BalancerList::Probes, id)),
        "protocol": values.text("protocol")?, "frontendPort": port("frontend_port")?, "backendPort": port("backend_port")?,
        "enableFloatingIP": flag(["enable_floating_ip", "floating_ip_enabled"]),
        "disableOutboundSnat": flag(["disable_outbound_snat", "disable_outbound_snat"]),
    });
    Some(part(balancer, BalancerList::Rules, json!({"name": values.text("name")?, "properties": properties})))
}

fn probe(values: &Value) -> Value {
    json!({"name": values.text("name"), "properties": {
        "protocol": values.text("protocol").unwrap_or("Tcp"), "port": values.field("port"), "requestPath": values.text("request_path"),
    }})
}
