//! The management SDKs of Azure for Python on the lab: they create an estate, read it back and ask what is in effect, also where the
//! cloud answers in pages, late, and with refusals that a client repeats.
//!
//! `tests/sdk/install` installs them; `GHOST_TEST_WITHOUT=azure-sdk` runs without.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use ghost_lab::host::HostError;
use serde_json::{Value, json};
use tokio::process::Command;

use super::native::place::Native;
use super::stage::{Parrot, Stage};
use crate::random::setting;

/// Returns the Python that has them; nothing where somebody wants to go without.
fn python() -> Option<PathBuf> {
    if setting("GHOST_TEST_WITHOUT").split(',').any(|name| name == "azure-sdk") {
        return None;
    }
    let python = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("sdk/azure/bin/python");
    assert!(
        python.is_file(),
        "the SDKs are not installed: run tests/sdk/install, or set GHOST_TEST_WITHOUT=azure-sdk"
    );
    Some(python)
}

/// Runs a client on a lab; returns what came of each of its steps.
async fn driven(python: &Path, stage: &Stage, client: &str) -> Value {
    #[expect(clippy::disallowed_methods, reason = "the test starts the client")]
    let mut command = Command::new(python);
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sdk/azure").join(client));
    command.env_clear().envs(stage.exports.iter().cloned()).env("PATH", setting("PATH"));
    command.env("GHOST_TEST_ARM", format!("https://localhost:{}", stage.port));
    // Nothing is written beside the clients.
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    command.env("HOME", stage.folder.path()).stdin(Stdio::null()).kill_on_drop(true);
    let done = command.output().await.unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    serde_json::from_slice(&done.stdout).unwrap()
}

/// What every run has to say, whatever the trouble.
fn check(said: &Value) {
    let of = |step: &str, pointer: &str| said[step].pointer(pointer).cloned().unwrap_or_default();
    let made = [
        "rule",
        "route",
        "network",
        "subnet",
        "nat gateway",
        "gateway",
        "site",
        "connection",
        "interface",
        "load balancer",
        "private endpoint",
    ];
    for step in
        made.into_iter().chain(["security group", "table", "peering", "public address", "zone", "link"])
    {
        assert_eq!(of(step, "/properties/provisioningState"), json!("Succeeded"), "{step}: {}", said[step]);
    }
    assert_eq!(of("rule", "/properties/priority"), json!(110));
    assert_eq!(of("peering", "/properties/peeringState"), json!("Initiated"));
    assert_eq!(
        of("interface", "/properties/ipConfigurations/0/properties/privateIPAddress"),
        json!("10.60.1.4")
    );
    assert_eq!(of("connection again", "/properties/connectionStatus"), json!("Connected"));
    assert_eq!(
        (of("connection again", "/properties/sharedKey"), of("peers", "/value")),
        (Value::Null, json!([]))
    );
    let group = "/properties/privateLinkServiceConnections/0/properties/groupIds/0";
    assert_eq!(of("private endpoint", group), json!("blob"));
    assert_eq!(of("record", "/properties/aRecords/0/ipv4Address"), json!("10.60.1.7"));
    for (step, names) in [
        ("all load_balancers", &["sdk-lb"][..]),
        ("all nat_gateways", &["sdk-nat"]),
        ("all network_interfaces", &["tf-source-vm-nic", "tf-dest-vm-nic", "sdk-nic"]),
        ("all network_security_groups", &["tf-source-vm-nsg", "tf-dest-vm-nsg", "sdk-nsg"]),
        ("all public_ip_addresses", &["tf-source-vm-ip", "sdk-ip"]),
        ("all route_tables", &["sdk-rt"]),
        ("all virtual_networks", &["forensics-vnet", "sdk-vnet"]),
        ("all private_endpoints", &["sdk-pe"]),
        ("all zones", &["privatelink.blob.core.windows.net"]),
        ("all links", &["sdk-link"]),
        ("all machines", &["tf-source-vm", "tf-dest-vm"]),
        ("all azure_firewalls", &[]),
        ("all firewall_policies", &[]),
    ] {
        assert_eq!(said[step], json!(names), "{step}");
    }
    assert_eq!(of("next hop", "/nextHopType"), json!("VnetLocal"));
    assert_eq!(
        said["test of rules"],
        json!({"access": "Deny", "ruleName": "defaultSecurityRules/DenyAllInBound"})
    );
    assert!(of("machine", "/statuses").to_string().contains("PowerState/running"), "{}", said["machine"]);
    assert_eq!([&said["deallocation"], &said["start"]], [&Value::Null; 2]);
    let is =
        |step: &str, state: &str| of(step, "/statuses").to_string().contains(&format!("PowerState/{state}"));
    assert!(is("deallocated machine", "deallocated") && is("started machine", "running"), "{said}");
    assert!(of("script", "/value/0/message").as_str().unwrap().contains("default via 10.0.1.1"));
    assert_eq!((&said["tags"], &said["rule is deleted"]), (&json!("Public"), &Value::Null));
    for (step, refusal) in [
        ("rule without a priority", "400 SecurityRuleInvalidPriority"),
        ("deleted rule", "404 NotFound"),
        ("subnet in use is deleted", "400 InUseSubnetCannotBeDeleted"),
        ("absent network", "404 ResourceNotFound"),
    ] {
        assert_eq!(said[step], json!(refusal), "{step}");
    }
}

