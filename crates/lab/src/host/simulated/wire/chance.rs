//! What is drawn, so that one seed draws the same things again.

use std::hash::Hasher;

/// Draws, one after the other, that follow from where they began.
#[derive(Debug, Clone)]
pub(super) struct Chance {
    state: u64,
}

impl Chance {
    /// Begins where a number says.
    pub(super) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Begins where a seed, words and numbers say together.
    pub(super) fn of(seed: u64, words: &[&str], numbers: &[u64]) -> Self {
        let mut hash = Fnv(0xcbf2_9ce4_8422_2325 ^ seed);
        for word in words {
            hash.write(word.as_bytes());
            hash.write_u8(0);
        }
        numbers.iter().for_each(|number| hash.write(&number.to_le_bytes()));
        let mut chance = Self::new(hash.finish());
        chance.next();
        chance
    }

    /// Draws a number.
    pub(super) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Draws a number from 0 up to 1.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
    pub(super) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Draws whether something happens that happens so many times of 1.
    pub(super) fn hit(&mut self, of_one: f64) -> bool {
        of_one > 0.0 && self.unit() < of_one
    }

    /// Draws a number between two.
    pub(super) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Draws a whole number below another.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    /// Draws from the bell curve around 0 whose width is 1.
    pub(super) fn bell(&mut self) -> f64 {
        let sum: f64 = (0..12).map(|_| self.unit()).sum();
        sum - 6.0
    }

    /// Draws how long something takes that takes so long on average and has no memory.
    pub(super) fn wait(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).max(1e-12).ln()
    }
}

struct Fnv(u64);

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Chance;

    #[test]
    fn one_seed_draws_the_same_again() {
        let draw = |seed| {
            let mut chance = Chance::of(seed, &["ping"], &[1]);
            (0..8).map(|_| chance.next()).collect::<Vec<u64>>()
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
    }

    #[test]
    fn draws_are_spread_as_they_should_be() {
        let mut chance = Chance::new(1);
        let hits = (0..10_000).filter(|_| chance.hit(0.2)).count();
        assert!((1_900..2_100).contains(&hits), "{hits}");
        let mean: f64 = (0..10_000).map(|_| chance.wait(3.0)).sum::<f64>() / 10_000.0;
        assert!((2.8..3.2).contains(&mean), "{mean}");
    }
}
