//! Routes and rules, and which of them carries a packet: rules by priority, tables by the longest prefix, as the kernel does it.

use std::net::IpAddr;

use ipnet::IpNet;
use serde::Deserialize;
use serde_json::Value;

use super::answer::Known;

/// A route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// Where it leads.
    pub prefix: IpNet,
    /// unicast, local, blackhole, unreachable, prohibit, throw …
    pub kind: String,
    /// Its table.
    pub table: String,
    /// The device, where it names one.
    pub device: Option<String>,
    /// The next hop, where there is one.
    pub via: Option<IpAddr>,
    /// Which address the machine takes for its own packets.
    pub source: Option<IpAddr>,
    /// Smaller is better.
    pub metric: u32,
    /// Who made it: kernel, static, dhcp, bgp …
    pub protocol: String,
    /// What the kernel says of it: linkdown, dead, onlink …
    pub flags: Vec<String>,
    /// Several next hops, where it has them.
    pub legs: Vec<Leg>,
}

/// One of several next hops.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Leg {
    /// The device.
    #[serde(rename = "dev", default)]
    pub device: String,
    /// The next hop.
    #[serde(rename = "gateway")]
    pub via: Option<IpAddr>,
    /// linkdown, dead …
    #[serde(default)]
    pub flags: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct RawRoute {
    dst: String,
    #[serde(rename = "type")]
    kind: Option<String>,
    table: Option<Value>,
    dev: Option<String>,
    gateway: Option<IpAddr>,
    via: Option<Via>,
    prefsrc: Option<IpAddr>,
    #[serde(default)]
    metric: u32,
    #[serde(default)]
    protocol: Value,
    #[serde(default)]
    flags: Vec<String>,
    #[serde(default)]
    nexthops: Vec<Leg>,
}

#[derive(Debug, Clone, Deserialize)]
struct Via {
    host: Option<IpAddr>,
}

/// A number or a name.
fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Reads a prefix: `default`, an address, or a prefix.
pub(super) fn prefix(text: &str, six: bool) -> Option<IpNet> {
    let all = if six { "::/0" } else { "0.0.0.0/0" };
    match text {
        "default" | "all" => all.parse().ok(),
        _ => text.parse().ok().or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from)),
    }
}

impl RawRoute {
    /// Reads the row.
    ///
    /// # Errors
    /// Says what is odd.
    pub(super) fn read(self, six: bool) -> Result<Route, String> {
        let prefix = prefix(&self.dst, six).ok_or_else(|| format!("`{}` is no prefix", self.dst))?;
        Ok(Route {
            prefix,
            kind: self.kind.unwrap_or_else(|| "unicast".to_owned()),
            table: self.table.as_ref().map_or_else(|| "main".to_owned(), word),
            device: self.dev,
            via: self.gateway.or_else(|| self.via.and_then(|via| via.host)),
            source: self.prefsrc,
            metric: self.metric,
            protocol: word(&self.protocol),
            flags: self.flags,
            legs: self.nexthops,
        })
    }
}

impl Route {
    /// Tells whether it is the default route of its family.
    #[must_use]
    pub fn is_default(&self) -> bool {
        self.prefix.prefix_len() == 0
    }

    /// Returns the prefix as people write it.
    #[must_use]
    pub fn name(&self) -> String {
        match self.prefix.prefix_len() {
            0 => "default".to_owned(),
            length if length == self.prefix.max_prefix_len() => self.prefix.addr().to_string(),
            _ => self.prefix.to_string(),
        }
    }

    /// Returns the prefix as objects name it: a host route keeps its length.
    #[must_use]
    pub fn object(&self) -> String {
        if self.is_default() { "default".to_owned() } else { self.prefix.to_string() }
    }

    /// Tells whether packets end here instead of going on.
    #[must_use]
    pub fn throws_away(&self) -> bool {
        matches!(self.kind.as_str(), "blackhole" | "unreachable" | "prohibit")
    }

