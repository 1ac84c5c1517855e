//! The explanation as a text that is read at three in the morning: first what changed, then who reaches what, then the rest.

use std::fmt;

use super::document::{Changed, Explained, Explanation, HookOutcomes, TrafficOutcome};
use crate::netfilter::diff::{Severity, Status};
use crate::netfilter::walk::{Hook, Verdict};

/// How many changes of one kind, and how many letters of a rule are written.
const MAX_CHANGES: usize = 60;
const MAX_RULE_CHARS: usize = 300;

impl fmt::Display for Explanation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        for warning in &self.unread {
            line(&mut text, &format!("UNREAD {warning}"));
        }
        if !self.unread.is_empty() {
            line(&mut text, "Nothing below speaks for what could not be read.\n");
        }
        if let Some(about) = &self.snapshot {
            line(
                &mut text,
                &format!(
                    "Snapshot {} of {}, taken {} by {}.",
                    about.session, about.scope, about.taken_at, about.taken_by
                ),
            );
        }
        if let Some(framework) = &self.framework {
            line(&mut text, &format!("Framework: {}", framework.framework.unwrap_or("not known")));
            framework.reasons.iter().for_each(|reason| line(&mut text, &format!("- {reason}")));
            text.push('\n');
        }
        if let Some(change) = &self.change {
            changed(&mut text, change);
        }
        for backend in &self.backends {
            explained(&mut text, backend);
        }
        if !self.jails.is_empty() {
            line(&mut text, "# Banned addresses");
            for jail in &self.jails {
                let who = if jail.banned.is_empty() { "nobody".to_owned() } else { jail.banned.join(", ") };
                let more = if jail.more > 0 { format!(", and {} more", jail.more) } else { String::new() };
                line(&mut text, &format!("- {} {}: {who}{more}", jail.program, jail.name));
            }
            text.push('\n');
        }
        if !self.layouts.is_empty() {
            line(&mut text, "# Programs recognized by the names they give");
            for layout in &self.layouts {
                line(&mut text, &format!("- {}: {}", layout.name, layout.evidence.join(", ")));
                layout.remarks.iter().for_each(|remark| line(&mut text, &format!("  - {remark}")));
            }
            text.push('\n');
        }
        for warning in &self.warnings {
            line(&mut text, &format!("warning: {warning}"));
        }
        out.write_str(text.trim_end())
    }
}

/// Names and rules are somebody's text: they stay on their line.
fn line(text: &mut String, what: &str) {
    let ended = what.ends_with('\n');
    text.extend(
        what.trim_end_matches('\n').chars().map(|char| if char.is_control() { '\u{fffd}' } else { char }),
    );
    text.push('\n');
    if ended {
        text.push('\n');
    }
}

fn changed(text: &mut String, change: &Changed) {
    let headline = match (change.status, change.critical) {
        (Status::Clean, _) => "no drift",
        (Status::Inconclusive, _) => "INCONCLUSIVE: nothing differs in what could be read",
        (Status::Drift, true) => "DRIFT, critical: some packets get another verdict",
        (Status::Drift, false) => "drift, and no packet was found that gets another verdict",
    };
    line(text, &format!("# What changed: {headline}"));
    if let Some([before, after]) = change.frameworks {
        line(
            text,
            &format!("- framework: {} → {}", before.unwrap_or("not known"), after.unwrap_or("not known")),
        );
    }
    let shown = change.changes.iter().filter(|own| !own.change.churn);
    for own in shown.clone().take(MAX_CHANGES) {
        let severity = match own.change.severity {
            Severity::Critical => "critical",
            Severity::Notable => "notable",
            Severity::Noise => "noise",
        };
        let chain = own.change.chain.as_ref().map(|chain| format!("/{chain}")).unwrap_or_default();
        let rule = own.change.rule.as_ref().map(|rule| format!(": {}", clip(rule))).unwrap_or_default();
        line(
            text,
            &format!("- {severity}: {} {}{chain}, {}{rule}", own.source, own.change.table, own.change.detail),
        );
    }
    more(text, shown.count(), MAX_CHANGES, "changes");
    let churn = change.changes.iter().filter(|own| own.change.churn).count();
    if churn > 0 {
        line(text, &format!("- {churn} more come and go by themselves"));
    }
    text.push('\n');
    if change.drift == Some(false) && change.traffic.is_empty() {
        return;
    }
    line(text, "# What that does to traffic");
    for outcome in &change.traffic {
        let state = if outcome.established { "established" } else { "new" };
        line(
            text,
            &format!(
                "- {} {}, {state}: {}: {} by {} → {} by {}",
                outcome.source,
                outcome.hook.name(),
                outcome.packets,
                outcome.before,
                outcome.before_by,
                outcome.after,
                outcome.after_by
            ),
        );
    }
    if change.traffic.is_empty() && change.limits.is_empty() {
        line(text, "- no new or established connection gets another verdict");
    }
    change.limits.iter().for_each(|limit| line(text, &format!("- not complete: {limit}")));
    text.push('\n');
}

