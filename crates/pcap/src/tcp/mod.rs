//! TCP streams and their sequence analysis: `sequence` decides whether a segment is a retransmission, `repetition` counts those of one segment.

mod direction;
mod duplicate;
mod endpoints;
mod flow;
mod in_flight;
mod loss;
mod repetition;
mod reset;
mod segment;
mod sender;
mod sequence;
mod table;
#[cfg(test)]
mod tests;
mod wait;

pub(super) use direction::DirectionState;
pub(super) use duplicate::DuplicateDetector;
pub(super) use endpoints::EndpointPair;
pub(super) use flow::Flow;
pub(super) use repetition::RetransmissionRun;
pub(super) use reset::SynRejection;
pub(super) use reset::{Origin, Phase, Reset};
pub(super) use segment::{FIN, RST, SYN, Segment};
pub(super) use sender::SenderState;
pub use table::MAX_TCP_STREAMS;
pub(super) use table::Table;
pub(super) use wait::WaitReason;
