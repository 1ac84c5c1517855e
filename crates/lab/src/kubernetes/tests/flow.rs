//! Facts about who reaches whom.

use super::shop;
use crate::kubernetes::model::{ObjectName, Protocol};
use crate::kubernetes::truth::{Called, Fate};

const WEB: &str = "shop/web-7d9c6b8f5-x2k4q";

/// Follows a flow in a cluster with some more tables.
#[track_caller]
fn check(more: &str, from: &str, to: &str, expected: &str) {
    let cluster = shop(more);
    let (to, protocol) = match to.strip_suffix("/udp") {
        Some(to) => (to, Protocol::Udp),
        None => (to, Protocol::Tcp),
    };
    let (name, port) = to.rsplit_once(':').unwrap();
    let called = match name.parse() {
        Ok(address) => Called::Address(address),
        Err(_) => Called::Object(name.parse().unwrap()),
    };
    let from: ObjectName = from.parse().unwrap();
    let truth = cluster.follow(&from, &called, port.parse().unwrap(), protocol).unwrap();
    let fate = match truth.fate {
        Fate::Passes => "passes",
        Fate::Partly => "partly",
        Fate::Fails => "fails",
    };
    let by = truth.culprits.iter().map(|own| format!(" {} {}", own.code(), own.object("c")));
    assert_eq!(format!("{fate}{}", by.collect::<String>()), expected);
}

fn policy(name: &str, spec: &str) -> String {
    format!("[[policy]]\nname = \"{name}\"\nspec = {{ {spec} }}\n")
}

#[test]
fn without_policies_everybody_reaches_everybody() {
    check("", WEB, "shop/db:5432", "passes");
    check("", WEB, "pay/ledger:9000", "passes");
    check("", WEB, "shop/old-db:5432", "passes");
    check("", WEB, "kube-system/kube-dns:53/udp", "passes");
    check("", WEB, "172.30.0.10:53/udp", "passes");
    check("", WEB, "8.8.8.8:443", "passes");
}

#[test]
fn a_pod_that_a_policy_selects_is_closed_but_for_its_rules() {
    let db = "podSelector = { matchLabels = { app = \"db\" } }";
    let denied = "fails k8s_policy_deny netpol/c/shop/db-in";
    let with = |rule: &str| policy("shop/db-in", &format!("{db}{rule}"));
    check(&with(""), WEB, "shop/db:5432", denied);
    check(&with(", ingress = []"), WEB, "shop/db:5432", denied);
    check(&with(", ingress = [{}]"), WEB, "shop/db:5432", "passes");
    let from = |who: &str| with(&format!(", ingress = [{{ from = [{who}] }}]"));
    check(&from("{ podSelector = { matchLabels = { app = \"web\" } } }"), WEB, "shop/db:5432", "passes");
    check(&from("{ podSelector = { matchLabels = { app = \"api\" } } }"), WEB, "shop/db:5432", denied);
    // Pods alone are those of its own namespace.
    check(&from("{ podSelector = {} }"), "pay/ledger-0", "shop/db:5432", denied);
    check(&from("{ namespaceSelector = {} }"), "pay/ledger-0", "shop/db:5432", "passes");
    let team = "namespaceSelector = { matchLabels = { team = \"money\" } }";
    check(&from(&format!("{{ {team} }}")), "pay/ledger-0", "shop/db:5432", "passes");
    check(
        &from(&format!("{{ {team}, podSelector = {{ matchLabels = {{ app = \"web\" }} }} }}")),
        "pay/ledger-0",
        "shop/db:5432",
        denied,
    );
    let known = "{ namespaceSelector = { matchLabels = { \"kubernetes.io/metadata.name\" = \"pay\" } } }";
    check(&from(known), "pay/ledger-0", "shop/db:5432", "passes");
    let odd = "{ podSelector = { matchExpressions = [{ key = \"app\", operator = \"NotIn\", values = [\"web\"] }] } }";
    check(&from(odd), WEB, "shop/db:5432", denied);
}

#[test]
fn ports_of_a_policy_are_those_of_the_pod() {
    let rule = |port: &str| {
        policy(
            "shop/db-in",
            &format!(
                "podSelector = {{ matchLabels = {{ app = \"db\" }} }}, ingress = [{{ ports = [{port}] }}]"
            ),
        )
    };
    check(&rule("{ port = \"sql\" }"), WEB, "shop/db:5432", "passes");
    check(&rule("{ port = 5432, endPort = 5440 }"), WEB, "shop/db:5432", "passes");
    // One of the two pods has another number.
    check(&rule("{ port = 5432 }"), WEB, "shop/db:5432", "partly k8s_policy_deny netpol/c/shop/db-in");
    check(&rule("{ protocol = \"UDP\" }"), WEB, "shop/db:5432", "fails k8s_policy_deny netpol/c/shop/db-in");
}

