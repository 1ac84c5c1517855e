//! More that people in Slack decide for clients: a changed command, a capture, a measurement, and clients of the bot's own port.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use super::approval::{Stage, propose, status};
use super::http::{ANA, BEN, tokens};
use super::web::{Listening, initialize};
use crate::meter::place::Lab;

/// The group of the machines of the lab's estate.
const GROUP: &str = "nw-forensics-rg";

/// Waits for the answer to a call that was sent.
fn answer(client: &mut super::talk::Client, id: u64) -> Value {
    loop {
        let message = client.read();
        if message["id"] == id {
            assert!(message["error"].is_null(), "{message}");
            return message["result"]["structuredContent"].clone();
        }
    }
}

#[test]
fn a_command_that_a_human_changes_runs_as_changed_once_somebody_else_approves_it() {
    let stage = Stage::start();
    let mut client = stage.client();
    let (wanted, changed) = (stage.work.path().join("wanted"), stage.work.path().join("changed"));
    let asked = propose(&mut client, &format!("touch {}", wanted.display()), 0);
    let id = asked["approval"]["id"].clone();
    let card = stage.card(&wanted.display().to_string());
    let sent = stage.fill_in("bob", &card, "modify", "command", &format!("touch {}", changed.display()));
    assert_eq!(sent["ok"], true, "{sent}");
    let second = stage.card(&changed.display().to_string());
    // Whoever wrote the new command does not approve it alone.
    stage.press("bob", &second, "approve");
    assert_eq!(status(&mut client, &id)["state"], "waiting");
    assert!(!changed.exists());
    stage.press("chloe", &second, "approve");
    let done = stage.until("the changed command runs", || {
        let state = status(&mut client, &id);
        (state["result"]["status"] == "completed").then_some(state)
    });
    assert_eq!(done["result"]["action"], "user_modified", "{done}");
    assert!(done["by"].as_str().unwrap().to_lowercase().contains("chloe"), "{done}");
    assert!(changed.exists() && !wanted.exists());

    // What is BLOCKED cannot be put in its place; a no with a reason reaches the client.
    let asked = propose(&mut client, &format!("touch {}", wanted.display()), 0);
    let card = stage.card(&wanted.display().to_string());
    let sent = stage.fill_in("bob", &card, "modify", "command", "reboot");
    assert!(sent["errors"]["command"].as_str().unwrap().starts_with("BLOCKED"), "{sent}");
    stage.fill_in("bob", &card, "deny", "reason", "not before 22:00");
    let denied = stage.until("it is denied", || {
        let state = status(&mut client, &asked["approval"]["id"]);
        (state["state"] == "denied" && state["running"] == false).then_some(state)
    });
    assert!(denied.to_string().contains("not before 22:00"), "{denied}");
    assert!(!wanted.exists());
    let checked = client.call("audit_verify", &json!({}));
    assert_eq!(checked["structuredContent"]["ok"], true, "{checked}");
}

/// Configures a machine on which an agent works with a lab's cloud.
fn with_lab(stage: &Stage, lab: &Lab) -> String {
    let captures = stage.work.path().join("captures");
    fs::create_dir(&captures).unwrap();
    format!(
        "[programs]\naz = '{}'\n[capture]\nfolder = '{}'\nstorage_account = 'nwlogs080613'\nstorage_container = 'pktcaptures'\n",
        lab.az.display(),
        captures.display()
    )
}

