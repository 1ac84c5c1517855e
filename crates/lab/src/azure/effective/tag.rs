//! Words that stand for prefixes, from a small table.

use ipnet::{IpNet, Ipv4Net};
use serde_json::Value;

use super::nic::Nic;
use super::nic::{neighbors, space};
use super::nic::{prefix, prefixes};
use crate::azure::cloud::Cloud;
use crate::azure::gateway;
use crate::azure::target::Target;

/// What the Internet is where a description does not say it: all of version 4 but 10.0.0.0/8.
const INTERNET: [&str; 8] = [
    "0.0.0.0/5",
    "8.0.0.0/7",
    "11.0.0.0/8",
    "12.0.0.0/6",
    "16.0.0.0/4",
    "32.0.0.0/3",
    "64.0.0.0/2",
    "128.0.0.0/1",
];

/// Returns the prefixes of a service tag.
pub(in crate::azure) fn tag(cloud: &Cloud, name: &str) -> Option<Vec<String>> {
    let tags = &cloud.about.service_tags;
    tags.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, prefixes)| prefixes.clone())
}

/// Returns the prefixes of a service, `Microsoft.Storage` for instance.
pub(super) fn service(cloud: &Cloud, service: &str) -> Option<Vec<String>> {
    let name = service.strip_prefix("Microsoft.").unwrap_or(service);
    tag(cloud, name.strip_suffix(".Global").unwrap_or(name)).filter(|prefixes| !prefixes.is_empty())
}

/// Returns what a word of a rule stands for at an interface; nothing where it is no word that is known.
///
/// `VirtualNetwork` is the network's own space with that of its open neighbors, and whatever routes of the subnet's table lead to an
/// appliance, a gateway or the network itself: with `0.0.0.0/0` among them it is everything. `Internet` does not shrink by that.
pub(in crate::azure) fn expanded(cloud: &Cloud, nic: &Nic<'_>, name: &str) -> Option<Vec<String>> {
    let table = |name: &str| {
        let known = cloud.about.expansions.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        known.map(|(_, prefixes)| prefixes.clone())
    };
    match name.to_ascii_lowercase().as_str() {
        "virtualnetwork" => {
            let routed = routed(cloud, nic);
            // The platform's addresses belong to every network.
            let all = network(cloud, nic).into_iter().chain(prefixes()).filter(|own| !inside(own, &routed));
            Some(all.chain(routed.iter().cloned()).collect())
        }
        "internet" => {
            let all = table("Internet")
                .unwrap_or_else(|| INTERNET.iter().map(|prefix| (*prefix).to_owned()).collect());
            Some(without(all, &network(cloud, nic)))
        }
        "azureloadbalancer" => {
            table("AzureLoadBalancer").or_else(|| prefix("AzurePlatformDNS").map(|prefix| vec![prefix]))
        }
        _ => table(name).or_else(|| tag(cloud, name)).or_else(|| prefix(name).map(|prefix| vec![prefix])),
    }
}

/// Returns the space of the network around an interface, of those that are open to it, and of the sites behind its gateway.
fn network(cloud: &Cloud, nic: &Nic<'_>) -> Vec<String> {
    let Some(own) = nic.network else { return Vec::new() };
    let open = neighbors(cloud, own).into_iter().filter(|neighbor| neighbor.open);
    let sites = gateway::prefixes(cloud, own);
    space(own).into_iter().chain(open.flat_map(|neighbor| neighbor.space())).chain(sites).collect()
}

/// Returns the prefixes that the subnet's table keeps among networks, those within others left out.
fn routed(cloud: &Cloud, nic: &Nic<'_>) -> Vec<String> {
    let table = nic.subnet.and_then(|subnet| subnet.pointer("/properties/routeTable/id")?.as_str());
    let table = table.and_then(Target::parse).and_then(|table| cloud.estate.get(&table));
    let routes = table.and_then(|table| table.pointer("/properties/routes")?.as_array());
    let own = network(cloud, nic);
    let mut found: Vec<String> = Vec::new();
    for route in routes.into_iter().flatten() {
        let word = |field: &str| route.pointer(&format!("/properties/{field}")).and_then(Value::as_str);
        let hop = word("nextHopType").unwrap_or_default();
        let keeps = ["VirtualAppliance", "VirtualNetworkGateway", "VnetLocal"];
        let Some(prefix) = word("addressPrefix").filter(|prefix| prefix.parse::<IpNet>().is_ok()) else {
            continue;
        };
        if keeps.iter().any(|kept| kept.eq_ignore_ascii_case(hop))
            && !inside(prefix, &own)
            && !inside(prefix, &found)
        {
            let new = [prefix.to_owned()];
            found.retain(|before| !inside(before, &new));
            found.extend(new);
        }
    }
    found
}

/// Tells whether a prefix is one of others, or in one.
fn inside(prefix: &str, others: &[String]) -> bool {
    let Ok(prefix) = prefix.parse::<IpNet>() else { return false };
    others.iter().filter_map(|other| other.parse::<IpNet>().ok()).any(|other| other.contains(&prefix))
}

/// Takes prefixes out of others.
fn without(all: Vec<String>, out: &[String]) -> Vec<String> {
    let out: Vec<Ipv4Net> = out.iter().filter_map(|prefix| v4(prefix)).collect();
    let mut kept = Vec::new();
    for text in all {
        match v4(&text) {
            Some(whole) if out.iter().any(|gone| gone.contains(&whole) || whole.contains(gone)) => {
                rest(whole, &out, &mut kept);
            }
            Some(_) | None => kept.push(text),
        }
    }
    kept
}

/// Halves a prefix until its parts are wholly in or wholly out.
fn rest(whole: Ipv4Net, out: &[Ipv4Net], kept: &mut Vec<String>) {
    if out.iter().any(|gone| gone.contains(&whole)) {
        return;
    }
    if !out.iter().any(|gone| whole.contains(gone)) {
        kept.push(whole.to_string());
        return;
    }
    for half in whole.subnets(whole.prefix_len() + 1).into_iter().flatten() {
        rest(half, out, kept);
    }
}

fn v4(text: &str) -> Option<Ipv4Net> {
    match text.parse::<IpNet>().ok()? {
        IpNet::V4(net) => Some(net.trunc()),
        IpNet::V6(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_out_is_gone_and_nothing_else() {
        let all = vec!["128.0.0.0/1".to_owned(), "0.0.0.0/5".to_owned()];
        assert_eq!(without(all.clone(), &["10.0.0.0/16".to_owned()]), all);
        let left = without(all, &["192.0.0.0/2".to_owned(), "2.0.0.0/7".to_owned()]);
        assert_eq!(left, ["128.0.0.0/2", "0.0.0.0/7", "4.0.0.0/6"]);
        assert_eq!(without(vec!["1.0.0.0/8".to_owned()], &["0.0.0.0/0".to_owned()]), [""; 0]);
    }
}
