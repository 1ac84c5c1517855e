//! The image, its script, and the compose file.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::deploy::root;
use crate::yaml::{document, text, words};

/// Returns the instructions of the Dockerfile, continued lines joined, comments left out.
fn instructions() -> Vec<String> {
    let text = text("deploy/Dockerfile");
    let lines: Vec<_> = text.lines().filter(|line| !line.trim_start().starts_with('#')).collect();
    let joined = lines.join("\n").replace("\\\n", " ");
    joined.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// Returns what the last instruction of that name says.
#[track_caller]
pub(super) fn last(name: &str) -> String {
    let found = instructions().iter().rev().find_map(|line| Some(line.strip_prefix(name)?.trim().to_owned()));
    found.unwrap_or_else(|| panic!("the Dockerfile has no {name}"))
}

#[test]
fn the_image_is_built_by_the_script_that_runs_without_docker() {
    let all = instructions();
    assert_eq!(
        all.iter().filter(|line| line.starts_with("RUN") && line.contains("deploy/build.sh ")).count(),
        1
    );
    assert!(!all.iter().any(|line| line.contains("cargo build")));
    let mode = std::fs::metadata(root().join("deploy/build.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o111, 0o111);
    assert!(text("tests/run").contains("deploy/build.sh "));
}

#[test]
fn the_image_is_small_and_nobody_in_it_is_root() {
    let stages: Vec<_> = instructions().into_iter().filter(|line| line.starts_with("FROM ")).collect();
    // The last one is only a copy of files: nothing of the steps that made them is in the image.
    assert_eq!(stages.len(), 3, "{stages:?}");
    assert!(stages[1].ends_with("-slim AS files"));
    assert_eq!(stages[2], "FROM scratch");
    // Both others stand on one release, so that the program finds the C library that it was linked against.
    assert!(stages[..2].iter().all(|stage| stage.contains("trixie")), "{stages:?}");
    let user = last("USER");
    let (user, group) = user.split_once(':').unwrap();
    assert!(user.parse::<u32>().unwrap() > 0 && group.parse::<u32>().unwrap() > 0);
    for install in instructions().iter().filter(|line| line.contains("apt-get install")) {
        assert!(install.contains("--no-install-recommends") && install.contains("rm -rf /var/lib/apt/lists"));
    }
}

#[test]
fn the_image_starts_the_bot() {
    let entry: Vec<String> = serde_json::from_str(&last("ENTRYPOINT")).unwrap();
    assert_eq!(entry.last().unwrap(), "/usr/local/bin/ghost");
    let command: Vec<String> = serde_json::from_str(&last("CMD")).unwrap();
    assert_eq!(command, ["bot", "--config", "/etc/ghost/ghost.toml"]);
    let port = ghost_agent::http::LISTEN.rsplit_once(':').unwrap().1;
    let file: toml::Table = text("deploy/ghost.toml").parse().unwrap();
    let probes = file["http"]["probes"].as_str().unwrap().rsplit_once(':').unwrap().1.to_owned();
    assert_eq!(last("EXPOSE"), format!("{port} {probes}"));
    assert!(last("ENV").starts_with("GHOST_DATA_DIR=/var/lib/ghost PATH="), "{}", last("ENV"));
}

#[test]
fn no_secret_reaches_the_build() {
    let kept_out = text("deploy/Dockerfile.dockerignore");
    for path in ["deploy/.env", "deploy/secret", "deploy/kubernetes/secret.yaml", ".git", "target"] {
        assert!(kept_out.lines().any(|line| line == path), "{path}");
    }
    assert!(!instructions().iter().any(|line| line.contains("TOKEN") || line.contains("PASSWORD")));
}

#[test]
fn compose_keeps_what_redis_has_acknowledged() {
    let redis = &document("deploy/compose.yaml")["services"]["redis"];
    let command = words(&redis["command"]).join(" ");
    assert!(command.contains("--appendonly yes") && command.contains("--appendfsync always"), "{command}");
    assert!(words(&redis["volumes"]).contains(&"redis:/data"));
    assert_eq!(redis.get("ports"), None);
}

#[test]
fn compose_gives_both_no_privilege_and_a_health_check() {
    let compose = document("deploy/compose.yaml");
    for (name, service) in compose["services"].as_object().unwrap() {
        assert_eq!(service["read_only"], true, "{name}");
        assert_eq!(words(&service["cap_drop"]), ["ALL"], "{name}");
        assert_eq!(words(&service["security_opt"]), ["no-new-privileges:true"], "{name}");
        assert!(service["healthcheck"]["test"].is_array(), "{name}");
        assert_eq!(service.get("privileged"), None, "{name}");
    }
    let bot = &compose["services"]["bot"];
    assert_eq!(bot["depends_on"]["redis"]["condition"], "service_healthy");
    assert_eq!(bot["build"], json!({"context": "..", "dockerfile": "deploy/Dockerfile"}));
    assert_eq!(compose["networks"]["store"]["internal"], true);
}

#[test]
fn compose_publishes_the_port_on_this_machine_only() {
    let compose = document("deploy/compose.yaml");
    let ports = words(&compose["services"]["bot"]["ports"]);
    assert_eq!(ports, ["127.0.0.1:9464:9464", "127.0.0.1:9465:9465"]);
    assert_eq!(compose["services"]["bot"].get("environment"), None::<&Value>);
}

#[test]
fn what_compose_mounts_is_there_or_on_the_page() {
    let compose = document("deploy/compose.yaml");
    let page = text("docs/operations/install.md");
    for mount in words(&compose["services"]["bot"]["volumes"]) {
        let (from, to) = mount.split_once(':').unwrap();
        match from.strip_prefix("./") {
            Some("secret") => assert!(page.contains("mkdir -p secret"), "{mount}"),
            Some(path) => assert!(root().join("deploy").join(path).is_file(), "{mount}"),
            None => assert!(compose["volumes"].as_object().unwrap().contains_key(from), "{mount}"),
        }
        assert!(page.contains(to.trim_end_matches(":ro")), "{mount}");
    }
}
