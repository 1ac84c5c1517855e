//! What people write about a small shop in a cluster, and what is found.

use serde_json::{Value, json};

use super::asked;
use super::judge::{Read, document};
use super::spoken::Inside;
use crate::judged::{FlowVerdict, JudgedFlows};
use crate::tool::inspect::inspector::Inspection;
use ghost_inspect::cluster::Cluster;

fn pod(namespace: &str, name: &str, labels: &Value, address: &str, port: Option<u16>) -> Value {
    let ports: Vec<Value> = port.into_iter().map(|port| json!({"containerPort": port})).collect();
    json!({
        "kind": "Pod", "apiVersion": "v1",
        "metadata": {"namespace": namespace, "name": name, "labels": labels},
        "spec": {"containers": [{"name": "main", "ports": ports}]},
        "status": {"phase": "Running", "podIP": address, "conditions": [{"type": "Ready", "status": "True"}]},
    })
}

fn service(namespace: &str, name: &str, address: &str, selector: &Value, port: u16) -> Value {
    json!({
        "kind": "Service", "apiVersion": "v1", "metadata": {"namespace": namespace, "name": name},
        "spec": {"type": "ClusterIP", "clusterIP": address, "clusterIPs": [address], "selector": selector, "ports": [{"port": port, "targetPort": port, "protocol": "TCP"}]},
    })
}

fn slice(namespace: &str, service: &str, addresses: &[&str], port: u16, protocol: &str) -> Value {
    let endpoint = |address: &&str| json!({"addresses": [address], "conditions": {"ready": true, "serving": true, "terminating": false}});
    json!({
        "kind": "EndpointSlice", "apiVersion": "discovery.k8s.io/v1", "addressType": "IPv4",
        "metadata": {"namespace": namespace, "name": format!("{service}-x2x8k"), "labels": {"kubernetes.io/service-name": service}},
        "endpoints": addresses.iter().map(endpoint).collect::<Vec<_>>(), "ports": [{"port": port, "protocol": protocol}],
    })
}

fn namespace(name: &str) -> Value {
    json!({"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": name, "labels": {"kubernetes.io/metadata.name": name}}})
}

/// web and job call db, api has a service that leads to nobody; names are served in kube-system.
fn objects() -> Vec<Value> {
    let mut dns = service("kube-system", "kube-dns", "10.0.0.10", &json!({"k8s-app": "kube-dns"}), 53);
    dns["spec"]["ports"][0]["protocol"] = json!("UDP");
    vec![
        namespace("shop"),
        namespace("pay"),
        namespace("kube-system"),
        pod("shop", "web-7d4b9c6f5-x2x8k", &json!({"app": "web"}), "10.244.0.5", Some(8080)),
        pod("shop", "job-0", &json!({"app": "job"}), "10.244.0.6", None),
        pod("shop", "db-0", &json!({"app": "db"}), "10.244.0.7", Some(5432)),
        pod("pay", "card-0", &json!({"app": "card"}), "10.244.0.8", None),
        pod("kube-system", "coredns-0", &json!({"k8s-app": "kube-dns"}), "10.244.0.2", None),
        pod("kube-system", "azure-npm-0", &json!({"k8s-app": "azure-npm"}), "10.224.0.4", None),
        service("shop", "db", "10.0.0.20", &json!({"app": "db"}), 5432),
        slice("shop", "db", &["10.244.0.7"], 5432, "TCP"),
        service("shop", "api", "10.0.0.21", &json!({"app": "apy"}), 80),
        slice("shop", "api", &[], 80, "TCP"),
        dns,
        slice("kube-system", "kube-dns", &["10.244.0.2"], 53, "UDP"),
    ]
}

fn policy(name: &str, spec: &Value) -> Value {
    json!({"kind": "NetworkPolicy", "apiVersion": "networking.k8s.io/v1", "metadata": {"namespace": "shop", "name": name}, "spec": spec})
}

/// db takes web alone.
fn only_web() -> Value {
    let web = json!([{"from": [{"podSelector": {"matchLabels": {"app": "web"}}}]}]);
    policy(
        "db-from-web",
        &json!({"podSelector": {"matchLabels": {"app": "db"}}, "policyTypes": ["Ingress"], "ingress": web}),
    )
}

