//! Changes of an estate, applied to the documents that were read of it.

use std::fmt;
use std::net::IpAddr;

use ipnet::IpNet;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::bundle::Bundle;
use super::document::Reading;
use super::estate::Estate;
use super::flow::{Flow, Protocol};
use super::hop::Side;
use crate::netfilter::{self, Format, Rule, Ruleset};
use crate::nsg::Direction;

/// One change, as small as it can be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// Deletes a rule of a security group.
    DeleteSecurityRule {
        /// The group.
        group: String,
        /// The rule.
        rule: String,
    },
    /// Adds an Allow for one flow to a security group, before the rule that denies it.
    AllowInGroup {
        /// The group.
        group: String,
        /// The rule that denies, which stays.
        before: String,
        /// What the new rule is called.
        name: String,
        /// A number that is free in that direction.
        priority: u32,
        /// The direction.
        direction: Direction,
        /// What is let in.
        admitted: Admitted,
    },
    /// Deletes a route of a route table.
    DeleteRoute {
        /// The table.
        table: String,
        /// The route.
        route: String,
    },
    /// Adds a route for one address to a route table, before a route that leads it away.
    AddRoute {
        /// The table.
        table: String,
        /// What the new route is called.
        name: String,
        /// Where it leads.
        to: IpAddr,
        /// `VnetLocal` or `Internet`.
        hop: &'static str,
    },
    /// Lets an interface forward what is not for it.
    ForwardAtInterface {
        /// The network interface.
        nic: String,
    },
    /// Lets in, over a peering, what others forward.
    LetForwardedIn {
        /// The network that has the peering.
        network: String,
        /// The peering.
        peering: String,
    },
    /// Deletes a rule of a guest.
    DeleteGuestRule(GuestRule),
    /// Adds a rule for one flow to a guest.
    AcceptInGuest {
        /// The machine.
        machine: String,
        /// The table.
        table: String,
        /// The chain.
        chain: String,
        /// The rule before which it goes; at the end where there is none.
        before: Option<GuestRule>,
        /// What is let in.
        admitted: Admitted,
    },
    /// Lifts the ban of one address.
    Unban {
        /// The machine.
        machine: String,
        /// The jail's chain or set.
        chain: String,
        /// Who is banned.
        ip: IpAddr,
    },
    /// Takes what shapes a device off.
    RemoveShaping {
        /// The machine.
        machine: String,
        /// The device.
        device: String,
    },
}

/// A rule of a guest, as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GuestRule {
    /// The machine.
    pub machine: String,
    /// The table; a native one of nft is `family:table`.
    pub table: String,
    /// The chain.
    pub chain: String,
    /// Its place in the chain, from 1.
    pub position: usize,
    /// The number that nft gave it.
    pub handle: Option<u64>,
    /// The rule in one line.
    pub raw: String,
    /// Whether it judges IPv6 alone.
    pub is_six: bool,
}

/// What a rule lets through, and nothing else: the packets of one flow, or their answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Admitted {
    /// The protocol.
    pub protocol: Protocol,
    /// Who sends.
    pub src: AdmittedEnd,
    /// To whom.
    pub dst: AdmittedEnd,
    /// The port that is called; ICMP has none.
    pub port: Option<u16>,
    /// Whether they are the answers.
    pub side: Side,
}

/// An end of what is let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdmittedEnd {
    /// One address.
    Address(IpAddr),
    /// A subnet of a service of the platform, whose instances have any of its addresses.
    Subnet(IpNet),
}

impl AdmittedEnd {
    /// Tells whether it is of IPv6.
    #[must_use]
    pub const fn is_ipv6(&self) -> bool {
        match self {
            Self::Address(address) => address.is_ipv6(),
            Self::Subnet(IpNet::V4(_)) => false,
            Self::Subnet(IpNet::V6(_)) => true,
        }
    }

    /// Writes it with the length of its prefix.
    fn prefix(&self) -> String {
        match self {
            Self::Address(address) => IpNet::from(*address).to_string(),
            Self::Subnet(prefix) => prefix.to_string(),
        }
    }

    /// Returns it as `nft -j` prints it.
    fn nft(&self) -> Value {
        match self {
            Self::Address(address) => json!(address.to_string()),
            Self::Subnet(prefix) => {
                json!({"prefix": {"addr": prefix.addr().to_string(), "len": prefix.prefix_len()}})
            }
        }
    }
}

