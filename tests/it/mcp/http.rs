//! Whatever comes over HTTP: strangers are refused, pages of a browser too, and the server goes on.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::{Value, json};

use super::tools::Place;
use super::web::{Listening, initialize, read, request};

pub(super) const ANA: &str = "ana-0123456789abcdef0123456789abcdef";
pub(super) const BEN: &str = "ben-0123456789abcdef0123456789abcdef";

/// Writes a file of tokens, and returns its name.
pub(super) fn tokens(folder: &Path) -> String {
    let path = folder.join("tokens");
    fs::write(&path, format!("ana {ANA}\nben {BEN}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    path.to_str().unwrap().to_owned()
}

fn listening(more: &[&str]) -> (tempfile::TempDir, tempfile::TempDir, Listening) {
    let (folder, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let file = tokens(data.path());
    let server = Listening::start(folder.path(), data.path(), &[&["--token-file", &file], more].concat());
    (folder, data, server)
}

fn alive(server: &Listening) {
    let session = server.hello(ANA);
    assert_eq!(server.ask(ANA, &session, "ping", &json!({})).message()["result"], json!({}));
}

#[test]
fn a_client_with_a_token_uses_the_tools_and_nobody_else_does() {
    let (_folder, _data, server) = listening(&[]);
    let session = server.hello(ANA);
    let listed = server.ask(ANA, &session, "tools/list", &json!({})).message();
    assert!(listed["result"]["tools"].as_array().unwrap().len() > 14, "{listed}");
    let ran =
        server.call(ANA, &session, "run_command", &json!({"command": "uname -s", "reasoning": "to know"}));
    assert!(ran["structuredContent"]["output"].as_str().unwrap().contains("\nLinux\n"), "{ran}");
    let hello = initialize().to_string();
    for headers in [
        vec![],
        vec![("authorization", "Bearer ")],
        vec![("authorization", "Bearer ana")],
        vec![("authorization", ANA)],
        vec![("authorization", "Basic YW5hOmFuYQ==")],
        vec![("x-slack-signature", "v0=00"), ("x-slack-request-timestamp", "1")],
    ] {
        let answer = server.post(&headers, &hello);
        assert_eq!(answer.status, 401, "{headers:?} {answer:?}");
        assert!(answer.header("www-authenticate").unwrap().starts_with("Bearer"), "{answer:?}");
        // The name of a session is no proof.
        let with: Vec<_> = headers.into_iter().chain([("mcp-session-id", session.as_str())]).collect();
        assert_eq!(server.post(&with, &hello).status, 401);
    }
    assert_eq!(server.end(), Some(0));
}

/// A page that somebody opens can reach this machine, under a name that its owner made lead here.
#[test]
fn a_page_in_a_browser_is_refused_whatever_it_calls_the_server() {
    let (folder, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    // Without tokens: everybody on this machine is served, so that a page is the danger.
    let server = Listening::start(folder.path(), data.path(), &[]);
    let hello = initialize().to_string();
    let port = server.port;
    let port_of_other = format!("evil.example:{port}");
    for host in ["evil.example", "evil.example:80", &port_of_other, "127.0.0.1.nip.io", "0.0.0.0", ""] {
        let answer = server.post(&[("host", host)], &hello);
        assert!([400, 403].contains(&answer.status), "{host}: {answer:?}");
    }
    for origin in
        ["http://evil.example", "null", "https://127.0.0.1", "http://localhost.evil.example", "file://", "x"]
    {
        let answer = server.post(&[("origin", origin)], &hello);
        assert!([400, 403].contains(&answer.status), "{origin}: {answer:?}");
        let answer = server.raw(request("OPTIONS", port, &[("origin", origin)], "").as_bytes());
        assert!(answer.status >= 400 && answer.header("access-control-allow-origin").is_none(), "{answer:?}");
    }
    for host in ["localhost", "127.0.0.1", &format!("127.0.0.1:{port}")] {
        assert_eq!(server.post(&[("host", host)], &hello).status, 200, "{host}");
        let origin = format!("http://{host}");
        assert_eq!(server.post(&[("host", host), ("origin", &origin)], &hello).status, 200, "{origin}");
    }
}

#[test]
fn what_is_no_message_is_refused_and_the_next_one_is_answered() {
    let (_folder, _data, server) = listening(&[]);
    let bearer = format!("Bearer {ANA}");
    let session = server.hello(ANA);
    let headers = [("authorization", bearer.as_str()), ("mcp-session-id", session.as_str())];
    for body in [
        "",
        "x",
        "{",
        "null",
        "[]",
        "17",
        "{}",
        "\u{0}",
        "{\"jsonrpc\":\"2.0\"}",
        "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}",
        "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]",
        &"[".repeat(100_000),
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"na",
    ] {
        let answer = server.post(&headers, body);
        assert!((400..500).contains(&answer.status), "{}: {answer:?}", &body[..body.len().min(80)]);
    }
    let twice = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"run_command","arguments":{"command":"touch made","command":"uname -s"}}}"#;
    let nested = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"ping","params":{}"#, "[".repeat(5_000));
    for (body, id, code) in [(twice, json!(7), -32600), (nested.as_str(), Value::Null, -32700)] {
        let answer = server.post(&headers, body);
        let message: Value = serde_json::from_str(&answer.body).unwrap();
        assert_eq!(
            (answer.status, &message["id"], &message["error"]["code"]),
            (400, &id, &json!(code)),
            "{answer:?}"
        );
    }
    // Too large, and said to be larger than it is.
    let large = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{}\"}}", "x".repeat(5 << 20));
    assert_eq!(server.post(&headers, &large).status, 413);
    for (method, headers) in [
        ("PUT", vec![]),
        ("GET", vec![]),
        ("GET", vec![("mcp-session-id", "00000000-0000-4000-8000-000000000000")]),
        ("DELETE", vec![]),
        ("POST", vec![("content-type", "text/plain")]),
        ("POST", vec![("accept", "text/html")]),
        ("POST", vec![("mcp-protocol-version", "1999-01-01"), ("mcp-session-id", session.as_str())]),
        ("POST", vec![("mcp-session-id", "00000000-0000-4000-8000-000000000000")]),
        ("POST", vec![("mcp-session-id", "../../etc/passwd")]),
    ] {
        let headers: Vec<_> = headers.into_iter().chain([("authorization", bearer.as_str())]).collect();
        let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
        let answer = server.raw(request(method, server.port, &headers, &ping).as_bytes());
        assert!((400..500).contains(&answer.status), "{method} {headers:?}: {answer:?}");
    }
    for bytes in [
        &b"\xff\xfe\r\n\r\n"[..],
        b"GET /mcp HTTP/9.9\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\ncontent-length: 99999999999999999999\r\n\r\n",
    ] {
        assert!(server.raw(bytes).status < 500);
    }
    alive(&server);
}

#[test]
fn a_request_that_is_cut_off_runs_nothing() {
    let (folder, _data, server) = listening(&[]);
    let session = server.hello(ANA);
    let bearer = format!("Bearer {ANA}");
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "run_command", "arguments": {"command": "touch made", "reasoning": "r"},
    }})
    .to_string();
    let whole =
        request("POST", server.port, &[("authorization", &bearer), ("mcp-session-id", &session)], &body);
    for cut in [1, 20, whole.len() - body.len(), whole.len() - 1] {
        let mut stream = server.connect();
        stream.write_all(&whole.as_bytes()[..cut]).unwrap();
        drop(stream);
    }
    alive(&server);
    assert!(!folder.path().join("made").exists());
}

