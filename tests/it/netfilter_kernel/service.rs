//! Rules as kube-proxy writes them, loaded into the kernel and printed by the real `iptables-save`: what the inspector reads of a service.

use ghost_inspect::cluster::{Cluster, Protocol, Question, Verdict};
use serde_json::json;

use super::place::{alone, ask, skipped};

/// What kube-proxy gives `iptables-restore`: one service with two endpoints, one without any.
const RULES: &str = r#"*filter
:KUBE-SERVICES - [0:0]
-A INPUT -m conntrack --ctstate NEW -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
-A OUTPUT -m conntrack --ctstate NEW -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
-A KUBE-SERVICES -m comment --comment "shop/cache:redis has no endpoints" -m tcp -p tcp -d 10.0.0.11 --dport 6379 -j REJECT
COMMIT
*nat
:KUBE-SERVICES - [0:0]
:KUBE-MARK-MASQ - [0:0]
:KUBE-SVC-5J2DBXNCAUJ6SUVP - [0:0]
:KUBE-SEP-ZN6KJ2W7E6LYRQ4A - [0:0]
:KUBE-SEP-Q4SXZ7CDOF3GWUTM - [0:0]
-A PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
-A OUTPUT -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
-A KUBE-MARK-MASQ -j MARK --or-mark 0x4000
-A KUBE-SERVICES -m comment --comment "shop/db:sql cluster IP" -m tcp -p tcp -d 10.0.0.10 --dport 5432 -j KUBE-SVC-5J2DBXNCAUJ6SUVP
-A KUBE-SVC-5J2DBXNCAUJ6SUVP -m comment --comment "shop/db:sql cluster IP" -m tcp -p tcp -d 10.0.0.10 --dport 5432 ! -s 10.244.0.0/16 -j KUBE-MARK-MASQ
-A KUBE-SVC-5J2DBXNCAUJ6SUVP -m comment --comment "shop/db:sql -> 10.244.0.6:5432" -m statistic --mode random --probability 0.5000000000 -j KUBE-SEP-ZN6KJ2W7E6LYRQ4A
-A KUBE-SVC-5J2DBXNCAUJ6SUVP -m comment --comment "shop/db:sql -> 10.244.0.7:5432" -j KUBE-SEP-Q4SXZ7CDOF3GWUTM
-A KUBE-SEP-ZN6KJ2W7E6LYRQ4A -m comment --comment shop/db:sql -s 10.244.0.6 -j KUBE-MARK-MASQ
-A KUBE-SEP-ZN6KJ2W7E6LYRQ4A -m comment --comment shop/db:sql -m tcp -p tcp -j DNAT --to-destination 10.244.0.6:5432
-A KUBE-SEP-Q4SXZ7CDOF3GWUTM -m comment --comment shop/db:sql -s 10.244.0.7 -j KUBE-MARK-MASQ
-A KUBE-SEP-Q4SXZ7CDOF3GWUTM -m comment --comment shop/db:sql -m tcp -p tcp -j DNAT --to-destination 10.244.0.7:5432
COMMIT
"#;

/// The shop, with so many pods that serve the database, and no cache or one.
fn shop(databases: usize, caches: usize) -> Cluster {
    let pod = |name: String, app: &str, address: String| {
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "shop", "labels": {"app": app}},
            "spec": {}, "status": {"phase": "Running", "podIP": address, "conditions": [{"type": "Ready", "status": "True"}]}})
    };
    let service = |name: &str, address: &str, port: u16| {
        json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": "shop"},
            "spec": {"clusterIP": address, "selector": {"app": name}, "ports": [{"port": port}]}})
    };
    let mut items = vec![
        pod("web".to_owned(), "web", "10.244.0.4".to_owned()),
        service("db", "10.0.0.10", 5432),
        service("cache", "10.0.0.11", 6379),
    ];
    items.extend((0..databases).map(|at| pod(format!("db-{at}"), "db", format!("10.244.0.{}", 6 + at))));
    items.extend((0..caches).map(|at| pod(format!("cache-{at}"), "cache", format!("10.244.0.{}", 20 + at))));
    let mut cluster = Cluster::default();
    cluster.add(&json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string()).unwrap();
    cluster.add_policies(r#"{"apiVersion":"v1","kind":"List","items":[]}"#).unwrap();
    cluster
}

#[test]
fn rules_of_a_node_are_read_as_the_kernel_prints_them() {
    if skipped().is_some() {
        return;
    }
    alone(|| {
        for backend in ["iptables-legacy", "iptables-nft"] {
            ask(&format!("{backend}-restore"), &[], RULES);
            let printed = ask(&format!("{backend}-save"), &[], "");
            let judged = |mut cluster: Cluster, to: &str| {
                cluster.add_rules(&printed).unwrap();
                cluster.judge(&Question::parse("shop/web", to, Protocol::Tcp).unwrap()).unwrap()
            };
            let code = |report: &ghost_inspect::cluster::Report| {
                report.causes.iter().map(|own| (own.fault.as_str(), own.is_proven)).collect::<Vec<_>>()
            };
            let same = judged(shop(2, 0), "shop/db:5432");
            assert!(
                same.verdict == Verdict::Passes && same.noticed.is_empty(),
                "{backend}: {same:#?}\n{printed}"
            );
            let fewer = judged(shop(1, 0), "shop/db:5432");
            assert_eq!(code(&fewer), [("k8s_node_rules_stale", false)], "{backend}: {fewer:#?}");
            let refused = judged(shop(2, 0), "shop/cache:6379");
            assert_eq!(code(&refused), [("k8s_no_endpoints", true)], "{backend}: {refused:#?}");
            assert!(refused.causes[0].why.contains("the node refuses 10.0.0.11:6379"), "{refused:#?}");
            let late = judged(shop(2, 1), "shop/cache:6379");
            assert_eq!(code(&late), [("k8s_node_rules_stale", true)], "{backend}: {late:#?}");
        }
    });
}
