//! Hides the addresses of a network from a model without hiding how they belong together.
//!
//! Goes in: text with real addresses, or with masked ones. Comes out: the same text with the other kind. Never: an
//! address outside the block it was in, a different answer for the same key, a loss: what was masked can be unmasked.
//!
//! Two addresses that share their first n bits share the first n bits of their masks, so subnets stay subnets and a
//! longest-prefix match stays one (the idea of Crypto-PAn, with SHA-256 as the function that flips the bits).
//!
//! - Masked: 10/8, 172.16/12, 192.168/16, 100.64/10 and fc00::/7, each inside its own block.
//! - Left alone: everything else. A public address says whom to ask, and a flipped one would be someone else's;
//!   loopback, link-local, multicast, netmasks and 168.63.129.16 mean the same in every network.
//! - Left alone too: text that only resembles an address, such as a version of five numbers or digits inside a word.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ghost_base::Digest;

/// Masks the addresses of one session, and restores them.
///
/// The key never leaves the value; the same key gives the same masks.
#[derive(Clone)]
pub struct Mask {
    key: [u8; 32],
}

/// Whether an address is masked or restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    /// From the real address to its mask.
    There,
    /// From the mask to the real address.
    Back,
}

impl Mask {
    /// Makes the mask of a session from its key.
    #[must_use]
    pub fn new(key: [u8; 32]) -> Self {
        Self { key }
    }

    /// Replaces every private address of a text by its mask.
    #[must_use]
    pub fn mask(&self, text: &str) -> String {
        map_addresses(text, |address, length| self.turn(address, length, Direction::There))
    }

    /// Replaces every mask of a text by the address it stands for.
    #[must_use]
    pub fn unmask(&self, text: &str) -> String {
        map_addresses(text, |address, length| self.turn(address, length, Direction::Back))
    }

    /// Turns one address; `None` where it is left alone. Of a network only the bits of its prefix turn.
    fn turn(&self, address: IpAddr, length: Option<u8>, direction: Direction) -> Option<IpAddr> {
        let bits = Bits::of(address)?;
        let host_bits = u32::from(bits.width - length.unwrap_or(bits.width).min(bits.width));
        let hosts = u128::MAX.checked_shr(128 - host_bits).unwrap_or(0);
        let turned = self.turned(bits, direction);
        if host_bits == 0 {
            return Some(turned.address());
        }
        if bits.value & hosts == 0 {
            return Some(Bits { value: turned.value & !hosts, ..bits }.address());
        }
        if turned.value & hosts == 0 {
            // A host must not become its network, or it could not be restored: it takes the place that the
            // network leaves free.
            let network = Bits { value: bits.value & !hosts, ..bits };
            return Some(self.turned(network, direction).address());
        }
        Some(turned.address())
    }

    /// Turns all bits behind the block.
    fn turned(&self, bits: Bits, direction: Direction) -> Bits {
        let mut value = bits.value;
        let mut real = bits.value;
        for index in bits.block..bits.width {
            let flip = u128::from(self.flips(real, index, bits.width)) << u32::from(bits.width - 1 - index);
            value ^= flip;
            if direction == Direction::Back {
                // The bits behind depend on the real ones in front.
                real ^= flip;
            }
        }
        Bits { value, ..bits }
    }

    /// Tells whether a bit flips, given the real bits in front of it.
    fn flips(&self, real: u128, index: u8, width: u8) -> bool {
        let before = if index == 0 { 0 } else { real >> u32::from(width - index) };
        let mut input = [0_u8; 50];
        let (key, rest) = input.split_at_mut(32);
        key.copy_from_slice(&self.key);
        let (prefix, place) = rest.split_at_mut(16);
        prefix.copy_from_slice(&before.to_be_bytes());
        place.copy_from_slice(&[index, width]);
        Digest::of(input).as_bytes().first().is_some_and(|byte| byte & 1 == 1)
    }
}

impl fmt::Debug for Mask {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Mask([secret])")
    }
}

/// An address as a run of bits, with the part that must stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Bits {
    /// The address, its last bit lowest.
    value: u128,
    /// How many bits it has: 32 or 128.
    width: u8,
    /// How many of them name the block, and stay.
    block: u8,
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
    fn of(address: IpAddr) -> Option<Self> {
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
    fn address(self) -> IpAddr {
        if self.width == 32 {
            let value = u32::try_from(self.value & u128::from(u32::MAX)).unwrap_or_default();
            IpAddr::V4(Ipv4Addr::from(value))
        } else {
            IpAddr::V6(Ipv6Addr::from(self.value))
        }
    }
}