/// One that sends a byte now and then holds a connection, not the server.
#[test]
fn slow_clients_hold_nobody_up() {
    let (_folder, _data, server) = listening(&[]);
    let bearer = format!("Bearer {ANA}");
    let hello = initialize().to_string();
    let whole = request("POST", server.port, &[("authorization", &bearer)], &hello);
    let mut slow: Vec<_> = [10, whole.len() - 5]
        .into_iter()
        .map(|sent| {
            let mut stream = server.connect();
            stream.write_all(&whole.as_bytes()[..sent]).unwrap();
            stream
        })
        .collect();
    // A stream that nobody reads.
    let session = server.hello(ANA);
    let get = request("GET", server.port, &[("authorization", &bearer), ("mcp-session-id", &session)], "");
    let mut unread = server.connect();
    unread.write_all(get.as_bytes()).unwrap();
    for _ in 0..10 {
        alive(&server);
    }
    // Those that never finish are let go of.
    for stream in &mut slow {
        let answer = read(stream);
        assert!([0, 408].contains(&answer.status), "{answer:?}");
    }
}

#[test]
fn calls_at_the_same_time_are_each_answered_in_their_own_stream() {
    let (_folder, _data, server) = listening(&[]);
    let session = server.hello(ANA);
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..8)
            .map(|number| {
                let (server, session) = (&server, &session);
                scope.spawn(move || {
                    let command = if number % 2 == 0 { "uname -s" } else { "touch made" };
                    let arguments = json!({"command": command, "reasoning": "at once"});
                    (number, server.call(ANA, session, "run_command", &arguments))
                })
            })
            .collect();
        for call in calls {
            let (number, result) = call.join().unwrap();
            let status = &result["structuredContent"]["status"];
            assert_eq!(status, if number % 2 == 0 { "completed" } else { "denied" }, "{result}");
        }
    });
    let checked = server.call(ANA, &session, "audit_verify", &json!({}));
    assert_eq!(checked["structuredContent"]["ok"], true, "{checked}");
}

