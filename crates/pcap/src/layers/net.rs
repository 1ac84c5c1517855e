//! The two addresses of a packet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Source and destination, of one family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Net {
    /// `IPv4`.
    Four([u8; 4], [u8; 4]),
    /// `IPv6`.
    Six([u8; 16], [u8; 16]),
}

impl Default for Net {
    fn default() -> Self {
        Self::Four([0; 4], [0; 4])
    }
}

impl Net {
    /// Returns the source.
    pub(crate) fn source(self) -> IpAddr {
        match self {
            Self::Four(source, _) => IpAddr::V4(Ipv4Addr::from(source)),
            Self::Six(source, _) => IpAddr::V6(Ipv6Addr::from(source)),
        }
    }

    /// Returns the destination.
    pub(crate) fn destination(self) -> IpAddr {
        match self {
            Self::Four(_, destination) => IpAddr::V4(Ipv4Addr::from(destination)),
            Self::Six(_, destination) => IpAddr::V6(Ipv6Addr::from(destination)),
        }
    }
}
