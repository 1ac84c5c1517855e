//! What asks never runs because a client wants it.

use std::fs;

use serde_json::{Value, json};

use super::talk::Client;

fn propose(client: &mut Client, command: &str) -> Value {
    let result = client.call("run_command", &json!({"command": command, "reasoning": "to see"}));
    assert_eq!(result["isError"], false, "{result}");
    result["structuredContent"].clone()
}

#[test]
fn a_risky_command_does_not_run_and_says_who_would_have_to_be_asked() {
    let (folder, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut client = Client::ready(folder.path(), data.path(), &[]);
    let made = folder.path().join("made");
    for command in [
        format!("touch {}", made.display()),
        format!("sh -c 'touch {}'", made.display()),
        format!("echo x > {}", made.display()),
        format!("uname; touch {}", made.display()),
    ] {
        let answer = propose(&mut client, &command);
        assert_eq!(
            (&answer["status"], &answer["classification"]),
            (&json!("denied"), &json!("RISKY")),
            "{answer}"
        );
        assert_eq!(answer["approval"]["state"], "not_asked", "{answer}");
        assert!(answer["reason"].as_str().unwrap().contains("human's consent"), "{answer}");
        assert!(!made.exists(), "{command}");
    }
    let answer = propose(&mut client, "reboot");
    assert_eq!((&answer["action"], &answer["approval"]["state"]), (&json!("blocked"), &json!("blocked")));
    let answer = propose(&mut client, "uname -s");
    assert_eq!(
        (&answer["status"], &answer["approval"]["state"]),
        (&json!("completed"), &json!("not_needed"))
    );
    // All of it is on record, whole.
    let checked = client.call("audit_verify", &json!({}))["structuredContent"].clone();
    assert_eq!(checked["ok"], true, "{checked}");
    assert!(checked["records"].as_u64().unwrap() >= 6, "{checked}");
}

/// A client that answers every question of a server with yes gains nothing: none is asked.
#[test]
fn a_client_is_never_asked_for_consent() {
    let (folder, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut client = Client::ready(folder.path(), data.path(), &[]);
    let made = folder.path().join("made");
    let call = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {
        "name": "run_command", "arguments": {"command": format!("touch {}", made.display()), "reasoning": "yes"},
    }});
    client.send(&call.to_string());
    let answer = client.read();
    assert!(answer["method"].is_null() && answer["id"] == 7, "{answer}");
    client.send(
        &json!({"jsonrpc": "2.0", "id": 7, "result": {"action": "accept", "content": {"approve": true}}})
            .to_string(),
    );
    assert_eq!(client.ask("ping", &json!({}))["result"], json!({}));
    assert!(!made.exists());
}

#[test]
fn commands_at_the_same_time_are_each_answered_and_recorded() {
    let (folder, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut client = Client::ready(folder.path(), data.path(), &[]);
    for id in 0..8 {
        let command = if id % 2 == 0 { "uname -s" } else { "touch made" };
        client.send(
            &json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
                "name": "run_command", "arguments": {"command": command, "reasoning": "at once"},
            }})
            .to_string(),
        );
    }
    let mut completed = 0;
    for _ in 0..8 {
        let answer = client.read();
        let even = answer["id"].as_u64().unwrap().is_multiple_of(2);
        let status = &answer["result"]["structuredContent"]["status"];
        assert_eq!(status, if even { "completed" } else { "denied" }, "{answer}");
        completed += u32::from(even);
    }
    assert!(completed == 4 && !folder.path().join("made").exists());
    assert_eq!(client.call("audit_verify", &json!({}))["structuredContent"]["ok"], true);
}

#[test]
fn a_configuration_that_cannot_be_used_serves_nobody() {
    let (folder, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let config = data.path().join("ghost.toml");
    fs::write(&config, "[shell]\npolicy = '/nonexistent'\n").unwrap();
    let client = Client::start(folder.path(), data.path(), &["--config", config.to_str().unwrap()]);
    assert_eq!(client.leave(), Some(1));
}
