//! How much a change matters.

use super::change::Severity;
use super::impact::Shown;
use crate::netfilter::ruleset::{Body, Chain, Family, Rule};

/// What was shown decides; where too much was open, or no routed packet is concerned, whether a verdict is touched does.
pub(in crate::netfilter) fn weigh(shown: Shown, family: Family, touches_a_verdict: bool) -> Severity {
    match shown {
        Shown::Changes => Severity::Critical,
        Shown::TooMany if touches_a_verdict => Severity::Critical,
        Shown::Same if family == Family::Other && touches_a_verdict => Severity::Critical,
        Shown::Same | Shown::TooMany => Severity::Notable,
    }
}

pub(super) fn stops(policy: Option<&str>) -> bool {
    policy.is_some_and(|policy| policy.eq_ignore_ascii_case("drop"))
}

/// Whether a rule can stop a packet, or let one pass.
pub(in crate::netfilter) fn decides(rule: &Rule) -> bool {
    match &rule.body {
        Body::Save(parts) => parts.iter().any(|part| {
            matches!(part.name.as_str(), "-j" | "-g")
                && part.values.first().is_some_and(|target| {
                    !crate::netfilter::save::is_extension_target(target) || target == "REJECT"
                })
        }),
        Body::Nft(expressions) => expressions.iter().any(|expression| {
            expression.as_object().and_then(|object| object.keys().next()).is_some_and(|name| {
                matches!(
                    name.as_str(),
                    "accept"
                        | "drop"
                        | "reject"
                        | "jump"
                        | "goto"
                        | "vmap"
                        | "return"
                        | "queue"
                        | "xt"
                        | "fwd"
                        | "synproxy"
                )
            })
        }),
    }
}

/// Whether a rule can have any influence at all: a verdict, a mark, a set, a translation.
pub(super) fn touches(rule: &Rule) -> bool {
    match &rule.body {
        Body::Save(parts) => parts.iter().any(|part| {
            matches!(part.name.as_str(), "-j" | "-g")
                && part.values.first().is_some_and(|target| {
                    !matches!(target.as_str(), "LOG" | "NFLOG" | "AUDIT" | "TRACE" | "ULOG")
                })
        }),
        Body::Nft(_) => true,
    }
}

pub(super) fn place_of(chain: &Chain) -> String {
    chain
        .base
        .as_ref()
        .map_or_else(|| "no hook".to_owned(), |base| format!("{} {} {}", base.kind, base.hook, base.priority))
}