/// web may call db, and forgets names.
fn only_db() -> Value {
    let db = json!([{"to": [{"podSelector": {"matchLabels": {"app": "db"}}}]}]);
    policy(
        "web-out",
        &json!({"podSelector": {"matchLabels": {"app": "web"}}, "policyTypes": ["Egress"], "egress": db}),
    )
}

fn list(items: &[Value]) -> String {
    json!({"kind": "List", "apiVersion": "v1", "items": items}).to_string()
}

fn judged(text: &str, policies: &[Value]) -> JudgedFlows {
    let mut cluster = Cluster::default();
    cluster.add(&list(&objects())).unwrap();
    cluster.add_policies(&list(policies)).unwrap();
    let read = Read {
        clusters: vec![Inside::new("aks".to_owned(), "aks-admin".to_owned(), cluster)],
        observed: vec![Vec::new()],
        ..Read::default()
    };
    let mut seen = Inspection::default();
    document(&asked::read(text, &read.clusters), &read, &mut seen)
}

#[track_caller]
fn check(text: &str, policies: &[Value], causes: &[&str]) -> JudgedFlows {
    let document = judged(text, policies);
    let found: Vec<String> = document
        .complaints
        .iter()
        .flat_map(|complaint| &complaint.causes)
        .map(|cause| format!("{} {}", cause.fault, cause.object))
        .collect();
    assert_eq!(found, causes, "{text}: {document:#?}");
    document
}

const DENIED: &str = "k8s_policy_deny netpol/aks/shop/db-from-web";
const NO_NAMES: &str = "k8s_policy_deny netpol/aks/shop/web-out";
const NOBODY: &str = "k8s_no_endpoints service/aks/shop/api";

#[test]
fn a_policy_is_at_fault_however_the_two_ends_are_written() {
    for text in [
        "job in namespace shop times out connecting to db:5432",
        "shop/job-0 cannot reach shop/db on port 5432",
        "db.shop.svc.cluster.local:5432 times out from pod job-0",
        "the job pods can't connect to postgres on service db",
        "svc/db is unreachable from job",
        "timeouts from job to db",
    ] {
        check(text, &[only_web()], &[DENIED]);
    }
}

#[test]
fn who_is_let_in_is_not_accused() {
    for text in ["web cannot reach db on 5432", "shop/web times out connecting to shop/db:5432"] {
        let document = check(text, &[only_web()], &[]);
        let verdicts: Vec<FlowVerdict> = document.flows.iter().map(|flow| flow.verdict).collect();
        assert_eq!(verdicts, [FlowVerdict::Passes], "{text}");
        assert!(document.complaints[0].doubts.is_empty());
    }
}

#[test]
fn a_policy_that_keeps_some_out_is_not_why_a_service_is_down() {
    let document = check("service db is unreachable", &[only_web()], &[]);
    assert_eq!(document.flows[0].verdict, FlowVerdict::Passes);
    check("nobody reaches the api service in shop", &[], &[NOBODY]);
}

#[test]
fn a_service_that_leads_to_nobody_is_at_fault_whoever_calls() {
    for text in [
        "web gets connection refused from api",
        "api does not answer web",
        "shop/web -> shop/api:80 connection refused",
        "api of namespace shop is down",
    ] {
        check(text, &[only_web()], &[NOBODY]);
    }
}

#[test]
fn names_are_a_flow_to_who_serves_them() {
    for text in ["web pods cannot resolve any name since the new network policy", "DNS lookups fail in web"] {
        check(text, &[only_db()], &[NO_NAMES]);
    }
    check("DNS lookups fail on job", &[only_db()], &[]);
}

#[test]
fn what_is_outside_stands_for_any_address_and_proves_nothing() {
    let document = check("web cannot reach api.example.com on 443", &[only_db()], &[NO_NAMES]);
    assert!(document.complaints[0].causes[0].is_likely);
}