impl Serialize for AdmittedEnd {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl fmt::Display for AdmittedEnd {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => address.fmt(out),
            Self::Subnet(prefix) => prefix.fmt(out),
        }
    }
}

impl Admitted {
    /// Describes the packets of a flow in one direction.
    pub(super) fn of(flow: &Flow, dst: IpAddr, side: Side, estate: &Estate) -> Self {
        let subnet = estate.bastion_at(flow.src).map(|(_, subnet)| AdmittedEnd::Subnet(subnet));
        let (caller, called) = (subnet.unwrap_or(AdmittedEnd::Address(flow.src)), AdmittedEnd::Address(dst));
        let (src, dst) = match side {
            Side::Forward => (caller, called),
            Side::Return => (called, caller),
        };
        Self { protocol: flow.protocol, src, dst, port: flow.dst_port, side }
    }

    /// Writes the conditions and the target as `iptables` takes them.
    #[must_use]
    pub fn iptables_words(&self) -> String {
        let ends = format!("-s {} -d {}", self.src.prefix(), self.dst.prefix());
        let is_answer = self.side == Side::Return;
        let what = match (self.protocol, self.src.is_ipv6()) {
            (Protocol::Icmp, false) => {
                format!("-p icmp -m icmp --icmp-type {}", if is_answer { 0 } else { 8 })
            }
            (Protocol::Icmp, true) => {
                format!("-p ipv6-icmp -m icmp6 --icmpv6-type {}", if is_answer { 129 } else { 128 })
            }
            (Protocol::Tcp | Protocol::Udp, _) => {
                let option = if is_answer { "--sport" } else { "--dport" };
                let port = self.port.map(|port| format!(" {option} {port}")).unwrap_or_default();
                format!("-p {protocol} -m {protocol}{port}", protocol = self.protocol)
            }
        };
        let state = if is_answer { " -m conntrack --ctstate ESTABLISHED" } else { "" };
        format!("{ends} {what}{state} -j ACCEPT")
    }

    /// Writes the conditions and the verdict as `nft` takes them.
    #[must_use]
    pub fn nft_words(&self) -> String {
        let family = if self.src.is_ipv6() { "ip6" } else { "ip" };
        let is_answer = self.side == Side::Return;
        let what = match self.protocol {
            Protocol::Icmp => {
                let protocol = if self.src.is_ipv6() { "icmpv6" } else { "icmp" };
                format!("{protocol} type {}", if is_answer { "echo-reply" } else { "echo-request" })
            }
            Protocol::Tcp | Protocol::Udp => {
                let field = if is_answer { "sport" } else { "dport" };
                format!("{} {field} {}", self.protocol, self.port.unwrap_or_default())
            }
        };
        let state = if is_answer { " ct state established" } else { "" };
        format!("{family} saddr {} {family} daddr {} {what}{state} accept", self.src, self.dst)
    }

    /// Returns the same as `nft -j` prints it.
    fn nft_expressions(&self) -> Value {
        let family = if self.src.is_ipv6() { "ip6" } else { "ip" };
        let is_answer = self.side == Side::Return;
        let payload = |protocol: &str, field: &str, right: Value| json!({"match": {"op": "==", "left": {"payload": {"protocol": protocol, "field": field}}, "right": right}});
        let mut all =
            vec![payload(family, "saddr", self.src.nft()), payload(family, "daddr", self.dst.nft())];
        all.push(match self.protocol {
            Protocol::Icmp => {
                let protocol = if self.src.is_ipv6() { "icmpv6" } else { "icmp" };
                payload(protocol, "type", json!(if is_answer { "echo-reply" } else { "echo-request" }))
            }
            Protocol::Tcp | Protocol::Udp => {
                payload(self.protocol.as_str(), if is_answer { "sport" } else { "dport" }, json!(self.port))
            }
        });
        if is_answer {
            all.push(
                json!({"match": {"op": "in", "left": {"ct": {"key": "state"}}, "right": "established"}}),
            );
        }
        all.push(json!({"accept": null}));
        Value::Array(all)
    }
}

