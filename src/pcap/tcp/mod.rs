//! TCP: connections, and what their sequence numbers say.

mod ends;
mod flow;
mod judge;
mod segment;
mod side;
mod table;
#[cfg(test)]
mod tests;

pub(super) use ends::Ends;
pub(super) use flow::Flow;
pub(super) use segment::{FIN, RST, SYN, Segment};
pub use table::MOST_FLOWS;
pub(super) use table::Table;
