//! The manifests of Kubernetes, without a cluster.

use std::collections::{BTreeMap, BTreeSet};

use ghost_agent::http::LISTEN;
use serde_json::{Value, json};

use crate::deploy::image::last;
use crate::deploy::{files, root};
use crate::yaml::{document, documents, text, words};

const FOLDER: &str = "deploy/kubernetes/";

fn port() -> u64 {
    LISTEN.rsplit_once(':').unwrap().1.parse().unwrap()
}

/// Returns the port of probes and metrics, which clients of the other cannot keep busy.
fn probes() -> u64 {
    let file: Value = toml::from_str(&text(&format!("{FOLDER}ghost.toml"))).unwrap();
    let address = file.pointer("/http/probes").and_then(Value::as_str).unwrap();
    address.rsplit_once(':').unwrap().1.parse().unwrap()
}

/// Returns every object that would be applied, by kind and name.
fn objects() -> BTreeMap<(String, String), Value> {
    let kustomization = document(&format!("{FOLDER}kustomization.yaml"));
    let name = |object: &Value, path: &str| object.pointer(path).unwrap().as_str().unwrap().to_owned();
    words(kustomization.pointer("/resources").unwrap())
        .into_iter()
        .flat_map(|file| documents(&format!("{FOLDER}{file}")))
        .map(|object| ((name(&object, "/kind"), name(&object, "/metadata/name")), object))
        .collect()
}

#[track_caller]
fn object(kind: &str, name: &str) -> Value {
    objects()
        .remove(&(kind.to_owned(), name.to_owned()))
        .unwrap_or_else(|| panic!("there is no {kind} {name}"))
}

/// Returns what runs pods: their template's specification, by name.
fn pods() -> BTreeMap<String, Value> {
    objects()
        .into_iter()
        .filter_map(|((_, name), object)| Some((name, object.pointer("/spec/template/spec")?.clone())))
        .collect()
}

#[test]
fn the_kustomization_names_every_file_and_every_file_is_there() {
    let kustomization = document(&format!("{FOLDER}kustomization.yaml"));
    let mut named: BTreeSet<String> =
        words(&kustomization["resources"]).into_iter().map(str::to_owned).collect();
    for generator in kustomization["configMapGenerator"].as_array().unwrap() {
        named.extend(words(&generator["files"]).into_iter().map(str::to_owned));
    }
    let there = files()
        .into_keys()
        .filter_map(|path| path.strip_prefix(FOLDER).map(str::to_owned))
        .filter(|name| !name.starts_with('.') && name != "kustomization.yaml" && !name.contains(".example."))
        .collect();
    assert_eq!(named, there);
}

#[test]
fn a_placeholder_is_never_applied() {
    let kustomization = document(&format!("{FOLDER}kustomization.yaml"));
    assert!(!words(&kustomization["resources"]).iter().any(|name| name.contains("secret")));
    assert!(!objects().keys().any(|(kind, _)| kind == "Secret"));
    let ignored = std::fs::read_to_string(root().join(FOLDER).join(".gitignore")).unwrap();
    assert!(ignored.lines().any(|line| line == "secret.yaml"));
}

/// Fails unless a pod has what the profile `restricted` of a namespace asks for, and more.
#[track_caller]
pub(super) fn strict(name: &str, pod: &Value) {
    let outer = &pod["securityContext"];
    assert_eq!(outer["runAsNonRoot"], true, "{name}");
    assert!(outer["runAsUser"].as_u64().unwrap() > 0, "{name}");
    assert_eq!(outer["seccompProfile"], json!({"type": "RuntimeDefault"}), "{name}");
    assert_eq!(pod["automountServiceAccountToken"], false, "{name}");
    for key in ["hostNetwork", "hostPID", "hostIPC"] {
        assert_eq!(pod.get(key), None, "{name}");
    }
    for container in pod["containers"].as_array().unwrap() {
        assert_eq!(
            container["securityContext"],
            json!({"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": {"drop": ["ALL"]}}),
            "{name}"
        );
        assert!(container.pointer("/resources/limits/memory").is_some_and(Value::is_string), "{name}");
    }
    for volume in pod["volumes"].as_array().unwrap() {
        assert_eq!(volume.get("hostPath"), None, "{name}");
    }
}

#[test]
fn every_pod_runs_as_the_strictest_profile_wants_it() {
    let pods = pods();
    assert_eq!(pods.keys().collect::<Vec<_>>(), ["ghost", "redis"]);
    for (name, pod) in pods {
        strict(&name, &pod);
    }
    let space = object("Namespace", "ghost");
    assert_eq!(space["metadata"]["labels"]["pod-security.kubernetes.io/enforce"], "restricted");
}

#[test]
fn the_pod_is_the_image() {
    let pod = &pods()["ghost"];
    let outer = &pod["securityContext"];
    assert_eq!(last("USER"), format!("{}:{}", outer["runAsUser"], outer["runAsGroup"]));
    let container = &pod["containers"][0];
    assert_eq!(container["args"], serde_json::from_str::<Value>(&last("CMD")).unwrap());
    let kustomization = document(&format!("{FOLDER}kustomization.yaml"));
    assert_eq!(kustomization["images"][0]["name"], container["image"]);
}