/// Replaces the addresses of a text; the function sees each with its prefix length, if it has one.
///
/// Only addresses in their usual writing are touched, so that restoring gives the same bytes.
fn map_addresses(text: &str, turn: impl Fn(IpAddr, Option<u8>) -> Option<IpAddr>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut shown = 0;
    let mut at = 0;
    let bytes = text.as_bytes();
    while at < bytes.len() {
        let length = bytes.get(at..).map_or(0, |rest| rest.iter().take_while(|byte| inside(byte)).count());
        if length == 0 {
            at += 1;
            continue;
        }
        let token = text.get(at..at + length).unwrap_or_default();
        if let Some((skip, token)) = bounded(text, at, token) {
            let at = at + skip;
            for (start, end, address) in addresses(token) {
                let (start, end) = (at + start, at + end);
                let prefix = prefix(bytes.get(end..).unwrap_or_default(), address);
                if let Some(turned) = turn(address, prefix) {
                    out.push_str(text.get(shown..start).unwrap_or_default());
                    out.push_str(&turned.to_string());
                    shown = end;
                }
            }
        }
        at += length;
    }
    out.push_str(text.get(shown..).unwrap_or_default());
    out
}

/// Tells whether a byte may belong to an address.
fn inside(byte: &u8) -> bool {
    byte.is_ascii_hexdigit() || matches!(byte, b'.' | b':')
}

/// Takes from a run what belongs to a word before or behind it: the `c:` of `src:10.0.0.4`, all of `v10.0.0.4`.
///
/// Returns how much was taken in front, and the rest.
fn bounded<'a>(text: &str, start: usize, token: &'a str) -> Option<(usize, &'a str)> {
    let word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let before = text.get(..start).and_then(|before| before.chars().next_back());
    let behind = text.get(start + token.len()..).and_then(|behind| behind.chars().next());
    let skip = if before.is_some_and(word) { token.find(':')? + 1 } else { 0 };
    let rest = token.get(skip..)?;
    let keep = if behind.is_some_and(word) { rest.rfind(':')? } else { rest.len() };
    Some((skip, rest.get(..keep)?))
}

