//! How a rule of a guest is named, and whether it demands anything at all.

use super::fault::{Cause, Fault, Object};
use super::flow::Wire;
use crate::netfilter::{Body, Json, Part, Rule, Verdict};

/// A place that decides: a rule, or the policy of a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    /// The table as it is printed.
    pub(super) table: String,
    pub(super) chain: String,
    /// The rule's place; absent for the policy.
    pub(super) position: Option<usize>,
}

/// Who made a chain, where that decides how its rules are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Maker {
    Jail,
    Container,
    Somebody,
}

const JAILS: [&str; 3] = ["f2b-", "fail2ban-", "addr-set-f2b"];
const CONTAINERS: [&str; 15] = [
    "DOCKER",
    "KUBE-",
    "CNI-",
    "NETAVARK",
    "PODMAN",
    "FLANNEL-",
    "WEAVE",
    "LIBVIRT_",
    "cali-",
    "cali:",
    "cali_",
    "CILIUM_",
    "OLD_CILIUM_",
    "ISTIO_",
    "ANTREA-",
];

fn maker(table: &str, chain: &str) -> Maker {
    let starts = |names: &[&str]| names.iter().any(|name| chain.starts_with(name));
    if starts(&JAILS) || table.contains("f2b-table") {
        Maker::Jail
    } else if starts(&CONTAINERS) {
        Maker::Container
    } else {
        Maker::Somebody
    }
}

/// Names what decided over a packet.
pub(super) fn cause(
    machine: &str,
    target: &Target,
    rule: Option<&Rule>,
    wire: &Wire,
    verdict: Verdict,
) -> Cause {
    // A native table is `inet filter` in the document, and `inet:filter` in an object.
    let (machine, chain) = (machine.to_owned(), target.chain.clone());
    let table = target.table.replacen(' ', ":", 1);
    let Some(rule) = rule else {
        return Cause::new(Fault::GuestFirewallPolicyDrop, Object::GuestChain { machine, table, chain });
    };
    let about = About::of(rule, wire);
    let made = maker(&target.table, &target.chain);
    if made == Maker::Jail || about.asks_jail {
        let ip = about.banned.unwrap_or_else(|| wire.src.to_string());
        return Cause::new(
            Fault::Fail2banBan,
            Object::Ban { machine, chain: about.jail.unwrap_or(chain), ip },
        );
    }
    if made == Maker::Container {
        return Cause::new(Fault::ContainerFirewallChange, Object::GuestChain { machine, table, chain });
    }
    let fault = match verdict {
        Verdict::Reject => Fault::GuestFirewallReject,
        Verdict::Drop | Verdict::Accept | Verdict::Indeterminate => Fault::GuestFirewallDrop,
    };
    let (protocol, port) = (about.protocol, about.port);
    Cause::new(fault, Object::GuestRule { machine, table, chain, protocol, port })
}

/// What a rule says about packets, as far as its name goes.
struct About {
    protocol: String,
    port: String,
    banned: Option<String>,
    /// It asks a set that a jail fills; the set's name stands for the jail's where the chain is nobody's.
    asks_jail: bool,
    jail: Option<String>,
}

impl About {
    fn of(rule: &Rule, wire: &Wire) -> Self {
        match &rule.body {
            Body::Save(parts) => Self::save(parts, wire),
            Body::Nft(expressions) => Self::nft(expressions, wire),
        }
    }

    fn save(parts: &[Part], wire: &Wire) -> Self {
        let value = |names: &[&str]| {
            let own = parts.iter().find(|part| names.contains(&part.name.as_str()) && !part.negated);
            own.and_then(|part| part.values.first()).map(|text| text.as_str())
        };
        let ports = |names: &[&str], own: Option<u16>| value(names).map(|list| among(list, own));
        let port = ports(&["--dport", "--dports", "--destination-port", "--destination-ports"], wire.dport)
            .or_else(|| ports(&["--sport", "--sports", "--source-port", "--source-ports"], wire.sport))
            .or_else(|| ports(&["--ports"], wire.dport));
        let set = value(&["--match-set"]);
        let jail = set.filter(|set| JAILS.iter().any(|start| set.starts_with(start)));
        Self {
            protocol: value(&["-p"]).map_or_else(|| "any".to_owned(), protocol),
            port: port.unwrap_or_else(|| "any".to_owned()),
            banned: value(&["-s"]).or_else(|| value(&["-d"])).map(bare),
            asks_jail: jail.is_some(),
            jail: jail.map(str::to_owned),
        }
    }

