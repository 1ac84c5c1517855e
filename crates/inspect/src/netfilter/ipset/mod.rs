//! What `ipset save` prints, and what it means for a rule that asks a set.
//!
//! Goes in: text. Comes out: sets with their elements, and tests over the fields of a packet. Never: a test for a set whose
//! elements a description of a packet cannot decide; that stays unknown.

mod read;
#[cfg(test)]
mod tests;

pub use read::{IpSet, Member, read_sets};

pub(super) use read::{content, devices, test};
