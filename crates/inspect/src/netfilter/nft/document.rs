//! The list of objects: tables, chains, sets, rules, and what nobody knows yet.

use std::collections::HashMap;

use crate::netfilter::json::{Object as Map, Value};

use crate::netfilter::gap::Gaps;
use crate::netfilter::json;
use crate::netfilter::ruleset::ReadError;
use crate::netfilter::ruleset::{Base, Chain, Family, Format, Object, Ruleset, Table, Warning};

/// Reads what `nft -j list ruleset` printed.
pub(in crate::netfilter) fn read(text: &str) -> Result<Ruleset, ReadError> {
    let mut document = Document::default();
    let mut at = 0;
    let found = json::each(text, "nftables", |object| {
        at += 1;
        document.object(at, object);
    });
    match found {
        Err(error) => Err(ReadError::Json { line: error.line() }),
        Ok(false) => Err(ReadError::OtherJson),
        Ok(true) => Ok(document.finish()),
    }
}

#[derive(Default)]
pub(super) struct Document {
    pub(super) tables: Vec<Table>,
    /// Where a chain is, by table and name.
    pub(super) chains: HashMap<(String, String), (usize, usize)>,
    at: HashMap<String, usize>,
    pub(super) jumps: Vec<(usize, String, String)>,
    pub(super) xt: bool,
    about: Option<Value>,
    warnings: Vec<Warning>,
    /// What of each table could not be read.
    pub(super) gaps: Vec<Gaps>,
    /// What could not be read and may judge any packet.
    unread: Vec<String>,
}

impl Document {
    pub(super) fn warn(&mut self, at: usize, what: impl Into<String>) {
        self.warnings.push(Warning { place: format!("object {at}"), what: what.into() });
    }

    /// Says that something is odd which may judge any packet.
    pub(super) fn lose(&mut self, at: usize, what: impl Into<String>) {
        let what = what.into();
        self.unread.push(format!("object {at}, {what}"));
        self.warn(at, what);
    }

    fn object(&mut self, at: usize, mut object: Value) {
        let first = if let Value::Object(object) = &mut object { object.first_mut() } else { None };
        let Some((kind, Value::Object(body))) = first else {
            self.lose(at, "no object with a kind, left out");
            return;
        };
        if kind == "metainfo" {
            self.about = Some(Value::Object(body.clone()));
            return;
        }
        let (Some(family), Some(name)) =
            (text(body, "family"), text(body, if kind == "table" { "name" } else { "table" }))
        else {
            let what = format!("a {kind} without a table, left out: {}", clip(&Value::Object(body.clone())));
            // A set that is missing is missed where it is asked for.
            if matches!(kind.as_str(), "set" | "map" | "element") || is_object(kind) {
                self.warn(at, what);
            } else {
                self.lose(at, what);
            }
            return;
        };
        let table = format!("{family} {name}");
        match kind.as_str() {
            "table" => self.table(at, &table, body),
            "chain" => self.chain(at, &table, body),
            "rule" => self.rule(at, &table, body),
            "set" | "map" => self.set(at, &table, body, kind == "map"),
            "element" => self.element(at, &table, body),
            _ => {
                if !is_object(kind) {
                    self.lose(at, format!("an object that is not known, kept as it is: {kind}"));
                }
                let name = text(body, "name").unwrap_or_default().to_owned();
                let index = self.place(at, &table);
                if let Some(table) = self.tables.get_mut(index) {
                    table.objects.push(Object {
                        kind: kind.to_string(),
                        name,
                        about: Value::Object(body.clone()),
                    });
                }
            }
        }
    }

    /// Returns where a table is; one that was never declared is made, with a warning.
    pub(super) fn place(&mut self, at: usize, name: &str) -> usize {
        if let Some(index) = self.at.get(name) {
            return *index;
        }
        self.warn(at, format!("the table {name} was not declared before"));
        self.add_table(name)
    }

    fn add_table(&mut self, name: &str) -> usize {
        let (own, _) = name.split_once(' ').unwrap_or((name, ""));
        let family = match own {
            "ip" => Family::Ip,
            "ip6" => Family::Ip6,
            "inet" => Family::Inet,
            "arp" | "bridge" | "netdev" => Family::Other,
            other => {
                self.unread
                    .push(format!("the table {name}: which packets the family {other} sees is not known"));
                Family::Other
            }
        };
        let index = self.tables.len();
        self.tables.push(Table {
            name: name.to_owned(),
            family,
            dormant: false,
            flags: None,
            rest: None,
            chains: Vec::new(),
            sets: Vec::new(),
            objects: Vec::new(),
        });
        self.gaps.push(Gaps::default());
        self.at.insert(name.to_owned(), index);
        index
    }

