//! Policies against flows. The situations are those of the conformance tests of Kubernetes (`test/e2e/network/netpol`) and of the public
//! policy checkers, set up anew.

use serde_json::{Value, json};

use super::draft::{Draft, address, pod};
use crate::cluster::{Engine, Passage, Protocol, Question, Verdict};

const ALL: [&str; 9] = ["x/a", "x/b", "x/c", "y/a", "y/b", "y/c", "z/a", "z/b", "z/c"];

fn ingress(pods: Value, rules: Value) -> Value {
    json!({"podSelector": pods, "policyTypes": ["Ingress"], "ingress": rules})
}

fn egress(pods: Value, rules: Value) -> Value {
    json!({"podSelector": pods, "policyTypes": ["Egress"], "egress": rules})
}

fn label(key: &str, value: &str) -> Value {
    json!({"matchLabels": {key: value}})
}

#[test]
fn a_pod_that_no_policy_selects_is_open() {
    Draft::new().reached_by("x/a:80", &ALL);
    // It selects others, or is about the other direction.
    Draft::new().policy("x", ingress(label("pod", "b"), json!([]))).reached_by("x/a:80", &ALL);
    Draft::new().policy("y", ingress(json!({}), json!([]))).reached_by("x/a:80", &ALL);
}

#[test]
fn a_selected_pod_is_closed_but_for_its_rules() {
    let closed = Draft::new().policy("x", ingress(json!({}), json!([])));
    closed.reached_by("x/a:80", &[]).reached_by("y/a:80", &ALL);
    let (verdict, causes) = closed.causes("y/b", "x/a:80");
    assert_eq!((verdict, causes), (Verdict::Blocked, vec!["k8s_policy_deny netpol/x/policy-12".to_owned()]));
    Draft::new().policy("x", ingress(json!({}), json!([{}]))).reached_by("x/a:80", &ALL);
    let out = Draft::new().policy("x", egress(json!({}), json!([])));
    out.reached_by("y/a:80", &["y/b", "y/c", "z/a", "z/b", "z/c"]).check(Verdict::Passes, &["y/a x/a:80"]);
    // Without types a policy is about what comes in, and about what goes out where it says something of that.
    let plain = Draft::new().policy("x", json!({"podSelector": {}}));
    plain.check(Verdict::Blocked, &["y/a x/a:80"]).check(Verdict::Passes, &["x/a y/a:80"]);
    let both =
        Draft::new().policy("x", json!({"podSelector": {}, "egress": [{"to": [{"podSelector": {}}]}]}));
    both.check(Verdict::Blocked, &["y/a x/a:80", "x/a y/a:80", "x/a x/b:80"]);
}

#[test]
fn selectors_of_one_peer_hold_together_and_those_of_two_apart() {
    let peers = |peers: Value| Draft::new().policy("x", ingress(label("pod", "a"), json!([{"from": peers}])));
    let not_x = json!({"matchExpressions": [{"key": "ns", "operator": "NotIn", "values": ["x"]}]});
    let b_c = json!({"matchExpressions": [{"key": "pod", "operator": "In", "values": ["b", "c"]}]});
    peers(json!([{"namespaceSelector": not_x, "podSelector": b_c}]))
        .reached_by("x/a:80", &["y/b", "y/c", "z/b", "z/c"]);
    peers(json!([{"namespaceSelector": not_x}, {"podSelector": b_c}]))
        .reached_by("x/a:80", &["x/b", "x/c", "y/a", "y/b", "y/c", "z/a", "z/b", "z/c"]);
    peers(json!([{"podSelector": label("pod", "b")}])).reached_by("x/a:80", &["x/b"]);
    peers(json!([{"podSelector": {}}])).reached_by("x/a:80", &["x/b", "x/c"]);
    peers(json!([{"namespaceSelector": {}}])).reached_by("x/a:80", &ALL);
    peers(json!([{"namespaceSelector": label("kubernetes.io/metadata.name", "y")}]))
        .reached_by("x/a:80", &["y/a", "y/b", "y/c"]);
    peers(json!([])).reached_by("x/a:80", &ALL);
}

#[test]
fn policies_add_up() {
    let from_y = |port: u16| {
        ingress(
            label("pod", "a"),
            json!([{"from": [{"namespaceSelector": label("ns", "y")}], "ports": [{"protocol": "TCP", "port": port}]}]),
        )
    };
    let one = Draft::new().policy("x", from_y(81));
    one.reached_by("x/a:81", &["y/a", "y/b", "y/c"]).reached_by("x/a:80", &[]);
    let two = one.clone().policy("x", from_y(80));
    two.reached_by("x/a:81", &["y/a", "y/b", "y/c"]).reached_by("x/a:80", &["y/a", "y/b", "y/c"]);
    // One that closes takes nothing from what another one lets through.
    two.policy("x", ingress(json!({}), json!([]))).reached_by("x/a:80", &["y/a", "y/b", "y/c"]);
}

