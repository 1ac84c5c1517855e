//! Where a machine itself sends a packet: what `ip route`, `ip addr` and `sysctl` print.

use std::collections::BTreeMap;
use std::net::IpAddr;

use ipnet::IpNet;
use serde_json::Value;

use crate::net::parse_prefix;

/// What a route of a machine does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Action {
    /// Sends by a device; of several next hops the first.
    Send {
        /// The devices, one for each next hop.
        devices: Vec<String>,
    },
    /// Throws away, and with which word.
    Refuse(&'static str),
}

/// A route of a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GuestRoute {
    /// Where to.
    pub(super) prefix: IpNet,
    /// The lowest goes first.
    pub(super) metric: u32,
    /// What it does.
    pub(super) action: Action,
}

/// The routes of a machine.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Routing {
    routes: Vec<GuestRoute>,
    /// Why an answer is not certain, where rules choose among tables.
    pub(super) doubt: Option<String>,
}

/// What a machine does with a packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Choice<'a> {
    /// It sends it by one of these devices.
    Send(&'a [String]),
    /// A route throws it away.
    Refuse(&'a GuestRoute, &'static str),
    /// No route leads there.
    Nothing,
}

const REFUSALS: [&str; 3] = ["blackhole", "unreachable", "prohibit"];

impl Routing {
    /// Reads what `ip route` or `ip -j route` prints.
    ///
    /// # Errors
    /// Fails where the text is neither.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let mut routing = Self::default();
        routing.add(text)?;
        Ok(routing)
    }

    /// Reads another table beside, that of the other family.
    ///
    /// # Errors
    /// Fails where the text is none.
    pub(super) fn add(&mut self, text: &str) -> Result<(), String> {
        let text = text.trim();
        if text.starts_with('[') {
            let rows: Vec<Value> = serde_json::from_str(text).map_err(|error| error.to_string())?;
            for row in &rows {
                self.routes.extend(object(row)?);
            }
        } else {
            self.lines(text)?;
        }
        // Of one prefix the lowest metric goes first, the longest prefix before all.
        self.routes.sort_by_key(|route| (std::cmp::Reverse(route.prefix.prefix_len()), route.metric));
        Ok(())
    }

    /// Reads what `ip rule` prints: rules of somebody's own lead to tables that are not read.
    ///
    /// # Errors
    /// Fails where the text is none.
    pub(super) fn with_rules(mut self, text: &str) -> Result<Self, String> {
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let (number, rest) = line.split_once(':').ok_or("it is no list of routing rules")?;
            number.trim().parse::<u32>().map_err(|_| "it is no list of routing rules".to_owned())?;
            let rest = rest.split_whitespace().collect::<Vec<_>>().join(" ");
            let usual = ["from all lookup local", "from all lookup main", "from all lookup default"];
            if !usual.contains(&rest.as_str()) {
                self.doubt = Some(format!("the rule `{}` chooses another table", line.trim()));
            }
        }
        Ok(self)
    }

    fn lines(&mut self, text: &str) -> Result<(), String> {
        for (number, line) in text.lines().enumerate() {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.as_slice() {
                [] => {}
                ["nexthop", rest @ ..] => {
                    if let (Some(device), Some(route)) = (after(rest, "dev"), self.routes.last_mut())
                        && let Action::Send { devices } = &mut route.action
                    {
                        devices.push(device.to_owned());
                    }
                }
                _ => {
                    let odd = || format!("line {} is no route", number + 1);
                    if let Some(route) = line_route(&words, text).ok_or_else(odd)? {
                        self.routes.push(route);
                    }
                }
            }
        }
        Ok(())
    }

    /// Says what the machine does with a packet for an address.
    #[must_use]
    pub(super) fn choose(&self, to: IpAddr) -> Choice<'_> {
        match self.routes.iter().find(|route| route.prefix.contains(&to)) {
            None => Choice::Nothing,
            Some(route) => match &route.action {
                Action::Send { devices } => Choice::Send(devices),
                Action::Refuse(word) => Choice::Refuse(route, word),
            },
        }
    }

    /// Returns it without the routes that throw packets for an address away.
    pub(super) fn without_refusals(&self, to: IpAddr) -> Self {
        let kept =
            |route: &&GuestRoute| !(route.prefix.contains(&to) && matches!(route.action, Action::Refuse(_)));
        Self { routes: self.routes.iter().filter(kept).cloned().collect(), doubt: self.doubt.clone() }
    }
}

fn after<'a>(words: &[&'a str], name: &str) -> Option<&'a str> {
    let at = words.iter().position(|word| *word == name)?;
    words.get(at + 1).copied()
}

