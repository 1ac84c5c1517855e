//! What a rule is, apart from its counters, its number and the order of what has no order.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt::Write as _;

use crate::netfilter::json::{Object as Map, Value};
use crate::netfilter::ruleset::{Body, Part, Rule};
use crate::netfilter::text::Text;

/// Returns the content of a rule as a text: two rules are one where these are equal.
///
/// Digests of snapshots are made of these texts: another text for the same rule makes old snapshots unreadable.
pub(in crate::netfilter) fn rule(rule: &Rule) -> String {
    let mut text = String::new();
    write_rule(rule, &mut text);
    text
}

/// Appends the content of a rule.
pub(super) fn write_rule(rule: &Rule, text: &mut String) {
    match &rule.body {
        Body::Save(parts) => save(parts, text),
        Body::Nft(expressions) => {
            for expression in expressions {
                if statement(expression, text) {
                    text.push(' ');
                }
            }
            if let Some(comment) = &rule.comment {
                text.push_str("comment ");
                quote(comment, text);
            }
        }
    }
}

fn save(parts: &[Part], text: &mut String) {
    let protocol = parts.iter().find(|part| part.name == "-p" && !part.negated);
    let protocol = protocol.and_then(|part| part.values.first()).map(Text::as_str);
    let mut main = Vec::new();
    for part in parts {
        let value = part.values.first().map_or("", Text::as_str);
        let implied = part.name == "-m" && !part.negated && protocol.is_some_and(|own| implies(own, value));
        let default = matches!((part.name.as_str(), value, part.negated), ("--limit-burst", "5", false));
        if implied || default {
            continue;
        }
        // The order of the plain options is nobody's content.
        if matches!(part.name.as_str(), "-p" | "-s" | "-d" | "-i" | "-o" | "-f") {
            let mut one = String::new();
            write_part(part, &mut one);
            main.push(one);
        } else {
            write_part(part, text);
            text.push(' ');
        }
    }
    main.sort_unstable();
    for (at, one) in main.iter().enumerate() {
        if at > 0 {
            text.push(' ');
        }
        text.push_str(one);
    }
}

fn write_part(part: &Part, text: &mut String) {
    if part.negated {
        text.push_str("! ");
    }
    text.push_str(part.module.as_ref().map_or("", Text::as_str));
    text.push_str(&part.name);
    for value in &part.values {
        text.push(' ');
        quote(&unordered(&part.name, value), text);
    }
}

/// Writes a text in quotes, as `{:?}` does.
fn quote(value: &str, text: &mut String) {
    if value.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\') {
        text.push('"');
        text.push_str(value);
        text.push('"');
    } else {
        text.push_str(&format!("{value:?}"));
    }
}

fn implies(protocol: &str, module: &str) -> bool {
    protocol == module
        || matches!((protocol, module), ("ipv6-icmp" | "icmpv6" | "58", "icmp6"))
        || matches!((protocol, module), ("6", "tcp") | ("17", "udp") | ("1", "icmp"))
}

fn unordered<'a>(option: &str, value: &'a str) -> Cow<'a, str> {
    match option {
        "--ctstate" | "--state" | "--ctstatus" | "--dports" | "--sports" | "--ports" | "--dst-type"
        | "--src-type" | "--weekdays" | "--tcp-flags" => sorted(value),
        "-s" | "-d" => value.trim_end_matches("/32").into(),
        _ => value.into(),
    }
}

fn sorted(value: &str) -> Cow<'_, str> {
    if !value.contains(',') {
        return value.into();
    }
    let mut words: Vec<&str> = value.split(',').collect();
    words.sort_unstable();
    words.dedup();
    words.join(",").into()
}

/// Writes the content of an expression; false where it is none.
fn statement(expression: &Value, text: &mut String) -> bool {
    let Some((name, body)) = expression.as_object().and_then(|object| object.iter().next()) else {
        return false;
    };
    let (name, body) = match (name.as_str(), body) {
        // A counter in the rule only counts; a named one is an object that the rule uses.
        ("counter", Value::Object(_) | Value::Null) | ("last", _) => return false,
        ("quota", Value::Object(object)) => {
            ("quota", Cow::Owned(Value::Object(without(object, &["used", "used_unit"]))))
        }
        ("limit", Value::Object(object)) => {
            let burst = object.get("burst").and_then(Value::as_u64);
            let drop: &[&str] = if burst == Some(5) || burst == Some(0) { &["burst"] } else { &[] };
            ("limit", Cow::Owned(Value::Object(without(object, drop))))
        }
        (name, body) => (name, Cow::Borrowed(body)),
    };
    text.push_str(name);
    text.push(' ');
    write_value(&body, text);
    true
}

