//! The meaning of `nft` expressions.

use crate::netfilter::json::Value;

use super::name::mark;
use super::operand::{Operand, address_kind, bits, read, values};
use super::program::{Change, Code, CodeRule, Scope, Step};
use super::span::Spans;
use super::test::{Field, Test};
use crate::netfilter::ruleset::{Body, Set, Table};

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
            steps.push(Step::Change(Change::Set(
                Field::Dport,
                body.get("port").and_then(Value::as_u64).map(u128::from),
            )));
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

fn verdict(scope: &mut Scope<'_>, name: &str, body: &Value) -> Option<Code> {
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

fn comparison(scope: &mut Scope<'_>, body: &Value) -> Test {
    let nothing = Value::Null;
    let side = |name| body.get(name).unwrap_or(&nothing);
    let left = read(scope, side("left"));
    let op = body.get("op").and_then(Value::as_str).unwrap_or("==");
    let right = side("right");
    let has = needs(&left);
    let test = compare(scope, &left, op, right).unwrap_or_else(|| scope.atom(&text(side("left"), op, right)));
    has.and(test)
}

fn text(left: &Value, op: &str, right: &Value) -> String {
    format!("{left} {op} {right}")
}

/// What has to hold for a packet to have all that an operand names.
fn needs(operand: &Operand) -> Test {
    match operand {
        Operand::Field(_, has) | Operand::Masked(_, _, has) | Operand::Unknown(_, has) => has.clone(),
        Operand::Concat(parts) => parts.iter().map(needs).fold(Test::Always, Test::and),
        Operand::Kind(_) => Test::Always,
    }
}

fn compare(scope: &mut Scope<'_>, left: &Operand, op: &str, right: &Value) -> Option<Test> {
    match (left, op) {
        (Operand::Field(field @ (Field::TcpFlags | Field::State), _), "in" | "!") => {
            // Some of these bits are set, or none is. A connection has one state.
            let chosen = if *field == Field::State {
                let list = right.as_array().map(<[Value]>::to_vec).unwrap_or_else(|| vec![right.clone()]);
                membership(scope, left, &list)?
            } else {
                let mask = bits(*field, right)?;
                Test::Mask(*field, mask, Spans::run(1, 255))
            };
            Some(chosen.negated(op == "!"))
        }
        (Operand::Field(field, has), "<" | ">" | "<=" | ">=") => {
            let value = values(scope, *field, has, right)?.single()?;
            let last = field.last();
            let spans = match op {
                "<" => value.checked_sub(1).map_or_else(Spans::none, |to| Spans::run(0, to)),
                ">" => Spans::run(value.saturating_add(1), last),
                "<=" => Spans::run(0, value),
                _ => Spans::run(value, last),
            };
            Some(Test::Is(*field, spans))
        }
        (_, "==" | "!=" | "in") => Some(equality(scope, left, right)?.negated(op == "!=")),
        _ => None,
    }
}

fn equality(scope: &mut Scope<'_>, left: &Operand, right: &Value) -> Option<Test> {
    if let Some(name) = right.as_str().and_then(|text| text.strip_prefix('@')) {
        return named(scope, left, name);
    }
    if let Some(set) = right.get("set") {
        let list = set.as_array().map(<[Value]>::to_vec).unwrap_or_else(|| vec![set.clone()]);
        return membership(scope, left, &list);
    }
    match (left, right) {
        // Several flags in a list are one value.
        (Operand::Masked(field, mask, _), _) => {
            Some(Test::Mask(*field, *mask, Spans::one(masked_value(*field, right)?)))
        }
        (Operand::Field(field @ Field::TcpFlags, _), Value::Array(_)) => {
            Some(Test::one(*field, bits(*field, right)?))
        }
        _ => membership(scope, left, std::slice::from_ref(right)),
    }
}

fn masked_value(field: Field, value: &Value) -> Option<u128> {
    if matches!(field, Field::Source | Field::Destination) {
        return Some(super::address::number(value.as_str()?.parse().ok()?).0);
    }
    bits(field, value)
}

/// Whether a packet is in a set of its table.
fn named(scope: &mut Scope<'_>, left: &Operand, name: &str) -> Option<Test> {
    let ruleset = scope.ruleset;
    let table = scope.table;
    let set: &Set = ruleset
        .tables
        .iter()
        .filter(|other| std::ptr::eq(*other, table))
        .flat_map(|table| &table.sets)
        .find(|set| set.name == name)?;
    let keys: Vec<Value> = set.elements.iter().map(|element| key(element, set.is_map).clone()).collect();
    let listed = membership(scope, left, &keys)?;
    if updated(table, name) {
        // Packets put themselves in: what was printed is the least of it.
        let since = scope.atom(&format!("whether it was put into the set {name} since"));
        return Some(Test::Any(vec![listed, since]));
    }
    Some(listed)
}

/// Whether rules of a table change one of its sets.
fn updated(table: &Table, name: &str) -> bool {
    let wanted = format!("@{name}");
    let changes = |expression: &Value| {
        ["set", "map"].iter().any(|kind| {
            expression
                .get(kind)
                .and_then(|body| body.get("set").or_else(|| body.get("map")))
                .and_then(Value::as_str)
                == Some(wanted.as_str())
        })
    };
    table.chains.iter().flat_map(|chain| &chain.rules).any(|rule| match &rule.body {
        Body::Nft(expressions) => expressions.iter().any(changes),
        Body::Save(_) => false,
    })
}

/// The key of an element; an element of a map is a pair.
fn key(element: &Value, is_map: bool) -> &Value {
    match element.as_array() {
        Some([key, _]) if is_map => key,
        _ => element,
    }
}

fn membership(scope: &mut Scope<'_>, left: &Operand, elements: &[Value]) -> Option<Test> {
    match left {
        Operand::Field(field, has) => {
            let mut runs = Vec::new();
            for element in elements {
                runs.extend(values(scope, *field, has, element)?.runs().iter().copied());
            }
            Some(Test::Is(*field, Spans::of(runs)))
        }
        Operand::Concat(parts) => {
            let mut tests = Vec::new();
            for element in elements {
                let element = element.get("elem").and_then(|elem| elem.get("val")).unwrap_or(element);
                let values = element.get("concat").and_then(Value::as_array)?;
                if values.len() != parts.len() {
                    return None;
                }
                let each: Option<Vec<Test>> = parts
                    .iter()
                    .zip(values)
                    .map(|(part, value)| membership(scope, part, std::slice::from_ref(value)))
                    .collect();
                tests.push(Test::All(each?));
            }
            Some(Test::Any(tests))
        }
        Operand::Masked(field, mask, _) => {
            let each: Option<Vec<(u128, u128)>> = elements
                .iter()
                .map(|element| masked_value(*field, element).map(|value| (value, value)))
                .collect();
            Some(Test::Mask(*field, *mask, Spans::of(each?)))
        }
        Operand::Kind(field) => {
            let words: Option<Vec<&str>> = elements.iter().map(Value::as_str).collect();
            Some(Test::Any(words?.into_iter().map(|word| address_kind(scope, *field, word)).collect()))
        }
        Operand::Unknown(what, _) => {
            let mut tests = Vec::new();
            for element in elements {
                tests.push(scope.atom(&format!("whether {what} is {element}")));
            }
            Some(Test::Any(tests))
        }
    }
}

fn vmap(scope: &mut Scope<'_>, body: &Value) -> Vec<Step> {
    lookup(scope, body, &|scope, value| {
        let code = value.as_object().and_then(|object| object.iter().next());
        code.and_then(|(name, body)| verdict(scope, name, body))
            .unwrap_or_else(|| scope.unknown(&format!("the verdict {value}")))
    })
}

/// What a map makes of a value.
type Meaning<'a> = &'a dyn Fn(&mut Scope<'_>, &Value) -> Code;

/// A look into a map: the first element whose key fits, else the one for everything else, else the rule is left.
fn lookup(scope: &mut Scope<'_>, body: &Value, meaning: Meaning<'_>) -> Vec<Step> {
    let nothing = Value::Null;
    let left = read(scope, body.get("key").unwrap_or(&nothing));
    let data = body.get("data").unwrap_or(&nothing);
    let table = scope.table;
    let named = data.as_str().and_then(|text| text.strip_prefix('@'));
    let elements: Option<&[Value]> = match named {
        Some(name) => table.sets.iter().find(|set| set.name == name).map(|set| set.elements.as_slice()),
        None => data.get("set").and_then(Value::as_array),
    };
    let mut arms = Vec::new();
    let mut otherwise = None;
    if elements.is_none() {
        arms.push((Test::Always, scope.unknown("a map that is not there")));
    }
    for element in elements.unwrap_or_default() {
        let Some([key, value]) = element.as_array() else {
            arms.push((Test::Always, scope.unknown("an element of a map that is not understood")));
            continue;
        };
        let value = value.get("elem").and_then(|elem| elem.get("val")).unwrap_or(value);
        let code = meaning(scope, value);
        if key.as_str() == Some("*") {
            otherwise = Some((Test::Always, code));
            continue;
        }
        let test = membership(scope, &left, std::slice::from_ref(key))
            .unwrap_or_else(|| scope.atom(&format!("whether the key of a map is {key}")));
        arms.push((test, code));
    }
    if let Some(name) = named.filter(|name| updated(table, name)) {
        let since = scope.atom(&format!("whether it was put into the map {name} since"));
        arms.push((since, scope.unknown(&format!("what the map {name} holds"))));
    }
    arms.extend(otherwise);
    vec![Step::Match(needs(&left)), Step::Choose(arms)]
}

/// `meta mark set …`; everything else that is rewritten decides nothing here.
fn mangle(scope: &mut Scope<'_>, body: &Value) -> Vec<Step> {
    let key = body.get("key").unwrap_or(&Value::Null);
    let of = |name: &str| key.get(name).and_then(|key| key.get("key")).and_then(Value::as_str);
    if of("meta") == Some("mark") {
        let value = body.get("value").unwrap_or(&Value::Null);
        if let Some(map) = value.get("map") {
            return lookup(scope, map, &|_, value| {
                Code::Change(mark_change(value).unwrap_or(Change::MarkUnknown))
            });
        }
        return vec![Step::Change(mark_change(value).unwrap_or(Change::MarkUnknown))];
    }
    let Some(payload) = key.get("payload") else { return Vec::new() };
    let field =
        match (payload.get("protocol").and_then(Value::as_str), payload.get("field").and_then(Value::as_str))
        {
            (Some("ip" | "ip6"), Some("saddr")) => Field::Source,
            (Some("ip" | "ip6"), Some("daddr")) => Field::Destination,
            (Some(_), Some("sport")) => Field::Sport,
            (Some(_), Some("dport")) => Field::Dport,
            _ => return Vec::new(),
        };
    vec![Step::Change(Change::Set(field, None))]
}

/// A number, or the mark itself with bits cleared, set and turned over.
fn mark_change(value: &Value) -> Option<Change> {
    let number = |value: &Value| match value.as_str() {
        Some(text) => mark(text).and_then(|mark| u32::try_from(mark).ok()),
        None => value.as_u64().and_then(|number| u32::try_from(number).ok()),
    };
    if let Some(value) = number(value) {
        return Some(Change::Mark { clear: u32::MAX, flip: value });
    }
    let (op, sides) = value.as_object()?.iter().next()?;
    if op == "meta" {
        return (sides.get("key")?.as_str()? == "mark").then_some(Change::Mark { clear: 0, flip: 0 });
    }
    let [left, right] = sides.as_array()? else { return None };
    let Change::Mark { clear, flip } = mark_change(left)? else { return None };
    let bits = number(right)?;
    Some(match op.as_str() {
        "&" => Change::Mark { clear: clear | !bits, flip: flip & bits },
        "|" => Change::Mark { clear: clear | bits, flip: flip | bits },
        "^" => Change::Mark { clear, flip: flip ^ bits },
        _ => return None,
    })
}
