//! `ghost cluster` over what kubectl prints, and what the gate says of the reads that bring it.

use std::path::Path;
use std::process::{Command, Output};

use ghost_shell::{Policy, Verdict};
use serde_json::{Value, json};

#[expect(clippy::disallowed_methods, reason = "the test starts the program under test")]
fn cluster(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ghost"))
        .arg("cluster")
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .output()
        .unwrap()
}

fn pod(name: &str, app: &str, address: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "shop", "labels": {"app": app}},
        "spec": {"nodeName": "node-1", "containers": [{"name": "main", "ports": [{"containerPort": 5432}]}]},
        "status": {"phase": "Running", "podIP": address, "hostIP": "10.240.0.4",
            "conditions": [{"type": "Ready", "status": "True"}]}})
}

fn list(items: &[Value]) -> String {
    json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string()
}

/// A shop whose web pods may call the database, and nobody else.
#[expect(clippy::indexing_slicing, reason = "the documents are written here")]
fn shop(folder: &Path) {
    let mut agent = pod("azure-npm-1", "npm", "10.240.0.4");
    agent["metadata"] =
        json!({"name": "azure-npm-1", "namespace": "kube-system", "labels": {"k8s-app": "azure-npm"}});
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "db", "namespace": "shop"},
        "spec": {"clusterIP": "10.0.0.10", "selector": {"app": "db"}, "ports": [{"port": 5432}]}});
    let mut empty = service.clone();
    empty["metadata"]["name"] = json!("cache");
    empty["spec"] =
        json!({"clusterIP": "10.0.0.11", "selector": {"app": "cache"}, "ports": [{"port": 6379}]});
    let pods = [
        pod("web-1", "web", "10.244.0.4"),
        pod("job-1", "job", "10.244.0.5"),
        pod("db-0", "db", "10.244.0.6"),
    ];
    let all: Vec<Value> = pods.into_iter().chain([agent, service, empty]).collect();
    std::fs::write(folder.join("cluster.json"), list(&all)).unwrap();
    let policy = json!({"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy",
        "metadata": {"name": "db-from-web", "namespace": "shop"},
        "spec": {"podSelector": {"matchLabels": {"app": "db"}}, "policyTypes": ["Ingress"],
            "ingress": [{"from": [{"podSelector": {"matchLabels": {"app": "web"}}}], "ports": [{"port": 5432}]}]}});
    std::fs::write(folder.join("policies.json"), list(&[policy])).unwrap();
    std::fs::write(folder.join("none.json"), list(&[])).unwrap();
}

#[test]
fn a_policy_or_a_service_that_stops_a_flow_is_named() {
    let folder = tempfile::tempdir().unwrap();
    shop(folder.path());
    let ask = |from: &str, to: &str, policies: &str, more: &[&str]| {
        let first = ["cluster.json", "--policies", policies, "--from", from, "--to", to, "--exit-code"];
        cluster(folder.path(), &[&first, more].concat())
    };
    let text = |output: &Output| String::from_utf8(output.stdout.clone()).unwrap();

    let passes = ask("shop/web-1", "shop/db:5432", "policies.json", &[]);
    assert_eq!(passes.status.code(), Some(0), "{}", text(&passes));
    assert!(text(&passes).contains("let through by shop/db-from-web"), "{}", text(&passes));

    let denied = ask("shop/job-1", "shop/db:5432", "policies.json", &[]);
    assert_eq!(denied.status.code(), Some(3), "{}", text(&denied));
    assert!(text(&denied).contains("k8s_policy_deny netpol/shop/db-from-web"), "{}", text(&denied));
    // Without the policy the same flow passes.
    assert_eq!(ask("shop/job-1", "shop/db:5432", "none.json", &[]).status.code(), Some(0));

    let empty = ask("shop/web-1", "shop/cache:6379", "policies.json", &["--json"]);
    let report: Value = serde_json::from_slice(&empty.stdout).unwrap();
    assert_eq!(empty.status.code(), Some(3));
    assert_eq!((&report["format"], &report["verdict"]), (&json!(1), &json!("BLOCKED")));
    assert_eq!(
        (&report["causes"][0]["fault"], &report["causes"][0]["object"]),
        (&json!("k8s_no_endpoints"), &json!("service/shop/cache"))
    );

    // Without an engine nothing is denied for certain.
    let open = ask("shop/job-1", "shop/db:5432", "policies.json", &["--engine", "none"]);
    assert_eq!(open.status.code(), Some(0), "{}", text(&open));
}

#[test]
fn what_was_not_read_leaves_it_open_and_what_cannot_be_read_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    shop(folder.path());
    let ends = ["--from", "shop/web-1", "--to", "shop/db:5432", "--exit-code"];
    let ask = |files: &[&str]| cluster(folder.path(), &[files, &ends].concat());
    let output = ask(&["cluster.json"]);
    assert_eq!(output.status.code(), Some(4), "no policies were read");

    let whole = std::fs::read_to_string(folder.path().join("cluster.json")).unwrap();
    for (name, text) in [
        ("cut.json", &whole[..whole.len() / 2]),
        ("empty.json", ""),
        ("error.json", "Error from server (Forbidden): pods is forbidden"),
        ("status.json", r#"{"kind":"Status","apiVersion":"v1","message":"pods is forbidden"}"#),
    ] {
        std::fs::write(folder.path().join(name), text).unwrap();
        let output = ask(&[name]);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{name}: {error}");
        assert!(error.contains("error: ") && error.contains("hint: "), "{name}: {error}");
    }
    let gone = cluster(folder.path(), &["cluster.json", "--from", "shop/gone", "--to", "shop/db:1"]);
    assert_eq!(gone.status.code(), Some(1));
    assert!(String::from_utf8(gone.stderr).unwrap().contains("hint: "));
}

#[test]
fn the_reads_that_bring_the_documents_run_at_once_and_secrets_do_not() {
    let policy = Policy::builtin().unwrap();
    let verdict = |command: &str| policy.classify(command).verdict;
    for command in [
        "kubectl get pods,services,endpointslices,namespaces -A -o json",
        "kubectl get networkpolicies -A -o json",
        "kubectl get pods,services,endpointslices,networkpolicies,namespaces -A -o json",
        "kubectl get netpol -n shop -o json --context shop-aks",
        "kubectl get endpointslices.v1.discovery.k8s.io -n shop -l kubernetes.io/service-name=db -o json",
    ] {
        assert_eq!(verdict(command), Verdict::Safe, "{command}");
    }
    for command in [
        "kubectl get pods,secrets -A -o json",
        "kubectl get pods,services,endpointslices,networkpolicies,namespaces,secrets -A -o json",
        "kubectl get secret db -n shop -o json",
        "kubectl get networkpolicies -A -o json --kubeconfig /tmp/k",
        "kubectl get networkpolicies -A -o json --server https://evil.example",
        "kubectl get networkpolicies -A -o json --as admin",
        "kubectl get --raw /apis/networking.k8s.io/v1/networkpolicies",
        "kubectl exec web-1 -n shop -- iptables-save",
        "kubectl debug node/node-1 --image busybox",
        "kubectl delete networkpolicy db-from-web -n shop",
        "az aks command invoke -g prod -n shop-aks -c 'kubectl get pods'",
    ] {
        assert_ne!(verdict(command), Verdict::Safe, "{command}");
    }
}
