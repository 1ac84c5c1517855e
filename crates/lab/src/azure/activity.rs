//! The activity log: who changed what, when, as the platform tells it.

use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::arm::guid;
use super::cloud::Cloud;
use super::identity::Caller;
use super::request::{Answer, Request, Verb};
use super::target::Target;
use ghost_base::Timestamp;

/// How many events are kept.
const MAX_EVENTS: usize = 10_000;

/// Notes what a request changed.
pub(super) fn note(
    cloud: &mut Cloud,
    request: &Request,
    answer: &Answer,
    who: Option<&Caller>,
    now: Timestamp,
) {
    let Some(target) = Target::parse(&request.path).filter(|target| target.provider.is_some()) else {
        return;
    };
    let what = match (request.verb, &target.tail) {
        (Verb::Put | Verb::Patch, None) => "write".to_owned(),
        (Verb::Delete, None) => "delete".to_owned(),
        (Verb::Post, Some(action)) => format!("{action}/action"),
        _ => return,
    };
    let kinds: Vec<&str> = target.chain.iter().map(|(kind, _)| kind.as_str()).collect();
    let provider = target.provider.as_deref().unwrap_or_default();
    let kind = format!("{provider}/{}", kinds.join("/"));
    let (operation, id) = (format!("{kind}/{what}"), target.id());
    let caller = who.map(|who| json!(who.object)).or_else(|| cloud.about.principal.get("objectId").cloned());
    let named = |text: &str| json!({"value": text, "localizedValue": text});
    let failed = answer.status >= 400;
    let status = named(if failed { "Failed" } else { "Succeeded" });
    let event = guid(&format!("{id}{operation}{}{}", cloud.activity.len(), now.as_millis()));
    let word = status_word(answer.status);
    let moment = format!("{}0000Z", now.to_string().trim_end_matches('Z'));
    let subscription = cloud.subscription().to_owned();
    let tenant = cloud.about.subscription.get("tenantId").cloned().unwrap_or_default();
    let record = json!({
        "authorization": {"action": operation, "scope": id}, "caller": caller,
        "channels": "Operation", "claims": {}, "correlationId": event, "description": "", "eventDataId": event,
        "eventName": {"value": "EndRequest", "localizedValue": "End request"},
        "category": named("Administrative"), "id": format!("{id}/events/{event}/ticks/{}", now.as_millis()),
        "level": if failed { "Error" } else { "Informational" }, "resourceGroupName": target.group,
        "resourceProviderName": named(provider), "resourceId": id, "resourceType": named(&kind), "operationId": event,
        "operationName": named(&operation),
        "properties": {"statusCode": word, "serviceRequestId": null, "eventCategory": "Administrative", "entity": id,
            "message": operation, "hierarchy": format!("{}/{subscription}", tenant.as_str().unwrap_or_default()),
            "command": request.header("commandname"), "parameters": request.header("parametersetname")},
        "status": status, "subStatus": {"value": word, "localizedValue": format!("{word} (HTTP Status Code: {})", answer.status)}, "eventTimestamp": moment,
        "submissionTimestamp": moment, "subscriptionId": subscription, "tenantId": tenant,
    });
    if cloud.activity.len() == MAX_EVENTS {
        cloud.activity.pop_front();
    }
    cloud.activity.push_back(record);
}

/// Returns the events that a filter wants, the latest first.
pub(super) fn list(cloud: &Cloud, request: &Request) -> Vec<Value> {
    let filter = request.parameter("$filter").unwrap_or_default();
    let wanted: Vec<(&str, &str, &str)> = filter.split(" and ").filter_map(comparison).collect();
    let fits = |event: &&Value| {
        wanted.iter().all(|(field, how, value)| {
            let found = match *field {
                "resourceProvider" => event.pointer("/resourceProviderName/value"),
                "status" => event.pointer("/status/value"),
                "levels" => event.get("level"),
                "resourceUri" | "resourceId" => event.get("resourceId"),
                field => event.get(field),
            };
            let Some(found) = found.and_then(Value::as_str) else { return false };
            match *how {
                "ge" => moment(found) >= moment(value),
                "le" => moment(found) <= moment(value),
                _ => found.eq_ignore_ascii_case(value),
            }
        })
    };
    cloud.activity.iter().rev().filter(fits).cloned().collect()
}

/// Returns the platform's word for a status.
fn status_word(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        204 => "NoContent",
        400 => "BadRequest",
        403 => "Forbidden",
        404 => "NotFound",
        405 => "MethodNotAllowed",
        409 => "Conflict",
        412 => "PreconditionFailed",
        429 => "TooManyRequests",
        _ => "Unknown",
    }
}

/// Reads a moment, to whatever part of a second it is written.
fn moment(text: &str) -> Option<OffsetDateTime> {
    OffsetDateTime::parse(text, &Rfc3339).ok()
}

/// Reads `field ge value`.
fn comparison(text: &str) -> Option<(&str, &str, &str)> {
    let mut words = text.trim().splitn(3, ' ');
    Some((words.next()?, words.next()?, words.next()?.trim_matches('\'')))
}
