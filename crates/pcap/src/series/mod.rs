//! What pictures are drawn from: a capture over time in a fixed number of columns, and the packets of connections in trouble.
//!
//! It is gathered in the one pass, and only where pictures are wanted. Never: a second pass, memory that grows with the capture.

mod gather;
mod timeline;
mod trace;
mod trips;

pub use gather::Series;
pub(super) use gather::measured;
pub use timeline::{Column, Timeline};
pub use trace::{Event, Trace};
pub use trips::Trips;
