//! What is wrong in a cluster: one change of a cluster that works.

use serde::Deserialize;

use super::model::{Cluster, Labels, ObjectName, Policy, PortRef, Service};
use super::policy::PolicySpec;

/// A fault. In a file `kind` says which.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum PlacedClusterFault {
    /// A policy that is there too much, or says something else than it should.
    Policy(PolicyFault),
    /// A service whose selector is not that of its pods.
    Selector(SelectorFault),
    /// Pods that are not ready.
    NotReady(NotReady),
    /// A port of a service that leads to another port of the pods than they have.
    TargetPort(TargetPort),
    /// A port that a service had, and that is another one now.
    ServicePort(ServicePortFault),
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PolicyFault {
    id: Option<String>,
    name: ObjectName,
    #[serde(default)]
    spec: PolicySpec,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SelectorFault {
    id: Option<String>,
    service: ObjectName,
    selector: Labels,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NotReady {
    id: Option<String>,
    pods: Vec<ObjectName>,
    /// Why their containers do not run, as `CrashLoopBackOff`; they run and fail their probe where nothing is said.
    waits: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TargetPort {
    id: Option<String>,
    service: ObjectName,
    /// The port of the service.
    port: u16,
    target: PortRef,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ServicePortFault {
    id: Option<String>,
    service: ObjectName,
    /// The port that callers know.
    port: u16,
    /// The port that it is now.
    now: u16,
}

impl PlacedClusterFault {
    /// Returns the name by which later phases speak of it.
    pub(super) fn id(&self) -> Option<&str> {
        match self {
            Self::Policy(own) => own.id.as_deref(),
            Self::Selector(own) => own.id.as_deref(),
            Self::NotReady(own) => own.id.as_deref(),
            Self::TargetPort(own) => own.id.as_deref(),
            Self::ServicePort(own) => own.id.as_deref(),
        }
    }

    /// Puts it into a cluster.
    pub(super) fn put(&self, cluster: &mut Cluster) -> Result<(), String> {
        match self {
            Self::Policy(own) => {
                cluster.policies.retain(|policy| policy.name != own.name);
                let spec = own.spec.clone().complete();
                cluster.policies.push(Policy { name: own.name.clone(), spec });
            }
            Self::Selector(own) => service(cluster, &own.service)?.selector = Some(own.selector.clone()),
            Self::NotReady(own) => {
                for name in &own.pods {
                    let pod = cluster.pods.iter_mut().find(|pod| pod.name == *name);
                    let pod = pod.ok_or_else(|| format!("there is no pod {name}"))?;
                    pod.is_ready = false;
                    pod.waits.clone_from(&own.waits);
                }
            }
            Self::TargetPort(own) => {
                let service = service(cluster, &own.service)?;
                let found = service.ports.iter_mut().find(|port| port.number == own.port);
                found.ok_or_else(|| no_port(&own.service, own.port))?.target = own.target.clone();
            }
            Self::ServicePort(own) => {
                let service = service(cluster, &own.service)?;
                let found = service.ports.iter_mut().find(|port| port.number == own.port);
                found.ok_or_else(|| no_port(&own.service, own.port))?.number = own.now;
            }
        }
        Ok(())
    }
}

fn service<'a>(cluster: &'a mut Cluster, name: &ObjectName) -> Result<&'a mut Service, String> {
    let found = cluster.services.iter_mut().find(|service| service.name == *name);
    found.ok_or_else(|| format!("there is no service {name}"))
}

fn no_port(service: &ObjectName, port: u16) -> String {
    format!("the service {service} has no port {port}")
}
