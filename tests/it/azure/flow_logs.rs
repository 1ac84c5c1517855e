//! Flow logs: what the unmodified `az` lists and prints of them on the lab, and what is read from that.

use ghost_cloud::failure;
use ghost_inspect::flowlog::{Question, Window, read};
use ghost_lab::azure::{BlobRole, LoggedFlow, Request, Verb};
use serde_json::{Value, json};

use super::blobs::{ACCOUNT, ask};
use super::native::place::Native;
use super::real_az::{az, program};
use super::stage::Stage;
use ghost_base::{Clock as _, Timestamp};

const SUBSCRIPTION: &str = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups";
const CONTAINER: &str = "insights-logs-flowlogflowevent";

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

fn log() -> Request {
    let own = format!("{SUBSCRIPTION}/nw-forensics-rg/providers");
    let body = json!({"location": "eastus", "properties": {"enabled": true,
        "targetResourceId": format!("{own}/Microsoft.Network/virtualNetworks/forensics-vnet"),
        "storageId": format!("{own}/Microsoft.Storage/storageAccounts/{ACCOUNT}"),
        "format": {"type": "JSON", "version": 2}, "retentionPolicy": {"days": 7, "enabled": true}}});
    let path = format!(
        "{SUBSCRIPTION}/NetworkWatcherRG/providers/Microsoft.Network/networkWatchers/NetworkWatcher_eastus/flowLogs/lab-flows"
    );
    ask(Verb::Put, &path, &[("api-version", "2022-01-01")], &[], body.to_string().as_bytes())
}

#[tokio::test]
async fn a_flow_log_is_listed_and_its_blobs_are_printed_in_parts_by_the_real_az() {
    let Some(program) = program() else { return };
    let stage = Stage::quiet().await;
    let now = stage.lab.clock().now();
    let before = |minutes: i64| Timestamp::from_millis(now.as_millis() - minutes * 60_000);
    assert!(stage.lab.ask(log()).await.status < 300);
    let flow = LoggedFlow {
        machine: "tf-source-vm".to_owned(),
        to: "10.0.1.5".parse().unwrap(),
        is_udp: false,
        port: 5001,
        rule: Some("deny-iperf".to_owned()),
        since: before(9),
        until: before(0),
        is_answered: false,
    };
    stage.lab.cloud().log_flows(&[flow], now);

    let list = words("network watcher flow-log list --location eastus --output json");
    let theirs = az(&stage, &program, &list).await;
    let native = Native::over(&stage).read(&list).await.unwrap();
    assert_eq!(native.output.trim_end(), theirs.out.trim_end());
    let logs: Value = serde_json::from_str(&theirs.out).unwrap_or_else(|_| panic!("{theirs:?}"));
    assert_eq!(logs[0]["name"], "lab-flows", "{logs}");

    let signed =
        format!("--container-name {CONTAINER} --account-name {ACCOUNT} --auth-mode login --output json");
    let folder = "flowLogResourceID=/00000000-0000-0000-0000-000000000001_NETWORKWATCHERRG/NETWORKWATCHER_EASTUS_LAB-FLOWS/";
    let blobs = words(&format!("storage blob list --prefix {folder} {signed}"));
    let found = az(&stage, &program, &blobs).await;
    let found: Vec<Value> = serde_json::from_str(&found.out).unwrap_or_else(|_| panic!("{found:?}"));
    let mut blobs: Vec<String> = Vec::new();
    for blob in &found {
        let name = blob["name"].as_str().unwrap();
        let range = "--start-range 0 --end-range 4194303 --no-progress";
        let part = words(&format!("storage blob download --name {name} {range} {signed}"));
        let printed = az(&stage, &program, &part).await;
        assert_eq!(printed.exit, Some(0), "{printed:?}");
        // Nothing but the blob, to the byte.
        assert_eq!(
            Some(printed.out.len() as u64),
            blob["properties"]["contentLength"].as_u64(),
            "{printed:?}"
        );
        let cut =
            words(&format!("storage blob download --name {name} --start-range 3 --end-range 12 {signed}"));
        assert_eq!(az(&stage, &program, &cut).await.out, printed.out[3..=12]);
        blobs.push(printed.out);
    }
    let question = Question {
        source: "10.0.1.4".parse().unwrap(),
        destination: "10.0.1.5".parse().unwrap(),
        protocol: 6,
        port: Some(5001),
        window: Window { from: 0, to: u64::MAX },
    };
    let seen = read(blobs.iter().map(String::as_bytes)).ask(&question);
    let denied = seen.iter().find(|seen| seen.denied > 0).unwrap_or_else(|| panic!("{seen:?} {blobs:?}"));
    // What is younger than the log's delay is not in it.
    assert_eq!((denied.rule.as_deref(), denied.denied), (Some("UserRule_deny-iperf"), 7), "{seen:?}");

    stage.lab.cloud().blob_role(BlobRole::None);
    let closed = az(&stage, &program, &words(&format!("storage blob list --prefix {folder} {signed}"))).await;
    assert_ne!(closed.exit, Some(0), "{closed:?}");
    let failure = failure(closed.exit, &closed.err);
    assert!(failure.to_string().to_lowercase().contains("permission"), "{failure} {closed:?}");
    stage.down().await;
}
