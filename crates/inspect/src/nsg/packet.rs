//! The packet in question.

use std::net::IpAddr;

use super::rule::{Direction, Protocols};
use crate::net::{Family, Platform};

/// A described packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    /// Inbound or outbound, seen from the interface.
    pub direction: Direction,
    /// Its protocol, or the three that are asked about together.
    pub protocols: Vec<Protocols>,
    /// Where it comes from.
    pub source: IpAddr,
    /// The port that it comes from, where that is known.
    pub source_port: Option<u16>,
    /// Where it goes.
    pub destination: IpAddr,
    /// The port that it goes to; ICMP has none.
    pub destination_port: u16,
}

/// Why there is no such packet.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PacketError {
    /// The direction is no direction.
    #[error("`{0}` is neither inbound nor outbound")]
    Direction(String),
    /// The protocol is not one that can be asked about.
    #[error("`{0}` is none of tcp, udp, icmp and any")]
    Protocol(String),
    /// One address is IPv4, the other IPv6.
    #[error("{0} and {1} are of two families")]
    Families(IpAddr, IpAddr),
}

impl Packet {
    /// Returns the service of the platform for which the packet is, where it is for one: only rules that name it apply.
    #[must_use]
    pub fn platform(&self) -> Option<Platform> {
        (self.direction == Direction::Outbound).then(|| Platform::of(self.destination)).flatten()
    }

    /// Describes a packet.
    ///
    /// # Errors
    /// Fails where a word is not understood or the addresses are of two families.
    pub fn new(
        direction: &str,
        protocol: &str,
        source: IpAddr,
        source_port: Option<u16>,
        destination: IpAddr,
        destination_port: u16,
    ) -> Result<Self, PacketError> {
        let protocols = match protocol.to_ascii_lowercase().as_str() {
            "any" | "*" => vec![Protocols::TCP, Protocols::UDP, Protocols::ICMP],
            "tcp" => vec![Protocols::TCP],
            "udp" => vec![Protocols::UDP],
            "icmp" => vec![Protocols::ICMP],
            _ => return Err(PacketError::Protocol(protocol.to_owned())),
        };
        let direction =
            Direction::parse(direction).ok_or_else(|| PacketError::Direction(direction.to_owned()))?;
        // An IPv4 address in the clothes of IPv6 is an IPv4 address.
        let (source, destination) = (source.to_canonical(), destination.to_canonical());
        if Family::of(source) != Family::of(destination) {
            return Err(PacketError::Families(source, destination));
        }
        Ok(Self { direction, protocols, source, source_port, destination, destination_port })
    }
}
