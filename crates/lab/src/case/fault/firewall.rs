//! What can be wrong with a guest's packet filter.

use serde::{Deserialize, Serialize};

use super::check;
use crate::case::problem::Problem;

/// A family of addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// `iptables`.
    #[default]
    Ipv4,
    /// `ip6tables`.
    Ipv6,
}

impl Family {
    #[must_use]
    pub const fn program(self) -> &'static str {
        match self {
            Self::Ipv4 => "iptables",
            Self::Ipv6 => "ip6tables",
        }
    }

    pub(super) const fn is_ipv6(self) -> bool {
        matches!(self, Self::Ipv6)
    }
}

/// What a policy says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verdict {
    /// Packets pass.
    Accept,
    /// Packets are gone.
    Drop,
}

impl Verdict {
    /// Returns the word that `iptables` knows.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Accept => "ACCEPT",
            Self::Drop => "DROP",
        }
    }
}

/// What a rule does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Target {
    /// Packets pass.
    Accept,
    /// Packets are gone.
    #[default]
    Drop,
    /// Packets are refused.
    Reject,
    /// The chain ends.
    Return,
}

impl Target {
    /// Returns the word that `iptables` knows.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Accept => "ACCEPT",
            Self::Drop => "DROP",
            Self::Reject => "REJECT",
            Self::Return => "RETURN",
        }
    }
}

/// A rule.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Iptables {
    /// The machine.
    pub vm: String,
    #[serde(default)]
    pub family: Family,
    #[serde(default = "filter")]
    pub table: String,
    #[serde(default = "input")]
    pub chain: String,
    /// The place in the chain, from 1; the end, if none is named.
    pub position: Option<u16>,
    /// `tcp`, `udp`, `icmp`, `icmpv6`, `sctp`, `esp`, `ah`.
    pub protocol: Option<String>,
    /// A destination port or a range: `8000-8099`.
    pub port: Option<String>,
    /// A source port or a range.
    pub source_port: Option<String>,
    /// From where.
    pub source: Option<String>,
    /// To where.
    pub destination: Option<String>,
    /// The device by which packets come.
    pub input: Option<String>,
    /// The device by which packets go.
    pub output: Option<String>,
    /// States of the connection: `RELATED,ESTABLISHED`.
    pub state: Option<String>,
    /// Further words, as they would be typed: `-m limit --limit 5/min`.
    pub words: Option<String>,
    /// What it does.
    #[serde(default)]
    pub target: Target,
    /// How it refuses.
    pub reject_with: Option<String>,
}

fn filter() -> String {
    "filter".to_owned()
}

fn input() -> String {
    "INPUT".to_owned()
}

const TABLES: [&str; 5] = ["filter", "nat", "mangle", "raw", "security"];
pub(super) const PROTOCOLS: [&str; 7] = ["tcp", "udp", "icmp", "icmpv6", "sctp", "esp", "ah"];

fn table(field: &str, table: &str) -> Option<Problem> {
    (!TABLES.contains(&table)).then(|| {
        Problem::new(
            format!("`{field}` is no table of iptables"),
            "write filter, nat, mangle, raw or security",
        )
    })
}

impl Iptables {
    /// Writes what stands behind the chain.
    #[must_use]
    pub fn rule(&self) -> String {
        let mut words = Vec::new();
        let mut word =
            |name: &str, value: Option<String>| words.extend(value.map(|value| format!("{name} {value}")));
        word("-s", self.source.clone());
        word("-d", self.destination.clone());
        word("-i", self.input.clone());
        word("-o", self.output.clone());
        word("-p", self.protocol.clone());
        word("--sport", self.source_port.as_ref().map(|port| port.replace('-', ":")));
        word("--dport", self.port.as_ref().map(|port| port.replace('-', ":")));
        word("-m conntrack --ctstate", self.state.clone());
        words.extend(self.words.clone());
        words.push(format!("-j {}", self.target.name()));
        words.extend(self.reject_with.as_ref().map(|with| format!("--reject-with {with}")));
        words.join(" ")
    }