impl Change {
    /// Returns the documents as they would be read after the change; nothing where they do not show what is changed.
    #[must_use]
    pub fn apply(&self, bundle: &Bundle, estate: &Estate) -> Option<Bundle> {
        let mut changed = bundle.clone();
        let touched = match self {
            Self::DeleteSecurityRule { group, rule } => {
                edit_groups(&mut changed, group, &mut |rules, _| delete_named(rules, rule))
            }
            Self::AllowInGroup { group, name, priority, direction, admitted, .. } => {
                edit_groups(&mut changed, group, &mut |rules, is_effective| {
                    rules.push(security_rule(name, *priority, *direction, admitted, is_effective));
                    true
                })
            }
            Self::DeleteRoute { table, route } => delete_route(&mut changed, estate, table, route),
            Self::AddRoute { table, name, to, hop } => {
                add_route(&mut changed, estate, table, (name, *to, hop))
            }
            Self::ForwardAtInterface { nic } => edit(&mut changed.cloud.interfaces, &mut |map| {
                let is = map.get("name").and_then(Value::as_str).is_some_and(|own| own == nic);
                let own = if map.contains_key("enableIPForwarding") { Some(map) } else { inner_map(map) };
                let Some(own) = own.filter(|own| is && own.contains_key("enableIPForwarding")) else {
                    return false;
                };
                own.insert("enableIPForwarding".to_owned(), Value::Bool(true));
                true
            }),
            Self::LetForwardedIn { network, peering } => edit(&mut changed.cloud.networks, &mut |map| {
                let is = map.get("name").and_then(Value::as_str) == Some(network);
                let peerings = list(map, "virtualNetworkPeerings").filter(|_| is);
                let own = peerings.into_iter().flatten().find(|row| named(row) == Some(peering));
                let Some(own) = own.and_then(Value::as_object_mut) else { return false };
                let body = if own.contains_key("properties") { inner_map(own) } else { Some(own) };
                body.is_some_and(|body| {
                    body.insert("allowForwardedTraffic".to_owned(), Value::Bool(true));
                    true
                })
            }),
            Self::DeleteGuestRule(rule) => {
                edit_filters(&mut changed, &rule.machine, rule.is_six, &mut |ruleset| {
                    delete_rule(ruleset, rule)
                })
            }
            Self::AcceptInGuest { machine, table, chain, before, admitted } => {
                edit_filters(&mut changed, machine, admitted.src.is_ipv6(), &mut |ruleset| {
                    accept(ruleset, (table, chain), before.as_ref(), admitted)
                })
            }
            Self::Unban { machine, chain, ip } => unban(&mut changed, machine, chain, *ip),
            Self::RemoveShaping { machine, device } => remove_shaping(&mut changed, machine, device),
        };
        touched.then_some(changed)
    }
}

