//! What can be wrong without any configuration that shows it.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::check;
use crate::case::problem::Problem;

/// Nobody listens on a port, and somebody calls it again and again.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortClosed {
    /// The machine.
    pub vm: String,
    pub port: u16,
    /// Who calls.
    pub from: String,
    /// From one call to the next.
    #[serde(default = "second")]
    pub every_ms: u64,
}

/// Somebody listens on a port, and leaves the first packet of a connection unanswered.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortSilent {
    /// The machine.
    pub vm: String,
    pub port: u16,
    /// Who calls.
    pub from: String,
    /// From one call to the next.
    #[serde(default = "second")]
    pub every_ms: u64,
    /// The program, as `ss` names it.
    #[serde(default = "java")]
    pub program: String,
}

fn second() -> u64 {
    1_000
}

fn java() -> String {
    "java".to_owned()
}

fn called(vm: &str, port: u16, from: &str, every_ms: u64) -> Vec<Problem> {
    let same =
        (vm == from).then(|| Problem::new(format!("`{vm}` calls itself"), "name two machines: vm and from"));
    let fast = (every_ms < 10).then(|| Problem::new("`every_ms` is too short", "write 10 or more"));
    [same, fast, check::machine("vm", vm), check::machine("from", from), check::port("port", port)]
        .into_iter()
        .flatten()
        .collect()
}

impl PortClosed {
    pub(super) fn problems(&self) -> Vec<Problem> {
        called(&self.vm, self.port, &self.from, self.every_ms)
    }
}

impl PortSilent {
    pub(super) fn problems(&self) -> Vec<Problem> {
        let mut problems = called(&self.vm, self.port, &self.from, self.every_ms);
        problems.extend(check::interface("program", &self.program));
        problems
    }
}

/// What a name server does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DnsDoes {
    /// Nothing.
    Silent,
    /// It says that it failed.
    Servfail,
    /// It says that no name exists.
    Nxdomain,
    /// It knows what is known outside, and asks the platform for nothing.
    Public,
}

/// A name server that fails.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dns {
    /// Its address.
    pub server: IpAddr,
    pub does: DnsDoes,
    /// Who asks it again and again.
    pub from: Option<String>,
    /// The private zone that it does not ask the platform for.
    pub zone: Option<String>,
}

impl Dns {
    pub(super) fn problems(&self) -> Vec<Problem> {
        let from = self.from.as_deref().and_then(|from| check::machine("from", from));
        let zone = self.zone.as_deref().and_then(|zone| check::name("zone", zone));
        let is_public = self.does == DnsDoes::Public;
        let odd = (is_public != self.zone.is_some()).then(|| {
            Problem::new("`zone` does not fit", "name the zone where does = \"public\", and only there")
        });
        check::server("server", self.server).into_iter().chain(from).chain(zone).chain(odd).collect()
    }
}

/// Another station answers for an address.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArpConflict {
    pub address: IpAddr,
    /// The hardware address of the other station, as in `02:00:00:00:00:99`.
    pub mac: String,
}

impl ArpConflict {
    pub(super) fn problems(&self) -> Vec<Problem> {
        let parts: Vec<&str> = self.mac.split(':').collect();
        let good = parts.len() == 6
            && parts.iter().all(|part| part.len() == 2 && part.chars().all(|char| char.is_ascii_hexdigit()));
        let mac =
            (!good).then(|| Problem::new("`mac` is no hardware address", "write it as 02:00:00:00:00:99"));
        let family = self
            .address
            .is_ipv6()
            .then(|| Problem::new("`address` is an IPv6 address", "ARP is about IPv4 addresses"));
        [mac, family, check::server("address", self.address)].into_iter().flatten().collect()
    }
}

/// A path for smaller packets than its ends believe, and ends that ignore the ICMP message about it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathMtu {
    /// Who sends.
    pub from: String,
    /// Who receives.
    pub to: String,
    /// The port that is talked to.
    pub port: u16,
    /// What the path carries.
    pub path: u32,
    /// What both devices are set to.
    pub device_mtu: u32,
    #[serde(default = "first")]
    pub device: String,
    /// Whether the ends heed the ICMP message about it.
    #[serde(default)]
    pub heeded: bool,
}

fn first() -> String {
    "eth0".to_owned()
}

impl PathMtu {
    pub(super) fn problems(&self) -> Vec<Problem> {
        let range = (576..=9_216).contains(&self.path) && (576..=9_216).contains(&self.device_mtu);
        let range = (!range)
            .then(|| Problem::new("an MTU is out of range", "`path` and `device_mtu` are 576 to 9216"));
        let order = (self.path >= self.device_mtu).then(|| {
            Problem::new(
                "`path` is no less than `device_mtu`",
                "the path carries less than the devices believe",
            )
        });
        let same =
            (self.from == self.to).then(|| Problem::new("both ends are the same", "name two machines"));
        [
            range,
            order,
            same,
            check::machine("from", &self.from),
            check::machine("to", &self.to),
            check::port("port", self.port),
            check::interface("device", &self.device),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// Answers from one machine to another take another path, and do not arrive.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asymmetric {
    /// The machine that answers.
    pub vm: String,
    /// The machine that asked.
    pub to: String,
    /// The appliance that the answers meet.
    pub via: IpAddr,
    /// The port that was asked.
    pub port: u16,
}

impl Asymmetric {
    pub(super) fn problems(&self) -> Vec<Problem> {
        let mut problems = called(&self.vm, self.port, &self.to, 1_000);
        problems.extend(check::server("via", self.via));
        problems
    }
}