#[test]
fn a_capture_records_once_a_human_in_slack_agreed_to_the_whole_plan() {
    let (stage, lab) = (Stage::start(), Lab::up("simulated"));
    let mut client = stage.client_with(&with_lab(&stage, &lab));
    let wanted =
        json!({"target": ["tf-source-vm", "tf-dest-vm"], "resource_group": GROUP, "duration_seconds": 1});
    let begun = client.call("capture_start", &json!({"wanted": wanted, "wait_seconds": 0}));
    let begun = &begun["structuredContent"];
    assert_eq!((&begun["running"], &begun["files"]), (&json!(true), &json!([])), "{begun}");
    // One card holds both commands, which belong together: they are taken or left as they are.
    let card = stage.card("packet-capture create");
    let shown = card.to_string();
    assert!(shown.contains("--vm tf-source-vm") && shown.contains("--vm tf-dest-vm"), "{card}");
    assert!(!shown.contains("\"modify\""), "{card}");
    stage.press("bob", &card, "approve");
    // What it left in the cloud is removed with consent of its own.
    let card = stage.card("packet-capture delete");
    stage.press("bob", &card, "approve");
    let asked = json!({"capture": begun["id"], "wait_seconds": 100});
    let done = stage.until("the capture is over", || {
        let answered = client.call("capture_start", &asked)["structuredContent"].clone();
        (answered["running"] == false).then_some(answered)
    });
    assert_eq!((&done["state"], &done["needs_cleanup"]), (&json!("done"), &json!([])), "{done}");
    for end in done["ends"].as_array().unwrap() {
        let file = stage.work.path().join("captures").join(end["file"].as_str().unwrap());
        assert_eq!(fs::metadata(file).unwrap().len(), end["bytes"].as_u64().unwrap(), "{done}");
    }
    let left = lab.order(&["az", "--", "network", "watcher", "packet-capture", "list", "-l", "eastus"]);
    assert_eq!(serde_json::from_str::<Value>(&left).unwrap(), json!([]));
}

#[test]
fn a_measurement_begins_once_a_human_in_slack_agreed_and_a_no_starts_nothing() {
    let (stage, lab) = (Stage::start(), Lab::up("simulated"));
    let mut client = stage.client_with(&with_lab(&stage, &lab));
    let arguments = json!({"source": "tf-source-vm", "dest": "tf-dest-vm", "resource_group": GROUP,
        "test_type": "latency", "iterations": 2});
    let call = |id: u64| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "meter_run", "arguments": arguments}});
    client.send(&call(7_001).to_string());
    let card = stage.card("qperf");
    stage.fill_in("bob", &card, "deny", "reason", "not during the release");
    let denied = answer(&mut client, 7_001);
    assert_eq!(denied["status"], "denied", "{denied}");
    assert!(denied.to_string().contains("not during the release"), "{denied}");
    assert_eq!(lab.listeners("tf-dest-vm"), 0);

    client.send(&call(7_002).to_string());
    let card = stage.card("qperf");
    stage.press("bob", &card, "approve");
    let done = answer(&mut client, 7_002);
    assert_eq!((&done["status"], &done["needs_cleanup"]), (&json!("success"), &json!([])), "{done}");
    assert_eq!(lab.listeners("tf-dest-vm"), 0);
}

#[test]
fn the_bot_serves_clients_on_its_own_port_and_asks_in_its_own_channel() {
    let folder = tempfile::tempdir().unwrap();
    let file = tokens(folder.path());
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let mut stage = Stage::start_with(&format!("[mcp]\ntoken_file = '{file}'\n"));
    let server = Listening::there(stage.port);
    // Whoever cannot say who they are is nobody; the token of a machine is none of a client.
    assert_eq!(server.post(&[], &initialize().to_string()).status, 401);
    let machine = format!("Bearer {}", super::approval::TOKEN);
    assert_eq!(server.post(&[("authorization", &machine)], &initialize().to_string()).status, 401);
    let (ana, ben) = (server.hello(ANA), server.hello(BEN));
    let ran = server.call(ANA, &ana, "run_command", &json!({"command": "uname -s", "reasoning": "r"}));
    assert_eq!(ran["structuredContent"]["status"], "completed", "{ran}");

    let command = json!({"command": "touch made", "reasoning": "the deploy needs it", "wait_seconds": 0});
    let asked = server.call(ANA, &ana, "run_command", &command);
    let asked = &asked["structuredContent"];
    assert_eq!(asked["status"], "waiting", "{asked}");
    let id = json!({"id": asked["approval"]["id"]});
    let card = stage.card("touch made");
    assert!(stage.messages().iter().any(|root| root.to_string().contains("mcp:ana")));
    // Somebody else's request is nobody's business.
    assert_eq!(server.call(BEN, &ben, "approval_status", &id)["isError"], true);
    stage.press("bob", &card, "approve");
    let done = stage.until("the command runs", || {
        let state = server.call(ANA, &ana, "approval_status", &id)["structuredContent"].clone();
        (state["result"]["status"] == "completed").then_some(state)
    });
    assert_eq!(done["result"]["exit_code"], 0, "{done}");
    assert!(stage.folder.path().join("bot/clients/ana/captures/made").exists());
    assert_eq!(stage.end_bot(), Some(0), "streams of clients do not hold it up");
}
