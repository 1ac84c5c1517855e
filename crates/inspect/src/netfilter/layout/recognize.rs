//! The programs whose rules these are.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::name::{owner, set_owner, table_owner};
use crate::netfilter::ruleset::{Body, Chain, Rule, Ruleset};
use crate::netfilter::text::Text;

/// What is named as evidence for one program, at most.
const MAX_EVIDENCE: usize = 12;

/// A program whose rules were recognized.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Layout {
    /// The program, or `cis` for the rules of the benchmark.
    pub name: &'static str,
    /// What shows it: tables, chains and sets.
    pub evidence: Vec<String>,
    /// Something odd about it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

/// Recognizes programs by the names that they give.
#[must_use]
pub fn recognize(rulesets: &[&Ruleset]) -> Vec<Layout> {
    let mut found: BTreeMap<&'static str, BTreeSet<String>> = BTreeMap::new();
    for ruleset in rulesets {
        for table in &ruleset.tables {
            if let Some(program) = table_owner(&table.name) {
                found.entry(program).or_default().insert(format!("table {}", table.name));
            }
            for chain in &table.chains {
                if let Some(program) = owner("", &chain.name) {
                    let chain_name = format!("{} {}", table.name, chain.name);
                    found.entry(program).or_default().insert(chain_name);
                }
                for rule in &chain.rules {
                    if let Some((program, chain_name)) = by_rule(rule) {
                        found.entry(program).or_default().insert(chain_name);
                    }
                }
            }
            for set in &table.sets {
                if let Some(program) = set_owner(&set.name) {
                    found.entry(program).or_default().insert(format!("set {}", set.name));
                }
            }
        }
        for set in &ruleset.ipsets {
            if let Some(program) = set_owner(&set.name) {
                found.entry(program).or_default().insert(format!("set {}", set.name));
            }
        }
    }
    let mut all: Vec<Layout> = found.into_iter().map(|(name, evidence)| layout(name, evidence)).collect();
    for evidence in rulesets.iter().filter_map(|ruleset| hardened(ruleset)) {
        if !all.iter().any(|layout| layout.name == "cis") {
            all.push(Layout { name: "cis", evidence, remarks: Vec::new() });
        }
    }
    for layout in &mut all {
        if layout.name == "docker" {
            layout.remarks = stages(rulesets);
        }
    }
    all
}

fn layout(name: &'static str, evidence: BTreeSet<String>) -> Layout {
    let count = evidence.len();
    let mut evidence: Vec<String> = evidence.into_iter().take(MAX_EVIDENCE).collect();
    if count > MAX_EVIDENCE {
        evidence.push(format!("and {} more", count - MAX_EVIDENCE));
    }
    Layout { name, evidence, remarks: Vec::new() }
}

/// WireGuard has no chains of its own: its scripts leave rules for a device `wg0` or for its port.
fn by_rule(rule: &Rule) -> Option<(&'static str, String)> {
    let wire = |name: &str| {
        name.strip_prefix("wg").is_some_and(|rest| {
            rest.is_empty() || rest == "+" || rest.bytes().all(|byte| byte.is_ascii_digit())
        })
    };
    match &rule.body {
        Body::Save(parts) => {
            let named = |wanted: &[&str], fits: &dyn Fn(&str) -> bool| {
                parts.iter().any(|part| {
                    wanted.contains(&part.name.as_str())
                        && part.values.first().is_some_and(|value| fits(value))
                })
            };
            if named(&["-i", "-o"], &wire) {
                return Some(("wireguard", "rules for a device wg*".to_owned()));
            }
            if named(&["--dport"], &|port| port == "51820") {
                return Some(("wireguard", "rules for its port, udp/51820".to_owned()));
            }
        }
        Body::Nft(expressions) => {
            let text = expressions.iter().map(ToString::to_string).collect::<String>();
            if text.contains("ifname") && text.split('"').any(wire) {
                return Some(("wireguard", "rules for a device wg*".to_owned()));
            }
        }
    }
    rule.comment
        .as_deref()
        .filter(|text| text.contains("wg-quick"))
        .map(|_| ("wireguard", "rules of wg-quick".to_owned()))
}

/// The benchmark's pattern: everything is dropped by default, the loopback is open, its addresses are refused elsewhere.
fn hardened(ruleset: &Ruleset) -> Option<Vec<String>> {
    let base = |table: &str, hook: &str| -> Vec<&Chain> {
        let tables = ruleset.tables.iter().filter(|own| table.is_empty() || own.bare() == table);
        tables
            .flat_map(|table| &table.chains)
            .filter(|chain| {
                chain.base.as_ref().is_some_and(|base| base.hook == hook && base.kind == "filter")
            })
            .collect()
    };
    let drops = |chains: &[&Chain]| {
        chains
            .iter()
            .any(|chain| chain.policy.as_deref().is_some_and(|policy| policy.eq_ignore_ascii_case("drop")))
    };
    let (input, forward) = (base("", "input"), base("", "forward"));
    let spoofed = input.iter().flat_map(|chain| &chain.rules).find(|rule| {
        (rule.raw.contains("127.0.0.0/8") || rule.raw.contains("::1"))
            && rule.raw.to_ascii_lowercase().contains("drop")
    })?;
    (drops(&input) && drops(&forward)).then(|| {
        vec![
            "input and forward drop by default".to_owned(),
            format!("addresses of the loopback are refused elsewhere: rule {}", spoofed.position),
        ]
    })
}

/// The isolation of Docker's networks works in two stages, each of which ends in RETURN.
fn stages(rulesets: &[&Ruleset]) -> Vec<String> {
    let mut remarks = Vec::new();
    let chains = rulesets.iter().flat_map(|ruleset| &ruleset.tables).flat_map(|table| &table.chains);
    for chain in chains.filter(|chain| chain.name.starts_with("DOCKER-ISOLATION-STAGE-")) {
        for rule in &chain.rules {
            let Body::Save(parts) = &rule.body else { continue };
            let target = parts.iter().find(|part| part.name == "-j").and_then(|part| part.values.first());
            let narrow = parts.iter().any(|part| !matches!(part.name.as_str(), "-j" | "-m" | "--comment"));
            if matches!(target.map(Text::as_str), Some("DROP" | "REJECT")) && !narrow {
                remarks.push(format!(
                    "{} rule {} drops without any condition: everything that reaches it, containers too",
                    chain.name, rule.position
                ));
            }
        }
    }
    remarks
}
