//! Each kind of object withheld in turn: what an answer needs opens it or refuses the question, and nothing passes without it.

use serde_json::{Value, json};

use super::draft::{Draft, address};
use crate::cluster::{Cluster, Engine, Protocol, Question, Verdict};

/// What a question needs of a cluster: the kind, and whether a flow to a service still passes without it.
const KINDS: [(&str, bool); 5] = [
    ("Namespace", false),
    ("Pod", false),
    ("Service", false),
    // Pods and the selector of the service say where it leads, too.
    ("EndpointSlice", true),
    ("NetworkPolicy", false),
];

/// y/a calls a service of x that a policy opens for the namespace of the caller, by a label of that namespace.
fn draft() -> Draft {
    let peers = json!([{"from": [{"namespaceSelector": {"matchLabels": {"ns": "y"}}}]}]);
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "x"},
        "spec": {"type": "ClusterIP", "clusterIP": "10.0.0.10", "clusterIPs": ["10.0.0.10"], "selector": {"pod": "a"},
            "ports": [{"name": "http", "port": 8080, "protocol": "TCP", "targetPort": 80}]}});
    let slice = json!({"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
        "metadata": {"name": "web-abc", "namespace": "x", "labels": {"kubernetes.io/service-name": "web"}},
        "ports": [{"name": "http", "port": 80, "protocol": "TCP"}],
        "endpoints": [{"addresses": [address("x", "a")], "nodeName": "node-1",
            "conditions": {"ready": true, "serving": true, "terminating": false},
            "targetRef": {"kind": "Pod", "namespace": "x", "name": "a"}}]});
    let policy = json!({"podSelector": {}, "policyTypes": ["Ingress"], "ingress": peers});
    Draft::new().with(service).with(slice).policy("x", policy)
}

/// Judges what documents say; nothing where they refuse the question.
fn verdict(documents: &[String]) -> Option<Verdict> {
    let mut cluster = Cluster::default();
    for text in documents {
        cluster.add(text).ok()?;
    }
    let question =
        Question::parse("y/a", "x/web:8080", Protocol::Tcp).unwrap().enforced_by(Some(Engine::Calico));
    cluster.judge(&question).ok().map(|report| report.verdict)
}

/// A document for each kind, as `kubectl get KIND -A -o json` prints it.
fn documents(items: &[Value]) -> Vec<(&'static str, String)> {
    let list = |kind: &str| {
        let own: Vec<&Value> = items.iter().filter(|item| item["kind"] == kind).collect();
        json!({"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": own})
            .to_string()
    };
    KINDS.iter().map(|(kind, _)| (*kind, list(kind))).collect()
}

#[test]
fn a_flow_passes_only_where_every_kind_that_it_needs_was_read() {
    let all = documents(&draft().items);
    let texts =
        |all: &[(&str, String)]| -> Vec<String> { all.iter().map(|(_, text)| text.clone()).collect() };
    assert_eq!(verdict(&texts(&all)), Some(Verdict::Passes));
    for (at, (kind, passes)) in KINDS.iter().enumerate() {
        let whole = &all[at].1;
        let refused =
            json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "forbidden"});
        let empty =
            json!({"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": []});
        let manners = [
            ("gone", None),
            ("refused", Some(refused.to_string())),
            ("empty, as kubectl prints where the cluster refuses", Some(empty.to_string())),
            ("garbage", Some("Segmentation fault\n".to_owned())),
            ("cut off", Some(whole[..whole.len() / 2].to_owned())),
        ];
        for (manner, instead) in manners {
            let mut less = all.clone();
            match instead {
                Some(text) => less[at].1 = text,
                None => drop(less.remove(at)),
            }
            let found = verdict(&texts(&less));
            let expected: &[Option<Verdict>] =
                if *passes { &[None, Some(Verdict::Passes)] } else { &[None, Some(Verdict::Indeterminate)] };
            assert!(expected.contains(&found), "without {kind}, {manner}: {found:?}");
        }
    }
}
