//! What only the machine can tell about a command that is SAFE by its words.
//!
//! Goes in: a ruling, and the place where the command would run. Comes out: the same ruling, or one that asks. Never: a verdict that
//! is less strict, a look at anything for a command that does not run at once.

mod capture;
mod examine;
mod link;

pub(super) use examine::examine;
