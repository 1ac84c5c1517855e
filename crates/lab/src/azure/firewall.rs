//! The firewalls of the platform, for whoever carries packets: their rules in the order in which they are asked.

use std::net::IpAddr;

use serde_json::{Value, json};

use super::cloud::Cloud;
use super::effective::{self, routes, tag};
use crate::host::{Firewall, FirewallRule, Nic};

/// So many policies stand above one another.
const MAX_PARENTS: usize = 4;
/// Where rules stand in a firewall itself, in the order in which they are asked.
const CLASSIC: [(&str, u8); 2] = [("networkRuleCollections", 0), ("applicationRuleCollections", 1)];

/// Returns every firewall that has an address.
pub(super) fn firewalls(cloud: &Cloud) -> Vec<Firewall> {
    cloud.estate.of("Microsoft.Network/azureFirewalls").filter_map(|found| firewall(cloud, found)).collect()
}

fn firewall(cloud: &Cloud, found: &Value) -> Option<Firewall> {
    let configuration = found.pointer("/properties/ipConfigurations/0")?;
    let address: IpAddr = text(configuration, "/properties/privateIPAddress").parse().ok()?;
    // Its routes are those of an interface in its subnet.
    let document = json!({"properties": {"ipConfigurations": [configuration]}});
    let seen = effective::Nic::of(&cloud.estate, &document);
    let nic = Nic {
        name: text(found, "/name").to_owned(),
        addresses: vec![(address, 26)],
        routes: json!({"value": routes(cloud, &seen)}),
        forwards: true,
        network: seen.network.map(|network| text(network, "/id").to_ascii_lowercase()).unwrap_or_default(),
        ..Nic::default()
    };
    let mut collections: Vec<(u8, usize, u64, Value)> = Vec::new();
    let mut policy = cloud.estate.by_id(text(found, "/properties/firewallPolicy/id"));
    if policy.is_none() {
        for (list, kind) in CLASSIC {
            collections.extend(listed(found, list).map(|one| (kind, 0, 0, one.clone())));
        }
    }
    for depth in 0..MAX_PARENTS {
        let Some(own) = policy else { break };
        let below = format!("{}/rulecollectiongroups/", text(own, "/id").to_ascii_lowercase());
        let groups =
            cloud.estate.all().filter(|one| text(one, "/id").to_ascii_lowercase().starts_with(&below));
        for group in groups {
            let number = group.pointer("/properties/priority").and_then(Value::as_u64).unwrap_or(0);
            for one in listed(group, "ruleCollections") {
                let kind = match text(one, "/rules/0/ruleType") {
                    "ApplicationRule" => 1,
                    "NatRule" => continue,
                    _ => 0,
                };
                // The highest policy is asked first.
                collections.push((kind, MAX_PARENTS - depth, number, one.clone()));
            }
        }
        policy = cloud.estate.by_id(text(own, "/properties/basePolicy/id"));
    }
    collections.sort_by_key(|(kind, depth, number, one)| (*kind, *depth, *number, priority(one)));
    let rules = collections.iter().flat_map(|(kind, _, _, one)| rules(cloud, *kind == 1, one)).collect();
    Some(Firewall { address, nic, rules })
}

fn priority(collection: &Value) -> u64 {
    inner(collection).get("priority").and_then(Value::as_u64).unwrap_or(u64::MAX)
}

fn rules(cloud: &Cloud, by_name: bool, collection: &Value) -> Vec<FirewallRule> {
    let body = inner(collection);
    let denies = text(body, "/action/type").eq_ignore_ascii_case("deny");
    let rules = body.get("rules").and_then(Value::as_array).into_iter().flatten();
    let rule = |rule: &Value| {
        let mut protocols = strings(rule, "ipProtocols");
        protocols.extend(strings(rule, "protocols"));
        let ports = if by_name {
            let asked = rule.get("protocols").and_then(Value::as_array).into_iter().flatten();
            asked
                .filter_map(|one| u16::try_from(one.get("port")?.as_u64()?).ok())
                .map(|port| (port, port))
                .collect()
        } else {
            strings(rule, "destinationPorts").iter().filter_map(|text| span(text)).collect()
        };
        let mut names = strings(rule, "targetFqdns");
        names.extend(strings(rule, "destinationFqdns"));
        FirewallRule {
            denies,
            sources: addresses(cloud, rule, ["sourceAddresses", "sourceIpGroups"]),
            // Names are none of the packet: one for all of them is one for every address.
            destinations: match (by_name, names.iter().any(|name| name == "*")) {
                (true, true) => everywhere(),
                (true, false) => Vec::new(),
                (false, _) => addresses(cloud, rule, ["destinationAddresses", "destinationIpGroups"]),
            },
            protocols: if by_name {
                vec![6]
            } else {
                protocols.iter().filter_map(|own| number(own)).collect()
            },
            ports,
        }
    };
    rules.map(rule).collect()
}

fn number(protocol: &str) -> Option<u8> {
    match protocol.to_ascii_lowercase().as_str() {
        "tcp" => Some(6),
        "udp" => Some(17),
        "icmp" => Some(1),
        // All of them, which is what none stands for.
        _ => None,
    }
}

fn everywhere() -> Vec<(IpAddr, IpAddr)> {
    vec![
        (IpAddr::from([0, 0, 0, 0]), IpAddr::from([255; 4])),
        (IpAddr::from([0; 16]), IpAddr::from([255; 16])),
    ]
}

fn addresses(cloud: &Cloud, rule: &Value, [own, groups]: [&str; 2]) -> Vec<(IpAddr, IpAddr)> {
    let mut written = strings(rule, own);
    for id in strings(rule, groups) {
        let group = cloud.estate.by_id(&id).and_then(|group| group.get("properties"));
        written.extend(group.map(|group| strings(group, "ipAddresses")).unwrap_or_default());
    }
    let mut found = Vec::new();
    for text in written {
        if text == "*" {
            found.append(&mut everywhere());
            continue;
        }
        match tag::tag(cloud, &text) {
            Some(prefixes) => found.extend(prefixes.iter().filter_map(|prefix| range(prefix))),
            None => found.extend(range(&text)),
        }
    }
    found
}

fn range(text: &str) -> Option<(IpAddr, IpAddr)> {
    if let Ok(net) = text.parse::<ipnet::IpNet>() {
        return Some((net.network(), net.broadcast()));
    }
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    Some((first.trim().parse().ok()?, last.trim().parse().ok()?))
}

fn span(text: &str) -> Option<(u16, u16)> {
    if text == "*" {
        return Some((0, u16::MAX));
    }
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    Some((first.trim().parse().ok()?, last.trim().parse().ok()?))
}

fn listed<'a>(document: &'a Value, list: &str) -> impl Iterator<Item = &'a Value> {
    document.pointer(&format!("/properties/{list}")).and_then(Value::as_array).into_iter().flatten()
}

fn strings(rule: &Value, field: &str) -> Vec<String> {
    let list = rule.get(field).and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn inner(document: &Value) -> &Value {
    document.get("properties").unwrap_or(document)
}

fn text<'a>(document: &'a Value, pointer: &str) -> &'a str {
    document.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}
