//! Who made a chain, a table or a set: recognized by the names that programs give to what they make.
//!
//! Goes in: rulesets. Comes out: programs, each with what shows it, and which chains come and go by themselves. Never: a
//! verdict; a name proves nothing about what a rule does.

mod name;
mod recognize;

pub use recognize::{Layout, recognize};

pub(super) use name::{is_ephemeral, owner, set_owner};
