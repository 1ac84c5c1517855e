//! A rule in one line, close to the language of `nft`.

use std::fmt::Write as _;

use crate::netfilter::json::{Object, Value};

/// Writes the expressions of a rule.
pub(super) fn rule(expressions: &[Value]) -> String {
    let mut out = String::with_capacity(128);
    joined(expressions, " ", &mut out, write_statement);
    out.shrink_to_fit();
    out
}

/// Writes one expression.
pub(in crate::netfilter) fn statement(value: &Value) -> String {
    let mut out = String::new();
    write_statement(value, &mut out);
    out
}

/// Writes a value.
pub(in crate::netfilter) fn operand(value: &Value) -> String {
    let mut out = String::new();
    write_operand(value, &mut out);
    out
}

fn write_statement(value: &Value, out: &mut String) {
    let Some((name, body)) = value.as_object().and_then(|object| object.iter().next()) else {
        plain(value, out);
        return;
    };
    match name.as_str() {
        "match" => {
            let op = body.get("op").and_then(Value::as_str).unwrap_or("==");
            member(body, "left", out);
            out.push(' ');
            if !matches!(op, "==" | "in") {
                out.push_str(op);
                out.push(' ');
            }
            member(body, "right", out);
        }
        "vmap" => {
            member(body, "key", out);
            out.push_str(" vmap ");
            member(body, "data", out);
        }
        "mangle" => {
            member(body, "key", out);
            out.push_str(" set ");
            member(body, "value", out);
        }
        "jump" | "goto" => {
            named(name, out);
            out.push_str(body.get("target").and_then(Value::as_str).unwrap_or("?"));
        }
        "log" => match body.get("prefix").and_then(Value::as_str) {
            Some(prefix) => out.push_str(&format!("log prefix {prefix:?}")),
            None => out.push_str("log"),
        },
        "reject" => {
            out.push_str("reject");
            if let Some(kind) = body.get("type").and_then(Value::as_str) {
                out.push_str(" with ");
                out.push_str(kind);
                if let Some(code) = body.get("expr").and_then(Value::as_str) {
                    out.push(' ');
                    out.push_str(code);
                }
            }
        }
        _ if body.is_null() => out.push_str(name),
        _ => {
            named(name, out);
            write_operand(body, out);
        }
    }
}

fn write_operand(value: &Value, out: &mut String) {
    match value {
        Value::String(text) => out.push_str(text),
        Value::Array(list) => joined(list, ",", out, write_operand),
        Value::Object(object) => {
            let Some((name, body)) = object.iter().next() else {
                out.push_str("{}");
                return;
            };
            match name.as_str() {
                "payload" if body.get("field").is_some() => {
                    member(body, "protocol", out);
                    out.push(' ');
                    member(body, "field", out);
                }
                "meta" | "ct" => {
                    named(name, out);
                    member(body, "key", out);
                }
                "prefix" => {
                    member(body, "addr", out);
                    out.push('/');
                    member(body, "len", out);
                }
                "range" => list(body, "-", out),
                "&" | "|" | "^" | "<<" | ">>" => list(body, &format!(" {name} "), out),
                "concat" => list(body, " . ", out),
                "set" => elements(body, out),
                "elem" if body.get("val").is_some() => member(body, "val", out),
                "jump" | "goto" => {
                    named(name, out);
                    member(body, "target", out);
                }
                _ => all(object, out),
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => plain(value, out),
    }
}

/// Writes JSON as it is.
fn plain(value: &Value, out: &mut String) {
    match value {
        Value::Number(number) => _ = write!(out, "{number}"),
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
            out.push_str(&value.to_string());
        }
    }
}

fn named(name: &str, out: &mut String) {
    out.push_str(name);
    out.push(' ');
}

/// Writes what stands under a name; nothing where nothing does.
fn member(body: &Value, name: &str, out: &mut String) {
    if let Some(value) = body.get(name) {
        write_operand(value, out);
    }
}

fn joined(values: &[Value], between: &str, out: &mut String, write: fn(&Value, &mut String)) {
    for (at, value) in values.iter().enumerate() {
        if at > 0 {
            out.push_str(between);
        }
        write(value, out);
    }
}

fn list(body: &Value, between: &str, out: &mut String) {
    joined(body.as_array().unwrap_or_default(), between, out, write_operand);
}

fn all(object: &Object, out: &mut String) {
    for (at, (key, value)) in object.iter().enumerate() {
        if at > 0 {
            out.push(' ');
        }
        out.push_str(key);
        if !value.is_null() {
            out.push(' ');
            write_operand(value, out);
        }
    }
}

fn elements(body: &Value, out: &mut String) {
    let Some(list) = body.as_array() else {
        write_operand(body, out);
        return;
    };
    out.push_str("{ ");
    joined(list, ", ", out, |element, out| match element.as_array() {
        Some([key, data]) => {
            write_operand(key, out);
            out.push_str(" : ");
            write_operand(data, out);
        }
        _ => write_operand(element, out),
    });
    out.push_str(" }");
}
