//! Packets as bytes.

use std::net::IpAddr;

/// What a packet carries.
#[derive(Debug, Clone)]
pub(super) enum Carried {
    Tcp {
        sport: u16,
        dport: u16,
        flags: u8,
    },
    /// The checksum can be wrong on purpose.
    Udp {
        sport: u16,
        dport: u16,
        broken: bool,
    },
    /// Type, code, and what follows the checksum.
    Icmp {
        kind: u8,
        code: u8,
        rest: Vec<u8>,
    },
}

impl Carried {
    fn protocol(&self, six: bool) -> u8 {
        match self {
            Self::Tcp { .. } => 6,
            Self::Udp { .. } => 17,
            Self::Icmp { .. } => {
                if six {
                    58
                } else {
                    1
                }
            }
        }
    }

    fn bytes(&self, src: IpAddr, dst: IpAddr) -> Vec<u8> {
        let mut bytes = Vec::new();
        let at = match self {
            Self::Tcp { sport, dport, flags } => {
                bytes.extend([sport.to_be_bytes(), dport.to_be_bytes()].concat());
                bytes.extend([1_u32.to_be_bytes(), u32::from(*flags & 16 != 0).to_be_bytes()].concat());
                bytes.extend([0x50, *flags, 0x20, 0, 0, 0, 0, 0]);
                16
            }
            Self::Udp { sport, dport, .. } => {
                bytes.extend(
                    [sport.to_be_bytes(), dport.to_be_bytes(), 12_u16.to_be_bytes(), [0, 0]].concat(),
                );
                bytes.extend(*b"data");
                6
            }
            Self::Icmp { kind, code, rest } => {
                bytes.extend([*kind, *code, 0, 0]);
                bytes.extend(rest);
                2
            }
        };
        let protocol = self.protocol(src.is_ipv6());
        let mut summed = if protocol == 1 { Vec::new() } else { pseudo(src, dst, protocol, bytes.len()) };
        summed.extend(&bytes);
        let mut sum = checksum(&summed);
        if matches!(self, Self::Udp { broken: true, .. }) {
            sum = sum.wrapping_add(0x0101).max(1);
        }
        bytes[at..at + 2].copy_from_slice(&sum.to_be_bytes());
        bytes
    }
}

/// Writes a whole packet.
pub(super) fn packet(src: IpAddr, dst: IpAddr, carried: &Carried) -> Vec<u8> {
    let body = carried.bytes(src, dst);
    let length = u16::try_from(body.len()).unwrap();
    let protocol = carried.protocol(src.is_ipv6());
    let mut bytes = match (src, dst) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => {
            let mut head = vec![0x45, 0];
            head.extend((length + 20).to_be_bytes());
            head.extend([0, 1, 0x40, 0, 64, protocol, 0, 0]);
            head.extend([src.octets(), dst.octets()].concat());
            let sum = checksum(&head);
            head[10..12].copy_from_slice(&sum.to_be_bytes());
            head
        }
        (IpAddr::V6(src), IpAddr::V6(dst)) => {
            let mut head = vec![0x60, 0, 0, 0];
            head.extend(length.to_be_bytes());
            head.extend([protocol, 64]);
            head.extend([src.octets(), dst.octets()].concat());
            head
        }
        _ => panic!("two families in one packet"),
    };
    bytes.extend(body);
    bytes
}

/// What a checksum covers besides the packet itself.
fn pseudo(src: IpAddr, dst: IpAddr, protocol: u8, length: usize) -> Vec<u8> {
    let octets = |address: IpAddr| match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    };
    let mut bytes = [octets(src), octets(dst)].concat();
    bytes.extend(u32::from(protocol).to_be_bytes());
    bytes.extend(u32::try_from(length).unwrap().to_be_bytes());
    bytes
}

fn checksum(bytes: &[u8]) -> u16 {
    let mut sum: u32 =
        bytes.chunks(2).map(|two| u32::from(two[0]) << 8 | u32::from(*two.get(1).unwrap_or(&0))).sum();
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    !u16::try_from(sum).unwrap()
}
