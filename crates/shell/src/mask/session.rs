//! The bijection of one session, bit by bit.

use std::fmt;
use std::net::IpAddr;

use crate::mask::address::Bits;
use crate::mask::text;
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
        text::map(text, |address, length| self.turn(address, length, Direction::There))
    }

    /// Replaces every mask of a text by the address it stands for.
    #[must_use]
    pub fn unmask(&self, text: &str) -> String {
        text::map(text, |address, length| self.turn(address, length, Direction::Back))
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