#[tokio::test]
async fn the_sdk_for_python_creates_an_estate_and_reads_what_the_native_reader_reads() {
    let Some(python) = python() else { return };
    let printed: Result<_, HostError> = Ok(("default via 10.0.1.1 dev eth0\n".to_owned(), String::new()));
    let refused = json!({"fault": {"match": "networkSecurityGroups|loadBalancers", "status": 429, "times": 3,
        "headers": {"Retry-After": "0"}, "body": {"error": {"code": "TooManyRequests", "message": "Later."}}}});
    for trouble in [json!({"lro_polls": 1}), json!([{"page_size": 1}, {"lro_polls": 2}]), refused] {
        let stage = Stage::up(Parrot(printed.clone())).await;
        stage.remote().order("set", &trouble).await.unwrap();
        let said = driven(&python, &stage, "estate.py").await;
        check(&said);
        // What is in effect is the same through a reader of our own; `az` leaves out one field.
        let native = Native::over(&stage);
        let mut routes = said["effective routes"]["value"].clone();
        for row in routes.as_array_mut().unwrap() {
            row.as_object_mut().unwrap().remove("hasBgpOverride");
        }
        let line = "network nic show-effective-route-table -g nw-forensics-rg -n tf-source-vm-nic";
        assert_eq!(routes, native.document(line).await["value"]);
        let line = "network nic list-effective-nsg -g nw-forensics-rg -n tf-dest-vm-nic";
        let rules = |value: &Value| -> Vec<Value> {
            let groups = value["value"].as_array().unwrap().iter();
            groups.map(|group| group["effectiveSecurityRules"].clone()).collect()
        };
        let (theirs, ours) = (rules(&said["effective rules"]), rules(&native.document(line).await));
        assert!(!ours.is_empty());
        assert_eq!(theirs, ours);
        stage.down().await;
    }
}

/// What `az` leaves out, and the native reader with it: the other test says so for these lists.
const LEFT_OUT: [&str; 4] = ["/allowPort25Out", "/kind", "/resourceGuid", "/0/type"];
/// What `az` adds: it stands in the id.
const ADDED: &str = "/resourceGroup";

/// Every value of a document with where it stands. What is a resource's property is so in both forms: `az` and the native reader write it
/// beside the name, the platform and its SDK below `properties`.
fn values(document: &Value, at: &str, into: &mut BTreeMap<String, Value>) {
    match document {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| match name.as_str() {
            "properties" => values(value, at, into),
            _ => values(value, &format!("{at}/{name}"), into),
        }),
        Value::Array(rows) => {
            rows.iter().enumerate().for_each(|(row, value)| values(value, &format!("{at}/{row}"), into));
        }
        value => drop(into.insert(at.to_owned(), value.clone())),
    }
}

#[tokio::test]
async fn services_that_the_sdk_made_are_read_natively_as_it_reads_them() {
    let Some(python) = python() else { return };
    let stage = Stage::quiet().await;
    let said = driven(&python, &stage, "services.py").await;
    let native = Native::over(&stage);
    let mut differing = Vec::new();
    let mut compared = 0;
    for (step, theirs) in said.as_object().unwrap() {
        if !step.starts_with("network ") {
            let state = theirs.pointer("/properties/provisioningState");
            assert!(
                state.is_none_or(|state| state == "Succeeded") && !theirs.is_string(),
                "{step}: {theirs}"
            );
            continue;
        }
        let group = if step.contains(" watcher ") { "" } else { " -g nw-forensics-rg" };
        let ours = native.document(&format!("{step}{group} -o json")).await;
        let (mut here, mut there) = (BTreeMap::new(), BTreeMap::new());
        values(&ours, "", &mut here);
        values(theirs, "", &mut there);
        here.retain(|at, _| !at.ends_with(ADDED));
        there.retain(|at, _| here.contains_key(at) || !LEFT_OUT.iter().any(|left| at.ends_with(left)));
        compared += here.len();
        let unlike = here.keys().chain(there.keys()).filter(|at| here.get(*at) != there.get(*at));
        differing.extend(unlike.map(|at| format!("{step}{at}: {:?} {:?}", here.get(at), there.get(at))));
    }
    assert!(differing.is_empty(), "{} differ of {compared}:\n{}", differing.len(), differing.join("\n"));
    assert!(compared > 500, "{compared}");
    stage.down().await;
}
