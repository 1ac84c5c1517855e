//! What was read in a turn answers the same read in it: not a failure, not over a change, not in the next turn.

use std::process::Stdio;
use std::sync::Arc;

use ghost_cloud::sign_in::SignInMethod;
use serde_json::{Value, json};
use tokio::process::Command;
use tokio::task::JoinSet;

use super::place::Native;
use crate::azure::stage::Stage;
use crate::random::setting;

const MANAGED: SignInMethod = SignInMethod::Managed { client: None };
const NSG: &str = "network nsg show -g nw-forensics-rg -n tf-dest-vm-nsg";
const KNOWN: &str = "known in this turn, nothing was asked: read at ";

/// Returns what the last record says of how a line was answered.
fn answered(native: &Native) -> String {
    let all = native.audit();
    let done = all.iter().rev().find(|record| record["kind"] == "done").unwrap();
    done["sandbox"]["details"].to_string()
}

/// How often the platform was asked for the group.
fn asked(native: &Native) -> usize {
    let all = native.audit();
    all.iter()
        .filter(|record| record["sandbox"]["details"].to_string().contains("tf-dest-vm-nsg: 200"))
        .count()
}

/// Takes a rule out of the group, behind the reader's back.
async fn changed(stage: &Stage) {
    let id = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/nw-forensics-rg/providers/Microsoft.Network/networkSecurityGroups/tf-dest-vm-nsg/securityRules/allow-iperf";
    stage.remote().order("set", &json!({"remove": id})).await.unwrap();
}

fn has_rule(group: &Value, name: &str) -> bool {
    group["securityRules"].as_array().unwrap().iter().any(|rule| rule["name"] == name)
}

#[tokio::test]
async fn the_same_read_of_a_turn_goes_to_the_platform_once_however_it_is_worded() {
    let stage = Stage::quiet().await;
    let native = Native::over(&stage);
    native.shell.begin_turn(Some(1));
    let first = native.document(NSG).await;
    assert!(!answered(&native).contains(KNOWN), "{}", answered(&native));
    changed(&stage).await;
    assert_eq!(native.document(NSG).await, first);
    let said = answered(&native);
    for part in [KNOWN, "as managed identity of this machine", &format!("for `az {NSG}`")] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!said.contains("GET "), "{said}");
    let other = "network nsg show --name tf-dest-vm-nsg --resource-group nw-forensics-rg --query name -o tsv";
    assert_eq!(native.line(other).await.output, "tf-dest-vm-nsg\n");
    assert_eq!(asked(&native), 1);
    // The next turn sees what is so then, and outside of turns everybody does.
    native.shell.begin_turn(Some(2));
    assert!(has_rule(&first, "allow-iperf") && !has_rule(&native.document(NSG).await, "allow-iperf"));
    native.shell.begin_turn(None);
    for _ in 0..2 {
        drop(native.document(NSG).await);
        assert!(!answered(&native).contains(KNOWN));
    }
    stage.down().await;
}

#[tokio::test]
async fn several_who_want_the_same_at_once_ask_once() {
    let stage = Stage::quiet().await;
    let native = Arc::new(Native::over(&stage));
    native.shell.begin_turn(Some(1));
    let mut running = JoinSet::new();
    for _ in 0..8 {
        let native = Arc::clone(&native);
        running.spawn(async move { native.document(NSG).await });
    }
    let all = running.join_all().await;
    assert!(all.windows(2).all(|pair| pair[0] == pair[1]));
    assert_eq!(asked(&native), 1);
    stage.down().await;
}

#[tokio::test]
async fn a_failure_is_not_kept() {
    let stage = Stage::quiet().await;
    let native = Native::over(&stage);
    native.shell.begin_turn(Some(1));
    let fault = json!({"fault": {"match": "tf-dest-vm-nsg", "status": 403, "times": 1,
        "body": {"error": {"code": "AuthorizationFailed", "message": "no"}}}});
    stage.remote().order("set", &fault).await.unwrap();
    assert_eq!(native.line(NSG).await.exit_code, Some(1));
    assert_eq!(native.line(NSG).await.exit_code, Some(0));
    assert!(!answered(&native).contains(KNOWN), "{}", answered(&native));
    stage.down().await;
}

#[tokio::test]
async fn a_change_that_was_approved_ends_what_was_known_and_one_that_was_denied_does_not() {
    let stage = Stage::quiet().await;
    let (approves, denies) = (Native::approving(&stage, MANAGED), Native::over(&stage));
    let change = "az network nsg rule delete -g nw-forensics-rg --nsg-name tf-dest-vm-nsg -n allow-iperf";
    for (native, known) in [(&denies, true), (&approves, false)] {
        native.shell.begin_turn(Some(1));
        drop(native.document(NSG).await);
        drop(native.shell.run(change, "to see").await);
        drop(native.document(NSG).await);
        assert_eq!(answered(native).contains(KNOWN), known, "{}", answered(native));
    }
    stage.down().await;
}

/// Runs `ghost investigate` on the lab with a script, and returns the records.
async fn investigated(stage: &Stage, turns: &[Value]) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let lines: Vec<String> = turns.iter().map(Value::to_string).collect();
    std::fs::write(folder.path().join("turns.jsonl"), lines.join("\n")).unwrap();
    std::fs::write(
        folder.path().join("ghost.toml"),
        "[cloud]\nreader = \"native\"\n[azure.reader]\nsign_in = \"managed\"\n",
    )
    .unwrap();
    let words = [
        "--brain",
        "scripted",
        "--approve",
        "deny",
        "--json",
        "--script",
        "turns.jsonl",
        "--config",
        "ghost.toml",
    ];
    #[expect(clippy::disallowed_methods, reason = "a test runs programs")]
    let mut command = Command::new(env!("CARGO_BIN_EXE_ghost"));
    command.args(["investigate", "tf-source-vm cannot reach tf-dest-vm on tcp 22"]).args(words);
    command.env_clear().envs(stage.exports.iter().cloned()).env("PATH", setting("PATH"));
    command.env("HOME", folder.path()).env("GHOST_DATA_DIR", folder.path().join("data"));
    let ran = command.current_dir(folder.path()).stdin(Stdio::null()).output().await.unwrap();
    let files = std::fs::read_dir(folder.path().join("data/audit"));
    let files = files.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&ran.stderr)));
    let text: String = files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn an_investigation_knows_in_a_turn_what_it_has_read_in_it_and_reads_it_again_in_the_next() {
    let stage = Stage::quiet().await;
    let call = |query: &str| json!({"tool": "run_shell_cmd", "arguments": {"command": format!("az {NSG} --query {query}"), "reasoning": "to see", "hypothesis_id": "H1"}});
    let board = json!({"tool": "manage_hypotheses", "arguments": {"add": [{"id": "H1", "description": "a rule is in between"}]}});
    let turns = [
        json!({"text": "", "calls": [board]}),
        json!({"text": "", "calls": [call("name"), call("location")]}),
        json!({"text": "", "calls": [call("id")]}),
    ];
    let records = investigated(&stage, &turns).await;
    let is_read = |record: &&Value| {
        record["kind"] == "done" && record["command"].as_str().is_some_and(|line| line.contains("nsg show"))
    };
    let known: Vec<bool> = records
        .iter()
        .filter(is_read)
        .map(|record| record["sandbox"]["details"].to_string().contains(KNOWN))
        .collect();
    assert_eq!(known, [false, true, false], "{records:?}");
    stage.down().await;
}
