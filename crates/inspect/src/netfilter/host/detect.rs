//! Which framework judges packets on a host.

use serde::Serialize;

use super::bundle::Bundle;
use super::view::Backend;
use crate::netfilter::ruleset::Ruleset;

/// The framework, and why that is said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Framework {
    /// `iptables-legacy`, `iptables-nft`, `nft` or `mixed`; absent where nothing tells.
    pub framework: Option<&'static str>,
    /// What tells it, in words.
    pub reasons: Vec<String>,
}

/// What one framework holds.
struct Active {
    name: &'static str,
    reason: Vec<String>,
    /// Whether that is certain.
    certain: bool,
}

/// Puts together what the sources show: rules come first, then what the alternatives say.
pub(super) fn detect(bundle: &Bundle, backends: &[Backend]) -> Framework {
    let mut active = [
        Active { name: "iptables-legacy", reason: Vec::new(), certain: true },
        Active { name: "iptables-nft", reason: Vec::new(), certain: true },
        Active { name: "nft", reason: Vec::new(), certain: true },
    ];
    let mut note = |name: &str, reason: String, certain: bool| {
        if let Some(own) = active.iter_mut().find(|own| own.name == name) {
            own.reason.push(reason);
            own.certain &= certain;
        }
    };
    for backend in backends {
        let Some(ruleset) = &backend.ruleset else { continue };
        let framework = match backend.source {
            "iptables-legacy" | "ip6tables-legacy" => "iptables-legacy",
            "iptables-nft" | "ip6tables-nft" => "iptables-nft",
            _ => {
                native(ruleset, &mut note);
                continue;
            }
        };
        if let Some(what) = holds(ruleset) {
            note(framework, format!("{} holds {what}", backend.source), true);
        }
    }
    for (names, source) in [("tables", "iptables-legacy"), ("tables6", "ip6tables-legacy")] {
        let read = backends.iter().any(|backend| backend.source == source && backend.ruleset.is_some());
        let loaded = bundle.text(names).map(str::split_whitespace).into_iter().flatten().collect::<Vec<_>>();
        if !read && !loaded.is_empty() {
            let reason =
                format!("the kernel has tables of {source} ({}), which could not be read", loaded.join(", "));
            note("iptables-legacy", reason, false);
        }
    }
    let preferred = bundle.text("alternatives").and_then(alternative);
    let mut reasons: Vec<String> = active.iter().flat_map(|own| own.reason.iter().cloned()).collect();
    let holding: Vec<&Active> = active.iter().filter(|own| !own.reason.is_empty()).collect();
    let framework = match holding.as_slice() {
        [] => {
            if let Some((name, reason)) = preferred {
                reasons.push("no source holds a rule".to_owned());
                reasons.push(reason);
                Some(name)
            } else {
                None
            }
        }
        [one] => {
            if let Some((name, reason)) = preferred
                && name != one.name
                && one.name != "nft"
            {
                reasons.push(format!("but {reason}: what is added by `iptables` goes there"));
            }
            Some(one.name)
        }
        several => {
            let names = several.iter().map(|own| own.name).collect::<Vec<_>>().join(", ");
            reasons.push(format!("a packet meets the rules of all of them: {names}"));
            if several.iter().any(|own| !own.certain) {
                reasons.push("one of them is loaded and could not be read: it may hold no rule".to_owned());
            }
            Some("mixed")
        }
    };
    Framework { framework, reasons }
}

/// Says what a ruleset holds that judges packets.
fn holds(ruleset: &Ruleset) -> Option<String> {
    let strict = ruleset.tables.iter().flat_map(|table| &table.chains).filter(|chain| {
        chain.base.is_some()
            && chain.policy.as_deref().is_some_and(|policy| !policy.eq_ignore_ascii_case("accept"))
    });
    match (ruleset.rules, strict.count()) {
        (0, 0) => None,
        (0, policies) => Some(format!("{policies} policies other than ACCEPT")),
        (1, _) => Some("1 rule".to_owned()),
        (rules, _) => Some(format!("{rules} rules")),
    }
}

/// Tables of `nft` are native, unless they look as `iptables-nft` makes them and no other source shows those.
fn native(ruleset: &Ruleset, note: &mut impl FnMut(&str, String, bool)) {
    for table in &ruleset.tables {
        let of_iptables = matches!(
            table.name.as_str().split_once(' '),
            Some(("ip" | "ip6", "filter" | "nat" | "mangle" | "raw" | "security"))
        ) && table.chains.iter().filter(|chain| chain.base.is_some()).all(|chain| {
            matches!(chain.name.as_str(), "INPUT" | "FORWARD" | "OUTPUT" | "PREROUTING" | "POSTROUTING")
        });
        let rules: usize = table.chains.iter().map(|chain| chain.rules.len()).sum();
        let one = Ruleset { tables: vec![table.clone()], rules, ..empty(ruleset) };
        if let Some(what) = holds(&one) {
            let framework = if of_iptables { "iptables-nft" } else { "nft" };
            note(framework, format!("the table {} of nft holds {what}", table.name), true);
        }
    }
}

fn empty(ruleset: &Ruleset) -> Ruleset {
    Ruleset {
        format: ruleset.format,
        family: String::new(),
        framework: None,
        about: None,
        tables: Vec::new(),
        ipsets: Vec::new(),
        rules: 0,
        opaque_rules: 0,
        unread: Vec::new(),
        cut_off: false,
        warnings: Vec::new(),
    }
}

/// Reads what `update-alternatives --query iptables`, `--display`, or `iptables --version` printed.
fn alternative(text: &str) -> Option<(&'static str, String)> {
    let backend = |words: &str| match (
        words.contains("legacy"),
        words.contains("nft") || words.contains("nf_tables"),
    ) {
        (true, false) => Some("iptables-legacy"),
        (false, true) => Some("iptables-nft"),
        (true, true) | (false, false) => None,
    };
    let chosen = text.lines().map(str::trim).find_map(|line| {
        let value =
            line.strip_prefix("Value:").or_else(|| line.split_once("currently points to").map(|(_, to)| to));
        value.and_then(backend)
    });
    if let Some(name) = chosen {
        return Some((name, format!("the alternatives choose {name}")));
    }
    let version = text.lines().map(str::trim).find(|line| line.starts_with("iptables v"))?;
    let name = backend(version)?;
    Some((name, format!("`iptables --version` says {name}")))
}
