//! Facts about what `kubectl` prints. The texts are what kubectl 1.32 printed against a small server.

use serde_json::Value;

use super::shop;
use crate::kubernetes::kubectl::{Answered, kubectl};
use ghost_base::Timestamp;

/// 2025-06-02T20:31:00Z.
const NOW: Timestamp = Timestamp::from_millis(1_748_896_260_000);

fn run(more: &str, line: &str) -> Answered {
    let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    kubectl(&[shop(more)], &words, NOW)
}

#[track_caller]
fn check(more: &str, line: &str, out: &str, err: &str, exit: i32) {
    let found = run(more, line);
    assert_eq!((found.out.as_str(), found.err.as_str(), found.exit), (out, err, exit));
}

#[track_caller]
fn items(more: &str, line: &str) -> Vec<Value> {
    let found = run(more, line);
    assert_eq!((found.exit, found.err.as_str()), (0, ""));
    let list: Value = serde_json::from_str(&found.out).unwrap();
    assert_eq!((&list["apiVersion"], &list["kind"]), (&"v1".into(), &"List".into()));
    assert_eq!(list["metadata"], serde_json::json!({"resourceVersion": ""}));
    list["items"].as_array().unwrap().clone()
}

const ALL: &str = "--context shop-aks get pods,services,endpointslices,namespaces -A -o json";

#[test]
fn the_lines_of_a_session_are_answered_with_one_list() {
    let all = items("", ALL);
    let kinds: Vec<&str> = all.iter().map(|own| own["kind"].as_str().unwrap()).collect();
    let mut seen = kinds.clone();
    seen.dedup();
    assert_eq!(seen, ["Pod", "Service", "EndpointSlice", "Namespace"], "in the order that was asked");
    let named = |kind: &str, name: &str| {
        all.iter().find(|own| own["kind"] == kind && own["metadata"]["name"] == name).unwrap()
    };
    let web = named("Pod", "web-7d9c6b8f5-x2k4q");
    assert_eq!(web["metadata"]["ownerReferences"][0]["name"], "web-7d9c6b8f5");
    assert_eq!(web["spec"]["containers"][0]["image"], "contosoregistry.azurecr.io/web:1.4.2");
    assert_eq!(web["status"]["conditions"][2]["type"], "Ready");
    assert!(web["metadata"].get("managedFields").is_none());
    assert_eq!(named("Pod", "db-0")["metadata"]["ownerReferences"][0]["kind"], "StatefulSet");
    assert_eq!(named("Service", "db-nodes")["spec"]["clusterIP"], "None");
    assert_eq!(named("Service", "web")["spec"]["externalTrafficPolicy"], "Local");
    assert_eq!(named("Namespace", "pay")["metadata"]["labels"]["kubernetes.io/metadata.name"], "pay");
    assert_eq!(named("Namespace", "pay")["metadata"]["labels"]["team"], "money");
    let engine = all.iter().filter(|own| own["metadata"]["labels"]["k8s-app"] == "azure-npm");
    assert_eq!(engine.count(), 2, "one on each node");
    assert_eq!(named("Pod", "coredns-6865d647c6-7tq5k")["metadata"]["labels"]["k8s-app"], "kube-dns");
}

#[test]
fn documents_are_printed_as_kubectl_prints_them() {
    let found = run("", "get services db -n shop -o json");
    let start = "{\n    \"apiVersion\": \"v1\",\n    \"kind\": \"Service\",\n    \"metadata\": {\n        \"creationTimestamp\": \"2025-05-12T";
    assert!(found.out.starts_with(start), "{}", found.out);
    assert!(
        found.out.ends_with("    \"status\": {\n        \"loadBalancer\": {}\n    }\n}\n"),
        "{}",
        found.out
    );
    let empty = "{\n    \"apiVersion\": \"v1\",\n    \"items\": [],\n    \"kind\": \"List\",\n    \"metadata\": {\n        \"resourceVersion\": \"\"\n    }\n}\n";
    check("", "get networkpolicies -A -o json", empty, "", 0);
}

#[test]
fn policies_are_as_the_server_completes_them() {
    let policy = "[[policy]]\nname = \"shop/out\"\nspec = { egress = [{ ports = [{ port = 53 }] }] }\n";
    let all = items(policy, "get netpol -A -o json");
    assert_eq!(all[0]["apiVersion"], "networking.k8s.io/v1");
    assert_eq!(
        all[0]["spec"],
        serde_json::json!({"egress": [{"ports": [{"port": 53, "protocol": "TCP"}]}], "podSelector": {}, "policyTypes": ["Ingress", "Egress"]})
    );
}

