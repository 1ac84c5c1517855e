//! Who made a chain, a table or a set: recognized by the names that programs give to what they make.
//!
//! Goes in: rulesets. Comes out: programs, each with what shows it, and which chains come and go by themselves. Never: a
//! verdict; a name proves nothing about what a rule does.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::netfilter::ruleset::{Body, Chain, Rule, Ruleset};
use crate::netfilter::text::Text;

/// How the names of a program's chains begin; the longer beginning stands before the shorter.
const CHAINS: &[(&str, &str)] = &[
    ("f2b-", "fail2ban"),
    ("fail2ban-", "fail2ban"),
    ("DOCKER", "docker"),
    ("KUBE-", "kubernetes"),
    ("CNI-", "cni"),
    ("cali-", "calico"),
    ("cali_", "calico"),
    ("CILIUM_", "cilium"),
    ("OLD_CILIUM_", "cilium"),
    ("FLANNEL-", "flannel"),
    ("WEAVE", "weave"),
    ("ISTIO_", "istio"),
    ("LIBVIRT_", "libvirt"),
    ("guest_", "libvirt"),
    ("ufw-", "ufw"),
    ("ufw6-", "ufw"),
    ("ts-", "tailscale"),
    ("CROWDSEC_CHAIN", "crowdsec"),
    ("crowdsec-", "crowdsec"),
    ("NETAVARK", "podman"),
    ("wg-quick", "wireguard"),
    ("nm-sh-", "networkmanager"),
    ("sshuttle-", "sshuttle"),
    ("INPUT_direct", "firewalld"),
    ("FORWARD_direct", "firewalld"),
    ("OUTPUT_direct", "firewalld"),
    ("PREROUTING_direct", "firewalld"),
    ("POSTROUTING_direct", "firewalld"),
    ("INPUT_ZONES", "firewalld"),
    ("FORWARD_IN_ZONES", "firewalld"),
    ("FORWARD_OUT_ZONES", "firewalld"),
    ("PREROUTING_ZONES", "firewalld"),
    ("POSTROUTING_ZONES", "firewalld"),
    ("FWDI_", "firewalld"),
    ("FWDO_", "firewalld"),
    ("IN_public", "firewalld"),
    ("PRE_public", "firewalld"),
    ("filter_IN_", "firewalld"),
    ("filter_FWD", "firewalld"),
    ("filter_INPUT_", "firewalld"),
];

const TABLES: &[(&str, &str)] = &[
    ("f2b-table", "fail2ban"),
    ("firewalld", "firewalld"),
    ("docker-bridges", "docker"),
    ("kube-proxy", "kubernetes"),
    ("kube-nftables", "kubernetes"),
    ("wg-quick-", "wireguard"),
    ("libvirt_network", "libvirt"),
    ("calico", "calico"),
    ("crowdsec", "crowdsec"),
    ("crowdsec6", "crowdsec"),
    ("netavark", "podman"),
    ("nm-shared-", "networkmanager"),
    ("tailscale", "tailscale"),
];

const SETS: &[(&str, &str)] = &[
    ("f2b-", "fail2ban"),
    ("fail2ban-", "fail2ban"),
    ("addr-set-", "fail2ban"),
    ("addr6-set-", "fail2ban"),
    ("crowdsec", "crowdsec"),
    ("KUBE-", "kubernetes"),
    ("cali40", "calico"),
    ("cali60", "calico"),
    ("cilium_", "cilium"),
    ("docker-", "docker"),
];

/// How the names of chains begin that a program makes for one service or workload, and takes away with it.
const EPHEMERAL: &[&str] = &[
    "KUBE-SEP-",
    "KUBE-SVC-",
    "KUBE-SVL-",
    "KUBE-FW-",
    "KUBE-XLB-",
    "KUBE-EXT-",
    "KUBE-POD-FW-",
    "KUBE-NWPLCY-",
    "CNI-DN-",
    "CNI-SN-",
    "cali-tw-",
    "cali-fw-",
    "cali-sm-",
    "cali-th-",
    "cali-fh-",
    "NETAVARK-DN-",
    "service-",
    "endpoint-",
    "external-",
];

/// Returns the program whose names begin so.
fn find(names: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    names.iter().find(|(start, _)| name.starts_with(start)).map(|(_, program)| *program)
}

/// Returns the program that made a chain; a table that belongs to one program makes its chains.
pub(super) fn owner(table: &str, chain: &str) -> Option<&'static str> {
    table_owner(table).or_else(|| find(CHAINS, chain)).or_else(|| {
        // Calico writes its chains with a colon where the name was shortened.
        (chain.starts_with("cali:")).then_some("calico")
    })
}

/// Returns the program that made a table.
pub(super) fn table_owner(table: &str) -> Option<&'static str> {
    find(TABLES, table.split_once(' ').map_or(table, |(_, name)| name))
}

/// Returns the program that made a set.
pub(super) fn set_owner(set: &str) -> Option<&'static str> {
    find(SETS, set)
}

/// Whether a chain stands for one service or workload and comes and goes with it.
pub(super) fn is_ephemeral(table: &str, chain: &str) -> bool {
    // The short words of the native proxy mean that only in its own table.
    let native = table_owner(table) == Some("kubernetes");
    EPHEMERAL.iter().any(|start| {
        chain.starts_with(start)
            && (native
                || start.starts_with(|first: char| first.is_ascii_uppercase())
                || start.starts_with("cali-"))
    })
}

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