#[test]
fn both_ends_have_to_let_a_flow_through() {
    let a_of = |namespace: &str| json!([{"namespaceSelector": label("ns", namespace), "podSelector": label("pod", "a")}]);
    let draft = Draft::new()
        .policy(
            "x",
            egress(
                label("pod", "a"),
                json!([{"to": a_of("y")}, {"ports": [{"protocol": "UDP", "port": 53}]}]),
            ),
        )
        .policy("y", ingress(label("pod", "a"), json!([{"from": a_of("x")}])))
        .policy("y", ingress(label("pod", "b"), json!([{"from": a_of("x")}])));
    draft.check(Verdict::Passes, &["x/a y/a:80"]);
    // The server would take it; the caller may not send it.
    draft.check(Verdict::Blocked, &["x/a y/b:80", "x/b y/a:80", "x/a z/a:80"]);
    let names = draft.ask("x/a", "z/a:53", Protocol::Udp);
    assert_eq!(names.verdict, Verdict::Indeterminate, "no container declares it: {names:#?}");
    assert!(matches!(names.targets[0].egress, Some(Passage::Allowed { .. })));
}

#[test]
fn ports_are_numbers_names_and_ranges_of_a_protocol() {
    let ports = |ports: Value| Draft::new().policy("x", ingress(json!({}), json!([{"ports": ports}])));
    let asked =
        |draft: &Draft, port: &str, protocol| draft.ask("y/a", &format!("x/a:{port}"), protocol).verdict;
    let check = |own: Value, tcp80, tcp81, udp80| {
        let draft = ports(own.clone());
        let found = [
            asked(&draft, "80", Protocol::Tcp),
            asked(&draft, "81", Protocol::Tcp),
            asked(&draft, "80", Protocol::Udp),
        ];
        let verdict = |passes| if passes { Verdict::Passes } else { Verdict::Blocked };
        assert_eq!(found, [verdict(tcp80), verdict(tcp81), verdict(udp80)], "{own}");
    };
    check(json!([{"port": 80}]), true, false, false);
    check(json!([{"port": 80, "protocol": "UDP"}]), false, false, true);
    check(json!([{"protocol": "UDP"}]), false, false, true);
    check(json!([{"protocol": "SCTP"}]), false, false, false);
    check(json!([{"port": "serve-81-tcp"}]), false, true, false);
    check(json!([{"port": "serve-80-tcp", "protocol": "UDP"}]), false, false, false);
    check(json!([{"port": "nobody"}]), false, false, false);
    check(json!([{"port": 81, "endPort": 90}]), false, true, false);
    check(json!([{"port": 1, "endPort": 65535}, {"port": 80, "protocol": "UDP"}]), true, true, true);
    check(json!([]), true, true, true);
    // A name is that of the called pod, also where the caller's policy says it.
    let out = Draft::new().policy("y", egress(json!({}), json!([{"ports": [{"port": "serve-80-tcp"}]}])));
    out.check(Verdict::Passes, &["y/a x/a:80"]).check(Verdict::Blocked, &["y/a x/a:81"]);
    // The same name with other numbers in another pod.
    let other = out.set("Pod", "x/a", "/spec/containers/0/ports/0/containerPort", json!(8080));
    other.check(Verdict::Passes, &["y/a x/a:8080"]).check(Verdict::Blocked, &["y/a x/a:81"]);
}

#[test]
fn blocks_hold_addresses_but_for_their_exceptions() {
    let block = |cidr: &str, except: Value| json!([{"to": [{"ipBlock": {"cidr": cidr, "except": except}}], "ports": [{"port": 443}]}]);
    let out = |rules: Value| Draft::new().policy("x", egress(label("pod", "a"), rules));
    let draft = out(block("10.50.0.0/16", json!(["10.50.3.0/24"])));
    draft.check(Verdict::Passes, &["x/a 10.50.0.4:443"]);
    draft.check(Verdict::Blocked, &["x/a 10.50.3.4:443", "x/a 10.51.0.4:443", "x/a 10.50.0.4:80"]);
    // The bits behind the length of a prefix do not count.
    out(block("192.168.242.213/24", json!(null))).check(Verdict::Passes, &["x/a 192.168.242.9:443"]);
    out(block("::/0", json!([]))).check(Verdict::Blocked, &["x/a 8.8.8.8:443"]);
    out(block("::/0", json!([]))).check(Verdict::Passes, &["x/a [2001:db8::1]:443"]);
    let into = Draft::new()
        .policy("x", ingress(json!({}), json!([{"from": [{"ipBlock": {"cidr": "203.0.113.0/24"}}]}])));
    into.check(Verdict::Passes, &["203.0.113.7 x/a:80"]).check(Verdict::Blocked, &["198.51.100.7 x/a:80"]);
}

