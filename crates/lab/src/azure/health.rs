//! What the platform says of itself: its events, and how it sees a machine.
//!
//! An event is a document of the type `Microsoft.ResourceHealth/events`; it stands in a group, and belongs to the subscription. How a
//! machine is follows from its own state. A document `health/current` below the machine says otherwise.

use serde_json::{Value, json};

use super::cloud::Cloud;
use super::refusal::Refusal;
use super::request::{Answer, Request, Verb};
use super::target::Target;

const NAMESPACE: &str = "microsoft.resourcehealth";
/// Since when a machine is as it is.
const SINCE: &str = "2025-06-02T09:00:00Z";
const EVENTS: &str = "Microsoft.ResourceHealth/events";

/// Answers what is asked about health; nothing where something else is asked.
pub(super) fn answer(cloud: &Cloud, request: &Request, target: &Target) -> Option<Result<Answer, Refusal>> {
    if request.verb != Verb::Get {
        return None;
    }
    if target.namespace() == NAMESPACE && target.group.is_none() && target.last() == "events" {
        let all = cloud.estate.of(EVENTS).map(|document| event(cloud, document));
        return Some(cloud.list(request, all.collect()));
    }
    let [(kind, machine), (providers, _), (statuses, _)] = target.chain.as_slice() else { return None };
    let is_asked = kind.eq_ignore_ascii_case("virtualMachines")
        && providers.eq_ignore_ascii_case("providers")
        && statuses.eq_ignore_ascii_case("availabilityStatuses");
    if !is_asked {
        return None;
    }
    let resource = Target { chain: vec![(kind.clone(), machine.clone())], tail: None, ..target.clone() };
    if cloud.estate.get(&resource).is_none() {
        return Some(Err(super::arm::missing(cloud, &resource)));
    }
    let written = cloud.estate.by_id(&format!("{}/health/current", resource.id()));
    let properties = written.and_then(|own| own.get("properties")).cloned();
    Some(Ok(Answer::json(200, status(&resource, properties, super::arm::runs(cloud, machine)))))
}

/// Shows an event as one of the subscription.
fn event(cloud: &Cloud, document: &Value) -> Value {
    let name = document.get("name").and_then(Value::as_str).unwrap_or_default();
    let id = format!("/subscriptions/{}/providers/{EVENTS}/{name}", cloud.subscription());
    let mut properties = document.get("properties").cloned().unwrap_or_default();
    if let Some(map) = properties.as_object_mut() {
        map.remove("provisioningState");
        map.entry("trackingId").or_insert_with(|| json!(name));
    }
    json!({"id": id, "name": name, "type": "/providers/Microsoft.ResourceHealth/events", "properties": properties})
}

/// Says how a machine is: as it is written, or as it runs.
fn status(resource: &Target, written: Option<Value>, runs: bool) -> Value {
    let mut properties = match runs {
        true => json!({"availabilityState": "Available", "title": "Available", "reasonType": "",
            "summary": "There aren't any known Azure platform problems affecting this virtual machine."}),
        false => {
            json!({"availabilityState": "Unavailable", "title": "Stopped by user or process", "reasonType": "UserInitiated",
            "context": "Customer Initiated", "category": "Not Applicable",
            "summary": "This virtual machine is stopped by an authorized user or process."})
        }
    };
    if let (Some(map), Some(Value::Object(own))) = (properties.as_object_mut(), written) {
        map.extend(own.into_iter().filter(|(name, _)| name != "provisioningState"));
    }
    if let Some(map) = properties.as_object_mut() {
        for name in ["occuredTime", "reportedTime"] {
            map.entry(name).or_insert_with(|| json!(SINCE));
        }
        map.entry("reasonChronicity").or_insert_with(|| json!("Persistent"));
    }
    json!({"id": format!("{}/providers/Microsoft.ResourceHealth/availabilityStatuses/current", resource.id()),
        "name": "current", "type": "Microsoft.ResourceHealth/AvailabilityStatuses", "location": "eastus", "properties": properties})
}
