//! What one client leaves behind is nothing that another one sees.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant, UNIX_EPOCH};

use ghost_store::{EmbeddedStore, Settings};
use serde_json::{Value, json};

use super::http::{ANA, BEN, tokens};
use super::talk::Client;
use super::tools::Place;
use super::web::{Listening, initialize};

fn signed(user: &str, team: &str, at: i64, id: u64) -> (String, String, String) {
    let body = json!({"jsonrpc": "2.0", "id": id, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "slack", "version": "1"},
        "_meta": {"slack": {"user_id": user, "team_id": team}},
    }})
    .to_string();
    let signature = ghost_base::hmac_sha256(b"signing-secret", format!("v0:{at}:{body}").as_bytes());
    (body, at.to_string(), format!("v0={signature}"))
}

fn now() -> i64 {
    use ghost_base::Clock as _;
    ghost_base::SystemClock.now().as_millis() / 1_000
}

#[test]
fn sessions_reports_evidence_and_audit_of_one_client_are_unknown_to_another() {
    let place = Place::new();
    let file = tokens(place.data.path());
    let script = place.script();
    let server = Listening::start(
        place.folder.path(),
        place.data.path(),
        &["--token-file", &file, "--brain", "scripted", "--script", &script],
    );
    let (ana, ben) = (server.hello(ANA), server.hello(BEN));
    // Neither can use the other's session of the protocol.
    assert_eq!(server.ask(BEN, &ana, "ping", &json!({})).status, 404);
    assert_eq!(server.ask(ANA, &ben, "ping", &json!({})).status, 404);
    let done = server.call(
        ANA,
        &ana,
        "investigate",
        &json!({"symptom": "names resolve slowly", "wait_seconds": 100}),
    );
    let report = &done["structuredContent"];
    assert_eq!(report["status"], "concluded", "{done}");
    let session = report["session"].as_str().unwrap();
    let listed = |token: &str, at: &str| -> Vec<String> {
        let answer = server.ask(token, at, "resources/list", &json!({})).message();
        let all = answer["result"]["resources"].as_array().unwrap().clone();
        all.iter().map(|one| one["uri"].as_str().unwrap().to_owned()).collect()
    };
    let own = format!("ghost://sessions/{session}/report.md");
    assert!(listed(ANA, &ana).contains(&own), "{:?}", listed(ANA, &ana));
    assert_eq!(listed(BEN, &ben), ["ghost://sessions"]);
    // The session that a terminal on the server left is nobody's here.
    let local = format!("ghost://sessions/{}/report.md", place.session);
    assert!(!listed(ANA, &ana).contains(&local));
    let ran = server.call(ANA, &ana, "run_command", &json!({"command": "uname -s", "reasoning": "r"}));
    let digest = evidence(&ran["structuredContent"]);
    let addresses =
        [own.as_str(), &format!("ghost://sessions/{session}"), &format!("ghost://evidence/{digest}"), &local];
    for (at, address) in addresses.iter().enumerate() {
        let read = |token: &str, session: &str| {
            server.ask(token, session, "resources/read", &json!({"uri": address})).message()
        };
        assert_eq!(read(ANA, &ana)["error"].is_null(), at < 3, "{address}");
        assert!(!read(BEN, &ben)["error"].is_null(), "{address}");
    }
    for (tool, arguments) in [
        ("session_report", json!({"session": session})),
        ("investigate", json!({"session": session})),
        ("investigate", json!({"session": session, "stop": true})),
        ("audit_verify", json!({"session": session})),
        ("session_report", json!({"session": place.session})),
    ] {
        let result = server.call(BEN, &ben, tool, &arguments);
        assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
    }
    let sessions = server.ask(BEN, &ben, "resources/read", &json!({"uri": "ghost://sessions"})).message();
    assert!(!sessions.to_string().contains(session), "{sessions}");
    // Commands that only read do not lead there, either.
    let folder = place.data.path().join("clients/ana");
    for command in [
        format!("cat {}/audit/{session}.jsonl", folder.display()),
        format!("cat {}/reports/{session}/rca.md", folder.display()),
        format!("ls {}", folder.display()),
        format!("tshark -r {}/captures/x.pcap", folder.display()),
    ] {
        let result = server.call(BEN, &ben, "run_command", &json!({"command": command, "reasoning": "r"}));
        let answer = &result["structuredContent"];
        assert!(!answer["output"].as_str().unwrap().contains(session), "{command}: {answer}");
        assert_ne!(
            (&answer["status"], &answer["exit_code"]),
            (&json!("completed"), &json!(0)),
            "{command}: {answer}"
        );
    }
}

/// What a tool says that it would do is judged by the policy by which it is done: both come from the client's own setup.
#[test]
fn programs_that_show_what_others_left_ask_first_where_clients_are_served_apart() {
    let place = Place::new();
    let file = tokens(place.data.path());
    let server = Listening::start(place.folder.path(), place.data.path(), &["--token-file", &file]);
    let ana = server.hello(ANA);
    let mut local = Client::ready(place.folder.path(), place.data.path(), &[]);
    for (command, apart) in
        [("ps aux", "RISKY"), ("ls -l /tmp", "RISKY"), ("uname -s", "SAFE"), ("ip route", "SAFE")]
    {
        let asked = json!({"command": command});
        assert_eq!(
            local.call("classify_command", &asked)["structuredContent"]["verdict"],
            "SAFE",
            "{command}"
        );
        let said = server.call(ANA, &ana, "classify_command", &asked);
        assert_eq!(said["structuredContent"]["verdict"], apart, "{command}: {said}");
        let run = json!({"command": command, "reasoning": "to know"});
        let ran = server.call(ANA, &ana, "run_command", &run);
        let done = ran["structuredContent"]["status"] == "completed";
        assert_eq!(done, apart == "SAFE", "{command}: {ran}");
    }
}