/// Reads the address of a run, or of its parts: `10.0.0.4:22`, `10.0.0.4.`, `from:10.0.0.4`.
fn addresses(token: &str) -> Vec<(usize, usize, IpAddr)> {
    // Punctuation is taken off mark by mark: the colons of `fd00::` belong to the address.
    let marks = |text: &str| text.len() - text.trim_end_matches(['.', ':']).len();
    for front in 0..=usize::from(token.starts_with([':', '.'])) {
        for back in 0..=marks(token).min(3) {
            let end = token.len() - back;
            if let Some(address) = token.get(front..end).and_then(v6) {
                return match address.to_ipv4_mapped() {
                    Some(inner) => vec![(end - inner.to_string().len(), end, IpAddr::V4(inner))],
                    None => vec![(front, end, IpAddr::V6(address))],
                };
            }
        }
    }
    // More colons are the bytes of something else.
    if token.bytes().filter(|byte| *byte == b':').count() > 4 {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut at = 0;
    for part in token.split(':') {
        let address = part.trim_end_matches('.');
        found.extend(v4(address).map(|parsed| (at, at + address.len(), IpAddr::V4(parsed))));
        at += part.len() + 1;
    }
    found
}

/// Reads an IPv4 address in its usual writing.
fn v4(text: &str) -> Option<Ipv4Addr> {
    text.parse::<Ipv4Addr>().ok().filter(|address| address.to_string() == text)
}

/// Reads an IPv6 address in its usual writing, without a zone.
fn v6(text: &str) -> Option<Ipv6Addr> {
    text.parse::<Ipv6Addr>().ok().filter(|address| address.to_string() == text)
}

/// Reads the prefix length behind an address; `None` where none stands there.
fn prefix(behind: &[u8], address: IpAddr) -> Option<u8> {
    let digits: Vec<u8> =
        behind.strip_prefix(b"/")?.iter().copied().take_while(u8::is_ascii_digit).take(4).collect();
    let length: u8 = std::str::from_utf8(&digits).ok()?.parse().ok()?;
    let widest = if address.is_ipv4() { 32 } else { 128 };
    (length <= widest).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::net::{Ipv4Addr, Ipv6Addr};

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

    fn mask() -> Mask {
        Mask::new([7; 32])
    }

    /// Checks that a text is masked, keeps what surrounds its addresses, and comes back.
    #[track_caller]
    fn check(text: &str, changes: bool) {
        let masked = mask().mask(text);
        assert_eq!(masked != text, changes, "{text} became {masked}");
        assert_eq!(mask().unmask(&masked), text);
    }

    #[test]
    fn addresses_are_masked_wherever_they_stand() {
        for text in [
            "10.1.2.3",
            "host 10.1.2.3.",
            "10.1.2.3:22",
            "[fd00:1::4]:443",
            "10.1.2.0/24",
            "src=10.1.2.3 dst=192.168.1.9",
            "\"172.16.5.4\",",
            "(10.1.2.3)",
            "from:10.1.2.3:99",
            "10.1.2.3-10.1.2.9",
            "fd12:3456::1%eth0",
            "10.1.2.3/24",
            "src:10.1.2.3",
            "::ffff:10.1.2.3",
            "fd00::1:",
            "dev:fd00::1",
        ] {
            check(text, true);
        }
    }

    #[test]
    fn what_means_the_same_everywhere_stays() {
        for text in [
            "127.0.0.1",
            "169.254.169.254",
            "0.0.0.0/0",
            "255.255.255.0",
            "168.63.129.16",
            "8.8.8.8",
            "fe80::1%eth0",
            "224.0.0.251",
            "::1",
            "::",
            "2001:db8::1",
        ] {
            check(text, false);
        }
    }

    #[test]
    fn what_only_resembles_an_address_stays() {
        for text in [
            "version 10.1.2.3.4",
            "v10.1.2.3",
            "10.1.2.3a",
            "10.1.2",
            "12:34:56",
            "10.01.2.3",
            "00:11:22:33:44:55",
            "10.1.2.300",
            "x_10.1.2.3",
        ] {
            check(text, false);
        }
    }

    #[test]
    fn a_network_keeps_its_empty_host_bits() {
        let masked = mask().mask("10.1.2.0/24 10.1.0.0/16 10.0.0.0/8 fd00:1:2::/48");
        let parts: Vec<&str> = masked.split(' ').collect();
        assert!(parts[0].ends_with(".0/24"));
        assert!(parts[1].ends_with(".0.0/16"));
        assert_eq!(parts[2], "10.0.0.0/8");
        assert!(parts[3].ends_with("::/48"));
    }

    #[test]
    fn a_host_lies_in_its_masked_network() {
        let masked = mask().mask("10.1.2.0/24 10.1.2.77");
        let (network, host) = masked.split_once(".0/24 ").unwrap();
        assert!(host.starts_with(network));
    }

    #[test]
    fn another_key_gives_another_mask_and_neither_is_printed() {
        assert_ne!(mask().mask("10.1.2.3"), Mask::new([8; 32]).mask("10.1.2.3"));
        assert_eq!(format!("{:?}", mask()), "Mask([secret])");
    }

    fn masked_v4(address: u32) -> u32 {
        mask().mask(&Ipv4Addr::from(address).to_string()).parse::<Ipv4Addr>().unwrap().into()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

        /// Restoring gives the same bytes, whatever the text.
        #[test]
        fn every_text_comes_back(text in "(([0-9a-f.:/%\\[\\] é-]|10\\.|192\\.168\\.|fd00:|::|\\.){0,12}|\\PC{0,20}){0,4}") {
            prop_assert_eq!(mask().unmask(&mask().mask(&text)), text);
        }

        /// So does every address in every block, with every prefix.
        #[test]
        fn every_address_comes_back(host: u32, length in 0..=32_u8, wide: u128, wide_length in 0..=128_u8) {
            let v6 = Ipv6Addr::from((wide >> 8) | (0xfd << 120));
            let network = Ipv6Addr::from(u128::from(v6) & u128::MAX.checked_shl(128 - u32::from(wide_length)).unwrap_or(0));
            for v4 in [0x0a00_0000 | (host >> 8), 0xc0a8_0000 | (host >> 16), 0xac10_0000 | (host >> 12)] {
                let zeroed = Ipv4Addr::from(v4 & u32::MAX.checked_shl(32 - u32::from(length)).unwrap_or(0));
                let text = format!("{}/{length} {zeroed}/{length} [{v6}]:1 {network}/{wide_length} {v6}%e0", Ipv4Addr::from(v4));
                prop_assert_eq!(mask().unmask(&mask().mask(&text)), text);
            }
        }

        /// Two addresses share as many leading bits masked as they do in truth.
        #[test]
        fn shared_prefixes_stay_shared(a: u32, b: u32, shared in 8..32_u32) {
            let a = 0x0a00_0000 | (a >> 8);
            let low = u32::MAX >> shared;
            let b = (a & !low) | (b & low);
            prop_assert_eq!((masked_v4(a) ^ masked_v4(b)).leading_zeros(), (a ^ b).leading_zeros());
        }

        /// Every mask lies in the block of its address.
        #[test]
        fn masks_stay_in_their_block(host: u32) {
            let v4 = masked_v4(0xac10_0000 | (host >> 12));
            prop_assert_eq!(v4 >> 20, 0xac1);
            let real = Ipv6Addr::from((0xfd << 120) | (u128::from(host) << 40) | u128::from(host));
            let v6: Ipv6Addr = mask().mask(&real.to_string()).parse().unwrap();
            prop_assert_eq!(v6.octets()[0], 0xfd);
        }
    }
}
