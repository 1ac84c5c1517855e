//! Machines in real namespaces: the faults of cases with real packets, the fabric's rules and routes, what a crash leaves.
//!
//! Needs Linux, root and the tools of `tests/run`; `GHOST_TEST_WITHOUT=netns` runs without.
#![expect(clippy::indexing_slicing, reason = "a test that reads beyond the end of its own list should stop")]

mod agreement;
mod beside;
mod crash;
mod draw;
mod faults;
mod path;
mod place;

pub(crate) use place::skipped;
