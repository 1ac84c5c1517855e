//! Addresses that are the platform's own wherever a machine stands.

use std::net::{IpAddr, Ipv4Addr};

use super::{Family, Ranges};

/// A service of the platform at an address that it answers on the machine's own host.
///
/// Routes of users and of gateways do not apply to these addresses, and outbound rules of security groups only where they name
/// the service's tag. What comes from there, a health probe for instance, is subject to inbound rules like anything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Platform {
    /// Names, agents and health.
    Server,
    /// What a machine asks about itself.
    Metadata,
}

impl Platform {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Server, Self::Metadata];

    /// Returns the service at an address.
    #[must_use]
    pub fn of(address: IpAddr) -> Option<Self> {
        Self::ALL.into_iter().find(|platform| address.to_canonical() == platform.address())
    }

    /// Returns its address.
    #[must_use]
    pub const fn address(self) -> IpAddr {
        IpAddr::V4(match self {
            Self::Server => Ipv4Addr::new(168, 63, 129, 16),
            Self::Metadata => Ipv4Addr::new(169, 254, 169, 254),
        })
    }

    /// Returns the service that a tag of a security rule names.
    #[must_use]
    pub fn tagged(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|platform| platform.tag().eq_ignore_ascii_case(text))
    }

    /// Returns the tag by which a security rule means it.
    #[must_use]
    pub const fn tag(self) -> &'static str {
        match self {
            Self::Server => "AzurePlatformDNS",
            Self::Metadata => "AzurePlatformIMDS",
        }
    }

    /// Returns its address as a set.
    #[must_use]
    pub fn range(self) -> Ranges {
        let number = Family::number(self.address());
        Ranges::one(number, number)
    }
}
