//! Rulesets with something taken out or assumed, to ask them again.

use super::rule_name::Target;
use crate::netfilter::{Body, Chain, Json, Part, Rule, Ruleset};

/// Whose address a packet's ends are, seen from the machine that judges it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PacketRole {
    /// It is for the machine.
    ToHost,
    /// The machine sends it.
    FromHost,
    /// It passes through.
    Through,
}

impl PacketRole {
    const fn owns_destination(self) -> bool {
        matches!(self, Self::ToHost)
    }

    const fn owns_source(self) -> bool {
        matches!(self, Self::FromHost)
    }
}

/// Tells whether an address is of one of some kinds, if it is that of a machine; nothing where that is not known. `own` says that it is
/// one of the judging machine's own.
fn is_of_kind<'a>(kinds: impl Iterator<Item = &'a str>, own: bool) -> Option<bool> {
    let mut found = Some(false);
    for kind in kinds {
        match kind.to_ascii_lowercase().as_str() {
            "local" if own => return Some(true),
            "local" | "broadcast" | "anycast" | "multicast" => {}
            "unicast" if own => {}
            _ => found = None,
        }
    }
    found
}

/// Takes rules out of a chain; what could not be read keeps its place among the others.
fn keep_rules(chain: &mut Chain, mut keep: impl FnMut(&mut Rule) -> bool) {
    let mut gone = Vec::new();
    let mut at = 0;
    chain.rules.retain_mut(|rule| {
        let kept = keep(rule);
        if !kept {
            gone.push(at);
        }
        at += 1;
        kept
    });
    for unread in &mut chain.unread {
        unread.before -= gone.iter().filter(|at| **at < unread.before).count().min(unread.before);
    }
}

/// Returns a ruleset without some rules and policies.
pub(super) fn without(ruleset: &Ruleset, targets: &[Target]) -> Ruleset {
    let mut ruleset = ruleset.clone();
    for table in &mut ruleset.tables {
        for chain in &mut table.chains {
            let own: Vec<&Target> = targets
                .iter()
                .filter(|target| target.table == table.name && target.chain == chain.name)
                .collect();
            if own.is_empty() {
                continue;
            }
            if own.iter().any(|target| target.position.is_none()) {
                let upper =
                    chain.policy.as_deref().is_some_and(|policy| policy == policy.to_ascii_uppercase());
                chain.policy = Some(if upper { "ACCEPT" } else { "accept" }.to_owned());
            }
            keep_rules(chain, |rule| !own.iter().any(|target| target.position == Some(rule.position)));
        }
    }
    ruleset
}

/// Returns a ruleset that says whose addresses a packet's ends are; nothing where no rule asks.
pub(super) fn placed(ruleset: &Ruleset, place: PacketRole) -> Option<Ruleset> {
    let asks = |rule: &Rule| match &rule.body {
        Body::Save(parts) => parts.iter().any(|part| part.module.as_deref() == Some("addrtype")),
        Body::Nft(expressions) => expressions.iter().any(|expression| fib_of(expression).is_some()),
    };
    let rules = || ruleset.tables.iter().flat_map(|table| &table.chains).flat_map(|chain| &chain.rules);
    if !rules().any(asks) {
        return None;
    }
    let mut ruleset = ruleset.clone();
    for chain in ruleset.tables.iter_mut().flat_map(|table| &mut table.chains) {
        keep_rules(chain, |rule| match &mut rule.body {
            Body::Save(parts) => place_save(parts, place),
            Body::Nft(expressions) => place_nft(expressions, place),
        });
    }
    Some(ruleset)
}

/// Takes out of a rule what is known to hold; false where something in it is known not to.
fn place_save(parts: &mut Vec<Part>, place: PacketRole) -> bool {
    let of = |part: &Part| part.module.as_deref() == Some("addrtype");
    if parts.iter().any(|part| part.name.as_str().starts_with("--limit-iface")) {
        return true;
    }
    let mut possible = true;
    parts.retain(|part| {
        let own = match part.name.as_str() {
            "--dst-type" if of(part) => place.owns_destination(),
            "--src-type" if of(part) => place.owns_source(),
            _ => return true,
        };
        let kinds = part.values.first().map(|text| text.as_str()).unwrap_or_default();
        let Some(is) = is_of_kind(kinds.split(','), own) else { return true };
        let holds = is != part.negated;
        possible &= holds;
        !holds
    });
    if !parts.iter().any(of) {
        parts.retain(|part| !(part.name.as_str() == "-m" && names(part, "addrtype")));
    }
    possible
}

fn names(part: &Part, module: &str) -> bool {
    part.values.first().is_some_and(|text| text.as_str() == module)
}