    /// Returns every next hop with its device.
    #[must_use]
    pub fn next_hops(&self) -> Vec<(Option<IpAddr>, String)> {
        if self.legs.is_empty() {
            return self.device.iter().map(|device| (self.via, device.clone())).collect();
        }
        self.legs.iter().map(|leg| (leg.via, leg.device.clone())).collect()
    }

    /// Shows it as `ip route` does.
    #[must_use]
    pub fn line(&self) -> String {
        let mut text = if self.kind == "unicast" { String::new() } else { format!("{} ", self.kind) };
        text.push_str(&self.name());
        if let Some(via) = self.via {
            text.push_str(&format!(" via {via}"));
        }
        if let Some(device) = &self.device {
            text.push_str(&format!(" dev {device}"));
        }
        for leg in &self.legs {
            let via = leg.via.map(|via| format!(" via {via}")).unwrap_or_default();
            text.push_str(&format!(" nexthop{via} dev {}", leg.device));
        }
        if self.table != "main" {
            text.push_str(&format!(" table {}", self.table));
        }
        text
    }
}

/// A routing rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The smallest is asked first.
    pub priority: u32,
    /// Which sources it is for.
    pub source: IpNet,
    /// Which destinations it is for.
    pub destination: IpNet,
    /// The device by which packets came, where it names one.
    pub input: Option<String>,
    /// The mark of packets, where it names one.
    pub mark: Option<u64>,
    /// It asks for something that is not read here: whether it holds is not known.
    pub asks_more: bool,
    /// Which table it leads to; none where it throws packets away by itself.
    pub table: Option<String>,
    /// What it does by itself: unreachable, blackhole, prohibit.
    pub action: Option<String>,
    /// Whether it holds where the rest does not.
    pub is_negated: bool,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct RawRule {
    #[serde(default)]
    priority: u32,
    src: Option<String>,
    srclen: Option<u8>,
    dst: Option<String>,
    dstlen: Option<u8>,
    iif: Option<String>,
    oif: Option<String>,
    fwmark: Option<Value>,
    table: Option<Value>,
    action: Option<String>,
    not: Option<Value>,
    #[serde(flatten)]
    rest: serde_json::Map<String, Value>,
}

impl RawRule {
    /// Reads the row.
    ///
    /// # Errors
    /// Says what is odd.
    pub(super) fn read(self, six: bool) -> Result<Rule, String> {
        let net = |text: Option<&str>, length: Option<u8>| {
            let text = text.unwrap_or("all");
            let found = match length {
                Some(length) => text.parse().ok().and_then(|ip| IpNet::new(ip, length).ok()),
                None => prefix(text, six),
            };
            found.ok_or_else(|| format!("`{text}` is no prefix"))
        };
        let mark = self.fwmark.as_ref().map(word);
        let mark = mark.map(|mark| {
            let hex = mark.strip_prefix("0x").and_then(|hex| u64::from_str_radix(hex, 16).ok());
            hex.or_else(|| mark.parse().ok()).unwrap_or(u64::MAX)
        });
        let known = ["protocol", "flags", "l3mdev", "suppress_prefixlen", "suppress_prefixlength"];
        let asks_more = self.oif.is_some()
            || self.rest.keys().any(|key| !known.contains(&key.as_str()))
            || self.rest.contains_key("l3mdev");
        Ok(Rule {
            priority: self.priority,
            source: net(self.src.as_deref(), self.srclen)?,
            destination: net(self.dst.as_deref(), self.dstlen)?,
            input: self.iif,
            mark,
            asks_more,
            table: self.table.as_ref().map(word),
            action: self.action,
            is_negated: self.not.is_some(),
        })
    }
}

