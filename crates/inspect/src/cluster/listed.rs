//! What the documents hold, for whoever has to find out what somebody means.

use std::collections::BTreeSet;
use std::net::IpAddr;

use super::object::{Cluster, Name, Pod, Protocol, Service};

/// Labels that name what a pod belongs to, the most telling first.
pub(super) const WORKLOAD: [&str; 3] = ["app.kubernetes.io/name", "app", "k8s-app"];

/// A pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedPod {
    /// Its name.
    pub name: Name,
    /// Its address; none before it has one.
    pub address: Option<IpAddr>,
    /// The node that it is on.
    pub node: Option<String>,
    /// What it belongs to, by its labels and by its name.
    pub workloads: BTreeSet<String>,
    /// The ports that its containers declare.
    pub ports: Vec<(Protocol, u16)>,
    /// Whether it runs on a network of its own, and not on that of its node.
    pub is_caller: bool,
}

/// A service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedService {
    /// Its name.
    pub name: Name,
    /// Its address; none where it is headless.
    pub address: Option<IpAddr>,
    /// Its ports.
    pub ports: Vec<(Protocol, u16)>,
}

impl Cluster {
    /// Returns the names of all namespaces that something was read of.
    #[must_use]
    pub fn namespaces(&self) -> BTreeSet<&str> {
        let own = self.namespaces.keys().map(String::as_str);
        let names = self.pods.keys().chain(self.services.keys());
        own.chain(names.map(|name| name.namespace.as_str())).collect()
    }

    /// Returns the pods that have not ended for good.
    #[must_use]
    pub fn listed_pods(&self) -> Vec<ListedPod> {
        self.pods.values().filter(|pod| !pod.is_over()).map(listed_pod).collect()
    }

    /// Returns the services.
    #[must_use]
    pub fn listed_services(&self) -> Vec<ListedService> {
        self.services.values().map(listed_service).collect()
    }
}

/// Returns what a pod belongs to, by its labels and by its name.
pub(super) fn workloads(pod: &Pod) -> BTreeSet<String> {
    let labels = WORKLOAD.iter().filter_map(|key| pod.labels.get(*key)).cloned();
    labels.chain(controllers(&pod.name.name)).collect()
}

fn listed_pod(pod: &Pod) -> ListedPod {
    ListedPod {
        name: pod.name.clone(),
        address: pod.addresses.first().copied(),
        node: pod.node.clone(),
        workloads: workloads(pod),
        ports: pod.ports.iter().map(|port| (port.protocol, port.number)).collect(),
        is_caller: pod.is_running() && !pod.is_on_host,
    }
}

fn listed_service(service: &Service) -> ListedService {
    ListedService {
        name: service.name.clone(),
        address: service.addresses.first().copied(),
        ports: service.ports.iter().map(|port| (port.protocol, port.number)).collect(),
    }
}

/// Returns what made a pod, by the endings that controllers add to their own names.
fn controllers(pod: &str) -> Vec<String> {
    let mut found = Vec::new();
    let Some((set, last)) = pod.rsplit_once('-') else { return found };
    if !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit()) {
        found.push(set.to_owned());
    }
    // Five letters without vowels, behind the hash of the template of a deployment.
    let is_drawn = |text: &str| text.bytes().all(|byte| b"bcdfghjklmnpqrstvwxz2456789".contains(&byte));
    if last.len() == 5 && is_drawn(last) {
        found.push(set.to_owned());
        if let Some((deployment, hash)) = set.rsplit_once('-')
            && (6..=10).contains(&hash.len())
            && is_drawn(hash)
        {
            found.push(deployment.to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pod_is_known_by_what_made_it() {
        assert_eq!(controllers("db-0"), ["db"]);
        assert_eq!(controllers("web-7d4b9c6f5-x2x8k"), ["web-7d4b9c6f5", "web"]);
        assert_eq!(controllers("agent-x2x8k"), ["agent"]);
        assert_eq!(controllers("web"), [] as [&str; 0]);
        assert_eq!(controllers("web-admin"), [] as [&str; 0]);
    }
}