fn prefix(text: &str, six: bool) -> Option<IpNet> {
    if text == "default" || text == "all" {
        return parse_prefix(if six { "::/0" } else { "0.0.0.0/0" });
    }
    parse_prefix(text)
}

/// Reads a line; nothing inside where it is not about packets that leave.
fn line_route(words: &[&str], text: &str) -> Option<Option<GuestRoute>> {
    let (first, rest) = words.split_first()?;
    if matches!(*first, "local" | "broadcast" | "anycast" | "multicast" | "throw" | "nat") {
        return prefix(rest.first()?, false).map(|_| None);
    }
    let metric = || after(words, "metric").and_then(|text| text.parse().ok()).unwrap_or(0);
    // What another table holds is reached by rules alone.
    let other = after(words, "table").is_some_and(|table| !matches!(table, "main" | "254"));
    let six =
        after(words, "via").or_else(|| after(words, "src")).is_some_and(|address| address.contains(':'))
            || (text.contains("::/") && !text.contains('.'));
    let route = match REFUSALS.iter().find(|word| *word == first) {
        Some(word) => {
            GuestRoute { prefix: prefix(rest.first()?, six)?, metric: metric(), action: Action::Refuse(word) }
        }
        None => {
            let first = if *first == "unicast" { rest.first()? } else { first };
            let devices = after(words, "dev").map(str::to_owned).into_iter().collect();
            GuestRoute { prefix: prefix(first, six)?, metric: metric(), action: Action::Send { devices } }
        }
    };
    Some((!other).then_some(route))
}

fn object(row: &Value) -> Result<Vec<GuestRoute>, String> {
    let text = |name: &str| row.get(name).and_then(Value::as_str);
    let odd = || "a row is no route".to_owned();
    let kind = text("type").unwrap_or("unicast");
    let to = text("dst").ok_or_else(odd)?;
    let other = text("table").is_some_and(|table| !matches!(table, "main" | "254"));
    if other || matches!(kind, "local" | "broadcast" | "anycast" | "multicast" | "throw") {
        return Ok(Vec::new());
    }
    let six = text("gateway").or_else(|| text("prefsrc")).is_some_and(|address| address.contains(':'));
    let prefix = prefix(to, six).ok_or_else(odd)?;
    let metric = row.get("metric").and_then(Value::as_u64).and_then(|metric| u32::try_from(metric).ok());
    let metric = metric.unwrap_or(0);
    let action = match REFUSALS.iter().find(|word| **word == kind) {
        Some(word) => Action::Refuse(word),
        None => {
            let hops = row.get("nexthops").and_then(Value::as_array).into_iter().flatten();
            let hops = hops.filter_map(|hop| hop.get("dev").and_then(Value::as_str));
            Action::Send { devices: text("dev").into_iter().chain(hops).map(str::to_owned).collect() }
        }
    };
    Ok(vec![GuestRoute { prefix, metric, action }])
}

/// The addresses of a machine, by device.
pub(super) type Addresses = BTreeMap<String, Vec<IpAddr>>;

/// Reads what `ip addr`, `ip -br addr` or `ip -j addr` prints.
pub(super) fn addresses(text: &str) -> Result<Addresses, String> {
    let mut found = Addresses::new();
    let text = text.trim();
    let bare = |text: &str| text.split('/').next().and_then(|text| text.parse::<IpAddr>().ok());
    if text.starts_with('[') {
        let rows: Vec<Value> = serde_json::from_str(text).map_err(|error| error.to_string())?;
        for row in &rows {
            let Some(name) = row.get("ifname").and_then(Value::as_str) else { continue };
            let infos = row.get("addr_info").and_then(Value::as_array).into_iter().flatten();
            let own = infos.filter_map(|info| bare(info.get("local")?.as_str()?)).collect();
            found.insert(name.to_owned(), own);
        }
    } else {
        let mut device = None;
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.as_slice() {
                [number, name, ..]
                    if number.strip_suffix(':').is_some_and(|text| text.parse::<u32>().is_ok()) =>
                {
                    let name = name.trim_end_matches(':').split('@').next().unwrap_or(name).to_owned();
                    found.entry(name.clone()).or_default();
                    device = Some(name);
                }
                ["inet" | "inet6", address, ..] => {
                    let own = device.as_ref().and_then(|device| found.get_mut(device));
                    own.into_iter().for_each(|own| own.extend(bare(address)));
                }
                [name, "UP" | "DOWN" | "UNKNOWN" | "LOWERLAYERDOWN" | "DORMANT", own @ ..] => {
                    let name = name.split('@').next().unwrap_or(name).to_owned();
                    found.insert(name, own.iter().filter_map(|text| bare(text)).collect());
                }
                _ => {}
            }
        }
    }
    if found.is_empty() { Err("it is no list of addresses".to_owned()) } else { Ok(found) }
}

