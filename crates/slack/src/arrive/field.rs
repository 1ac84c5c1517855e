//! Reading fields that may be missing, null or of another type.

use serde_json::Value;

/// Follows a path of names; null counts as missing.
pub(crate) fn at<'a>(value: &'a Value, path: &[&str]) -> Option<&'a Value> {
    let found = path.iter().try_fold(value, |value, name| value.get(*name))?;
    (!found.is_null()).then_some(found)
}

/// Returns a text that is not empty. A number is taken as its digits, as some senders quote and some do not.
pub(crate) fn text(value: &Value, path: &[&str]) -> Option<String> {
    let text = match at(value, path)? {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    (!text.is_empty()).then_some(text)
}

/// Returns the first of several places at which there is a text.
pub(crate) fn first(value: &Value, paths: &[&[&str]]) -> Option<String> {
    paths.iter().find_map(|path| text(value, path))
}

/// Returns a text, empty where there is none.
pub(crate) fn said(value: &Value, path: &[&str]) -> String {
    text(value, path).unwrap_or_default()
}

/// Tells whether a flag is set, as a boolean or, in forms, as a word.
pub(crate) fn flag(value: &Value, path: &[&str]) -> bool {
    match at(value, path) {
        Some(Value::Bool(flag)) => *flag,
        Some(Value::String(text)) => text == "true" || text == "1",
        Some(Value::Number(number)) => number.as_u64() == Some(1),
        Some(Value::Null | Value::Array(_) | Value::Object(_)) | None => false,
    }
}

/// Returns a whole number that is not negative.
pub(crate) fn number(value: &Value, path: &[&str]) -> Option<u64> {
    match at(value, path)? {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.trim().parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Returns the items of a list; none where there is no list.
pub(crate) fn items<'a>(value: &'a Value, path: &[&str]) -> &'a [Value] {
    at(value, path).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Returns the texts of a list.
pub(crate) fn texts(value: &Value, path: &[&str]) -> Vec<String> {
    items(value, path).iter().filter_map(|item| text(item, &[])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn another_type_is_as_good_as_nothing() {
        let value = json!({"a": null, "b": [1], "c": {"d": 7}, "e": "", "f": true});
        for path in [&["a"][..], &["b"], &["c"], &["e"], &["f"], &["x", "y"]] {
            assert_eq!(text(&value, path), None, "{path:?}");
        }
        assert_eq!(text(&value, &["c", "d"]), Some("7".to_owned()));
        assert!(items(&value, &["c"]).is_empty());
        assert_eq!((number(&value, &["f"]), flag(&value, &["f"])), (None, true));
    }
}
