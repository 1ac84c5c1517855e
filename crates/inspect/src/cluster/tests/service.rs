//! Services: where they lead, and what stops it. Each fault beside what resembles it and is healthy.

use serde_json::{Value, json};

use super::draft::{Draft, address};
use crate::cluster::{AskError, Protocol, Question, Verdict};

fn service(target: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "x"},
        "spec": {"type": "ClusterIP", "clusterIP": "10.0.0.10", "clusterIPs": ["10.0.0.10"], "selector": {"app": "web"},
            "ports": [{"name": "http", "port": 8080, "protocol": "TCP", "targetPort": target}]}})
}

fn endpoint(pod: &str, ready: bool) -> Value {
    json!({"addresses": [address("x", pod)], "nodeName": "node-1", "conditions": {"ready": ready, "serving": ready, "terminating": false},
        "targetRef": {"kind": "Pod", "namespace": "x", "name": pod}})
}

fn slice(port: Value, endpoints: Value) -> Value {
    json!({"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
        "metadata": {"name": "web-abc", "namespace": "x", "labels": {"kubernetes.io/service-name": "web"}},
        "ports": port, "endpoints": endpoints})
}

fn http(port: u16) -> Value {
    json!([{"name": "http", "port": port, "protocol": "TCP"}])
}

/// The pods a and b of x are the servers.
fn servers() -> Draft {
    let labels = |pod: &str| json!({"pod": pod, "app": "web"});
    Draft::new().set("Pod", "x/a", "/metadata/labels", labels("a")).set(
        "Pod",
        "x/b",
        "/metadata/labels",
        labels("b"),
    )
}

fn unready(draft: Draft, pod: &str) -> Draft {
    draft.set("Pod", pod, "/status/conditions", json!([{"type": "Ready", "status": "False"}]))
}

#[track_caller]
fn check(draft: &Draft, verdict: Verdict, causes: &[&str]) {
    let (found, named) = draft.causes("y/a", "x/web:8080");
    assert_eq!(
        (found, named.as_slice()),
        (verdict, causes.map_texts().as_slice()),
        "{:#?}",
        draft.ask("y/a", "x/web:8080", Protocol::Tcp)
    );
}

trait Texts {
    fn map_texts(&self) -> Vec<String>;
}

impl Texts for [&str] {
    fn map_texts(&self) -> Vec<String> {
        self.iter().map(|text| (*text).to_owned()).collect()
    }
}

#[test]
fn a_service_leads_to_the_pods_that_are_ready() {
    let both = servers()
        .with(service(json!(80)))
        .with(slice(http(80), json!([endpoint("a", true), endpoint("b", true)])));
    check(&both, Verdict::Passes, &[]);
    assert_eq!(both.ask("y/a", "x/web:http", Protocol::Tcp).targets.len(), 2);
    assert_eq!(both.ask("y/a", "10.0.0.10:8080", Protocol::Tcp).service.as_deref(), Some("x/web"));
    // One that is not ready is left out, and the other one serves.
    let one = unready(servers(), "x/b")
        .with(service(json!(80)))
        .with(slice(http(80), json!([endpoint("a", true), endpoint("b", false)])));
    check(&one, Verdict::Passes, &[]);
    assert_eq!(one.ask("y/a", "x/web:8080", Protocol::Tcp).targets.len(), 1);
}

#[test]
fn a_service_without_endpoints_says_why() {
    let why = |draft: &Draft| draft.ask("y/a", "x/web:8080", Protocol::Tcp).causes[0].why.clone();
    let none = slice(json!(null), json!(null));
    let unselected = Draft::new().with(service(json!(80))).with(none.clone());
    check(&unselected, Verdict::Blocked, &["k8s_no_endpoints service/x/web"]);
    assert!(why(&unselected).contains("matches no pod of x"), "{}", why(&unselected));
    let waiting = unready(unready(servers(), "x/a"), "x/b")
        .with(service(json!(80)))
        .with(slice(http(80), json!([endpoint("a", false), endpoint("b", false)])));
    check(&waiting, Verdict::Blocked, &["k8s_no_endpoints service/x/web"]);
    assert!(why(&waiting).contains("2 pods, and none is ready: a, b"), "{}", why(&waiting));
    // Where no EndpointSlice was read the pods say it.
    check(
        &unready(unready(servers(), "x/a"), "x/b").with(service(json!(80))),
        Verdict::Blocked,
        &["k8s_no_endpoints service/x/web"],
    );
    check(&servers().with(service(json!(80))), Verdict::Passes, &[]);
    // Pods that are ready, and slices of others only: what was read contradicts itself.
    let mut other = none;
    other["metadata"] =
        json!({"name": "other-1", "namespace": "z", "labels": {"kubernetes.io/service-name": "other"}});
    check(&servers().with(service(json!(80))).with(other), Verdict::Indeterminate, &[]);
}

