//! A fast hash for short keys of fixed size, with a seed of its own a process.
//!
//! Captures are written by strangers: without a seed they could choose ports so that every flow meets every other one.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

/// A map with that hash.
pub(super) type Map<K, V> = HashMap<K, V, Seeded>;

/// Makes hashers that start at the seed.
#[derive(Debug, Clone)]
pub(super) struct Seeded(u64);

impl Default for Seeded {
    fn default() -> Self {
        Self(RandomState::new().hash_one(MIX))
    }
}

impl BuildHasher for Seeded {
    type Hasher = Folded;

    fn build_hasher(&self) -> Folded {
        Folded { state: self.0, seed: self.0 | 1 }
    }
}

/// Multiplies into 128 bits and folds both halves together, a word at a time.
#[derive(Debug, Clone)]
pub(super) struct Folded {
    state: u64,
    seed: u64,
}

impl Folded {
    fn mix(&mut self, word: u64) {
        let wide = u128::from(self.state ^ word) * u128::from(self.seed ^ MIX);
        self.state = (wide as u64) ^ ((wide >> 64) as u64);
    }
}

impl Hasher for Folded {
    fn finish(&self) -> u64 {
        self.state ^ (self.state >> 29)
    }

    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.mix(u64::from_be_bytes(*word));
        }
        if !rest.is_empty() {
            self.mix(rest.iter().fold(0_u64, |word, byte| (word << 8) | u64::from(*byte)));
        }
        self.mix(bytes.len() as u64);
    }

    fn write_u8(&mut self, word: u8) {
        self.mix(u64::from(word));
    }

    fn write_u16(&mut self, word: u16) {
        self.mix(u64::from(word));
    }

    fn write_u32(&mut self, word: u32) {
        self.mix(u64::from(word));
    }

    fn write_u64(&mut self, word: u64) {
        self.mix(word);
    }

    fn write_usize(&mut self, word: usize) {
        self.mix(word as u64);
    }

    fn write_isize(&mut self, word: isize) {
        self.mix(word as u64);
    }

    fn write_u128(&mut self, word: u128) {
        self.mix(word as u64);
        self.mix((word >> 64) as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighboring_keys_spread_over_all_buckets() {
        let seeded = Seeded::default();
        let mut low = [0_u32; 64];
        for key in 0..64_000_u64 {
            let bucket = usize::try_from(seeded.hash_one(key) & 63).unwrap();
            low[bucket] += 1;
        }
        assert!(low.iter().all(|count| (700..1300).contains(count)), "{low:?}");
    }

    #[test]
    fn two_captures_are_hashed_with_different_seeds() {
        assert_ne!(Seeded::default().hash_one(7_u64), Seeded::default().hash_one(7_u64));
    }
}
