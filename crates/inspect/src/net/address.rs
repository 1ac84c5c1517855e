//! Sets of addresses of both families.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Subnets, Ipv6Subnets};
use serde::Serialize;

use super::Ranges;

/// One of the two address spaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// 32-bit addresses.
    Ipv4,
    /// 128-bit addresses.
    Ipv6,
}

impl Family {
    /// Both families.
    pub const ALL: [Self; 2] = [Self::Ipv4, Self::Ipv6];

    /// Returns the family of an address.
    #[must_use]
    pub const fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(_) => Self::Ipv4,
            IpAddr::V6(_) => Self::Ipv6,
        }
    }

    /// Returns every address of the family.
    #[must_use]
    pub fn all(self) -> Ranges {
        Ranges::one(0, self.last())
    }

    /// Returns the number of the family's last address.
    #[must_use]
    pub const fn last(self) -> u128 {
        match self {
            Self::Ipv4 => u32::MAX as u128,
            Self::Ipv6 => u128::MAX,
        }
    }

    /// Returns the number of an address within its family.
    #[must_use]
    pub fn number(address: IpAddr) -> u128 {
        match address {
            IpAddr::V4(address) => u128::from(address.to_bits()),
            IpAddr::V6(address) => address.to_bits(),
        }
    }

    /// Returns the fewest prefixes that make up a set of the family's addresses.
    #[must_use]
    pub fn prefixes(self, set: &Ranges) -> Vec<IpNet> {
        let mut prefixes = Vec::new();
        for (first, last) in set.iter() {
            match self {
                Self::Ipv4 => {
                    let bound = |number| Ipv4Addr::from_bits(u32::try_from(number).unwrap_or(u32::MAX));
                    prefixes.extend(Ipv4Subnets::new(bound(first), bound(last), 0).map(IpNet::V4));
                }
                Self::Ipv6 => {
                    let (first, last) = (Ipv6Addr::from_bits(first), Ipv6Addr::from_bits(last));
                    prefixes.extend(Ipv6Subnets::new(first, last, 0).map(IpNet::V6));
                }
            }
        }
        prefixes
    }
}

/// A set of addresses of both families.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AddressSet {
    v4: Ranges,
    v6: Ranges,
}

impl AddressSet {
    /// Returns every address there is.
    #[must_use]
    pub fn all() -> Self {
        Self { v4: Family::Ipv4.all(), v6: Family::Ipv6.all() }
    }

    /// Returns the addresses of some prefixes.
    #[must_use]
    pub fn of<'a>(prefixes: impl IntoIterator<Item = &'a IpNet>) -> Self {
        let (mut v4, mut v6) = (Vec::new(), Vec::new());
        for prefix in prefixes {
            let bounds = (Family::number(prefix.network()), Family::number(prefix.broadcast()));
            match prefix {
                IpNet::V4(_) => v4.push(bounds),
                IpNet::V6(_) => v6.push(bounds),
            }
        }
        Self { v4: Ranges::of(v4), v6: Ranges::of(v6) }
    }

    /// Returns the members of one family.
    #[must_use]
    pub const fn family(&self, family: Family) -> &Ranges {
        match family {
            Family::Ipv4 => &self.v4,
            Family::Ipv6 => &self.v6,
        }
    }

    /// Tells whether an address is a member.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        self.family(Family::of(address)).contains(Family::number(address))
    }

    /// Tells whether every address of a family is a member.
    #[must_use]
    pub fn is_all(&self, family: Family) -> bool {
        self.family(family).covers(0, family.last())
    }

    /// Tells whether there is no member.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.v4.is_empty() && self.v6.is_empty()
    }

    /// Returns how many ranges there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.v4.len() + self.v6.len()
    }

    /// Returns what is in either set.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self { v4: self.v4.union(&other.v4), v6: self.v6.union(&other.v6) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::parse_prefix;

    #[test]
    fn a_set_is_printed_as_the_fewest_prefixes() {
        let halves: Vec<_> =
            ["10.0.0.0/9", "10.128.0.0/9", "10.1.0.0/16"].map(|text| parse_prefix(text).unwrap()).into();
        let set = AddressSet::of(&halves);
        let printed: Vec<_> =
            Family::Ipv4.prefixes(set.family(Family::Ipv4)).iter().map(ToString::to_string).collect();
        assert_eq!(printed, ["10.0.0.0/8"]);
        assert!(set.family(Family::Ipv6).is_empty());
    }

    #[test]
    fn everything_of_one_family_is_nothing_of_the_other() {
        let set = AddressSet::of(&[parse_prefix("0.0.0.0/0").unwrap()]);
        assert!(set.is_all(Family::Ipv4) && !set.is_all(Family::Ipv6));
        assert!(!set.contains("::1".parse().unwrap()));
        assert_eq!(Family::Ipv6.prefixes(&Family::Ipv6.all()).len(), 1);
    }
}
