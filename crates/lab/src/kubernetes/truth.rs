//! What becomes of a flow in a cluster, followed by hand: from the caller to the service, to each pod behind it, through every policy.

use std::collections::BTreeSet;
use std::fmt;
use std::net::IpAddr;

use super::endpoint::slices;
use super::model::{Cluster, Engine, ObjectName, Pod, Policy, PortRef, Protocol, Service, ServicePort};
use super::policy::{Peer, PolicyPort, PolicyType};

/// What becomes of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Every pod behind what is called is reached.
    Passes,
    /// Some of them are.
    Partly,
    /// None is.
    Fails,
}

/// What keeps a flow from passing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Culprit {
    /// A policy that closes a direction of a pod.
    Policy(ObjectName),
    /// Nothing ready is behind the service.
    NoEndpoints(ObjectName),
    /// The pods behind the service do not have the port to which it leads.
    NotServed(ObjectName),
    /// The service does not have the port that is called.
    NoPort(ObjectName),
    /// The pod itself does not have the port.
    PodPort(ObjectName),
}

impl Culprit {
    /// Returns the code of the finding that is right about it.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Policy(_) => "k8s_policy_deny",
            Self::NoEndpoints(_) => "k8s_no_endpoints",
            Self::NotServed(_) | Self::PodPort(_) => "k8s_port_not_served",
            Self::NoPort(_) => "k8s_service_port_missing",
        }
    }

    /// Returns what that finding is about.
    #[must_use]
    pub fn object(&self, cluster: &str) -> String {
        let (kind, name) = match self {
            Self::Policy(name) => ("netpol", name),
            Self::NoEndpoints(name) | Self::NotServed(name) | Self::NoPort(name) => ("service", name),
            Self::PodPort(name) => ("pod", name),
        };
        format!("{kind}/{cluster}/{name}")
    }
}

/// What becomes of a flow, and by what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowTruth {
    pub fate: Fate,
    pub culprits: BTreeSet<Culprit>,
}

/// Who is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Called {
    /// A service, or a pod where no service has the name.
    Object(ObjectName),
    Address(IpAddr),
}

impl fmt::Display for Called {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Object(name) => name.fmt(out),
            Self::Address(address) => address.fmt(out),
        }
    }
}

/// A place where packets arrive.
#[derive(Clone, Copy)]
struct Arrival<'a> {
    address: IpAddr,
    pod: Option<&'a Pod>,
    port: u16,
}

impl Cluster {
    /// Follows a flow of a pod; nothing where there is no such pod, or nobody of the name that is called.
    pub(super) fn follow(
        &self,
        from: &ObjectName,
        called: &Called,
        port: u16,
        protocol: Protocol,
    ) -> Option<FlowTruth> {
        let from = self.pod(from)?;
        let (service, pod, address) = match called {
            Called::Object(name) => match self.service(name) {
                Some(service) => (Some(service), None, None),
                None => (None, Some(self.pod(name)?), None),
            },
            Called::Address(address) => (
                self.services.iter().find(|own| own.address == Some(*address)),
                self.at(*address),
                Some(*address),
            ),
        };
        let mut culprits = BTreeSet::new();
        let arrivals = match service {
            Some(service) => match self.behind(service, port, protocol) {
                Ok(arrivals) => arrivals,
                Err(culprit) => {
                    return Some(FlowTruth { fate: Fate::Fails, culprits: BTreeSet::from([culprit]) });
                }
            },
            None => {
                let address = address.or_else(|| pod.map(|pod| pod.address))?;
                vec![Arrival { address, pod, port }]
            }
        };
        let mut passed = 0;
        for arrival in &arrivals {
            let stopped = self.stops(from, arrival, protocol, service);
            passed += usize::from(stopped.is_empty());
            culprits.extend(stopped);
        }
        let fate = if passed == arrivals.len() {
            Fate::Passes
        } else if passed == 0 {
            Fate::Fails
        } else {
            Fate::Partly
        };
        Some(FlowTruth { fate, culprits })
    }

    fn at(&self, address: IpAddr) -> Option<&Pod> {
        self.pods.iter().find(|pod| !pod.is_on_host && pod.has_address() && pod.address == address)
    }

