//! The path between the machines in question, with what is wrong on it and what was ruled out.
//!
//! Goes in: the state. Comes out: nodes from the caller to the called machine, and a picture of them. Never: a node that the topology
//! does not list; clean for what nobody inspected.

mod endpoints;
mod node;
#[cfg(test)]
mod tests;

pub use node::{NodeState, PathNode, description, nodes, picture};
