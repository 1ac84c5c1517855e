//! What the chart renders to, for four sets of values. That Helm renders exactly this is what `tests/release/chart` holds.

use ghost_tools::config::Config;
use serde_json::{Value, json};

use crate::deploy::{kubernetes, root};
use crate::yaml::{documents, text};

const FOLDER: &str = "tests/fixtures/deploy/chart/";

/// The names of the sets of values.
const CASES: [&str; 4] = ["copies", "default", "elsewhere", "own-data"];

fn rendered(case: &str) -> Vec<Value> {
    documents(&format!("{FOLDER}{case}.yaml"))
}

#[track_caller]
fn one(case: &str, kind: &str, name: &str) -> Value {
    let mut all = rendered(case).into_iter();
    all.find(|object| object["kind"] == kind && object.pointer("/metadata/name") == Some(&json!(name)))
        .unwrap_or_else(|| panic!("{case}: there is no {kind} {name}"))
}

/// Returns the file that the pods get, as a table.
fn settings(case: &str) -> toml::Table {
    let map = one(case, "ConfigMap", "ghost");
    map.pointer("/data/ghost.toml").unwrap().as_str().unwrap().parse().unwrap()
}

#[test]
fn the_program_takes_the_configuration_of_every_rendering() {
    for case in CASES {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ghost.toml");
        std::fs::write(&path, one(case, "ConfigMap", "ghost")["data"]["ghost.toml"].as_str().unwrap())
            .unwrap();
        Config::load(&path).unwrap_or_else(|error| panic!("{case}: {error}"));
    }
}

#[test]
fn without_values_the_chart_configures_what_the_manifests_configure() {
    let mut manifests: toml::Table = text("deploy/kubernetes/ghost.toml").parse().unwrap();
    manifests["store"]["url"] = toml::Value::String("redis://ghost-redis:6379".to_owned());
    assert_eq!(settings("default"), manifests);
}

#[test]
fn copies_of_the_store_are_watched_and_a_write_counts_once_one_has_it() {
    let settings = settings("copies");
    assert_eq!(
        settings["store"]["url"].as_str().unwrap(),
        "redis-sentinel://ghost-redis-0.ghost-redis:26379,ghost-redis-1.ghost-redis:26379,\
         ghost-redis-2.ghost-redis:26379/ghost"
    );
    assert_eq!(settings["store"]["replicas"].as_integer(), Some(1));
    let servers = one("copies", "StatefulSet", "ghost-redis");
    assert_eq!(servers["spec"]["replicas"], 3);
    assert_eq!(servers["spec"]["template"]["spec"]["containers"].as_array().unwrap().len(), 2);
    let start = one("copies", "ConfigMap", "ghost-redis");
    let start = start["data"]["start.sh"].as_str().unwrap();
    assert!(start.contains("--appendonly yes --appendfsync always"), "{start}");
    assert!(start.contains("sentinel monitor ghost $master 6379 2\n"), "{start}");
}

#[test]
fn one_server_keeps_what_it_has_acknowledged() {
    let server = one("default", "StatefulSet", "ghost-redis");
    let command = server["spec"]["template"]["spec"]["containers"][0]["args"][0].as_str().unwrap();
    assert!(command.contains("--appendonly yes --appendfsync always"), "{command}");
}

#[test]
fn every_pod_of_every_rendering_is_as_the_strictest_profile_wants_it() {
    for case in CASES {
        for object in rendered(case) {
            let Some(pod) = object.pointer("/spec/template/spec") else { continue };
            kubernetes::strict(&format!("{case} {}", object["metadata"]["name"]), pod);
        }
    }
}

#[test]
fn whoever_selects_pods_selects_those_that_are_there() {
    for case in CASES {
        let all = rendered(case);
        let pods: Vec<&Value> =
            all.iter().filter_map(|object| object.pointer("/spec/template/metadata/labels")).collect();
        for object in &all {
            let paths = ["/spec/selector/matchLabels", "/spec/podSelector/matchLabels", "/spec/selector"];
            let Some(wanted) = paths.iter().find_map(|path| object.pointer(path)).and_then(Value::as_object)
            else {
                continue;
            };
            let chosen =
                pods.iter().filter(|labels| wanted.iter().all(|(key, value)| &labels[key] == value)).count();
            assert_eq!(chosen, 1, "{case}: {} {}", object["kind"], object["metadata"]["name"]);
        }
    }
}

#[test]
fn a_claim_that_is_there_is_taken_and_a_volume_for_each_replica_is_asked_for() {
    let pod = one("elsewhere", "Deployment", "ghost");
    assert_eq!(
        pod.pointer("/spec/template/spec/volumes/2/persistentVolumeClaim"),
        Some(&json!({"claimName": "ghost-files"}))
    );
    assert!(!rendered("elsewhere").iter().any(|object| object["kind"] == "PersistentVolumeClaim"));
    let own = one("own-data", "StatefulSet", "ghost");
    assert_eq!(own["spec"]["volumeClaimTemplates"][0]["spec"]["accessModes"], json!(["ReadWriteOnce"]));
    assert_eq!(own["spec"]["podManagementPolicy"], "Parallel");
}

#[test]
fn removing_the_chart_keeps_the_audit() {
    let claim = one("default", "PersistentVolumeClaim", "ghost-data");
    assert_eq!(claim["metadata"]["annotations"]["helm.sh/resource-policy"], "keep");
    assert_eq!(claim["spec"]["accessModes"], json!(["ReadWriteMany"]));
}

#[test]
fn the_chart_has_the_version_of_the_program() {
    let chart = &documents("deploy/chart/Chart.yaml")[0];
    for key in ["version", "appVersion"] {
        assert_eq!(chart[key], env!("CARGO_PKG_VERSION"), "{key}");
    }
    assert!(root().join("deploy/chart/values.schema.json").is_file());
}
