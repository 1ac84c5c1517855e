//! What a reviewer of a route table would want to know.

use std::collections::{BTreeSet, HashMap, HashSet};

use ipnet::IpNet;
use serde::Serialize;

use super::anomaly::{Anomaly, Code, of_route};
use super::report::Entry;
use super::row::{Hop, Route, Source, State};
use super::table::Table;
use crate::net::{Inventory, Warning};

/// The default route of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DefaultRoute {
    /// Whether there is one.
    pub present: bool,
    /// Whose it is.
    pub source: Option<String>,
    /// The route.
    pub route: Option<Entry>,
}

/// A route table at a glance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Audit {
    /// The version of this format.
    pub format: u8,
    /// How many prefixes the table lists.
    pub route_count: usize,
    /// Rows that are Invalid.
    pub invalid: Vec<Entry>,
    /// User routes in use that drop.
    pub blackhole: Vec<Entry>,
    /// Routes in use through an appliance.
    pub nva: Vec<Entry>,
    /// Routes in use from the gateway.
    pub bgp: Vec<Entry>,
    /// Routes of others in use that drop; for private space that is the platform's habit.
    pub system_drop: Vec<Entry>,
    /// BGP routes that never carry anything, because the platform prefers its own route around them.
    pub unused_bgp: Vec<Entry>,
    /// Routes with several next hops, or several routes of one prefix and source.
    pub ecmp: Vec<Entry>,
    /// The default route.
    pub default_route: DefaultRoute,
    /// Service tags of routes in use that nobody resolved.
    pub unresolved: Vec<String>,
    /// What to look at first.
    pub findings: Vec<Anomaly>,
    /// What could not be read.
    pub warnings: Vec<Warning>,
}

impl Table {
    /// Lists what a reviewer would want to know.
    #[must_use]
    pub fn audit(&self, inventory: Option<&Inventory>) -> Audit {
        let list = |wanted: &dyn Fn(&Route) -> bool| -> Vec<Entry> {
            self.routes.iter().filter(|route| wanted(route)).map(Entry::from).collect()
        };
        let active = |wanted: &dyn Fn(&Route) -> bool| list(&|route| route.is_active() && wanted(route));
        let default = self.default_route();
        let tags = self.tags.iter().filter(|(_, row)| row.state == State::Active);
        Audit {
            format: 1,
            route_count: self.listed,
            invalid: list(&|route| route.row.state == State::Invalid),
            blackhole: active(&|route| route.row.hop == Hop::None && route.row.source == Source::User),
            nva: active(&|route| route.row.hop == Hop::Appliance),
            bgp: active(&|route| route.row.source == Source::Gateway),
            system_drop: active(&|route| route.row.hop == Hop::None && route.row.source != Source::User),
            unused_bgp: self.unused_bgp(),
            ecmp: self.ecmp(),
            default_route: DefaultRoute {
                present: default.is_some(),
                source: default.map(|route| route.row.source.as_str().to_owned()),
                route: default.map(Entry::from),
            },
            unresolved: tags.map(|(name, _)| name.clone()).collect::<BTreeSet<_>>().into_iter().collect(),
            findings: self.findings(inventory),
            warnings: self.warnings.clone(),
        }
    }

    fn default_route(&self) -> Option<&Route> {
        let zero = |route: &&Route| route.is_active() && route.prefix.prefix_len() == 0;
        // IPv4 goes before IPv6; within a family, what would be chosen.
        self.routes.iter().filter(zero).min_by_key(|route| (route.prefix.network().is_ipv6(), route.rank()))
    }

    fn unused_bgp(&self) -> Vec<Entry> {
        let active = || self.routes.iter().filter(|route| route.is_active());
        let preferred: HashSet<IpNet> =
            active().filter(|route| route.beats_bgp()).map(|route| route.prefix).collect();
        let covered = |prefix: IpNet| {
            let around =
                (0..=prefix.prefix_len()).filter_map(|length| IpNet::new(prefix.network(), length).ok());
            around.into_iter().any(|wider| preferred.contains(&wider.trunc()))
        };
        let unused = |route: &&Route| route.row.source == Source::Gateway && covered(route.prefix);
        active().filter(unused).map(Entry::from).collect()
    }

    fn ecmp(&self) -> Vec<Entry> {
        let active = || self.routes.iter().filter(|route| route.is_active());
        let mut equals: HashMap<(IpNet, (u8, bool)), usize> = HashMap::new();
        active().for_each(|route| *equals.entry((route.prefix, route.rank())).or_default() += 1);
        let shared = |route: &&Route| {
            route.row.hop_ips.len() > 1
                || equals.get(&(route.prefix, route.rank())).is_some_and(|count| *count > 1)
        };
        active().filter(shared).map(Entry::from).collect()
    }

    fn findings(&self, inventory: Option<&Inventory>) -> Vec<Anomaly> {
        let mut found: Vec<Anomaly> = Vec::new();
        for route in &self.routes {
            if route.row.state == State::Invalid {
                let (source, prefix, hop) = (route.row.source.as_str(), route.prefix, &route.row.hop_type);
                found.push(Anomaly::new(
                    Code::InvalidShadow,
                    format!("the {source} route {prefix} to {hop} is Invalid"),
                ));
            }
            if route.is_active() {
                let told = |anomaly: &Anomaly| !matches!(anomaly.code, Code::SystemDrop | Code::Nva);
                found.extend(of_route(route, inventory).into_iter().filter(told));
            }
        }
        found.sort_by_key(|anomaly| anomaly.code);
        found
    }
}
