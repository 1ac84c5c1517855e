//! Which addresses are masked, and inside which block.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An address as a run of bits, with the part that must stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bits {
    /// The address, its last bit lowest.
    pub(super) value: u128,
    /// How many bits it has: 32 or 128.
    pub(super) width: u8,
    /// How many of them name the block, and stay.
    pub(super) block: u8,
}

/// Blocks of IPv4 that are masked, with the length of their prefix.
const BLOCKS: [(Ipv4Addr, u8); 4] = [
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
];

impl Bits {
    /// Reads an address; `None` where it is left alone.
    pub(super) fn of(address: IpAddr) -> Option<Self> {
        match address {
            IpAddr::V4(address) => {
                let inside = |(block, length): &&(Ipv4Addr, u8)| {
                    u32::from(address) >> (32 - length) == u32::from(*block) >> (32 - length)
                };
                let (_, block) = BLOCKS.iter().find(inside)?;
                Some(Self { value: u128::from(u32::from(address)), width: 32, block: *block })
            }
            IpAddr::V6(address) => {
                let unique_local = address.segments().first().is_some_and(|first| first & 0xfe00 == 0xfc00);
                // The eighth bit says fd or fc; only fd is in use, so it stays too.
                unique_local.then(|| Self { value: u128::from(address), width: 128, block: 8 })
            }
        }
    }

    /// Turns the bits into an address.
    pub(super) fn address(self) -> IpAddr {
        if self.width == 32 {
            let value = u32::try_from(self.value & u128::from(u32::MAX)).unwrap_or_default();
            IpAddr::V4(Ipv4Addr::from(value))
        } else {
            IpAddr::V6(Ipv6Addr::from(self.value))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_private_blocks_are_masked() {
        for address in ["10.0.0.1", "172.31.255.255", "192.168.0.1", "100.64.0.1", "fd00::1"] {
            let bits = Bits::of(address.parse().unwrap()).unwrap();
            assert_eq!(bits.address().to_string(), address);
        }
        for address in [
            "127.0.0.1",
            "169.254.169.254",
            "224.0.0.1",
            "0.0.0.0",
            "168.63.129.16",
            "255.255.255.0",
            "8.8.8.8",
            "172.32.0.1",
            "100.128.0.1",
            "::1",
            "fe80::1",
            "ff02::1",
            "2001:db8::1",
        ] {
            assert_eq!(Bits::of(address.parse().unwrap()), None, "{address}");
        }
    }
}
