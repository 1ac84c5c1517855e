//! The raw answers for some network interfaces, as somebody gathered them.

use serde_json::{Map, Value};

use super::row::clipped;
use super::{Error, seal};
use crate::net::{DocumentError, Fields, document};

/// How many network interfaces a subscription may have.
const MAX_NICS: usize = 65_536;

/// The raw answers for one network interface.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Its name; none where the bundle does not say.
    pub nic: Option<String>,
    /// What `az network nic show-effective-route-table` printed: JSON as it is, or text where it was none.
    pub routes: Value,
    /// What `az network nic list-effective-nsg` printed, likewise.
    pub nsg: Value,
    /// Why it could not be asked, or not completely.
    pub error: Option<String>,
}

impl Answer {
    /// Takes the texts that the two commands printed.
    #[must_use]
    pub fn printed(nic: &str, routes: &str, nsg: &str) -> Self {
        let value = |text: &str| document(text).map_or_else(|_| Value::String(text.to_owned()), repeatable);
        Self { nic: Some(nic.to_owned()), routes: value(routes), nsg: value(nsg), error: None }
    }
}

/// The raw answers for some network interfaces.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bundle {
    /// An entry for each network interface.
    pub nics: Vec<Answer>,
    /// Why there may be further network interfaces, where there may be.
    pub incomplete: Option<String>,
}

impl Bundle {
    /// Reads a bundle: `{"nics": [{"nic", "routes", "nsg", "error"}]}`.
    ///
    /// # Errors
    /// Fails where the text is no JSON, a failed call's answer, or has no list of network interfaces.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let value = document(text)?;
        if seal::was_sealed(&value, text) {
            return Err(Error::WrongKind { expected: "bundle of raw answers: it was sealed" });
        }
        Self::of(value)
    }

    pub(super) fn of(mut value: Value) -> Result<Self, Error> {
        let failed = value.field("error").and_then(failure);
        let Some(Value::Array(nics)) = value.get_mut("nics").map(Value::take) else {
            return Err(failed.map_or(Error::WrongKind { expected: "bundle and no snapshot" }, |code| {
                Error::Document(DocumentError::Failed { code })
            }));
        };
        if nics.len() > MAX_NICS {
            return Err(Error::TooMany { most: MAX_NICS });
        }
        let paged = value.field("nextLink").is_some_and(|link| !link.is_null());
        if nics.len() > MAX_NICS {
            return Err(Error::TooMany { most: MAX_NICS });
        }
        let paged = paged.then(|| "the list has further pages (nextLink)".to_owned());
        Ok(Self { nics: nics.into_iter().map(answer).collect(), incomplete: failed.or(paged) })
    }
}

fn answer(entry: Value) -> Answer {
    match entry {
        Value::Object(mut map) => Answer {
            nic: map.text("nic").map(str::to_owned),
            error: map.field("error").and_then(failure),
            routes: taken(&mut map, "routes"),
            nsg: taken(&mut map, "nsg"),
        },
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => {
            let error = Some(format!("{} is no network interface", clipped(&other.to_string())));
            Answer { nic: None, routes: Value::Null, nsg: Value::Null, error }
        }
    }
}

fn taken(map: &mut Map<String, Value>, name: &str) -> Value {
    let value = map.remove(name).or_else(|| map.field(name).cloned());
    repeatable(value.unwrap_or(Value::Null))
}

/// Turns what might be printed otherwise than it was read into text: a number with a fraction, which no answer has.
fn repeatable(value: Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => Value::String(number.to_string()),
        Value::Array(items) => items.into_iter().map(repeatable).collect(),
        Value::Object(map) => map.into_iter().map(|(key, value)| (key, repeatable(value))).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
    }
}

/// Returns what went wrong, where anything did.
fn failure(value: &Value) -> Option<String> {
    match value {
        Value::Null | Value::Bool(false) => None,
        Value::String(text) => Some(clipped(text.trim())).filter(|text| !text.is_empty()),
        Value::Object(map) => Some(map.text("code").map_or_else(|| clipped(&value.to_string()), clipped)),
        Value::Bool(true) | Value::Number(_) | Value::Array(_) => Some(clipped(&value.to_string())),
    }
}