#[test]
fn whoever_asks_too_often_hears_when_to_come_back() {
    let (folder, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let file = tokens(data.path());
    let config = data.path().join("ghost.toml");
    fs::write(&config, "[mcp]\nrequests_per_minute = 5\n").unwrap();
    let config = config.to_str().unwrap();
    let server = Listening::start(folder.path(), data.path(), &["--token-file", &file, "--config", config]);
    let session = server.hello(ANA);
    let answers: Vec<_> = (0..8).map(|_| server.ask(ANA, &session, "ping", &json!({}))).collect();
    let refused: Vec<_> = answers.iter().filter(|answer| answer.status == 429).collect();
    assert!(!refused.is_empty() && refused[0].header("retry-after").is_some(), "{answers:?}");
    // Another client is not held up by that.
    assert_eq!(
        server.post(&[("authorization", &format!("Bearer {BEN}"))], &initialize().to_string()).status,
        200
    );
    // Strangers get fewer answers still.
    let strangers: Vec<u16> = (0..200).map(|_| server.post(&[], "{}").status).collect();
    assert!(strangers.contains(&401) && strangers.contains(&429));
}

#[test]
fn a_session_that_was_ended_is_over_and_one_client_takes_no_more_than_its_share() {
    let (_folder, _data, server) = listening(&[]);
    let bearer = format!("Bearer {ANA}");
    let session = server.hello(ANA);
    let headers = [("authorization", bearer.as_str()), ("mcp-session-id", session.as_str())];
    let ended = server.raw(request("DELETE", server.port, &headers, "").as_bytes());
    assert!((200..300).contains(&ended.status), "{ended:?}");
    assert_eq!(server.ask(ANA, &session, "ping", &json!({})).status, 404);
    let hello = initialize().to_string();
    let statuses: Vec<u16> =
        (0..140).map(|_| server.post(&[("authorization", &bearer)], &hello).status).collect();
    assert!(statuses.iter().filter(|status| **status == 200).count() <= 128, "{statuses:?}");
    assert_eq!(statuses.last(), Some(&429));
    let answer = server.post(&[("authorization", &format!("Bearer {BEN}"))], &hello);
    assert_eq!(answer.status, 200, "{answer:?}");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test starts the program under test")]
fn an_address_that_others_reach_needs_tokens_that_nobody_else_reads() {
    let data = tempfile::tempdir().unwrap();
    let file = tokens(data.path());
    let refused = |arguments: &[&str]| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_ghost"))
            .args(["mcp", "--data-dir", data.path().to_str().unwrap()])
            .args(arguments)
            .env_clear()
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, said) = refused(&["--listen", "0.0.0.0:0"]);
    assert!(code == Some(1) && said.contains("hint: ") && said.contains("other machines"), "{said}");
    let (code, said) = refused(&["--token-file", &file]);
    assert!(code == Some(2) && said.contains("--listen"), "{said}");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let (code, said) = refused(&["--listen", "127.0.0.1:0", "--token-file", &file]);
    assert!(code == Some(1) && said.contains("chmod 600"), "{said}");
}

/// A call without a word for a long time is answered all the same: no limit of the server's own cuts it off.
#[test]
fn a_call_that_lasts_longer_than_a_request_may_is_answered() {
    let (_folder, _data, server) = listening(&[]);
    let session = server.hello(ANA);
    let arguments = json!({"command": "vmstat 1 12", "reasoning": "to wait"});
    let result = server.call(ANA, &session, "run_command", &arguments);
    assert_eq!(result["structuredContent"]["status"], "completed", "{result}");
}

#[test]
fn each_version_of_the_protocol_is_spoken_the_newest_without_sessions() {
    let (_folder, _data, server) = listening(&[]);
    let bearer = format!("Bearer {ANA}");
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let ask = |method: &str, params: Value| {
        let mut params = params;
        params["_meta"] = meta.clone();
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        let mut headers = vec![
            ("authorization", bearer.as_str()),
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", method),
        ];
        headers.extend((method == "tools/call").then_some(("mcp-name", "run_command")));
        server.post(&headers, &body)
    };
    let found = ask("server/discover", json!({}));
    assert_eq!(found.status, 200, "{found:?}");
    let called = ask(
        "tools/call",
        json!({"name": "run_command", "arguments": {"command": "uname -s", "reasoning": "r"}}),
    );
    assert!(called.header("mcp-session-id").is_none(), "{called:?}");
    assert_eq!(called.message()["result"]["structuredContent"]["status"], "completed", "{called:?}");
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut hello = initialize();
        hello["params"]["protocolVersion"] = json!(version);
        let answer = server.post(&[("authorization", &bearer)], &hello.to_string());
        assert_eq!(answer.message()["result"]["protocolVersion"], version, "{answer:?}");
    }
}

#[test]
fn files_of_the_server_are_none_of_a_clients() {
    let place = Place::new();
    let file = tokens(place.data.path());
    let server = Listening::start(place.folder.path(), place.data.path(), &["--token-file", &file]);
    let session = server.hello(ANA);
    for name in [
        "a.pcap",
        place.folder.path().join("a.pcap").to_str().unwrap(),
        &file,
        "/etc/passwd",
        "../../../ghost.toml",
    ] {
        let result = server.call(ANA, &session, "pcap_analyze", &json!({"file": name}));
        assert_eq!(result["isError"], true, "{name}: {result}");
    }
    // What a client is given to read is shared by name.
    let shared = place.folder.path().to_str().unwrap();
    let other = Listening::start(
        place.folder.path(),
        tempfile::tempdir().unwrap().path(),
        &["--token-file", &file, "--folder", shared],
    );
    let session = other.hello(BEN);
    let result = other.call(BEN, &session, "pcap_analyze", &json!({"file": format!("{shared}/a.pcap")}));
    assert_eq!(result["isError"], false, "{result}");
}