#[test]
fn endpoints_that_end_are_used_where_none_is_ready() {
    let ending = json!({"addresses": [address("x", "a")], "conditions": {"ready": false, "serving": true, "terminating": true},
        "targetRef": {"kind": "Pod", "name": "a"}});
    let draft =
        servers().with(service(json!(80))).with(slice(http(80), json!([ending, endpoint("b", false)])));
    check(&draft, Verdict::Passes, &[]);
    let ready =
        servers().with(service(json!(80))).with(slice(http(80), json!([ending, endpoint("b", true)])));
    let targets = ready.ask("y/a", "x/web:8080", Protocol::Tcp).targets;
    assert_eq!(targets.iter().map(|own| own.pod.as_deref()).collect::<Vec<_>>(), [Some("x/b")]);
}

#[test]
fn a_named_port_that_no_container_has_is_proven_and_a_number_is_suspected() {
    // The controller leaves a port out that it cannot find.
    let named = servers().with(service(json!("web-port"))).with(slice(json!(null), json!(null)));
    check(&named, Verdict::Blocked, &["k8s_port_not_served service/x/web"]);
    check(
        &servers().with(service(json!("web-port"))),
        Verdict::Blocked,
        &["k8s_port_not_served service/x/web"],
    );
    check(&servers().with(service(json!("serve-80-tcp"))), Verdict::Passes, &[]);
    let number =
        |draft: Draft| draft.with(service(json!(9090))).with(slice(http(9090), json!([endpoint("a", true)])));
    check(&number(servers()), Verdict::Indeterminate, &["k8s_port_not_served? service/x/web"]);
    // Containers that declare nothing may listen on anything.
    let silent = number(servers().set("Pod", "x/a", "/spec/containers/0/ports", json!([])));
    check(&silent, Verdict::Passes, &[]);
    // A container that stays beside the others has ports, too.
    let beside = json!([{"name": "proxy", "restartPolicy": "Always", "ports": [{"containerPort": 9090}]}]);
    check(&number(servers().set("Pod", "x/a", "/spec/initContainers", beside)), Verdict::Passes, &[]);
}

#[test]
fn a_port_that_the_service_does_not_have_leads_nowhere() {
    let draft = servers().with(service(json!(80))).with(slice(http(80), json!([endpoint("a", true)])));
    let (verdict, causes) = draft.causes("y/a", "x/web:80");
    assert_eq!(
        (verdict, causes),
        (Verdict::Blocked, vec!["k8s_service_port_missing service/x/web".to_owned()])
    );
    let udp = draft.ask("y/a", "x/web:8080", Protocol::Udp);
    assert_eq!(udp.verdict, Verdict::Blocked);
    // A service without an address leads to its pods, whatever ports it names.
    let headless = draft.set("Service", "x/web", "/spec/clusterIP", json!("None")).set(
        "Service",
        "x/web",
        "/spec/clusterIPs",
        json!(["None"]),
    );
    headless.check(Verdict::Indeterminate, &["y/a x/web:80"]).check(Verdict::Passes, &["y/a x/web:8080"]);
}

#[test]
fn a_policy_that_closes_one_of_two_pods_hurts_a_share() {
    let draft = servers()
        .with(service(json!(80)))
        .with(slice(http(80), json!([endpoint("a", true), endpoint("b", true)])));
    let one = draft
        .clone()
        .policy("x", json!({"podSelector": {"matchLabels": {"pod": "b"}}, "policyTypes": ["Ingress"]}));
    let (verdict, causes) = one.causes("y/a", "x/web:8080");
    assert!(verdict == Verdict::Degraded && causes[0].starts_with("k8s_policy_deny netpol/x/"), "{causes:?}");
    // The policy sees the port of the pod, not that of the service.
    let port = |port: u16| {
        let rules = json!([{"ports": [{"port": port}]}]);
        draft.clone().policy("x", json!({"podSelector": {}, "policyTypes": ["Ingress"], "ingress": rules}))
    };
    check(&port(80), Verdict::Passes, &[]);
    let (verdict, _) = port(8080).causes("y/a", "x/web:8080");
    assert_eq!(verdict, Verdict::Blocked);
}

