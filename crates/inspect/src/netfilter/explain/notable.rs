//! What stands in rules besides verdicts: translations, jails, loggers.

use std::collections::BTreeMap;

use crate::netfilter::json::Value;

use super::document::{Jail, Logger};
use crate::netfilter::ipset::IpSet;
use crate::netfilter::layout::{owner, set_owner};
use crate::netfilter::ruleset::{Body, Part, Rule, Ruleset};
use crate::netfilter::text::Text;
use crate::netfilter::{nft, save};

/// How many addresses of a jail, and how many loggers are reported.
const MAX_BANNED: usize = 50;
const MAX_LOGGERS: usize = 100;

/// Says where a rule sends packets; nothing where it translates none.
pub(super) fn translation(rule: &Rule) -> Option<String> {
    match &rule.body {
        Body::Save(parts) => {
            let target = target(parts)?;
            if !matches!(target, "DNAT" | "SNAT" | "MASQUERADE" | "REDIRECT" | "NETMAP") {
                return None;
            }
            let own = parts.iter().filter(|part| part.module.as_deref() == Some(target));
            let options: Vec<String> = own.map(save::in_words).collect();
            Some(format!("{target} {}", options.join(" ")).trim_end().to_owned())
        }
        Body::Nft(expressions) => expressions.iter().find_map(|expression| {
            let (name, body) = expression.as_object()?.iter().next()?;
            match name.as_str() {
                "dnat" | "snat" | "masquerade" | "redirect" => Some(nft::in_words(expression)),
                "xt" => {
                    let name = body.get("name").and_then(Value::as_str)?;
                    matches!(name, "DNAT" | "SNAT" | "MASQUERADE" | "REDIRECT" | "NETMAP")
                        .then(|| format!("{name} (where to is hidden by `nft -j`)"))
                }
                _ => None,
            }
        }),
    }
}

fn target(parts: &[Part]) -> Option<&str> {
    parts.iter().find(|part| part.name == "-j").and_then(|part| part.values.first()).map(Text::as_str)
}

/// Finds the rules that write a log.
pub(super) fn loggers(ruleset: &Ruleset) -> Vec<Logger> {
    let mut found = Vec::new();
    for table in &ruleset.tables {
        for chain in &table.chains {
            for rule in &chain.rules {
                if let Some(prefix) = log(rule)
                    && found.len() < MAX_LOGGERS
                {
                    let at = format!("{}/{} rule {}", table.name, chain.name, rule.position);
                    found.push(Logger { at, prefix, rule: rule.raw.clone() });
                }
            }
        }
    }
    found
}

fn log(rule: &Rule) -> Option<Option<String>> {
    match &rule.body {
        Body::Save(parts) => {
            let logs = target(parts).is_some_and(|name| matches!(name, "LOG" | "NFLOG" | "ULOG" | "AUDIT"));
            let prefix = parts.iter().find(|part| part.name.ends_with("-prefix"));
            logs.then(|| prefix.and_then(|part| part.values.first().map(Text::to_string)))
        }
        Body::Nft(expressions) => expressions.iter().find_map(|expression| {
            let body = expression.get("log")?;
            Some(body.get("prefix").and_then(Value::as_str).map(str::to_owned))
        }),
    }
}

/// Finds who is kept out by name: addresses in the chains and sets of programs that ban.
pub(super) fn jails<'a>(rulesets: impl Iterator<Item = &'a Ruleset>, ipsets: &[IpSet]) -> Vec<Jail> {
    let mut found: BTreeMap<(String, &'static str), Vec<String>> = BTreeMap::new();
    let bans = |program: &&'static str| matches!(*program, "fail2ban" | "crowdsec" | "sshguard");
    for ruleset in rulesets {
        for table in &ruleset.tables {
            for chain in &table.chains {
                let Some(program) = owner(&table.name, &chain.name).filter(bans) else { continue };
                let banned: Vec<String> = chain.rules.iter().filter_map(banned).collect();
                // A native chain that asks a set is recognized by the set.
                if banned.is_empty() && table.name.contains(' ') {
                    continue;
                }
                found.entry((format!("{}/{}", table.name, chain.name), program)).or_default().extend(banned);
            }
            for set in table.sets.iter().filter(|set| !set.is_map) {
                let by_table = owner(&table.name, "");
                let Some(program) = set_owner(&set.name).or(by_table).filter(bans) else { continue };
                let all = found.entry((format!("the set {}/{}", table.name, set.name), program)).or_default();
                all.extend(set.elements.iter().map(nft::operand_in_words));
            }
        }
    }
    for set in ipsets {
        let Some(program) = set_owner(&set.name).filter(bans) else { continue };
        let all = found.entry((format!("the set {}", set.name), program)).or_default();
        all.extend(set.members.iter().map(|member| match member.timeout {
            Some(seconds) if seconds > 0 => format!("{} ({seconds} s left)", member.value),
            _ => member.value.clone(),
        }));
    }
    found
        .into_iter()
        .map(|((name, program), mut banned)| {
            let more = banned.len().saturating_sub(MAX_BANNED);
            banned.truncate(MAX_BANNED);
            Jail { program, name, banned, more }
        })
        .collect()
}

/// Returns the address that a rule of a jail keeps out.
fn banned(rule: &Rule) -> Option<String> {
    let Body::Save(parts) = &rule.body else { return None };
    let stops = target(parts).is_some_and(|name| matches!(name, "DROP" | "REJECT"));
    let source = parts.iter().find(|part| part.name == "-s" && !part.negated)?;
    stops.then(|| source.values.first().map(Text::to_string))?
}
