//! The objects of a cluster, as far as they decide about flows.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::net::IpAddr;

use serde::Serialize;

use super::node::NodeRules;
use super::policy::Policy;
use super::selector::{Labels, Selector};

/// A name in a namespace.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name {
    /// The namespace.
    pub namespace: String,
    /// The name.
    pub name: String,
}

impl fmt::Display for Name {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.namespace, self.name)
    }
}

/// A protocol that ports have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
    /// SCTP.
    Sctp,
}

impl Protocol {
    /// Reads it as Kubernetes writes it.
    pub(super) fn named(text: &str) -> Option<Self> {
        match text {
            "TCP" => Some(Self::Tcp),
            "UDP" => Some(Self::Udp),
            "SCTP" => Some(Self::Sctp),
            _ => None,
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Tcp => "tcp",
            Self::Udp => "udp",
            Self::Sctp => "sctp",
        })
    }
}

/// What the documents hold.
#[derive(Debug, Clone, Default)]
pub struct Cluster {
    pub(super) namespaces: BTreeMap<String, Labels>,
    pub(super) pods: BTreeMap<Name, Pod>,
    pub(super) services: BTreeMap<Name, Service>,
    pub(super) slices: BTreeMap<Name, Slice>,
    pub(super) policies: BTreeMap<Name, Policy>,
    /// Whether all policies were read, even if there are none.
    pub(super) has_policies: bool,
    /// Policies of other kinds, which are not judged.
    pub(super) other_policies: BTreeSet<String>,
    /// Whether lists of these kinds hold something that could not be read.
    pub(super) unread: BTreeSet<Kind>,
    /// What could not be read.
    pub(super) warnings: Vec<String>,
    /// How many warnings are left out.
    pub(super) more_warnings: usize,
    /// The rules of a node.
    pub(super) rules: Option<NodeRules>,
}

/// The kinds of objects that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Namespace,
    Pod,
    Service,
    Slice,
    Policy,
}

/// A pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pod {
    pub(super) name: Name,
    pub(super) labels: Labels,
    pub(super) addresses: Vec<IpAddr>,
    /// The addresses of its node.
    pub(super) node_addresses: Vec<IpAddr>,
    pub(super) node: Option<String>,
    /// Whether it is on the network of its node.
    pub(super) is_on_host: bool,
    pub(super) phase: String,
    pub(super) is_ready: bool,
    pub(super) is_ending: bool,
    pub(super) ports: Vec<ContainerPort>,
    /// The hosts that its environment and its arguments name.
    pub(super) hosts: BTreeSet<String>,
}

impl Pod {
    pub(super) fn is_running(&self) -> bool {
        self.phase == "Running"
    }

    /// Tells whether it has ended for good.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.phase.as_str(), "Succeeded" | "Failed")
    }

    /// Returns the numbers of the ports of a name.
    pub(super) fn ports_named(&self, name: &str, protocol: Protocol) -> BTreeSet<u16> {
        let is_it = |port: &&ContainerPort| port.name.as_deref() == Some(name) && port.protocol == protocol;
        self.ports.iter().filter(is_it).map(|port| port.number).collect()
    }
}

/// A port that a container declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ContainerPort {
    pub(super) name: Option<String>,
    pub(super) number: u16,
    pub(super) protocol: Protocol,
}

/// A service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Service {
    pub(super) name: Name,
    /// `ClusterIP`, `NodePort`, `LoadBalancer` or `ExternalName`.
    pub(super) kind: String,
    /// Its addresses; none where it is headless.
    pub(super) addresses: Vec<IpAddr>,
    pub(super) selector: Option<Selector>,
    pub(super) ports: Vec<ServicePort>,
    /// Whether a caller inside reaches only the pods of its own node.
    pub(super) is_local_inside: bool,
    /// Whether a caller from outside reaches only the pods of the node that it calls, with its own address.
    pub(super) is_local_outside: bool,
    pub(super) takes_unready: bool,
}

/// A port of a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ServicePort {
    pub(super) name: String,
    pub(super) number: u16,
    pub(super) protocol: Protocol,
    pub(super) target: PortRef,
}

/// A port, by its number or its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PortRef {
    Number(u16),
    Name(String),
}

impl fmt::Display for PortRef {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(out, "{number}"),
            Self::Name(name) => out.write_str(name),
        }
    }
}

/// A part of the endpoints of a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Slice {
    pub(super) name: Name,
    pub(super) service: Option<String>,
    pub(super) ports: Vec<SlicePort>,
    pub(super) endpoints: Vec<SliceEndpoint>,
}

/// A port of a slice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SlicePort {
    pub(super) name: String,
    /// Nothing where it stands for any.
    pub(super) number: Option<u16>,
    pub(super) protocol: Protocol,
}

/// An endpoint of a slice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SliceEndpoint {
    pub(super) addresses: Vec<IpAddr>,
    pub(super) is_ready: bool,
    /// Whether it ends and still answers.
    pub(super) is_serving_to_the_end: bool,
    pub(super) node: Option<String>,
    pub(super) pod: Option<String>,
}
