//! The rules of kube-proxy on a node, beside what the cluster says.

use serde_json::json;

use super::draft::{Draft, address, pod};
use crate::cluster::{Cluster, Engine, Protocol, Question, Report, Verdict};

/// What kube-proxy writes for a service of one port, as `iptables-save` prints it.
fn rules(filter: &str, nat: &str) -> String {
    format!(
        "*filter\n:INPUT ACCEPT [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n:KUBE-SERVICES - [0:0]\n\
         -A FORWARD -m conntrack --ctstate NEW -m comment --comment \"kubernetes service portals\" -j KUBE-SERVICES\n\
         -A OUTPUT -m conntrack --ctstate NEW -m comment --comment \"kubernetes service portals\" -j KUBE-SERVICES\n{filter}COMMIT\n\
         *nat\n:PREROUTING ACCEPT [0:0]\n:INPUT ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n:POSTROUTING ACCEPT [0:0]\n:KUBE-SERVICES - [0:0]\n\
         :KUBE-MARK-MASQ - [0:0]\n:KUBE-SVC-AAAA - [0:0]\n:KUBE-SEP-BBBB - [0:0]\n:KUBE-SEP-CCCC - [0:0]\n\
         -A PREROUTING -m comment --comment \"kubernetes service portals\" -j KUBE-SERVICES\n\
         -A OUTPUT -m comment --comment \"kubernetes service portals\" -j KUBE-SERVICES\n\
         -A KUBE-MARK-MASQ -j MARK --set-xmark 0x4000/0x4000\n{nat}COMMIT\n"
    )
}

const REFUSED: &str = "-A KUBE-SERVICES -d 10.0.0.10/32 -p tcp -m comment --comment \"x/web:http has no endpoints\" -m tcp --dport 8080 -j REJECT --reject-with icmp-port-unreachable\n";

fn sent(to: &[&str]) -> String {
    let mut text = "-A KUBE-SERVICES -d 10.0.0.10/32 -p tcp -m comment --comment \"x/web:http cluster IP\" -m tcp --dport 8080 -j KUBE-SVC-AAAA\n\
        -A KUBE-SVC-AAAA ! -s 10.244.0.0/16 -d 10.0.0.10/32 -p tcp -m comment --comment \"x/web:http cluster IP\" -m tcp --dport 8080 -j KUBE-MARK-MASQ\n"
        .to_owned();
    for (to, chain) in to.iter().zip(["KUBE-SEP-BBBB", "KUBE-SEP-CCCC"]) {
        let ip = to.split(':').next().unwrap();
        text.push_str(&format!(
            "-A KUBE-SVC-AAAA -m comment --comment \"x/web:http -> {to}\" -m statistic --mode random --probability 0.50000000000 -j {chain}\n\
             -A {chain} -s {ip}/32 -m comment --comment \"x/web:http\" -j KUBE-MARK-MASQ\n\
             -A {chain} -p tcp -m comment --comment \"x/web:http\" -m tcp -j DNAT --to-destination {to}\n"
        ));
    }
    text
}

fn ask(draft: &Draft, rules: &str) -> Report {
    let mut cluster: Cluster = draft.cluster();
    cluster.add_rules(rules).unwrap();
    let question = Question::parse("y/a", "x/web:8080", Protocol::Tcp).unwrap();
    cluster.judge(&question.enforced_by(Some(Engine::Calico))).unwrap()
}

fn draft(ready: bool) -> Draft {
    let status = if ready { "True" } else { "False" };
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "x"},
        "spec": {"clusterIP": "10.0.0.10", "selector": {"app": "web"}, "ports": [{"name": "http", "port": 8080, "targetPort": 80}]}});
    let mut server = pod("x", "server", json!({"app": "web"}));
    server["status"]["podIP"] = json!("10.244.1.9");
    server["status"]["conditions"] = json!([{"type": "Ready", "status": status}]);
    Draft::new().with(service).with(server)
}

#[track_caller]
fn check(report: &Report, verdict: Verdict, causes: &[&str]) {
    let named: Vec<String> = report
        .causes
        .iter()
        .map(|own| format!("{}{}", own.fault, if own.is_proven { "" } else { "?" }))
        .collect();
    assert_eq!(
        (report.verdict, named),
        (verdict, causes.iter().map(|own| (*own).to_owned()).collect()),
        "{report:#?}"
    );
}

#[test]
fn a_node_that_has_the_endpoints_agrees() {
    let report = ask(&draft(true), &rules("", &sent(&["10.244.1.9:80"])));
    check(&report, Verdict::Passes, &[]);
    assert!(report.noticed.is_empty(), "{report:#?}");
}

#[test]
fn a_node_that_refuses_what_has_no_endpoint_shows_it_too() {
    let report = ask(&draft(false), &rules(REFUSED, ""));
    check(&report, Verdict::Blocked, &["k8s_no_endpoints"]);
    assert!(report.causes[0].why.ends_with("the node refuses 10.0.0.10:8080"), "{report:#?}");
    let still = ask(&draft(false), &rules("", &sent(&["10.244.1.9:80"])));
    check(&still, Verdict::Blocked, &["k8s_no_endpoints"]);
    assert!(still.noticed[0].contains("still sends"), "{still:#?}");
}

#[test]
fn rules_that_lag_behind_are_named() {
    check(&ask(&draft(true), &rules(REFUSED, "")), Verdict::Blocked, &["k8s_node_rules_stale"]);
    check(&ask(&draft(true), &rules("", "")), Verdict::Blocked, &["k8s_node_rules_stale"]);
    check(
        &ask(&draft(true), &rules("", &sent(&["10.244.7.7:80"]))),
        Verdict::Blocked,
        &["k8s_node_rules_stale"],
    );
    let share = ask(&draft(true), &rules("", &sent(&["10.244.7.7:80", "10.244.1.9:80"])));
    check(&share, Verdict::Indeterminate, &["k8s_node_rules_stale?"]);
}

#[test]
fn rules_that_are_not_kube_proxys_or_not_whole_decide_nothing() {
    let other = "*nat\n:PREROUTING ACCEPT [0:0]\n:CILIUM_PRE_nat - [0:0]\nCOMMIT\n";
    let report = ask(&draft(true), other);
    check(&report, Verdict::Passes, &[]);
    assert!(report.noticed[0].contains("no chain KUBE-SERVICES"), "{report:#?}");
    let whole = rules("", &sent(&["10.244.1.9:80"]));
    let cut = &whole[..whole.len() - 60];
    let mut cluster = draft(true).cluster();
    match cluster.add_rules(cut) {
        Ok(()) => check(&ask(&draft(true), cut), Verdict::Passes, &[]),
        Err(error) => assert!(error.to_string().contains("rules of the node"), "{error}"),
    }
    assert!(cluster.add_rules("").is_err() || address("x", "a").starts_with("10."));
}