/// Reads what `sysctl` prints, a setting a line.
pub(super) fn settings(text: &str) -> Result<BTreeMap<String, String>, String> {
    let pair = |line: &str| {
        let (key, value) = line.split_once('=')?;
        Some((key.trim().replace('/', "."), value.trim().to_owned()))
    };
    let found: BTreeMap<String, String> = text.lines().filter_map(pair).collect();
    if found.is_empty() { Err("it holds no setting".to_owned()) } else { Ok(found) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
default via 10.0.1.1 dev eth0 proto dhcp src 10.0.1.4 metric 100
blackhole 10.9.0.0/16
10.9.1.0/24 via 10.0.1.1 dev eth0
10.0.1.0/24 dev eth0 proto kernel scope link src 10.0.1.4
172.17.0.0/16 dev docker0 proto kernel scope link src 172.17.0.1 linkdown
10.50.0.0/16 proto static
	nexthop via 10.0.1.2 dev eth0 weight 1
	nexthop via 10.0.2.2 dev eth1 weight 1
";

    #[track_caller]
    fn check(routing: &Routing, to: &str, expected: &str) {
        let found = match routing.choose(to.parse().unwrap()) {
            Choice::Send(devices) => devices.join(" "),
            Choice::Refuse(route, word) => format!("{word} {}", route.prefix),
            Choice::Nothing => "nothing".to_owned(),
        };
        assert_eq!(found, expected, "{to}");
    }

    #[test]
    fn the_longest_prefix_decides() {
        let routing = Routing::read(TEXT).unwrap();
        check(&routing, "8.8.8.8", "eth0");
        check(&routing, "10.9.2.1", "blackhole 10.9.0.0/16");
        check(&routing, "10.9.1.1", "eth0");
        check(&routing, "172.17.0.2", "docker0");
        check(&routing, "10.50.1.1", "eth0 eth1");
        check(&routing, "fd00::1", "nothing");
    }

    #[test]
    fn json_says_the_same() {
        let json = r#"[{"dst":"default","gateway":"10.0.1.1","dev":"eth0","metric":100,"flags":[]},
            {"type":"blackhole","dst":"10.9.0.0/16","flags":[]},{"type":"local","dst":"10.0.1.4","table":"local"},
            {"dst":"10.50.0.0/16","nexthops":[{"dev":"eth0"},{"dev":"eth1"}]}]"#;
        let routing = Routing::read(json).unwrap();
        check(&routing, "8.8.8.8", "eth0");
        check(&routing, "10.9.2.1", "blackhole 10.9.0.0/16");
        check(&routing, "10.50.1.1", "eth0 eth1");
    }

    #[test]
    fn rules_of_somebodys_own_leave_a_doubt() {
        let usual =
            "0:\tfrom all lookup local\n32766:\tfrom all lookup main\n32767:\tfrom all lookup default\n";
        let read = |text: &str| Routing::read(TEXT).unwrap().with_rules(text).unwrap();
        assert!(read(usual).doubt.is_none());
        assert!(read(&format!("{usual}100: from 10.0.1.4 lookup 100\n")).doubt.is_some());
    }

    #[test]
    fn addresses_are_read_in_every_form() {
        let text = "1: lo: <LOOPBACK,UP> mtu 65536\n    inet 127.0.0.1/8 scope host lo\n\
            2: eth0@if5: <UP> mtu 1500\n    inet 10.0.1.4/24 brd 10.0.1.255 scope global eth0\n";
        let short = "lo UNKNOWN 127.0.0.1/8\neth0 UP 10.0.1.4/24 fe80::1/64\n";
        let json = r#"[{"ifname":"eth0","addr_info":[{"local":"10.0.1.4"}]}]"#;
        for text in [text, short, json] {
            assert_eq!(addresses(text).unwrap()["eth0"][0].to_string(), "10.0.1.4");
        }
        assert!(addresses("no such file").is_err());
        assert_eq!(settings("net.ipv4.ip_forward = 1\n").unwrap()["net.ipv4.ip_forward"], "1");
    }

    #[test]
    fn what_is_no_route_is_an_error() {
        for text in ["bash: ip: command not found", "[{}]", "[1", "10.0.0.0/99 dev eth0"] {
            assert!(Routing::read(text).is_err(), "{text}");
        }
        check(&Routing::read("").unwrap(), "10.0.0.1", "nothing");
    }
}
