//! ARP.

mod tally;

pub(super) use tally::{Address, Tally};
