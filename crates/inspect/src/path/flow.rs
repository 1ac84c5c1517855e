//! The flow that is judged: who calls whom, by which protocol, on which port.

use std::fmt;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::balancer::Sku;
use super::fault::Cause;

/// The protocols that can be asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
    /// ICMP: an echo and its reply.
    Icmp,
}

impl Protocol {
    /// Reads a protocol in any letters.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text.trim().to_ascii_lowercase().as_str() {
            "tcp" => Some(Self::Tcp),
            "udp" => Some(Self::Udp),
            "icmp" | "ping" | "icmpv6" => Some(Self::Icmp),
            _ => None,
        }
    }

    /// Returns its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Udp => "udp",
            Self::Icmp => "icmp",
        }
    }

    /// Returns its number in the header of IPv4 or IPv6.
    pub(super) const fn number(self, six: bool) -> u8 {
        match (self, six) {
            (Self::Tcp, _) => 6,
            (Self::Udp, _) => 17,
            (Self::Icmp, false) => 1,
            (Self::Icmp, true) => 58,
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

/// Why there is no such flow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FlowError {
    /// One address is IPv4, the other IPv6.
    #[error("{0} and {1} are of two families")]
    Families(IpAddr, IpAddr),
    /// TCP and UDP go to a port.
    #[error("{0} needs a destination port")]
    Port(Protocol),
}

/// A flow, as its caller names it: the destination before any translation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Flow {
    /// Who calls.
    pub src: IpAddr,
    /// The port that it calls from; where it is not known, one of those that Linux gives to callers.
    pub src_port: Option<u16>,
    /// Who is called.
    pub dst: IpAddr,
    /// The port that is called; ICMP has none.
    pub dst_port: Option<u16>,
    /// The protocol.
    pub protocol: Protocol,
    /// The name by which the caller knows whom it calls, where that is part of the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whether a client of somebody's own makes it through a bastion host, and no page of the portal.
    #[serde(skip)]
    pub by_client: bool,
    /// The machine that calls, where the question names it: networks may use the same addresses.
    #[serde(skip)]
    pub caller: Option<String>,
    /// The machine that is called, where the question names it.
    #[serde(skip)]
    pub called: Option<String>,
    /// Whether it is what came in by a public address already, on its last stretch.
    #[serde(skip)]
    pub(super) is_let_in: bool,
    /// By what it came in.
    #[serde(skip)]
    pub(super) entry: Option<PublicEntry>,
}

/// The public address by which a packet from the internet came in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct PublicEntry {
    /// What has the address, as it is named in a sentence.
    pub(super) by: String,
    pub(super) sku: Sku,
    /// What is at fault where that keeps the packet out.
    pub(super) cause: Cause,
}

impl Flow {
    /// Describes a flow.
    ///
    /// # Errors
    /// Fails where the addresses are of two families, or where a port is missing.
    pub fn new(src: IpAddr, dst: IpAddr, protocol: Protocol, port: Option<u16>) -> Result<Self, FlowError> {
        let (src, dst) = (src.to_canonical(), dst.to_canonical());
        if src.is_ipv4() != dst.is_ipv4() {
            return Err(FlowError::Families(src, dst));
        }
        let dst_port = port.filter(|_| protocol != Protocol::Icmp);
        if protocol != Protocol::Icmp && dst_port.is_none() {
            return Err(FlowError::Port(protocol));
        }
        Ok(Self {
            src,
            src_port: None,
            dst,
            dst_port,
            protocol,
            name: None,
            by_client: false,
            caller: None,
            called: None,
            is_let_in: false,
            entry: None,
        })
    }

    /// Says which machine calls: an address alone may be that of several.
    #[must_use]
    pub fn from_machine(mut self, name: &str) -> Self {
        self.caller = Some(name.to_owned());
        self
    }

    /// Says which machine is called.
    #[must_use]
    pub fn to_machine(mut self, name: &str) -> Self {
        self.called = Some(name.to_owned());
        self
    }

    /// Says that it came in by a public address already.
    #[must_use]
    pub(super) fn let_in(mut self, entry: Option<PublicEntry>) -> Self {
        self.is_let_in = true;
        self.entry = entry;
        self
    }

    /// Says by which name the caller knows whom it calls.
    #[must_use]
    pub fn by_name(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self
    }

    /// Says that a client of somebody's own makes it through a bastion host.
    #[must_use]
    pub const fn by_client(mut self) -> Self {
        self.by_client = true;
        self
    }

    /// Says from which port it calls.
    #[must_use]
    pub fn from_port(mut self, port: u16) -> Self {
        self.src_port = Some(port).filter(|_| self.protocol != Protocol::Icmp);
        self
    }
}

impl fmt::Display for Flow {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {} -> {}", self.protocol, self.src, self.dst)?;
        if let Some(port) = self.dst_port {
            write!(out, ":{port}")?;
        }
        match &self.name {
            Some(name) => write!(out, " ({name})"),
            None => Ok(()),
        }
    }
}

/// A packet of the flow in transit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wire {
    pub(super) protocol: Protocol,
    pub(super) src: IpAddr,
    pub(super) sport: Option<u16>,
    pub(super) dst: IpAddr,
    pub(super) dport: Option<u16>,
    pub(super) part: Part,
}

/// Which packet of the conversation it is, as a connection table sees it that has seen the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// The first one.
    Opening,
    /// The first answer.
    Answer,
    /// The first answer, for a machine that has not seen what it answers.
    StrayAnswer,
    /// What follows the answer, for a machine that has not seen the answer.
    Later,
}

impl Wire {
    /// Returns the first packet of a flow.
    pub(super) fn of(flow: &Flow, src_port: Option<u16>) -> Self {
        Self {
            protocol: flow.protocol,
            src: flow.src,
            sport: src_port,
            dst: flow.dst,
            dport: flow.dst_port,
            part: Part::Opening,
        }
    }

    /// Returns the packet that answers this one.
    pub(super) fn answer(self) -> Self {
        Self {
            src: self.dst,
            sport: self.dport,
            dst: self.src,
            dport: self.sport,
            part: Part::Answer,
            ..self
        }
    }
}
