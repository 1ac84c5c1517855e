//! TCP: connections, and what their sequence numbers say.

mod ends;
mod flow;
mod judge;
mod segment;
mod side;
mod table;

pub(super) use ends::Ends;
pub(super) use flow::Flow;
pub(super) use segment::{FIN, RST, Segment};
pub use table::MOST_FLOWS;
pub(super) use table::Table;
