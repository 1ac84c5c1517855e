//! Security groups as rules of the fabric, for `nft -f`.
//!
//! What leaves an interface is judged as it comes into the fabric, before its destination is translated; what goes to one as it
//! leaves the fabric, after its source was. Known connections pass, as on the platform: a rule judges only what begins one.

use std::net::IpAddr;

use super::plan::{Link, Plan};
use super::routes::{OUT, VOID};
use super::wire::{SHARED, WIRE_SERVER};
use crate::host::stage::{Oddity, Stage};
use ghost_inspect::net::{AddressSet, Family, Inventory, Ranges, Tags};
use ghost_inspect::nsg::{Access, Direction, Gate, Group, Knowledge, Ports, Protocols, Rule, Ruleset};

/// Writes everything that the fabric judges and translates.
pub(super) fn text(plan: &Plan, stage: &Stage, tags: Option<&Tags>) -> String {
    let (mut chains, mut out, mut into) = (String::new(), Vec::new(), Vec::new());
    for link in &plan.links {
        let knowledge = Knowledge { tags, inventory: None::<&Inventory> };
        let Ok(rules) = Ruleset::parse(&link.nic.rules.to_string(), knowledge) else { continue };
        for (direction, map) in [(Direction::Outbound, &mut out), (Direction::Inbound, &mut into)] {
            if let Some(name) = gates(&rules, link, direction, &mut chains) {
                map.push(format!("\"{}\" : jump {name}", link.device));
            }
        }
    }
    let map = |key: &str, map: &[String]| {
        if map.is_empty() { String::new() } else { format!("  {key} vmap {{ {} }}\n", map.join(", ")) }
    };
    format!(
        "flush ruleset\ntable inet ghost {{\n{chains}\
         chain outbound {{ type filter hook prerouting priority -150;\n  ip daddr {WIRE_SERVER} accept\n{}\
         ct state established,related accept\n{} }}\n\
         chain nowhere {{ type filter hook forward priority 0;\n  oifname \"{VOID}\" drop\n }}\n\
         chain inbound {{ type filter hook postrouting priority 300;\n  ip saddr {WIRE_SERVER} accept\n  \
         ct state established,related accept\n{} }}\n{}}}\n{}",
        asymmetric(plan, stage),
        map("iifname", &out),
        map("oifname", &into),
        deaf(stage),
        public(plan),
    )
}

/// Writes the gates of an interface for one direction; returns the chain's name where there is one.
fn gates(rules: &Ruleset, link: &Link, direction: Direction, chains: &mut String) -> Option<String> {
    let name = format!("{}{}", if direction == Direction::Inbound { "in" } else { "out" }, link.number);
    let mut jumps = String::new();
    for (at, group) in rules.groups().iter().enumerate() {
        let own = format!("{name}g{at}");
        chains.push_str(&format!("chain {own} {{\n{} }}\n", gate(group, direction)));
        // The Manager's rules come first: what they always allow, no group has a say over.
        let place = if group.gate == Gate::Manager { 0 } else { jumps.len() };
        jumps.insert_str(place, &format!("  jump {own}\n"));
    }
    if jumps.is_empty() {
        return None;
    }
    chains.push_str(&format!("chain {name} {{\n{jumps} }}\n"));
    Some(name)
}

fn gate(group: &Group, direction: Direction) -> String {
    let mut text = String::new();
    for rule in group.rules.iter().filter(|rule| rule.may_apply(direction)) {
        let verdict = match rule.access {
            Some(Access::Allow) => "return",
            Some(Access::Deny) => "drop",
            Some(Access::AlwaysAllow) => "accept",
            None => continue,
        };
        for words in matches(rule) {
            text.push_str(&format!("  {words} {verdict}\n"));
        }
    }
    text + if group.gate == Gate::Manager { "  return\n" } else { "  drop\n" }
}

