//! What can be wrong inside of a cluster: the codes, and the names of what is at fault. Codes are added, never renamed.

use std::fmt;

use serde::{Serialize, Serializer};

use super::object::Name;

/// A fault code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// A policy selects a pod, and no rule lets the flow through.
    PolicyDenies,
    /// A service leads to no pod.
    NoEndpoints,
    /// A service leads to a port that its pods do not have.
    PortNotServed,
    /// A service does not have the port.
    ServicePortMissing,
    /// The rules of a node do not have what the cluster says of a service.
    NodeRulesStale,
}

impl Fault {
    /// Every code.
    pub const ALL: [Self; 5] = [
        Self::PolicyDenies,
        Self::NoEndpoints,
        Self::PortNotServed,
        Self::ServicePortMissing,
        Self::NodeRulesStale,
    ];

    /// Returns the code.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PolicyDenies => "k8s_policy_deny",
            Self::NoEndpoints => "k8s_no_endpoints",
            Self::PortNotServed => "k8s_port_not_served",
            Self::ServicePortMissing => "k8s_service_port_missing",
            Self::NodeRulesStale => "k8s_node_rules_stale",
        }
    }

    /// Says what to do.
    #[must_use]
    pub const fn remedy(self) -> &'static str {
        match self {
            Self::PolicyDenies => {
                "add a rule for this peer and port, in the direction that is closed, or a further policy that allows it; \
                 policies only ever add up"
            }
            Self::NoEndpoints => {
                "make its selector match the labels of its pods, or find out why none of them becomes ready (`kubectl describe pod`)"
            }
            Self::PortNotServed => {
                "set targetPort to the port, or the name of the port, that the container serves"
            }
            Self::ServicePortMissing => "call a port that the service has, or add the port to it",
            Self::NodeRulesStale => "read the log of kube-proxy on that node, and restart its pod there",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

impl Serialize for Fault {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// What is at fault.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Object {
    /// A NetworkPolicy.
    Policy(Name),
    /// A Service.
    Service(Name),
    /// A pod.
    Pod(Name),
}

impl fmt::Display for Object {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Policy(name) => write!(out, "netpol/{name}"),
            Self::Service(name) => write!(out, "service/{name}"),
            Self::Pod(name) => write!(out, "pod/{name}"),
        }
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A fault at an object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cause {
    /// The fault.
    pub fault: Fault,
    /// What is at fault.
    pub object: Object,
    /// What shows it.
    pub why: String,
    /// Whether it is proven; else something speaks for it, and the verdict does not depend on it.
    pub is_proven: bool,
    /// What to do.
    pub remedy: &'static str,
}

impl Cause {
    pub(super) fn proven(fault: Fault, object: Object, why: impl Into<String>) -> Self {
        Self { fault, object, why: why.into(), is_proven: true, remedy: fault.remedy() }
    }

    pub(super) fn suspected(fault: Fault, object: Object, why: impl Into<String>) -> Self {
        Self { is_proven: false, ..Self::proven(fault, object, why) }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_code_is_its_own() {
        let codes: BTreeSet<_> = Fault::ALL.iter().map(|fault| fault.as_str()).collect();
        assert_eq!(codes.len(), Fault::ALL.len());
        assert!(codes.iter().all(|code| code.starts_with("k8s_")));
    }
}
