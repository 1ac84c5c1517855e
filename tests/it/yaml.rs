//! Reads YAML files of this repository for tests.

use saphyr::{LoadableYamlNode as _, Scalar, Yaml};
use serde_json::Value;

/// Returns the text of a file of this repository.
#[track_caller]
pub(crate) fn text(path: &str) -> String {
    let whole = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(whole).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns every document of a file.
#[track_caller]
pub(crate) fn documents(path: &str) -> Vec<Value> {
    parse(&text(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the one document of a file.
#[track_caller]
pub(crate) fn document(path: &str) -> Value {
    let mut all = documents(path);
    assert_eq!(all.len(), 1, "{path}");
    all.remove(0)
}

fn parse(text: &str) -> Result<Vec<Value>, String> {
    Yaml::load_from_str(text).map_err(|error| error.to_string())?.iter().map(value).collect()
}

fn value(node: &Yaml<'_>) -> Result<Value, String> {
    if let Yaml::Value(scalar) = node {
        return Ok(match scalar {
            Scalar::Null => Value::Null,
            Scalar::Boolean(flag) => (*flag).into(),
            Scalar::Integer(number) => (*number).into(),
            Scalar::FloatingPoint(number) => number.into_inner().into(),
            Scalar::String(text) => text.as_ref().into(),
        });
    }
    if let Yaml::Sequence(items) = node {
        return items.iter().map(value).collect();
    }
    if let Yaml::Mapping(entries) = node {
        let pair = |(key, entry): (&Yaml<'_>, _)| {
            let key = key.as_str().ok_or_else(|| format!("{key:?} is no name"))?;
            Ok((key.to_owned(), value(entry)?))
        };
        return Ok(Value::Object(entries.iter().map(pair).collect::<Result<_, String>>()?));
    }
    // Anchors and tags: nothing that Slack, compose or Kubernetes need from us.
    Err(format!("{node:?} is not expected here"))
}

/// Returns the words of a list.
#[track_caller]
pub(crate) fn words(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect()
}

#[test]
fn what_is_no_yaml_is_an_error() {
    for text in ["a: [", "a: b: c", "a: 1\na: 2", "a: &b 1\nc: *d"] {
        assert!(parse(text).is_err(), "{text}");
    }
}

#[test]
fn what_is_yaml_is_read_as_others_do() {
    let read = parse("a: yes\nb: \"yes\"\nc: [1, ~, true]\nd: >-\n  x\n  y\n---\n- z\n").unwrap();
    let expected = [
        serde_json::json!({"a": "yes", "b": "yes", "c": [1, null, true], "d": "x y"}),
        serde_json::json!(["z"]),
    ];
    assert_eq!(read, expected);
}
