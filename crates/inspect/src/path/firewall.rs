//! The firewalls of the platform, as `az network firewall list` prints them, with policies, groups of rule collections and groups of
//! addresses.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde_json::{Map, Value};

use super::balancer::{PublicAddresses, listed_public};
use super::bundle::Cloud;
use super::document::Known;
use super::firewall_rule::{Kind, Reader, RuleCollection};
use super::topology::{Decoded, has, inner, last_of, part_after, rows};
use crate::net::{Fields, Tags, parse_prefix, texts};

/// So many policies stand above one another.
const MAX_PARENTS: usize = 4;
/// What is not translated where nothing else is set.
const PRIVATE: [&str; 4] = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"];

/// A firewall.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Firewall {
    pub(super) name: String,
    /// The address to which routes lead.
    pub(super) address: IpAddr,
    pub(super) publics: Vec<IpAddr>,
    /// Network and subnet.
    pub(super) subnet: Option<(String, String)>,
    /// Its rules in the order in which they are asked; or why they are not known.
    pub(super) rules: Known<Vec<RuleCollection>>,
    /// Whether it answers questions for names.
    pub(super) answers_names: Option<bool>,
    /// What keeps its source: to everything else the firewall calls by an address of its own.
    pub(super) kept: Vec<ipnet::IpNet>,
}

impl Firewall {
    /// Tells whether what goes to an address leaves with the source that it came with.
    pub(super) fn keeps_source(&self, to: IpAddr) -> bool {
        self.kept.iter().any(|prefix| prefix.contains(&to))
    }
}

/// A policy.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Policy {
    parent: Option<String>,
    /// The groups of rule collections that it says it has; nothing where it does not say.
    groups: Option<Vec<String>>,
    proxy: Option<bool>,
    kept: Option<Vec<ipnet::IpNet>>,
}

/// A group of rule collections.
#[derive(Debug, Clone)]
struct Group {
    policy: String,
    name: String,
    priority: u64,
    collections: Vec<Value>,
}

/// Reads the firewalls.
pub(super) fn firewalls(
    cloud: &Cloud,
    publics: &PublicAddresses,
    tags: Option<&Tags>,
) -> Known<Decoded<Firewall>> {
    let policies = Known::of(cloud.firewall_policies.as_ref(), policies);
    let groups = Known::of(cloud.firewall_rules.as_ref(), groups);
    let addresses = Known::of(cloud.ip_groups.as_ref(), address_groups);
    let reader = Reader { addresses: &addresses, tags };
    Known::of(cloud.firewalls.as_ref(), |text| {
        let is_row = |map: &Map<String, Value>| {
            has(map, "ipConfigurations") || has(map, "hubIPAddresses") || has(map, "networkRuleCollections")
        };
        let read = |row: &Value, _: &mut Vec<String>| {
            let name = row.text("name")?.to_owned();
            let body = inner(row);
            let configurations =
                || body.field("ipConfigurations").and_then(Value::as_array).into_iter().flatten();
            let private = configurations().find_map(|one| inner(one).text("privateIPAddress"));
            let hub = || body.field("hubIPAddresses").and_then(|hub| hub.text("privateIPAddress"));
            // One that was stopped has no address, and no route leads to it.
            let Some(address) = private.or_else(hub) else { return Some(None) };
            let subnet = configurations().find_map(|one| inner(one).field("subnet")?.text("id"));
            let subnet =
                subnet.and_then(|id| Some((part_after(id, "virtualNetworks")?, part_after(id, "subnets")?)));
            let public = |one: &Value| {
                let public = inner(one).field("publicIPAddress");
                let written =
                    public.and_then(|own| inner(own).text("ipAddress")).and_then(|own| own.parse().ok());
                written.or_else(|| listed_public(public, publics)?.address)
            };
            let policy = last_of(body.field("firewallPolicy"));
            let own = policy.as_deref().map(|name| chain(name, &policies));
            let rules = match &own {
                None => classic(body, &reader),
                Some(Ok(chain)) => of_policies(chain, &groups, &reader),
                Some(Err(why)) => Known::Failed(why.clone()),
            };
            let nearest = own.as_ref().and_then(|chain| chain.as_ref().ok()?.first());
            let answers_names = match (&own, nearest) {
                // A classic firewall says it among other settings, and does not unless it says so.
                (None, _) => Some(
                    setting(body, "Network.DNS.EnableProxy")
                        .is_some_and(|on| on.eq_ignore_ascii_case("true")),
                ),
                (Some(_), policy) => policy.and_then(|(_, policy)| policy.proxy),
            };
            let kept = nearest
                .and_then(|(_, policy)| policy.kept.clone())
                .or_else(|| setting(body, "Network.SNAT.PrivateRanges").map(|own| prefixes(own.split(','))))
                .unwrap_or_else(|| prefixes(PRIVATE.into_iter()));
            Some(Some(Firewall {
                name,
                address: address.parse().ok()?,
                publics: configurations().filter_map(public).collect(),
                subnet,
                rules,
                answers_names,
                kept,
            }))
        };
        let (found, odd) = rows(text, "firewalls", is_row, read).map_err(|error| error.to_string())?;
        Ok((found.into_iter().flatten().collect(), odd))
    })
}