#[test]
fn whether_a_block_matches_pods_is_the_engines() {
    let called = format!("{}/32", address("y", "b"));
    let rules = json!([{"to": [{"ipBlock": {"cidr": called}}]}]);
    let mut draft = Draft::new().policy("x", egress(json!({}), rules));
    let asked = |draft: &Draft| draft.ask("x/a", "y/b:80", Protocol::Tcp).verdict;
    for (engine, verdict) in [
        (Some(Engine::Calico), Verdict::Passes),
        (Some(Engine::Azure), Verdict::Passes),
        (Some(Engine::Cilium), Verdict::Blocked),
        (Some(Engine::Other), Verdict::Indeterminate),
        (Some(Engine::None), Verdict::Passes),
        (None, Verdict::Indeterminate),
    ] {
        draft.engine = engine;
        assert_eq!(asked(&draft), verdict, "{engine:?}");
    }
    // Where the block does not hold the address there is nothing to decide.
    draft.engine = Some(Engine::Other);
    draft.check(Verdict::Blocked, &["x/a y/c:80"]);
}

#[test]
fn without_something_that_enforces_policies_nothing_is_denied() {
    let mut draft = Draft::new().policy("x", ingress(json!({}), json!([])));
    draft.engine = None;
    draft.check(Verdict::Indeterminate, &["y/a x/a:80"]).check(Verdict::Passes, &["x/a y/a:80"]);
    draft.engine = Some(Engine::None);
    draft.check(Verdict::Passes, &["y/a x/a:80"]);
    // The pods of the system say what enforces.
    draft.engine = None;
    let npm = |namespace: &str| draft.clone().with(pod(namespace, "npm-1", json!({"k8s-app": "azure-npm"})));
    let system = npm("kube-system");
    assert_eq!(system.ask("y/a", "x/a:80", Protocol::Tcp).engine, Some(Engine::Azure));
    system.check(Verdict::Blocked, &["y/a x/a:80"]);
    npm("shop").check(Verdict::Indeterminate, &["y/a x/a:80"]);
}

#[test]
fn a_pod_reaches_itself_and_its_node() {
    let draft =
        Draft::new().policy("x", ingress(json!({}), json!([]))).policy("x", egress(json!({}), json!([])));
    draft.check(Verdict::Passes, &["x/a x/a:80", "10.240.0.4 x/a:80", "x/a 10.240.0.4:10250"]);
    draft.check(Verdict::Blocked, &["x/a x/b:80", "203.0.113.7 x/a:80"]);
}

#[test]
fn pods_on_the_network_of_their_node_are_left_to_the_engine() {
    let host = |draft: Draft| {
        draft
            .set("Pod", "y/a", "/spec/hostNetwork", json!(true))
            .set("Pod", "y/a", "/spec/nodeName", json!("node-2"))
            .set("Pod", "y/a", "/status/hostIP", json!("10.240.0.5"))
            .set("Pod", "y/a", "/status/podIPs", json!([{"ip": "10.240.0.5"}]))
    };
    let rules = |peer: Value| host(Draft::new().policy("x", ingress(json!({}), json!([{"from": [peer]}]))));
    rules(json!({"namespaceSelector": {}})).check(Verdict::Indeterminate, &["y/a x/a:80"]);
    rules(json!({"ipBlock": {"cidr": "10.240.0.0/16"}})).check(Verdict::Indeterminate, &["y/a x/a:80"]);
    // What lets anybody in lets it in, and what nothing selects is open.
    host(Draft::new().policy("x", ingress(json!({}), json!([{}])))).check(Verdict::Passes, &["y/a x/a:80"]);
    host(Draft::new()).check(Verdict::Passes, &["y/a x/a:80", "x/a y/a:80"]);
    host(Draft::new().policy("x", ingress(json!({}), json!([])))).check(Verdict::Blocked, &["y/a x/a:80"]);
    host(Draft::new().policy("y", egress(json!({}), json!([]))))
        .check(Verdict::Indeterminate, &["y/a x/a:80"]);
    // On the same node it is the node itself.
    host(Draft::new().policy("x", ingress(json!({}), json!([]))))
        .set("Pod", "y/a", "/spec/nodeName", json!("node-1"))
        .check(Verdict::Passes, &["y/a x/a:80"]);
}