    fn nft(expressions: &[Json], wire: &Wire) -> Self {
        let mut about = Self {
            protocol: "any".to_owned(),
            port: "any".to_owned(),
            banned: None,
            asks_jail: false,
            jail: None,
        };
        let mut source_port = None;
        for body in expressions.iter().filter_map(|expression| expression.get("match")) {
            let (Some(left), Some(right)) = (body.get("left"), body.get("right")) else { continue };
            if body.get("op").and_then(Json::as_str).is_some_and(|op| op == "!=") {
                continue;
            }
            let text = |value: &Json, name: &str| value.get(name).and_then(Json::as_str).map(str::to_owned);
            if let Some(payload) = left.get("payload") {
                let (of, field) = (text(payload, "protocol"), text(payload, "field"));
                match (of.as_deref(), field.as_deref()) {
                    (Some(of @ ("tcp" | "udp" | "th" | "sctp")), Some("dport")) => {
                        if of != "th" {
                            about.protocol = of.to_owned();
                        }
                        about.port = number(right, wire.dport);
                    }
                    (Some(of @ ("tcp" | "udp" | "th" | "sctp")), Some("sport")) => {
                        if of != "th" {
                            about.protocol = of.to_owned();
                        }
                        source_port = Some(number(right, wire.sport));
                    }
                    (Some(of @ ("icmp" | "icmpv6")), _) => about.protocol = of.to_owned(),
                    (Some("ip" | "ip6"), Some("protocol" | "nexthdr")) => about.protocol = word(right),
                    (Some("ip" | "ip6"), Some("saddr")) => about.named(right),
                    _ => {}
                }
            } else if left.get("meta").and_then(|meta| text(meta, "key")).as_deref() == Some("l4proto") {
                about.protocol = word(right);
            }
        }
        if about.port == "any" {
            about.port = source_port.unwrap_or(about.port);
        }
        about
    }

    fn named(&mut self, right: &Json) {
        match right.as_str() {
            Some(set) if set.starts_with('@') => {
                let set = set.trim_start_matches('@');
                let jail = JAILS.iter().any(|start| set.starts_with(start)) || set.starts_with("addr-set-");
                self.asks_jail = jail;
                self.jail = jail.then(|| set.to_owned());
            }
            Some(address) => self.banned = Some(bare(address)),
            None => {}
        }
    }
}

fn word(value: &Json) -> String {
    let text = value.as_str().map(protocol);
    let number = value.as_u64().map(|number| protocol(&number.to_string()));
    text.or(number).unwrap_or_else(|| "any".to_owned())
}

fn protocol(text: &str) -> String {
    match text {
        "6" => "tcp",
        "17" => "udp",
        "1" => "icmp",
        "58" | "ipv6-icmp" => "icmpv6",
        "0" | "all" => "any",
        other => other,
    }
    .to_owned()
}

fn bare(text: &str) -> String {
    ["/32", "/128"].iter().find_map(|end| text.strip_suffix(end)).unwrap_or(text).to_owned()
}

/// Returns the one of a list of ports and ranges that a packet is about.
fn among(list: &str, own: Option<u16>) -> String {
    let range = |one: &str| {
        let (first, last) = one.split_once(':').unwrap_or((one, one));
        let first = if first.is_empty() { Some(0) } else { first.parse::<u16>().ok() };
        let last = if last.is_empty() { Some(u16::MAX) } else { last.parse::<u16>().ok() };
        first.zip(last)
    };
    let holds =
        |one: &&str| range(one).zip(own).is_some_and(|((first, last), own)| (first..=last).contains(&own));
    let chosen = list.split(',').find(holds).or_else(|| list.split(',').next()).unwrap_or(list);
    match range(chosen) {
        Some((first, last)) if first != last => format!("{first}-{last}"),
        Some((first, _)) => first.to_string(),
        None => chosen.to_owned(),
    }
}

fn number(right: &Json, own: Option<u16>) -> String {
    if let Some(port) = right.as_u64() {
        return port.to_string();
    }
    let range = |value: &Json| {
        let bounds = value.get("range").and_then(Json::as_array)?;
        Some((bounds.first()?.as_u64()?, bounds.get(1)?.as_u64()?))
    };
    if let Some((first, last)) = range(right) {
        return format!("{first}-{last}");
    }
    let members = right.get("set").and_then(Json::as_array).unwrap_or_default();
    let own = own.map(u64::from);
    let ranges = members.iter().filter_map(range);
    let around =
        ranges.into_iter().find(|(first, last)| own.is_some_and(|own| (*first..=*last).contains(&own)));
    match (members.iter().any(|member| member.as_u64().is_some() && member.as_u64() == own), around, own) {
        (false, Some((first, last)), _) => format!("{first}-{last}"),
        // A named set says no port: the packet's own stands for it.
        (_, _, Some(own)) => own.to_string(),
        (_, _, None) => "any".to_owned(),
    }
}

/// Tells whether a rule takes whatever comes to it.
pub(super) fn demands_nothing(rule: &Rule) -> bool {
    match &rule.body {
        Body::Save(parts) => parts.iter().all(|part| {
            let name = part.name.as_str();
            let of_target = |module: &str| module.starts_with(|first: char| first.is_ascii_uppercase());
            match part.module.as_deref() {
                Some("comment") => true,
                Some(module) => of_target(module),
                None => {
                    matches!(name, "-j" | "-g")
                        || (name == "-m"
                            && part.values.first().is_some_and(|module| module.as_str() == "comment"))
                }
            }
        }),
        Body::Nft(expressions) => expressions.iter().all(|expression| {
            ["counter", "log", "comment", "drop", "reject", "accept"]
                .iter()
                .any(|name| expression.get(name).is_some())
        }),
    }
}
