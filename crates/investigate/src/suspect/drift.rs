//! What changed in the effective network since a baseline.

use std::net::IpAddr;

use super::supported::plain;
use super::{Suspect, carried, once, taken};
use crate::finding::Fault;
use ghost_cloud::probe::topology::Topology;
use ghost_inspect::effective::{Category, Comparison, Kind, Status};
use ghost_inspect::nsg::{Knowledge, Ruleset};
use ghost_inspect::route::Table;

/// What an interface is like now.
pub(crate) struct Ends<'a> {
    pub(crate) nic: &'a str,
    /// What was printed as its routes.
    pub(crate) routes: &'a str,
    /// What was printed as its rules.
    pub(crate) rules: &'a str,
}

/// Returns that nothing changed, or what of that which came or changed stops or diverts traffic.
pub(crate) fn changed(
    machine: &str,
    comparison: &Comparison,
    now: &[Ends<'_>],
    topology: &Topology,
) -> Vec<Suspect> {
    if comparison.status == Status::Clean && !comparison.nics.is_empty() {
        let why = "everything was read on both sides, and no route and no rule differs";
        return vec![Suspect::new(Fault::NoDrift, format!("effective/{}", plain(machine)), why)];
    }
    let mut found = Vec::new();
    for end in now {
        let came = |category: &[Category]| -> Vec<String> {
            let own = comparison.changes.iter().filter(|change| change.kind != Kind::Removed);
            let own = own.filter(|change| change.nic.eq_ignore_ascii_case(end.nic));
            let own = own.filter(|change| category.contains(&change.category));
            own.filter_map(|change| change.after.get("name")?.as_str()).map(plain).collect()
        };
        let rules = came(&[Category::SecurityRule]);
        if !rules.is_empty()
            && let Ok(read) = Ruleset::parse(end.rules, Knowledge::default())
        {
            found.extend(taken(&read).into_iter().filter(|one| named(one, &rules)));
        }
        let routes = came(&[Category::UdrRoute]);
        if let Ok(read) = Table::parse(end.routes, None) {
            let to: Option<IpAddr> = None;
            found.extend(carried(&read, topology, end.nic, to).into_iter().filter(|one| named(one, &routes)));
        }
    }
    for one in &mut found {
        one.why.push_str("; it came or changed since the baseline");
    }
    once(found)
}

/// Tells whether the last part of an object is one of some names.
fn named(suspect: &Suspect, names: &[String]) -> bool {
    let last = suspect.object.rsplit('/').next().unwrap_or_default();
    names.iter().any(|name| name.eq_ignore_ascii_case(last))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use ghost_inspect::effective::{Options, Side};

    fn rules(own: &[&str]) -> Value {
        let rule = |name: &str, priority: usize, access: &str| {
            json!({"name": name, "priority": priority, "access": access, "direction": "Inbound", "protocol": "Tcp",
                "sourceAddressPrefix": "*", "destinationAddressPrefix": "*", "sourcePortRange": "0-65535",
                "destinationPortRange": "0-65535"})
        };
        let mut all: Vec<Value> = own
            .iter()
            .enumerate()
            .map(|(at, name)| rule(&format!("securityRules/{name}"), 100 + at, "Deny"))
            .collect();
        all.push(rule("defaultSecurityRules/AllowVnetInBound", 65_000, "Allow"));
        json!([{"association": {"networkInterface": {"id": "/x/networkInterfaces/n"}},
            "networkSecurityGroup": {"id": "/s/networkSecurityGroups/web-nsg"}, "effectiveSecurityRules": all}])
    }

    fn routes(extra: bool) -> Value {
        let mut all = vec![
            json!({"addressPrefix": ["10.0.0.0/16"], "nextHopType": "VnetLocal", "source": "Default", "state": "Active"}),
        ];
        if extra {
            all.push(json!({"addressPrefix": ["10.0.1.5/32"], "nextHopType": "None", "source": "User", "state": "Active", "name": "lost"}));
        }
        json!(all)
    }

    fn judged(before: (Value, Value), after: (Value, Value)) -> Vec<String> {
        let bundle = |(routes, nsg): &(Value, Value)| {
            json!({"nics": [{"nic": "n", "routes": routes, "nsg": nsg, "error": null}]}).to_string()
        };
        let (old, new) = (Side::parse(&bundle(&before)).unwrap(), Side::parse(&bundle(&after)).unwrap());
        let (routes, rules) = (after.0.to_string(), after.1.to_string());
        let now = [Ends { nic: "n", routes: &routes, rules: &rules }];
        let all = changed("vm", &old.compare(&new, Options::default()), &now, &Topology::default());
        all.into_iter().map(|one| format!("{} {}", one.code, one.object)).collect()
    }

    #[test]
    fn nothing_changed_is_a_result() {
        let same = || (routes(false), rules(&["old"]));
        assert_eq!(judged(same(), same()), ["no_drift effective/vm"]);
    }

    #[test]
    fn what_was_there_before_is_no_drift() {
        let (before, after) = ((routes(false), rules(&["old"])), (routes(true), rules(&["old", "new"])));
        assert!(judged(before.clone(), before.clone()).iter().all(|one| one.starts_with("no_drift")));
        assert_eq!(judged(before, after), ["route_blackhole route/unknown/lost"]);
        let (before, after) = ((routes(false), rules(&[])), (routes(false), rules(&["new"])));
        assert_eq!(judged(before, after), ["nsg_deny nsg/web-nsg/new"]);
    }
}
