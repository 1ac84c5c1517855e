//! What the readers have in common: labels of any values, limits, the names of alerts.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::alert::text::{line, scalar};
use crate::alert::{AlertError, Sender};

pub(super) const MAX_TITLE_CHARS: usize = 300;
pub(super) const MAX_TEXT_CHARS: usize = 6_000;
/// The key of a group is only shown shortened; its digest names the group.
pub(super) const MAX_GROUP_BYTES: usize = 64 << 10;
/// So many flows and machines are named at most.
pub(super) const MAX_NAMED: usize = 20;
const MAX_LABELS: usize = 40;
const MAX_KEY_CHARS: usize = 100;
const MAX_VALUE_CHARS: usize = 500;
const MAX_LINKS: usize = 5;
const MAX_LINK_BYTES: usize = 2_000;
const MAX_WORD_CHARS: usize = 60;

/// Reads JSON as a sender's document. A wrong kind of value is said with its place.
pub(super) fn document<T: DeserializeOwned>(sender: Sender, body: &[u8]) -> Result<T, AlertError> {
    let mut value: Value =
        serde_json::from_slice(body).map_err(|error| AlertError::Json(line(&error.to_string(), 200)))?;
    if !value.is_object() {
        return Err(AlertError::Form { sender: sender.word(), what: "it is no object" });
    }
    drop_nulls(&mut value);
    serde_json::from_value(value).map_err(|error| AlertError::Json(line(&error.to_string(), 200)))
}

/// Takes out what has no value, so that it counts as absent. How deep it goes was limited when the text was read.
fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|_, value| !value.is_null());
            map.values_mut().for_each(drop_nulls);
        }
        Value::Array(all) => all.iter_mut().for_each(drop_nulls),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Takes the short values of a map as labels.
pub(super) fn labels(map: &Map<String, Value>) -> BTreeMap<String, String> {
    let pairs = map.iter().filter_map(|(key, value)| {
        let (key, value) = (line(key, MAX_KEY_CHARS), line(&scalar(value)?, MAX_VALUE_CHARS));
        (!key.is_empty()).then_some((key, value))
    });
    pairs.take(MAX_LABELS).collect()
}

/// Returns the first of these values that says something.
pub(super) fn first<'a>(values: impl IntoIterator<Item = Option<&'a str>>) -> &'a str {
    values.into_iter().flatten().find(|text| !text.trim().is_empty()).unwrap_or_default()
}

/// Takes the addresses of the web, each once.
pub(super) fn links<'a>(all: impl IntoIterator<Item = Option<&'a str>>) -> Vec<String> {
    let is_link = |url: &&str| {
        (url.starts_with("https://") || url.starts_with("http://"))
            && url.len() <= MAX_LINK_BYTES
            && !url
                .contains(|char: char| char.is_whitespace() || char.is_control() || "<>|\"`".contains(char))
    };
    let mut kept: Vec<String> = Vec::new();
    for url in all.into_iter().flatten().filter(is_link) {
        if kept.len() < MAX_LINKS && !kept.iter().any(|known| known == url) {
            kept.push(url.to_owned());
        }
    }
    kept
}

/// Returns a word such as a severity.
pub(super) fn word(text: &str) -> Option<String> {
    Some(line(text, MAX_WORD_CHARS)).filter(|text| !text.is_empty())
}