fn setting<'a>(body: &'a Value, name: &str) -> Option<&'a str> {
    body.field("additionalProperties")?.get(name)?.as_str()
}

fn prefixes<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<ipnet::IpNet> {
    let all = texts.map(str::trim).flat_map(|text| {
        let known: &[&str] = if text.eq_ignore_ascii_case("IANAPrivateRanges") { &PRIVATE } else { &[] };
        let own = known.is_empty().then_some(text);
        known.iter().copied().chain(own).collect::<Vec<_>>()
    });
    all.filter_map(parse_prefix).collect()
}

/// Returns a policy and those above it, the nearest first.
fn chain(name: &str, policies: &Known<BTreeMap<String, Policy>>) -> Result<Vec<(String, Policy)>, String> {
    let Some(known) = policies.read() else {
        return Err(format!("the policy {name}: {}", policies.why_not()));
    };
    let mut found: Vec<(String, Policy)> = Vec::new();
    let mut next = Some(name.to_owned());
    while let Some(name) = next {
        let own =
            known.get(&name.to_ascii_lowercase()).ok_or_else(|| format!("the policy {name} was not read"))?;
        // One that is left out might hold the rule that decides.
        if found.len() > MAX_PARENTS {
            return Err(format!("more than {MAX_PARENTS} policies stand above {}", shown(&found)));
        }
        next = own.parent.clone();
        found.push((name, own.clone()));
    }
    Ok(found)
}

/// Returns the name of the first policy of a chain.
fn shown(chain: &[(String, Policy)]) -> &str {
    chain.first().map_or("it", |(name, _)| name)
}

/// Returns rows by their names. Rules name what they mean: where two have one name, in different groups of resources, neither is taken
/// for the other.
fn by_name<T>(found: Vec<(String, String, T)>, what: &str) -> Result<BTreeMap<String, T>, String> {
    let mut known: BTreeMap<String, (String, T)> = BTreeMap::new();
    for (name, id, row) in found {
        if known.get(&name).is_some_and(|(own, _)| *own != id) {
            return Err(format!("two {what} are called {name}"));
        }
        known.insert(name, (id, row));
    }
    Ok(known.into_iter().map(|(name, (_, row))| (name, row)).collect())
}

/// Returns name and id of a row, both as they are compared.
fn named(row: &Value) -> Option<(String, String)> {
    Some((row.text("name")?.to_ascii_lowercase(), row.text("id").unwrap_or_default().to_ascii_lowercase()))
}

