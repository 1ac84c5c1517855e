//! What `az deployment group what-if --no-pretty-print -o json` prints.

use serde_json::Value;

use super::account::{Action, irrelevant, is_judged, left_over};
use super::admission::{admission, is_account, is_admission};
use super::documents::{MAX_RESOURCES, PlanError, body, parse};
use super::edit::{Edit, Target};
use super::plan::Plan;
use super::resource::{delete, kind, put};
use super::terraform::NO_FLOW;
use crate::net::Fields as _;

/// One resource that changes, in the form of the resource manager.
pub(super) struct Change<'a> {
    pub(super) id: &'a str,
    /// How the plan calls it.
    pub(super) name: &'a str,
    pub(super) action: Action,
    pub(super) before: &'a Value,
    pub(super) after: &'a Value,
}

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
    let mut plan = Plan { resources: changes.len(), ..Plan::default() };
    let none = Value::Null;
    for change in changes {
        let word = change.text("changeType").unwrap_or("Unsupported").to_ascii_lowercase();
        if matches!(word.as_str(), "nochange" | "ignore") {
            continue;
        }
        let Some(id) = change.text("resourceId") else {
            plan.leave_out("a resource without an id", "a change");
            continue;
        };
        let name = id.rsplit_once("/providers/").map_or(id, |(_, rest)| rest);
        let (before, after) =
            (change.field("before").unwrap_or(&none), change.field("after").unwrap_or(&none));
        let action = match word.as_str() {
            "create" => Some(Action::Create),
            "modify" | "deploy" => Some(Action::Update),
            "delete" => Some(Action::Delete),
            _ => None,
        };
        match action {
            Some(Action::Delete) => {
                review(&Change { id, name, action: Action::Delete, before, after: &none }, &mut plan);
            }
            Some(action) if !after.is_null() => {
                review(&Change { id, name, action, before, after }, &mut plan)
            }
            Some(_) | None => unsaid(id, name, change.text("unsupportedReason"), &mut plan),
        }
    }
    if inner.field("potentialChanges").and_then(Value::as_array).is_some_and(|list| !list.is_empty()) {
        plan.leave_out("potentialChanges", "what depends on a condition");
    }
    if document.text("status").is_some_and(|status| !status.eq_ignore_ascii_case("succeeded")) {
        plan.leave_out("the rest of the deployment", "what the platform could not foresee");
    }
    Ok(plan)
}

/// Adds a resource of which the platform does not say what becomes of it.
fn unsaid(id: &str, name: &str, why: Option<&str>, plan: &mut Plan) {
    let full = kind(id).map(|(provider, kind)| (format!("{provider}/{kind}"), kind));
    match full {
        Some((full, _)) if irrelevant(&full, Action::Delete).is_some() => {
            plan.pass_over(name, irrelevant(&full, Action::Delete).unwrap_or(NO_FLOW));
        }
        Some((full, kind)) if is_judged(&full) && !is_admission(&full) => {
            let why = why.unwrap_or("the platform does not say what it does").to_owned();
            plan.edits.push(Edit::Obscure { target: target(id, &kind), why });
        }
        Some(_) | None => plan.leave_out(name, "what the platform does not say of it"),
    }
}

/// Adds what becomes of one resource.
pub(super) fn review(change: &Change<'_>, plan: &mut Plan) {
    let Change { id, name, action, before, after } = *change;
    let Some((provider, kind)) = kind(id) else {
        // What has no type is a group of resources, or a subscription.
        return match irrelevant("microsoft.resources/resourcegroups", action) {
            Some(why) if id.to_ascii_lowercase().contains("/resourcegroups/") => plan.pass_over(name, why),
            Some(_) | None => plan.leave_out(name, "the deletion of a container, with all that is in it,"),
        };
    };
    let full = format!("{provider}/{kind}");
    if let Some(why) = irrelevant(&full, action) {
        return plan.pass_over(name, why);
    }
    let fields = if after.is_null() || (before.is_null() && action != Action::Create) {
        Vec::new()
    } else {
        left_over(&full, body(before), body(after), &Value::Null)
    };
    if !is_judged(&full) && !is_admission(&full) {
        let is_plain = action == Action::Update && before != after && !before.is_null() && fields.is_empty();
        return if is_plain {
            plan.pass_over(name, NO_FLOW);
        } else {
            plan.leave_out(name, &format!("a resource of the type {full}"));
        };
    }
    let mut edits = if is_admission(&full) {
        let one = admission(&full, Some(id), before, after);
        match one.filter(|_| {
            !(after.is_null() && is_account(&full)) && (action == Action::Create || !before.is_null())
        }) {
            Some(one) if one.before == one.after => Vec::new(),
            Some(one) => vec![Edit::Admit(one)],
            None => return plan.leave_out(name, &format!("a resource of the type {full}")),
        }
    } else if after.is_null() {
        delete(id, &kind)
    } else {
        put(id, &kind, after).unwrap_or_else(|(target, why)| vec![Edit::Obscure { target, why }])
    };
    if action == Action::Update && !before.is_null() && !is_admission(&full) {
        let old = put(id, &kind, before).unwrap_or_default();
        edits.retain(|edit| !old.contains(edit));
    }
    if !fields.is_empty() {
        plan.leave_out(name, &format!("a change of {}", fields.join(", ")));
    } else if edits.is_empty() && action != Action::Update {
        plan.leave_out(name, "what the platform does not say of it");
    } else if edits.is_empty() {
        plan.pass_over(name, NO_FLOW);
    }
    plan.edits.extend(edits);
}

/// Returns what a resource touches that is not said to change in a manner that is known.
fn target(id: &str, kind: &str) -> Target {
    let part = |word: &str| super::name::part_after(id, word).unwrap_or_default();
    match kind.split('/').next().unwrap_or_default() {
        "networksecuritygroups" => Target::Group(part("networkSecurityGroups")),
        "routetables" => Target::Table(part("routeTables")),
        "virtualnetworks" => Target::Network(part("virtualNetworks")),
        "networkinterfaces" => Target::Interface(part("networkInterfaces")),
        "firewallpolicies" => Target::Firewall(part("firewallPolicies")),
        "loadbalancers" => Target::Balancer(part("loadBalancers")),
        _ => Target::Machine(super::name::last(id).unwrap_or_default()),
    }
}
