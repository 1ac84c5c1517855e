//! What every cluster has: nodes, namespaces, name servers, what enforces policies, addresses.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};

use super::model::{
    Cluster, ContainerPort, Engine, Labels, Node, ObjectName, Pod, PodPhase, Policy, PortRef, Protocol,
    SYSTEM, Service, ServicePort, ServiceType, TrafficPolicy,
};
use super::written::WrittenCluster;

/// The address of the name server of a cluster.
pub(super) const NAME_SERVER: Ipv4Addr = Ipv4Addr::new(172, 30, 0, 10);
/// The label that the API server puts on every namespace.
pub(super) const NAMESPACE_LABEL: &str = "kubernetes.io/metadata.name";

impl WrittenCluster {
    /// Returns the cluster with its faults, but for those of these ids.
    ///
    /// # Errors
    /// Says which fault is about nothing, with its place in the file.
    pub(super) fn with_faults(&self, gone: &BTreeSet<&str>) -> Result<Cluster, (usize, String)> {
        let mut cluster = self.working();
        for placed in &self.fault {
            let fault = placed.get_ref();
            if fault.id().is_none_or(|id| !gone.contains(id)) {
                fault.put(&mut cluster).map_err(|why| (placed.span().start, why))?;
            }
        }
        Ok(cluster)
    }

    /// Returns the cluster as it works.
    pub(super) fn working(&self) -> Cluster {
        let count = self.nodes.max(1);
        let nodes: Vec<Node> = (0..count)
            .map(|at| Node {
                name: format!("aks-nodepool1-28413697-vmss{at:06}"),
                address: Ipv4Addr::new(10, 224, 0, at.saturating_add(4)),
            })
            .collect();
        let mut places = Places { nodes: nodes.len(), next: BTreeMap::new(), turn: 0 };
        let mut pods = system_pods(self.engine, &nodes, &mut places);
        for own in self.pod.iter().map(toml::Spanned::get_ref) {
            let node = own.node.map_or_else(|| places.node(), |node| node % nodes.len());
            let on_node = nodes.get(node).map(|node| IpAddr::V4(node.address));
            let address = match (own.address, on_node) {
                (Some(address), _) => address,
                (None, Some(address)) if own.host_network => address,
                (None, _) => places.address(node),
            };
            pods.push(Pod {
                name: own.name.clone(),
                labels: own.labels.clone(),
                address,
                node,
                phase: own.phase,
                is_ready: own.ready && own.waits.is_none() && own.phase == PodPhase::Running,
                is_ending: own.ending,
                is_on_host: own.host_network,
                waits: own.waits.clone(),
                ports: own.ports.clone(),
            });
        }
        let mut services = system_services();
        for (at, own) in self.service.iter().map(toml::Spanned::get_ref).enumerate() {
            let at = u8::try_from(at % 200).unwrap_or_default();
            let drawn = IpAddr::V4(Ipv4Addr::new(172, 30, 100 + at % 50, 7 + at));
            let is_outside = own.kind == ServiceType::LoadBalancer;
            services.push(Service {
                name: own.name.clone(),
                selector: own.selector.clone(),
                ports: own.ports.clone(),
                kind: own.kind,
                address: (!own.headless).then(|| own.address.unwrap_or(drawn)),
                outside: is_outside.then(|| IpAddr::V4(Ipv4Addr::new(20, 80, 40, 10 + at))),
                external: own.external,
                takes_unready: own.takes_unready,
                endpoints: own.endpoints.clone(),
            });
        }
        let policies = self.policy.iter().map(toml::Spanned::get_ref);
        let policies = policies
            .map(|own| Policy { name: own.name.clone(), spec: own.spec.clone().complete() })
            .collect();
        Cluster {
            name: self.name.clone(),
            engine: self.engine,
            api: self.api,
            server: Ipv4Addr::new(20, 80, 3, 7),
            forbidden: self.forbidden.clone(),
            namespaces: self.labels_of_namespaces(&pods, &services),
            nodes,
            pods,
            services,
            policies,
        }
    }

    fn labels_of_namespaces(&self, pods: &[Pod], services: &[Service]) -> BTreeMap<String, Labels> {
        let always = ["default", "kube-node-lease", "kube-public", SYSTEM].map(str::to_owned);
        let of_objects = pods.iter().map(|pod| &pod.name).chain(services.iter().map(|own| &own.name));
        let of_policies = self.policy.iter().map(|own| &own.get_ref().name);
        let named = of_objects.chain(of_policies).map(|name| name.namespace.clone());
        let all = always.into_iter().chain(named).chain(self.namespaces.keys().cloned());
        all.map(|name| {
            let mut labels = self.namespaces.get(&name).cloned().unwrap_or_default();
            labels.insert(NAMESPACE_LABEL.to_owned(), name.clone());
            (name, labels)
        })
        .collect()
    }
}

