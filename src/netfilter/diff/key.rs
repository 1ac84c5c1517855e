//! What a rule is, apart from its counters, its number and the order of what has no order.

use crate::netfilter::json::{Object as Map, Value};

use crate::netfilter::ruleset::{Body, Part, Rule};

/// Returns the content of a rule as a text: two rules are one where these are equal.
pub(in crate::netfilter) fn rule(rule: &Rule) -> String {
    let mut text = String::new();
    match &rule.body {
        Body::Save(parts) => save(parts, &mut text),
        Body::Nft(expressions) => {
            for expression in expressions {
                if let Some(content) = statement(expression) {
                    text.push_str(&content);
                    text.push(' ');
                }
            }
            if let Some(comment) = &rule.comment {
                text.push_str(&format!("comment {comment:?}"));
            }
        }
    }
    text
}

fn save(parts: &[Part], text: &mut String) {
    let protocol = parts.iter().find(|part| part.name == "-p" && !part.negated);
    let protocol = protocol.and_then(|part| part.values.first()).map(String::as_str);
    let mut main = Vec::new();
    for part in parts {
        let value = part.values.first().map_or("", String::as_str);
        let implied = part.name == "-m" && !part.negated && protocol.is_some_and(|own| implies(own, value));
        let default = matches!((part.name.as_str(), value, part.negated), ("--limit-burst", "5", false));
        if implied || default {
            continue;
        }
        let mut one = String::new();
        if part.negated {
            one.push_str("! ");
        }
        one.push_str(part.module.as_deref().unwrap_or(""));
        one.push_str(&part.name);
        for value in &part.values {
            one.push_str(&format!(" {:?}", unordered(&part.name, value)));
        }
        // The order of the plain options is nobody's content.
        if matches!(part.name.as_str(), "-p" | "-s" | "-d" | "-i" | "-o" | "-f") {
            main.push(one);
        } else {
            text.push_str(&one);
            text.push(' ');
        }
    }
    main.sort_unstable();
    text.push_str(&main.join(" "));
}

fn implies(protocol: &str, module: &str) -> bool {
    protocol == module
        || matches!((protocol, module), ("ipv6-icmp" | "icmpv6" | "58", "icmp6"))
        || matches!((protocol, module), ("6", "tcp") | ("17", "udp") | ("1", "icmp"))
}

fn unordered(option: &str, value: &str) -> String {
    let lists = [
        "--ctstate",
        "--state",
        "--ctstatus",
        "--dports",
        "--sports",
        "--ports",
        "--dst-type",
        "--src-type",
        "--weekdays",
    ];
    if lists.contains(&option) {
        return sorted(value);
    }
    if option == "--tcp-flags" {
        return sorted(value);
    }
    if matches!(option, "-s" | "-d") {
        return value.trim_end_matches("/32").to_owned();
    }
    value.to_owned()
}

fn sorted(value: &str) -> String {
    let mut words: Vec<&str> = value.split(',').collect();
    words.sort_unstable();
    words.dedup();
    words.join(",")
}

/// Returns the content of an expression; nothing where it is none.
fn statement(expression: &Value) -> Option<String> {
    let (name, body) = expression.as_object()?.iter().next()?;
    match (name.as_str(), body) {
        // A counter in the rule only counts; a named one is an object that the rule uses.
        ("counter", Value::Object(_) | Value::Null) => None,
        ("quota", Value::Object(object)) => {
            Some(format!("quota {}", content(&Value::Object(without(object, &["used", "used_unit"])))))
        }
        ("limit", Value::Object(object)) => {
            let burst = object.get("burst").and_then(Value::as_u64);
            let drop: &[&str] = if burst == Some(5) || burst == Some(0) { &["burst"] } else { &[] };
            Some(format!("limit {}", content(&Value::Object(without(object, drop)))))
        }
        ("last", _) => None,
        _ => Some(format!("{name} {}", content(body))),
    }
}

fn without(object: &Map, names: &[&str]) -> Map {
    object.without(names)
}

/// Returns a value as a text in which nothing depends on an order that means nothing.
pub(in crate::netfilter) fn content(value: &Value) -> String {
    match value {
        Value::Object(object) => {
            let mut pairs: Vec<String> = object
                .iter()
                .map(|(key, value)| match (key.as_str(), value) {
                    ("set" | "flags", Value::Array(list)) => format!("{key}:{{{}}}", bag(list)),
                    ("right", Value::Array(list)) => format!("{key}:{{{}}}", bag(list)),
                    ("elem", Value::Object(object)) => format!("{key}:{}", element(object)),
                    _ => format!("{key}:{}", content(value)),
                })
                .collect();
            pairs.sort_unstable();
            format!("{{{}}}", pairs.join(","))
        }
        Value::Array(list) => format!("[{}]", list.iter().map(content).collect::<Vec<_>>().join(",")),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
    }
}

fn bag(list: &[Value]) -> String {
    let mut all: Vec<String> = list.iter().map(content).collect();
    all.sort_unstable();
    all.join(",")
}

/// When an element ends is not its content, nor what it has counted.
fn element(object: &Map) -> String {
    let kept = without(object, &["expires", "counter", "quota", "last"]);
    if let (1, Some(only)) = (kept.len(), kept.get("val")) {
        return content(only);
    }
    content(&Value::Object(kept))
}

/// Returns the content of an element of a set.
pub(in crate::netfilter) fn member(value: &Value) -> String {
    match value {
        Value::Object(object) => {
            object.get("elem").and_then(Value::as_object).map_or_else(|| content(value), element)
        }
        Value::Array(pair) => pair.iter().map(member).collect::<Vec<_>>().join(" : "),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => content(value),
    }
}

/// Returns what an object of a table is, without its number and what it counted.
pub(in crate::netfilter) fn object(value: &Value) -> String {
    let Some(object) = value.as_object() else { return content(value) };
    content(&Value::Object(without(object, &["handle", "packets", "bytes", "used", "elem"])))
}
