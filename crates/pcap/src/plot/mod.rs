//! Pictures of a capture, for a chat: packets over time, round trips over time, the worst connection packet by packet.
//!
//! Goes in: an account whose pass gathered what is drawn. Comes out: PNG bytes, the same for the same capture on every machine. Never:
//! a file, text that was not made harmless.

mod flow;
mod packets;
mod picture;
mod rtt;
mod trace_range;

pub use picture::{PICTURES, Picture, pictures};
