//! One row of a log.

use ghost_base::Timestamp;
use serde_json::Value;

use super::change::{Action, Caller, CallerKind, Status};
use super::moment::moment;
use super::resource::Resource;
use crate::net::Fields as _;

/// No name of a log is shown longer.
const MAX_NAME_CHARS: usize = 160;

/// What a row says, where it is about a change.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Event {
    pub(super) at: Timestamp,
    pub(super) status: Status,
    pub(super) seen_at: Option<Timestamp>,
    pub(super) id: Option<String>,
    /// Events of one operation have the same.
    pub(super) correlation: Option<String>,
    pub(super) operation_id: Option<String>,
    pub(super) operation: String,
    pub(super) action: Action,
    pub(super) resource: Resource,
    pub(super) caller: Caller,
}

/// What a row is.
#[derive(Debug)]
pub(super) enum Read {
    Event(Box<Event>),
    /// It is about nothing that anybody changed: an alert, the health of a resource, a policy that looked.
    Other,
    Odd(String),
}

pub(super) fn read(row: &Value) -> Read {
    if !row.is_object() {
        return Read::Odd("it is no event".to_owned());
    }
    let category = named(row, "category")
        .or_else(|| row.field("properties").and_then(|inner| named(inner, "eventCategory")));
    if category.is_some_and(|category| !category.eq_ignore_ascii_case("administrative")) {
        return Read::Other;
    }
    let Some(at) = row.text("eventTimestamp").and_then(moment) else {
        return Read::Odd("its eventTimestamp is no moment".to_owned());
    };
    let authorized = row.field("authorization");
    let operation =
        named(row, "operationName").or_else(|| authorized.and_then(|inner| named(inner, "action")));
    let Some(operation) = operation else { return Read::Odd("it names no operation".to_owned()) };
    let id = named(row, "resourceId")
        .or_else(|| named(row, "resourceUri"))
        .or_else(|| authorized.and_then(|inner| named(inner, "scope")));
    let Some(resource) = id.as_deref().and_then(Resource::parse) else {
        return Read::Odd("it names no resource".to_owned());
    };
    let code = named(row, "subStatus")
        .or_else(|| row.field("properties").and_then(|inner| named(inner, "statusCode")));
    Read::Event(Box::new(Event {
        at,
        status: status(named(row, "status").as_deref().unwrap_or_default()),
        seen_at: row.text("submissionTimestamp").and_then(moment),
        id: named(row, "eventDataId"),
        correlation: named(row, "correlationId"),
        operation_id: named(row, "operationId"),
        action: action(&operation, code.as_deref().unwrap_or_default()),
        operation: clean(&operation),
        resource,
        caller: caller(row),
    }))
}

/// Returns a field that is a text, or an object with a value and a name for people.
fn named(row: &Value, name: &str) -> Option<String> {
    let field = row.field(name)?;
    let text = match field {
        Value::Object(_) => field.text("value").or_else(|| field.text("localizedValue")),
        Value::String(text) => Some(text.as_str()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
    };
    text.map(str::trim).filter(|text| !text.is_empty()).map(|text| text.chars().take(4096).collect())
}

fn status(text: &str) -> Status {
    match text.to_ascii_lowercase().as_str() {
        "succeeded" | "success" => Status::Succeeded,
        "failed" | "failure" => Status::Failed,
        "canceled" | "cancelled" => Status::Canceled,
        _ => Status::Unfinished,
    }
}

/// Returns what an operation does. Names for people come where somebody asked for these alone.
fn action(operation: &str, code: &str) -> Action {
    let small = operation.to_ascii_lowercase();
    let written = match code.to_ascii_lowercase().as_str() {
        "created" => Action::Created,
        "ok" => Action::Updated,
        _ => Action::Written,
    };
    if let Some((before, last)) = small.rsplit_once('/') {
        return match last {
            "write" => written,
            "delete" => Action::Deleted,
            "action" => Action::Invoked(clean(before.rsplit('/').next().unwrap_or(before))),
            _ => Action::Invoked(clean(last)),
        };
    }
    let verb = small.split_whitespace().next().unwrap_or_default();
    match verb {
        "create" | "update" | "set" | "write" => written,
        "delete" => Action::Deleted,
        "power" => Action::Invoked("poweroff".to_owned()),
        "run" => Action::Invoked("runcommand".to_owned()),
        _ => Action::Invoked(clean(verb)),
    }
}

fn caller(row: &Value) -> Caller {
    let claims = row.field("claims");
    // The names of claims have dots, which are no fields: they stand exactly.
    let claim = |names: &[&str]| {
        let map = claims.and_then(Value::as_object)?;
        names
            .iter()
            .find_map(|name| map.get(*name).and_then(Value::as_str))
            .map(clean)
            .filter(|text| !text.is_empty())
    };
    let id = named(row, "caller").map(|text| clean(&text)).unwrap_or_default();
    let application = claim(&["appid"]);
    let name = claim(&["name"]).filter(|name| *name != id);
    let id = if id.is_empty() {
        let known = claim(&[
            "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/upn",
            "http://schemas.microsoft.com/identity/claims/objectidentifier",
        ]);
        known.or_else(|| application.clone()).unwrap_or_default()
    } else {
        id
    };
    let kind = if id.contains('@') {
        CallerKind::Person
    } else if is_guid(&id) {
        CallerKind::Application
    } else {
        CallerKind::Unknown
    };
    Caller { id, kind, name, application }
}

/// Tells whether a text is written as a GUID.
fn is_guid(text: &str) -> bool {
    let lengths = [8, 4, 4, 4, 12];
    let parts: Vec<&str> = text.split('-').collect();
    parts.len() == lengths.len()
        && parts
            .iter()
            .zip(lengths)
            .all(|(part, length)| part.len() == length && part.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Returns a text on one line, of limited length: anybody may have written it.
fn clean(text: &str) -> String {
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut kept: String = one_line.chars().filter(|char| !char.is_control()).take(MAX_NAME_CHARS).collect();
    if kept.chars().count() == MAX_NAME_CHARS {
        kept.push('…');
    }
    kept
}
