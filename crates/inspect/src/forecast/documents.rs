//! Documents as lists of rows that can be edited, in the form that `az` prints as well as in that of REST.

use serde_json::{Map, Value};

use crate::net::Fields as _;
use crate::path::Reading;

/// No plan is larger.
pub(super) const MAX_PLAN_BYTES: usize = 64 << 20;

/// No plan names more resources: what becomes of each is looked for among all others.
pub(super) const MAX_RESOURCES: usize = 10_000;

/// Why a plan cannot be reviewed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// It is too large.
    #[error("the plan has {0} bytes, and {MAX_PLAN_BYTES} are read")]
    TooLarge(usize),
    /// It names too many resources.
    #[error("the plan names {0} resources, and {MAX_RESOURCES} are read: review its modules one by one")]
    TooMany(usize),
    /// It is not JSON.
    #[error("the plan is not JSON, or it was cut off")]
    Json(#[source] serde_json::Error),
    /// It is JSON of another kind.
    #[error("this is not what {0} prints")]
    Foreign(&'static str),
    /// It was made by a later version.
    #[error("the plan has format {0}, and this program knows 1")]
    Format(String),
}

/// Reads a plan as JSON.
pub(super) fn parse(text: &str) -> Result<Value, PlanError> {
    if text.len() > MAX_PLAN_BYTES {
        return Err(PlanError::TooLarge(text.len()));
    }
    serde_json::from_str(text).map_err(PlanError::Json)
}

/// The rows of a document.
#[derive(Debug, Clone)]
pub(super) enum Rows {
    /// They were read.
    Read(Vec<Value>),
    /// They were not, or are in a form that nobody edits.
    Unread(Option<Reading>),
}

impl Rows {
    pub(super) fn of(reading: Option<&Reading>) -> Self {
        let kept = || Self::Unread(reading.cloned());
        let Some(Reading::Text(text)) = reading else { return kept() };
        match serde_json::from_str(text) {
            Ok(Value::Array(rows)) => Self::Read(rows),
            Ok(Value::Object(mut map)) => match map.remove("value") {
                Some(Value::Array(rows)) => Self::Read(rows),
                Some(_) | None => kept(),
            },
            Ok(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) | Err(_) => kept(),
        }
    }

    pub(super) fn into_reading(self) -> Option<Reading> {
        match self {
            Self::Read(rows) => Some(Reading::Text(Value::Array(rows).to_string())),
            Self::Unread(reading) => reading,
        }
    }

    pub(super) fn read(&self) -> Option<&[Value]> {
        match self {
            Self::Read(rows) => Some(rows),
            Self::Unread(_) => None,
        }
    }

    pub(super) const fn read_mut(&mut self) -> Option<&mut Vec<Value>> {
        match self {
            Self::Read(rows) => Some(rows),
            Self::Unread(_) => None,
        }
    }

    /// Returns the rows, as an empty list where nobody read the document.
    pub(super) fn begun(&mut self) -> Option<&mut Vec<Value>> {
        if matches!(self, Self::Unread(None)) {
            *self = Self::Read(Vec::new());
        }
        self.read_mut()
    }

    pub(super) fn named(&self, name: &str) -> Option<&Value> {
        self.read()?.iter().find(|row| is_named(row, name))
    }

    pub(super) fn named_mut(&mut self, name: &str) -> Option<&mut Value> {
        self.read_mut()?.iter_mut().find(|row| is_named(row, name))
    }
}

/// Tells whether a row has a name, in any letters; `securityRules/ssh` is called `ssh`.
pub(super) fn is_named(row: &Value, name: &str) -> bool {
    let own = row.text("name").or_else(|| row.text("id"));
    own.and_then(|own| own.rsplit('/').next()).is_some_and(|own| own.eq_ignore_ascii_case(name))
}

/// Returns the object that holds what a row says: REST nests it in `properties`.
pub(super) fn body(row: &Value) -> &Value {
    row.field("properties").filter(|inner| inner.is_object()).unwrap_or(row)
}

/// Returns the same to be edited.
pub(super) fn body_mut(row: &mut Value) -> Option<&mut Map<String, Value>> {
    let is_nested = row.field("properties").is_some_and(Value::is_object);
    let map = row.as_object_mut()?;
    if is_nested {
        key(map, "properties").and_then(|key| map.get_mut(&key))?.as_object_mut()
    } else {
        Some(map)
    }
}

/// Returns a field's name as an object spells it.
fn key(map: &Map<String, Value>, name: &str) -> Option<String> {
    if map.contains_key(name) {
        return Some(name.to_owned());
    }
    map.keys().find(|own| own.eq_ignore_ascii_case(name)).cloned()
}

/// Sets a field, whatever the letters in which it is spelled.
pub(super) fn set(map: &mut Map<String, Value>, name: &str, value: Value) {
    let name = key(map, name).unwrap_or_else(|| name.to_owned());
    map.insert(name, value);
}

/// Returns a list of a row, begun where there is none.
pub(super) fn list_mut<'a>(row: &'a mut Value, name: &str) -> Option<&'a mut Vec<Value>> {
    let map = body_mut(row)?;
    let name = key(map, name).unwrap_or_else(|| name.to_owned());
    let list = map.entry(name).or_insert_with(|| Value::Array(Vec::new()));
    if list.is_null() {
        *list = Value::Array(Vec::new());
    }
    list.as_array_mut()
}

/// Returns the items of a list of a row.
pub(super) fn items<'a>(row: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    body(row).field(name).and_then(Value::as_array).into_iter().flatten()
}

/// Returns the texts of a field that is one text or a list of them.
pub(super) fn texts(value: &Value, names: &[&str]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for name in names {
        match value.field(name) {
            Some(Value::String(text)) if !text.is_empty() => found.push(text.clone()),
            Some(Value::Array(list)) => {
                found.extend(list.iter().filter_map(Value::as_str).map(str::to_owned));
            }
            Some(_) | None => {}
        }
    }
    found.dedup();
    found
}

/// Returns the name at the end of the id that a field holds, as an object with `id` or as a text.
pub(super) fn id_name(value: Option<&Value>) -> Option<String> {
    let value = value?;
    value.text("id").or_else(|| value.as_str()).and_then(super::name::last)
}