/// Visits every object of a document; tells whether one of the visits changed something.
fn visit(value: &mut Value, change: &mut dyn FnMut(&mut Map<String, Value>) -> bool) -> bool {
    match value {
        Value::Array(list) => list.iter_mut().fold(false, |touched, one| visit(one, change) | touched),
        Value::Object(map) => {
            let own = change(map);
            map.values_mut().fold(own, |touched, one| visit(one, change) | touched)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn edit(reading: &mut Option<Reading>, change: &mut dyn FnMut(&mut Map<String, Value>) -> bool) -> bool {
    let Some(Reading::Text(text)) = reading else { return false };
    let Ok(mut document) = serde_json::from_str::<Value>(text) else { return false };
    let touched = visit(&mut document, change);
    if touched {
        *text = document.to_string();
    }
    touched
}

fn inner_map(map: &mut Map<String, Value>) -> Option<&mut Map<String, Value>> {
    map.get_mut("properties").and_then(Value::as_object_mut)
}

/// Returns a list of an object or of its properties.
fn list<'a>(map: &'a mut Map<String, Value>, name: &str) -> Option<&'a mut Vec<Value>> {
    if map.contains_key(name) {
        return map.get_mut(name).and_then(Value::as_array_mut);
    }
    inner_map(map)?.get_mut(name).and_then(Value::as_array_mut)
}

fn named(row: &Value) -> Option<&str> {
    row.get("name").and_then(Value::as_str).and_then(|name| name.rsplit('/').next())
}

fn delete_named(rows: &mut Vec<Value>, name: &str) -> bool {
    let before = rows.len();
    rows.retain(|row| named(row) != Some(name));
    rows.len() < before
}

/// Edits the rules of a group wherever they stand: as they are configured, and as they are in effect at each interface.
fn edit_groups(
    bundle: &mut Bundle,
    group: &str,
    change: &mut dyn FnMut(&mut Vec<Value>, bool) -> bool,
) -> bool {
    let is = |name: Option<&str>| name.is_some_and(|name| name.eq_ignore_ascii_case(group));
    let mut touched = edit(&mut bundle.cloud.groups, &mut |map| {
        let own = is(map.get("name").and_then(Value::as_str));
        list(map, "securityRules").filter(|_| own).is_some_and(|rules| change(rules, false))
    });
    for nic in bundle.nics.values_mut() {
        touched |= edit(&mut nic.rules, &mut |map| {
            let id = map.get("networkSecurityGroup").and_then(|own| own.get("id").or(Some(own)));
            let own = is(id.and_then(Value::as_str).and_then(|id| id.rsplit('/').next()));
            list(map, "effectiveSecurityRules").filter(|_| own).is_some_and(|rules| change(rules, true))
        });
    }
    touched
}

fn security_rule(
    name: &str,
    priority: u32,
    direction: Direction,
    admitted: &Admitted,
    is_effective: bool,
) -> Value {
    let protocol = match admitted.protocol {
        Protocol::Tcp => "Tcp",
        Protocol::Udp => "Udp",
        Protocol::Icmp => "Icmp",
    };
    let direction = match direction {
        Direction::Inbound => "Inbound",
        Direction::Outbound => "Outbound",
    };
    let port = admitted.port.map_or_else(|| "*".to_owned(), |port| port.to_string());
    let body = json!({
        "priority": priority, "direction": direction, "access": "Allow", "protocol": protocol,
        "sourceAddressPrefix": admitted.src.to_string(), "destinationAddressPrefix": admitted.dst.to_string(),
        "sourcePortRange": "*", "destinationPortRange": port,
    });
    let Value::Object(mut map) = body else { return Value::Null };
    if is_effective {
        map.insert("name".to_owned(), json!(format!("securityRules/{name}")));
        return Value::Object(map);
    }
    json!({"name": name, "properties": map})
}

/// Returns the network interfaces to whose subnet a route table belongs.
fn nics_of(estate: &Estate, table: &str) -> Vec<String> {
    let own =
        |nic: &&super::estate::Nic| nic.table.as_deref().is_some_and(|own| own.eq_ignore_ascii_case(table));
    estate.nics.iter().filter(own).map(|nic| nic.name.clone()).collect()
}

fn prefixes(map: &Map<String, Value>) -> Vec<String> {
    match map.get("addressPrefix") {
        Some(Value::String(one)) => vec![one.clone()],
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Some(_) | None => Vec::new(),
    }
}

fn is_users(map: &Map<String, Value>) -> bool {
    map.get("source").and_then(Value::as_str).is_some_and(|source| source.eq_ignore_ascii_case("user"))
}

fn delete_route(bundle: &mut Bundle, estate: &Estate, table: &str, route: &str) -> bool {
    let mut touched = edit_tables(bundle, table, &mut |routes| delete_named(routes, route));
    for nic in nics_of(estate, table) {
        let names =
            estate.nics.iter().find(|own| own.name == nic).map(|own| own.names.clone()).unwrap_or_default();
        let known: Vec<String> =
            names.iter().filter(|(_, name)| name == route).map(|(prefix, _)| prefix.to_string()).collect();
        let Some(readings) = bundle.nics.get_mut(&nic) else { continue };
        let mut freed: Vec<String> = Vec::new();
        let is = |row: &Value| {
            let Some(map) = row.as_object().filter(|map| is_users(map)) else { return false };
            let own = map.get("name").and_then(Value::as_str).filter(|name| !name.is_empty());
            match own {
                Some(name) => name == route,
                None => prefixes(map).iter().any(|prefix| known.contains(prefix) || prefix == route),
            }
        };
        let mut delete = |rows: &mut Vec<Value>| {
            let before = rows.len();
            freed.extend(rows.iter().filter(|row| is(row)).filter_map(Value::as_object).flat_map(prefixes));
            rows.retain(|row| !is(row));
            rows.len() < before
        };
        let gone = edit_rows(&mut readings.routes, &mut delete);
        // What the user's route replaced is in effect again.
        if gone {
            edit(&mut readings.routes, &mut |map| {
                let is_back = !is_users(map) && prefixes(map).iter().any(|prefix| freed.contains(prefix));
                if is_back {
                    map.insert("state".to_owned(), json!("Active"));
                }
                is_back
            });
        }
        touched |= gone;
    }
    touched
}

fn add_route(bundle: &mut Bundle, estate: &Estate, table: &str, route: (&str, IpAddr, &str)) -> bool {
    let (name, to, hop) = route;
    let prefix = format!("{to}/{}", if to.is_ipv6() { 128 } else { 32 });
    let body = json!({"addressPrefix": prefix, "nextHopType": hop});
    let mut touched = edit_tables(bundle, table, &mut |routes| {
        routes.push(json!({"name": name, "properties": body}));
        true
    });
    for nic in nics_of(estate, table) {
        let Some(readings) = bundle.nics.get_mut(&nic) else { continue };
        touched |= edit_rows(&mut readings.routes, &mut |rows| {
            rows.push(json!({
                "name": name, "addressPrefix": [prefix], "nextHopType": hop, "nextHopIpAddress": [],
                "source": "User", "state": "Active",
            }));
            true
        });
    }
    touched
}

fn edit_tables(bundle: &mut Bundle, table: &str, change: &mut dyn FnMut(&mut Vec<Value>) -> bool) -> bool {
    edit(&mut bundle.cloud.route_tables, &mut |map| {
        let own = map.get("name").and_then(Value::as_str).is_some_and(|own| own.eq_ignore_ascii_case(table));
        list(map, "routes").filter(|_| own).is_some_and(&mut *change)
    })
}

/// Edits the rows of an effective route table.
fn edit_rows(reading: &mut Option<Reading>, change: &mut dyn FnMut(&mut Vec<Value>) -> bool) -> bool {
    let Some(Reading::Text(text)) = reading else { return false };
    let Ok(mut document) = serde_json::from_str::<Value>(text) else { return false };
    let rows = match &mut document {
        Value::Array(rows) => Some(rows),
        Value::Object(map) => map.get_mut("value").and_then(Value::as_array_mut),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    };
    let touched = rows.is_some_and(change);
    if touched {
        *text = document.to_string();
    }
    touched
}

/// Edits the packet filter of a machine, in every source that shows it.
fn edit_filters(
    bundle: &mut Bundle,
    machine: &str,
    is_six: bool,
    change: &mut dyn FnMut(&mut Ruleset) -> bool,
) -> bool {
    let Some(guest) = bundle.guests.iter_mut().find(|(name, _)| name.eq_ignore_ascii_case(machine)) else {
        return false;
    };
    let mut touched = false;
    for (source, reading) in &mut guest.1.filters {
        let is_native = source.starts_with("nft");
        let is_of_tables =
            source.starts_with("iptables") && !is_six || source.starts_with("ip6tables") && is_six;
        let Reading::Text(text) = reading else { continue };
        if !is_native && !is_of_tables {
            continue;
        }
        let Ok(mut ruleset) = netfilter::read(text).and_then(Ruleset::whole) else { continue };
        if change(&mut ruleset) {
            // What a tool says in comments of the other backend is read, too.
            let comments: String = match ruleset.format {
                Format::Save => text
                    .lines()
                    .filter(|line| line.starts_with('#'))
                    .map(|line| format!("{line}\n"))
                    .collect(),
                Format::Nft => String::new(),
            };
            *text = comments + &netfilter::print(&ruleset);
            touched = true;
        }
    }
    touched
}

/// Returns the rules of a chain; a native table is `inet filter` in a document, and `inet:filter` in a name.
fn rules_of<'a>(ruleset: &'a mut Ruleset, table: &str, chain: &str) -> Option<&'a mut Vec<Rule>> {
    let table = ruleset.tables.iter_mut().find(|own| own.name.replacen(' ', ":", 1) == table)?;
    table.chains.iter_mut().find(|own| own.name == chain).map(|own| &mut own.rules)
}

