//! Claims about the network, and whether the evidence supports them.
//!
//! Goes in: a claim and the observations that it cites. Comes out: why it holds, or what is wrong with it. Never: a claim
//! that holds because a model says so.

mod check;
mod cluster;
mod code;
mod fault;
mod host;
mod object_kind;
mod service;

pub use check::{FindingError, check};
pub(crate) use cluster::{object as cluster_object, symptoms as symptoms_of_cluster};
pub use code::FaultCode;
pub use fault::{Fault, UnknownFault, title, traffic};
pub(crate) use host::{layer as layer_of_host, symptoms as symptoms_of_host};
pub use object_kind::ObjectKind;
