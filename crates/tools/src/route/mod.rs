//! `ghost route`: which effective route carries a packet.
//!
//! Goes in: what `az` printed. Comes out: the chosen route with its reason, or what a reviewer would ask about. Never: a
//! call of `az` itself.

mod audit;
mod command;
mod select;

pub use command::{Arguments, run};
