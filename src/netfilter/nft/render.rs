//! A rule in one line, close to the language of `nft`.

use crate::netfilter::json::Value;

/// Writes the expressions of a rule.
pub(super) fn rule(expressions: &[Value]) -> String {
    expressions.iter().map(statement).collect::<Vec<_>>().join(" ")
}

/// Writes one expression.
pub(in crate::netfilter) fn statement(value: &Value) -> String {
    let Some((name, body)) = value.as_object().and_then(|object| object.iter().next()) else {
        return value.to_string();
    };
    match name.as_str() {
        "match" => {
            let op = body.get("op").and_then(Value::as_str).unwrap_or("==");
            let left = body.get("left").map(operand).unwrap_or_default();
            let right = body.get("right").map(operand).unwrap_or_default();
            match op {
                "==" | "in" => format!("{left} {right}"),
                _ => format!("{left} {op} {right}"),
            }
        }
        "vmap" => {
            let of = |name| body.get(name).map(operand).unwrap_or_default();
            format!("{} vmap {}", of("key"), of("data"))
        }
        "mangle" => {
            let of = |name| body.get(name).map(operand).unwrap_or_default();
            format!("{} set {}", of("key"), of("value"))
        }
        "jump" | "goto" => format!("{name} {}", body.get("target").and_then(Value::as_str).unwrap_or("?")),
        "log" => match body.get("prefix").and_then(Value::as_str) {
            Some(prefix) => format!("log prefix {prefix:?}"),
            None => "log".to_owned(),
        },
        "reject" => {
            match (body.get("type").and_then(Value::as_str), body.get("expr").and_then(Value::as_str)) {
                (Some(kind), Some(code)) => format!("reject with {kind} {code}"),
                (Some(kind), None) => format!("reject with {kind}"),
                _ => "reject".to_owned(),
            }
        }
        _ if body.is_null() => name.to_string(),
        _ => format!("{name} {}", operand(body)),
    }
}

/// Writes a value.
pub(in crate::netfilter) fn operand(value: &Value) -> String {
    match value {
        Value::String(text) => text.to_string(),
        Value::Array(list) => list.iter().map(operand).collect::<Vec<_>>().join(","),
        Value::Object(object) => {
            let Some((name, body)) = object.iter().next() else { return "{}".to_owned() };
            let text = |key: &str| body.get(key).map(operand).unwrap_or_default();
            match name.as_str() {
                "payload" if body.get("field").is_some() => format!("{} {}", text("protocol"), text("field")),
                "meta" | "ct" => format!("{name} {}", text("key")),
                "prefix" => format!("{}/{}", text("addr"), text("len")),
                "range" => pair(body, "-"),
                "&" | "|" | "^" | "<<" | ">>" => pair(body, &format!(" {name} ")),
                "concat" => body
                    .as_array()
                    .map(|list| list.iter().map(operand).collect::<Vec<_>>().join(" . "))
                    .unwrap_or_default(),
                "set" => elements(body),
                "elem" if body.get("val").is_some() => text("val"),
                "jump" | "goto" => format!("{name} {}", text("target")),
                _ => all(object),
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

fn all(object: &crate::netfilter::json::Object) -> String {
    let mut text = String::new();
    for (key, value) in object {
        let gap = if text.is_empty() { "" } else { " " };
        let value = if value.is_null() { String::new() } else { format!(" {}", operand(value)) };
        text.push_str(&format!("{gap}{key}{value}"));
    }
    text
}

fn pair(body: &Value, between: &str) -> String {
    body.as_array().map(|list| list.iter().map(operand).collect::<Vec<_>>().join(between)).unwrap_or_default()
}

fn elements(body: &Value) -> String {
    let Some(list) = body.as_array() else { return operand(body) };
    let one = |element: &Value| match element.as_array() {
        Some([key, data]) => format!("{} : {}", operand(key), operand(data)),
        _ => operand(element),
    };
    format!("{{ {} }}", list.iter().map(one).collect::<Vec<_>>().join(", "))
}
