//! Whatever a client sends: the server goes on, and says nothing but the protocol.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::schema::problems;
use super::talk::{Client, text};
use super::tools::Place;

fn alive(client: &mut Client) {
    assert_eq!(client.ask("ping", &json!({}))["result"], json!({}));
}

#[test]
fn each_version_of_each_client_is_understood() {
    let lines = fs::read_to_string("tests/fixtures/mcp/clients.jsonl").unwrap();
    for line in lines.lines() {
        let sample: Value = serde_json::from_str(line).unwrap();
        let (folder, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut client = Client::start(folder.path(), data.path(), &[]);
        let mut tools = 0;
        for message in sample["sends"].as_array().unwrap() {
            client.send(&message.to_string());
            if !message["id"].is_null() {
                let answer = client.read();
                assert!(
                    answer["error"].is_null() && answer["id"] == message["id"],
                    "{}: {answer}",
                    sample["client"]
                );
                tools = answer["result"]["tools"].as_array().map_or(tools, Vec::len);
            }
        }
        assert!(tools > 8, "{}: {tools}", sample["client"]);
    }
}

#[test]
fn what_is_no_message_is_passed_over_or_refused_and_the_next_one_is_answered() {
    let (folder, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut client = Client::ready(folder.path(), data.path(), &[]);
    for line in [
        "",
        "x",
        "{",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"na",
        "null",
        "[]",
        "17",
        "\"ping\"",
        "{}",
        "{\"jsonrpc\":\"2.0\"}",
        "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}",
        "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]",
        "\u{0}\u{1b}[2J",
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"result\":{}}",
    ] {
        client.send(line);
        alive(&mut client);
    }
    client.send_bytes(b"\xff\xfe{\"jsonrpc\"\n");
    client.send(&"[".repeat(100_000));
    client.send(&format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{}\"}}", "x".repeat(20 << 20)));
    alive(&mut client);
}

#[test]
fn what_no_reader_understands_is_answered_with_a_parse_error_and_the_session_goes_on() {
    let (folder, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut client = Client::ready(folder.path(), data.path(), &[]);
    let nested =
        format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{}", "[".repeat(5_000));
    for line in [
        b"\xff\xfe{}".to_vec(),
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}".to_vec(),
        nested.into_bytes(),
    ] {
        client.send_bytes(&[line, b"\n".to_vec()].concat());
        let answer = client.read();
        assert!(answer["error"]["code"] == -32700 && answer["id"].is_null(), "{answer}");
        alive(&mut client);
    }
    client.send(&format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{}\"}}", "x".repeat(17 << 20)));
    assert_eq!(client.read()["error"]["code"], -32600);
    alive(&mut client);
}

#[test]
fn a_command_that_stands_there_twice_is_refused_under_the_id_of_its_call() {
    let (folder, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut client = Client::ready(folder.path(), data.path(), &[]);
    client.send(
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"run_command","arguments":{"command":"touch made","command":"uname -s","reasoning":"r"}}}"#,
    );
    let answer = client.read();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(7), &json!(-32600)), "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("command"), "{answer}");
    alive(&mut client);
}