fn delete_rule(ruleset: &mut Ruleset, rule: &GuestRule) -> bool {
    let Some(rules) = rules_of(ruleset, &rule.table, &rule.chain) else { return false };
    let before = rules.len();
    rules.retain(|own| own.raw != rule.raw || own.handle != rule.handle);
    rules.len() < before
}

fn accept(
    ruleset: &mut Ruleset,
    (table, chain): (&str, &str),
    before: Option<&GuestRule>,
    admitted: &Admitted,
) -> bool {
    let text = match ruleset.format {
        Format::Save => {
            let words = admitted.iptables_words();
            format!("*{table}\n:{chain} - [0:0]\n-A {chain} {words}\nCOMMIT\n")
        }
        Format::Nft => {
            let Some((family, name)) = table.split_once(':') else { return false };
            let place = json!({"family": family, "table": name, "name": chain, "handle": 1});
            let rule = json!({"family": family, "table": name, "chain": chain, "handle": 2, "expr": admitted.nft_expressions()});
            json!({"nftables": [{"table": {"family": family, "name": name, "handle": 1}}, {"chain": place}, {"rule": rule}]})
                .to_string()
        }
    };
    let Ok(mut parsed) = netfilter::read(&text) else { return false };
    let Some(rule) = rules_of(&mut parsed, table, chain).and_then(Vec::pop) else { return false };
    let Some(rules) = rules_of(ruleset, table, chain) else { return false };
    let at = match before {
        Some(before) => match rules.iter().position(|own| own.raw == before.raw) {
            Some(at) => at,
            None => return false,
        },
        None => rules.len(),
    };
    rules.insert(at, rule);
    true
}

