//! What is odd about a machine's network, and what becomes of a flow between machines that were read.
//!
//! Goes in: what one script printed on each machine, what is asked, what is known to be right. Comes out: a model of the machine with
//! three values (yes, no, not known), findings with their proof, what changed since another time. Never: input or output, a clock,
//! "there is none" for what was not read, a finding without the words of a machine that show it.
//!
//! ```
//! use ghost_inspect::host::{Context, Gathered, Host, Part, judge};
//!
//! let gathered = Gathered::default().with(Part::Settings, "net.ipv4.tcp_rmem = 4096 4096 4096\n");
//! let host = Host::read("web-1", &gathered);
//! let found = judge(&[host], &Context::default());
//! assert_eq!(found.findings[0].to_string(), "receive_window sysctl/web-1/net.ipv4.tcp_rmem");
//! ```
//!
//! # Invariants
//! - A part that failed, or that holds something else than the answer, is not known; it is listed as closed, and nothing that depends on it
//!   is judged. [`Question::needs`] says which reads each question needs.
//! - Counters are faults only where they grow between two reads.
//! - One odd row is a warning and hides no other.

mod alone;
mod answer;
mod bgp;
mod compare;
mod container;
mod context;
mod counter;
mod dhcp;
mod fault;
mod filter;
mod finding;
mod gathered;
mod hop;
mod judge;
mod lease;
mod link;
mod log;
mod machine;
mod measured;
mod model;
mod names;
mod needed;
mod network;
mod object;
mod ospf;
mod resolver;
mod rogue;
mod route;
mod routing;
mod row;
mod shape;
mod socket;
#[cfg(test)]
mod tests;
mod together;
mod walk;
mod words;

pub use answer::{Answer, Known};
pub use compare::{Difference, compare};
pub use container::{ContainerAddress, ContainerNetwork, Engine};
pub use context::{Context, Expected, Flow, Protocol};
pub use counter::{Counters, Counts};
pub use fault::Fault;
pub use finding::{Certainty, Evidence, Finding, Weight};
pub use gathered::{GatherError, Gathered, Part, PartError, PartText};
pub use judge::{Fate, Judgement, judge};
pub use lease::{DhcpClient, DhcpRange, DhcpServer, Lease};
pub use link::{Address, Link, LinkCounters, Neighbor};
pub use log::{LogLine, LogSource};
pub use measured::{Contradiction, is_reached_by};
pub use model::{Host, Warning};
pub use needed::{Need, Question, UnreadPart};
pub use object::Object;
pub use resolver::{AnswerKind, Resolver, ServerAnswer};
pub use route::{Leg, Route, Routed, RoutedPacket, Rule};
pub use routing::{BgpPeer, BgpRoute, Daemons, OspfDevice, OspfNeighbor};
pub use socket::{Connection, Listener, UdpSocket};
pub use words::FaultText;

pub use crate::measured::{Handshake, Probe};
