//! Fields of rows, whatever the letters of their names.

use serde_json::{Map, Value};

/// How many fields are searched for a name in other letters: `az aks list` writes sixty, and a huge row is no row.
const MAX_SEARCHED_FIELDS: usize = 256;

/// Finds fields.
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
            self.iter().take(MAX_SEARCHED_FIELDS).find(|(key, _)| same(key)).map(|(_, value)| value)
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

/// Visits the texts of a field that is a list, a text, or texts with commas; what in it is none of these comes as it is.
///
/// A field that is null is one that is missing; null among the items of a list is something that was not written out.
/// The second argument says at which items of the lists each one stands.
pub fn each_text(value: Option<&Value>, visit: &mut impl FnMut(Result<&str, &Value>, &[usize])) {
    if let Some(value) = value.filter(|value| !value.is_null()) {
        walk(value, &mut Vec::new(), visit);
    }
}

fn walk(value: &Value, indexes: &mut Vec<usize>, visit: &mut impl FnMut(Result<&str, &Value>, &[usize])) {
    match value {
        Value::String(text) => {
            let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
            parts.for_each(|part| visit(Ok(part), indexes));
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                indexes.push(at);
                walk(item, indexes, visit);
                indexes.pop();
            }
        }
        Value::Number(number) => visit(Ok(&number.to_string()), indexes),
        Value::Object(map) => match listed(map) {
            Some(list) => walk(list, indexes, visit),
            None => visit(Err(value), indexes),
        },
        Value::Null | Value::Bool(_) => visit(Err(value), indexes),
    }
}

/// Returns the list that Windows PowerShell 5.1 writes as an object with its items and their number.
fn listed(map: &Map<String, Value>) -> Option<&Value> {
    let is_counted = map.len() == 2 && map.field("Count").is_some_and(Value::is_u64);
    map.field("value").filter(|items| is_counted && items.is_array())
}

/// Returns the texts of a field as `each_text` visits them, and the beginnings of what is none.
#[must_use]
pub fn texts(value: Option<&Value>) -> (Vec<String>, Vec<String>) {
    let (mut good, mut odd) = (Vec::new(), Vec::new());
    each_text(value, &mut |found, _| match found {
        Ok(text) => good.push(text.to_owned()),
        Err(value) => odd.push(beginning(value)),
    });
    (good, odd)
}

/// Returns the beginning of a value's text, for a warning.
#[must_use]
pub fn beginning(value: &Value) -> String {
    match value {
        // The text of a large one is not written out.
        Value::Object(fields) if fields.len() > 8 => "{…}".to_owned(),
        Value::Array(items) if items.len() > 8 => "[…]".to_owned(),
        Value::String(text) => clipped(text),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) | Value::Array(_) => {
            clipped(&value.to_string())
        }
    }
}

/// Bounds what a hostile document can put into an answer.
#[must_use]
pub fn clipped(text: &str) -> String {
    const MAX_TEXT_CHARS: usize = 200;
    let mut kept: String = text.chars().take(MAX_TEXT_CHARS).collect();
    if kept.len() < text.len() {
        kept.push('…');
    }
    kept
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_list_of_windows_powershell_is_a_list() {
        let of = |value: Value| texts(Some(&value));
        let counted = json!({"value": ["10.0.0.0/16", {"value": ["10.1.0.0/16"], "Count": 1}], "Count": 2});
        assert_eq!(of(counted), (vec!["10.0.0.0/16".to_owned(), "10.1.0.0/16".to_owned()], vec![]));
        assert_eq!(of(json!({"value": ["a"], "Count": 1, "more": 2})).0, Vec::<String>::new());
    }

    #[test]
    fn a_name_is_found_in_any_letters() {
        for row in [json!({"addressPrefix": 1}), json!({"AddressPrefix": 1}), json!({"address_prefix": 1})] {
            assert_eq!(row.field("addressPrefix"), Some(&json!(1)));
        }
        assert_eq!(json!({"address": 1}).field("addressPrefix"), None);
        // The last one of many, as `az aks list` writes them.
        let mut many: Map<String, Value> = (0..100).map(|at| (format!("field{at}"), Value::Null)).collect();
        many.insert("vnetSubnetId".to_owned(), json!(1));
        assert_eq!(many.field("vnetSubnetID"), Some(&json!(1)));
    }

    #[test]
    fn a_text_stands_where_a_list_is_expected() {
        assert_eq!(texts(Some(&json!("a, b"))).0, ["a", "b"]);
        assert_eq!(texts(Some(&json!([["a"], "b", 7]))).0, ["a", "b", "7"]);
        assert_eq!(texts(Some(&json!(["a", null]))), (vec!["a".to_owned()], vec!["null".to_owned()]));
        assert_eq!(texts(Some(&json!([{"x": 1}]))).1, [r#"{"x":1}"#]);
        assert_eq!(texts(None), (vec![], vec![]));
        assert_eq!(texts(Some(&json!(null))), (vec![], vec![]));
    }

    #[test]
    fn every_text_has_its_place() {
        let mut found = Vec::new();
        let field = json!(["a,b", ["c", {}]]);
        each_text(Some(&field), &mut |text, indexes| {
            found.push((text.unwrap_or("?").to_owned(), indexes.to_vec()))
        });
        let found: Vec<_> = found.iter().map(|(text, indexes)| (text.as_str(), indexes.as_slice())).collect();
        assert_eq!(found, [("a", &[0][..]), ("b", &[0]), ("c", &[1, 0]), ("?", &[1, 1])]);
    }
}
