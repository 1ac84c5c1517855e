//! Effective routes: which of a user's own lead nowhere, to nobody, or aside.

use std::net::IpAddr;

use super::supported::plain;
use super::{Suspect, once};
use crate::finding::Fault;
use ghost_cloud::probe::topology::{RouteTable, Topology};
use ghost_inspect::route::{Hop, Route, Source, Table};

/// Judges the routes of an interface: the one that carries packets to an address, or all that somebody put there.
pub(crate) fn carried(table: &Table, topology: &Topology, nic: &str, to: Option<IpAddr>) -> Vec<Suspect> {
    let own = |route: &&Route| route.is_active() && route.row.source == Source::User;
    let judge = |route: &Route| judge(table, topology, nic, route);
    once(match to {
        Some(to) => table.choose(to).best().filter(own).filter_map(judge).collect(),
        None => table.routes().iter().filter(own).filter_map(judge).collect(),
    })
}

fn judge(table: &Table, topology: &Topology, nic: &str, route: &Route) -> Option<Suspect> {
    let prefix = route.prefix;
    let (fault, why) = match route.row.hop {
        Hop::None => (Fault::RouteBlackhole, format!("it sends {prefix} nowhere: the next hop is None")),
        Hop::Appliance => appliance(topology, route)?,
        Hop::Local => return None,
        Hop::Gateway | Hop::Peering | Hop::ServiceEndpoint | Hop::Other => {
            // What goes where the platform would send it anyway is no detour.
            if system(table, route)?.row.hop_type.eq_ignore_ascii_case(&route.row.hop_type) {
                return None;
            }
            let hop = plain(&route.row.hop_type);
            (
                Fault::RouteDetour,
                format!("it sends {prefix} to {hop}, and the platform's own route would not"),
            )
        }
    };
    Some(Suspect::new(fault, object(topology, nic, route), why))
}

fn appliance(topology: &Topology, route: &Route) -> Option<(Fault, String)> {
    let prefix = route.prefix;
    let hops: Vec<IpAddr> = route.row.hop_ips.iter().filter_map(|text| text.parse().ok()).collect();
    let (first, read) = (hops.first()?, !topology.unread.iter().any(|list| list.what == "interfaces"));
    if let Some(nobody) = hops.iter().find(|ip| topology.owner(**ip).is_none()) {
        if !read || elsewhere(topology, *nobody) {
            // Interfaces of another group cannot be seen from here.
            return Some((
                Fault::RouteDetour,
                format!("it sends {prefix} to {nobody}, which is in another network"),
            ));
        }
        let group = plain(&topology.group);
        let why =
            format!("it sends {prefix} to {nobody}, and no network interface in {group} has that address");
        return Some((Fault::RouteDeadNva, why));
    }
    let owner = topology.owner(*first)?;
    let still = if owner.forwards { "" } else { ", which does not forward what is not for it" };
    let name = plain(&owner.name);
    Some((Fault::RouteDetour, format!("it sends {prefix} to {first}, the address of {name}{still}")))
}

/// Tells whether an address is of a peered network and of none in the group.
fn elsewhere(topology: &Topology, ip: IpAddr) -> bool {
    let holds = |prefixes: &[String]| {
        prefixes.iter().filter_map(|text| text.parse::<ipnet::IpNet>().ok()).any(|net| net.contains(&ip))
    };
    let here = topology.networks.iter().any(|network| holds(&network.prefixes));
    let peered = || topology.networks.iter().flat_map(|network| &network.peerings);
    !here && peered().any(|peering| holds(&peering.prefixes))
}

/// Returns the platform's own route for the same destinations, whether it is in use or not.
fn system<'a>(table: &'a Table, route: &Route) -> Option<&'a Route> {
    let wider = |other: &&Route| other.row.source == Source::System && other.prefix.contains(&route.prefix);
    table.routes().iter().filter(wider).max_by_key(|other| other.prefix.prefix_len())
}

/// Names a route: the effective table knows its name at most, and the subnet's route table the rest.
fn object(topology: &Topology, nic: &str, route: &Route) -> String {
    let interface = topology.interfaces.iter().find(|one| one.name.eq_ignore_ascii_case(nic));
    let mut subnets =
        interface.into_iter().flat_map(|one| &one.addresses).filter_map(|one| one.subnet.as_deref());
    let bound = subnets.find_map(|path| topology.subnet(path)?.route_table.as_deref());
    let last = |name: &str| name.rsplit('/').next().unwrap_or(name).to_owned();
    let bound = bound.map(last);
    let known =
        |table: &&RouteTable| Some(&table.name).is_some_and(|name| bound.as_deref() == Some(name.as_str()));
    let own = topology.route_tables.iter().find(known);
    let there =
        own.into_iter().chain(&topology.route_tables).find_map(|table| Some((table, entry(table, route)?)));
    let table = bound.or_else(|| there.as_ref().map(|(table, _)| table.name.clone()));
    let name = route.row.name.clone().or_else(|| there.map(|(_, name)| name));
    let part = |name: Option<String>| name.map_or_else(|| "unknown".to_owned(), |name| plain(&name));
    format!("route/{}/{}", part(table), part(name))
}

