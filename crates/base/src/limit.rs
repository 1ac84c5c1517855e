//! Limits of how much is judged or shown, each with a name, so that a test can lower every one of them.
//!
//! Goes in: a number and what it limits. Comes out: the list up to the limit, and how much was cut off. Never: a list that is shorter
//! than it was without a count of what is missing.

use std::cell::Cell;

/// The most items that an answer takes in. Code that cuts a list off at a limit says in its answer how many items it left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// What it limits, as its test names it: `cluster.callers`.
    name: &'static str,
    most: usize,
}

thread_local! {
    /// The limit that a test lowers, in its own thread alone.
    static LOWERED: Cell<Option<&'static str>> = const { Cell::new(None) };
}

impl Limit {
    /// Names a limit. Names are unique within a crate.
    #[must_use]
    pub const fn new(name: &'static str, most: usize) -> Self {
        Self { name, most }
    }

    /// Returns how many are taken in.
    #[must_use]
    pub fn most(self) -> usize {
        if LOWERED.get() == Some(self.name) { 1 } else { self.most }
    }

    /// Shortens a list to the limit. Returns how many items were cut off.
    #[must_use]
    pub fn cut<T>(self, list: &mut Vec<T>) -> usize {
        let cut = list.len().saturating_sub(self.most());
        list.truncate(self.most());
        cut
    }

    /// Runs something while the limit of a name is 1, in this thread. For tests: an answer under a lowered limit may claim no health.
    pub fn lowered<T>(name: &'static str, run: impl FnOnce() -> T) -> T {
        let before = LOWERED.replace(Some(name));
        let result = run();
        LOWERED.set(before);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FEW: Limit = Limit::new("few", 2);

    #[test]
    fn what_is_cut_off_is_counted() {
        let mut list = vec![1, 2, 3];
        assert_eq!((FEW.cut(&mut list), list), (1, vec![1, 2]));
        let mut short = vec![1];
        assert_eq!((FEW.cut(&mut short), short), (0, vec![1]));
    }

    #[test]
    fn a_test_lowers_one_limit_and_no_other() {
        let other = Limit::new("other", 7);
        assert_eq!(Limit::lowered("few", || (FEW.most(), other.most())), (1, 7));
        assert_eq!(FEW.most(), 2);
    }
}