    /// Returns where a port of a service leads, or why it leads nowhere.
    fn behind(&self, service: &Service, port: u16, protocol: Protocol) -> Result<Vec<Arrival<'_>>, Culprit> {
        let is_it = |own: &&ServicePort| own.number == port && own.protocol == protocol;
        let own = service.ports.iter().find(is_it);
        let slices = slices(self, service);
        let mut arrivals = Vec::new();
        let mut has_ready = false;
        for slice in &slices {
            // The name of a headless service leads to its pods, whatever port is called.
            let target = match own {
                Some(own) => slice.ports.iter().find(|port| port.name == own.name).map(|port| port.number),
                None if service.address.is_none() => Some(port),
                None => return Err(Culprit::NoPort(service.name.clone())),
            };
            for endpoint in slice.endpoints.iter().filter(|endpoint| endpoint.is_ready) {
                has_ready = true;
                let pod = endpoint.pod.as_ref().and_then(|(name, _)| self.pod(name));
                arrivals.extend(target.map(|port| Arrival { address: endpoint.address, pod, port }));
            }
        }
        match (arrivals.is_empty(), has_ready, own) {
            (false, ..) => Ok(arrivals),
            (true, _, None) if service.address.is_some() => Err(Culprit::NoPort(service.name.clone())),
            // Pods are ready, and none of them has a port of the name.
            (true, true, _) => Err(Culprit::NotServed(service.name.clone())),
            (true, false, _) => Err(Culprit::NoEndpoints(service.name.clone())),
        }
    }

    /// Returns what stops packets from a pod to a place.
    fn stops(
        &self,
        from: &Pod,
        to: &Arrival<'_>,
        protocol: Protocol,
        service: Option<&Service>,
    ) -> Vec<Culprit> {
        let mut stops = Vec::new();
        let is_itself = to.pod.is_some_and(|pod| pod.name == from.name);
        if !is_itself && self.engine != Engine::None {
            let caller = Arrival { address: from.address, pod: Some(from), port: to.port };
            stops.extend(self.closing(PolicyType::Egress, from, to, to, protocol));
            if let Some(pod) = to.pod {
                stops.extend(self.closing(PolicyType::Ingress, pod, &caller, to, protocol));
            }
        }
        let is_open = |pod: &Pod| {
            pod.ports.is_empty()
                || pod.ports.iter().any(|own| own.number == to.port && own.protocol == protocol)
        };
        if let Some(pod) = to.pod.filter(|pod| !is_open(pod)) {
            stops.push(match service {
                Some(service) => Culprit::NotServed(service.name.clone()),
                None => Culprit::PodPort(pod.name.clone()),
            });
        }
        stops
    }

    /// Returns the policies that select a pod for a direction, where none of them lets its packets through.
    fn closing(
        &self,
        direction: PolicyType,
        subject: &Pod,
        other: &Arrival<'_>,
        to: &Arrival<'_>,
        protocol: Protocol,
    ) -> Vec<Culprit> {
        // Policies are about pods that have a network of their own.
        if subject.is_on_host {
            return Vec::new();
        }
        let selects = |policy: &&Policy| {
            policy.name.namespace == subject.name.namespace
                && policy.spec.policy_types.contains(&direction)
                && policy.spec.pod_selector.selects(&subject.labels)
        };
        let about: Vec<&Policy> = self.policies.iter().filter(selects).collect();
        let is_let = about.iter().any(|policy| {
            let rules: Vec<(&[Peer], &[PolicyPort])> = match direction {
                PolicyType::Ingress => {
                    policy.spec.ingress.iter().map(|rule| (&rule.from[..], &rule.ports[..])).collect()
                }
                PolicyType::Egress => {
                    policy.spec.egress.iter().map(|rule| (&rule.to[..], &rule.ports[..])).collect()
                }
            };
            rules.iter().any(|(peers, ports)| {
                let is_peer = peers.is_empty() || peers.iter().any(|peer| self.is_peer(policy, peer, other));
                let is_port = ports.is_empty() || ports.iter().any(|port| is_port(port, to, protocol));
                is_peer && is_port
            })
        });
        if is_let {
            Vec::new()
        } else {
            about.into_iter().map(|own| Culprit::Policy(own.name.clone())).collect()
        }
    }

    fn is_peer(&self, policy: &Policy, peer: &Peer, other: &Arrival<'_>) -> bool {
        if let Some(block) = &peer.ip_block {
            // Cilium knows pods by what they are, and blocks are for everybody else.
            return block.holds(other.address) && (other.pod.is_none() || self.engine != Engine::Cilium);
        }
        let Some(pod) = other.pod.filter(|pod| !pod.is_on_host) else { return false };
        let in_namespace = match &peer.namespace_selector {
            None => pod.name.namespace == policy.name.namespace,
            Some(selector) => {
                self.namespaces.get(&pod.name.namespace).is_some_and(|labels| selector.selects(labels))
            }
        };
        in_namespace && peer.pod_selector.as_ref().is_none_or(|selector| selector.selects(&pod.labels))
    }
}

fn is_port(own: &PolicyPort, to: &Arrival<'_>, protocol: Protocol) -> bool {
    own.protocol == protocol
        && match (&own.port, own.end_port) {
            (None, _) => true,
            (Some(PortRef::Number(first)), Some(last)) => (*first..=last).contains(&to.port),
            (Some(PortRef::Number(number)), None) => *number == to.port,
            (Some(named), _) => to.pod.and_then(|pod| pod.port(named, protocol)) == Some(to.port),
        }
}
