//! Objects as the API server has them.

use serde_json::{Map, Value, json};

use super::endpoint::{Slice, slices};
use super::model::{
    Cluster, ContainerPort, Labels, Node, ObjectName, Pod, PodPhase, Policy, Service, ServiceType,
    TrafficPolicy,
};
use ghost_base::{Digest, Timestamp};

/// When everything was made, but for some hours: 2025-05-12T08:14:22Z.
const MADE: i64 = 1_747_037_662_000;
/// The version that its nodes run.
pub(super) const VERSION: &str = "v1.31.8";
/// Where nodes are.
const REGION: &str = "eastus";
/// Letters of generated names.
const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

fn digest(parts: &[&str]) -> Digest {
    Digest::of_fields(parts.iter().copied())
}

/// Returns the id of an object.
fn uid(parts: &[&str]) -> String {
    let hex = digest(parts).to_string();
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
    format!("{}-{}-4{}-8{}-{}", part(0, 8), part(8, 12), part(13, 16), part(17, 20), part(20, 32))
}

/// Returns so many generated letters.
fn suffix(parts: &[&str], count: usize) -> String {
    let bytes = *digest(parts).as_bytes();
    let letter = |byte: &u8| LETTERS.get(usize::from(*byte) % LETTERS.len()).copied().map(char::from);
    bytes.iter().take(count).filter_map(letter).collect()
}

fn number(parts: &[&str]) -> i64 {
    let bytes = *digest(parts).as_bytes();
    bytes.iter().take(3).fold(0, |sum, byte| sum * 256 + i64::from(*byte))
}

/// Returns when an object was made.
fn made(parts: &[&str]) -> Timestamp {
    Timestamp::from_millis(MADE + number(parts) % 18_000 * 1_000)
}

/// Writes a moment as the API server does: without milliseconds.
fn moment(at: Timestamp) -> String {
    at.to_string().replace(".000Z", "Z")
}

/// A field is there where it says something.
fn put(map: &mut Map<String, Value>, field: &str, value: Value) {
    let is_empty = match &value {
        Value::Null => true,
        Value::Object(own) => own.is_empty(),
        Value::Array(own) => own.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    };
    if !is_empty {
        map.insert(field.to_owned(), value);
    }
}

fn object(version: &str, kind: &str, metadata: Map<String, Value>, rest: Value) -> Value {
    let mut document = json!({"apiVersion": version, "kind": kind, "metadata": metadata});
    if let (Some(document), Value::Object(rest)) = (document.as_object_mut(), rest) {
        document.extend(rest);
    }
    document
}

impl Cluster {
    fn metadata(
        &self,
        kind: &str,
        namespace: Option<&str>,
        name: &str,
        labels: &Labels,
    ) -> Map<String, Value> {
        let parts = [self.name.as_str(), kind, namespace.unwrap_or_default(), name];
        let mut own = Map::new();
        put(&mut own, "creationTimestamp", json!(moment(made(&parts))));
        put(&mut own, "labels", json!(labels));
        put(&mut own, "name", json!(name));
        put(&mut own, "namespace", json!(namespace));
        put(&mut own, "resourceVersion", json!((4_000_000 + number(&parts) % 900_000).to_string()));
        put(&mut own, "uid", json!(uid(&parts)));
        own
    }

    fn uid(&self, kind: &str, name: &ObjectName) -> String {
        uid(&[&self.name, kind, &name.namespace, &name.name])
    }

