//! What is asked, and what is known from elsewhere: without it, much is odd and little is wrong.

use std::fmt;
use std::net::IpAddr;

use ipnet::IpNet;

use super::model::Host;
use super::resolver::AnswerKind;

/// A protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Protocol {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
    /// ICMP, or its counterpart of IPv6.
    Icmp,
    /// Another one, by its number.
    Other(u8),
}

impl Protocol {
    /// Returns its number.
    #[must_use]
    pub const fn number(self, six: bool) -> u8 {
        match self {
            Self::Tcp => 6,
            Self::Udp => 17,
            Self::Icmp => {
                if six {
                    58
                } else {
                    1
                }
            }
            Self::Other(number) => number,
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp => out.write_str("tcp"),
            Self::Udp => out.write_str("udp"),
            Self::Icmp => out.write_str("icmp"),
            Self::Other(number) => write!(out, "{number}"),
        }
    }
}

/// Traffic that has to pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flow {
    /// The machine that calls.
    pub from: String,
    /// As which of its addresses, where that is chosen.
    pub source: Option<IpAddr>,
    /// Who is called.
    pub to: IpAddr,
    /// The protocol.
    pub protocol: Protocol,
    /// The port that is called.
    pub port: Option<u16>,
    /// Its packets carry a class that matters.
    pub is_marked: bool,
}

/// What is known to be right: from an inventory, from an earlier snapshot, from whoever asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expected {
    /// A machine has an address on a device.
    Address {
        /// The machine.
        host: String,
        /// The device.
        device: String,
        /// The address.
        net: IpNet,
    },
    /// A name leads to an address.
    Name {
        /// The name.
        name: String,
        /// Its address.
        ip: IpAddr,
    },
    /// A machine asks name servers.
    Resolver {
        /// The machine.
        host: String,
    },
    /// A machine gives addresses away.
    DhcpServer {
        /// The machine.
        host: String,
        /// By which of its addresses.
        ip: IpAddr,
    },
}

/// What is asked, and what is known from elsewhere.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Context {
    /// Traffic that has to pass.
    pub flows: Vec<Flow>,
    /// What is known to be right.
    pub expected: Vec<Expected>,
    /// Whether somebody calls by a name, so that how machines find names matters to the flows; where machines are judged as a whole it does.
    pub by_name: bool,
    /// Whether machines are judged as a whole, too, and not along the flows alone; where no flow is asked about they are anyway.
    pub whole: bool,
    /// The second from which on lines of logs count; within the last hour unless said.
    pub since: Option<i64>,
}

impl Context {
    /// Takes what a machine had when it was well for what it should have: its addresses, and where names led.
    pub fn expect(&mut self, well: &Host) {
        // What is known for a while only was given by somebody, who may give another one.
        let own = well.global().filter(|own| !own.is_dynamic);
        self.expected.extend(own.map(|own| Expected::Address {
            host: well.name.clone(),
            device: own.device.clone(),
            net: own.net,
        }));
        if well.resolver.read().is_some_and(|own| !own.servers.is_empty()) {
            self.expected.push(Expected::Resolver { host: well.name.clone() });
        }
        self.expected
            .extend(serves_dhcp(well).map(|ip| Expected::DhcpServer { host: well.name.clone(), ip }));
        for answer in &well.answers {
            let AnswerKind::Answered(addresses) = &answer.kind else { continue };
            if let [ip] = addresses.as_slice() {
                let name = Expected::Name { name: answer.name.clone(), ip: *ip };
                if !self.expected.contains(&name) {
                    self.expected.push(name);
                }
            }
        }
    }
}

/// Returns the addresses by which a machine gives addresses of their own segments away.
fn serves_dhcp(well: &Host) -> impl Iterator<Item = IpAddr> {
    let listens = |ip: IpAddr| {
        well.listeners
            .rows()
            .iter()
            .any(|own| own.protocol == "udp" && own.port == 67 && own.hears(ip) && !own.is_local())
    };
    let gives = |own: &super::link::Address| {
        let ranges = || well.dhcp_servers.rows().iter().flat_map(|one| &one.ranges);
        ranges().next().is_none() || ranges().any(|range| own.net.contains(&IpAddr::V4(range.first)))
    };
    well.global()
        .filter(move |own| own.net.addr().is_ipv4() && listens(own.ip()) && gives(own))
        .map(super::link::Address::ip)
}
