//! What programs write into a guest's packet filter: a jail, a container engine, nftables rules of one's own.

use serde::{Deserialize, Serialize};

use super::check;
use super::firewall::{Family, PROTOCOLS, Target};
use crate::case::problem::Problem;

/// A ban, as fail2ban writes one.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fail2ban {
    /// The machine.
    pub vm: String,
    /// The jail; its chain is `f2b-JAIL`.
    #[serde(default = "sshd")]
    pub jail: String,
    /// Who is banned.
    pub address: String,
    #[serde(default)]
    pub family: Family,
    /// Only these TCP ports; all traffic, if none is named.
    #[serde(default)]
    pub ports: Vec<u16>,
    /// What becomes of them.
    #[serde(default = "refused")]
    pub target: Target,
}

fn sshd() -> String {
    "sshd".to_owned()
}

fn refused() -> Target {
    Target::Reject
}

impl Fail2ban {
    #[must_use]
    pub fn chain(&self) -> String {
        format!("f2b-{}", self.jail)
    }

    /// Returns the address without the length of a prefix.
    #[must_use]
    pub fn banned(&self) -> &str {
        self.address.split('/').next().unwrap_or_default()
    }

    pub(super) fn problems(&self) -> Vec<Problem> {
        let weak = (!matches!(self.target, Target::Drop | Target::Reject))
            .then(|| Problem::new("`target` bans nobody", "write REJECT or DROP"));
        let ports = self.ports.iter().filter_map(|port| check::port("ports", *port));
        [
            weak,
            check::machine("vm", &self.vm),
            check::chain("jail", &self.chain()),
            check::address("address", &self.address, self.family.is_ipv6()),
        ]
        .into_iter()
        .flatten()
        .chain(ports)
        .collect()
    }
}

/// What the container engine leaves in the packet filter when it starts, and the rule too much.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Docker {
    /// The machine.
    pub vm: String,
    /// The network of the containers.
    #[serde(default = "containers")]
    pub network: String,
    #[serde(default = "bridge")]
    pub bridge: String,
    /// The chain of the rule too much; none, and all is as it should be.
    pub drop_in: Option<String>,
}

fn containers() -> String {
    "172.17.0.0/16".to_owned()
}

fn bridge() -> String {
    "docker0".to_owned()
}

impl Docker {
    /// The chains of the engine.
    pub const CHAINS: [&'static str; 4] =
        ["DOCKER", "DOCKER-USER", "DOCKER-ISOLATION-STAGE-1", "DOCKER-ISOLATION-STAGE-2"];

    pub(super) fn problems(&self) -> Vec<Problem> {
        let known = |chain: &&String| !Self::CHAINS.contains(&chain.as_str());
        let chain = self.drop_in.as_ref().filter(known).map(|chain| {
            Problem::new(
                format!("`drop_in` is `{chain}`"),
                format!("write one of {}", Self::CHAINS.join(", ")),
            )
        });
        [
            chain,
            check::machine("vm", &self.vm),
            check::address("network", &self.network, false),
            check::interface("bridge", &self.bridge),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// What a native rule does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NftVerdict {
    /// Packets are gone.
    #[default]
    Drop,
    /// Packets are refused.
    Reject,
    /// Packets pass.
    Accept,
}

impl NftVerdict {
    /// Returns the word that `nft` knows.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Drop => "drop",
            Self::Reject => "reject",
            Self::Accept => "accept",
        }
    }
}

/// A native rule of nftables, in a table of its own.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nft {
    /// The machine.
    pub vm: String,
    /// `ip`, `ip6` or `inet`.
    #[serde(default = "inet")]
    pub family: String,
    /// The table, which is made.
    pub table: String,
    /// The chain, which is made.
    #[serde(default = "small_input")]
    pub chain: String,
    /// `prerouting`, `input`, `forward`, `output` or `postrouting`.
    #[serde(default = "small_input")]
    pub hook: String,
    /// The order among chains of the hook.
    #[serde(default)]
    pub priority: i16,
    /// What becomes of the rest.
    #[serde(default = "pass")]
    pub policy: NftVerdict,
    /// `tcp` or `udp`, for a port; or another protocol.
    pub protocol: Option<String>,
    /// A destination port or a range.
    pub port: Option<String>,
    /// From where.
    pub source: Option<String>,
    /// Further words, as they would be typed.
    pub words: Option<String>,
    /// What it does.
    #[serde(default)]
    pub verdict: NftVerdict,
}

fn inet() -> String {
    "inet".to_owned()
}

fn small_input() -> String {
    "input".to_owned()
}

fn pass() -> NftVerdict {
    NftVerdict::Accept
}

impl Nft {
    /// Writes the rule.
    #[must_use]
    pub fn rule(&self) -> String {
        let mut words = Vec::new();
        if let Some(source) = &self.source {
            words.push(format!("{} saddr {source}", if source.contains(':') { "ip6" } else { "ip" }));
        }
        match (&self.protocol, &self.port) {
            (Some(protocol), Some(port)) => words.push(format!("{protocol} dport {port}")),
            (Some(protocol), None) => words.push(format!("meta l4proto {protocol}")),
            (None, _) => {}
        }
        words.extend(self.words.clone());
        words.push(self.verdict.name().to_owned());
        words.join(" ")
    }

    pub(super) fn problems(&self) -> Vec<Problem> {
        let portless = (self.port.is_some()
            && !matches!(self.protocol.as_deref(), Some("tcp" | "udp" | "sctp")))
        .then(|| Problem::new("`port` needs a protocol that has ports", "add protocol = \"tcp\" or \"udp\""));
        let protocol =
            self.protocol.as_deref().filter(|protocol| !PROTOCOLS.contains(protocol)).map(|protocol| {
                Problem::new(
                    format!("`protocol` is `{protocol}`"),
                    format!("write one of {}", PROTOCOLS.join(", ")),
                )
            });
        let family = (!["ip", "ip6", "inet"].contains(&self.family.as_str()))
            .then(|| Problem::new(format!("`family` is `{}`", self.family), "write ip, ip6 or inet"));
        let hooks = ["prerouting", "input", "forward", "output", "postrouting"];
        let hook = (!hooks.contains(&self.hook.as_str())).then(|| {
            Problem::new(format!("`hook` is `{}`", self.hook), format!("write one of {}", hooks.join(", ")))
        });
        let policy = (self.policy == NftVerdict::Reject)
            .then(|| Problem::new("`policy` is `reject`", "a policy is accept or drop"));
        [
            portless,
            protocol,
            family,
            hook,
            policy,
            check::machine("vm", &self.vm),
            check::chain("table", &self.table),
            check::chain("chain", &self.chain),
            self.port.as_deref().and_then(|port| check::ports("port", port)),
            self.source.as_deref().and_then(|source| check::prefix("source", source)),
            self.words.as_deref().and_then(|words| check::words("words", words)),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}
