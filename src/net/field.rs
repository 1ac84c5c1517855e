//! Fields of rows, whatever the letters of their names.

use serde_json::{Map, Value};

/// Looks fields up.
pub trait Fields {
    /// Returns a field by its name as `az` writes it; `AddressPrefix` and `address_prefix` are `addressPrefix` too.
    fn field(&self, name: &str) -> Option<&Value>;

    /// Returns a field that is a text with something in it.
    fn text(&self, name: &str) -> Option<&str> {
        self.field(name).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty())
    }
}

impl Fields for Map<String, Value> {
    fn field(&self, name: &str) -> Option<&Value> {
        self.get(name).or_else(|| {
            let same = |key: &str| plain(key).eq(plain(name));
            // A row has a dozen fields; a huge one is not searched for a name it might have misspelled.
            self.iter().take(64).find(|(key, _)| same(key)).map(|(_, value)| value)
        })
    }
}

/// Returns the letters of a name that count.
fn plain(text: &str) -> impl Iterator<Item = u8> + '_ {
    text.bytes().filter(|byte| !matches!(byte, b'_' | b'-')).map(|byte| byte.to_ascii_lowercase())
}

impl Fields for Value {
    fn field(&self, name: &str) -> Option<&Value> {
        self.as_object().and_then(|map| map.field(name))
    }
}

/// Returns the texts of a field that is a list, a text, or texts with commas; and what in it is none of these.
#[must_use]
pub fn texts(value: Option<&Value>) -> (Vec<String>, Vec<String>) {
    let (mut good, mut odd) = (Vec::new(), Vec::new());
    if let Some(value) = value {
        collect(value, &mut good, &mut odd);
    }
    (good, odd)
}

fn collect(value: &Value, good: &mut Vec<String>, odd: &mut Vec<String>) {
    match value {
        Value::Null => {}
        Value::String(text) => {
            good.extend(text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned));
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, good, odd)),
        Value::Number(number) => good.push(number.to_string()),
        Value::Bool(_) | Value::Object(_) => odd.push(value.to_string().chars().take(80).collect()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_name_is_found_in_any_letters() {
        for row in [json!({"addressPrefix": 1}), json!({"AddressPrefix": 1}), json!({"address_prefix": 1})] {
            assert_eq!(row.field("addressPrefix"), Some(&json!(1)));
        }
        assert_eq!(json!({"address": 1}).field("addressPrefix"), None);
    }

    #[test]
    fn a_text_stands_where_a_list_is_expected() {
        assert_eq!(texts(Some(&json!("a, b"))).0, ["a", "b"]);
        assert_eq!(texts(Some(&json!([["a"], "b", null, 7]))).0, ["a", "b", "7"]);
        assert_eq!(texts(Some(&json!([{"x": 1}]))).1, [r#"{"x":1}"#]);
        assert_eq!(texts(None), (vec![], vec![]));
    }
}
