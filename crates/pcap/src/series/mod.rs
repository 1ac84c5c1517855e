//! Time series for pictures: the capture in a fixed number of columns, and the packets of the worst streams.
//!
//! It is gathered in the one pass, and only where pictures are wanted. Never: a second pass, memory that grows with the capture.

mod pass;
mod rtt_histogram;
mod timeline;
mod trace;

pub use pass::Series;
pub(super) use pass::measured;
pub use rtt_histogram::RttHistogram;
pub use timeline::{Timeline, TimelineColumn};
pub use trace::{PacketTrace, TracePacket};
