//! What a machine's own engines say: a journal that systemd's tools wrote; networks of Docker and Podman, of the real engines, and a
//! file of CNI. The engines are started with `GHOST_LONG=1` alone; `GHOST_TEST_WITHOUT=unshare` runs without all of it.

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::random::{is_long, setting};

/// A namespace for mounts whose journal is empty, and a function that adds an entry: unit, time, message.
const JOURNAL: &str = r#"set -eu
mount -t tmpfs journal /var/log
id=$(cat /etc/machine-id)
mkdir -p "/var/log/journal/$id"
entries=$(mktemp)
boot=11111111111111111111111111111111
entry() {
  printf '__REALTIME_TIMESTAMP=%s000000\n__MONOTONIC_TIMESTAMP=%s\n_BOOT_ID=%s\n_MACHINE_ID=%s\nPRIORITY=3\n_SYSTEMD_UNIT=%s\nMESSAGE=%s\n\n' \
    "$2" "$2" "$boot" "$id" "$1" "$3" >>"$entries"
}
now=$(date +%s)
"#;

const WRITE: &str = r#"
/lib/systemd/systemd-journal-remote -o "/var/log/journal/$id/system.journal" "$entries" 2>/dev/null
"#;

/// An engine of Docker of its own, in a network of its own.
const DOCKER: &str = r#"set -eu
ip link set lo up
mount -t tmpfs run /run
mkdir -p /run/lock /run/image /var/lib/docker
mount -t tmpfs docker /var/lib/docker
dockerd --storage-driver vfs --exec-opt native.cgroupdriver=cgroupfs -H unix:///run/docker.sock >/run/log 2>&1 &
engine=$!
trap 'kill $engine; wait $engine' EXIT
export DOCKER_HOST=unix:///run/docker.sock
until docker network ls >/dev/null 2>&1; do kill -0 $engine || { cat /run/log >&2; exit 1; }; done
docker network create --subnet 172.30.0.0/16 --label Name=label --label Id=label shop >/dev/null
docker network create --subnet 172.31.0.0/24 -o com.docker.network.bridge.name=br-billing billing >/dev/null
tar -c -C /run/image . | docker import - empty >/dev/null
"#;

/// Podman's own network and one of CNI, in folders of their own.
const PODMAN: &str = r#"set -eu
ip link set lo up
mount -t tmpfs run /run
mkdir -p /etc/containers/networks /etc/cni/net.d /var/lib/cni/networks
mount -t tmpfs networks /etc/containers/networks
mount -t tmpfs cni /etc/cni/net.d
mount -t tmpfs given /var/lib/cni/networks
podman network create --subnet 10.99.0.0/24 --label token=keep-this-here pods >/dev/null
cat >/etc/cni/net.d/10-lab.conflist <<'FILE'
{"cniVersion":"0.4.0","name":"lab","plugins":[{"type":"bridge","bridge":"cni7","ipam":{"type":"host-local","ranges":[[{"subnet":"10.98.0.0/24"}]]}},{"type":"x","k8s_auth_token":"keep-this-here"}]}
FILE
mkdir /var/lib/cni/networks/lab
touch /var/lib/cni/networks/lab/10.98.0.4 /var/lib/cni/networks/lab/lock
"#;

/// Runs a script and then `ghost host` in namespaces of their own; `None` where the test runs without.
fn host(namespaces: &[&str], script: &str, arguments: &str) -> Option<Value> {
    let without = setting("GHOST_TEST_WITHOUT");
    if without.split(',').any(|one| one == "unshare") || !rustix::process::geteuid().is_root() {
        return None;
    }
    let data = tempfile::tempdir().unwrap();
    let asked = format!("{script}\n\"$0\" host --json --as here {arguments} >\"$GHOST_DATA_DIR/answer\"\n");
    #[expect(
        clippy::disallowed_methods,
        reason = "the test starts the programs that the script under test asks"
    )]
    let output = Command::new("unshare")
        .args(namespaces)
        .args(["bash", "-c", &asked, env!("CARGO_BIN_EXE_ghost")])
        .env("GHOST_DATA_DIR", data.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let answer = std::fs::read(data.path().join("answer")).unwrap_or_default();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!String::from_utf8_lossy(&answer).contains("keep-this-here"));
    Some(serde_json::from_slice(&answer).unwrap_or_else(|error| panic!("{error}: {said}")))
}

fn evidence(found: &Value, fault: &str) -> Vec<String> {
    let all = found["findings"].as_array().unwrap().iter().filter(|one| one["fault"] == *fault);
    let lines = all.flat_map(|one| one["evidence"].as_array().unwrap());
    lines
        .map(|line| format!("{}: {}", line["part"].as_str().unwrap(), line["shows"].as_str().unwrap()))
        .collect()
}

#[test]
fn what_a_service_wrote_to_the_journal_stands_beside_its_port_and_what_others_wrote_does_not() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let entries = format!(
        "entry nginx.service $((now - 60)) 'bind() to 0.0.0.0:{free} failed (98: Address already in use)'\n\
         entry nginx.service $((now - 90000)) 'bind() to 0.0.0.0:{free} failed (yesterday)'\n\
         entry vault.service $((now - 30)) 'port {free}: of somebody else'"
    );
    let script = format!("{JOURNAL}{entries}{WRITE}");
    let Some(found) = host(&["--mount"], &script, &format!("--to 127.0.0.1:{free}")) else { return };
    let shown = evidence(&found, "not_listening");
    let said =
        format!("unit-log: nginx.service: bind() to 0.0.0.0:{free} failed (98: Address already in use)");
    let logs: Vec<&String> = shown.iter().filter(|line| line.starts_with("unit-log")).collect();
    assert_eq!(logs, [&said], "{found:#}");
}

#[test]
fn networks_of_docker_are_named_and_one_that_covers_what_is_called_is_found() {
    if !is_long() {
        return;
    }
    let script =
        format!("{DOCKER}docker run -d --network shop --name web empty /none >/dev/null 2>&1 || true\n");
    let Some(found) = host(&["--mount", "--net"], &script, "--to 172.30.0.9:80") else { return };
    let networks = found["hosts"][0]["container_networks"].as_array().unwrap();
    let named =
        |name: &str| networks.iter().find(|one| one["name"] == *name).unwrap_or_else(|| panic!("{found:#}"));
    assert_eq!(named("billing")["device"], "br-billing");
    assert_eq!(named("bridge")["device"], "docker0");
    assert_eq!(named("shop")["subnets"][0], "172.30.0.0/16");
    let shown = evidence(&found, "container_overlap");
    let bridge = named("shop")["device"].as_str().unwrap();
    assert!(
        shown.contains(&format!("docker-networks: {bridge} is docker network shop 172.30.0.0/16")),
        "{found:#}"
    );
}

#[test]
fn networks_of_podman_and_cni_are_read_from_their_files_without_what_is_secret() {
    if !is_long() {
        return;
    }
    let Some(found) = host(&["--mount", "--net"], PODMAN, "") else { return };
    let networks = found["hosts"][0]["container_networks"].as_array().unwrap();
    let shown: Vec<String> = networks
        .iter()
        .map(|one| {
            format!("{} {} {} {}", one["engine"], one["name"], one["device"], one["subnets"][0])
                .replace('"', "")
        })
        .collect();
    assert_eq!(shown, ["podman pods podman1 10.99.0.0/24", "cni lab cni7 10.98.0.0/24"]);
    assert_eq!(networks[1]["containers"][0]["ip"], "10.98.0.4");
}
