//! The inside of Kubernetes clusters: what `kubectl` prints of them, and who reaches whom there.
//!
//! Goes in: a few tables of a case file. Comes out: the documents that a cluster would have by then, as `kubectl get` prints them, and a
//! truth of the lab's own about each flow. Never: a judge that the investigation uses, a connection, a check that was not held.
//!
//! `written` is a cluster as a case file says it; `complete` adds what every cluster has (nodes, name servers, the engine, addresses) and gives the
//! `model`; `policy` is a NetworkPolicy. `endpoint` does what the controller of EndpointSlices does, `document` writes objects as the API server has
//! them, `kubectl` answers command lines. `fault` changes a cluster that works; `truth` follows one flow by hand, and `check` holds a case against
//! it: with the fault the flow fails by the objects that are expected, and without the fault it passes.

mod check;
mod complete;
mod document;
mod endpoint;
mod fault;
mod kubectl;
mod model;
mod policy;
mod truth;
mod written;

#[cfg(test)]
mod tests;

pub use check::ClusterCheck;
pub(crate) use check::ExpectedPhase;
pub(crate) use kubectl::{Answered, kubectl};
pub use model::{Cluster, ObjectName};
pub use truth::{Culprit, Fate, FlowTruth};
pub use written::WrittenCluster;
