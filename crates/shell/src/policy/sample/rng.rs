//! Random numbers from a seed.

/// A small generator of random numbers (splitmix64): the same numbers everywhere, for ever.
pub(super) struct Rng(pub(super) u64);

impl Rng {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.next() % bound).unwrap_or_default()
    }

    pub(super) fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub(super) fn pick<'t, T>(&mut self, from: &'t [T]) -> Option<&'t T> {
        let at = self.below(from.len());
        from.get(at)
    }

    pub(super) fn word(&mut self, from: &[&str]) -> String {
        self.pick(from).map_or_else(String::new, |word| (*word).to_owned())
    }
}
