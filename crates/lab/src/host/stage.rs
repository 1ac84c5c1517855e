//! What happens on the machines beside what somebody asks of them: services, traffic, oddities.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

/// All of it; a stage replaces the one before.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Stage {
    /// Who listens.
    pub services: Vec<Service>,
    /// Who talks to whom, again and again.
    #[serde(rename = "talks")]
    pub flows: Vec<TrafficFlow>,
    /// What is odd between the machines.
    pub oddities: Vec<Oddity>,
}

/// A protocol of a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    Tcp,
    Udp,
    /// ICMP echo.
    Icmp,
}

/// Somebody who listens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Service {
    pub machine: String,
    pub protocol: Protocol,
    pub port: u16,
    /// The program, as `ss` names it.
    pub program: String,
    /// What it does with who comes.
    #[serde(default)]
    pub behavior: Behavior,
    /// The one address that it is bound to; every address of the machine where none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<IpAddr>,
    /// The status of its pages by path, where it is another than 200; `*` stands for all others.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pages: BTreeMap<String, u16>,
}

impl Service {
    /// Returns the status with which it answers a path.
    #[must_use]
    pub fn status(&self, path: &str) -> u16 {
        status(&self.pages, path)
    }

    /// Tells whether nobody reaches it from outside of its machine.
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.address.is_some_and(|address| address.is_loopback())
    }
}

/// Returns the status of a page by its path; what follows a `?` does not count.
pub(in crate::host) fn status(pages: &BTreeMap<String, u16>, path: &str) -> u16 {
    let path = path.split('?').next().unwrap_or(path);
    pages.get(path).or_else(|| pages.get("*")).copied().unwrap_or(200)
}

/// Returns the words of a status.
pub(in crate::host) const fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        301 => "Moved Permanently",
        302 => "Found",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        _ => "Answer",
    }
}

/// What a service does with who comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Behavior {
    #[default]
    Answers,
    /// Its queue is full: the first packet of a connection is not answered.
    Silent,
}

/// Somebody who talks to somebody, again and again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrafficFlow {
    /// The machine that begins.
    pub machine: String,
    /// Where it goes.
    pub to: IpAddr,
    pub protocol: Protocol,
    /// The port; 0 for ICMP. UDP 53 is DNS.
    pub port: u16,
    /// How many milliseconds from one to the next.
    pub every_ms: u64,
    /// How many bytes go there.
    #[serde(default)]
    pub request: u32,
    /// How many come back.
    #[serde(default)]
    pub answer: u32,
    /// How long the far side thinks.
    #[serde(default)]
    pub think_ms: u64,
}

/// Something that no configuration shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Oddity {
    /// The path between the machines carries no larger packets; whoever sends larger ones is informed by ICMP, and heeds it or not.
    PathMtu {
        /// The largest packet.
        mtu: u32,
        /// Whether machines heed the ICMP message about it.
        heeded: bool,
    },
    /// Another station answers for an address.
    ArpConflict {
        address: IpAddr,
        /// The hardware address of the other station.
        mac: String,
    },
    /// A name server does not do what it should.
    Dns {
        server: IpAddr,
        /// What it does.
        fault: DnsFault,
    },
    /// Answers from one machine to another take another path, and do not arrive.
    Asymmetric {
        /// The machine that answers.
        machine: String,
        /// To whom.
        to: IpAddr,
        /// The appliance that the answers meet.
        via: IpAddr,
    },
}

/// What a name server does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DnsFault {
    /// Nothing.
    Silent,
    /// It says that it failed.
    Servfail,
    /// It says that no name exists.
    Nxdomain,
    /// It knows what is known outside, and asks the platform for nothing.
    Public,
}
