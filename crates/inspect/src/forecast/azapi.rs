//! Resources that a Terraform plan writes in the form of the resource manager.

use serde_json::{Value, json};

use super::account::Action;
use super::plan::Plan;
use super::terraform::is_later;
use super::what_if::{Change, review as review_resource};
use crate::net::Fields as _;

/// Adds what a plan does with such a resource.
pub(super) fn review(
    change: &Value,
    before: &Value,
    after: &Value,
    later: &Value,
    action: Action,
    plan: &mut Plan,
) {
    let address = change.text("address").unwrap_or("azapi_resource");
    let is_unknown = ["type", "name", "parent_id", "body"].iter().any(|field| is_later(later.field(field)));
    let row = if after.is_null() { before } else { after };
    let Some(id) = id(row).filter(|_| !is_unknown) else {
        return plan
            .leave_out(address, "a resource of the platform that the plan knows only after it was applied");
    };
    let (old, new) = (resource(&id, before), resource(&id, after));
    review_resource(&Change { id: &id, name: address, action, before: &old, after: &new }, plan);
}

/// Returns the id of a resource, from the place in which it is made, its type and its name.
fn id(row: &Value) -> Option<String> {
    if let Some(id) = row.text("id") {
        return Some(id.to_owned());
    }
    let (kind, _) = row.text("type")?.split_once('@')?;
    let (parent, name) = (row.text("parent_id")?, row.text("name")?);
    let (provider, types) = kind.split_once('/')?;
    match types.rsplit_once('/') {
        Some((_, last)) => Some(format!("{parent}/{last}/{name}")),
        None => Some(format!("{parent}/providers/{provider}/{types}/{name}")),
    }
}

/// Returns a resource as the resource manager writes it; its body is an object, or a text that holds one.
fn resource(id: &str, row: &Value) -> Value {
    let body = match row.field("body") {
        Some(Value::String(text)) => serde_json::from_str(text).unwrap_or(Value::Null),
        Some(body) => body.clone(),
        None => Value::Null,
    };
    let Value::Object(mut map) = body else { return Value::Null };
    map.insert("id".to_owned(), json!(id));
    map.insert("name".to_owned(), row.field("name").cloned().unwrap_or(Value::Null));
    Value::Object(map)
}
