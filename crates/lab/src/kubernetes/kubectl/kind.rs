//! The kinds of objects that can be asked for.

use serde_json::Value;

use crate::kubernetes::model::Cluster;

/// A kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Pods,
    Services,
    EndpointSlices,
    Namespaces,
    Nodes,
    NetworkPolicies,
}

impl Kind {
    const ALL: [Self; 6] = [
        Self::Pods,
        Self::Services,
        Self::EndpointSlices,
        Self::Namespaces,
        Self::Nodes,
        Self::NetworkPolicies,
    ];

    /// Returns its name as many, as one, and in short.
    const fn names(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Pods => ("pods", "pod", "po"),
            Self::Services => ("services", "service", "svc"),
            Self::EndpointSlices => ("endpointslices", "endpointslice", ""),
            Self::Namespaces => ("namespaces", "namespace", "ns"),
            Self::Nodes => ("nodes", "node", "no"),
            Self::NetworkPolicies => ("networkpolicies", "networkpolicy", "netpol"),
        }
    }

    /// Returns its group of the API; empty for the first one.
    pub(super) const fn group(self) -> &'static str {
        match self {
            Self::Pods | Self::Services | Self::Namespaces | Self::Nodes => "",
            Self::EndpointSlices => "discovery.k8s.io",
            Self::NetworkPolicies => "networking.k8s.io",
        }
    }

    pub(super) const fn plural(self) -> &'static str {
        self.names().0
    }

    /// Returns its name with its group, as errors say it.
    pub(super) fn with_group(self) -> String {
        grouped(self.plural(), self.group())
    }

    /// Returns what stands before the name of an object.
    pub(super) fn prefix(self) -> String {
        grouped(self.names().1, self.group())
    }

    /// Tells whether its objects are in namespaces.
    pub(super) const fn is_namespaced(self) -> bool {
        match self {
            Self::Pods | Self::Services | Self::EndpointSlices | Self::NetworkPolicies => true,
            Self::Namespaces | Self::Nodes => false,
        }
    }

    /// Finds a kind by what a person writes.
    pub(super) fn named(text: &str) -> Option<Self> {
        let text = text.to_ascii_lowercase();
        let (name, group) =
            text.split_once('.').map_or((text.as_str(), None), |(name, group)| (name, Some(group)));
        Self::ALL.into_iter().find(|kind| {
            let (plural, singular, short) = kind.names();
            let fits = |group: &str| match group.strip_prefix("v1").map(|rest| rest.trim_start_matches('.')) {
                Some(rest) => rest == kind.group(),
                None => group == kind.group(),
            };
            (name == plural || name == singular || !short.is_empty() && name == short)
                && group.is_none_or(fits)
        })
    }

    /// Returns the objects of the kind.
    pub(super) fn documents(self, cluster: &Cluster) -> Vec<Value> {
        match self {
            Self::Pods => cluster.pod_documents(),
            Self::Services => cluster.service_documents(),
            Self::EndpointSlices => cluster.slice_documents(),
            Self::Namespaces => cluster.namespace_documents(),
            Self::Nodes => cluster.node_documents(),
            Self::NetworkPolicies => cluster.policy_documents(),
        }
    }
}

fn grouped(name: &str, group: &str) -> String {
    if group.is_empty() { name.to_owned() } else { format!("{name}.{group}") }
}

/// Tells whether a text is the name of a kind as lists have it.
pub(in crate::kubernetes) fn is_known_kind(text: &str) -> bool {
    Kind::ALL.into_iter().any(|kind| kind.plural() == text)
}
