//! Where a machine itself sends a packet: what `ip route`, `ip addr` and `sysctl` print.

use std::collections::{BTreeMap, BTreeSet};
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
    /// Ends the search in this table.
    Throw,
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
    /// Whether its devices have no carrier: the kernel sends there all the same.
    pub(super) is_down: bool,
    /// Whether some of its devices have none, and others do.
    pub(super) is_partly_down: bool,
}

/// The routes of a machine.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Routing {
    routes: Vec<GuestRoute>,
    /// Rules that choose another table, for packets of IPv4.
    rules: Vec<RoutingRule>,
    /// Whether no rule leads to the main table.
    is_main_absent: bool,
}

/// A rule that chooses another table than the usual ones.
#[derive(Debug, Clone, PartialEq, Eq)]
struct RoutingRule {
    from: Option<IpNet>,
    to: Option<IpNet>,
    text: String,
}

/// What a machine does with a packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Choice<'a> {
    /// It sends it by one of these devices.
    Send(&'a [String]),
    /// It sends it by a device that has no carrier.
    Down(&'a GuestRoute),
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
        routing.add(text, false)?;
        Ok(routing)
    }

    /// Reads another table beside, that of the other family.
    ///
    /// # Errors
    /// Fails where the text is none.
    pub(super) fn add(&mut self, text: &str, six: bool) -> Result<(), String> {
        let text = text.trim();
        if text.starts_with('[') {
            let rows: Vec<Value> = serde_json::from_str(text).map_err(|error| error.to_string())?;
            for row in &rows {
                self.routes.extend(object(row, six)?);
            }
        } else {
            self.lines(text, six)?;
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
        let (mut has_main, mut has_rules) = (false, false);
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let (number, rest) = line.split_once(':').ok_or("it is no list of routing rules")?;
            number.trim().parse::<u32>().map_err(|_| "it is no list of routing rules".to_owned())?;
            let rest = rest.split_whitespace().collect::<Vec<_>>().join(" ");
            let words: Vec<&str> = rest.split_whitespace().collect();
            let is_main = matches!(words.as_slice(), ["from", "all", "lookup", "main" | "254"]);
            has_main |= is_main;
            has_rules = true;
            if is_main
                || matches!(words.as_slice(), ["from", "all", "lookup", "local" | "255" | "default" | "253"])
            {
                continue;
            }
            // `not` turns the meaning of what follows around.
            let plain = !words.contains(&"not");
            let net = |name| after(&words, name).filter(|_| plain).and_then(parse_prefix);
            self.rules.push(RoutingRule { from: net("from"), to: net("to"), text: line.trim().to_owned() });
        }
        self.is_main_absent = has_rules && !has_main;
        Ok(self)
    }

    /// Says why it is not certain where a packet goes.
    pub(super) fn doubt(&self, from: IpAddr, to: IpAddr) -> Option<String> {
        let fits = |net: Option<IpNet>, address| net.is_none_or(|net| net.contains(&address));
        let rule = self
            .rules
            .iter()
            .filter(|_| to.is_ipv4())
            .find(|rule| fits(rule.from, from) && fits(rule.to, to));
        let rule = rule.map(|rule| format!("the rule `{}` chooses another table", rule.text));
        rule.or_else(|| {
            let route = self.route(to).filter(|route| route.is_partly_down)?;
            Some(format!("one of the devices of the route to {} has no carrier", route.prefix))
        })
    }

    fn route(&self, to: IpAddr) -> Option<&GuestRoute> {
        self.routes.iter().find(|route| route.prefix.contains(&to))
    }

    fn lines(&mut self, text: &str, six: bool) -> Result<(), String> {
        // Next hops belong to the line before them, be it one that is passed over.
        let mut is_kept = false;
        for (number, line) in text.lines().enumerate() {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.as_slice() {
                [] => {}
                ["nexthop", ..] if !is_kept => {}
                ["nexthop", rest @ ..] => {
                    let Some(route) = self.routes.last_mut() else { continue };
                    let GuestRoute { action, is_down, is_partly_down, .. } = route;
                    if let (Some(device), Action::Send { devices }) = (after(rest, "dev"), action)
                        && !rest.contains(&"dead")
                    {
                        let down = rest.contains(&"linkdown");
                        *is_partly_down |= !devices.is_empty() && down != *is_down;
                        *is_down = down && (devices.is_empty() || *is_down);
                        devices.push(device.to_owned());
                    }
                }
                _ => {
                    let odd = || format!("line {} is no route", number + 1);
                    let route = line_route(&words, text, six).ok_or_else(odd)?;
                    is_kept = route.is_some();
                    self.routes.extend(route);
                }
            }
        }
        // What has no living next hop takes no packet.
        self.routes.retain(|route| !matches!(&route.action, Action::Send { devices } if devices.is_empty()));
        Ok(())
    }

    /// Says what the machine does with a packet for an address.
    #[must_use]
    pub(super) fn choose(&self, to: IpAddr) -> Choice<'_> {
        match self.route(to).filter(|_| !(self.is_main_absent && to.is_ipv4())) {
            None => Choice::Nothing,
            Some(route) => match &route.action {
                Action::Throw => Choice::Nothing,
                Action::Send { .. } if route.is_down => Choice::Down(route),
                Action::Send { devices } => Choice::Send(devices),
                Action::Refuse(word) => Choice::Refuse(route, word),
            },
        }
    }

    /// Returns it without the routes that throw packets for an address away.
    pub(super) fn without_refusals(&self, to: IpAddr) -> Self {
        let kept =
            |route: &&GuestRoute| !(route.prefix.contains(&to) && matches!(route.action, Action::Refuse(_)));
        Self { routes: self.routes.iter().filter(kept).cloned().collect(), ..self.clone() }
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
fn line_route(words: &[&str], text: &str, six: bool) -> Option<Option<GuestRoute>> {
    let (first, rest) = words.split_first()?;
    if matches!(*first, "local" | "broadcast" | "anycast" | "multicast" | "nat") {
        return prefix(rest.first()?, false).map(|_| None);
    }
    let metric = || after(words, "metric").and_then(|text| text.parse().ok()).unwrap_or(0);
    // What another table holds is reached by rules alone.
    let other = after(words, "table").is_some_and(|table| !matches!(table, "main" | "254"));
    // A route for another type of service, or whose only device is dead, takes no packet.
    let is_dead =
        words.contains(&"dead") || after(words, "tos").is_some_and(|tos| tos != "0" && tos != "0x00");
    let is_down = words.contains(&"linkdown");
    let six = six
        || after(words, "via").or_else(|| after(words, "src")).is_some_and(|address| address.contains(':'))
        || (text.contains("::/") && !text.contains('.'));
    let of = |to: &str, action: Action| {
        Some(GuestRoute {
            prefix: prefix(to, six)?,
            metric: metric(),
            action,
            is_down,
            is_partly_down: false,
        })
    };
    let route = match REFUSALS.iter().find(|word| *word == first) {
        Some(word) => of(rest.first()?, Action::Refuse(word))?,
        None if *first == "throw" => of(rest.first()?, Action::Throw)?,
        None => {
            let first = if *first == "unicast" { rest.first()? } else { first };
            let devices = after(words, "dev").map(str::to_owned).into_iter().collect();
            of(first, Action::Send { devices })?
        }
    };
    Some((!other && !is_dead).then_some(route))
}

fn object(row: &Value, six: bool) -> Result<Vec<GuestRoute>, String> {
    let text = |name: &str| row.get(name).and_then(Value::as_str);
    let odd = || "a row is no route".to_owned();
    let kind = text("type").unwrap_or("unicast");
    let to = text("dst").ok_or_else(odd)?;
    let other = text("table").is_some_and(|table| !matches!(table, "main" | "254"));
    if other || matches!(kind, "local" | "broadcast" | "anycast" | "multicast") {
        return Ok(Vec::new());
    }
    let six = six || text("gateway").or_else(|| text("prefsrc")).is_some_and(|address| address.contains(':'));
    let prefix = prefix(to, six).ok_or_else(odd)?;
    let metric = row.get("metric").and_then(Value::as_u64).and_then(|metric| u32::try_from(metric).ok());
    let metric = metric.unwrap_or(0);
    let has = |row: &Value, flag: &str| {
        let flags = row.get("flags").and_then(Value::as_array).into_iter().flatten();
        flags.filter_map(Value::as_str).any(|own| own == flag)
    };
    let tos = row.get("tos").is_some_and(|tos| !matches!(tos.as_str(), Some("0" | "0x00")) && tos != 0);
    if has(row, "dead") || tos {
        return Ok(Vec::new());
    }
    let (mut is_down, mut is_partly_down) = (has(row, "linkdown"), false);
    let action = match REFUSALS.iter().find(|word| **word == kind) {
        Some(word) => Action::Refuse(word),
        None if kind == "throw" => Action::Throw,
        None => {
            let hops: Vec<&Value> =
                row.get("nexthops").and_then(Value::as_array).into_iter().flatten().collect();
            let living: Vec<&Value> = hops.iter().copied().filter(|hop| !has(hop, "dead")).collect();
            if living.is_empty() && !hops.is_empty() {
                return Ok(Vec::new());
            }
            let downs = living.iter().filter(|hop| has(hop, "linkdown")).count();
            is_down |= downs > 0 && downs == living.len();
            is_partly_down = downs > 0 && downs < living.len();
            let living = living.into_iter().filter_map(|hop| hop.get("dev").and_then(Value::as_str));
            Action::Send { devices: text("dev").into_iter().chain(living).map(str::to_owned).collect() }
        }
    };
    Ok(vec![GuestRoute { prefix, metric, action, is_down, is_partly_down }])
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

/// What the links of a machine say of themselves.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Links {
    /// Devices that are off, or have no carrier.
    pub(super) down: BTreeSet<String>,
    /// The device that a device belongs to.
    pub(super) masters: BTreeMap<String, String>,
}

/// Reads what `ip addr`, `ip -br addr` or `ip -j addr` prints about the devices.
pub(super) fn links(text: &str) -> Links {
    let mut links = Links::default();
    let bare = |name: &str| name.trim_end_matches(':').split('@').next().unwrap_or(name).to_owned();
    let is_off = |word: &str| matches!(word, "DOWN" | "LOWERLAYERDOWN");
    if let Ok(rows) = serde_json::from_str::<Vec<Value>>(text) {
        for row in &rows {
            let Some(name) = row.get("ifname").and_then(Value::as_str) else { continue };
            let flags = row.get("flags").and_then(Value::as_array);
            let is_set = |flag: &str| flags.is_some_and(|flags| flags.iter().any(|own| own == flag));
            let state = row.get("operstate").and_then(Value::as_str).unwrap_or_default();
            if is_off(state)
                || is_set("NO-CARRIER")
                || (flags.is_some_and(|flags| !flags.is_empty()) && !is_set("UP"))
            {
                links.down.insert(name.to_owned());
            }
            if let Some(master) = row.get("master").and_then(Value::as_str) {
                links.masters.insert(name.to_owned(), master.to_owned());
            }
        }
        return links;
    }
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (name, down) = match words.as_slice() {
            [number, name, flags, rest @ ..] if number.trim_end_matches(':').parse::<u32>().is_ok() => {
                let flags: Vec<&str> = flags.trim_matches(['<', '>']).split(',').collect();
                let off = after(rest, "state").is_some_and(is_off);
                (bare(name), off || flags.contains(&"NO-CARRIER") || !flags.contains(&"UP"))
            }
            [name, state, ..] if is_off(state) => (bare(name), true),
            _ => continue,
        };
        if let Some(master) = after(&words, "master") {
            links.masters.insert(name.clone(), master.to_owned());
        }
        if down {
            links.down.insert(name);
        }
    }
    links
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
            Choice::Down(route) => format!("down {}", route.prefix),
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
        check(&routing, "172.17.0.2", "down 172.17.0.0/16");
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
    fn what_the_kernel_passes_over_is_passed_over() {
        let text = "default via 10.0.1.1 dev eth0\n10.0.2.0/24 dev eth1 dead linkdown\nthrow 10.0.3.0/24\n\
            10.0.4.0/24 tos 0x10 dev eth9\n10.0.5.0/24 proto static\n\tnexthop via 10.0.1.2 dev eth1 weight 1 dead linkdown\n\
            \tnexthop via 10.0.1.3 dev eth0 weight 1\n10.0.6.0/24 dev eth1 linkdown\n";
        let json = r#"[{"dst":"default","gateway":"10.0.1.1","dev":"eth0","flags":[]},
            {"dst":"10.0.2.0/24","dev":"eth1","flags":["dead","linkdown"]},{"type":"throw","dst":"10.0.3.0/24","flags":[]},
            {"dst":"10.0.4.0/24","tos":"0x10","dev":"eth9","flags":[]},
            {"dst":"10.0.5.0/24","flags":[],"nexthops":[{"dev":"eth1","flags":["dead","linkdown"]},{"dev":"eth0","flags":[]}]},
            {"dst":"10.0.6.0/24","dev":"eth1","flags":["linkdown"]}]"#;
        for text in [text, json] {
            let routing = Routing::read(text).unwrap();
            check(&routing, "10.0.2.9", "eth0");
            check(&routing, "10.0.3.9", "nothing");
            check(&routing, "10.0.4.9", "eth0");
            check(&routing, "10.0.5.9", "eth0");
            check(&routing, "10.0.6.9", "down 10.0.6.0/24");
        }
        let without = Routing::read(text)
            .unwrap()
            .with_rules("0:\tfrom all lookup local\n32767:\tfrom all lookup default\n");
        check(&without.unwrap(), "8.8.8.8", "nothing");
    }

    #[test]
    fn a_default_of_the_other_family_is_none_of_this_one() {
        let mut routing = Routing::read("10.0.1.0/24 dev eth0\n").unwrap();
        routing.add("default dev tun0 metric 1024\n", true).unwrap();
        check(&routing, "8.8.8.8", "nothing");
        check(&routing, "2001:db8::1", "tun0");
        let mut routing = Routing::read("[]").unwrap();
        routing.add(r#"[{"dst":"default","nexthops":[{"dev":"eth0"}],"flags":[]}]"#, true).unwrap();
        check(&routing, "8.8.8.8", "nothing");
    }

    #[test]
    fn links_that_are_off_and_their_masters_are_read_in_every_form() {
        let json = r#"[{"ifname":"eth0","flags":["BROADCAST","UP"],"operstate":"UP"},{"ifname":"eth1","flags":["BROADCAST"],
            "operstate":"DOWN"},{"ifname":"eth2","flags":["UP"],"operstate":"UP","master":"blue"}]"#;
        let text = "2: eth0: <BROADCAST,UP> mtu 1500 state UP\n3: eth1@if4: <BROADCAST> mtu 1500 state DOWN\n\
            4: eth2: <BROADCAST,UP> mtu 1500 master blue state UP\n";
        for text in [json, text] {
            let links = links(text);
            assert_eq!(links.down.iter().collect::<Vec<_>>(), ["eth1"], "{text}");
            assert_eq!(links.masters["eth2"], "blue");
        }
        assert!(links("eth1 DOWN 10.0.1.4/24\neth0 UP 10.0.1.5/24\n").down.contains("eth1"));
    }

    #[test]
    fn rules_of_somebodys_own_leave_a_doubt() {
        let usual =
            "0:\tfrom all lookup local\n32766:\tfrom all lookup main\n32767:\tfrom all lookup default\n";
        let read = |text: &str| Routing::read(TEXT).unwrap().with_rules(text).unwrap();
        let doubt = |text: &str, from: &str| {
            read(text).doubt(from.parse().unwrap(), "10.9.1.1".parse().unwrap()).is_some()
        };
        assert!(!doubt(usual, "10.0.1.4"));
        let own = format!("{usual}100: from 10.0.1.4 lookup 100\n");
        assert!(doubt(&own, "10.0.1.4") && !doubt(&own, "10.0.1.5"));
        assert!(doubt(&format!("{usual}100: not from 10.0.1.4 lookup 100\n"), "10.0.1.5"));
        assert!(doubt(&format!("{usual}100: from all fwmark 0x1 lookup 100\n"), "10.0.1.5"));
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
