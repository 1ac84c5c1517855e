//! The inspector of what is inside of Kubernetes clusters: policies, services and endpoints.
//!
//! Goes in: the clusters that the session names, what `kubectl` prints of them, the words of people. Comes out: which of the flows that
//! they speak of the cluster lets through, what stops the others, what could not be read. Never: an object of a cluster that nobody
//! opened to the session, a cause where a policy or a list was not read, a program started in the cluster.
//!
//! `spoken` finds pods and services in what people wrote, `asked` the flows between them, `node` reads the nodes of those who call, where
//! the session may, and `judge` says what becomes of each.

mod asked;
mod inspect;
mod judge;
mod node;
mod remedy;
mod spoken;

#[cfg(test)]
mod tests;

pub(super) use inspect::InspectCluster;
