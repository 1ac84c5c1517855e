//! The account of a capture: types of the contract, and how they are filled.

mod fit;
mod kind;
mod link;
mod names;
mod path;
mod warn;
mod write;

pub use kind::{
    ArpFacts, ConflictFacts, DnsFacts, FileFacts, IcmpFacts, ServerFacts, Summary, TcpFacts, UnreachableFacts,
};
pub(super) use link::mac;
pub use names::SuspiciousFacts;
pub use path::{ComplaintFacts, EchoFacts, PathMtuFacts, RedirectFacts, TraceFacts};
pub(super) use write::write;