impl Rule {
    /// Tells whether it is for a packet; none where that is not known.
    fn holds(&self, packet: &RoutedPacket<'_>) -> Option<bool> {
        let input = self
            .input
            .as_deref()
            .is_none_or(|input| Some(input) == packet.input || (input == "lo" && packet.input.is_none()));
        let source =
            packet.source.map_or(self.source.prefix_len() == 0, |source| self.source.contains(&source));
        let mark = self.mark.is_none_or(|mark| mark == 0);
        let plain = input && source && mark && self.destination.contains(&packet.destination);
        if self.asks_more && plain { None } else { Some(plain != self.is_negated) }
    }

    /// Shows it as `ip rule` does.
    #[must_use]
    pub fn line(&self) -> String {
        let from = if self.source.prefix_len() == 0 { "all".to_owned() } else { self.source.to_string() };
        let to = if self.destination.prefix_len() == 0 {
            String::new()
        } else {
            format!(" to {}", self.destination)
        };
        let leads = self.table.as_ref().map(|table| format!(" lookup {table}"));
        let leads =
            leads.or_else(|| self.action.as_ref().map(|action| format!(" {action}"))).unwrap_or_default();
        format!("{}: from {from}{to}{leads}", self.priority)
    }
}

/// What routing asks about a packet.
#[derive(Debug, Clone, Copy)]
pub struct RoutedPacket<'a> {
    /// Where it goes.
    pub destination: IpAddr,
    /// Whose it is, where that is chosen already.
    pub source: Option<IpAddr>,
    /// By which device it came; none for the machine's own.
    pub input: Option<&'a str>,
}

/// What routing says.
#[derive(Debug, Clone, PartialEq)]
pub enum Routed<'a> {
    /// A route carries it, or throws it away; with the rule that led there.
    By(&'a Route, Option<&'a Rule>),
    /// A rule throws it away by itself.
    Refused(&'a Rule),
    /// Nothing leads there.
    Nowhere,
    /// What would tell was not read.
    NotKnown(String),
}

/// Asks the rules and tables of a machine.
pub(super) fn routed<'a>(
    routes: &'a Known<Vec<Route>>,
    rules: &'a Known<Vec<Rule>>,
    packet: RoutedPacket<'_>,
) -> Routed<'a> {
    let routes = match routes {
        Known::Read(routes) => routes,
        Known::NotRead(why) => return Routed::NotKnown(why.clone()),
    };
    let rules = match rules {
        Known::Read(rules) => rules,
        Known::NotRead(why) => return Routed::NotKnown(format!("its routing rules: {why}")),
    };
    let mut sorted: Vec<&Rule> = rules.iter().collect();
    sorted.sort_by_key(|rule| rule.priority);
    if sorted.is_empty() {
        // Without rules there are the usual ones.
        for table in ["local", "main", "default"] {
            if let Some(route) = best(routes, table, packet.destination) {
                return Routed::By(route, None);
            }
        }
        return Routed::Nowhere;
    }
    for rule in sorted {
        match rule.holds(&packet) {
            Some(false) => continue,
            None => return Routed::NotKnown(format!("whether the rule `{}` holds", rule.line())),
            Some(true) => {}
        }
        let Some(table) = &rule.table else {
            match rule.action.as_deref() {
                Some("blackhole" | "unreachable" | "prohibit") => return Routed::Refused(rule),
                _ => continue,
            }
        };
        if let Some(route) = best(routes, table, packet.destination).filter(|route| route.kind != "throw") {
            return Routed::By(route, Some(rule));
        }
    }
    Routed::Nowhere
}

fn best<'a>(routes: &'a [Route], table: &str, to: IpAddr) -> Option<&'a Route> {
    let fits = |route: &&Route| {
        let dead = route.flags.iter().any(|flag| flag == "dead");
        route.table == table
            && route.prefix.contains(&to)
            && !dead
            && route.kind != "broadcast"
            && route.kind != "multicast"
    };
    let rank = |route: &&Route| (route.prefix.prefix_len(), std::cmp::Reverse(route.metric));
    // The first of equal ones is the kernel's.
    routes.iter().rev().filter(fits).max_by_key(rank)
}