/// Returns the digest of what a command printed.
fn evidence(answer: &Value) -> String {
    let found = answer["output_metadata"].to_string();
    let digest = found.split(|char: char| !char.is_ascii_hexdigit()).find(|part| part.len() == 64);
    digest.unwrap_or_else(|| panic!("{answer}")).to_owned()
}

#[test]
fn whoever_slack_vouches_for_is_a_client_by_themselves_and_a_request_counts_once() {
    let (folder, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let config = data.path().join("ghost.toml");
    std::fs::write(&config, "[mcp]\nslack_identity = true\n").unwrap();
    let server = Listening::start(folder.path(), data.path(), &["--config", config.to_str().unwrap()]);
    let send = |(body, at, signature): &(String, String, String)| {
        server.post(&[("x-slack-request-timestamp", at), ("x-slack-signature", signature)], body)
    };
    let good = signed("U1ANA", "T1", now(), 1);
    let answer = send(&good);
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(send(&good).status, 409);
    assert!(data.path().join("clients/slack-T1-U1ANA").is_dir());
    let session = answer.header("mcp-session-id").unwrap().to_owned();
    // Somebody else's signature does not open it, nor does a name without one.
    let (body, at, signature) = signed("U2BEN", "T1", now(), 2);
    let body_headers = [
        ("x-slack-request-timestamp", at.as_str()),
        ("x-slack-signature", signature.as_str()),
        ("mcp-session-id", session.as_str()),
    ];
    assert_eq!(server.post(&body_headers, &body).status, 404);
    assert_eq!(server.post(&[("mcp-session-id", &session)], &body).status, 401);
    assert_eq!(server.post(&[], &initialize().to_string()).status, 401);
    assert_eq!(send(&signed("U1ANA", "T1", now() - 400, 3)).status, 401);
    let (body, at, signature) = signed("U1ANA", "T1", now(), 4);
    assert_eq!(send(&(body.replace("U1ANA", "U2BEN"), at, signature)).status, 401);
}

/// Writes a file of a client as if it had been there for long.
fn old(folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, "{}").unwrap();
    let long_ago = u64::try_from(now() - 100 * 24 * 3_600).unwrap();
    let long_ago = UNIX_EPOCH + Duration::from_secs(long_ago);
    File::options().write(true).open(&path).unwrap().set_modified(long_ago).unwrap();
    path
}

/// Makes everything of a client that retention is about, and what it leaves alone.
fn left_behind(data: &Path, client: &str) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let folder = data.join("clients").join(client);
    let text = |of: &str| format!("evidence/{}.txt", ghost_base::Digest::of(of));
    let due = [text("old").as_str(), "approvals/ghost-old.json", "captures/ghost-s1-1.cap"]
        .map(|name| old(&folder, name))
        .to_vec();
    let stays = vec![old(&folder, "audit/ghost-old.jsonl"), old(&folder, "captures/mine.cap"), {
        let new = folder.join(text("new"));
        std::fs::write(&new, "new").unwrap();
        new
    }];
    (due, stays)
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test starts the program under test")]
fn what_clients_left_is_swept_by_the_server_and_by_hand_also_where_nobody_knows_them_any_more() {
    let data = tempfile::tempdir().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = tokens(data.path());
    let (due, stays) = left_behind(data.path(), "gone-long-ago");
    let server = Listening::start(folder.path(), data.path(), &["--token-file", &file]);
    server.hello(ANA);
    let began = Instant::now();
    while due.iter().any(|path| path.exists()) {
        assert!(began.elapsed() < Duration::from_secs(60), "{due:?}");
        std::thread::yield_now();
    }
    assert!(stays.iter().all(|path| path.exists()), "{stays:?}");
    drop(server);

    let sweep = || {
        let arguments = ["sessions", "sweep", "--json", "--data-dir", data.path().to_str().unwrap()];
        let done = Command::new(env!("CARGO_BIN_EXE_ghost")).args(arguments).env_clear().output().unwrap();
        let log = String::from_utf8(done.stderr).unwrap();
        assert!(done.status.success(), "{log}");
        (serde_json::from_slice::<Value>(&done.stdout).unwrap(), log)
    };
    let (due, stays) = left_behind(data.path(), "ana");
    let (swept, _) = sweep();
    assert_eq!(swept, json!({"sessions": [], "evidence": 1, "captures": 1}));
    assert!(due.iter().all(|path| !path.exists()) && stays.iter().all(|path| path.exists()));

    // Whoever works for a client has its store, and knows what is needed.
    let (due, _) = left_behind(data.path(), "ana");
    let held = EmbeddedStore::open(&data.path().join("clients/ana/store.redb"), Settings::default()).unwrap();
    let (swept, log) = sweep();
    assert_eq!(swept["evidence"], 0);
    assert!(log.contains("another process works for the client ana"), "{log}");
    assert!(due.iter().all(|path| path.exists()));
    drop(held);
    assert_eq!(sweep().0["evidence"], 1);
}
