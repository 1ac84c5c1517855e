//! The endpoints of a conversation, in an order that does not depend on the direction.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::layers::IpPair;

/// An unordered pair of addresses with ports, kept in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum EndpointPair {
    /// Both addresses and both ports in one number: small, and quick to compare.
    Four(u128),
    /// The same for the longer addresses.
    Six(u128, u128, u32),
}

impl EndpointPair {
    /// Orders the ends of a packet; says whether its source is the second one.
    pub(crate) fn new(net: IpPair, (source, destination): (u16, u16)) -> (Self, bool) {
        match net {
            IpPair::Four(from, to) => {
                let one = (u64::from(u32::from_be_bytes(from)) << 16) | u64::from(source);
                let two = (u64::from(u32::from_be_bytes(to)) << 16) | u64::from(destination);
                let flipped = one > two;
                let (low, high) = if flipped { (two, one) } else { (one, two) };
                (Self::Four((u128::from(low) << 48) | u128::from(high)), flipped)
            }
            IpPair::Six(from, to) => {
                let one = (u128::from_be_bytes(from), source);
                let two = (u128::from_be_bytes(to), destination);
                let flipped = one > two;
                let (low, high) = if flipped { (two, one) } else { (one, two) };
                (Self::Six(low.0, high.0, (u32::from(low.1) << 16) | u32::from(high.1)), flipped)
            }
        }
    }

    /// Returns both ends in their order.
    pub(crate) fn sockets(self) -> (SocketAddr, SocketAddr) {
        match self {
            Self::Four(both) => {
                let end = |bits: u128| {
                    let address = Ipv4Addr::from((bits >> 16) as u32);
                    SocketAddr::new(IpAddr::V4(address), bits as u16)
                };
                (end(both >> 48), end(both & 0xffff_ffff_ffff))
            }
            Self::Six(low, high, ports) => {
                let end =
                    |bits: u128, port: u32| SocketAddr::new(IpAddr::V6(Ipv6Addr::from(bits)), port as u16);
                (end(low, ports >> 16), end(high, ports))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_directions_have_the_same_ends() {
        let (there, flipped) = EndpointPair::new(IpPair::Four([10, 0, 0, 1], [10, 0, 0, 2]), (40_000, 80));
        let (back, flipped_back) =
            EndpointPair::new(IpPair::Four([10, 0, 0, 2], [10, 0, 0, 1]), (80, 40_000));
        assert_eq!(there, back);
        assert_ne!(flipped, flipped_back);
        assert_eq!(there.sockets(), ("10.0.0.1:40000".parse().unwrap(), "10.0.0.2:80".parse().unwrap()));
        let (six, _) = EndpointPair::new(IpPair::Six([1; 16], [0; 16]), (1, 2));
        assert_eq!(six.sockets().0, "[::]:2".parse().unwrap());
    }
}
