//! Numbers that follow from a seed (`SplitMix64`).

/// The source of everything that is drawn.
#[derive(Debug, Clone)]
pub(in crate::case) struct Rng(u64);

impl Rng {
    /// Begins. Neighboring seeds have nothing in common.
    pub(in crate::case) fn new(seed: u64, number: u64) -> Self {
        let mut rng = Self(seed ^ number.wrapping_mul(0xd134_2543_de82_ef95));
        rng.next();
        rng
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number from 0 up to and without `below`; 0 where that is 0.
    pub(in crate::case) fn below(&mut self, below: usize) -> usize {
        let below = u64::try_from(below).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.next() % below).unwrap_or_default()
    }

    /// Returns one of a list.
    pub(in crate::case) fn one<T: Copy + Default>(&mut self, all: &[T]) -> T {
        let at = self.below(all.len());
        all.get(at).copied().unwrap_or_default()
    }

    /// Says yes so often in a hundred.
    pub(in crate::case) fn percent(&mut self, share: usize) -> bool {
        self.below(100) < share
    }

    /// Mixes a list.
    pub(in crate::case) fn mix<T>(&mut self, all: &mut [T]) {
        for at in (1..all.len()).rev() {
            all.swap(at, self.below(at + 1));
        }
    }
}
