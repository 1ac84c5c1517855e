//! The arguments of a call, however they came: JSON, a form, a query.

use serde_json::{Map, Value};

use crate::state::error::SlackError;

/// Names and values; in a form every value is a text, and structures are JSON inside one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Args(pub(crate) Map<String, Value>);

impl Args {
    /// Wraps an object.
    #[cfg(test)]
    pub(crate) fn of(value: Value) -> Self {
        let Value::Object(map) = value else { return Self::default() };
        Self(map)
    }

    /// Returns a text, or what a number or a truth value is as text; an empty one counts as absent.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        match self.0.get(name)? {
            Value::String(text) if text.is_empty() => None,
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            Value::Bool(flag) => Some(flag.to_string()),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }

    /// Returns a text that has to be there.
    pub(crate) fn need(&self, name: &str) -> Result<String, SlackError> {
        self.text(name).ok_or_else(|| SlackError::missing(name))
    }

    /// Tells whether a flag is set: `true`, `1` and their texts.
    pub(crate) fn flag(&self, name: &str) -> Option<bool> {
        Some(matches!(self.text(name)?.as_str(), "true" | "1"))
    }

    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.text(name)?.parse().ok()
    }

    /// Returns a structure: as it is, or read from a text.
    pub(crate) fn json(&self, name: &str, refusal: &str) -> Result<Option<Value>, SlackError> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if text.is_empty() => Ok(None),
            Some(Value::String(text)) => {
                serde_json::from_str(text).map(Some).map_err(|_| SlackError::new(refusal))
            }
            Some(value @ (Value::Array(_) | Value::Object(_))) => Ok(Some(value.clone())),
            Some(Value::Bool(_) | Value::Number(_)) => Err(SlackError::new(refusal)),
        }
    }

    /// Returns a list of names: an array, JSON of one, or a text with commas.
    pub(crate) fn names(&self, name: &str) -> Vec<String> {
        let split = |text: &str| {
            text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
        };
        let list = match self.0.get(name) {
            Some(Value::Array(list)) => list.clone(),
            Some(Value::String(text)) => match serde_json::from_str(text) {
                Ok(Value::Array(list)) => list,
                _ => return split(text),
            },
            _ => return Vec::new(),
        };
        list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
    }
}

/// Cuts the page out of a list that the arguments ask for; returns it with the next cursor, empty at the end.
pub(crate) fn page(
    all: &[Value],
    args: &Args,
    most: usize,
    unless_said: usize,
) -> Result<(Vec<Value>, String), SlackError> {
    let limit = match args.text("limit") {
        None => unless_said,
        Some(text) => text.parse().map_err(|_| SlackError::new("invalid_limit"))?,
    };
    // Slack takes a limit of zero as none said.
    let limit = if limit == 0 { unless_said } else { limit.min(most) };
    let start = match args.text("cursor") {
        None => 0,
        Some(cursor) => {
            read(&cursor).filter(|at| *at <= all.len()).ok_or_else(|| SlackError::new("invalid_cursor"))?
        }
    };
    let end = start.saturating_add(limit).min(all.len());
    let next = if end < all.len() { format!("bGFi{end:x}=") } else { String::new() };
    Ok((all.get(start..end).unwrap_or_default().to_vec(), next))
}

fn read(cursor: &str) -> Option<usize> {
    let digits = cursor.strip_prefix("bGFi")?.strip_suffix('=')?;
    usize::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod paging_tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_item_is_on_exactly_one_page() {
        let all: Vec<Value> = (0..23).map(Value::from).collect();
        let (mut cursor, mut seen) = (String::new(), Vec::new());
        loop {
            let (items, next) =
                page(&all, &Args::of(json!({"limit": 5, "cursor": cursor})), 100, 100).unwrap();
            seen.extend(items);
            if next.is_empty() {
                break;
            }
            cursor = next;
        }
        assert_eq!(seen, all);
    }

    #[test]
    fn a_cursor_that_nobody_gave_is_refused() {
        for cursor in ["x", "bGFi", "bGFizz=", "bGFi7="] {
            let refused = page(&[], &Args::of(json!({"cursor": cursor})), 100, 100).unwrap_err();
            assert_eq!(refused.code(), "invalid_cursor", "{cursor}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_form_and_json_mean_the_same() {
        let form = Args::of(
            json!({"flag": "true", "limit": "5", "blocks": "[{\"type\":\"divider\"}]", "users": "U1, U2"}),
        );
        let body = Args::of(
            json!({"flag": true, "limit": 5, "blocks": [{"type": "divider"}], "users": ["U1", "U2"]}),
        );
        for args in [form, body] {
            assert_eq!(args.flag("flag"), Some(true));
            assert_eq!(args.number("limit"), Some(5));
            assert_eq!(args.json("blocks", "x").unwrap(), Some(json!([{"type": "divider"}])));
            assert_eq!(args.names("users"), ["U1", "U2"]);
        }
    }

    #[test]
    fn a_structure_that_is_none_is_refused_with_the_given_code() {
        let args = Args::of(json!({"blocks": "[{", "view": 5}));
        assert_eq!(args.json("blocks", "invalid_blocks_format").unwrap_err().code(), "invalid_blocks_format");
        assert_eq!(args.json("view", "invalid_arguments").unwrap_err().code(), "invalid_arguments");
    }
}