#[test]
fn a_client_that_goes_away_at_any_point_ends_the_server() {
    let (folder, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let whole = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"run_command\",\"arguments\":{\"command\":\"touch made\",\"reasoning\":\"r\"}}}";
    for cut in [0, 1, 40, whole.len() - 1, whole.len()] {
        let mut client = Client::ready(folder.path(), data.path(), &[]);
        client.send_bytes(&whole.as_bytes()[..cut]);
        assert_eq!(client.leave(), Some(0), "{cut}");
    }
    assert_eq!(Client::start(folder.path(), data.path(), &[]).leave(), Some(1));
    assert!(!folder.path().join("made").exists());
}

#[test]
fn an_unknown_tool_and_unknown_arguments_are_errors_that_say_so() {
    let place = Place::new();
    let mut client = place.client();
    let answer = client.ask("tools/call", &json!({"name": "shell", "arguments": {}}));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    assert_eq!(client.ask("tools/forget", &json!({}))["error"]["code"], -32601);
    for tool in client.tools() {
        let name = tool["name"].as_str().unwrap();
        for arguments in [json!({}), json!({"x": 1}), json!({"command": 7}), json!({"file": {"file": 1}})] {
            if name == "audit_verify" && arguments == json!({}) {
                continue;
            }
            let result = client.call(name, &arguments);
            assert_eq!(result["isError"], true, "{name} {arguments}: {result}");
            let text = text(&result);
            assert!(text.contains("error: ") && text.contains("hint: "), "{name} {arguments}: {text}");
        }
    }
    alive(&mut client);
}

#[test]
fn no_file_outside_of_the_shared_folders_is_read() {
    let (place, secret, other) = (Place::new(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let outside = secret.path().join("routes.json");
    fs::copy(place.folder.path().join("routes.json"), &outside).unwrap();
    fs::copy(&outside, other.path().join("routes.json")).unwrap();
    symlink(&outside, place.folder.path().join("link.json")).unwrap();
    // The data folder is shared but for what signs Ghost in.
    let sign_in = place.data.path().join("identity/reader/routes.json");
    fs::create_dir_all(sign_in.parent().unwrap()).unwrap();
    fs::copy(&outside, &sign_in).unwrap();
    symlink(&sign_in, place.folder.path().join("sign-in.json")).unwrap();
    let shared = other.path().to_str().unwrap();
    let mut client = Client::ready(place.folder.path(), place.data.path(), &["--folder", shared]);
    let up = format!("../{}/routes.json", secret.path().file_name().unwrap().to_str().unwrap());
    for name in [
        outside.to_str().unwrap(),
        sign_in.to_str().unwrap(),
        "link.json",
        "sign-in.json",
        &up,
        "-",
        "/dev/stdin",
        "/proc/self/fd/0",
        "~/x",
        "",
        "file:///etc/passwd",
        "\u{0}",
    ] {
        for (tool, arguments) in [
            ("route_select", json!({"table": {"file": name}, "to": "10.0.0.1"})),
            ("pcap_analyze", json!({"file": name})),
            ("audit_verify", json!({"file": name})),
            ("path", json!({"bundle": name, "from": "10.0.0.1", "to": "10.0.0.2:1"})),
        ] {
            let result = client.call(tool, &arguments);
            assert_eq!(result["isError"], true, "{tool} {name}: {result}");
            assert!(!text(&result).contains("10.1.0.0"), "{tool} {name}: {result}");
        }
    }
    let named = format!("{shared}/routes.json");
    let result = client.call("route_select", &json!({"table": {"file": named}, "to": "10.0.0.1"}));
    assert_eq!(result["isError"], false, "{result}");
}

#[test]
fn a_huge_result_is_shortened_and_still_as_its_schema_says() {
    let place = Place::new();
    let mut client = place.client();
    let rows: Vec<Value> = (0..3_000)
        .map(|at| json!({"addressPrefix": [format!("10.{}.{}.0/8", at / 250 % 250, at % 250)], "nextHopType": "None", "nextHopIpAddress": [], "source": "User", "state": "Active", "name": "n".repeat(50)}))
        .collect();
    let table = json!({"value": rows}).to_string();
    let result = client.call("route_select", &json!({"table": {"text": table}, "to": "10.0.0.1"}));
    assert_eq!(result["isError"], false, "{}", &result.to_string()[..2_000.min(result.to_string().len())]);
    let document = &result["structuredContent"];
    assert!(document.to_string().len() < 100_000 && !document["left_out"].as_array().unwrap().is_empty());
    let tool = client.tools().into_iter().find(|tool| tool["name"] == "route_select").unwrap();
    assert!(problems(&tool["outputSchema"], document, "").is_empty());
    let command = format!("echo {}", "x".repeat(2 << 20));
    let result = client.call("classify_command", &json!({"command": command}));
    assert_ne!(result["structuredContent"]["verdict"], "SAFE");
    let result = client.call("run_command", &json!({"command": command, "reasoning": "long"}));
    assert_ne!(result["structuredContent"]["status"], "completed");
}

/// Starts a command that lasts a minute, and waits until it is on record, which is before it begins.
fn long_command(client: &mut Client) {
    client.send(
        &json!({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {
            "name": "run_command", "arguments": {"command": "vmstat 1 60", "reasoning": "to wait"},
        }})
        .to_string(),
    );
    let deadline = Instant::now() + Duration::from_secs(60);
    while client.call("audit_verify", &json!({}))["structuredContent"]["records"].as_u64().unwrap_or(0) == 0 {
        assert!(Instant::now() < deadline, "the command does not begin");
    }
}

/// Tells whether the audit says that a command was stopped.
fn was_stopped(data: &Path) -> bool {
    let files = fs::read_dir(data.join("audit")).into_iter().flatten().flatten();
    files
        .into_iter()
        .any(|file| fs::read_to_string(file.path()).is_ok_and(|text| text.contains("\"canceled\"")))
}

#[test]
fn a_call_that_is_canceled_stops_its_command() {
    let (folder, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut client = Client::ready(folder.path(), data.path(), &[]);
    long_command(&mut client);
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5, "reason": "enough"}});
    client.send(&cancel.to_string());
    // Long before the command would have ended by itself.
    let deadline = Instant::now() + Duration::from_secs(45);
    while !was_stopped(data.path()) {
        assert!(Instant::now() < deadline, "the command goes on");
        alive(&mut client);
    }
}

#[test]
fn a_client_that_goes_away_stops_its_command_and_that_is_on_record() {
    let (folder, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut client = Client::ready(folder.path(), data.path(), &[]);
    long_command(&mut client);
    assert_eq!(client.leave(), Some(0));
    assert!(was_stopped(data.path()));
}
