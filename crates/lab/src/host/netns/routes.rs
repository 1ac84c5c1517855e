//! Effective routes as routes of the fabric: one table for what comes from an interface.

use std::collections::BTreeMap;
use std::net::IpAddr;

use ipnet::IpNet;
use serde_json::Value;

use super::plan::{Link, Plan};
use ghost_inspect::net::Tags;
use ghost_inspect::route::{Hop, Route, Table};

/// The device behind which nobody is.
pub(super) const VOID: &str = "void0";
/// The device behind which everybody else is.
pub(super) const OUT: &str = "inet0";
/// The address of the gateway's far end, on that wire alone.
pub(super) const BEYOND: &str = "169.254.1.2";

/// Writes the routes for what comes from an interface, as lines for `ip -batch`.
///
/// What the platform drops goes to a device behind which nobody is: the fabric has to answer for an address all the same, as the
/// platform does, so that a machine never says that it does not find its neighbor.
pub(super) fn lines(link: &Link, plan: &Plan, tags: Option<&Tags>) -> String {
    let table = 1_000 + link.number;
    let mut text = format!("rule add iif {} lookup {table} pref {table}\n", link.device);
    text.push_str(&format!("-6 rule add iif {} lookup {table} pref {table}\n", link.device));
    let Some(effective) = read(&link.nic.routes, tags) else { return text };
    let mut best: BTreeMap<IpNet, &Route> = BTreeMap::new();
    for route in effective.routes().iter().filter(|route| route.is_active()) {
        let held = best.entry(route.prefix.trunc()).or_insert(route);
        if route.rank() < held.rank() {
            *held = route;
        }
    }
    for prefix in ["0.0.0.0/0", "::/0"].iter().filter_map(|all| all.parse::<IpNet>().ok()) {
        if !best.contains_key(&prefix) {
            text.push_str(&line(prefix, &dev(VOID), table));
        }
    }
    for (prefix, route) in best {
        text.push_str(&line(prefix, &hop(route, plan), table));
    }
    text
}

/// Reads effective routes; none where there are none, which means that no gate applies.
fn read(routes: &Value, tags: Option<&Tags>) -> Option<Table> {
    Table::parse(&routes.to_string(), tags).ok()
}

fn line(prefix: IpNet, hop: &str, table: usize) -> String {
    let family = if matches!(prefix, IpNet::V6(_)) { "-6 " } else { "" };
    match hop.strip_prefix("throw") {
        Some(_) => format!("{family}route add throw {prefix} table {table}\n"),
        None => format!("{family}route add {prefix} {hop} table {table}\n"),
    }
}

fn dev(device: &str) -> String {
    format!("dev {device}")
}

fn hop(route: &Route, plan: &Plan) -> String {
    let six = matches!(route.prefix, IpNet::V6(_));
    match route.row.hop {
        Hop::None | Hop::Gateway => dev(VOID),
        // The table of all machines knows where they are.
        Hop::Local | Hop::Peering => "throw".to_owned(),
        Hop::Appliance => {
            let address = route.row.hop_ips.first().and_then(|text| text.parse::<IpAddr>().ok());
            let owner = address.and_then(|address| plan.owner(address).map(|link| (address, link)));
            match owner.filter(|(_, link)| link.nic.forwards) {
                Some((address, link)) => format!("via {address} dev {} onlink", link.device),
                // Nobody has the address, or whoever has it may not forward.
                None => dev(VOID),
            }
        }
        Hop::ServiceEndpoint | Hop::Other if six => dev(VOID),
        Hop::ServiceEndpoint | Hop::Other => format!("via {BEYOND} dev {OUT} onlink"),
    }
}
