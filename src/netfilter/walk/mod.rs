//! What happens to a described packet, hook by hook, chain by chain.
//!
//! Goes in: a ruleset and a packet, of which some things may be unknown. Comes out: a verdict, the rule behind it, every rule
//! that was tried, and which unknown would change the answer. Never: a verdict that some packet of the description contradicts.

mod answer;
mod engine;
mod packet;
mod path;
mod start;

pub use answer::{Answer, Decided, Traced, walk};
pub use packet::{Hook, Packet, PacketError, State, Verdict};

pub(super) use engine::{End, Engine, Limits};
pub(super) use path::Path;
pub(super) use start::every;
