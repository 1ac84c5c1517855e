//! The network inside of a Kubernetes cluster: which NetworkPolicy lets a flow through, and whether a Service leads anywhere.
//!
//! Goes in: what `kubectl get … -o json` printed of pods, services, endpointslices, networkpolicies and namespaces, the rules of a node as
//! `iptables-save` prints them, and a question about one flow. Comes out: a verdict with the fault and its object, and what was not
//! read. Never: a certain answer where a document, a selector or a policy is missing or was not understood, an object that is
//! left out silently, a process, a network, a clock.
//!
//! ```
//! use ghost_inspect::cluster::{Cluster, Protocol, Question, Verdict};
//!
//! let mut cluster = Cluster::default();
//! cluster.add(r#"{"kind":"List","apiVersion":"v1","items":[
//!     {"kind":"Pod","apiVersion":"v1","metadata":{"name":"web","namespace":"shop"},"spec":{},"status":{"phase":"Running","podIP":"10.0.0.4"}},
//!     {"kind":"Pod","apiVersion":"v1","metadata":{"name":"db","namespace":"shop"},"spec":{},"status":{"phase":"Running","podIP":"10.0.0.5"}}]}"#)?;
//! cluster.add_policies(r#"{"kind":"List","apiVersion":"v1","items":[]}"#)?;
//! let question = Question::parse("shop/web", "shop/db:5432", Protocol::Tcp)?;
//! assert_eq!(cluster.judge(&question)?.verdict, Verdict::Passes);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod endpoint;
mod engine;
mod error;
mod fault;
mod judge;
mod listed;
mod node;
mod object;
mod policy;
mod question;
mod read;
mod report;
mod selector;
#[cfg(test)]
mod tests;
mod truth;
mod usage;
mod walk;

pub use engine::Engine;
pub use error::{AskError, ReadError};
pub use fault::{Cause, Fault, Object};
pub use listed::{ListedPod, ListedService};
pub use node::NodeRules;
pub use object::{Cluster, Name, Protocol};
pub use question::{Callee, Caller, Question};
pub use report::{Passage, Report, Target, Verdict};
