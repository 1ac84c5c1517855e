//! The list of the inspectors.

use std::sync::Arc;

use super::inspecting::Inspecting;
use super::{drift, filter, nsg, packet, path, qdisc, route, storage, topology};

use crate::tool::{Site, Tool};

/// Returns all inspectors.
pub(in crate::tool) fn all(site: &Arc<Site>) -> Vec<Box<dyn Tool>> {
    vec![
        Box::new(Inspecting::new(topology::Topology, site)),
        Box::new(Inspecting::new(path::CheckPath, site)),
        Box::new(Inspecting::new(nsg::InspectNsg, site)),
        Box::new(Inspecting::new(route::EffectiveRouteInspector, site)),
        Box::new(Inspecting::new(drift::DetectEffectiveNetworkDrift, site)),
        Box::new(Inspecting::new(filter::DetectConfigDrift, site)),
        Box::new(Inspecting::new(packet::WalkPacket, site)),
        Box::new(Inspecting::new(qdisc::InspectQdisc, site)),
        Box::new(Inspecting::new(storage::InspectStorage, site)),
    ]
}
