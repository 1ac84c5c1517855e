//! Pictures of a capture, for a chat: packets over time, round trips over time, the worst connection packet by packet.
//!
//! Goes in: an account whose pass gathered what is drawn. Comes out: PNG bytes, the same for the same capture on every machine: the
//! font is built in. Never: a file, a font of the system, text that was not made harmless.

mod flow;
mod ladder;
mod packets;
mod paper;
mod picture;
mod png;
mod rtt;
mod samples;
mod scale;
mod stretch;

pub use ladder::{Rung, Tone, ladder};
pub use picture::{PICTURES, Picture, PlotError, pictures};
pub use samples::{Panel, samples};