#[test]
fn tables_have_the_columns_of_the_server() {
    check(
        "",
        "get svc -n shop",
        "NAME       TYPE           CLUSTER-IP      EXTERNAL-IP   PORT(S)        AGE\n\
         db         ClusterIP      172.30.100.7    <none>        5432/TCP       21d\n\
         db-nodes   ClusterIP      None            <none>        5432/TCP       21d\n\
         old-db     ClusterIP      172.30.104.11   <none>        5432/TCP       21d\n\
         web        LoadBalancer   172.30.102.9    20.80.40.12   80:30180/TCP   21d\n",
        "",
        0,
    );
    check(
        "",
        "get pods,ns --no-headers -n pay",
        "pod/ledger-0   1/1   Running   0   21d\n\nnamespace/default           Active   21d\nnamespace/kube-node-lease   Active   21d\nnamespace/kube-public       Active   21d\n\
         namespace/kube-system       Active   21d\nnamespace/pay               Active   21d\nnamespace/shop              Active   21d\n",
        "",
        0,
    );
    let waits = "[[fault]]\nkind = \"not_ready\"\npods = [\"shop/db-0\"]\nwaits = \"CrashLoopBackOff\"\n";
    let found = run(waits, "get po db-0 -n shop -owide");
    assert!(found.out.contains("db-0   0/1     CrashLoopBackOff   17"), "{}", found.out);
    assert!(found.out.contains("aks-nodepool1-28413697-vmss00000"), "{}", found.out);
    check("", "get svc,netpol -n shop -o name -l app.kubernetes.io/name=db", "service/db\n", "", 0);
}

#[test]
fn what_is_not_there_is_said_as_kubectl_says_it() {
    check("", "get foos", "", "error: the server doesn't have a resource type \"foos\"\n", 1);
    check("", "get pods zzz -n shop", "", "Error from server (NotFound): pods \"zzz\" not found\n", 1);
    check(
        "",
        "get pods zzz -n shop -o json",
        "",
        "Error from server (NotFound): pods \"zzz\" not found\n",
        1,
    );
    check(
        "",
        "get netpol zzz -n shop",
        "",
        "Error from server (NotFound): networkpolicies.networking.k8s.io \"zzz\" not found\n",
        1,
    );
    check("", "get netpol -A", "", "No resources found\n", 0);
    check("", "get netpol -n shop", "", "No resources found in shop namespace.\n", 0);
    check(
        "",
        "--context nope get pods",
        "",
        "Error in configuration: context was not found for specified context: nope\n",
        1,
    );
    let found = run("", "get pods -o bogus");
    assert!(found.err.starts_with("error: unable to match a printer suitable for the output format \"bogus\", allowed formats are: custom-columns,"));
}

#[test]
fn who_may_not_list_gets_an_empty_list_and_the_reason() {
    let empty = "{\n    \"apiVersion\": \"v1\",\n    \"items\": [],\n    \"kind\": \"List\",\n    \"metadata\": {\n        \"resourceVersion\": \"\"\n    }\n}\n";
    check(
        "forbidden = [\"networkpolicies\"]\n",
        "get networkpolicies -A -o json",
        empty,
        "Error from server (Forbidden): networkpolicies.networking.k8s.io is forbidden: User \"ghost\" cannot list resource \"networkpolicies\" in API group \"networking.k8s.io\" at the cluster scope\n",
        1,
    );
    check(
        "forbidden = [\"services\"]\n",
        "get svc -n shop",
        "",
        "Error from server (Forbidden): services is forbidden: User \"ghost\" cannot list resource \"services\" in API group \"\" in the namespace \"shop\"\n",
        1,
    );
}

#[test]
fn an_api_server_that_does_not_answer_is_asked_five_times() {
    let found = run("api = \"refuses\"\n", ALL);
    let lines: Vec<&str> = found.err.lines().collect();
    assert_eq!(
        lines[0],
        "E0602 20:31:00.000214   27814 memcache.go:265] \"Unhandled Error\" err=\"couldn't get current server API group list: Get \\\"https://20.80.3.7:443/api?timeout=32s\\\": dial tcp 20.80.3.7:443: connect: connection refused\""
    );
    assert_eq!(lines.len(), 6);
    assert_eq!(
        lines[5],
        "The connection to the server 20.80.3.7:443 was refused - did you specify the right host or port?"
    );
    let last = |api: &str| run(&format!("api = \"{api}\"\n"), ALL).err.lines().last().unwrap().to_owned();
    assert_eq!(last("silent"), "Unable to connect to the server: dial tcp 20.80.3.7:443: i/o timeout");
    assert_eq!(
        last("unauthorized"),
        "error: You must be logged in to the server (the server has asked for the client to provide credentials)"
    );
}

#[test]
fn contexts_and_the_version_are_known() {
    check("", "config get-contexts -o name", "shop-aks\n", "", 0);
    check("", "config current-context", "shop-aks\n", "", 0);
    check("", "version --client", "Client Version: v1.32.5\nKustomize Version: v5.5.0\n", "", 0);
    assert_eq!(run("", "delete pod web").exit, 1);
}
