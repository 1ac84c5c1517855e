//! Seeded chance, so that a failure can be repeated.

/// Returns a setting of the test run, empty if it is not given.
#[expect(clippy::disallowed_methods, reason = "tests have no configuration but the environment")]
pub(crate) fn setting(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

/// True in the long run.
pub(crate) fn is_long() -> bool {
    setting("GHOST_LONG") == "1"
}

/// Returns the seed of a test and prints it.
#[expect(clippy::print_stdout, reason = "a failure is repeated from its seed")]
pub(crate) fn seed(test: &str) -> u64 {
    let seed = setting("GHOST_TEST_SEED").parse().unwrap_or(20_261_129);
    println!("{test}: GHOST_TEST_SEED={seed}");
    seed
}

/// A small generator (xorshift64*).
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let next = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d);
        usize::try_from(next >> 33).unwrap() % bound.max(1)
    }

    pub(crate) fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words.get(self.below(words.len())).unwrap()
    }
}
