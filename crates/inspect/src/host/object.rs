//! What is at fault on a machine, as findings name it.

use std::fmt;
use std::net::IpAddr;

use serde::{Serialize, Serializer};

/// The object that has a fault. Only its last part may hold a slash.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Object {
    /// A device.
    Link {
        /// The machine.
        host: String,
        /// The device.
        device: String,
    },
    /// The addresses of a device.
    Address {
        /// The machine.
        host: String,
        /// The device.
        device: String,
    },
    /// A neighbor entry.
    Neighbor {
        /// The machine.
        host: String,
        /// The neighbor.
        ip: IpAddr,
    },
    /// A route.
    Route {
        /// The machine.
        host: String,
        /// The prefix, or `default`.
        prefix: String,
    },
    /// A routing rule.
    Rule {
        /// The machine.
        host: String,
        /// Its priority.
        priority: u32,
    },
    /// A setting of the kernel.
    Sysctl {
        /// The machine.
        host: String,
        /// The setting.
        key: String,
    },
    /// A queueing discipline.
    Qdisc {
        /// The machine.
        host: String,
        /// The device.
        device: String,
    },
    /// A chain of a packet filter.
    Chain {
        /// The machine.
        host: String,
        /// The table; a native one of nft is `family:table`.
        table: String,
        /// The chain.
        chain: String,
    },
    /// A rule of a packet filter, named by what it is about.
    FilterRule {
        /// The machine.
        host: String,
        /// The table.
        table: String,
        /// The chain.
        chain: String,
        /// The protocol, or `any`.
        protocol: String,
        /// The port, or `any`.
        port: String,
    },
    /// A service.
    Service {
        /// The machine.
        host: String,
        /// tcp or udp.
        protocol: String,
        /// Its port.
        port: u16,
    },
    /// A unit of the service manager.
    Unit {
        /// The machine.
        host: String,
        /// Its name.
        unit: String,
    },
    /// A session of BGP, or a network that is announced by it.
    Bgp {
        /// The machine.
        host: String,
        /// The neighbor, or the network.
        what: String,
    },
    /// A device on which OSPF speaks, or should.
    Ospf {
        /// The machine.
        host: String,
        /// The device.
        device: String,
    },
    /// What a machine asks for names.
    Resolver {
        /// The machine.
        host: String,
        /// The server, the name, `none` or `proxy`.
        what: String,
    },
    /// A name server, and the name where one is meant.
    Dns {
        /// The server.
        server: IpAddr,
        /// The name.
        name: Option<String>,
    },
    /// A DHCP server, and what of it.
    Dhcp {
        /// The server.
        server: IpAddr,
        /// The prefix that it serves, or what it gives beside addresses.
        what: Option<String>,
    },
    /// A machine, or an address that two of them have.
    Host {
        /// Its name, or the address.
        what: String,
    },
    /// A flow.
    Flow {
        /// Who calls.
        src: IpAddr,
        /// Who is called.
        dst: IpAddr,
        /// The protocol.
        protocol: String,
        /// The port, where there is one.
        port: Option<u16>,
    },
}

impl Object {
    /// Returns the machine that has it, where it belongs to one.
    #[must_use]
    pub fn host(&self) -> Option<&str> {
        match self {
            Self::Link { host, .. }
            | Self::Address { host, .. }
            | Self::Neighbor { host, .. }
            | Self::Route { host, .. }
            | Self::Rule { host, .. }
            | Self::Sysctl { host, .. }
            | Self::Qdisc { host, .. }
            | Self::Chain { host, .. }
            | Self::FilterRule { host, .. }
            | Self::Service { host, .. }
            | Self::Unit { host, .. }
            | Self::Bgp { host, .. }
            | Self::Ospf { host, .. }
            | Self::Resolver { host, .. } => Some(host),
            Self::Dns { .. } | Self::Dhcp { .. } | Self::Host { .. } | Self::Flow { .. } => None,
        }
    }
}

impl fmt::Display for Object {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Link { host, device } => write!(out, "link/{host}/{device}"),
            Self::Address { host, device } => write!(out, "address/{host}/{device}"),
            Self::Neighbor { host, ip } => write!(out, "neighbour/{host}/{ip}"),
            Self::Route { host, prefix } => write!(out, "route/{host}/{prefix}"),
            Self::Rule { host, priority } => write!(out, "rule/{host}/{priority}"),
            Self::Sysctl { host, key } => write!(out, "sysctl/{host}/{key}"),
            Self::Qdisc { host, device } => write!(out, "qdisc/{host}/{device}"),
            Self::Chain { host, table, chain } => write!(out, "netfilter/{host}/{table}/{chain}"),
            Self::FilterRule { host, table, chain, protocol, port } => {
                write!(out, "netfilter/{host}/{table}/{chain}/{protocol}/{port}")
            }
            Self::Service { host, protocol, port } => write!(out, "service/{host}/{protocol}/{port}"),
            Self::Unit { host, unit } => write!(out, "service/{host}/{unit}"),
            Self::Bgp { host, what } => write!(out, "bgp/{host}/{what}"),
            Self::Ospf { host, device } => write!(out, "ospf/{host}/{device}"),
            Self::Resolver { host, what } => write!(out, "resolver/{host}/{what}"),
            Self::Dns { server, name } => {
                write!(out, "dns/{server}")?;
                name.as_ref().map_or(Ok(()), |name| write!(out, "/{name}"))
            }
            Self::Dhcp { server, what } => {
                write!(out, "dhcp/{server}")?;
                what.as_ref().map_or(Ok(()), |what| write!(out, "/{what}"))
            }
            Self::Host { what } => write!(out, "host/{what}"),
            Self::Flow { src, dst, protocol, port } => {
                write!(out, "flow/{src}/{dst}/{protocol}/")?;
                match port {
                    Some(port) => write!(out, "{port}"),
                    None => out.write_str("any"),
                }
            }
        }
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