#[test]
fn a_service_that_keeps_to_the_node_needs_a_pod_there() {
    let draft = servers().with(service(json!(80))).with(slice(http(80), json!([endpoint("a", true)]))).set(
        "Service",
        "x/web",
        "/spec/internalTrafficPolicy",
        json!("Local"),
    );
    check(&draft, Verdict::Passes, &[]);
    let away = draft.set("Pod", "y/a", "/spec/nodeName", json!("node-2"));
    check(&away, Verdict::Blocked, &["k8s_no_endpoints service/x/web"]);
}

#[test]
fn who_calls_from_outside_may_be_hidden_behind_a_node() {
    let block = json!([{"from": [{"ipBlock": {"cidr": "203.0.113.0/24"}}]}]);
    let draft = servers()
        .with(service(json!(80)))
        .with(slice(http(80), json!([endpoint("a", true)])))
        .policy("x", json!({"podSelector": {}, "policyTypes": ["Ingress"], "ingress": block}));
    draft.check(Verdict::Indeterminate, &["203.0.113.7 x/web:8080", "198.51.100.7 x/web:8080"]);
    let local = draft.set("Service", "x/web", "/spec/externalTrafficPolicy", json!("Local"));
    local
        .check(Verdict::Passes, &["203.0.113.7 x/web:8080"])
        .check(Verdict::Blocked, &["198.51.100.7 x/web:8080"]);
}

#[test]
fn a_caller_that_cannot_ask_for_names_is_noticed() {
    let mut dns = service(json!(53));
    dns["metadata"] = json!({"name": "kube-dns", "namespace": "kube-system"});
    dns["spec"]["ports"] = json!([{"name": "dns", "port": 53, "protocol": "UDP"}]);
    dns["spec"]["clusterIPs"] = json!(["10.0.0.11"]);
    dns["spec"]["selector"] = json!({"k8s-app": "kube-dns"});
    let mut server = super::draft::pod("kube-system", "coredns-1", json!({"k8s-app": "kube-dns"}));
    server["status"]["podIP"] = json!("10.244.9.9");
    server["spec"]["containers"] = json!([]);
    let namespace = json!({"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "kube-system"}});
    let draft = Draft::new().with(dns).with(server).with(namespace);
    let out = |rules: Value| {
        draft.clone().policy("y", json!({"podSelector": {}, "policyTypes": ["Egress"], "egress": rules}))
    };
    let to_x = json!({"to": [{"namespaceSelector": {"matchLabels": {"ns": "x"}}}]});
    let report = out(json!([to_x])).ask("y/a", "x/a:80", Protocol::Tcp);
    assert!(
        report.verdict == Verdict::Passes && report.noticed[0].contains("kube-system/kube-dns"),
        "{report:#?}"
    );
    let report =
        out(json!([to_x, {"ports": [{"port": 53, "protocol": "UDP"}]}])).ask("y/a", "x/a:80", Protocol::Tcp);
    assert!(report.verdict == Verdict::Passes && report.noticed.is_empty(), "{report:#?}");
}

#[test]
fn what_is_asked_for_has_to_be_there() {
    let draft = servers().with(service(json!(80)));
    let ask = |draft: &Draft, from: &str, to: &str| {
        draft.cluster().judge(&Question::parse(from, to, Protocol::Tcp).unwrap()).map(|report| report.verdict)
    };
    assert!(
        matches!(ask(&draft, "x/gone", "x/a:80"), Err(AskError::Missing { object }) if object == "pod x/gone")
    );
    assert!(matches!(ask(&draft, "x/a", "x/gone:80"), Err(AskError::Missing { .. })));
    assert!(matches!(ask(&draft, "x/a", "x/a:gone"), Err(AskError::Missing { .. })));
    assert!(ask(&draft, "x/a", "y/a:serve-80-tcp").is_ok());
    let odd = draft.clone().set("Pod", "x/b", "/status/podIPs", json!([{"ip": "999.1.1.1"}]));
    assert!(
        matches!(ask(&odd, "x/a", "x/b:80"), Err(AskError::Unread { first, .. }) if first.contains("999.1.1.1"))
    );
    let twice = draft.set("Service", "x/web", "/metadata/name", json!("a"));
    assert!(matches!(ask(&twice, "y/a", "x/a:8080"), Err(AskError::Ambiguous { .. })));
    assert!(ask(&twice, "y/a", "x/service/a:8080").is_ok() && ask(&twice, "y/a", "x/pod/a:80").is_ok());
    let over = Draft::new().set("Pod", "x/a", "/status/phase", json!("Pending"));
    over.check(Verdict::Indeterminate, &["y/a x/a:80", "x/a y/a:80"]);
}