/// Writes what a rule matches: a line for each family and each kind of protocol.
fn matches(rule: &Rule) -> Vec<String> {
    let mut lines = Vec::new();
    let protocols = rule.protocols.unwrap_or(Protocols::ALL);
    for family in Family::ALL {
        let sides = (
            addresses("saddr", &rule.source.known, family),
            addresses("daddr", &rule.destination.known, family),
        );
        let (Some(source), Some(destination)) = sides else { continue };
        let nfproto = if family == Family::Ipv4 { "ipv4" } else { "ipv6" };
        let both = format!("meta nfproto {nfproto} {source}{destination}");
        let ported = [ports("sport", &rule.source_ports), ports("dport", &rule.destination_ports)];
        let [Some(sport), Some(dport)] = ported else { continue };
        let is_open = sport.is_empty() && dport.is_empty();
        if protocols == Protocols::ALL && is_open {
            lines.push(both);
            continue;
        }
        for name in names(protocols) {
            let kind = match name {
                "tcp" | "udp" => format!("meta l4proto {name} {sport}{dport}"),
                "icmp" if family == Family::Ipv6 => "meta l4proto ipv6-icmp".to_owned(),
                "other" => "meta l4proto != { tcp, udp, icmp, ipv6-icmp, esp, ah }".to_owned(),
                named => format!("meta l4proto {named}"),
            };
            lines.push(format!("{both}{kind}"));
        }
    }
    lines
}

fn names(protocols: Protocols) -> Vec<&'static str> {
    if protocols == Protocols::ALL {
        return vec!["tcp", "udp", "icmp", "esp", "ah", "other"];
    }
    protocols.names()
}

/// Writes one side of a rule; nothing where it means nobody of the family.
fn addresses(side: &str, set: &AddressSet, family: Family) -> Option<String> {
    if set.is_all(family) {
        return Some(String::new());
    }
    let prefixes: Vec<String> = family.prefixes(set.family(family)).iter().map(ToString::to_string).collect();
    let ip = if family == Family::Ipv4 { "ip" } else { "ip6" };
    (!prefixes.is_empty()).then(|| format!("{ip} {side} {{ {} }} ", prefixes.join(", ")))
}

fn ports(side: &str, ports: &Ports) -> Option<String> {
    let all = Ranges::one(0, u128::from(u16::MAX));
    if ports.known == all {
        return Some(String::new());
    }
    let ranges: Vec<String> = ports.known.iter().map(|(first, last)| format!("{first}-{last}")).collect();
    (!ranges.is_empty()).then(|| format!("th {side} {{ {} }} ", ranges.join(", ")))
}

/// Translates public addresses, in both directions.
fn public(plan: &Plan) -> String {
    let (mut into, mut out) = (String::new(), String::new());
    for link in &plan.links {
        let own = link.nic.addresses.iter().find_map(|(address, _)| match address {
            IpAddr::V4(own) => Some(*own),
            IpAddr::V6(_) => None,
        });
        let Some(own) = own else { continue };
        let seen = match link.nic.public {
            Some(IpAddr::V4(public)) => {
                into.push_str(&format!("  ip daddr {public} dnat to {own}\n"));
                public.to_string()
            }
            Some(IpAddr::V6(_)) | None => SHARED.to_owned(),
        };
        out.push_str(&format!("  ip saddr {own} oifname \"{OUT}\" snat to {seen}\n"));
        // Whoever speaks to a neighbor's public address comes from outside, too.
        out.push_str(&format!("  ip saddr {own} ct status dnat snat to {seen}\n"));
    }
    format!(
        "table ip public {{\nchain into {{ type nat hook prerouting priority -100;\n{into} }}\n\
         chain out {{ type nat hook postrouting priority 100;\n{out} }}\n}}\n"
    )
}

/// Drops answers that take another path: the appliance that they meet knows nothing of their connection.
fn asymmetric(plan: &Plan, stage: &Stage) -> String {
    let mut text = String::new();
    for oddity in &stage.oddities {
        let Oddity::Asymmetric { machine, to, .. } = oddity else { continue };
        let family = if to.is_ipv6() { "ip6" } else { "ip" };
        for link in plan.of(machine) {
            text.push_str(&format!(
                "  iifname \"{}\" {family} daddr {to} ct direction reply drop\n",
                link.device
            ));
        }
    }
    text
}

/// Makes machines ignore that a packet was too large: the ICMP message about it arrives damaged.
fn deaf(stage: &Stage) -> String {
    let is_deaf = |oddity: &Oddity| matches!(oddity, Oddity::PathMtu { heeded: false, .. });
    if !stage.oddities.iter().any(is_deaf) {
        return String::new();
    }
    "chain deaf { type filter hook output priority 0;\n  icmp type destination-unreachable icmp code 4 @th,256,32 set 0\n }\n"
        .to_owned()
}
