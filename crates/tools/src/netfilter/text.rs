//! The answers for people.

use super::whole;
use crate::page::counted;
use crate::tone::Tone;
use ghost_inspect::netfilter::{Answer, Change, Comparison, Diff, Differences, Ruleset, Severity, Status};

/// The words with which lines begin that matter, and how they are meant.
pub(super) const WORDS: &[(&str, Tone)] = &[
    ("ACCEPT", Tone::Good),
    ("DROP", Tone::Bad),
    ("REJECT", Tone::Bad),
    ("INDETERMINATE", Tone::Odd),
    ("INCONCLUSIVE", Tone::Odd),
    ("no drift", Tone::Good),
    ("DRIFT", Tone::Bad),
    ("drift", Tone::Odd),
    ("critical", Tone::Bad),
    ("notable", Tone::Odd),
    ("noise", Tone::Faint),
    ("warning", Tone::Odd),
    ("UNREAD", Tone::Odd),
];

/// Writes what a ruleset holds.
pub(super) fn ruleset(ruleset: &Ruleset) -> String {
    let framework = ruleset.framework.as_deref().unwrap_or("backend not named by the text");
    let mut text = format!("{} rules, {}, {framework}", ruleset.rules, ruleset.family);
    if ruleset.opaque_rules > 0 {
        text.push_str(&format!(", {} with parts that are not known", ruleset.opaque_rules));
    }
    for table in &ruleset.tables {
        text.push_str(&format!(
            "\n{}{}",
            table.name,
            if table.dormant { " (dormant: it judges nothing)" } else { "" }
        ));
        for chain in &table.chains {
            let policy =
                chain.policy.as_deref().map(|policy| format!(", policy {policy}")).unwrap_or_default();
            let hook = chain
                .base
                .as_ref()
                .map(|base| format!(" at {} {}", base.hook, base.priority))
                .unwrap_or_default();
            text.push_str(&format!("\n  {}{hook}{policy}", clean(&chain.name)));
            for rule in &chain.rules {
                text.push_str(&format!("\n    {:>4}  {}", rule.position, clean(&rule.raw)));
            }
        }
        for set in &table.sets {
            let kind = if set.is_map { "map" } else { "set" };
            text.push_str(&format!("\n  {kind} {}: {} elements", clean(&set.name), set.elements.len()));
        }
    }
    for warning in &ruleset.warnings {
        text.push_str(&format!("\nwarning: {}", clean(&warning.to_string())));
    }
    text
}

/// Writes what became of a packet.
pub(super) fn answer(answer: &Answer, ruleset: &Ruleset, trace: bool) -> String {
    let mut text = answer.verdict.to_string();
    if let Some(rule) = &answer.rule {
        text.push_str(&format!(
            " by rule {} of {} {}\n  {}",
            rule.position,
            rule.table,
            rule.chain,
            clean(&rule.raw)
        ));
    } else if let Some(policy) = &answer.policy {
        text.push_str(&format!(" by the policy of {}", clean(policy)));
    }
    for what in &answer.undecided {
        text.push_str(&format!("\n  it depends on {}", clean(what)));
    }
    if trace {
        for tried in &answer.trace {
            let rule = &tried.rule;
            let what = match (&tried.failed, tried.matched) {
                (_, true) => "holds".to_owned(),
                (Some(part), false) => format!("does not hold: {}", clean(part)),
                (None, false) => "does not hold".to_owned(),
            };
            let place = format!("{} {} {}", rule.table, rule.chain, rule.position);
            text.push_str(&format!("\n  {}  {}\n      {what}", clean(&place), clean(&rule.raw)));
        }
    }
    for warning in &ruleset.warnings {
        text.push_str(&format!("\nwarning: {}", clean(&warning.to_string())));
    }
    text
}

/// Writes what differs.
pub(super) fn diff(diff: &Diff) -> String {
    let mut text = headline(diff.status, diff.critical, diff.changes.iter());
    for change in &diff.changes {
        text.push_str(&one(change, ""));
    }
    for warning in &diff.warnings {
        text.push_str(&format!("\nwarning: {}", clean(&warning.to_string())));
    }
    text
}

/// Writes what a comparison comes to, in one line.
pub(super) fn headline<'a>(
    status: Status,
    critical: bool,
    changes: impl Iterator<Item = &'a Change>,
) -> String {
    let (mut drift, mut churn) = (0, 0);
    for change in changes {
        *(if change.churn { &mut churn } else { &mut drift }) += 1;
    }
    let mut text = match (status, critical) {
        (Status::Clean, _) => "no drift".to_owned(),
        (Status::Inconclusive, _) => "INCONCLUSIVE: nothing differs in what could be read".to_owned(),
        (Status::Drift, true) => format!("DRIFT, critical: {}", counted(drift, "change")),
        (Status::Drift, false) => {
            format!("drift, no packet gets another verdict: {}", counted(drift, "change"))
        }
    };
    if churn > 0 {
        text.push_str(&format!("; {} that come and go by themselves", counted(churn, "change")));
    }
    text
}

/// Writes one change.
pub(super) fn one(change: &Change, source: &str) -> String {
    let severity = match change.severity {
        Severity::Critical => "critical",
        Severity::Notable => "notable",
        Severity::Noise => "noise",
    };
    let kind = serde_json::to_value(change.kind).unwrap_or_default();
    let kind = kind.as_str().unwrap_or_default().replace('_', " ");
    let chain = change.chain.as_deref().unwrap_or_default();
    let gap = if source.is_empty() { "" } else { ", " };
    let mut text = format!(
        "\n{severity:<8}  {kind}{gap}{source}, {} {}: {}",
        clean(&change.table),
        clean(chain),
        clean(&change.detail)
    );
    if let Some(rule) = &change.rule {
        text.push_str(&format!("\n          {}", clean(rule)));
    }
    text
}

/// Writes what differs, and which packets get another verdict.
pub(super) fn comparison(compared: &Comparison) -> String {
    let mut text = match &compared.found {
        Differences::Ruleset(found) => diff(found),
        Differences::Host(found) => whole::diff(found),
    };
    for change in &compared.traffic {
        let state = if change.established { "established" } else { "new" };
        text.push_str(&format!(
            "\ntraffic   {} {}, {state}: {}: {} by {} → {} by {}",
            clean(&change.source),
            change.hook.name(),
            clean(&change.packets),
            change.before,
            clean(&change.before_by),
            change.after,
            clean(&change.after_by)
        ));
    }
    for limit in &compared.limits {
        text.push_str(&format!("\ntraffic   not complete: {}", clean(limit)));
    }
    text
}

/// A comment of a rule is somebody's text: what would move the cursor is left out.
pub(super) fn clean(text: &str) -> String {
    text.chars().filter(|char| !char.is_control()).collect()
}