#[test]
fn what_is_not_understood_decides_nothing() {
    let unknown = |spec: Value| {
        Draft::new().policy("x", spec).check(Verdict::Indeterminate, &["y/a x/a:80"]);
    };
    unknown(ingress(json!({}), json!([{"from": [{"podSelector": {}, "nodeSelector": {}}]}])));
    unknown(ingress(json!({}), json!([{"from": [{}]}])));
    unknown(ingress(json!({}), json!([{"from": [{"podSelector": {}, "ipBlock": {"cidr": "0.0.0.0/0"}}]}])));
    unknown(ingress(json!({}), json!([{"from": [{"ipBlock": {"cidr": "10.0.0.0/33"}}]}])));
    unknown(ingress(json!({}), json!([{"ports": [{"port": 80, "endPort": 79}]}])));
    unknown(ingress(json!({}), json!([{"ports": [{"port": 80, "protocol": "QUIC"}]}])));
    unknown(ingress(json!({}), json!([{"ports": [{"port": 80, "hosts": ["x"]}]}])));
    unknown(ingress(json!({}), json!([{"l7": []}])));
    unknown(json!({"podSelector": {}, "policyTypes": ["Ingress", "Sideways"]}));
    unknown(json!({"podSelector": {}, "policyTypes": ["Egress"], "priority": 1}));
    unknown(json!({"podSelector": {"matchLabels": {"pod": 1}}, "policyTypes": ["Ingress"]}));
    // Another rule lets it through all the same, and another pod is not concerned.
    let known = json!([{"l7": []}, {"ports": [{"port": 80}]}]);
    Draft::new().policy("x", ingress(json!({}), known)).check(Verdict::Passes, &["y/a x/a:80"]);
    Draft::new()
        .policy("x", ingress(label("pod", "b"), json!([{"l7": []}])))
        .check(Verdict::Passes, &["y/a x/a:80"]);
}

#[test]
fn policies_of_other_kinds_and_policies_that_were_not_read_leave_it_open() {
    for (kind, version) in [
        ("CiliumNetworkPolicy", "cilium.io/v2"),
        ("GlobalNetworkPolicy", "crd.projectcalico.org/v1"),
        ("NetworkPolicy", "crd.projectcalico.org/v1"),
        ("AdminNetworkPolicy", "policy.networking.k8s.io/v1alpha1"),
    ] {
        let item = json!({"kind": kind, "apiVersion": version, "metadata": {"name": "p", "namespace": "x"}});
        Draft::new().with(item).check(Verdict::Indeterminate, &["y/a x/a:80"]);
    }
    let draft = Draft::new();
    let mut cluster = crate::cluster::Cluster::default();
    cluster.add(&draft.text()).unwrap();
    let question = Question::parse("y/a", "x/a:80", Protocol::Tcp).unwrap();
    let report = cluster.judge(&question).unwrap();
    assert_eq!(report.verdict, Verdict::Indeterminate);
    assert!(report.missing[0].contains("no NetworkPolicy was read"), "{report:#?}");
    // A list of the server says of what it is empty.
    let none = json!({"kind": "NetworkPolicyList", "apiVersion": "networking.k8s.io/v1", "metadata": {}, "items": null});
    assert!(cluster.add(&none.to_string()).is_err());
    let none = json!({"kind": "NetworkPolicyList", "apiVersion": "networking.k8s.io/v1", "metadata": {}, "items": []});
    cluster.add(&none.to_string()).unwrap();
    assert_eq!(cluster.judge(&question).unwrap().verdict, Verdict::Passes);
}

#[test]
fn a_namespace_that_was_not_read_has_its_name_and_nothing_else() {
    let mut draft = Draft::new().policy(
        "x",
        ingress(label("pod", "a"), json!([{"from": [{"namespaceSelector": label("ns", "y")}]}])),
    );
    draft = draft.policy(
        "x",
        ingress(
            label("pod", "b"),
            json!([{"from": [{"namespaceSelector": label("kubernetes.io/metadata.name", "y")}]}]),
        ),
    );
    draft.items.retain(|item| item["kind"] != "Namespace");
    draft.check(Verdict::Indeterminate, &["y/a x/a:80"]);
    draft.check(Verdict::Passes, &["y/a x/b:80"]).check(Verdict::Blocked, &["z/a x/b:80"]);
}

#[test]
fn an_address_that_no_pod_has_may_be_a_pods() {
    let rules = json!([{"to": [{"namespaceSelector": {}}], "ports": [{"port": 443}]}]);
    let draft = Draft::new().policy("x", egress(json!({}), rules));
    draft.check(Verdict::Indeterminate, &["x/a 10.9.9.9:443"]);
    draft.check(Verdict::Blocked, &["x/a 10.9.9.9:5432", "x/a 8.8.8.8:443"]);
    // An address that a pod has is that pod.
    let own =
        Draft::new().policy("x", egress(json!({}), json!([{"to": [{"podSelector": label("pod", "b")}]}])));
    own.check(Verdict::Passes, &[&format!("x/a {}:80", address("x", "b"))]);
    own.check(Verdict::Blocked, &[&format!("x/a {}:80", address("x", "c"))]);
    assert_eq!(Draft::new().ask("8.8.8.8", "9.9.9.9:53", Protocol::Udp).verdict, Verdict::Indeterminate);
}