#[test]
fn a_port_that_the_service_lacks_is_at_fault() {
    let missing = "k8s_service_port_missing service/aks/shop/db";
    for text in [
        "web cannot connect to db:3306",
        "mysql -h db.shop -P 3306 from the pod shop/job-0 just hangs",
        "psql -h db --port=3306 hangs in the pod job-0",
    ] {
        check(text, &[], &[missing]);
    }
}

#[test]
fn whose_upstream_it_is_calls() {
    check(
        "connect() failed (111: Connection refused) on the web pods in shop, upstream is shop/api",
        &[],
        &[NOBODY],
    );
    let text = "dial tcp: i/o timeout when shop/web calls shop/db:3306. pods are all Running, ping works";
    check(text, &[], &["k8s_service_port_missing service/aks/shop/db"]);
}

#[test]
fn what_is_said_beside_a_flow_leaves_nothing_open() {
    let text = "web gets connection refused from api. the pods of web are 1/1 Running. cluster is aks";
    assert_eq!(check(text, &[], &[NOBODY]).complaints.len(), 1);
    let text = "shop has a policy since the audit, could that drop traffic of shop/web to db:5432?";
    let document = check(text, &[only_web()], &[]);
    assert_eq!(document.complaints[0].kind, crate::complaint::Kind::Trouble);
}

#[test]
fn what_nobody_has_is_said() {
    let document = judged("shop/web cannot reach shop/cache on 6379", &[]);
    let complaint = &document.complaints[0];
    assert!(complaint.causes.is_empty());
    assert!(!complaint.doubts.is_empty(), "{document:#?}");
}

/// What kube-proxy wrote on the node of web, before the pod of db was there.
const OLD_RULES: &str = "*filter\n:INPUT ACCEPT [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n:KUBE-SERVICES - [0:0]\n\
    -A OUTPUT -m conntrack --ctstate NEW -j KUBE-SERVICES\n\
    -A KUBE-SERVICES -d 10.0.0.20/32 -p tcp -m comment --comment \"shop/db has no endpoints\" -m tcp --dport 5432 -j REJECT --reject-with icmp-port-unreachable\nCOMMIT\n\
    *nat\n:PREROUTING ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n:KUBE-SERVICES - [0:0]\n-A OUTPUT -j KUBE-SERVICES\nCOMMIT\n";

#[test]
fn the_rules_of_the_node_of_whoever_calls_are_held_against_the_cluster() {
    let mut all = objects();
    for object in &mut all {
        if object["kind"] == "Pod" {
            let name = object["metadata"]["name"].as_str().unwrap();
            object["spec"]["nodeName"] = json!(if name.starts_with("web") { "node-1" } else { "node-2" });
        }
    }
    let mut cluster = Cluster::default();
    cluster.add(&list(&all)).unwrap();
    cluster.add_policies(&list(&[])).unwrap();
    let mut inside = Inside::new("aks".to_owned(), "aks-admin".to_owned(), cluster.clone());
    cluster.add_rules(OLD_RULES).unwrap();
    inside.nodes.insert("node-1".to_owned(), cluster);
    let read = Read { clusters: vec![inside], observed: vec![Vec::new()], ..Read::default() };
    let causes = |text: &str| {
        let found = document(&asked::read(text, &read.clusters), &read, &mut Inspection::default());
        let causes: Vec<String> =
            found.complaints[0].causes.iter().map(|cause| cause.fault.clone()).collect();
        causes
    };
    assert_eq!(causes("web gets connection refused from db on 5432"), ["k8s_node_rules_stale"]);
    assert_eq!(causes("job gets connection refused from db on 5432"), [] as [&str; 0]);
}

#[test]
fn a_whole_namespace_is_all_its_services() {
    check("everything in namespace shop times out", &[], &[NOBODY]);
    // A policy that keeps some out may be meant to.
    check("everything in namespace shop times out", &[only_web()], &[NOBODY]);
}

#[test]
fn whoever_asks_who_changed_something_complains_of_nothing() {
    let document = check("who changed the network policy in shop yesterday?", &[only_web()], &[]);
    assert!(document.flows.is_empty() && !document.complaints[0].doubts.is_empty());
}
