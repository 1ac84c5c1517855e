//! Which rules were tried, and what became of each.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::{Serialize, Serializer};

use super::cases::Item;
use super::gate::{Field, fit, source_ports};
use super::packet::Packet;
use super::rule::{Access, Rule};

/// What became of a rule that certainly matches.
const MATCHES: &str = "matches";

/// The rules that a gate tries, until one certainly matches. It is worked out when it is read.
#[derive(Debug, Clone, Copy)]
pub struct Trace<'a> {
    rules: &'a [Rule],
    packet: &'a Packet,
}

/// A rule that was tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TriedRule<'a> {
    /// The name of the rule in its group.
    pub rule: &'a str,
    /// The priority; the lowest number is tried first.
    pub priority: Option<u32>,
    /// What it does.
    pub access: Option<Access>,
    /// Whether it matched, and if not, which field failed.
    pub what: Cow<'static, str>,
    /// The field that failed, where the rule misses altogether.
    #[serde(skip)]
    pub missed: Option<Field>,
    /// The rule itself.
    #[serde(skip)]
    pub of: &'a Rule,
}

impl<'a> Trace<'a> {
    pub(super) const fn new(rules: &'a [Rule], packet: &'a Packet) -> Self {
        Self { rules, packet }
    }

    /// Returns the rules of the packet's direction in order; the last one certainly matches, where one does.
    pub fn iter(&self) -> impl Iterator<Item = TriedRule<'a>> + use<'a> {
        let (rules, packet) = (self.rules, self.packet);
        let mut over: Option<Option<u32>> = None;
        rules.iter().filter(move |rule| rule.may_apply(packet.direction)).map_while(move |rule| {
            // Nothing says which of the rules of one priority is the first.
            if over.is_some_and(|priority| priority != rule.priority) {
                return None;
            }
            let (what, missed) = said(rule, packet);
            if what == MATCHES {
                over = over.or(Some(rule.priority));
            }
            let (priority, access) = (rule.priority, rule.access);
            Some(TriedRule { rule: &rule.name, priority, access, what, missed, of: rule })
        })
    }
}

impl Serialize for Trace<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

/// Says what became of a rule.
fn said(rule: &Rule, packet: &Packet) -> (Cow<'static, str>, Option<Field>) {
    let mut missed: Option<Field> = None;
    let (mut misses, mut open) = (0, BTreeSet::new());
    for protocol in &packet.protocols {
        match fit(rule, packet, *protocol) {
            Err(field) => {
                misses += 1;
                missed = missed.or(Some(field));
            }
            Ok(clauses) => {
                let texts =
                    |clause: &Vec<Item>| clause.iter().map(Item::text).collect::<Vec<_>>().join(" or ");
                open.extend(clauses.iter().map(texts));
                let unknown = source_ports(rule, packet, *protocol).is_some();
                open.extend(unknown.then(|| "the source port".to_owned()));
            }
        }
    }
    let what = match missed {
        Some(field) if misses == packet.protocols.len() => return (field.missed().into(), missed),
        Some(field) => format!("matches some of the protocols: {}", field.as_str()).into(),
        None if open.is_empty() => MATCHES.into(),
        None => format!("may match: {}", open.into_iter().collect::<Vec<_>>().join(", ")).into(),
    };
    (what, None)
}
