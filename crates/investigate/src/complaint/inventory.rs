//! What the estate holds, as far as it was read.

use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;

use ipnet::IpNet;
use serde::{Deserialize, Serialize};

/// What the estate holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Inventory {
    /// Machines with their interfaces.
    pub machines: Vec<Machine>,
    /// Names that lead to machines: records of name servers, frontends of load balancers.
    pub names: Vec<Name>,
    /// Security rules that let somebody in.
    pub allows: Vec<Allow>,
    /// Addresses that people wrote, that nobody has here, and that may be at another site: a gateway leads on.
    pub elsewhere: Vec<IpAddr>,
    /// Names of things here that are no machines: networks, rules, clusters, devices.
    pub others: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Machine {
    pub name: String,
    /// Its addresses within the network, the primary one first.
    pub addresses: Vec<IpAddr>,
    /// Its addresses on the Internet.
    pub public: Vec<IpAddr>,
    /// The network of its primary interface.
    pub network: Option<String>,
    /// The subnet of its primary interface.
    pub subnet: Option<String>,
    /// The application security groups that it is in.
    pub groups: Vec<String>,
    /// It passes on what is not for it.
    pub forwards: bool,
    /// Who listens there; `None` where nobody looked.
    pub listeners: Option<Vec<Listener>>,
    /// Whom its sockets call, connected or about to be; `None` where nobody looked.
    pub peers: Option<Vec<SocketAddr>>,
}

/// A program that waits for connections.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listener {
    pub protocol: Protocol,
    /// The address that it is bound to; `None` for all.
    #[serde(default)]
    pub address: Option<IpAddr>,
    pub port: u16,
    /// The program, where it is known.
    #[serde(default)]
    pub program: Option<String>,
}

/// A name that leads to addresses, and from there on to machines.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Name {
    pub name: String,
    /// What it leads to.
    pub addresses: Vec<IpAddr>,
    /// Who is behind it, where it is a load balancer.
    pub backends: Vec<Backend>,
}

/// A machine behind a load balancer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backend {
    /// The port of the frontend.
    pub port: u16,
    /// The address of the machine.
    pub address: IpAddr,
    /// The port there.
    pub backend_port: u16,
}

/// A security rule that lets somebody in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Allow {
    /// The network and the subnet that it guards.
    pub subnet: Option<(String, String)>,
    /// The machine that it guards, where it hangs at an interface.
    pub machine: Option<String>,
    /// Its protocol; `None` for any.
    pub protocol: Option<Protocol>,
    /// Who is let in.
    pub sources: Vec<Selector>,
    /// To whom.
    pub destinations: Vec<Selector>,
    pub ports: Vec<RangeInclusive<u16>>,
}

/// A side of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Selector {
    /// Everything.
    Any,
    #[serde(with = "prefix")]
    Prefix(IpNet),
    /// An application security group.
    Group(String),
    /// A service tag.
    Tag(String),
}

mod prefix {
    //! Prefixes as text.

    use ipnet::IpNet;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(prefix: &IpNet, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(prefix)
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(deserializer: D) -> Result<IpNet, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    Tcp,
    Udp,
    Icmp,
}

impl Protocol {
    /// Returns its word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Udp => "udp",
            Self::Icmp => "icmp",
        }
    }
}

impl Machine {
    /// Tells whether it owns an address.
    #[must_use]
    pub fn owns(&self, address: IpAddr) -> bool {
        self.addresses.contains(&address) || self.public.contains(&address)
    }

    /// Tells whether its sockets call a port of another machine.
    #[must_use]
    pub fn calls(&self, other: &Machine, port: u16) -> bool {
        let is_peer = |peer: &SocketAddr| peer.port() == port && other.owns(peer.ip());
        self.peers.iter().flatten().any(is_peer)
    }

    /// Tells whether somebody listens on a port there; `None` where nobody looked.
    #[must_use]
    pub fn listens(&self, port: u16) -> Option<bool> {
        self.listeners.as_ref().map(|all| all.iter().any(|listener| listener.port == port))
    }
}

impl Inventory {
    /// Returns the machine of an address.
    #[must_use]
    pub fn owner(&self, address: IpAddr) -> Option<&Machine> {
        self.machines.iter().find(|machine| machine.owns(address))
    }

    #[must_use]
    pub fn machine(&self, name: &str) -> Option<&Machine> {
        self.machines.iter().find(|machine| machine.name.eq_ignore_ascii_case(name))
    }
}
