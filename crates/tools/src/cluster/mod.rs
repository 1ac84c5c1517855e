//! `ghost cluster`: whether a Kubernetes cluster lets a flow through.
//!
//! Goes in: what `kubectl get … -o json` printed, as files, and a flow. Comes out: whether it passes, and which policy or service
//! stops it. Never: a verdict from a part of the policies, a call to a cluster.

mod command;
mod show;

pub use command::{Arguments, run};
