//! What enforces policies: without it they have no effect.

use std::fmt;

use serde::Serialize;

use super::object::Pod;

/// What enforces NetworkPolicies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// Azure's network policy manager.
    Azure,
    /// Calico.
    Calico,
    /// Cilium.
    Cilium,
    /// Another one that is known to enforce them.
    Other,
    /// Nothing: policies have no effect.
    None,
}

impl Engine {
    /// Finds the engine by its pods among those of the system.
    pub(super) fn of_pods<'a>(pods: impl Iterator<Item = &'a Pod>) -> Option<Self> {
        let mut found = pods.filter_map(|pod| {
            let is_system = ["kube-system", "calico-system"].contains(&pod.name.namespace.as_str());
            let label = |key: &str| pod.labels.get(key).map(String::as_str);
            let words = [label("k8s-app"), label("app"), label("name")];
            let engine = words.into_iter().flatten().find_map(|word| match word {
                "azure-npm" => Some(Self::Azure),
                "calico-node" => Some(Self::Calico),
                "cilium" => Some(Self::Cilium),
                "antrea-agent" | "antrea" | "kube-router" | "weave-net" => Some(Self::Other),
                _ => None,
            })?;
            (is_system && pod.is_running()).then_some(engine)
        });
        let first = found.next()?;
        // Two of them in one cluster: which one enforces is not known.
        Some(if found.all(|other| other == first) { first } else { Self::Other })
    }

    /// Tells whether a block of addresses selects pods, too; nothing where that is not known.
    pub(super) const fn blocks_select_pods(self) -> Option<bool> {
        match self {
            Self::Azure | Self::Calico => Some(true),
            Self::Cilium => Some(false),
            Self::Other | Self::None => None,
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Azure => "Azure's network policy manager",
            Self::Calico => "Calico",
            Self::Cilium => "Cilium",
            Self::Other => "another engine",
            Self::None => "nothing",
        })
    }
}
