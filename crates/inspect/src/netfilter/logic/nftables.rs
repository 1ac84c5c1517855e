//! The meaning of `nft` expressions.

use std::collections::HashSet;

use super::compare::{comparison, holds_meters, needs, target};
use super::map::{lookups, mangle, vmap};
use super::operand::read;
use super::program::{Change, Code, CodeRule, ProgramStep};
use super::scope::Scope;
use super::test::{Field, Test};
use crate::netfilter::json::Value;
use crate::netfilter::ruleset::{Body, Table};

/// Collects the devices that a table names: every text beside a device, and every element of its sets.
pub(super) fn devices(table: &Table, found: &mut Vec<(String, bool)>) {
    let mut texts = Vec::new();
    let bases = table.chains.iter().filter_map(|chain| chain.base.as_ref());
    bases.filter_map(|base| base.device.as_ref()).for_each(|device| strings(device, &mut texts));
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

/// Collects what a rule writes besides marks, addresses and ports.
pub(super) fn writes(expressions: &[Value], found: &mut HashSet<String>) {
    let connection = || r#"{"ct":{"key":"mark"}}"#.to_owned();
    for expression in expressions {
        if let Some(key) = expression.get("mangle").and_then(|body| body.get("key")) {
            found.insert(key.to_string());
            let part =
                |name| key.get("payload").and_then(|payload| payload.get(name)).and_then(Value::as_str);
            if let (Some(protocol), Some(field)) = (part("protocol"), part("field")) {
                found.insert(format!("{protocol} {field}"));
            }
        }
        if let Some(option) = expression.get("reset") {
            found.insert(option.to_string());
        }
        if expression.get("xt").and_then(|body| body.get("name")).is_some_and(|name| name == "CONNMARK") {
            found.insert(connection());
        }
    }
}

/// Compiles a rule.
pub(super) fn rule(scope: &mut Scope<'_>, expressions: &[Value]) -> CodeRule {
    let mut code = CodeRule::default();
    for (at, expression) in expressions.iter().enumerate() {
        let steps = one(scope, expression);
        code.steps.extend(steps.into_iter().map(|step| (at, step)));
    }
    code.steps.shrink_to_fit();
    code
}

/// Compiles one expression; what has not exactly one name may be anything.
fn one(scope: &mut Scope<'_>, expression: &Value) -> Vec<ProgramStep> {
    let mut parts = expression.as_object().into_iter().flat_map(|object| object.iter());
    match (parts.next(), parts.next()) {
        (Some((name, body)), None) => statement(scope, name, body),
        _ => vec![ProgramStep::Do(scope.unread(&format!("`{expression}`, which is not understood")))],
    }
}

fn statement(scope: &mut Scope<'_>, name: &str, body: &Value) -> Vec<ProgramStep> {
    if let Some(code) = verdict(scope, name, body) {
        let mut steps: Vec<ProgramStep> =
            reject_needs(name, body).into_iter().map(ProgramStep::Match).collect();
        steps.push(ProgramStep::Do(code));
        return steps;
    }
    match name {
        "match" => vec![ProgramStep::Match(comparison(scope, body))],
        "vmap" => vmap(scope, body),
        "mangle" => mangle(scope, body),
        "limit" | "ct count" | "quota" | "connlimit" => {
            let text = format!("{name} {}", without_use(body));
            vec![ProgramStep::Match(scope.moody(&text))]
        }
        "notrack" => vec![ProgramStep::Change(Change::Untrack)],
        "dnat" | "redirect" => {
            let mut steps = looked_up(scope, body);
            if name == "redirect" || body.get("addr").is_some() {
                steps.push(ProgramStep::Change(Change::Set(Field::Destination, None)));
            }
            steps.push(ProgramStep::Change(Change::Set(
                Field::Dport,
                body.get("port").and_then(Value::as_u64),
            )));
            steps.push(ProgramStep::Do(Code::Accept));
            steps
        }
        "snat" | "masquerade" => {
            let mut steps = looked_up(scope, body);
            steps.extend([
                ProgramStep::Change(Change::Set(Field::Source, None)),
                ProgramStep::Change(Change::Set(Field::Sport, None)),
                ProgramStep::Do(Code::Accept),
            ]);
            steps
        }
        "queue" | "fwd" => {
            let mut steps = looked_up(scope, body);
            steps.push(ProgramStep::Change(Change::MarkUnknown));
            steps.push(ProgramStep::Do(scope.unknown(&format!("what `{name}` makes of the packet"))));
            steps
        }
        "synproxy" => vec![
            ProgramStep::Match(scope.moody("whether `synproxy` takes the packet")),
            ProgramStep::Do(scope.unknown("what `synproxy` makes of the packet")),
        ],
        // Where these find nothing to do their rule is left.
        "tproxy" | "flow" | "ct expectation" => {
            let mut steps = looked_up(scope, body);
            steps.push(ProgramStep::Match(scope.moody(&format!("whether `{name}` takes the packet"))));
            steps
        }
        "xt" => compatible(scope, body),
        "set" | "map" | "meter" => update(scope, body),
        "counter" | "log" | "dup" | "ct helper" | "ct timeout" | "secmark" | "last" | "comment" | "reset"
        | "ct zone" => looked_up(scope, body),
        // It may be a verdict.
        _ => vec![ProgramStep::Do(scope.unread(&format!("`{name}`, which is not understood")))],
    }
}

/// A set that is written to asks for its key, and all that stands beside the key has to let the packet go on.
fn update(scope: &mut Scope<'_>, body: &Value) -> Vec<ProgramStep> {
    let mut steps = Vec::new();
    for key in ["elem", "key", "data"] {
        let Some(key) = body.get(key) else { continue };
        let inner = key.get("elem");
        let value = inner.and_then(|elem| elem.get("val")).unwrap_or(key);
        steps.push(ProgramStep::Match(needs(&read(scope, value))));
        for (name, body) in inner.and_then(Value::as_object).into_iter().flat_map(|elem| elem.iter()) {
            if !matches!(name.as_str(), "val" | "timeout" | "expires" | "comment") {
                steps.extend(statement(scope, name, body));
            }
        }
    }
    match body.get("stmt") {
        Some(Value::Array(all)) => all.iter().for_each(|expression| steps.extend(one(scope, expression))),
        Some(expression) => steps.extend(one(scope, expression)),
        None => {}
    }
    // What another rule put beside the element is asked here, too.
    let deletes = body.get("op").is_some_and(|op| op == "delete");
    if let Some(name) = target(body).filter(|name| !deletes && holds_meters(scope.table, name)) {
        let text = format!("whether a limit beside the element of {name} lets the packet go on");
        steps.push(ProgramStep::Match(scope.moody(&text)));
    }
    steps.retain(|step| *step != ProgramStep::Match(Test::Always));
    steps
}

/// What a statement needs before it does anything: packets of a family, and a value in every map that it examines.
fn looked_up(scope: &mut Scope<'_>, body: &Value) -> Vec<ProgramStep> {
    let mut steps = Vec::new();
    let address = body.get("addr").and_then(Value::as_str);
    let family = match (body.get("family").and_then(Value::as_str), address) {
        (Some("ip"), _) => Some(4),
        (Some("ip6"), _) => Some(6),
        (_, Some(address)) => Some(if address.contains(':') { 6 } else { 4 }),
        _ => None,
    };
    steps.extend(family.map(|family| ProgramStep::Match(Test::one(Field::Family, family))));
    lookups(scope, body, &mut steps);
    steps
}

/// What a quota has used already is not its content.
fn without_use(body: &Value) -> String {
    let Some(object) = body.as_object() else { return body.to_string() };
    let kept = object.iter().filter(|(key, _)| *key != "used");
    kept.map(|(key, value)| format!("{key} {value}")).collect::<Vec<_>>().join(" ")
}

/// A match or target of `iptables`, whose parameters this form hides.
fn compatible(scope: &mut Scope<'_>, body: &Value) -> Vec<ProgramStep> {
    let name = body.get("name").and_then(Value::as_str).unwrap_or("?");
    if body.get("type").and_then(Value::as_str) == Some("match") {
        if name == "comment" {
            return Vec::new();
        }
        let why = format!("the match `{name}`, whose parameters `nft -j` hides");
        return vec![ProgramStep::Match(scope.moody(&why))];
    }
    match name {
        "REJECT" => vec![ProgramStep::Do(Code::Reject)],
        "DNPT" => vec![ProgramStep::Change(Change::Set(Field::Destination, None))],
        "SNPT" => vec![ProgramStep::Change(Change::Set(Field::Source, None))],
        "TPROXY" | "NFQUEUE" | "QUEUE" => vec![
            ProgramStep::Change(Change::MarkUnknown),
            ProgramStep::Do(scope.unknown(&format!("what {name} makes of the packet"))),
        ],

        "DNAT" | "REDIRECT" | "NETMAP" => vec![
            ProgramStep::Change(Change::Set(Field::Destination, None)),
            ProgramStep::Change(Change::Set(Field::Dport, None)),
            ProgramStep::Do(Code::Accept),
        ],
        "SNAT" | "MASQUERADE" => vec![
            ProgramStep::Change(Change::Set(Field::Source, None)),
            ProgramStep::Change(Change::Set(Field::Sport, None)),
            ProgramStep::Do(Code::Accept),
        ],
        "MARK" | "CONNMARK" | "HMARK" => vec![ProgramStep::Change(Change::MarkUnknown)],
        "CT" => vec![
            ProgramStep::Change(Change::TrackingUnknown),
            ProgramStep::Change(Change::Set(Field::State, None)),
        ],
        "NOTRACK" => vec![ProgramStep::Change(Change::Untrack)],
        name if crate::netfilter::save::is_extension_target(name)
            && !matches!(name, "SYNPROXY" | "CLUSTERIP") =>
        {
            Vec::new()
        }
        name => vec![ProgramStep::Do(scope.unread(&format!("what {name} makes of the packet")))],
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
