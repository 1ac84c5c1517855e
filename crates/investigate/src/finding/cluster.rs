//! Faults inside of a Kubernetes cluster, as findings name them: which object has them, their words, and what they explain.

use ghost_inspect::cluster::{Cause, Fault as ClusterFault, Object};

use super::object_kind::ObjectKind;
use crate::suspect::plain;
use crate::symptom_text::Symptom;

/// Returns what kind of object has it.
pub(super) const fn object_kind(fault: ClusterFault) -> ObjectKind {
    match fault {
        ClusterFault::PolicyDenies => ObjectKind::NetworkPolicy,
        ClusterFault::NoEndpoints | ClusterFault::ServicePortMissing | ClusterFault::NodeRulesStale => {
            ObjectKind::ClusterService
        }
        ClusterFault::PortNotServed => ObjectKind::ClusterTarget,
    }
}

/// Names what is at fault in a cluster.
pub(crate) fn object(cluster: &str, cause: &Cause) -> String {
    let (kind, name) = match &cause.object {
        Object::Policy(name) => ("netpol", name),
        Object::Service(name) => ("service", name),
        Object::Pod(name) => ("pod", name),
    };
    format!("{kind}/{}/{}/{}", plain(cluster), plain(&name.namespace), plain(&name.name))
}

/// Returns the name of a fault as a headline; `parts` are those of its object.
pub(super) fn title(fault: ClusterFault, parts: &[&str]) -> String {
    let at = |index: usize| parts.get(index).copied().unwrap_or_default();
    let name = format!("{}/{}", at(2), at(3));
    let cluster = at(1);
    match fault {
        ClusterFault::PolicyDenies => format!("NetworkPolicy {name} of {cluster} denies the traffic"),
        ClusterFault::NoEndpoints => format!("Service {name} of {cluster} leads to no ready pod"),
        ClusterFault::PortNotServed if at(0) == "pod" => {
            format!("Pod {name} of {cluster} does not serve the port")
        }
        ClusterFault::PortNotServed => {
            format!("Service {name} of {cluster} leads to a port that its pods do not serve")
        }
        ClusterFault::ServicePortMissing => format!("Service {name} of {cluster} does not have the port"),
        ClusterFault::NodeRulesStale => {
            format!("The rules of a node of {cluster} do not have what service {name} leads to")
        }
    }
}

/// Returns how the fault works and what it explains.
pub(super) const fn mechanism(fault: ClusterFault) -> &'static str {
    match fault {
        ClusterFault::PolicyDenies => {
            "A pod that some policy selects gets through what some rule allows, and nothing else. Callers hang without an answer."
        }
        ClusterFault::NoEndpoints => {
            "A service sends what it gets to the ready pods that its selector matches. It has none, so callers are refused or wait."
        }
        ClusterFault::PortNotServed => {
            "The service sends what it gets to a port on which no container of its pods waits, so callers are refused."
        }
        ClusterFault::ServicePortMissing => {
            "A service passes on the ports that it lists. Nobody answers on any other port of its address."
        }
        ClusterFault::NodeRulesStale => {
            "Each node sends what a service gets to the pods by rules of its own. These are not the ones that belong to the pods of now."
        }
    }
}

/// What callers see if no call, or only some of them, gets there. None of it makes a call slow.
const STOPPED: [Symptom; 7] = [
    Symptom::Unreachable,
    Symptom::Hanging,
    Symptom::OneProtocol,
    Symptom::Lossy,
    Symptom::Containers,
    Symptom::InternetLost,
    Symptom::Names,
];

/// Lists what somebody may see because of it.
pub(crate) const fn symptoms(fault: ClusterFault) -> &'static [&'static [Symptom]] {
    match fault {
        // Some engines reject what no policy allows, most drop it.
        ClusterFault::PolicyDenies
        | ClusterFault::NoEndpoints
        | ClusterFault::PortNotServed
        | ClusterFault::ServicePortMissing
        | ClusterFault::NodeRulesStale => &[&STOPPED, &[Symptom::Refused]],
    }
}

#[cfg(test)]
mod tests {
    use super::super::fault::Fault;
    use super::*;

    #[test]
    fn every_fault_of_a_cluster_has_its_code() {
        for fault in ClusterFault::ALL {
            assert_eq!(Fault::Cluster(fault).as_str(), fault.as_str());
            assert_eq!(fault.as_str().parse(), Ok(Fault::Cluster(fault)));
        }
    }

    #[test]
    fn objects_are_named_with_their_cluster() {
        let fault = Fault::Cluster(ClusterFault::PortNotServed);
        assert_eq!(
            fault.title("service/aks/shop/db"),
            "Service shop/db of aks leads to a port that its pods do not serve"
        );
        assert_eq!(fault.title("pod/aks/shop/db-0"), "Pod shop/db-0 of aks does not serve the port");
        let denied = Fault::Cluster(ClusterFault::PolicyDenies);
        assert!(!denied.object_kind().matches("netpol/shop/db"));
    }
}