    pub(super) fn problems(&self) -> Vec<Problem> {
        let ported = self.port.is_some() || self.source_port.is_some();
        let portless =
            (ported && !matches!(self.protocol.as_deref(), Some("tcp" | "udp" | "sctp"))).then(|| {
                Problem::new("`port` needs a protocol that has ports", "add protocol = \"tcp\" or \"udp\"")
            });
        let protocol =
            self.protocol.as_deref().filter(|protocol| !PROTOCOLS.contains(protocol)).map(|protocol| {
                Problem::new(
                    format!("`protocol` is `{protocol}`"),
                    format!("write one of {}", PROTOCOLS.join(", ")),
                )
            });
        let with = (self.reject_with.is_some() && self.target != Target::Reject)
            .then(|| Problem::new("`reject_with` without REJECT", "add target = \"REJECT\""));
        let first = (self.position == Some(0))
            .then(|| Problem::new("`position` is 0", "the first rule of a chain is 1"));
        let ports = [("port", &self.port), ("source_port", &self.source_port)];
        let ports = ports.iter().filter_map(|(field, port)| check::ports(field, port.as_deref()?));
        let places = [("source", &self.source), ("destination", &self.destination)];
        let ipv6 = self.family.is_ipv6();
        let places =
            places.iter().filter_map(|(field, place)| check::address(field, place.as_deref()?, ipv6));
        let devices = [("input", &self.input), ("output", &self.output)];
        let devices =
            devices.iter().filter_map(|(field, device)| check::interface(field, device.as_deref()?));
        let free = [("state", &self.state), ("words", &self.words), ("reject_with", &self.reject_with)];
        let free = free.iter().filter_map(|(field, words)| check::words(field, words.as_deref()?));
        [
            portless,
            protocol,
            with,
            first,
            table("table", &self.table),
            check::machine("vm", &self.vm),
            check::chain("chain", &self.chain),
        ]
        .into_iter()
        .flatten()
        .chain(ports)
        .chain(places)
        .chain(devices)
        .chain(free)
        .collect()
    }
}

/// The policy of a chain.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// The machine.
    pub vm: String,
    #[serde(default)]
    pub family: Family,
    #[serde(default = "filter")]
    pub table: String,
    pub chain: String,
    /// What it says.
    pub policy: Verdict,
}

impl Policy {
    pub(super) fn problems(&self) -> Vec<Problem> {
        let own = ["INPUT", "FORWARD", "OUTPUT", "PREROUTING", "POSTROUTING"];
        let own = (!own.contains(&self.chain.as_str())).then(|| {
            Problem::new(
                format!("`chain` is `{}`", self.chain),
                "only INPUT, FORWARD, OUTPUT, PREROUTING and POSTROUTING have a policy",
            )
        });
        [own, table("table", &self.table), check::machine("vm", &self.vm)].into_iter().flatten().collect()
    }
}

/// A chain of one's own.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chain {
    /// The machine.
    pub vm: String,
    #[serde(default)]
    pub family: Family,
    #[serde(default = "filter")]
    pub table: String,
    pub chain: String,
    /// Its rules, each as it would be typed behind the chain's name: `-s 10.0.0.0/8 -j DROP`.
    pub rules: Vec<String>,
    /// The chain that leads to it.
    #[serde(default = "input")]
    pub from: String,
    /// What has to hold for the jump: `-p tcp`.
    #[serde(default)]
    pub when: String,
}

impl Chain {
    pub(super) fn problems(&self) -> Vec<Problem> {
        let rules = self.rules.iter().filter_map(|rule| check::words("rules", rule));
        [
            table("table", &self.table),
            check::machine("vm", &self.vm),
            check::chain("chain", &self.chain),
            check::chain("from", &self.from),
            check::words("when", &self.when),
        ]
        .into_iter()
        .flatten()
        .chain(rules)
        .collect()
    }
}
