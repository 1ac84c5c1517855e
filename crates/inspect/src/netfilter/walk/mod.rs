//! What happens to a described packet, hook by hook, chain by chain.
//!
//! Goes in: a ruleset and a packet, of which some things may be unknown. Comes out: a verdict, the rule behind it, every rule
//! that was tried, and which unknown would change the answer. Never: a verdict that some packet of the description contradicts.

mod answer;
mod compiled;
mod engine;
mod outcome;
mod packet;
mod path;
mod run;
mod start;
#[cfg(test)]
mod tests;

pub use answer::{Answer, Carried, Decided, TracedRule};
pub use compiled::{Compiled, walk};
pub use packet::{Hook, Packet, PacketError, State, Verdict};

pub(super) use engine::{Engine, Limits};
pub(super) use path::Path;
pub(super) use run::End;
pub(super) use start::every;
