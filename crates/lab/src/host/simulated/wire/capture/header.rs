//! Headers of packets, with right checksums.

use std::net::IpAddr;

/// What is between the hardware and the ports.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ip {
    /// Where it comes from.
    pub(super) src: IpAddr,
    /// Where it goes.
    pub(super) dst: IpAddr,
    /// The number of what is in it.
    pub(super) protocol: u8,
    /// Its own number.
    pub(super) id: u16,
    /// How many routers it may pass.
    pub(super) life: u8,
}

/// Puts a frame around a packet.
pub(super) fn ethernet(src: [u8; 6], dst: [u8; 6], kind: u16, inner: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(14 + inner.len());
    frame.extend(dst);
    frame.extend(src);
    frame.extend(kind.to_be_bytes());
    frame.extend(inner);
    frame
}

/// Puts a packet around what it carries. Whoever must not be cut has the mark for it.
pub(super) fn packet(ip: Ip, inner: &[u8], whole: bool) -> Vec<u8> {
    fragment(ip, inner, if whole { 0x4000 } else { 0 })
}

/// Cuts what is too long for one packet.
pub(super) fn packets(ip: Ip, inner: &[u8], mtu: u32) -> Vec<Vec<u8>> {
    let most = usize::try_from(mtu).unwrap_or(1500).max(68);
    if inner.len() + 20 <= most || ip.src.is_ipv6() {
        return vec![packet(ip, inner, false)];
    }
    let fragment_len = (most - 20) / 8 * 8;
    let count = inner.len().div_ceil(fragment_len);
    let cut = inner.chunks(fragment_len).enumerate().map(|(at, part)| {
        let offset = u16::try_from(at * fragment_len / 8).unwrap_or(0) & 0x1fff;
        let more = if at + 1 < count { 0x2000 } else { 0 };
        fragment(ip, part, offset | more)
    });
    cut.collect()
}

fn fragment(ip: Ip, inner: &[u8], location: u16) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(40 + inner.len());
    match (ip.src, ip.dst) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => {
            let length = u16::try_from(20 + inner.len()).unwrap_or(u16::MAX);
            bytes.extend([0x45, 0]);
            bytes.extend(length.to_be_bytes());
            bytes.extend(ip.id.to_be_bytes());
            bytes.extend(location.to_be_bytes());
            bytes.extend([ip.life, ip.protocol, 0, 0]);
            bytes.extend(src.octets());
            bytes.extend(dst.octets());
            let sum = checksum(&[&bytes]);
            put(&mut bytes, 10, sum);
        }
        (src, dst) => {
            let length = u16::try_from(inner.len()).unwrap_or(u16::MAX);
            bytes.extend([0x60, 0, 0, 0]);
            bytes.extend(length.to_be_bytes());
            bytes.extend([ip.protocol, ip.life]);
            bytes.extend(wide(src));
            bytes.extend(wide(dst));
        }
    }
    bytes.extend(inner);
    bytes
}

fn wide(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
        IpAddr::V6(address) => address.octets(),
    }
}

/// Writes a checksum over a header and what is below it; `over` says whether addresses count.
pub(super) fn seal(ip: Ip, inner: &mut [u8], at: usize, over: bool) {
    let length = u32::try_from(inner.len()).unwrap_or(0).to_be_bytes();
    let sum = if over {
        let (src, dst) = match (ip.src, ip.dst) {
            (IpAddr::V4(src), IpAddr::V4(dst)) => (src.octets().to_vec(), dst.octets().to_vec()),
            (src, dst) => (wide(src).to_vec(), wide(dst).to_vec()),
        };
        checksum(&[&src, &dst, &length, &[0, 0, 0, ip.protocol], inner])
    } else {
        checksum(&[inner])
    };
    // Over UDP no sum at all is written as zero.
    put(inner, at, if sum == 0 && ip.protocol == 17 { 0xffff } else { sum });
}

/// Writes two bytes.
pub(super) fn put(bytes: &mut [u8], at: usize, word: u16) {
    if let Some(slot) = bytes.get_mut(at..at + 2) {
        slot.copy_from_slice(&word.to_be_bytes());
    }
}

/// The sum of all words, its bits turned. Only the last part may have an odd length.
fn checksum(parts: &[&[u8]]) -> u16 {
    let mut sum = 0_u64;
    for part in parts {
        for pair in part.chunks(2) {
            let word = match pair {
                [high, low] => u16::from_be_bytes([*high, *low]),
                [high] => u16::from_be_bytes([*high, 0]),
                _ => 0,
            };
            sum += u64::from(word);
        }
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !u16::try_from(sum).unwrap_or(0)
}
