//! Datagrams between two ends: how many went which way, and where nothing came back.

mod flow;
mod overview;
mod table;

pub(super) use flow::Flow;
pub(crate) use overview::Overview;
pub use overview::UdpTold;
pub(super) use table::Table;
