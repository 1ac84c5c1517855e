//! Pictures of a capture, for a chat: packets over time, round trips over time, the worst connection packet by packet.
//!
//! Goes in: an account whose pass gathered what is drawn. Comes out: PNG bytes, the same for the same capture on every machine: the
//! font is built in. Never: a file, a font of the system, text that was not made harmless.

mod canvas;
mod flow;
mod hop_diagram;
mod packets;
mod picture;
mod rtt;
mod samples;
mod scale;
mod trace_range;

pub use hop_diagram::{Hop, HopStatus, hop_diagram};
pub use picture::{PICTURES, Picture, PlotError, pictures};
pub use samples::{Panel, samples};
