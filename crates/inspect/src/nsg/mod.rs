//! Effective security rules: which rule decides over a packet at each gate, and who reaches what.
//!
//! Goes in: the JSON text of the effective rules of a network interface, a packet, and where given service tags and an
//! inventory. Comes out: a verdict with its rule and its trace, an audit, or the regions of the packet space that get
//! through. Never: a file, a process, a clock, a network.
//!
//! ```
//! use ghost_inspect::nsg::{Packet, Ruleset};
//!
//! let rules = Ruleset::parse(r#"{"value": []}"#, Default::default())?;
//! let packet = Packet::new("inbound", "tcp", "10.0.0.4".parse()?, None, "10.0.1.4".parse()?, 443)?;
//! assert_eq!(rules.verdict(&packet).verdict.as_str(), "ALLOW");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! *Invariants*
//! - A certain deny at either gate is a deny; else an undecided gate leaves the whole undecided. Nothing unread allows.
//! - The answer is `INDETERMINATE` only where an unresolved item changes it, and then it names the item.
//! - An entry that cannot be placed at a gate is never dropped.
//! - Regions are exact: they agree with the verdict of every single packet.

mod audit;
mod cases;
mod decode;
mod finding;
mod gate;
mod names;
mod packet;
mod peers;
mod reach;
mod region;
mod report;
mod resolve;
mod rule;
mod rule_index;
mod ruleset;
mod sweep;
mod taken;
mod trace;
mod verdict;

pub use audit::Audit;
pub(crate) use decode::{association_gate, echoes};
pub use finding::{Contradiction, Exposure, Ordered, RuleRef, Shadowed};
pub use gate::Field;
pub use packet::{Packet, PacketError};
pub use peers::{Knowledge, Peers};
pub use reach::{Reach, Region};
pub use report::{Decisive, GateReport, LaterMatch, Ruling, Verdict};
pub use rule::{Access, Direction, Gate, Group, Ports, Protocols, Rule};
pub use ruleset::{Error, Ruleset};
pub use trace::{Trace, TriedRule};

#[cfg(test)]
mod doubts;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