    fn table(&mut self, at: usize, name: &str, body: &Map) {
        if self.at.contains_key(name) {
            if let Some(index) = self.at.get(name)
                && self.tables.get(*index).is_some_and(|table| table.flags.as_ref() != body.get("flags"))
            {
                self.unread.push(format!("object {at}, which gives the table {name} other flags"));
            }
            self.warn(at, format!("the table {name} is declared twice"));
            return;
        }
        let index = self.add_table(name);
        let Some(table) = self.tables.get_mut(index) else { return };
        table.flags = body.get("flags").cloned();
        table.rest = rest(body, &["family", "name", "flags"]);
        let own = table.bare().to_owned();
        // One release prints the name of the table where its only flag at that time, `dormant`, belongs.
        table.dormant = match &table.flags {
            Some(Value::Array(flags)) => flags.iter().any(|flag| flag == "dormant"),
            Some(Value::String(flag)) => flag == "dormant" || flag.as_str() == own,
            _ => false,
        };
    }

    fn chain(&mut self, at: usize, table: &str, body: &Map) {
        let Some(name) = text(body, "name") else {
            self.lose(at, "a chain without a name, left out");
            return;
        };
        if body.get("hook").is_some_and(|hook| hook.as_str().is_none()) {
            self.lose(at, format!("the chain {name} has a hook that cannot be read"));
        }
        let base = text(body, "hook").map(|hook| Base {
            kind: text(body, "type").unwrap_or("filter").to_owned(),
            hook: hook.to_owned(),
            priority: body.get("prio").and_then(priority).unwrap_or(0),
            device: body.get("dev").or_else(|| body.get("devices")).cloned(),
        });
        if base.is_some() && body.get("prio").is_some_and(|prio| priority(prio).is_none()) {
            self.lose(at, format!("the chain {name} has a priority that cannot be read"));
        }
        let policy = match body.get("policy") {
            Some(Value::String(policy)) => Some(policy.to_string()),
            Some(odd) => Some(clip(odd)),
            None => base.as_ref().map(|_| "accept".to_owned()),
        };
        let typed = ["family", "table", "name", "type", "hook", "prio", "policy", "dev", "devices"];
        // Without a hook the rest of a base chain is nobody's.
        let typed = if base.is_some() { &typed[..] } else { &typed[..3] };
        self.add_chain(at, table, name, base, policy, rest(body, typed));
    }

    pub(super) fn add_chain(
        &mut self,
        at: usize,
        table: &str,
        name: &str,
        base: Option<Base>,
        policy: Option<String>,
        rest: Option<Value>,
    ) {
        let key = (table.to_owned(), name.to_owned());
        if self.chains.contains_key(&key) {
            self.lose(at, format!("the chain {name} is declared twice"));
            return;
        }
        let index = self.place(at, table);
        let Some(found) = self.tables.get_mut(index) else { return };
        self.chains.insert(key, (index, found.chains.len()));
        let name = name.to_owned();
        found.chains.push(Chain {
            name,
            base,
            policy,
            packets: None,
            bytes: None,
            rest,
            rules: Vec::new(),
            unread: Vec::new(),
        });
    }

    fn finish(mut self) -> Ruleset {
        for (gaps, table) in std::mem::take(&mut self.gaps).into_iter().zip(&mut self.tables) {
            gaps.close(table);
        }
        for (at, table, target) in std::mem::take(&mut self.jumps) {
            if !self.chains.contains_key(&(table, target.clone())) {
                self.warn(at, format!("a jump to {target}, a chain that is missing"));
            }
        }
        let rules = || self.tables.iter().flat_map(|table| &table.chains).flat_map(|chain| &chain.rules);
        let mut families: Vec<&str> = Vec::new();
        for table in &self.tables {
            let family = table.name.split(' ').next().unwrap_or_default();
            if !families.contains(&family) {
                families.push(family);
            }
        }
        Ruleset {
            format: Format::Nft,
            family: families.join(" "),
            about: self.about,
            framework: Some(if self.xt { "iptables-nft" } else { "nft" }.to_owned()),
            rules: rules().count(),
            opaque_rules: rules().filter(|rule| !rule.opaque.is_empty()).count(),
            tables: self.tables,
            ipsets: Vec::new(),
            unread: self.unread,
            cut_off: false,
            warnings: self.warnings,
        }
    }
}

fn priority(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64(),
        Value::String(text) => match text.as_str() {
            "raw" => Some(-300),
            "mangle" => Some(-150),
            "dstnat" => Some(-100),
            "filter" => Some(0),
            "security" => Some(50),
            "srcnat" => Some(100),
            text => text.parse().ok(),
        },
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Whether it is something that rules name, and that judges nothing by itself.
fn is_object(kind: &str) -> bool {
    matches!(
        kind,
        "flowtable"
            | "counter"
            | "quota"
            | "limit"
            | "ct helper"
            | "ct timeout"
            | "ct expectation"
            | "secmark"
            | "synproxy"
            | "meter"
            | "tunnel"
    )
}

/// Returns what is not typed.
pub(super) fn rest(body: &Map, typed: &[&str]) -> Option<Value> {
    let kept = body.without(typed);
    (!kept.is_empty()).then_some(Value::Object(kept))
}

pub(super) fn text<'a>(body: &'a Map, name: &str) -> Option<&'a str> {
    body.get(name).and_then(Value::as_str)
}

pub(super) fn clip(value: &Value) -> String {
    value.to_string().chars().take(80).collect()
}
