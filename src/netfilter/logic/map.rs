//! What the maps of `nft` lead to, and what is written into a packet.

use super::compare::{membership, needs, updated};
use super::name::mark;
use super::nftables::verdict;
use super::operand::read;
use super::program::{Change, Code, Step};
use super::scope::Scope;
use super::test::{Field, Test};
use crate::netfilter::json::Value;

/// Reads a verdict map.
pub(super) fn vmap(scope: &mut Scope<'_>, body: &Value) -> Vec<Step> {
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
pub(super) fn mangle(scope: &mut Scope<'_>, body: &Value) -> Vec<Step> {
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
