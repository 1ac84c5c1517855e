//! The meaning of `nft` expressions.

use super::compare::comparison;
use super::map::{mangle, vmap};
use super::program::{Change, Code, CodeRule, Step};
use super::scope::Scope;
use super::test::{Field, Test};
use crate::netfilter::json::Value;
use crate::netfilter::ruleset::{Body, Table};

/// Collects the devices that a table names: every text beside a device, and every element of its sets.
pub(super) fn devices(table: &Table, found: &mut Vec<(String, bool)>) {
    let mut texts = Vec::new();
    for rule in table.chains.iter().flat_map(|chain| &chain.rules) {
        let Body::Nft(expressions) = &rule.body else { continue };
        for expression in expressions {
            if about_devices(expression) {
                strings(expression, &mut texts);
            }
        }
    }
    for set in table.sets.iter().filter(|set| set.about.to_string().contains("if")) {
        set.elements.iter().for_each(|element| strings(element, &mut texts));
    }
    found.extend(texts.into_iter().map(|text| match text.strip_suffix('*') {
        Some(start) => (start.to_owned(), true),
        None => (text, false),
    }));
}

fn about_devices(value: &Value) -> bool {
    match value {
        Value::String(text) => matches!(text.as_str(), "iif" | "oif" | "iifname" | "oifname"),
        Value::Array(list) => list.iter().any(about_devices),
        Value::Object(object) => object.values().any(about_devices),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn strings(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.to_string()),
        Value::Array(list) => list.iter().for_each(|value| strings(value, texts)),
        Value::Object(object) => object.values().for_each(|value| strings(value, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Compiles a rule.
pub(super) fn rule(scope: &mut Scope<'_>, expressions: &[Value]) -> CodeRule {
    let mut code = CodeRule::default();
    for (at, expression) in expressions.iter().enumerate() {
        let steps = match expression.as_object().and_then(|object| object.iter().next()) {
            Some((name, body)) => statement(scope, name, body),
            None => vec![Step::Match(scope.atom(&expression.to_string()))],
        };
        code.steps.extend(steps.into_iter().map(|step| (at, step)));
    }
    code.steps.shrink_to_fit();
    code
}

fn statement(scope: &mut Scope<'_>, name: &str, body: &Value) -> Vec<Step> {
    if let Some(code) = verdict(scope, name, body) {
        let mut steps: Vec<Step> = reject_needs(name, body).into_iter().map(Step::Match).collect();
        steps.push(Step::Do(code));
        return steps;
    }
    match name {
        "match" => vec![Step::Match(comparison(scope, body))],
        "vmap" => vmap(scope, body),
        "mangle" => mangle(scope, body),
        "limit" | "ct count" | "quota" | "connlimit" => {
            let text = format!("{name} {}", without_use(body));
            vec![Step::Match(scope.moody(&text))]
        }
        "notrack" => vec![Step::Change(Change::Untrack)],
        "dnat" | "redirect" => {
            let mut steps = Vec::new();
            if name == "redirect" || body.get("addr").is_some() {
                steps.push(Step::Change(Change::Set(Field::Destination, None)));
            }
            steps.push(Step::Change(Change::Set(Field::Dport, body.get("port").and_then(Value::as_u64))));
            steps.push(Step::Do(Code::Accept));
            steps
        }
        "snat" | "masquerade" => vec![
            Step::Change(Change::Set(Field::Source, None)),
            Step::Change(Change::Set(Field::Sport, None)),
            Step::Do(Code::Accept),
        ],
        "queue" | "synproxy" | "fwd" => {
            vec![Step::Do(scope.unknown(&format!("what `{name}` makes of the packet")))]
        }
        "tproxy" => Vec::new(),
        "xt" => compatible(scope, body),
        "counter" | "log" | "dup" | "set" | "map" | "ct helper" | "ct timeout" | "ct expectation"
        | "secmark" | "last" | "flow" | "comment" | "reset" | "ct zone" | "meter" => Vec::new(),
        _ => vec![Step::Match(scope.atom(&format!("`{name}`, which is not understood")))],
    }
}

/// What a quota has used already is not its content.
fn without_use(body: &Value) -> String {
    let Some(object) = body.as_object() else { return body.to_string() };
    let kept = object.iter().filter(|(key, _)| *key != "used");
    kept.map(|(key, value)| format!("{key} {value}")).collect::<Vec<_>>().join(" ")
}

/// A match or target of `iptables`, whose parameters this form hides.
fn compatible(scope: &mut Scope<'_>, body: &Value) -> Vec<Step> {
    let name = body.get("name").and_then(Value::as_str).unwrap_or("?");
    if body.get("type").and_then(Value::as_str) == Some("match") {
        if name == "comment" {
            return Vec::new();
        }
        let why = format!("the match `{name}`, whose parameters `nft -j` hides");
        return vec![Step::Match(scope.moody(&why))];
    }
    match name {
        "REJECT" => vec![Step::Do(Code::Reject)],
        "DNAT" | "REDIRECT" | "NETMAP" => vec![
            Step::Change(Change::Set(Field::Destination, None)),
            Step::Change(Change::Set(Field::Dport, None)),
            Step::Do(Code::Accept),
        ],
        "SNAT" | "MASQUERADE" => vec![
            Step::Change(Change::Set(Field::Source, None)),
            Step::Change(Change::Set(Field::Sport, None)),
            Step::Do(Code::Accept),
        ],
        "MARK" | "CONNMARK" | "HMARK" => vec![Step::Change(Change::MarkUnknown)],
        "CT" => vec![Step::Change(Change::Set(Field::State, None))],
        "NOTRACK" => vec![Step::Change(Change::Untrack)],
        name if crate::netfilter::save::is_extension_target(name)
            && !matches!(name, "TPROXY" | "NFQUEUE" | "SYNPROXY" | "CLUSTERIP") =>
        {
            Vec::new()
        }
        name => vec![Step::Do(scope.unknown(&format!("what {name} makes of the packet")))],
    }
}

pub(super) fn verdict(scope: &mut Scope<'_>, name: &str, body: &Value) -> Option<Code> {
    let target = || body.get("target").and_then(Value::as_str).unwrap_or_default();
    Some(match name {
        "accept" => Code::Accept,
        "drop" => Code::Drop,
        "reject" => Code::Reject,
        "return" => Code::Return,
        "continue" => Code::Continue,
        "jump" => scope.chain(target(), false),
        "goto" => scope.chain(target(), true),
        _ => return None,
    })
}

/// A reject of one kind is for packets of that kind alone.
fn reject_needs(name: &str, body: &Value) -> Option<Test> {
    if name != "reject" {
        return None;
    }
    match body.get("type")?.as_str()? {
        "icmp" => Some(Test::one(Field::Family, 4)),
        "icmpv6" => Some(Test::one(Field::Family, 6)),
        "tcp reset" => Some(Test::one(Field::Protocol, 6)),
        _ => None,
    }
}