/// Returns which end an expression asks for, of which kinds it has to be, and whether it has to be one of them or none.
fn fib_of(expression: &Json) -> Option<(bool, Vec<&str>, bool)> {
    let body = expression.get("match")?;
    let fib = body.get("left")?.get("fib")?;
    if fib.get("result")?.as_str()? != "type" {
        return None;
    }
    let right = body.get("right")?;
    let kinds = match right.as_str() {
        Some(kind) => vec![kind],
        None => right.get("set")?.as_array()?.iter().map(Json::as_str).collect::<Option<Vec<_>>>()?,
    };
    let flags = fib.get("flags")?;
    let flags: Vec<&str> = match flags.as_array() {
        Some(list) => list.iter().filter_map(Json::as_str).collect(),
        None => vec![flags.as_str()?],
    };
    let destination = match flags.as_slice() {
        ["daddr"] => true,
        ["saddr"] => false,
        _ => return None,
    };
    Some((destination, kinds, body.get("op").and_then(Json::as_str) != Some("!=")))
}

fn place_nft(expressions: &mut Vec<Json>, place: PacketRole) -> bool {
    let mut possible = true;
    expressions.retain(|expression| {
        let Some((destination, kinds, equal)) = fib_of(expression) else { return true };
        let own = if destination { place.owns_destination() } else { place.owns_source() };
        let Some(is) = is_of_kind(kinds.into_iter(), own) else { return true };
        let holds = is == equal;
        possible &= holds;
        !holds
    });
    possible
}

/// Matches that take a share of what comes to them: by chance, by rate, by number.
const SHARING: [&str; 8] =
    ["limit", "hashlimit", "recent", "connlimit", "statistic", "quota", "connbytes", "rateest"];

/// Tells whether a rule decides over a share of the packets that fit it otherwise.
fn is_sharing(rule: &Rule) -> bool {
    match &rule.body {
        Body::Save(parts) => {
            parts.iter().any(|part| part.module.as_deref().is_some_and(is_sharing_module) || shares(part))
        }
        Body::Nft(expressions) => expressions.iter().any(shares_nft),
    }
}

fn is_sharing_module(module: &str) -> bool {
    SHARING.contains(&module)
}

fn shares(part: &Part) -> bool {
    part.name.as_str() == "-m" && part.values.first().is_some_and(|module| is_sharing_module(module))
}

fn shares_nft(expression: &Json) -> bool {
    let by_chance = |left: &Json| left.get("numgen").is_some() || left.get("jhash").is_some();
    ["limit", "quota", "ct count", "connlimit"].iter().any(|name| expression.get(name).is_some())
        || expression.get("match").and_then(|body| body.get("left")).is_some_and(by_chance)
        || expression
            .get("xt")
            .filter(|xt| xt.get("type").and_then(Json::as_str) == Some("match"))
            .and_then(|xt| xt.get("name")?.as_str())
            .is_some_and(is_sharing_module)
}

/// Tells whether a rule does anything with a packet but write about it.
fn decides(rule: &Rule) -> bool {
    match &rule.body {
        Body::Save(parts) => {
            let target = parts.iter().find(|part| matches!(part.name.as_str(), "-j" | "-g"));
            let target = target.and_then(|part| part.values.first()).map(|text| text.as_str());
            target.is_some_and(|target| {
                !matches!(target, "LOG" | "NFLOG" | "MARK" | "CONNMARK" | "AUDIT" | "TRACE")
            })
        }
        Body::Nft(expressions) => {
            let verdicts = ["accept", "drop", "reject", "return", "jump", "goto", "vmap", "queue"];
            expressions.iter().any(|expression| verdicts.iter().any(|name| expression.get(name).is_some()))
        }
    }
}

/// Lists the rules that decide over a share.
pub(super) fn sharing(ruleset: &Ruleset) -> Vec<Target> {
    let mut found = Vec::new();
    for table in &ruleset.tables {
        for chain in &table.chains {
            for rule in chain.rules.iter().filter(|rule| is_sharing(rule) && decides(rule)) {
                let (table, chain) = (table.name.clone(), chain.name.clone());
                found.push(Target { table, chain, position: Some(rule.position) });
            }
        }
    }
    found
}

/// Returns a ruleset in which one of such rules takes all of its share, and the others nothing.
pub(super) fn with_share(ruleset: &Ruleset, all: &[Target], one: &Target) -> Ruleset {
    let others: Vec<Target> = all.iter().filter(|other| *other != one).cloned().collect();
    let mut ruleset = without(ruleset, &others);
    let tables = ruleset.tables.iter_mut().filter(|table| table.name == one.table);
    let chains = tables.flat_map(|table| &mut table.chains).filter(|chain| chain.name == one.chain);
    for rule in chains.flat_map(|chain| &mut chain.rules).filter(|rule| Some(rule.position) == one.position) {
        match &mut rule.body {
            Body::Save(parts) => {
                parts.retain(|part| !part.module.as_deref().is_some_and(is_sharing_module) && !shares(part));
            }
            Body::Nft(expressions) => expressions.retain(|expression| !shares_nft(expression)),
        }
    }
    ruleset
}
