//! EndpointSlices, as their controller makes them of services and pods.

use std::net::IpAddr;

use super::model::{Cluster, ObjectName, Pod, Protocol, Service};

/// A slice of the endpoints of a service: those whose ports have the same numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Slice {
    /// The ports that have a number there.
    pub(super) ports: Vec<SlicePort>,
    pub(super) endpoints: Vec<Endpoint>,
    /// Whether the controller made it.
    pub(super) is_made: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SlicePort {
    pub(super) name: String,
    pub(super) number: u16,
    pub(super) protocol: Protocol,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Endpoint {
    pub(super) address: IpAddr,
    pub(super) is_ready: bool,
    pub(super) is_serving: bool,
    pub(super) is_terminating: bool,
    /// The pod, and the number of its node.
    pub(super) pod: Option<(ObjectName, usize)>,
}

/// Returns the slices of a service.
pub(super) fn slices(cluster: &Cluster, service: &Service) -> Vec<Slice> {
    let Some(selector) = &service.selector else { return given(service) };
    let mut slices: Vec<Slice> = Vec::new();
    let has_endpoint = |pod: &&Pod| pod.has_address() && !pod.phase.is_over();
    for pod in cluster.labeled(&service.name.namespace, selector).filter(has_endpoint) {
        let ports = ports(service, pod);
        let endpoint = Endpoint {
            address: pod.address,
            is_ready: service.takes_unready || pod.is_ready && !pod.is_ending,
            is_serving: service.takes_unready || pod.is_ready,
            is_terminating: pod.is_ending,
            pod: Some((pod.name.clone(), pod.node)),
        };
        match slices.iter_mut().find(|slice| slice.ports == ports) {
            Some(slice) => slice.endpoints.push(endpoint),
            None => slices.push(Slice { ports, endpoints: vec![endpoint], is_made: true }),
        }
    }
    if slices.is_empty() {
        // One without anything keeps the place.
        slices.push(Slice { ports: Vec::new(), endpoints: Vec::new(), is_made: true });
    }
    slices
}

/// Returns the ports of a service as a pod has them; one whose name the pod does not have is left out.
fn ports(service: &Service, pod: &Pod) -> Vec<SlicePort> {
    let found = service.ports.iter().filter_map(|own| {
        let number = pod.port(&own.target, own.protocol)?;
        Some(SlicePort { name: own.name.clone(), number, protocol: own.protocol })
    });
    found.collect()
}

/// Returns what somebody wrote for a service without a selector.
fn given(service: &Service) -> Vec<Slice> {
    if service.endpoints.is_empty() {
        return Vec::new();
    }
    let ports = service.ports.iter().filter_map(|own| match &own.target {
        super::model::PortRef::Number(number) => {
            Some(SlicePort { name: own.name.clone(), number: *number, protocol: own.protocol })
        }
        super::model::PortRef::Name(_) => None,
    });
    let endpoints = service.endpoints.iter().map(|address| Endpoint {
        address: *address,
        is_ready: true,
        is_serving: true,
        is_terminating: false,
        pod: None,
    });
    vec![Slice { ports: ports.collect(), endpoints: endpoints.collect(), is_made: false }]
}
