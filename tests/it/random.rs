//! Seeded chance, so that a failure can be repeated.

/// Returns a setting of the test run, empty where it is not given.
#[expect(clippy::disallowed_methods, reason = "tests have no configuration but the environment")]
pub(crate) fn setting(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

/// Tells whether the long run was asked for.
pub(crate) fn is_long() -> bool {
    setting("GHOST_LONG") == "1"
}

/// Returns the seed of a test, `GHOST_TEST_SEED` or a fixed one, and says which.
#[expect(clippy::print_stdout, reason = "a failure is repeated from its seed")]
pub(crate) fn seed(test: &str) -> u64 {
    let seed = setting("GHOST_TEST_SEED").parse().unwrap_or(20_251_121);
    println!("{test}: GHOST_TEST_SEED={seed}");
    seed
}

/// A small generator (xorshift64*): its quality is enough for mixing texts.
pub(crate) struct Random(u64);

impl Random {
    /// Starts from a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Returns the next number.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Returns a number below a bound, zero where the bound is zero.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() >> 33).unwrap() % bound.max(1)
    }

    /// Picks one of some things.
    pub(crate) fn pick<'a, T>(&mut self, things: &'a [T]) -> &'a T {
        things.get(self.below(things.len())).unwrap()
    }
}
