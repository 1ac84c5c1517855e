//! What `get` prints.

use serde::Serialize as _;
use serde_json::ser::PrettyFormatter;
use serde_json::{Serializer, Value, json};

use super::Answered;
use super::kind::Kind;
use super::line::{Form, Get};
use super::table;
use crate::kubernetes::model::Cluster;
use ghost_base::Timestamp;

/// The objects of a kind that were found.
pub(super) struct Found {
    pub(super) kind: Kind,
    pub(super) objects: Vec<Value>,
}

/// Answers `get`.
pub(super) fn get(cluster: &Cluster, get: &Get, now: Timestamp) -> Answered {
    let mut found: Vec<Found> = Vec::new();
    let mut errors: Vec<String> = Vec::new();
    for (kind, names) in &get.wanted {
        if cluster.forbidden.iter().any(|own| own == kind.plural()) {
            errors.push(forbidden(*kind, get, names));
            continue;
        }
        let objects: Vec<Value> =
            kind.documents(cluster).into_iter().filter(|object| is_wanted(object, *kind, get)).collect();
        if names.is_empty() {
            found.push(Found { kind: *kind, objects });
            continue;
        }
        let mut named = Vec::new();
        for name in names {
            match objects.iter().find(|object| word(object, "name") == Some(name)) {
                Some(object) => named.push(object.clone()),
                None => {
                    errors.push(format!(
                        "Error from server (NotFound): {} \"{name}\" not found",
                        kind.with_group()
                    ));
                }
            }
        }
        found.push(Found { kind: *kind, objects: named });
    }
    let out = match get.form {
        Form::Json => as_json(&found, get, errors.is_empty()),
        Form::Name => as_names(&found),
        Form::Table | Form::Wide => table::tables(&found, get, now),
    };
    let is_empty = found.iter().all(|own| own.objects.is_empty());
    let err = match (errors.as_slice(), get.form) {
        ([], Form::Table | Form::Wide) if is_empty => match &get.namespace {
            Some(namespace) if get.wanted.iter().all(|(kind, _)| kind.is_namespaced()) => {
                format!("No resources found in {namespace} namespace.\n")
            }
            Some(_) | None => "No resources found\n".to_owned(),
        },
        (all, _) => all.iter().map(|error| format!("{error}\n")).collect(),
    };
    Answered { out, err, exit: i32::from(!errors.is_empty()) }
}

pub(super) fn word<'a>(object: &'a Value, field: &str) -> Option<&'a str> {
    object.get("metadata")?.get(field)?.as_str()
}

fn is_wanted(object: &Value, kind: Kind, get: &Get) -> bool {
    let label = |key: &str| object.pointer("/metadata/labels")?.get(key)?.as_str();
    let is_there = match &get.namespace {
        Some(namespace) if kind.is_namespaced() => word(object, "namespace") == Some(namespace),
        Some(_) | None => true,
    };
    is_there && get.labels.iter().all(|(key, value)| label(key) == Some(value))
}

fn forbidden(kind: Kind, get: &Get, names: &[String]) -> String {
    let (all, plural, group) = (kind.with_group(), kind.plural(), kind.group());
    let place = match &get.namespace {
        Some(namespace) if kind.is_namespaced() => format!("in the namespace \"{namespace}\""),
        Some(_) | None => "at the cluster scope".to_owned(),
    };
    let (verb, what) = match names.first() {
        None => ("list", all.clone()),
        Some(name) => ("get", format!("{all} \"{name}\"")),
    };
    format!(
        "Error from server (Forbidden): {what} is forbidden: User \"ghost\" cannot {verb} resource \"{plural}\" in API group \"{group}\" {place}"
    )
}

fn as_names(found: &[Found]) -> String {
    let line = |own: &Found| {
        let prefix = own.kind.prefix();
        let names = own.objects.iter().filter_map(|object| word(object, "name"));
        names.map(|name| format!("{prefix}/{name}\n")).collect::<String>()
    };
    found.iter().map(line).collect()
}

/// Writes documents: one object by its name alone, else a list of all.
fn as_json(found: &[Found], get: &Get, is_whole: bool) -> String {
    let objects: Vec<&Value> = found.iter().flat_map(|own| &own.objects).collect();
    let names: usize = get.wanted.iter().map(|(_, names)| names.len()).sum();
    match (objects.as_slice(), names) {
        ([one], 1) => pretty(one),
        // A name that is not there prints its error alone.
        ([], 1) if !is_whole => String::new(),
        (all, _) => pretty(
            &json!({"apiVersion": "v1", "items": all, "kind": "List", "metadata": {"resourceVersion": ""}}),
        ),
    }
}

/// Writes a document as Go does: four spaces, and three signs of HTML escaped.
fn pretty(document: &Value) -> String {
    let mut text = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut text, PrettyFormatter::with_indent(b"    "));
    if document.serialize(&mut serializer).is_err() {
        return String::new();
    }
    let text = String::from_utf8_lossy(&text);
    let text = text.replace('&', "\\u0026").replace('<', "\\u003c").replace('>', "\\u003e");
    format!("{text}\n")
}
