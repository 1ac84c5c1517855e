//! The answers about a whole host, for people.

use super::text;
use super::text::{clean, headline, one};
use ghost_inspect::netfilter::{About, Host, HostAnswer, HostDiff, Warning};

/// Writes what a host holds.
pub(super) fn host(host: &Host) -> String {
    let mut text = format!("{} rules, {}", host.rules, framework(host));
    if let Some(about) = &host.snapshot {
        text.push_str(&format!("\n{}", snapshot(about)));
    }
    for backend in &host.backends {
        text.push_str(&format!("\n\n== {}", backend.source));
        if let Some(error) = &backend.error {
            text.push_str(&format!(": could not be read: {}", clean(error)));
        }
        if let Some(ruleset) = &backend.ruleset {
            text.push_str(&format!("\n{}", text::ruleset(ruleset)));
        }
        if !backend.mirrors.is_empty() {
            let names = backend.mirrors.join(", ");
            text.push_str(&format!("\nshown above, by iptables-nft: {}", clean(&names)));
        }
    }
    for set in &host.ipsets {
        let plural = if set.members.len() == 1 { "" } else { "s" };
        text.push_str(&format!(
            "\nipset {} {}: {} element{plural}",
            clean(&set.name),
            clean(&set.kind),
            set.members.len()
        ));
    }
    text.push_str(&warnings("UNREAD", &host.unread));
    text
}

fn framework(host: &Host) -> String {
    let mut text = host.framework.framework.unwrap_or("framework unknown").to_owned();
    for reason in &host.framework.reasons {
        text.push_str(&format!("\n  {}", clean(reason)));
    }
    text
}

/// Writes what a snapshot says about itself.
pub(super) fn snapshot(about: &About) -> String {
    let kind = if about.is_baseline { "baseline" } else { "snapshot" };
    format!(
        "{kind} {} of {}, {} by {} with {}\n  content {}\n  file    {}",
        clean(&about.session),
        clean(&about.scope),
        clean(&about.taken_at),
        clean(&about.taken_by),
        clean(&about.tool),
        clean(&about.content_sha256),
        clean(&about.sha256)
    )
}

/// Writes what differs between two hosts.
pub(super) fn diff(diff: &HostDiff) -> String {
    let mut text = headline(diff.status, diff.critical, diff.changes.iter().map(|own| &own.change));
    if let [before, after] = diff.frameworks
        && before != after
    {
        let name = |framework: Option<&'static str>| framework.unwrap_or("unknown");
        text.push_str(&format!("\nframework: {} → {}", name(before), name(after)));
    }
    for own in &diff.changes {
        text.push_str(&one(&own.change, own.source));
    }
    text.push_str(&warnings("UNREAD", &diff.unread));
    text.push_str(&warnings("warning", &diff.warnings));
    let verified = if diff.verified { "verified" } else { "not both are snapshots" };
    text.push_str(&format!("\nbefore {}\nafter  {} ({verified})", diff.baseline_sha256, diff.current_sha256));
    text
}

/// Writes what becomes of a packet on a host.
pub(super) fn answer(answer: &HostAnswer, host: &Host, trace: bool) -> String {
    let mut text = answer.verdict.to_string();
    if let Some(source) = answer.source {
        text.push_str(&format!(" by {source}"));
    }
    for what in &answer.undecided {
        text.push_str(&format!("\n  it depends on {}", clean(what)));
    }
    for own in &answer.answers {
        let Some((_, ruleset)) = host.rulesets().find(|(source, _)| *source == own.source) else { continue };
        let output = text::answer(&own.answer, ruleset, trace);
        text.push_str(&format!("\n{}: {output}", own.source));
    }
    text
}

fn warnings(word: &str, warnings: &[Warning]) -> String {
    warnings.iter().map(|warning| format!("\n{word}: {}", clean(&warning.to_string()))).collect()
}
