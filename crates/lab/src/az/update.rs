//! `--set`, `--add` and `--remove`: changes to whatever was read, by path.

use serde_json::{Map, Value};

use super::failure::Failure;
use super::line::Line;

/// What nobody may write.
const OWN: &[&str] = &["etag", "provisioningState", "resourceGuid"];

/// Does what the options say, in the order set, add, remove.
pub(super) fn change(document: &mut Value, line: &Line) -> Result<(), Failure> {
    for word in line.many("--set").into_iter().flatten() {
        let Some((path, value)) = word.split_once('=') else {
            return Err(usage("--set", "property1.property2=<value>"));
        };
        set(document, path, read(value)).ok_or_else(|| missing(path))?;
    }
    if let Some(words) = line.many("--add") {
        let Some((path, values)) = words.split_first().filter(|(_, values)| !values.is_empty()) else {
            return Err(usage("--add", "property.listProperty <key=value, string or JSON string>"));
        };
        add(document, path, entry(values)).ok_or_else(|| missing(path))?;
    }
    if let Some(words) = line.many("--remove") {
        let removed = match words {
            [path] => remove(document, path, None),
            [path, at] => remove(document, path, at.parse().ok()),
            _ => return Err(usage("--remove", "property.list <indexToRemove> OR --remove propertyToRemove")),
        };
        removed.ok_or_else(|| missing(words.first().map_or("", String::as_str)))?;
    }
    Ok(())
}

/// Puts a field into an object; where there is none nothing happens.
pub(super) fn put_in(document: &mut Value, field: &str, value: Value) {
    if let Some(map) = document.as_object_mut() {
        map.insert(field.to_owned(), value);
    }
}

/// Takes away what nobody may write, at every level.
pub(super) fn writable(document: &mut Value) {
    match document {
        Value::Object(map) => {
            map.retain(|name, value| !value.is_null() && !OWN.contains(&name.as_str()));
            map.values_mut().for_each(writable);
        }
        Value::Array(list) => list.iter_mut().for_each(writable),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn usage(option: &str, form: &str) -> Failure {
    Failure::new(1, format!("invalid syntax: {option} {form}"))
}

fn missing(path: &str) -> Failure {
    Failure::new(1, format!("Couldn't find '{path}' in ''."))
}

fn read(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
}

/// Returns what words add: an object of pairs, or a value.
fn entry(words: &[String]) -> Value {
    let pairs: Option<Map<String, Value>> = words
        .iter()
        .map(|word| word.split_once('=').map(|(name, value)| (name.to_owned(), read(value))))
        .collect();
    match (words, pairs) {
        ([one], None) => read(one),
        (_, Some(pairs)) => Value::Object(pairs),
        (several, None) => Value::from(several.to_vec()),
    }
}

/// Splits a path into names and places: `a.b[0].c` is `a`, `b`, `0`, `c`.
fn steps(path: &str) -> Vec<&str> {
    path.split(['.', '[', ']']).filter(|step| !step.is_empty()).collect()
}

/// Goes one step down. The properties of a resource are its own, as the printed form has them.
fn down<'a>(document: &'a mut Value, step: &str) -> Option<&'a mut Value> {
    match document {
        Value::Array(list) => list.get_mut(step.parse::<usize>().ok()?),
        Value::Object(map) => {
            let within =
                if map.contains_key(step) { map } else { map.get_mut("properties")?.as_object_mut()? };
            within.get_mut(step)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

/// Finds the object or list that the last step leads into, and that step.
fn holder<'a, 'p>(document: &'a mut Value, path: &'p str) -> Option<(&'a mut Value, &'p str)> {
    let all = steps(path);
    let (last, parents) = all.split_last()?;
    let mut at = document;
    for step in parents {
        at = down(at, step)?;
    }
    Some((at, last))
}

fn set(document: &mut Value, path: &str, value: Value) -> Option<()> {
    let (at, last) = holder(document, path)?;
    if let Some(known) = down(at, last) {
        *known = value;
        return Some(());
    }
    const ABOVE: [&str; 5] = ["location", "tags", "sku", "zones", "identity"];
    let map = at.as_object_mut()?;
    match map.get_mut("properties").and_then(Value::as_object_mut) {
        Some(inner) if !ABOVE.contains(&last) => drop(inner.insert(last.to_owned(), value)),
        _ => drop(map.insert(last.to_owned(), value)),
    }
    Some(())
}

fn add(document: &mut Value, path: &str, value: Value) -> Option<()> {
    if holder(document, path).is_some_and(|(at, last)| down(at, last).is_none_or(|known| known.is_null())) {
        set(document, path, Value::Array(Vec::new()))?;
    }
    let (at, last) = holder(document, path)?;
    down(at, last)?.as_array_mut()?.push(value);
    Some(())
}

fn remove(document: &mut Value, path: &str, at: Option<usize>) -> Option<()> {
    let (holder, last) = holder(document, path)?;
    if let Some(at) = at {
        let list = down(holder, last)?.as_array_mut()?;
        return (at < list.len()).then(|| drop(list.remove(at)));
    }
    match holder {
        Value::Array(list) => {
            let at = last.parse::<usize>().ok().filter(|at| *at < list.len())?;
            drop(list.remove(at));
        }
        Value::Object(map) if map.contains_key(last) => drop(map.remove(last)),
        Value::Object(map) => drop(map.get_mut("properties")?.as_object_mut()?.remove(last)?),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return None,
    }
    Some(())
}