fn unban(bundle: &mut Bundle, machine: &str, chain: &str, ip: IpAddr) -> bool {
    let bare = ip.to_string();
    let host = format!("{bare}/{}", if ip.is_ipv6() { 128 } else { 32 });
    let is = |word: &str| {
        let word =
            word.trim_matches(|char: char| !char.is_ascii_alphanumeric() && char != ':' && char != '.');
        word == bare || word == host
    };
    let mut touched = edit_filters(bundle, machine, ip.is_ipv6(), &mut |ruleset| {
        let mut gone = 0;
        for table in &mut ruleset.tables {
            for own in table.chains.iter_mut().filter(|own| own.name == chain) {
                let before = own.rules.len();
                own.rules.retain(|rule| !rule.raw.split_whitespace().any(is));
                gone += before - own.rules.len();
            }
            for set in table.sets.iter_mut().filter(|set| set.name == chain) {
                let before = set.elements.len();
                set.elements.retain(|element| !element.to_string().split(['"', ',']).any(is));
                gone += before - set.elements.len();
            }
        }
        gone > 0
    });
    let guest = bundle.guests.iter_mut().find(|(name, _)| name.eq_ignore_ascii_case(machine));
    if let Some(Reading::Text(text)) = guest.and_then(|(_, guest)| guest.filters.get_mut("ipset")) {
        let is_ban = |line: &&str| {
            let mut words = line.split_whitespace();
            words.next() == Some("add") && words.next() == Some(chain) && words.next().is_some_and(is)
        };
        touched |= text.lines().any(|line| is_ban(&line));
        *text = text.lines().filter(|line| !is_ban(line)).map(|line| format!("{line}\n")).collect();
    }
    touched
}

/// Takes out what is printed of a device: its disciplines, classes and filters, each with the lines that belong to it, as text or JSON.
fn remove_shaping(bundle: &mut Bundle, machine: &str, device: &str) -> bool {
    let guest = bundle.guests.iter_mut().find(|(name, _)| name.eq_ignore_ascii_case(machine));
    let Some(Reading::Text(text)) = guest.and_then(|(_, guest)| guest.shaping.as_mut()) else { return false };
    let left = without_device(text, device).unwrap_or_else(|| lines_without_device(text, device));
    let (mut kept, touched) = left;
    if touched {
        // The kernel puts its own default in place of it.
        kept.push_str(&format!("\nqdisc fq_codel 0: dev {device} root refcnt 2\n"));
        *text = kept;
    }
    touched
}

/// Returns a text of `tc` without what belongs to a device, and whether there was anything.
fn lines_without_device(text: &str, device: &str) -> (String, bool) {
    let (mut kept, mut is_kept, mut touched) = (Vec::new(), true, false);
    for line in text.lines() {
        if let Some((rows, is_less)) = without_device(line, device) {
            touched |= is_less;
            kept.push(rows);
            continue;
        }
        if !line.starts_with([' ', '\t']) {
            let words: Vec<&str> = line.split_whitespace().collect();
            is_kept = !words.windows(2).any(|pair| pair == ["dev", device]);
            touched |= !is_kept;
        }
        if is_kept {
            kept.push(line.to_owned());
        }
    }
    (kept.join("\n"), touched)
}

/// Returns a JSON list without the rows of a device, and whether there were any; nothing where it is no such list.
fn without_device(text: &str, device: &str) -> Option<(String, bool)> {
    let mut rows: Vec<Value> = serde_json::from_str(text).ok()?;
    let before = rows.len();
    rows.retain(|row| row.get("dev").and_then(Value::as_str) != Some(device));
    let is_less = rows.len() < before;
    Some((Value::Array(rows).to_string(), is_less))
}
