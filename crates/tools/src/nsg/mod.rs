//! `ghost nsg`: which security rule decides over a packet.
//!
//! Goes in: what `az` printed. Comes out: the verdict of both gates with its trace, an audit, or who reaches what. Never: a
//! call of `az` itself.

mod audit;
mod command;
mod reach;
mod verdict;

pub use command::{Arguments, run};
