//! The activity log: who changed what, when, as the platform tells it.

use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::arm::guid;
use super::cloud::Cloud;
use super::identity::Caller;
use super::refusal::Refusal;
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
    let failed = answer.status >= 400;
    let status = named(if failed { "Failed" } else { "Succeeded" });
    let event = guid(&format!("{id}{operation}{}{}", cloud.activity.len(), now.as_millis()));
    let word = status_word(answer.status);
    let moment = log_time(now);
    let subscription = target.subscription.clone().unwrap_or_else(|| cloud.subscription().to_owned());
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

/// Returns the events of a subscription that a filter wants, the latest first. What the log has only later is not among them.
///
/// # Errors
/// Refuses a filter with a bound that is no time, or with a comparison that the platform does not know.
pub(super) fn list(
    cloud: &Cloud,
    request: &Request,
    subscription: Option<&str>,
    now: Timestamp,
) -> Result<Vec<Value>, Refusal> {
    let filter = request.parameter("$filter").unwrap_or_default();
    let mut wanted = Vec::new();
    for text in filter.split(" and ").filter(|text| !text.trim().is_empty()) {
        wanted.push(Comparison::read(text).ok_or_else(|| {
            let what = format!("The filter part '{}' is not supported or cannot be read.", text.trim());
            Refusal::new(400, "BadRequest", what)
        })?);
    }
    let is_there = |event: &&Value| {
        let seen = event.get("submissionTimestamp").and_then(Value::as_str).and_then(moment);
        seen.is_none_or(|seen| seen.unix_timestamp_nanos() <= i128::from(now.as_millis()) * 1_000_000)
    };
    let is_of = |event: &&Value| {
        let own = event.get("subscriptionId").and_then(Value::as_str);
        subscription.zip(own).is_none_or(|(asked, own)| own.eq_ignore_ascii_case(asked))
    };
    let fits = |event: &&Value| wanted.iter().all(|one| one.holds(event));
    let mut found: Vec<&Value> =
        cloud.activity.iter().rev().filter(is_there).filter(is_of).filter(fits).collect();
    found.sort_by_key(|event| std::cmp::Reverse(event.get("eventTimestamp").and_then(Value::as_str)));
    Ok(found.into_iter().cloned().collect())
}

/// Returns a moment as the log writes it.
pub(super) fn log_time(at: Timestamp) -> String {
    format!("{}0000Z", at.to_string().trim_end_matches('Z'))
}

/// Returns a text with the name that people read.
pub(super) fn named(text: &str) -> Value {
    json!({"value": text, "localizedValue": text})
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

/// Reads a moment as clients write it: quoted or not, with a zone or in UTC, to whatever part of a second, or a date alone.
fn moment(text: &str) -> Option<OffsetDateTime> {
    let text = text.trim().trim_matches('\'');
    let (day, time) = match text.split_at_checked(10) {
        Some((day, "")) => (day, "00:00:00".to_owned()),
        // A plus that was not encoded came as a blank.
        Some((day, rest)) => (day, rest.strip_prefix(['T', 't', ' '])?.replacen(' ', "+", 1)),
        None => return None,
    };
    let has_zone = time.ends_with(['Z', 'z']) || time.contains(['+', '-']);
    OffsetDateTime::parse(&format!("{day}T{time}{}", if has_zone { "" } else { "Z" }), &Rfc3339).ok()
}

/// A part of a filter.
enum Comparison<'a> {
    /// Not before.
    From(OffsetDateTime),
    /// Not after.
    Until(OffsetDateTime),
    /// A field is this, in whatever letters.
    Is(&'a str, &'a str),
}

impl<'a> Comparison<'a> {
    /// Reads `field ge value`.
    fn read(text: &'a str) -> Option<Self> {
        let mut words = text.trim().splitn(3, ' ');
        let (field, how, value) = (words.next()?, words.next()?, words.next()?.trim());
        let known = [
            "resourceGroupName",
            "resourceUri",
            "resourceId",
            "resourceProvider",
            "correlationId",
            "caller",
            "status",
            "levels",
            "eventChannels",
        ];
        Some(match (field, how) {
            ("eventTimestamp", "ge") => Self::From(moment(value)?),
            ("eventTimestamp", "le") => Self::Until(moment(value)?),
            (field, "eq") if known.contains(&field) => Self::Is(field, value.trim_matches('\'')),
            _ => return None,
        })
    }

    fn holds(&self, event: &Value) -> bool {
        let at = || event.get("eventTimestamp").and_then(Value::as_str).and_then(moment);
        let found = match self {
            Self::From(bound) => return at().is_some_and(|at| at >= *bound),
            Self::Until(bound) => return at().is_some_and(|at| at <= *bound),
            Self::Is("resourceProvider", _) => event.pointer("/resourceProviderName/value"),
            Self::Is("status", _) => event.pointer("/status/value"),
            Self::Is("levels", _) => event.get("level"),
            Self::Is("eventChannels", _) => event.get("channels"),
            Self::Is("resourceUri", _) => event.get("resourceId"),
            Self::Is(field, _) => event.get(field),
        };
        let Self::Is(_, value) = self else { return false };
        found
            .and_then(Value::as_str)
            .is_some_and(|found| found.eq_ignore_ascii_case(&value.replace("''", "'")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_write_times_in_many_forms() {
        let expected = moment("2026-11-23T02:02:27Z").unwrap();
        for text in [
            "2026-11-23T02:02:27",
            "2026-11-23T02:02:27.000000",
            "'2026-11-23T02:02:27.0000000Z'",
            "2026-11-23 02:02:27",
            "2026-11-23T03:02:27+01:00",
            "2026-11-23T03:02:27 01:00",
        ] {
            assert_eq!(moment(text), Some(expected), "{text}");
        }
        assert!(moment("2026-11-23").is_some() && moment("soon").is_none() && moment("").is_none());
    }

    #[test]
    fn a_bound_that_is_no_time_is_no_filter() {
        for text in ["eventTimestamp ge soon", "eventTimestamp gt 2026-11-23", "level ne 'Error'", "x"] {
            assert!(Comparison::read(text).is_none(), "{text}");
        }
        assert!(Comparison::read("resourceGroupName eq 'prod'").is_some());
    }
}
