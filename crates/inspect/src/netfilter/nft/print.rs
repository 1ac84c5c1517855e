//! What `nft -j list ruleset` would print.

use crate::netfilter::json::{Object, Value};
use crate::netfilter::ruleset::{Body, Chain, Object as Other, Rule, Ruleset, Set, Table};
use crate::netfilter::text::Text;

/// Writes a ruleset: tables, chains, objects, sets, rules, so that whatever is named is there already.
pub(in crate::netfilter) fn print(ruleset: &Ruleset) -> String {
    let mut out = Printer { text: String::from("{\"nftables\": [") };
    let about = ruleset.about.clone().unwrap_or_else(|| object([("json_schema_version", 1_u64.into())]));
    out.one("metainfo", about);
    for table in &ruleset.tables {
        let family = table.name.split(' ').next().unwrap_or_default();
        out.one("table", table_body(table, family));
        for chain in &table.chains {
            out.one("chain", chain_body(chain, table, family));
        }
        for Other { kind, about, .. } in &table.objects {
            out.one(kind, about.clone());
        }
        for set in &table.sets {
            out.one(if set.is_map { "map" } else { "set" }, set_body(set));
        }
        for chain in &table.chains {
            for rule in &chain.rules {
                out.one("rule", rule_body(rule, chain, table, family));
            }
        }
    }
    out.text + "]}"
}

struct Printer {
    text: String,
}

impl Printer {
    fn one(&mut self, kind: &str, body: Value) {
        if !self.text.ends_with('[') {
            self.text.push_str(", ");
        }
        self.text.push_str(&object([(kind, body)]).to_string());
    }
}

fn object<const N: usize>(pairs: [(&str, Value); N]) -> Value {
    Value::Object(pairs.into_iter().map(|(key, value)| (Text::from(key), value)).collect())
}

/// Puts what is typed before what is not.
fn with(typed: Vec<(&str, Value)>, rest: Option<&Value>) -> Value {
    let rest = rest.and_then(Value::as_object).into_iter().flat_map(Object::iter);
    let rest = rest.map(|(key, value)| (key.clone(), value.clone()));
    Value::Object(typed.into_iter().map(|(key, value)| (Text::from(key), value)).chain(rest).collect())
}

fn table_body(table: &Table, family: &str) -> Value {
    let mut body = vec![("family", family.into()), ("name", table.bare().into())];
    body.extend(table.flags.clone().map(|flags| ("flags", flags)));
    with(body, table.rest.as_ref())
}

fn chain_body(chain: &Chain, table: &Table, family: &str) -> Value {
    let mut body =
        vec![("family", family.into()), ("table", table.bare().into()), ("name", chain.name.as_str().into())];
    if let Some(base) = &chain.base {
        body.push(("type", base.kind.as_str().into()));
        body.push(("hook", base.hook.as_str().into()));
        body.push(("prio", base.priority.into()));
        body.extend(base.device.clone().map(|device| ("dev", device)));
        body.extend(chain.policy.as_deref().map(|policy| ("policy", policy.into())));
    }
    with(body, chain.rest.as_ref())
}

fn rule_body(rule: &Rule, chain: &Chain, table: &Table, family: &str) -> Value {
    let mut body = vec![
        ("family", family.into()),
        ("table", table.bare().into()),
        ("chain", chain.name.as_str().into()),
    ];
    body.extend(rule.handle.map(|handle| ("handle", handle.into())));
    body.extend(rule.comment.as_deref().map(|comment| ("comment", comment.into())));
    if let Body::Nft(expressions) = &rule.body {
        body.push(("expr", Value::Array(expressions.clone().into())));
    }
    with(body, rule.rest.as_ref())
}

fn set_body(set: &Set) -> Value {
    let elements = (!set.elements.is_empty()).then(|| ("elem", Value::Array(set.elements.clone().into())));
    with(elements.into_iter().collect(), Some(&set.about))
}