fn explained(text: &mut String, backend: &Explained) {
    line(
        text,
        &format!(
            "# {} ({}, {} rule{})\n",
            backend.source,
            backend.family,
            backend.rules,
            if backend.rules == 1 { "" } else { "s" }
        ),
    );
    if backend.hooks.iter().all(|hook| hook.new.is_empty() && hook.established.is_empty())
        && backend.redirections.is_empty()
        && backend.limits.is_empty()
    {
        line(text, "Every packet passes: no rule and no policy stops any.\n");
    }
    for hook in &backend.hooks {
        let cut = format!("{}: there are more combinations", hook.hook.name());
        outcomes(text, hook, !backend.limits.iter().any(|limit| limit.starts_with(&cut)));
    }
    if !backend.redirections.is_empty() {
        line(text, "## Sent elsewhere");
        for moved in &backend.redirections {
            line(text, &format!("- {}: {}: {} by {}", moved.hook.name(), moved.packets, moved.to, moved.by));
        }
        text.push('\n');
    }
    if !backend.dead.is_empty() || !backend.unused.is_empty() {
        line(text, "## Rules that no packet meets");
        for dead in &backend.dead {
            let why = if dead.redundant { "which does the same" } else { "which decides otherwise" };
            line(
                text,
                &format!("- {}: taken by {}, {why}: {}", dead.at, dead.by.join(", "), clip(&dead.rule)),
            );
        }
        for chain in &backend.unused {
            line(text, &format!("- {chain}: nothing leads into this chain"));
        }
        text.push('\n');
    }
    if !backend.loggers.is_empty() {
        line(text, "## Loggers");
        for logger in &backend.loggers {
            let prefix = logger.prefix.as_ref().map(|prefix| format!(" as {prefix:?}")).unwrap_or_default();
            line(text, &format!("- {}{prefix}: {}", logger.at, clip(&logger.rule)));
        }
        text.push('\n');
    }
    if !backend.unknown.is_empty() {
        line(text, "## Not understood: taken as open");
        backend.unknown.iter().for_each(|what| line(text, &format!("- {}", clip(what))));
        text.push('\n');
    }
    backend.limits.iter().for_each(|limit| line(text, &format!("not complete: {limit}")));
    if !backend.limits.is_empty() {
        text.push('\n');
    }
}

fn outcomes(text: &mut String, hook: &HookOutcomes, complete: bool) {
    let what = match hook.hook {
        Hook::Input => "To this host (input)",
        Hook::Forward => "Through this host (forward)",
        Hook::Output => "From this host (output)",
        Hook::Prerouting => "Before routing (prerouting): what does not pass",
        Hook::Postrouting => "After routing (postrouting): what does not pass",
    };
    if hook.new.is_empty() && hook.established.is_empty() {
        return;
    }
    line(text, &format!("## {what}"));
    for (verdicts, words) in [
        (&[Verdict::Accept][..], "New connections that pass:"),
        (&[Verdict::Drop, Verdict::Reject][..], "New connections that are refused:"),
        (&[Verdict::Indeterminate][..], "Open:"),
    ] {
        let own: Vec<&TrafficOutcome> =
            hook.new.iter().filter(|outcome| verdicts.contains(&outcome.verdict)).collect();
        if !own.is_empty() {
            line(text, words);
            own.iter().for_each(|outcome| one(text, outcome));
        }
    }
    let refused: Vec<&TrafficOutcome> =
        hook.established.iter().filter(|outcome| outcome.verdict != Verdict::Accept).collect();
    match (refused.as_slice(), hook.established.as_slice()) {
        // Of those that were not followed nobody knows.
        ([], _) if !complete => {}
        ([], [all]) => line(text, &format!("Established connections pass by {}.", all.by)),
        ([], []) => {}
        ([], _) => line(text, "Established connections pass."),
        (refused, _) => {
            line(text, "Packets of established connections that do not pass:");
            refused.iter().for_each(|outcome| one(text, outcome));
        }
    }
    text.push('\n');
}

fn one(text: &mut String, outcome: &TrafficOutcome) {
    line(text, &format!("- {}: {} by {}", outcome.packets, outcome.verdict, outcome.by));
}

fn more(text: &mut String, count: usize, most: usize, what: &str) {
    if count > most {
        line(text, &format!("- and {} more {what}", count - most));
    }
}

fn clip(text: &str) -> String {
    if text.chars().count() <= MAX_RULE_CHARS {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(MAX_RULE_CHARS).collect();
    short.push('…');
    short
}