    /// Returns its namespaces.
    pub(super) fn namespace_documents(&self) -> Vec<Value> {
        let one = |(name, labels): (&String, &Labels)| {
            let metadata = self.metadata("Namespace", None, name, labels);
            let rest = json!({"spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}});
            object("v1", "Namespace", metadata, rest)
        };
        self.namespaces.iter().map(one).collect()
    }

    /// Returns its nodes.
    pub(super) fn node_documents(&self) -> Vec<Value> {
        self.nodes.iter().enumerate().map(|(at, node)| self.node_document(at, node)).collect()
    }

    fn node_document(&self, at: usize, node: &Node) -> Value {
        let labels: Labels = [
            ("agentpool", "nodepool1"),
            ("beta.kubernetes.io/arch", "amd64"),
            ("kubernetes.azure.com/mode", "system"),
            ("kubernetes.io/arch", "amd64"),
            ("kubernetes.io/hostname", &node.name),
            ("kubernetes.io/os", "linux"),
            ("topology.kubernetes.io/region", REGION),
            ("topology.kubernetes.io/zone", "0"),
        ]
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into_iter()
        .collect();
        let since = moment(made(&[&self.name, "Node", "", &node.name]));
        let condition = |kind: &str, status: &str, reason: &str, message: &str| json!({"lastHeartbeatTime": since, "lastTransitionTime": since, "message": message, "reason": reason, "status": status, "type": kind});
        let rest = json!({
            "spec": {"podCIDR": format!("10.244.{at}.0/24"), "podCIDRs": [format!("10.244.{at}.0/24")],
                "providerID": format!("azure:///subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/mc_{}_{REGION}/providers/Microsoft.Compute/virtualMachineScaleSets/aks-nodepool1-28413697-vmss/virtualMachines/{at}", self.name)},
            "status": {
                "addresses": [{"address": node.address, "type": "InternalIP"}, {"address": node.name, "type": "Hostname"}],
                "allocatable": {"cpu": "1900m", "memory": "5322776Ki", "pods": "250"},
                "capacity": {"cpu": "2", "memory": "8131608Ki", "pods": "250"},
                "conditions": [
                    condition("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
                    condition("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
                    condition("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
                    condition("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
                ],
                "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
                "nodeInfo": {"architecture": "amd64", "containerRuntimeVersion": "containerd://1.7.27-1", "kernelVersion": "5.15.0-1087-azure",
                    "kubeletVersion": VERSION, "operatingSystem": "linux", "osImage": "Ubuntu 22.04.5 LTS"},
            },
        });
        object("v1", "Node", self.metadata("Node", None, &node.name, &labels), rest)
    }

    /// Returns its pods.
    pub(super) fn pod_documents(&self) -> Vec<Value> {
        let mut pods: Vec<&Pod> = self.pods.iter().collect();
        pods.sort_by(|one, other| one.name.cmp(&other.name));
        pods.into_iter().map(|pod| self.pod_document(pod)).collect()
    }

    fn pod_document(&self, pod: &Pod) -> Value {
        let ObjectName { namespace, name } = &pod.name;
        let owner = Owner::of(pod);
        let mut labels = pod.labels.clone();
        labels.extend(owner.labels(&pod.name));
        let mut metadata = self.metadata("Pod", Some(namespace), name, &labels);
        put(&mut metadata, "generateName", json!(format!("{}-", owner.name)));
        let owned = ObjectName::new(namespace, owner.name.clone());
        metadata.insert(
            "ownerReferences".to_owned(),
            json!([{"apiVersion": "apps/v1", "blockOwnerDeletion": true, "controller": true, "kind": owner.kind,
                "name": owner.name, "uid": self.uid(owner.kind, &owned)}]),
        );
        let since = moment(made(&[&self.name, "Pod", namespace, name]));
        if pod.is_ending {
            metadata.insert("deletionGracePeriodSeconds".to_owned(), json!(30));
            metadata.insert("deletionTimestamp".to_owned(), json!(since));
        }
        let node = self.nodes.get(pod.node);
        let app = owner.app();
        let image = format!("contosoregistry.azurecr.io/{app}:1.4.2");
        let mut container = Map::new();
        put(&mut container, "image", json!(image));
        put(&mut container, "imagePullPolicy", json!("IfNotPresent"));
        put(&mut container, "name", json!(app));
        put(&mut container, "ports", Value::Array(pod.ports.iter().map(container_port).collect()));
        container.insert("resources".to_owned(), json!({"requests": {"cpu": "100m", "memory": "128Mi"}}));
        put(&mut container, "terminationMessagePath", json!("/dev/termination-log"));
        put(&mut container, "terminationMessagePolicy", json!("File"));
        let mut spec = Map::new();
        put(&mut spec, "containers", json!([container]));
        put(&mut spec, "dnsPolicy", json!("ClusterFirst"));
        put(&mut spec, "enableServiceLinks", json!(true));
        if pod.is_on_host {
            put(&mut spec, "hostNetwork", json!(true));
        }
        put(&mut spec, "nodeName", json!(node.map(|node| &node.name)));
        put(&mut spec, "preemptionPolicy", json!("PreemptLowerPriority"));
        put(&mut spec, "priority", json!(0));
        put(&mut spec, "restartPolicy", json!("Always"));
        put(&mut spec, "schedulerName", json!("default-scheduler"));
        spec.insert("securityContext".to_owned(), json!({}));
        put(&mut spec, "serviceAccount", json!("default"));
        put(&mut spec, "serviceAccountName", json!("default"));
        put(&mut spec, "terminationGracePeriodSeconds", json!(30));
        let status = self.pod_status(pod, (&app, &image), &since);
        object("v1", "Pod", metadata, json!({"spec": spec, "status": status}))
    }

    fn pod_status(&self, pod: &Pod, (app, image): (&str, &str), since: &str) -> Value {
        let state = |holds: bool, kind: &str| {
            let mut own = json!({"lastProbeTime": null, "lastTransitionTime": since, "status": if holds { "True" } else { "False" }, "type": kind});
            if let (false, Some(map)) = (holds, own.as_object_mut()) {
                map.insert("message".to_owned(), json!(format!("containers with unready status: [{app}]")));
                map.insert("reason".to_owned(), json!("ContainersNotReady"));
            }
            own
        };
        let starts = pod.phase != PodPhase::Pending;
        let container = match (&pod.waits, pod.phase) {
            (Some(why), _) => {
                json!({"waiting": {"reason": why, "message": format!("back-off restarting failed container {app}")}})
            }
            (None, PodPhase::Pending) => json!({"waiting": {"reason": "ContainerCreating"}}),
            (None, PodPhase::Running) => json!({"running": {"startedAt": since}}),
            (None, PodPhase::Succeeded) => {
                json!({"terminated": {"exitCode": 0, "reason": "Completed", "finishedAt": since, "startedAt": since}})
            }
            (None, PodPhase::Failed) => {
                json!({"terminated": {"exitCode": 1, "reason": "Error", "finishedAt": since, "startedAt": since}})
            }
        };
        let restarts = if pod.waits.is_some() { 17 } else { 0 };
        let mut status = Map::new();
        put(
            &mut status,
            "conditions",
            json!([
                state(starts, "PodReadyToStartContainers"),
                state(true, "Initialized"),
                state(pod.is_ready, "Ready"),
                state(pod.is_ready, "ContainersReady"),
                state(true, "PodScheduled"),
            ]),
        );
        put(
            &mut status,
            "containerStatuses",
            json!([{
                "image": image, "imageID": format!("{image}@sha256:{}", digest(&[image])), "lastState": {}, "name": app,
                "ready": pod.is_ready, "restartCount": restarts, "started": pod.waits.is_none() && starts, "state": container,
                "containerID": format!("containerd://{}", digest(&[&self.name, &pod.name.to_string()])),
            }]),
        );
        let host = self.nodes.get(pod.node).map(|node| node.address);
        put(&mut status, "hostIP", json!(host));
        put(&mut status, "hostIPs", json!([{"ip": host}]));
        put(&mut status, "phase", json!(pod.phase.word()));
        if pod.has_address() {
            put(&mut status, "podIP", json!(pod.address));
            put(&mut status, "podIPs", json!([{"ip": pod.address}]));
        }
        put(&mut status, "qosClass", json!("Burstable"));
        put(&mut status, "startTime", json!(since));
        Value::Object(status)
    }

    /// Returns its services.
    pub(super) fn service_documents(&self) -> Vec<Value> {
        let mut services: Vec<(usize, &Service)> = self.services.iter().enumerate().collect();
        services.sort_by(|(_, one), (_, other)| one.name.cmp(&other.name));
        services.into_iter().map(|(at, service)| self.service_document(at, service)).collect()
    }

    fn service_document(&self, at: usize, service: &Service) -> Value {
        let ObjectName { namespace, name } = &service.name;
        let mut spec = Map::new();
        let is_open = service.kind != ServiceType::Internal;
        let port = |(place, own): (usize, &super::model::ServicePort)| {
            let mut map = Map::new();
            put(&mut map, "name", json!((!own.name.is_empty()).then_some(&own.name)));
            put(&mut map, "nodePort", json!(is_open.then(|| 30_100 + at * 20 + place)));
            put(&mut map, "port", json!(own.number));
            put(&mut map, "protocol", json!(own.protocol.word()));
            put(&mut map, "targetPort", json!(own.target));
            Value::Object(map)
        };
        let address = service.address.map_or_else(|| "None".to_owned(), |own| own.to_string());
        put(&mut spec, "clusterIP", json!(address));
        put(&mut spec, "clusterIPs", json!([address]));
        if is_open {
            let policy = match service.external {
                TrafficPolicy::Cluster => "Cluster",
                TrafficPolicy::Local => "Local",
            };
            put(&mut spec, "externalTrafficPolicy", json!(policy));
        }
        if service.kind == ServiceType::LoadBalancer {
            put(&mut spec, "allocateLoadBalancerNodePorts", json!(true));
        }
        put(&mut spec, "internalTrafficPolicy", json!("Cluster"));
        put(&mut spec, "ipFamilies", json!(["IPv4"]));
        put(&mut spec, "ipFamilyPolicy", json!("SingleStack"));
        put(&mut spec, "ports", Value::Array(service.ports.iter().enumerate().map(port).collect()));
        if service.takes_unready {
            put(&mut spec, "publishNotReadyAddresses", json!(true));
        }
        put(&mut spec, "selector", json!(service.selector));
        put(&mut spec, "sessionAffinity", json!("None"));
        put(&mut spec, "type", json!(service.kind.word()));
        let balancer = match service.outside {
            Some(address) => json!({"ingress": [{"ip": address, "ipMode": "VIP"}]}),
            None => json!({}),
        };
        let metadata = self.metadata("Service", Some(namespace), name, &service_labels(service));
        object("v1", "Service", metadata, json!({"spec": spec, "status": {"loadBalancer": balancer}}))
    }

    /// Returns the EndpointSlices of its services.
    pub(super) fn slice_documents(&self) -> Vec<Value> {
        let mut services: Vec<&Service> = self.services.iter().collect();
        services.sort_by(|one, other| one.name.cmp(&other.name));
        let of = |service: &&Service| {
            let all = slices(self, service).into_iter().enumerate();
            all.map(|(at, slice)| self.slice_document(service, at, &slice)).collect::<Vec<Value>>()
        };
        services.iter().flat_map(of).collect()
    }

    fn slice_document(&self, service: &Service, at: usize, slice: &Slice) -> Value {
        let ObjectName { namespace, name } = &service.name;
        let by = if slice.is_made { "endpointslice-controller.k8s.io" } else { "staff" };
        let mut labels = service_labels(service);
        labels.insert("kubernetes.io/service-name".to_owned(), name.clone());
        // The API server keeps its own slice, and names nobody in it.
        let is_api = *namespace == "default" && *name == "kubernetes";
        if !is_api {
            labels.insert("endpointslice.kubernetes.io/managed-by".to_owned(), by.to_owned());
        }
        if slice.is_made && service.address.is_none() {
            labels.insert("service.kubernetes.io/headless".to_owned(), String::new());
        }
        let own_name = match (slice.is_made, is_api) {
            (true, _) => format!("{name}-{}", suffix(&[&self.name, namespace, name, &at.to_string()], 5)),
            (false, true) => name.clone(),
            (false, false) => format!("{name}-{}", at + 1),
        };
        let mut metadata = self.metadata("EndpointSlice", Some(namespace), &own_name, &labels);
        if slice.is_made {
            put(&mut metadata, "generateName", json!(format!("{name}-")));
            put(&mut metadata, "generation", json!(3));
            put(
                &mut metadata,
                "ownerReferences",
                json!([{"apiVersion": "v1", "blockOwnerDeletion": true, "controller": true, "kind": "Service", "name": name,
                    "uid": self.uid("Service", &service.name)}]),
            );
        }
        let endpoint = |own: &super::endpoint::Endpoint| {
            let mut map = Map::new();
            put(&mut map, "addresses", json!([own.address]));
            let conditions = match &own.pod {
                Some(_) => {
                    json!({"ready": own.is_ready, "serving": own.is_serving, "terminating": own.is_terminating})
                }
                None => json!({"ready": own.is_ready}),
            };
            put(&mut map, "conditions", conditions);
            if let Some((pod, node)) = &own.pod {
                put(&mut map, "nodeName", json!(self.nodes.get(*node).map(|node| &node.name)));
                put(
                    &mut map,
                    "targetRef",
                    json!({"kind": "Pod", "name": pod.name, "namespace": pod.namespace, "uid": self.uid("Pod", pod)}),
                );
                put(&mut map, "zone", json!("0"));
            }
            Value::Object(map)
        };
        let port = |own: &super::endpoint::SlicePort| json!({"name": own.name, "port": own.number, "protocol": own.protocol.word()});
        // A list without anything comes back as null from where objects are kept.
        let list = |all: Vec<Value>| if all.is_empty() { Value::Null } else { Value::Array(all) };
        let rest = json!({
            "addressType": "IPv4", "endpoints": list(slice.endpoints.iter().map(endpoint).collect()),
            "ports": list(slice.ports.iter().map(port).collect()),
        });
        object("discovery.k8s.io/v1", "EndpointSlice", metadata, rest)
    }

    /// Returns its policies.
    pub(super) fn policy_documents(&self) -> Vec<Value> {
        let mut policies: Vec<&Policy> = self.policies.iter().collect();
        policies.sort_by(|one, other| one.name.cmp(&other.name));
        let one = |policy: &Policy| {
            let ObjectName { namespace, name } = &policy.name;
            let mut metadata = self.metadata("NetworkPolicy", Some(namespace), name, &Labels::new());
            put(&mut metadata, "generation", json!(1));
            object("networking.k8s.io/v1", "NetworkPolicy", metadata, json!({"spec": policy.spec}))
        };
        policies.into_iter().map(one).collect()
    }
}

/// Returns the labels of a service; those of the cluster itself have some.
fn service_labels(service: &Service) -> Labels {
    let all: &[(&str, &str)] = match (service.name.namespace.as_str(), service.name.name.as_str()) {
        ("default", "kubernetes") => &[("component", "apiserver"), ("provider", "kubernetes")],
        ("kube-system", "kube-dns") => &[
            ("k8s-app", "kube-dns"),
            ("kubernetes.io/cluster-service", "true"),
            ("kubernetes.io/name", "CoreDNS"),
        ],
        (_, name) => return Labels::from([("app.kubernetes.io/name".to_owned(), name.to_owned())]),
    };
    all.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

fn container_port(own: &ContainerPort) -> Value {
    let mut map = Map::new();
    put(&mut map, "containerPort", json!(own.number));
    put(&mut map, "name", json!(own.name));
    put(&mut map, "protocol", json!(own.protocol.word()));
    Value::Object(map)
}

/// What made a pod, by its name: `db-0` is one of a StatefulSet, `web-7d9c6b8f5-x2k4q` of a ReplicaSet.
struct Owner {
    kind: &'static str,
    name: String,
}

impl Owner {
    fn of(pod: &Pod) -> Self {
        let name = &pod.name.name;
        if pod.is_on_host {
            let (name, _) = name.rsplit_once('-').unwrap_or((name, ""));
            return Self { kind: "DaemonSet", name: name.to_owned() };
        }
        match name.rsplit_once('-') {
            Some((set, number)) if number.chars().all(|char| char.is_ascii_digit()) => {
                Self { kind: "StatefulSet", name: set.to_owned() }
            }
            Some((set, _)) => Self { kind: "ReplicaSet", name: set.to_owned() },
            None => Self { kind: "ReplicaSet", name: name.clone() },
        }
    }

    /// Returns what the application is called.
    fn app(&self) -> String {
        match (self.kind, self.name.rsplit_once('-')) {
            ("ReplicaSet", Some((app, hash))) if hash.chars().any(|char| char.is_ascii_digit()) => {
                app.to_owned()
            }
            _ => self.name.clone(),
        }
    }

    /// Returns the labels that it gives its pods.
    fn labels(&self, pod: &ObjectName) -> Labels {
        let all = match self.kind {
            "StatefulSet" => {
                let number = pod.name.rsplit('-').next().unwrap_or_default();
                vec![
                    ("apps.kubernetes.io/pod-index", number.to_owned()),
                    ("controller-revision-hash", format!("{}-{}", self.name, suffix(&[&self.name], 9))),
                    ("statefulset.kubernetes.io/pod-name", pod.name.clone()),
                ]
            }
            "ReplicaSet" => vec![("pod-template-hash", suffix(&[&self.name], 9))],
            _ => vec![("pod-template-generation", "1".to_owned())],
        };
        all.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }
}
