//! What the maps of `nft` lead to, and what is written into a packet.

use super::compare::{membership, meters, needs, updates};
use super::name::mark;
use super::nftables::verdict;
use super::operand::{Operand, read};
use super::program::{Change, Code, ProgramStep};
use super::scope::Scope;
use super::test::{Field, Test};
use crate::netfilter::json::Value;

/// Reads a verdict map.
pub(super) fn vmap(scope: &mut Scope<'_>, body: &Value) -> Vec<ProgramStep> {
    lookup(scope, body, &|scope, value| {
        let code = value.as_object().and_then(|object| object.iter().next());
        code.and_then(|(name, body)| verdict(scope, name, body))
            .unwrap_or_else(|| scope.unread(&format!("the verdict {value}")))
    })
}

/// What a map makes of a value.
type Meaning<'a> = &'a dyn Fn(&mut Scope<'_>, &Value) -> Code;

/// A look into a map: the first element whose key fits, else the one for everything else, else the rule is left.
fn lookup(scope: &mut Scope<'_>, body: &Value, meaning: Meaning<'_>) -> Vec<ProgramStep> {
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
        arms.push((Test::Always, scope.unread("a map that is not there")));
    }
    let (adds, deletes) = named.map_or((false, false), |name| updates(table, name));
    for element in elements.unwrap_or_default() {
        let Some([key, value]) = element.as_array() else {
            let may = scope.moody("whether an element of a map that is not understood fits");
            arms.push((may, scope.unread("an element of a map that is not understood")));
            continue;
        };
        let value = value.get("elem").and_then(|elem| elem.get("val")).unwrap_or(value);
        let code = meaning(scope, value);
        if key.as_str() == Some("*") {
            otherwise = Some((Test::Always, code));
            continue;
        }
        let asked = body.get("key").unwrap_or(&nothing).to_string();
        let mut test = membership(scope, &left, std::slice::from_ref(key))
            .unwrap_or_else(|| scope.about(&asked, &format!("whether {asked} is {key}")));
        if deletes {
            test = test.and(scope.moody(&format!("whether {key} is in the map still")));
        }
        if meters(key) {
            test = test.and(scope.moody(&format!("whether {key} lets the packet go on")));
        }
        arms.push((test, code));
    }
    let lost =
        named.and_then(|name| table.sets.iter().find(|set| set.name == name)).is_some_and(|set| set.unread);
    if let Some(name) = named.filter(|_| adds || lost) {
        let since = scope.moody(&format!("whether it was put into the map {name} since"));
        arms.push((since, scope.unread(&format!("what the map {name} holds"))));
    }
    arms.extend(otherwise);
    vec![ProgramStep::Match(needs(&left)), ProgramStep::Choose(arms)]
}

/// Examines every map that a statement takes values from: where one has none, the rule is left.
pub(super) fn lookups(scope: &mut Scope<'_>, value: &Value, steps: &mut Vec<ProgramStep>) {
    match value {
        Value::Object(object) => {
            for (name, body) in object {
                if name == "map" && body.get("data").is_some() {
                    let found = Code::Change(Change::Mark { clear: 0, flip: 0 });
                    steps.extend(lookup(scope, body, &|_, _| found.clone()));
                } else {
                    lookups(scope, body, steps);
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|value| lookups(scope, value, steps)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// `meta mark set …`, and what else is rewritten.
pub(super) fn mangle(scope: &mut Scope<'_>, body: &Value) -> Vec<ProgramStep> {
    let (key, value) = (body.get("key").unwrap_or(&Value::Null), body.get("value").unwrap_or(&Value::Null));
    // A packet without such a header, or without what is written into it, leaves the rule.
    let mut steps =
        vec![ProgramStep::Match(needs(&read(scope, key))), ProgramStep::Match(needs(&read(scope, value)))];
    steps.extend(rewrite(scope, key, value));
    steps.retain(|step| *step != ProgramStep::Match(Test::Always));
    steps
}

fn rewrite(scope: &mut Scope<'_>, key: &Value, value: &Value) -> Vec<ProgramStep> {
    let written = read(scope, key);
    if let (Operand::Field(Field::Mark, _), Some(map)) = (&written, value.get("map")) {
        return lookup(scope, map, &|_, value| {
            Code::Change(mark_change(value).unwrap_or(Change::MarkUnknown))
        });
    }
    let mut steps = Vec::new();
    lookups(scope, value, &mut steps);
    if key.get("ct").and_then(|ct| ct.get("key")).and_then(Value::as_str) == Some("zone") {
        steps.push(ProgramStep::Change(Change::Zone));
    }
    match written {
        Operand::Field(Field::Mark, _) => {
            steps.push(ProgramStep::Change(mark_change(value).unwrap_or(Change::MarkUnknown)));
        }
        Operand::Field(field, _) | Operand::Masked(field, ..) => {
            steps.push(ProgramStep::Change(Change::Set(field, None)));
        }
        // Bytes that are named by their offset may be an address or a port.
        Operand::Unknown(..) if key.get("payload").is_some_and(|payload| payload.get("base").is_some()) => {
            let fields = [Field::Source, Field::Destination, Field::Sport, Field::Dport];
            steps.extend(fields.map(|field| ProgramStep::Change(Change::Set(field, None))));
        }
        Operand::Unknown(..) | Operand::Concat(_) | Operand::Kind(_) => {}
    }
    steps
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
