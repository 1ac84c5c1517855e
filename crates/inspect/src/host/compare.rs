//! What changed on a machine between two times.

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;

use super::gathered::Part;
use super::model::Host;

/// A line that is there now and was not, or the reverse.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Difference {
    /// What it is about: link, address, route, rule, filter, setting, listener, resolver.
    pub about: &'static str,
    /// How it was.
    pub before: Option<String>,
    /// How it is.
    pub after: Option<String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => write!(out, "{}: {before} → {after}", self.about),
            (Some(before), None) => write!(out, "{}: gone: {before}", self.about),
            (None, Some(after)) => write!(out, "{}: new: {after}", self.about),
            (None, None) => out.write_str(self.about),
        }
    }
}

/// Compares two times of one machine. Counters, neighbors and connections change all the time and are left out; so is what was not
/// read both times.
#[must_use]
pub fn compare(before: &Host, after: &Host) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut add = |about: &'static str, before: Option<BTreeSet<String>>, after: Option<BTreeSet<String>>| {
        let (Some(before), Some(after)) = (before, after) else { return };
        found.extend(before.difference(&after).map(|line| Difference {
            about,
            before: Some(line.clone()),
            after: None,
        }));
        found.extend(after.difference(&before).map(|line| Difference {
            about,
            before: None,
            after: Some(line.clone()),
        }));
    };
    let links = |host: &Host| {
        let line = |link: &super::link::Link| {
            let state = if link.carries() {
                "up"
            } else if link.is_up() {
                "no carrier"
            } else {
                "down"
            };
            format!("{} {state} mtu {} {}", link.name, link.mtu, link.address)
        };
        host.links.read().map(|all| all.iter().map(line).collect())
    };
    let addresses = |host: &Host| {
        host.addresses.read().map(|all| all.iter().map(|own| format!("{} {}", own.device, own.net)).collect())
    };
    let both_read_six = before.has_read(Part::Routes6) && after.has_read(Part::Routes6);
    let routes = |host: &Host| {
        let is_compared = |route: &&super::route::Route| {
            route.table != "local" && (both_read_six || route.prefix.addr().is_ipv4())
        };
        host.routes.read().map(|all| all.iter().filter(is_compared).map(super::route::Route::line).collect())
    };
    let rules = |host: &Host| host.rules.read().map(|all| all.iter().map(super::route::Rule::line).collect());
    let listeners = |host: &Host| {
        let line = |own: &super::socket::Listener| {
            let address = own.address.map_or_else(|| "*".to_owned(), |ip| ip.to_string());
            format!("{} {address} {}", own.protocol, own.port)
        };
        host.listeners.read().map(|all| all.iter().map(line).collect())
    };
    let resolvers =
        |host: &Host| host.resolver.read().map(|own| own.servers.iter().map(ToString::to_string).collect());
    let filters = |host: &Host| {
        let mut lines = BTreeSet::new();
        for (source, rules) in host.filters.rulesets() {
            for table in &rules.tables {
                for chain in &table.chains {
                    let place = format!("{source} {} {}", table.name, chain.name);
                    lines.insert(format!("{place} policy {}", chain.policy.as_deref().unwrap_or("-")));
                    lines.extend(
                        chain.rules.iter().map(|rule| format!("{place}: {}", without_counts(&rule.raw))),
                    );
                }
            }
        }
        Some(lines)
    };
    add("link", links(before), links(after));
    add("address", addresses(before), addresses(after));
    add("route", routes(before), routes(after));
    add("rule", rules(before), rules(after));
    add("listener", listeners(before), listeners(after));
    add("resolver", resolvers(before), resolvers(after));
    if before.filters_read.is_yes() && after.filters_read.is_yes() {
        add("filter", filters(before), filters(after));
    }
    if let (Some(old), Some(new)) = (before.settings.read(), after.settings.read()) {
        for (key, value) in new {
            if let Some(was) = old.get(key).filter(|was| *was != value) {
                let line = |value: &String| Some(format!("{key} = {value}"));
                found.push(Difference { about: "setting", before: line(was), after: line(value) });
            }
        }
    }
    found
}

/// Leaves out what a rule counted.
fn without_counts(raw: &str) -> String {
    let mut words = raw.split_whitespace().peekable();
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        if matches!(word, "packets" | "bytes") && words.peek().is_some_and(|next| next.parse::<u64>().is_ok())
        {
            words.next();
            continue;
        }
        kept.push(word);
    }
    kept.join(" ")
}
