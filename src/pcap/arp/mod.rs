//! ARP.

mod tally;
#[cfg(test)]
mod tests;

pub(super) use tally::{Address, Tally};