fn without(object: &Map, names: &[&str]) -> Map {
    object.without(names)
}

/// Returns a value as a text in which nothing depends on an order that means nothing.
pub(in crate::netfilter) fn content(value: &Value) -> String {
    let mut text = String::new();
    write_value(value, &mut text);
    text
}

fn write_value(value: &Value, text: &mut String) {
    match value {
        Value::Object(object) => {
            let mut pairs: Vec<(&Text, &Value)> = object.iter().collect();
            pairs.sort_by(|a, b| by_text(*a, *b));
            text.push('{');
            for (at, pair) in pairs.into_iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                write_pair(pair, text);
            }
            text.push('}');
        }
        Value::Array(list) => {
            text.push('[');
            for (at, value) in list.iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                write_value(value, text);
            }
            text.push(']');
        }
        // Up to here the quotes of JSON are those of a debugged text.
        Value::String(own) if own.bytes().all(|byte| matches!(byte, b' '..=b'~')) => quote(own, text),
        Value::Number(number) => _ = write!(text, "{number}"),
        Value::Null | Value::Bool(_) | Value::String(_) => text.push_str(&value.to_string()),
    }
}

fn write_pair((key, value): (&Text, &Value), text: &mut String) {
    text.push_str(key);
    text.push(':');
    match (key.as_str(), value) {
        ("set" | "flags" | "right", Value::Array(list)) => {
            let mut all: Vec<String> = list.iter().map(content).collect();
            all.sort_unstable();
            text.push('{');
            text.push_str(&all.join(","));
            text.push('}');
        }
        ("elem", Value::Object(object)) => text.push_str(&element(object)),
        _ => write_value(value, text),
    }
}

/// Compares two pairs as their texts compare; mostly the names decide, and no text has to be made.
fn by_text(a: (&Text, &Value), b: (&Text, &Value)) -> Ordering {
    if a.0 == b.0 || a.0.contains(':') || b.0.contains(':') {
        let whole = |pair| {
            let mut text = String::new();
            write_pair(pair, &mut text);
            text
        };
        return whole(a).cmp(&whole(b));
    }
    a.0.bytes().chain([b':']).cmp(b.0.bytes().chain([b':']))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netfilter::read;

    fn keys(text: &str) -> Vec<String> {
        let ruleset = read(text).unwrap();
        ruleset
            .tables
            .iter()
            .flat_map(|table| &table.chains)
            .flat_map(|chain| &chain.rules)
            .map(rule)
            .collect()
    }

    #[test]
    fn old_digests_stay_what_they_are() {
        let save = "*filter\n:INPUT ACCEPT [0:0]\n-A INPUT -s 10.0.0.1/32 ! -i eth0 -p tcp -m tcp --dport 22 -m conntrack --ctstate NEW,ESTABLISHED -m comment --comment \"it's \\\"ü\\\"\" -j ACCEPT\nCOMMIT\n";
        assert_eq!(
            keys(save),
            [
                "tcp--dport \"22\" -m \"conntrack\" conntrack--ctstate \"ESTABLISHED,NEW\" -m \"comment\" comment--comment \"it's \\\"ü\\\"\" -j \"ACCEPT\" ! -i \"eth0\" -p \"tcp\" -s \"10.0.0.1\""
            ]
        );
        let native = r#"{"nftables": [{"table": {"family": "ip", "name": "t"}}, {"chain": {"family": "ip", "table": "t", "name": "c"}}, {"rule": {"family": "ip", "table": "t", "chain": "c", "comment": "a \"b\"", "expr": [{"match": {"op": "==", "left": {"meta": {"key": "mark"}}, "right": {"set": [2, 1, "ü"]}}}, {"counter": {"packets": 1}}, {"limit": {"rate": 3, "burst": 5, "per": "second"}}, {"accept": null}]}}]}"#;
        assert_eq!(
            keys(native),
            [
                r#"match {left:{meta:{key:"mark"}},op:"==",right:{set:{"ü",1,2}}} limit {per:"second",rate:3} accept null comment "a \"b\"""#
            ]
        );
    }

    #[test]
    fn pairs_stand_in_the_order_of_their_texts() {
        let names = ["a", "a!", "ab", "a:b", "a:", "", ":", "b", "a"];
        let pairs: Vec<(Text, Value)> =
            names.iter().zip(0_u64..).map(|(name, number)| (Text::from(*name), number.into())).collect();
        for (key, value) in &pairs {
            for (other_key, other) in &pairs {
                let (mut text, mut other_text) = (String::new(), String::new());
                write_pair((key, value), &mut text);
                write_pair((other_key, other), &mut other_text);
                assert_eq!(by_text((key, value), (other_key, other)), text.cmp(&other_text));
            }
        }
    }
}
