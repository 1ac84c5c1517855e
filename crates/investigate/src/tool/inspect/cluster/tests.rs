//! What people write about a small shop in a cluster, and what is found.

use serde_json::{Value, json};

use super::asked;
use super::judge::{Read, document};
use super::spoken::Inside;
use crate::judged::{FlowVerdict, JudgedFlows};
use crate::tool::inspect::inspector::Inspection;
use ghost_base::Limit;
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
    judged_of(text, &objects(), policies)
}

fn judged_of(text: &str, objects: &[Value], policies: &[Value]) -> JudgedFlows {
    let mut cluster = Cluster::default();
    cluster.add(&list(objects)).unwrap();
    cluster.add_policies(&list(policies)).unwrap();
    let read = Read {
        clusters: vec![Inside::new("aks".to_owned(), "aks-admin".to_owned(), cluster)],
        observed: vec![Vec::new()],
        ..Read::default()
    };
    let mut seen = Inspection::default();
    document(&asked::read(text, &read.clusters), &read, &mut seen)
}

fn causes(document: &JudgedFlows) -> Vec<String> {
    let causes = document.complaints.iter().flat_map(|complaint| &complaint.causes);
    causes.map(|cause| format!("{} {}", cause.fault, cause.object)).collect()
}

#[track_caller]
fn check(text: &str, policies: &[Value], expected: &[&str]) -> JudgedFlows {
    let document = judged(text, policies);
    assert_eq!(causes(&document), expected, "{text}: {document:#?}");
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
    for text in ["the pod web-7d4b9c6f5-x2x8k cannot connect to db-x:5432", "moodle2 cannot reach db on 5432"]
    {
        let document = judged(text, &[]);
        assert!(document.flows.is_empty() && document.unknown.len() == 1, "{text}: {document:#?}");
    }
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
    let faults = |text: &str| {
        let found = document(&asked::read(text, &read.clusters), &read, &mut Inspection::default());
        let faults: Vec<String> =
            found.complaints[0].causes.iter().map(|cause| cause.fault.clone()).collect();
        faults
    };
    assert_eq!(faults("web gets connection refused from db on 5432"), ["k8s_node_rules_stale"]);
    assert_eq!(faults("job gets connection refused from db on 5432"), [] as [&str; 0]);
}

/// The same shop, where the pods that api is meant for are there, and their label is another one.
fn with_api_pods() -> Vec<Value> {
    let mut all = objects();
    all.push(pod("shop", "api-6c9d5b7f8-k9z4w", &json!({"app": "api"}), "10.244.0.9", Some(80)));
    all
}

#[test]
fn a_whole_namespace_is_all_its_services() {
    let text = "everything in namespace shop times out";
    // A policy that keeps some out may be meant to.
    for policies in [vec![], vec![only_web()]] {
        assert_eq!(causes(&judged_of(text, &with_api_pods(), &policies)), [NOBODY]);
    }
}

#[test]
fn every_service_of_a_namespace_is_judged_however_many_there_are() {
    let mut all = objects();
    for at in 0..60 {
        let (name, address) = (format!("s{at:02}"), format!("10.244.1.{at}"));
        let selector = json!({"app": if at == 59 { "nothing".to_owned() } else { name.clone() }});
        all.push(pod("shop", &format!("{name}-0"), &json!({"app": name}), &address, Some(80)));
        all.push(service("shop", &name, &format!("10.0.1.{at}"), &selector, 80));
        let addresses: &[&str] = if at == 59 { &[] } else { &[&address] };
        all.push(slice("shop", &name, addresses, 80, "TCP"));
    }
    let found = judged_of("Partial service unreachability in namespace shop.", &all, &[]);
    assert_eq!(causes(&found), ["k8s_no_endpoints service/aks/shop/s59"]);
    assert_eq!(found.unjudged, [] as [&str; 0]);
}

#[test]
fn a_service_that_nothing_calls_is_noticed_and_is_no_cause() {
    let text = "everything in namespace shop times out";
    let found = check(text, &[], &[]);
    assert_eq!(found.noticed[0].object, "service/aks/shop/api");
    assert_eq!(found.noticed[0].why_not, "nothing that was read calls it");
    // If somebody calls it all the same, that is why: it stays open.
    assert_eq!(
        found.complaints[0].doubts,
        ["Service shop/api of aks leads to no ready pod, and nothing that was read calls it"]
    );
    // Whoever names it needs it, and so does a pod whose environment has it.
    check("nobody reaches the api service in shop", &[], &[NOBODY]);
    let mut all = objects();
    for object in &mut all {
        if object["metadata"]["name"] == "job-0" {
            object["spec"]["containers"][0]["env"] = json!([{"name": "API_ADDR", "value": "api:80"}]);
        }
    }
    assert_eq!(causes(&judged_of(text, &all, &[])), [NOBODY]);
}

#[test]
fn what_stops_every_call_is_not_why_calls_are_slow() {
    for text in ["Service latency increased significantly in namespace shop.", "web to api in shop is slow"] {
        let found = judged_of(text, &with_api_pods(), &[]);
        assert_eq!(causes(&found), [] as [&str; 0], "{text}");
        assert_eq!(found.noticed[0].object, "service/aks/shop/api", "{text}");
        // Nothing that was read tells how fast it is.
        assert!(!found.complaints[0].doubts.is_empty(), "{text}: {found:#?}");
    }
}

/// The limits of this folder that a question alone reaches. Those of the clusters and nodes that are read need a session.
const LIMITS: [&str; 5] =
    ["cluster.pods", "cluster.anybody", "cluster.services", "cluster.ports", "cluster.calls"];

#[test]
fn where_a_limit_cuts_something_off_nothing_is_healthy() {
    let mut all = objects();
    // One more of everything.
    all.push(pod("shop", "web-7d4b9c6f5-z9z8k", &json!({"app": "web"}), "10.244.0.10", Some(8080)));
    all.push(pod("shop", "db-1", &json!({"app": "db"}), "10.244.0.11", Some(5432)));
    for object in &mut all {
        if object["kind"] == "Service" && object["metadata"]["name"] == "db" {
            let more = json!({"name": "admin", "port": 5433, "targetPort": 5432, "protocol": "TCP"});
            object["spec"]["ports"][0]["name"] = json!("sql");
            object["spec"]["ports"].as_array_mut().unwrap().push(more);
        }
        if object["kind"] == "EndpointSlice" && object["metadata"]["name"] == "db-x2x8k" {
            object["ports"] = json!([
                {"name": "sql", "port": 5432, "protocol": "TCP"}, {"name": "admin", "port": 5432, "protocol": "TCP"}
            ]);
        }
    }
    let questions = [
        "web cannot reach db",
        "service db is unreachable",
        "everything in namespace shop is unreachable",
        "names do not resolve in the pods of web",
    ];
    for limit in LIMITS {
        let open = |text: &&&str| !Limit::lowered(limit, || judged_of(text, &all, &[])).unjudged.is_empty();
        assert!(questions.iter().filter(open).count() > 0, "{limit} cuts nothing off");
    }
    for text in questions {
        assert_eq!(judged_of(text, &all, &[]).unjudged, [] as [&str; 0], "{text}");
    }
}

#[test]
fn whoever_asks_who_changed_something_complains_of_nothing() {
    let document = check("who changed the network policy in shop yesterday?", &[only_web()], &[]);
    assert!(document.flows.is_empty() && !document.complaints[0].doubts.is_empty());
}
