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

/// What is said of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FaultText {
    /// The code.
    pub code: &'static str,
    /// A sentence; `{object}` stands for what is at fault.
    pub words: &'static str,
    /// What to do.
    pub remedy: &'static str,
    /// By what it is seen.
    pub evidence: &'static str,
    /// What resembles it and is healthy, or another fault.
    pub alike: &'static str,
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
        self.text().code
    }

    /// Returns all that is said of it.
    #[must_use]
    pub const fn text(self) -> FaultText {
        match self {
            Self::PolicyDenies => FaultText {
                code: "k8s_policy_deny",
                words: "{object} selects the pod and lets this flow through by none of its rules",
                remedy: "add a rule for this peer and port, in the direction that is closed, or a further policy that allows it; \
                         policies only ever add up",
                evidence: "`kubectl get networkpolicies -A -o json`: the pod is selected for the direction, and no rule of any policy matches",
                alike: "a policy that selects no pod of the flow, or closes the other direction alone",
            },
            Self::NoEndpoints => FaultText {
                code: "k8s_no_endpoints",
                words: "{object} has no pod that is ready",
                remedy: "make its selector match the labels of its pods, or find out why none of them becomes ready (`kubectl describe pod`)",
                evidence: "`kubectl get endpointslices -o json`: no endpoint of the service is ready",
                alike: "a service of which some pods are not ready: the others serve",
            },
            Self::PortNotServed => FaultText {
                code: "k8s_port_not_served",
                words: "{object} leads to a port that no container of its pods has",
                remedy: "set targetPort to the port, or the name of the port, that the container serves",
                evidence: "`kubectl get services,pods -o json`: targetPort against the ports of the containers",
                alike: "containers that declare no ports: they may listen on any",
            },
            Self::ServicePortMissing => FaultText {
                code: "k8s_service_port_missing",
                words: "{object} does not have this port",
                remedy: "call a port that the service has, or add the port to it",
                evidence: "`kubectl get services -o json`: spec.ports",
                alike: "the port of a pod, which only who calls the pod itself uses",
            },
            Self::NodeRulesStale => FaultText {
                code: "k8s_node_rules_stale",
                words: "the rules of the node do not have what the cluster says of {object}",
                remedy: "read the log of kube-proxy on that node, and restart its pod there",
                evidence: "`iptables-save` of the node against `kubectl get endpointslices`",
                alike: "rules that were read earlier than the endpoints; a cluster without kube-proxy",
            },
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
        Self { fault, object, why: why.into(), is_proven: true, remedy: fault.text().remedy }
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
    fn every_code_is_its_own_and_says_all_that_there_is_to_say() {
        let codes: BTreeSet<_> = Fault::ALL.iter().map(|fault| fault.as_str()).collect();
        assert_eq!(codes.len(), Fault::ALL.len());
        for fault in Fault::ALL {
            let text = fault.text();
            assert!(text.code.starts_with("k8s_") && text.words.contains("{object}"), "{fault}");
            for said in [text.remedy, text.evidence, text.alike] {
                assert!(said.len() > 8 && !said.ends_with('.'), "{fault}: {said}");
            }
        }
    }
}
