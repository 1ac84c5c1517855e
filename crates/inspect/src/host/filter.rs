//! What packet filters do beside accepting and dropping: what the walk of a packet alone does not show.

use std::net::IpAddr;

use super::fault::Fault;
use super::model::Host;
use super::object::Object;
use crate::netfilter::{Chain, Ruleset, Table};

/// A rule that does something of its own kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Special {
    /// What it does.
    pub(super) fault: Fault,
    /// The chain.
    pub(super) object: Object,
    /// The hook of the chain.
    pub(super) hook: String,
    /// The device of the hook, where the hook belongs to one.
    pub(super) device: Option<String>,
    /// The rule as it is printed.
    pub(super) line: String,
}

/// Returns the name of a table as objects have it.
fn table(table: &Table) -> String {
    table.name.replacen(' ', ":", 1)
}

fn chains(host: &Host) -> impl Iterator<Item = (&'static str, &Ruleset, &Table, &Chain)> {
    host.filters.rulesets().flat_map(|(source, rules)| {
        let tables = rules.tables.iter().filter(|table| !table.dormant);
        tables.flat_map(move |table| table.chains.iter().map(move |chain| (source, rules, table, chain)))
    })
}

/// Whether a rule of either language ends in a drop.
fn drops(raw: &str) -> bool {
    raw.ends_with(" drop") || raw == "drop" || raw.contains("-j DROP")
}

/// Finds rules that drop by chance, overwrite packets, drop ARP, or drop the messages about large packets.
pub(super) fn specials(host: &Host) -> Vec<Special> {
    let mut found: Vec<Special> = Vec::new();
    for (source, _, own, chain) in chains(host) {
        let Some(base) = &chain.base else { continue };
        let is_arp = own.name.starts_with("arp ");
        let mut add = |fault: Fault, line: &str| {
            let object =
                Object::Chain { host: host.name.clone(), table: table(own), chain: chain.name.clone() };
            // Both tools of iptables show the same rule.
            if !found.iter().any(|other| other.fault == fault && other.object == object) {
                let device =
                    base.device.as_ref().map(|device| device.to_string().trim_matches('"').to_owned());
                found.push(Special { fault, object, hook: base.hook.clone(), device, line: line.to_owned() });
            }
        };
        for rule in &chain.rules {
            // What iptables put into nftables is read where iptables shows it.
            let raw = rule.raw.as_str();
            if source == "nft" && raw.contains("xt ") {
                continue;
            }
            let by_chance = raw.contains("numgen ") || raw.contains("jhash ") || raw.contains("-m statistic");
            let overwrites = raw.contains(" set ")
                && (raw.contains("base th")
                    || raw.contains("@th")
                    || raw.contains("@ih")
                    || raw.contains("base ih")
                    || raw.contains("payload base"));
            if overwrites {
                add(Fault::PayloadRewrite, raw);
            } else if by_chance && drops(raw) {
                add(Fault::RandomDrop, raw);
            } else if is_arp && drops(raw) && !raw.contains("arp ") && !raw.contains("ether ") {
                add(Fault::ArpDrop, raw);
            } else if drops(raw) && is_about_large_packets(raw) {
                add(Fault::FragNeededDrop, raw);
            } else if raw.contains("dscp set ") || raw.contains("-j DSCP") || raw.contains("-j TOS") {
                add(Fault::DscpRewrite, raw);
            }
        }
        if is_arp && chain.policy.as_deref() == Some("drop") && chain.rules.is_empty() {
            add(Fault::ArpDrop, "policy drop");
        }
    }
    found
}

fn is_about_large_packets(raw: &str) -> bool {
    let nft = (raw.contains("icmp type destination-unreachable")
        && (raw.contains("frag-needed") || raw.contains("icmp code 4")))
        || raw.contains("icmpv6 type packet-too-big");
    nft || raw.contains("--icmp-type 3/4")
        || raw.contains("--icmp-type fragmentation-needed")
        || raw.contains("--icmpv6-type 2")
}

/// A chain that translates sources on their path out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Translation {
    /// The chain.
    pub(super) object: Object,
    /// The rules that translate, as they are printed.
    pub(super) rules: Vec<String>,
}

impl Translation {
    /// Tells whether a rule of it translates what leaves by a device.
    pub(super) fn covers(&self, device: &str) -> bool {
        self.rules.iter().any(|rule| {
            let named =
                |name: &str| rule.split_once(name).and_then(|(_, rest)| rest.split_whitespace().next());
            let named = named("oifname ").or_else(|| named("-o "));
            named.is_none_or(|own| own.trim_matches('"') == device)
                || rule.contains("! -o ")
                || rule.contains("oifname !=")
        })
    }

    /// Returns a rule with few ports, and how many it has.
    pub(super) fn narrow(&self) -> Option<(&str, u32)> {
        self.rules.iter().find_map(|rule| {
            let ports = |words: &str| {
                let range = words
                    .rsplit(|letter: char| !(letter.is_ascii_digit() || letter == '-'))
                    .find(|word| word.contains('-'))?;
                let (low, high) = range.split_once('-')?;
                let (low, high): (u32, u32) = (low.parse().ok()?, high.parse().ok()?);
                (high >= low && high <= 65_535).then_some(high - low + 1)
            };
            let at = rule.find("port ").or_else(|| rule.find("--to-source"))?;
            let count = ports(rule.get(at..)?)?;
            (count < 1_024).then_some((rule.as_str(), count))
        })
    }
}

/// Finds the chains of source translation, those without rules too.
pub(super) fn translations(host: &Host) -> Vec<Translation> {
    let mut found: Vec<Translation> = Vec::new();
    for (source, _, own, chain) in chains(host) {
        let Some(base) = chain.base.as_ref().filter(|base| base.kind == "nat") else { continue };
        if !base.hook.eq_ignore_ascii_case("postrouting") {
            continue;
        }
        let object = Object::Chain { host: host.name.clone(), table: table(own), chain: chain.name.clone() };
        let raws = chain.rules.iter().map(|rule| rule.raw.clone());
        let translates = |raw: &String| {
            raw.contains("masquerade")
                || raw.contains("snat ")
                || raw.contains("MASQUERADE")
                || raw.contains("SNAT")
        };
        let rules = raws.filter(|raw| translates(raw) && !(source == "nft" && raw.contains("xt "))).collect();
        found.push(Translation { object, rules });
    }
    found
}

/// Tells whether an address is of a network that the internet does not know.
pub(super) fn is_private(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(four) => four.is_private() || four.is_link_local(),
        IpAddr::V6(six) => six.is_unique_local() || six.is_unicast_link_local(),
    }
}
