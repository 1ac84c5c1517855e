//! TCP: connections, and what their sequence numbers say.

mod barred;
mod closed;
mod copy;
mod depth;
mod ends;
mod flight;
mod flow;
mod judge;
mod karn;
mod large;
mod limit;
mod loss;
mod repeat;
mod reset;
mod segment;
mod side;
mod table;
#[cfg(test)]
mod tests;

pub(super) use barred::Barred;
pub(super) use copy::Copies;
pub(super) use depth::Way;
pub(super) use ends::Ends;
pub(super) use flow::Flow;
pub(super) use limit::Limit;
pub(super) use repeat::Run;
pub(super) use reset::{Origin, Phase, Reset};
pub(super) use segment::{FIN, RST, SYN, Segment};
pub(super) use side::Side;
pub use table::MOST_FLOWS;
pub(super) use table::Table;
