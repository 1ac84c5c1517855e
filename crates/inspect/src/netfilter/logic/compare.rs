//! What a comparison of `nft` demands: equality, order, membership in a set.

use super::operand::{Operand, address_kind, bits, read, values};
use super::scope::Scope;
use super::span::Spans;
use super::test::{Field, Test};
use crate::netfilter::json::Value;
use crate::netfilter::ruleset::{Body, Set, Table};

/// Reads a `match`.
pub(super) fn comparison(scope: &mut Scope<'_>, body: &Value) -> Test {
    let nothing = Value::Null;
    let side = |name| body.get(name).unwrap_or(&nothing);
    let left = read(scope, side("left"));
    let op = body.get("op").and_then(Value::as_str).unwrap_or("==");
    let right = side("right");
    let has = needs(&left);
    let test = compare(scope, &left, op, right).unwrap_or_else(|| {
        let text = text(side("left"), op, right);
        scope.about(&text, &text)
    });
    // What stands beside an element is asked where the element is found, and found it has to be.
    if op != "!=" && meters_in(scope, right) {
        let goes_on = scope.moody(&format!("whether an element of {right} lets the packet go on"));
        return has.and(test).and(goes_on);
    }
    has.and(test)
}

/// Whether rates or counts stand beside the elements of a set.
fn meters_in(scope: &Scope<'_>, right: &Value) -> bool {
    if let Some(name) = right.as_str().and_then(|text| text.strip_prefix('@')) {
        let set = scope.table.sets.iter().find(|set| set.name == name);
        return set.is_some_and(|set| {
            set.elements.iter().any(|element| meters(key(element, set.is_map)))
                || set.about.get("stmt").is_some_and(limits)
        });
    }
    right.get("set").and_then(Value::as_array).is_some_and(|elements| elements.iter().any(meters))
}

/// Whether a set can hold elements with a rate or a count beside them: printed ones, or those that some rule puts in.
pub(super) fn holds_meters(table: &Table, name: &str) -> bool {
    let printed = table.sets.iter().filter(|set| set.name == name).any(|set| {
        set.about.get("stmt").is_some_and(limits)
            || set.elements.iter().any(|element| meters(key(element, set.is_map)))
    });
    printed
        || writes_into(table, name).any(|body| {
            body.get("stmt").is_some_and(limits)
                || ["elem", "key"].iter().any(|place| body.get(place).is_some_and(meters))
        })
}

/// Whether an element has a rate or a count of its own, which may stop a packet.
pub(super) fn meters(element: &Value) -> bool {
    element.get("elem").is_some_and(limits)
}

fn limits(value: &Value) -> bool {
    let stops = |name: &str| matches!(name, "limit" | "quota" | "ct count" | "connlimit");
    match value {
        Value::Object(object) => object.keys().any(|name| stops(name.as_str())),
        Value::Array(list) => list.iter().any(limits),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn text(left: &Value, op: &str, right: &Value) -> String {
    format!("{left} {op} {right}")
}

/// What has to hold for a packet to have all that an operand names.
pub(super) fn needs(operand: &Operand) -> Test {
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
                Test::masked(*field, mask, Spans::run(1, 255))
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
            Some(Test::masked(*field, *mask, Spans::one(masked_value(*field, right)?)))
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
    if set.unread {
        return None;
    }
    let listed = membership(scope, left, &keys)?;
    let (adds, deletes) = updates(table, name);
    Some(scope.updated(listed, name, adds, deletes))
}

/// Whether rules of a table add to one of its sets, and whether they delete from it.
pub(super) fn updates(table: &Table, name: &str) -> (bool, bool) {
    let (mut adds, mut deletes) = (false, false);
    for body in writes_into(table, name) {
        let delete = body.get("op").is_some_and(|op| op == "delete");
        (adds, deletes) = (adds || !delete, deletes || delete);
    }
    (adds, deletes)
}

/// Returns the statements of a table that write into a set.
fn writes_into<'a>(table: &'a Table, name: &'a str) -> impl Iterator<Item = &'a Value> {
    let rules = table.chains.iter().flat_map(|chain| &chain.rules);
    let expressions = rules.filter_map(|rule| match &rule.body {
        Body::Nft(expressions) => Some(expressions),
        Body::Save(_) => None,
    });
    let bodies = expressions
        .flatten()
        .filter_map(|expression| ["set", "map", "meter"].iter().find_map(|kind| expression.get(kind)));
    bodies.filter(move |body| target(body) == Some(name))
}

/// Returns the name of the set into which a statement writes.
pub(super) fn target(body: &Value) -> Option<&str> {
    let named = ["set", "map", "name"].iter().find_map(|place| body.get(place))?.as_str()?;
    Some(named.strip_prefix('@').unwrap_or(named))
}

/// The key of an element; an element of a map is a pair.
fn key(element: &Value, is_map: bool) -> &Value {
    match element.as_array() {
        Some([key, _]) if is_map => key,
        _ => element,
    }
}

pub(super) fn membership(scope: &mut Scope<'_>, left: &Operand, elements: &[Value]) -> Option<Test> {
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
            Some(Test::masked(*field, *mask, Spans::of(each?)))
        }
        Operand::Kind(field) => {
            let words: Option<Vec<&str>> = elements.iter().map(Value::as_str).collect();
            Some(Test::Any(words?.into_iter().map(|word| address_kind(scope, *field, word)).collect()))
        }
        Operand::Unknown(what, _) => {
            let mut tests = Vec::new();
            for element in elements {
                tests.push(scope.about(what, &format!("whether {what} is {element}")));
            }
            Some(Test::Any(tests))
        }
    }
}
