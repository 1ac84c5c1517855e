//! Claims about the network, and whether the evidence bears them out.
//!
//! Goes in: a claim and the observations that it cites. Comes out: why it holds, or what is wrong with it. Never: a claim
//! that holds because a model says so.

mod check;
mod code;
mod told;

pub use check::check;
pub use code::{CODES, FaultCode};
pub use told::{mechanism, title, traffic};
