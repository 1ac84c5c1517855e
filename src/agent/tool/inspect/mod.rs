//! Inspectors: tools that only read, and say which faults what they read bears out.
//!
//! Goes in: the name of a machine or an account, and what the cloud and the guest print. Comes out: suspects with the words that show
//! them, plain facts, and the document as data. Never: a change; a suspect without a record; a name of the outside outside its fence
//! unless it is one word.

mod argument;
mod drift;
mod filter;
mod guest;
mod inspecting;
mod nsg;
mod packet;
mod qdisc;
mod route;
mod seen;
mod storage;
mod topology;

use std::sync::Arc;

use inspecting::Inspecting;

use crate::agent::tool::{Site, Tool};

/// Returns all inspectors.
pub(super) fn all(site: &Arc<Site>) -> Vec<Box<dyn Tool>> {
    vec![
        Box::new(Inspecting::new(topology::Topology, site)),
        Box::new(Inspecting::new(nsg::InspectNsg, site)),
        Box::new(Inspecting::new(route::EffectiveRouteInspector, site)),
        Box::new(Inspecting::new(drift::DetectEffectiveNetworkDrift, site)),
        Box::new(Inspecting::new(filter::DetectConfigDrift, site)),
        Box::new(Inspecting::new(packet::WalkPacket, site)),
        Box::new(Inspecting::new(qdisc::InspectQdisc, site)),
        Box::new(Inspecting::new(storage::InspectStorage, site)),
    ]
}

#[cfg(test)]
mod tests;
