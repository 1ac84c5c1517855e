//! Datagrams between two ends: how many went in which direction, and where nothing came back.

mod flow;
mod stats;
mod table;

pub(super) use flow::Flow;
pub(crate) use stats::UdpStats;
pub use stats::UdpStreamFacts;
pub(super) use table::Table;
