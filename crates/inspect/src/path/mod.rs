//! One flow through everything that is known of an estate, hop by hop and in both directions.
//!
//! Goes in: documents that somebody read (each may be absent, partial or failed) and a flow. Comes out: what becomes of the flow,
//! what decides that and what stands behind it, what degrades it, what seems alarming and does not touch it, and what would have
//! to be read. Never: a file, a process, a clock, a network.
//!
//! ```
//! use ghost_inspect::path::{Bundle, Estate, Fate, Flow, Protocol};
//!
//! let bundle = Bundle::parse(r#"{"cloud": {"interfaces": []}}"#)?;
//! let flow = Flow::new("10.0.0.4".parse()?, "10.0.1.4".parse()?, Protocol::Tcp, Some(5432))?;
//! assert_eq!(Estate::of(&bundle).judge(&flow).fate, Fate::Unknown);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! *Invariants*
//! - Nothing is certain that depends on a document that was not read: fewer documents never make an answer more certain.
//! - What stops a flow is asked for once more as if it were gone, gate by gate: taking away every cause lets the flow pass, and
//!   each of them alone still stops or hurts it. Of what closes everything at one gate only the first counts.
//! - Nobody who listens, behind something that stops the flow, does not count; nor does a closed gate to which nothing leads.
//! - A caller whose packet filter was not read is taken to send what the flow says: only what passes packets on is suspected of
//!   translating them unseen.
//! - A remedy is named after it was tried on the documents: what it takes away is gone then, and nothing comes in its place. Nothing
//!   that closes everything is ever deleted, and nobody but the ends of the flow is let in on purpose.
//! - The order of documents, rows and names in a bundle never matters.

mod app_gateway;
mod balancer;
mod bastion;
mod bundle;
mod carry;
mod certificate;
mod change;
mod cluster;
mod configured;
mod context;
mod distinct;
mod document;
mod egress;
mod estate;
mod exposure;
mod fault;
mod filter;
mod firewall;
mod firewall_rule;
mod flow;
mod flow_log;
mod frontends;
mod gateway;
mod group;
mod health;
mod hop;
mod join;
mod judge;
mod kept_out;
mod naming;
mod needed;
mod noticed;
mod object;
mod oracle;
mod page;
mod place;
mod remedy;
mod report;
mod resource_id;
mod routing;
mod rule_name;
mod ruleset_change;
mod seen;
mod shaping;
mod socket;
mod topology;
mod translate;
mod tried;
mod unknown;
mod walk;
mod walk_app_gateway;
mod walk_balancer;
mod walk_bastion;
mod walk_cluster;
mod walk_egress;
mod walk_firewall;
mod walk_flow_log;
mod walk_gateway;
mod walk_guest;
mod walk_health;
mod walk_name;
mod walk_public;

pub use bundle::{Bundle, BundleError, Cloud, Guest, LENGTHS, Nic};
pub use change::{Admitted, AdmittedEnd, Change, GuestRule};
pub use distinct::plain_name;
pub use document::{Document, GuestDocument, Known, Missing, Reading};
pub use estate::{Connection, Estate, Listening};
pub use exposure::Exposure;
pub use fault::{Cause, Fault};
pub use flow::{Flow, FlowError, Protocol};
pub use flow_log::{FlowLogs, LoggedNic, ReadLog, UnreadLog, protocol_number};
pub use hop::{Effect, Hop, Kind, Side, Verdict};
pub use judge::{Fate, Judgement, Masked};
pub use kept_out::{KeptOut, PlatformService, Unanswered};
pub use naming::service_port;
pub use needed::NeededPeer;
pub use noticed::Noticed;
pub use object::Object;
pub use oracle::{FirstRoute, FlowFacts, PlatformVerdict};
pub use page::{PageQuestion, Scheme};
pub use place::Place;
pub use remedy::{Remedy, RepairedFlow, remedies};
pub use report::{Report, ReportedCause, ReportedFlow, ReportedHop, ReportedMissing};
pub use tried::ReportedTry;
pub(crate) use unknown::field_letters;

#[cfg(test)]
pub(crate) mod tests;