/// Returns the name under which a table holds a route.
fn entry(table: &RouteTable, route: &Route) -> Option<String> {
    let prefix = route.prefix.to_string();
    let tag = route.tag.as_deref();
    let same = |one: &&ghost_cloud::probe::topology::Route| {
        let named = route.row.name.as_deref().is_none_or(|name| name.eq_ignore_ascii_case(&one.name));
        named && (one.prefix == prefix || tag.is_some_and(|tag| tag == one.prefix))
    };
    table.routes.iter().find(same).map(|one| one.name.clone())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn topology() -> Topology {
        let nic = |name: &str, ip: &str, forwards: bool| {
            json!({"name": name, "machine": null, "security_group": null, "forwards": forwards,
                "addresses": [{"ip": ip, "subnet": "net/default", "public": null}]})
        };
        serde_json::from_value(json!({
            "group": "rg", "machines": [], "interfaces": [nic("web-nic", "10.0.1.4", false), nic("fw-nic", "10.0.2.4", true)],
            "networks": [{"name": "net", "prefixes": ["10.0.0.0/16"], "subnets": [{"name": "default", "prefixes": ["10.0.1.0/24"],
                "security_group": null, "route_table": "web-rt", "service_endpoints": []}],
                "peerings": [{"name": "p", "remote": "other/net", "state": "Connected", "prefixes": ["10.9.0.0/16"], "forwarded": true}]}],
            "security_groups": [], "unread": [],
            "route_tables": [{"name": "web-rt", "routes": [{"name": "lost", "prefix": "10.0.1.5/32", "next_hop_type": "None", "next_hop_ip": null}]}],
        }))
        .unwrap()
    }

    fn row(prefix: &str, hop: &str, ip: Option<&str>, name: Option<&str>, source: &str) -> Value {
        json!({"addressPrefix": [prefix], "nextHopType": hop, "nextHopIpAddress": ip.into_iter().collect::<Vec<_>>(),
            "name": name, "source": source, "state": "Active"})
    }

    fn judged(own: Vec<Value>, to: Option<&str>) -> Vec<String> {
        let mut rows = vec![
            row("10.0.0.0/16", "VnetLocal", None, None, "Default"),
            row("0.0.0.0/0", "Internet", None, None, "Default"),
            row("10.0.0.0/8", "None", None, None, "Default"),
        ];
        rows.extend(own);
        let table = Table::parse(&Value::Array(rows).to_string(), None).unwrap();
        let all = carried(&table, &topology(), "web-nic", to.map(|to| to.parse().unwrap()));
        all.into_iter().map(|one| format!("{} {}", one.code, one.object)).collect()
    }

    #[test]
    fn a_route_to_nowhere_is_a_black_hole() {
        let named = row("10.0.1.5/32", "None", None, Some("lost"), "User");
        assert_eq!(judged(vec![named.clone()], Some("10.0.1.5")), ["route_blackhole route/web-rt/lost"]);
        assert!(judged(vec![named], Some("10.0.1.9")).is_empty());
        let nameless = row("10.0.1.5/32", "None", None, None, "User");
        assert_eq!(judged(vec![nameless], None), ["route_blackhole route/web-rt/lost"]);
    }

    #[test]
    fn an_appliance_is_dead_where_nobody_owns_its_address() {
        let to = |ip: &str| row("0.0.0.0/0", "VirtualAppliance", Some(ip), Some("egress"), "User");
        assert_eq!(
            judged(vec![to("10.0.1.253")], Some("198.51.100.7")),
            ["route_dead_nva route/web-rt/egress"]
        );
        assert_eq!(judged(vec![to("10.0.2.4")], None), ["route_detour route/web-rt/egress"]);
        assert_eq!(judged(vec![to("10.9.0.4")], None), ["route_detour route/web-rt/egress"]);
    }

    #[test]
    fn the_platforms_own_next_hop_is_no_detour() {
        assert!(judged(vec![row("0.0.0.0/0", "Internet", None, Some("out"), "User")], None).is_empty());
        assert!(judged(Vec::new(), Some("10.200.0.1")).is_empty());
        let aside = row("10.0.1.5/32", "Internet", None, Some("aside"), "User");
        assert_eq!(judged(vec![aside], None), ["route_detour route/web-rt/aside"]);
    }
}
