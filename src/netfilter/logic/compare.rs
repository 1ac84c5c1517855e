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
    let test = compare(scope, &left, op, right).unwrap_or_else(|| scope.atom(&text(side("left"), op, right)));
    has.and(test)
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
    let listed = membership(scope, left, &keys)?;
    if updated(table, name) {
        // Packets put themselves in: what was printed is the least of it.
        let since = scope.atom(&format!("whether it was put into the set {name} since"));
        return Some(Test::Any(vec![listed, since]));
    }
    Some(listed)
}

/// Whether rules of a table change one of its sets.
pub(super) fn updated(table: &Table, name: &str) -> bool {
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
                tests.push(scope.atom(&format!("whether {what} is {element}")));
            }
            Some(Test::Any(tests))
        }
    }
}
