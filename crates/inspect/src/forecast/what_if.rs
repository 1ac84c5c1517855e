//! What `az deployment group what-if --no-pretty-print -o json` prints.

use serde_json::Value;

use super::documents::{MAX_RESOURCES, PlanError, parse};
use super::edit::{Edit, Target};
use super::resource::{delete, is_network, kind, put};
use super::terraform::Plan;
use crate::net::Fields as _;
use crate::path::Bundle;

/// Reads a forecast of the resource manager's.
///
/// # Errors
/// Fails where it is something else.
pub fn what_if(text: &str) -> Result<Plan, PlanError> {
    let document = parse(text)?;
    let inner = document.field("properties").unwrap_or(&document);
    let changes = inner.field("changes").and_then(Value::as_array);
    let changes = changes.ok_or(PlanError::Foreign("`az deployment … what-if --no-pretty-print -o json`"))?;
    if changes.len() > MAX_RESOURCES {
        return Err(PlanError::TooMany(changes.len()));
    }
    let mut plan =
        Plan { before: Bundle::default(), edits: Vec::new(), ignored: Vec::new(), resources: changes.len() };
    for change in changes {
        let Some(id) = change.text("resourceId") else { continue };
        let Some((provider, kind)) = kind(id) else { continue };
        let word = change.text("changeType").unwrap_or("Unsupported").to_ascii_lowercase();
        let edits = match (word.as_str(), change.field("after").filter(|after| !after.is_null())) {
            ("nochange" | "ignore", _) => Vec::new(),
            ("delete", _) => delete(id, &kind),
            ("create" | "modify" | "deploy", Some(after)) => {
                put(id, &kind, after).unwrap_or_else(|(target, why)| vec![Edit::Obscure { target, why }])
            }
            _ => {
                let why =
                    change.text("unsupportedReason").unwrap_or("the platform does not say what it does");
                vec![Edit::Obscure { target: target(id, &kind), why: why.to_owned() }]
            }
        };
        let is_change = !matches!(word.as_str(), "nochange" | "ignore");
        if edits.is_empty() && is_change && is_network(&provider) {
            let own = id.rsplit_once("/providers/").map_or(id, |(_, rest)| rest).to_owned();
            plan.edits.push(Edit::not_judged(&own, &format!("a resource of the type {provider}/{kind}")));
            plan.ignored.push(own);
        }
        plan.edits.extend(edits);
    }
    Ok(plan)
}

/// Returns what a resource touches that is not said to change in a manner that is known.
fn target(id: &str, kind: &str) -> Target {
    let part = |word: &str| super::name::part_after(id, word).unwrap_or_default();
    match kind.split('/').next().unwrap_or_default() {
        "networksecuritygroups" => Target::Group(part("networkSecurityGroups")),
        "routetables" => Target::Table(part("routeTables")),
        "virtualnetworks" => Target::Network(part("virtualNetworks")),
        "networkinterfaces" => Target::Interface(part("networkInterfaces")),
        "azurefirewalls" => Target::Firewall(part("azureFirewalls")),
        "firewallpolicies" => Target::Firewall(part("firewallPolicies")),
        "loadbalancers" => Target::Balancer(part("loadBalancers")),
        _ => Target::Machine(super::name::last(id).unwrap_or_default()),
    }
}
