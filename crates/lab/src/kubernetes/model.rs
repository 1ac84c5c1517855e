//! A cluster, with everything that the lab knows of it.

use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::str::FromStr;

use serde::{Deserialize, Deserializer};

use super::policy::PolicySpec;

/// Labels of an object.
pub(super) type Labels = BTreeMap<String, String>;

/// The namespace of what belongs to the cluster itself.
pub(super) const SYSTEM: &str = "kube-system";

/// An object of a namespace, written `NAMESPACE/NAME`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectName {
    pub namespace: String,
    pub name: String,
}

impl ObjectName {
    pub(super) fn new(namespace: &str, name: impl Into<String>) -> Self {
        Self { namespace: namespace.to_owned(), name: name.into() }
    }
}

impl fmt::Display for ObjectName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.namespace, self.name)
    }
}

impl FromStr for ObjectName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.split_once('/').filter(|(namespace, name)| is_label(namespace) && is_label(name));
        let (namespace, name) = parts.ok_or_else(|| {
            format!("`{text}` is no name; write NAMESPACE/NAME in small letters, digits and `-`")
        })?;
        Ok(Self::new(namespace, name))
    }
}

impl<'de> Deserialize<'de> for ObjectName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// Tells whether a text is a label as in names of hosts, by which objects and namespaces are called.
pub(super) fn is_label(text: &str) -> bool {
    let is_end = |char: char| char.is_ascii_lowercase() || char.is_ascii_digit();
    (1..=63).contains(&text.len())
        && text.starts_with(is_end)
        && text.ends_with(is_end)
        && text.chars().all(|char| is_end(char) || char == '-')
}

/// What enforces NetworkPolicies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Engine {
    /// The network policy manager of Azure.
    #[default]
    Azure,
    Calico,
    Cilium,
    /// Nothing: policies have no effect.
    None,
}

/// How the API server takes calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ApiServer {
    #[default]
    Answers,
    /// No packet comes back.
    Silent,
    /// Nobody listens.
    Refuses,
    /// It does not know who asks.
    Unauthorized,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Protocol {
    #[default]
    Tcp,
    Udp,
}

impl Protocol {
    /// Returns the word that documents have for it.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Tcp => "TCP",
            Self::Udp => "UDP",
        }
    }
}

/// A port of the called pod, by number or by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PortRef {
    Number(u16),
    Name(String),
}

/// A port of a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ContainerPort {
    pub(super) name: Option<String>,
    pub(super) number: u16,
    pub(super) protocol: Protocol,
}

/// A port of a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ServicePort {
    /// Empty where it has none.
    pub(super) name: String,
    pub(super) number: u16,
    pub(super) protocol: Protocol,
    pub(super) target: PortRef,
}

/// The life of a pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
pub(super) enum PodPhase {
    #[default]
    Running,
    Pending,
    Succeeded,
    Failed,
}

impl PodPhase {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Running => "Running",
            Self::Pending => "Pending",
            Self::Succeeded => "Succeeded",
            Self::Failed => "Failed",
        }
    }

    /// Tells whether it is over.
    pub(super) const fn is_over(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pod {
    pub(super) name: ObjectName,
    pub(super) labels: Labels,
    pub(super) address: IpAddr,
    /// The number of its node.
    pub(super) node: usize,
    pub(super) phase: PodPhase,
    pub(super) is_ready: bool,
    /// Whether somebody deleted it, and it still has time.
    pub(super) is_ending: bool,
    /// Whether it shares the network of its node.
    pub(super) is_on_host: bool,
    /// Why its container does not run, as `CrashLoopBackOff`.
    pub(super) waits: Option<String>,
    pub(super) ports: Vec<ContainerPort>,
}

impl Pod {
    /// Returns the number that a port of this pod has.
    pub(super) fn port(&self, port: &PortRef, protocol: Protocol) -> Option<u16> {
        match port {
            PortRef::Number(number) => Some(*number),
            PortRef::Name(name) => {
                let is_it =
                    |own: &&ContainerPort| own.name.as_ref() == Some(name) && own.protocol == protocol;
                self.ports.iter().find(is_it).map(|own| own.number)
            }
        }
    }

    /// Tells whether it has an address.
    pub(super) fn has_address(&self) -> bool {
        self.phase != PodPhase::Pending
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
pub(super) enum ServiceType {
    #[default]
    #[serde(rename = "ClusterIP")]
    Internal,
    NodePort,
    LoadBalancer,
}

impl ServiceType {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Internal => "ClusterIP",
            Self::NodePort => "NodePort",
            Self::LoadBalancer => "LoadBalancer",
        }
    }
}

/// Which nodes serve calls from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
pub(super) enum TrafficPolicy {
    #[default]
    Cluster,
    Local,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Service {
    pub(super) name: ObjectName,
    /// Nothing where others say what is behind it.
    pub(super) selector: Option<Labels>,
    pub(super) ports: Vec<ServicePort>,
    pub(super) kind: ServiceType,
    /// Nothing where it is headless.
    pub(super) address: Option<IpAddr>,
    /// The address of the load balancer in front of it.
    pub(super) outside: Option<IpAddr>,
    pub(super) external: TrafficPolicy,
    pub(super) takes_unready: bool,
    /// What is behind it, where it has no selector.
    pub(super) endpoints: Vec<IpAddr>,
}

/// A NetworkPolicy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Policy {
    pub(super) name: ObjectName,
    pub(super) spec: PolicySpec,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) name: String,
    pub(super) address: Ipv4Addr,
}

/// A cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cluster {
    pub(super) name: String,
    pub(super) engine: Engine,
    pub(super) api: ApiServer,
    /// Where its API server is.
    pub(super) server: Ipv4Addr,
    /// The kinds that whoever asks may not list.
    pub(super) forbidden: Vec<String>,
    pub(super) nodes: Vec<Node>,
    /// With all labels.
    pub(super) namespaces: BTreeMap<String, Labels>,
    pub(super) pods: Vec<Pod>,
    pub(super) services: Vec<Service>,
    pub(super) policies: Vec<Policy>,
}

impl Cluster {
    /// Returns its name, which is that of its context.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn pod(&self, name: &ObjectName) -> Option<&Pod> {
        self.pods.iter().find(|pod| pod.name == *name)
    }

    pub(super) fn service(&self, name: &ObjectName) -> Option<&Service> {
        self.services.iter().find(|service| service.name == *name)
    }

    /// Returns the pods that labels select in a namespace.
    pub(super) fn labeled(&self, namespace: &str, labels: &Labels) -> impl Iterator<Item = &Pod> {
        let is_it = move |pod: &&Pod| {
            pod.name.namespace == namespace
                && labels.iter().all(|(key, value)| pod.labels.get(key) == Some(value))
        };
        self.pods.iter().filter(is_it)
    }
}
