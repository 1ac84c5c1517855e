//! A cluster in the making: three namespaces x, y, z with pods a, b, c each, as the conformance tests of Kubernetes have it.

use serde_json::{Value, json};

use crate::cluster::{Cluster, Engine, Protocol, Question, Report, Verdict};

/// Documents in the making.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub(super) items: Vec<Value>,
    pub(super) engine: Option<Engine>,
}

pub(super) const NAMESPACES: [&str; 3] = ["x", "y", "z"];
pub(super) const PODS: [&str; 3] = ["a", "b", "c"];

/// Returns the address of a pod of the draft.
pub(super) fn address(namespace: &str, pod: &str) -> String {
    let place = |all: &[&str], name: &str| all.iter().position(|own| *own == name).unwrap() + 1;
    format!("10.244.{}.{}", place(&NAMESPACES, namespace), place(&PODS, pod))
}

pub(super) fn pod(namespace: &str, name: &str, labels: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {"nodeName": "node-1", "containers": [{"name": "serve", "ports": [
            {"name": "serve-80-tcp", "containerPort": 80, "protocol": "TCP"},
            {"name": "serve-81-tcp", "containerPort": 81, "protocol": "TCP"},
            {"name": "serve-80-udp", "containerPort": 80, "protocol": "UDP"},
            {"name": "serve-81-udp", "containerPort": 81, "protocol": "UDP"}]}]},
        "status": {"phase": "Running", "hostIP": "10.240.0.4",
            "conditions": [{"type": "Ready", "status": "True"}]}})
}

impl Draft {
    pub(super) fn new() -> Self {
        let mut items = Vec::new();
        for namespace in NAMESPACES {
            items.push(json!({"apiVersion": "v1", "kind": "Namespace",
                "metadata": {"name": namespace, "labels": {"ns": namespace}}}));
            for name in PODS {
                let mut own = pod(namespace, name, json!({"pod": name}));
                let address = address(namespace, name);
                own["status"]["podIP"] = json!(address);
                own["status"]["podIPs"] = json!([{"ip": address}]);
                items.push(own);
            }
        }
        Self { items, engine: Some(Engine::Calico) }
    }

    pub(super) fn with(mut self, item: Value) -> Self {
        self.items.push(item);
        self
    }

    pub(super) fn policy(self, namespace: &str, spec: Value) -> Self {
        let name = format!("policy-{}", self.items.len());
        self.with(json!({"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy",
            "metadata": {"name": name, "namespace": namespace}, "spec": spec}))
    }

    /// Changes an object of the draft.
    pub(super) fn set(mut self, kind: &str, name: &str, pointer: &str, value: Value) -> Self {
        let (namespace, name) = name.split_once('/').unwrap_or(("", name));
        let found = self.items.iter_mut().find(|item| {
            let metadata = &item["metadata"];
            item["kind"] == kind
                && metadata["name"] == name
                && metadata["namespace"].as_str().unwrap_or_default() == namespace
        });
        let (above, field) = pointer.rsplit_once('/').unwrap();
        found.unwrap().pointer_mut(above).unwrap()[field] = value;
        self
    }

    pub(super) fn text(&self) -> String {
        json!({"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": self.items})
            .to_string()
    }

    pub(super) fn cluster(&self) -> Cluster {
        let mut cluster = Cluster::default();
        cluster.add(&self.text()).unwrap();
        let none = r#"{"apiVersion":"v1","kind":"List","items":[]}"#;
        cluster.add_policies(none).unwrap();
        cluster
    }

    #[track_caller]
    pub(super) fn ask(&self, from: &str, to: &str, protocol: Protocol) -> Report {
        let question = Question::parse(from, to, protocol).unwrap().enforced_by(self.engine);
        self.cluster().judge(&question).unwrap()
    }

    /// Asserts what becomes of flows over TCP, each `FROM TO`.
    #[track_caller]
    pub(super) fn check(&self, verdict: Verdict, flows: &[&str]) -> &Self {
        for flow in flows {
            let (from, to) = flow.split_once(' ').unwrap();
            let report = self.ask(from, to, Protocol::Tcp);
            assert_eq!(report.verdict, verdict, "{flow}: {report:#?}");
        }
        self
    }

    /// Asserts which callers reach a pod; all other pods, itself left out, do not.
    #[track_caller]
    pub(super) fn reached_by(&self, to: &str, callers: &[&str]) -> &Self {
        let called = to.split(':').next().unwrap();
        for namespace in NAMESPACES {
            for pod in PODS {
                let from = format!("{namespace}/{pod}");
                if from == called {
                    continue;
                }
                let expected = match callers.contains(&from.as_str()) {
                    true => Verdict::Passes,
                    false => Verdict::Blocked,
                };
                let report = self.ask(&from, to, Protocol::Tcp);
                assert_eq!(report.verdict, expected, "{from} {to}: {report:#?}");
            }
        }
        self
    }

    /// Returns the code and the object of each cause.
    pub(super) fn causes(&self, from: &str, to: &str) -> (Verdict, Vec<String>) {
        let report = self.ask(from, to, Protocol::Tcp);
        let text = |cause: &crate::cluster::Cause| {
            let doubt = if cause.is_proven { "" } else { "?" };
            format!("{}{doubt} {}", cause.fault, cause.object)
        };
        (report.verdict, report.causes.iter().map(text).collect())
    }
}
