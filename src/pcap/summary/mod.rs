//! The account of a capture: types of the contract, and how they are filled.

mod kind;
mod write;

pub use kind::{
    ArpFacts, ConflictFacts, DnsFacts, FileFacts, IcmpFacts, ServerFacts, Summary, TcpFacts, UnreachableFacts,
};
pub(super) use write::{mac, write};