#[test]
fn policies_add_up_and_each_direction_is_asked() {
    let deny = policy("shop/deny", "podSelector = {}, policyTypes = [\"Ingress\", \"Egress\"]");
    check(&deny, WEB, "shop/db:5432", "fails k8s_policy_deny netpol/c/shop/deny");
    let inside = policy("shop/in", "podSelector = {}, ingress = [{ from = [{ podSelector = {} }] }]");
    check(&format!("{deny}{inside}"), WEB, "shop/db:5432", "fails k8s_policy_deny netpol/c/shop/deny");
    let outside = policy(
        "shop/out",
        "podSelector = {}, policyTypes = [\"Egress\"], egress = [{ to = [{ podSelector = {} }] }]",
    );
    check(&format!("{deny}{inside}{outside}"), WEB, "shop/db:5432", "passes");
    check(
        &format!("{deny}{inside}{outside}"),
        WEB,
        "kube-system/kube-dns:53/udp",
        "fails k8s_policy_deny netpol/c/shop/deny k8s_policy_deny netpol/c/shop/out",
    );
}

#[test]
fn a_policy_without_an_engine_does_nothing() {
    let deny = policy("shop/deny", "podSelector = {}, policyTypes = [\"Ingress\", \"Egress\"]");
    check(&format!("engine = \"none\"\n{deny}"), WEB, "shop/db:5432", "passes");
}

#[test]
fn blocks_match_pods_but_for_cilium() {
    let rule = "podSelector = { matchLabels = { app = \"web\" } }, egress = [{ to = [{ ipBlock = { cidr = \"10.244.0.0/16\", except = [\"10.244.7.0/24\"] } }] }], policyTypes = [\"Egress\"]";
    let own = policy("shop/out", rule);
    check(&own, WEB, "shop/db:5432", "passes");
    check(&own, WEB, "shop/old-db:5432", "fails k8s_policy_deny netpol/c/shop/out");
    check(
        &format!("engine = \"cilium\"\n{own}"),
        WEB,
        "shop/db:5432",
        "fails k8s_policy_deny netpol/c/shop/out",
    );
}

#[test]
fn a_service_leads_to_ready_pods_by_its_ports() {
    let not_ready = "[[fault]]\nkind = \"not_ready\"\npods = [\"shop/db-0\", \"shop/db-1\"]\n";
    check(not_ready, WEB, "shop/db:5432", "fails k8s_no_endpoints service/c/shop/db");
    let one = "[[fault]]\nkind = \"not_ready\"\npods = [\"shop/db-0\"]\n";
    check(one, WEB, "shop/db:5432", "passes");
    let selector = "[[fault]]\nkind = \"selector\"\nservice = \"shop/db\"\nselector = { app = \"sql\" }\n";
    check(selector, WEB, "shop/db:5432", "fails k8s_no_endpoints service/c/shop/db");
    let target = "[[fault]]\nkind = \"target_port\"\nservice = \"shop/db\"\nport = 5432\ntarget = \"pg\"\n";
    check(target, WEB, "shop/db:5432", "fails k8s_port_not_served service/c/shop/db");
    let number = "[[fault]]\nkind = \"target_port\"\nservice = \"shop/db\"\nport = 5432\ntarget = 1433\n";
    check(number, WEB, "shop/db:5432", "fails k8s_port_not_served service/c/shop/db");
    check("", WEB, "shop/db:5433", "fails k8s_service_port_missing service/c/shop/db");
    check("", WEB, "shop/db-1:5433", "passes");
    check("", WEB, "shop/db-1:5432", "fails k8s_port_not_served pod/c/shop/db-1");
    check("", WEB, "shop/db-nodes:5432", "passes");
}

#[test]
fn a_pod_reaches_itself_and_what_is_on_a_node_is_under_no_policy() {
    let deny = policy("shop/deny", "podSelector = {}, policyTypes = [\"Ingress\", \"Egress\"]");
    check(&deny, "shop/db-0", "shop/db-0:5432", "passes");
    let host = "[[pod]]\nname = \"shop/agent-1\"\nhost_network = true\nlabels = { app = \"agent\" }\n";
    let out = policy("shop/deny-out", "podSelector = {}, policyTypes = [\"Egress\"]");
    check(&format!("{host}{out}"), "shop/agent-1", "shop/db:5432", "passes");
}
