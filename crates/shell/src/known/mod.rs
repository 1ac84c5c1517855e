//! The places to which a SAFE command may send something without asking anybody.
//!
//! Goes in: the configuration, the resolvers of this machine, words of people, listings of the cloud. Comes out: whether a name or an
//! address is among them. Never: anything that a model wrote; a name because it ends like a known one.

mod covers;
mod listed;
mod name;
mod place;
mod surroundings;

pub use covers::Known;
pub use listed::is_inventory;
pub use surroundings::{DestinationError, Surroundings};
