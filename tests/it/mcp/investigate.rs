//! An investigation over the protocol: reported while it goes on, reported at its end, and not lost with its client.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::http::{ANA, tokens};
use super::talk::{Client, text};
use super::tools::Place;
use super::web::{Listening, request};

fn calls(client: &mut Client, id: u64, arguments: &Value) -> (Vec<String>, Value) {
    client.send(
        &json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
            "name": "investigate", "arguments": arguments, "_meta": {"progressToken": id},
        }})
        .to_string(),
    );
    let mut said = Vec::new();
    loop {
        let message = client.read();
        if message["id"] == id {
            return (said, message["result"].clone());
        }
        assert_eq!(message["method"], "notifications/progress", "{message}");
        said.push(message["params"]["message"].as_str().unwrap().to_owned());
    }
}

#[test]
fn it_tells_what_it_does_and_ends_with_the_report_as_document_and_as_text() {
    let place = Place::new();
    let mut client = place.client();
    let (said, result) =
        calls(&mut client, 5, &json!({"symptom": "names resolve slowly", "wait_seconds": 100}));
    let all = said.join("\n");
    assert!(all.contains("H1") && all.contains("uname -s") && all.contains("names resolve slowly"), "{all}");
    let document = &result["structuredContent"];
    assert_eq!(document["status"], "concluded", "{document}");
    assert!(document["outcome"].is_string() && document["board"].as_array().unwrap().len() > 2, "{document}");
    // Some clients show the document, others the text: the report is in both.
    assert!(document["report"].as_str().unwrap().contains("# "), "{document}");
    assert!(text(&result).contains("# ") && !text(&result).contains("\"report\""), "{}", text(&result));
    // Asked for again, it is the same, and nothing is done twice.
    let session = &document["session"];
    let (_, again) = calls(&mut client, 6, &json!({"session": session}));
    assert_eq!(
        again["structuredContent"]["report"].as_str().map(str::len),
        document["report"].as_str().map(str::len)
    );
    let lines = client.call("session_report", &json!({"session": session, "kind": "timeline"}));
    assert!(lines["structuredContent"]["report"].as_str().unwrap().contains("uname -s"), "{lines}");
}

#[test]
fn a_client_that_does_not_wait_finds_it_again_and_a_killed_server_loses_nothing() {
    let place = Place::new();
    let mut client = place.client();
    let (_, begun) = calls(&mut client, 5, &json!({"symptom": "names resolve slowly", "wait_seconds": 0}));
    let session = begun["structuredContent"]["session"].clone();
    assert!(session.is_string(), "{begun}");
    // Killed, not ended: nothing is said any more.
    drop(client);
    let mut client = place.client();
    let deadline = Instant::now() + Duration::from_secs(100);
    loop {
        let (_, result) = calls(&mut client, 6, &json!({"session": session, "wait_seconds": 20}));
        let document = &result["structuredContent"];
        if document["status"] == "concluded" {
            assert!(document["report"].as_str().unwrap().contains("# "), "{document}");
            break;
        }
        assert!(Instant::now() < deadline, "{document}");
    }
    let verified = client.call("audit_verify", &json!({"session": session}));
    assert_eq!(verified["structuredContent"]["ok"], true, "{verified}");
}

/// Over HTTP the server lives on: the investigation goes on although whoever asked for it has gone away.
#[test]
fn over_http_it_goes_on_when_the_client_is_gone() {
    use std::io::Write as _;
    let place = Place::new();
    let file = tokens(place.data.path());
    let script = place.script();
    let server = Listening::start(
        place.folder.path(),
        place.data.path(),
        &["--token-file", &file, "--brain", "scripted", "--script", &script],
    );
    let session = server.hello(ANA);
    let body = json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {
        "name": "investigate", "arguments": {"symptom": "names resolve slowly"},
    }});
    let bearer = format!("Bearer {ANA}");
    let headers = [("authorization", bearer.as_str()), ("mcp-session-id", session.as_str())];
    let mut stream = server.connect();
    stream.write_all(request("POST", server.port, &headers, &body.to_string()).as_bytes()).unwrap();
    // The answer has begun: the call was taken.
    let mut first = [0_u8; 16];
    std::io::Read::read_exact(&mut stream, &mut first).unwrap();
    drop(stream);
    let deadline = Instant::now() + Duration::from_secs(100);
    loop {
        let answer =
            server.ask(ANA, &session, "resources/read", &json!({"uri": "ghost://sessions"})).message();
        if answer.to_string().contains("concluded") {
            break;
        }
        assert!(Instant::now() < deadline, "{answer}");
    }
}

#[test]
fn a_client_that_knows_tasks_gets_one_and_asks_about_it_when_it_likes() {
    let place = Place::new();
    let (config, script) = (place.config(), place.script());
    let mut client = Client::start(
        place.folder.path(),
        place.data.path(),
        &["--config", &config, "--brain", "scripted", "--script", &script],
    );
    let hello = json!({
        "protocolVersion": "2025-11-25", "clientInfo": {"name": "test", "version": "1"},
        "capabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}},
    });
    let answer = client.ask("initialize", &hello);
    assert!(
        answer["result"]["capabilities"]["extensions"]["io.modelcontextprotocol/tasks"].is_object(),
        "{answer}"
    );
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
    let call =
        json!({"name": "investigate", "arguments": {"symptom": "names resolve slowly", "wait_seconds": 100}});
    let begun = client.ask("tools/call", &call)["result"].clone();
    assert_eq!((&begun["resultType"], &begun["status"]), (&json!("task"), &json!("working")), "{begun}");
    let task = json!({"taskId": begun["taskId"]});
    let deadline = Instant::now() + Duration::from_secs(100);
    let done = loop {
        let state = client.ask("tasks/get", &task)["result"].clone();
        if state["status"] == "completed" {
            break state;
        }
        assert!(state["status"] == "working" && Instant::now() < deadline, "{state}");
    };
    assert_eq!(done["result"]["structuredContent"]["status"], "concluded", "{done}");
    // What answers soon is no task.
    let soon =
        client.ask("tools/call", &json!({"name": "classify_command", "arguments": {"command": "uname"}}));
    assert!(soon["result"]["structuredContent"].is_object(), "{soon}");
    // Names of tasks cannot be guessed, and no answer of the client's counts as consent.
    assert!(!client.ask("tasks/get", &json!({"taskId": "1"}))["error"].is_null());
    assert!(begun["taskId"].as_str().unwrap().len() >= 32);
}
