//! What stands in tables: rules and sets.

use super::document::{Document, clip, rest, text};
use super::{known, render};
use crate::netfilter::json::{Object as Map, Value};
use crate::netfilter::ruleset::{Body, Rule, Set};

impl Document {
    pub(super) fn rule(&mut self, at: usize, table: &str, body: &mut Map) {
        let expressions = body.take("expr");
        let (Some(chain), Some(Value::Array(expressions))) = (text(body, "chain"), expressions) else {
            let printed = clip(&Value::Object(body.clone()));
            self.left_out(at, table, text(body, "chain"), &printed);
            self.warn(at, format!("a rule without a chain or without expressions, left out: {printed}"));
            return;
        };
        let key = (table.to_owned(), chain.to_owned());
        if !self.chains.contains_key(&key) {
            // Whether packets enter it, and where, stood there.
            self.lose(at, format!("the chain {chain} does not stand before its rules"));
            self.add_chain(at, table, chain, None, None, None);
        }
        let mut targets = Vec::new();
        expressions.iter().for_each(|expression| jumps(expression, &mut targets));
        self.jumps.extend(targets.into_iter().map(|target| (at, table.to_owned(), target)));
        self.xt |= expressions.iter().any(|expression| expression.get("xt").is_some());
        let counter = expressions.iter().find_map(|expression| expression.get("counter"));
        let count = |name| counter.and_then(|counter| counter.get(name)?.as_u64());
        let rule = Rule {
            position: 0,
            handle: body.get("handle").and_then(Value::as_u64),
            raw: render::rule(&expressions),
            comment: text(body, "comment").map(str::to_owned),
            packets: count("packets"),
            bytes: count("bytes"),
            rest: rest(body, &["family", "table", "chain", "handle", "comment", "expr"]),
            opaque: known::opaque(&expressions),
            body: Body::Nft(expressions.into()),
        };
        let Some((table, chain)) = self.chains.get(&key).copied() else { return };
        if let Some(gaps) = self.gaps.get_mut(table) {
            gaps.rule(chain, at);
        }
        if let Some(chain) = self.tables.get_mut(table).and_then(|table| table.chains.get_mut(chain)) {
            chain.rules.push(Rule { position: chain.rules.len() + 1, ..rule });
        }
    }

    /// Keeps the place of a rule that cannot be read.
    fn left_out(&mut self, at: usize, table: &str, chain: Option<&str>, printed: &str) {
        let what = format!("object {at}, a rule that could not be read: {printed}");
        let known = chain.and_then(|chain| self.chains.get(&(table.to_owned(), chain.to_owned())).copied());
        let table = self.place(at, table);
        let before =
            known.and_then(|(table, chain)| Some(self.tables.get(table)?.chains.get(chain)?.rules.len()));
        let Some(gaps) = self.gaps.get_mut(table) else { return };
        match (known, before) {
            (Some((_, chain)), Some(before)) => gaps.within(chain, before, what),
            _ => gaps.anywhere(at, what),
        }
    }

    /// Notes that elements of a set are missing from it.
    pub(super) fn element(&mut self, at: usize, table: &str, body: &Map) {
        self.warn(at, "elements outside of their set, left out");
        let index = self.place(at, table);
        let name = text(body, "name");
        for set in self.tables.get_mut(index).into_iter().flat_map(|table| &mut table.sets) {
            set.unread |= name.is_none_or(|name| set.name == name);
        }
    }

    pub(super) fn set(&mut self, at: usize, table: &str, body: &mut Map, is_map: bool) {
        let elements = body.take("elem");
        let Some(name) = text(body, "name") else {
            self.warn(at, "a set without a name, left out");
            return;
        };
        let elements = match elements {
            None => Vec::new(),
            Some(Value::Array(elements)) => elements.into(),
            Some(one) => vec![one],
        };
        for element in &elements {
            let mut targets = Vec::new();
            jumps(element, &mut targets);
            self.jumps.extend(targets.into_iter().map(|target| (at, table.to_owned(), target)));
        }
        let flag = |name: &str| match body.get("flags") {
            Some(Value::Array(flags)) => flags.iter().any(|flag| flag == name),
            Some(Value::String(flag)) => flag == name,
            _ => false,
        };
        let set = Set {
            name: name.to_owned(),
            is_map,
            volatile: flag("dynamic"),
            about: Value::Object(body.without(&["elem"])),
            elements,
            unread: false,
        };
        let index = self.place(at, table);
        if let Some(table) = self.tables.get_mut(index) {
            table.sets.push(set);
        }
    }
}

/// Collects the targets of jumps, wherever they stand.
fn jumps(value: &Value, targets: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                match (key.as_str(), value.get("target").and_then(Value::as_str)) {
                    ("jump" | "goto", Some(target)) => targets.push(target.to_owned()),
                    _ => jumps(value, targets),
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|value| jumps(value, targets)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