#[test]
fn every_mount_has_its_volume_and_every_volume_its_mount() {
    for (name, pod) in pods() {
        let names = |list: &Value| -> BTreeSet<String> {
            list.as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap().to_owned()).collect()
        };
        let mut volumes = names(&pod["volumes"]);
        if let Some(claims) = object_of(&name).pointer("/spec/volumeClaimTemplates") {
            volumes.extend(
                claims
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|claim| claim["metadata"]["name"].as_str().unwrap().to_owned()),
            );
        }
        assert_eq!(names(&pod["containers"][0]["volumeMounts"]), volumes, "{name}");
    }
    let claim = &pods()["ghost"]["volumes"][2]["persistentVolumeClaim"]["claimName"];
    assert_eq!(
        object("PersistentVolumeClaim", claim.as_str().unwrap())["spec"]["accessModes"],
        json!(["ReadWriteMany"])
    );
}

fn object_of(name: &str) -> Value {
    let mut all = objects().into_iter();
    all.find(|((_, found), object)| found == name && object.pointer("/spec/template").is_some()).unwrap().1
}

#[test]
fn two_replicas_are_probed_where_the_server_answers() {
    let deployment = object("Deployment", "ghost");
    assert_eq!(deployment["spec"]["replicas"], 2);
    let container = &deployment["spec"]["template"]["spec"]["containers"][0];
    for (probe, path) in [("startupProbe", "/live"), ("livenessProbe", "/live"), ("readinessProbe", "/ready")]
    {
        assert_eq!(container[probe]["httpGet"], json!({"path": path, "port": "probes"}), "{probe}");
    }
    let both = [("http", port()), ("probes", probes())];
    assert_ne!(both[0].1, both[1].1);
    let service = object("Service", "ghost");
    for (at, (name, port)) in both.into_iter().enumerate() {
        assert_eq!(container["ports"][at], json!({"name": name, "containerPort": port}));
        assert_eq!(service["spec"]["ports"][at], json!({"name": name, "port": port, "targetPort": name}));
    }
    assert_eq!(service["metadata"]["annotations"]["prometheus.io/port"], probes().to_string());
}

#[test]
fn whoever_selects_pods_selects_those_that_are_there() {
    let labels = |name: &str| object_of(name)["spec"]["template"]["metadata"]["labels"].clone();
    let mut selected = BTreeSet::new();
    for ((kind, name), object) in objects() {
        let found = ["/spec/selector/matchLabels", "/spec/podSelector/matchLabels", "/spec/selector"]
            .iter()
            .find_map(|path| object.pointer(path));
        let Some(wanted) = found.and_then(Value::as_object) else { continue };
        for (key, value) in wanted {
            assert_eq!(&labels(&name)[key], value, "{kind} {name}");
        }
        selected.insert(kind);
    }
    let expected = ["Deployment", "NetworkPolicy", "PodDisruptionBudget", "Service", "StatefulSet"];
    assert_eq!(selected.iter().map(String::as_str).collect::<Vec<_>>(), expected);
}

#[test]
fn a_node_that_is_drained_leaves_one() {
    assert_eq!(object("PodDisruptionBudget", "ghost")["spec"]["minAvailable"], 1);
}

#[test]
fn the_bot_reaches_names_the_store_and_the_public_web_and_is_reached_by_one_port() {
    let policy = object("NetworkPolicy", "ghost");
    assert_eq!(policy["spec"]["policyTypes"], json!(["Ingress", "Egress"]));
    let ports = |rule: &Value| -> Vec<u64> {
        rule["ports"].as_array().unwrap().iter().map(|port| port["port"].as_u64().unwrap()).collect()
    };
    let outward: Vec<_> = policy["spec"]["egress"].as_array().unwrap().iter().map(ports).collect();
    assert_eq!(outward, [vec![53, 53], vec![6379], vec![443]]);
    let except = words(&policy["spec"]["egress"][2]["to"][0]["ipBlock"]["except"]);
    for private in ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "127.0.0.0/8"] {
        assert!(except.contains(&private), "{private}");
    }
    let inward: Vec<_> = policy["spec"]["ingress"].as_array().unwrap().iter().map(ports).collect();
    assert_eq!(inward, [vec![probes()]]);
    assert!(policy["spec"]["ingress"].as_array().unwrap().iter().all(|rule| rule["from"].is_array()));
    assert_eq!(object("NetworkPolicy", "redis")["spec"]["egress"], json!([]));
}

#[test]
fn redis_keeps_what_it_has_acknowledged() {
    let command = pods()["redis"]["containers"][0]["args"][0].as_str().unwrap().to_owned();
    assert!(command.contains("--appendonly yes --appendfsync always"), "{command}");
}

#[test]
fn the_secret_has_a_key_for_every_file_that_the_configuration_names() {
    let template = document(&format!("{FOLDER}secret.example.yaml"));
    assert_eq!(
        (&template["metadata"]["name"], &template["metadata"]["namespace"]),
        (&json!("ghost"), &json!("ghost"))
    );
    let keys: BTreeSet<_> = template["stringData"].as_object().unwrap().keys().map(String::as_str).collect();
    let config = &files()["deploy/kubernetes/ghost.toml"];
    let named: BTreeSet<_> =
        config.split('"').filter_map(|word| word.strip_prefix("/etc/ghost/secret/")).collect();
    assert_eq!(keys, named);
}