/// Returns the rules of a policy and of those above it, which are asked first.
fn of_policies(
    chain: &[(String, Policy)],
    groups: &Known<Vec<Group>>,
    reader: &Reader<'_>,
) -> Known<Vec<RuleCollection>> {
    let Some(all) = groups.read() else {
        return Known::Failed(format!("the groups of rule collections: {}", groups.why_not()));
    };
    let mut found: Vec<((usize, u64), RuleCollection)> = Vec::new();
    for (depth, (name, policy)) in chain.iter().rev().enumerate() {
        let own: Vec<&Group> = all.iter().filter(|group| group.policy.eq_ignore_ascii_case(name)).collect();
        let is_there = |wanted: &String| own.iter().any(|group| group.name.eq_ignore_ascii_case(wanted));
        let absent = policy.groups.iter().flatten().find(|wanted| !is_there(wanted));
        match absent {
            Some(absent) => {
                return Known::Failed(format!("the group {absent} of the policy {name} was not read"));
            }
            None if own.is_empty() && policy.groups.is_none() => {
                return Known::Failed(format!("the groups of the policy {name} were not read"));
            }
            None => {}
        }
        for group in own {
            for collection in &group.collections {
                match reader.collection(collection, None) {
                    Some(own) => found.push(((depth, group.priority), own)),
                    None => {
                        return Known::Failed(format!(
                            "a collection of the group {} cannot be read",
                            group.name
                        ));
                    }
                }
            }
        }
    }
    found.sort_by_key(|(place, own)| (own.kind, *place, own.priority));
    Known::Read(found.into_iter().map(|(_, own)| own).collect())
}

/// Returns the rules that stand in the firewall itself.
fn classic(body: &Value, reader: &Reader<'_>) -> Known<Vec<RuleCollection>> {
    let lists = [
        ("natRuleCollections", Kind::Nat),
        ("networkRuleCollections", Kind::Network),
        ("applicationRuleCollections", Kind::Application),
    ];
    let mut found: Vec<RuleCollection> = Vec::new();
    for (list, kind) in lists {
        let own = body.field(list).and_then(Value::as_array).into_iter().flatten();
        for collection in own {
            match reader.collection(collection, Some(kind)) {
                Some(own) => found.push(own),
                None => return Known::Failed("a collection of its rules cannot be read".to_owned()),
            }
        }
    }
    found.sort_by_key(|own| (own.kind, own.priority));
    Known::Read(found)
}

fn policies(text: &str) -> Result<BTreeMap<String, Policy>, String> {
    let is_row = |map: &Map<String, Value>| has(map, "ruleCollectionGroups") || has(map, "threatIntelMode");
    let read = |row: &Value, _: &mut Vec<String>| {
        let body = inner(row);
        let listed = |list: &Value| {
            list.as_array().map(|all| all.iter().filter_map(|one| last_of(Some(one))).collect())
        };
        let names = body.field("dnsSettings");
        let proxy = names.and_then(|own| own.field("enableProxy")).and_then(Value::as_bool);
        let kept =
            body.field("snat").and_then(|own| own.field("privateRanges")).map(|own| texts(Some(own)).0);
        let policy = Policy {
            parent: last_of(body.field("basePolicy")),
            groups: body.field("ruleCollectionGroups").and_then(listed),
            proxy: proxy.or(Some(false)),
            kept: kept.filter(|own| !own.is_empty()).map(|own| prefixes(own.iter().map(String::as_str))),
        };
        let (name, id) = named(row)?;
        Some((name, id, policy))
    };
    let (found, _) = rows(text, "policies", is_row, read).map_err(|error| error.to_string())?;
    by_name(found, "policies")
}

fn groups(text: &str) -> Result<Vec<Group>, String> {
    let is_row = |map: &Map<String, Value>| has(map, "ruleCollections");
    let read = |row: &Value, _: &mut Vec<String>| {
        let body = inner(row);
        Some(Group {
            policy: part_after(row.text("id")?, "firewallPolicies")?,
            name: row.text("name")?.to_owned(),
            priority: body.field("priority").and_then(Value::as_u64)?,
            collections: body.field("ruleCollections").and_then(Value::as_array).cloned().unwrap_or_default(),
        })
    };
    let (found, odd) =
        rows(text, "groups of rule collections", is_row, read).map_err(|error| error.to_string())?;
    // A group that is left out might hold the rule that decides.
    match odd.into_iter().next() {
        Some(first) => Err(first),
        None => Ok(found),
    }
}

fn address_groups(text: &str) -> Result<BTreeMap<String, Vec<String>>, String> {
    let is_row = |map: &Map<String, Value>| has(map, "ipAddresses");
    let read = |row: &Value, _: &mut Vec<String>| {
        let (name, id) = named(row)?;
        Some((name, id, texts(inner(row).field("ipAddresses")).0))
    };
    let (found, _) = rows(text, "groups of addresses", is_row, read).map_err(|error| error.to_string())?;
    by_name(found, "groups of addresses")
}
