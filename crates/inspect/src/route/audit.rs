//! What a reviewer of a route table would want to know.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

use ipnet::IpNet;
use serde::Serialize;

use super::anomaly::{Anomaly, Code, of_route};
use super::report::{Entry, Outcome};
use super::row::{Hop, Route, Source, State};
use super::table::Table;
use crate::net::{Inventory, Warning};

/// The default route of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DefaultRoute<'a> {
    /// Whether there is one.
    pub present: bool,
    /// Whose it is.
    pub source: Option<&'a str>,
    /// The route that carries what no other one does; nothing where none does.
    pub route: Option<Entry<'a>>,
}

/// A route table in short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Audit<'a> {
    /// The version of this format.
    pub format: u8,
    /// How many prefixes the table lists.
    pub route_count: usize,
    /// Rows that are Invalid.
    pub invalid: Vec<Entry<'a>>,
    /// User routes in use that drop.
    pub blackhole: Vec<Entry<'a>>,
    /// Routes in use through an appliance.
    pub nva: Vec<Entry<'a>>,
    /// Routes in use from the gateway.
    pub bgp: Vec<Entry<'a>>,
    /// Routes of others in use that drop; for private space that is the platform's habit.
    pub system_drop: Vec<Entry<'a>>,
    /// BGP routes that never carry anything, because the platform prefers its own route around them.
    pub unused_bgp: Vec<Entry<'a>>,
    /// Routes with several next hops, or several routes of one prefix and source.
    pub ecmp: Vec<Entry<'a>>,
    /// What happens to packets that no other route carries.
    pub default_route: DefaultRoute<'a>,
    /// Service tags of routes in use that nobody resolved.
    pub unresolved: Vec<&'a str>,
    /// What to look at first.
    pub findings: Vec<Anomaly>,
    /// What could not be read.
    pub warnings: Cow<'a, [Warning]>,
}

impl Table {
    /// Lists what a reviewer would want to know.
    #[must_use]
    pub fn audit(&self, inventory: Option<&Inventory>) -> Audit<'_> {
        let list = |wanted: &dyn Fn(&Route) -> bool| -> Vec<Entry<'_>> {
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
                source: default.map(|route| route.row.source.as_str()),
                route: default.map(Entry::from),
            },
            unresolved: tags.map(|(name, _)| name.as_str()).collect::<BTreeSet<_>>().into_iter().collect(),
            findings: self.findings(inventory),
            warnings: Cow::Borrowed(&self.warnings),
        }
    }

    fn default_route(&self) -> Option<&Route> {
        let zero = |route: &&Route| route.is_active() && route.prefix.prefix_len() == 0;
        // IPv4 goes before IPv6; within a family, what would be chosen.
        self.routes.iter().filter(zero).min_by_key(|route| (route.prefix.network().is_ipv6(), route.rank()))
    }

    fn unused_bgp(&self) -> Vec<Entry<'_>> {
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

    fn ecmp(&self) -> Vec<Entry<'_>> {
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
                let choice = self.choose(prefix.network());
                let mut instead = match choice.best().next() {
                    Some(other) => format!("{} goes by {}", prefix.network(), Entry::from(other)),
                    None => format!("nothing carries {}", prefix.network()),
                };
                if choice.outcome() == Outcome::Indeterminate {
                    instead.push_str(", unless a service tag that is not resolved does");
                }
                let detail = format!("the {source} route {prefix} to {hop} is Invalid; {instead}");
                found.push(Anomaly::new(Code::InvalidShadow, &route.row, detail));
            }
            if route.is_active() {
                let reported = |anomaly: &Anomaly| !matches!(anomaly.code, Code::SystemDrop | Code::Nva);
                found.extend(of_route(route, inventory).into_iter().filter(reported));
            }
        }
        found.sort_by_key(|anomaly| anomaly.code);
        found
    }
}