/// Which node comes next, and which address of a node.
struct Places {
    nodes: usize,
    next: BTreeMap<usize, u8>,
    turn: usize,
}

impl Places {
    fn node(&mut self) -> usize {
        self.turn += 1;
        (self.turn - 1) % self.nodes.max(1)
    }

    fn address(&mut self, node: usize) -> IpAddr {
        let next = self.next.entry(node).or_insert(10);
        *next = next.saturating_add(3);
        IpAddr::V4(Ipv4Addr::new(10, 244, u8::try_from(node).unwrap_or_default(), *next))
    }
}

fn labels<const N: usize>(all: [(&str, &str); N]) -> Labels {
    all.map(|(key, value)| (key.to_owned(), value.to_owned())).into_iter().collect()
}

fn port(name: &str, number: u16, protocol: Protocol) -> ContainerPort {
    ContainerPort { name: Some(name.to_owned()), number, protocol }
}

/// Returns the pods that belong to the cluster itself.
fn system_pods(engine: Engine, nodes: &[Node], places: &mut Places) -> Vec<Pod> {
    let mut pods = Vec::new();
    let mut add =
        |name: ObjectName, own: Labels, (node, address, is_on_host): (usize, IpAddr, bool), ports| {
            pods.push(Pod {
                name,
                labels: own,
                address,
                node,
                phase: PodPhase::Running,
                is_ready: true,
                is_ending: false,
                is_on_host,
                waits: None,
                ports,
            });
        };
    for name in ["coredns-6865d647c6-7tq5k", "coredns-6865d647c6-xw9zl"] {
        let node = places.node();
        let ports = vec![
            port("dns", 53, Protocol::Udp),
            port("dns-tcp", 53, Protocol::Tcp),
            port("metrics", 9153, Protocol::Tcp),
        ];
        let own = labels([("k8s-app", "kube-dns"), ("kubernetes.io/cluster-service", "true")]);
        add(ObjectName::new(SYSTEM, name), own, (node, places.address(node), false), ports);
    }
    let suffixes = ["4vr8d", "zk2mq", "p6c9w", "tl7xh", "8dnfs"];
    for (at, node) in nodes.iter().enumerate() {
        let suffix = suffixes.get(at % suffixes.len()).copied().unwrap_or_default();
        let place = (at, IpAddr::V4(node.address), true);
        let daemon = match engine {
            Engine::Azure => Some((SYSTEM, "azure-npm", "azure-npm")),
            Engine::Calico => Some(("calico-system", "calico-node", "calico-node")),
            Engine::Cilium => Some((SYSTEM, "cilium", "cilium")),
            Engine::None => None,
        };
        if let Some((namespace, app, name)) = daemon {
            add(
                ObjectName::new(namespace, format!("{name}-{suffix}")),
                labels([("k8s-app", app)]),
                place,
                Vec::new(),
            );
        }
        // Cilium does its work.
        if engine != Engine::Cilium {
            let own = labels([("component", "kube-proxy"), ("tier", "node")]);
            add(ObjectName::new(SYSTEM, format!("kube-proxy-{suffix}")), own, place, Vec::new());
        }
    }
    pods
}

fn system_services() -> Vec<Service> {
    let port = |name: &str, number, protocol, target| ServicePort {
        name: name.to_owned(),
        number,
        protocol,
        target: PortRef::Number(target),
    };
    let service = |name, selector, ports, address, endpoints| Service {
        name,
        selector,
        ports,
        kind: ServiceType::Internal,
        address: Some(IpAddr::V4(address)),
        outside: None,
        external: TrafficPolicy::Cluster,
        takes_unready: false,
        endpoints,
    };
    vec![
        service(
            ObjectName::new("default", "kubernetes"),
            None,
            vec![port("https", 443, Protocol::Tcp, 443)],
            Ipv4Addr::new(172, 30, 0, 1),
            vec![IpAddr::V4(Ipv4Addr::new(20, 80, 3, 7))],
        ),
        service(
            ObjectName::new(SYSTEM, "kube-dns"),
            Some(labels([("k8s-app", "kube-dns")])),
            vec![port("dns", 53, Protocol::Udp, 53), port("dns-tcp", 53, Protocol::Tcp, 53)],
            NAME_SERVER,
            Vec::new(),
        ),
    ]
}
