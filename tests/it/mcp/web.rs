//! A server that listens, and requests to it as they go over the wire.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

/// No answer takes longer, however busy the machine is.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(120);

/// A server that listens.
pub(super) struct Listening {
    child: Option<Child>,
    pub(super) port: u16,
    next: AtomicU64,
}

/// An answer.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: String,
}

impl Answer {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Returns the messages of a stream.
    pub(super) fn messages(&self) -> Vec<Value> {
        let data = self.body.lines().filter_map(|line| line.strip_prefix("data:"));
        data.filter_map(|text| serde_json::from_str(text.trim()).ok()).collect()
    }

    /// Returns the one that answers.
    #[track_caller]
    pub(super) fn message(&self) -> Value {
        let answers = |message: &Value| !message["result"].is_null() || !message["error"].is_null();
        self.messages().into_iter().find(answers).unwrap_or_else(|| panic!("{self:?}"))
    }
}

impl Listening {
    /// Starts one on a free port.
    #[expect(clippy::disallowed_methods, reason = "the test starts the program under test")]
    pub(super) fn start(folder: &Path, data: &Path, more: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_ghost"))
            .args(["mcp", "--listen", "127.0.0.1:0", "--data-dir", data.to_str().unwrap()])
            .args(more)
            .env_clear()
            .env("SLACK_SIGNING_SECRET", "signing-secret")
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let mut port = None;
        let mut line = String::new();
        while port.is_none() && log.read_line(&mut line).unwrap() > 0 {
            let address = line.split("http://127.0.0.1:").nth(1).and_then(|rest| rest.split('/').next());
            port = address.and_then(|port| port.parse().ok());
        }
        // Whoever does not read the log would stop the program.
        std::thread::spawn(move || drop(std::io::copy(&mut log, &mut std::io::sink())));
        Self {
            child: Some(child),
            next: AtomicU64::new(100),
            port: port.unwrap_or_else(|| panic!("it does not listen: {line}")),
        }
    }

    /// Speaks with one that somebody else started.
    pub(super) fn there(port: u16) -> Self {
        Self { child: None, port, next: AtomicU64::new(100) }
    }

    pub(super) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(ANSWER_TIMEOUT)).unwrap();
        stream
    }

    /// Sends bytes as they are, and reads until the server ends the connection.
    pub(super) fn raw(&self, bytes: &[u8]) -> Answer {
        let mut stream = self.connect();
        // A server that refuses may close before everything arrived.
        drop(stream.write_all(bytes));
        read(&mut stream)
    }

    /// Posts a message.
    pub(super) fn post(&self, headers: &[(&str, &str)], body: &str) -> Answer {
        self.raw(request("POST", self.port, headers, body).as_bytes())
    }

    /// Posts a message that began a session.
    pub(super) fn ask(&self, token: &str, session: &str, method: &str, params: &Value) -> Answer {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let body = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string();
        let bearer = format!("Bearer {token}");
        self.post(&[("authorization", &bearer), ("mcp-session-id", session)], &body)
    }

    /// Begins a session; returns its name.
    #[track_caller]
    pub(super) fn hello(&self, token: &str) -> String {
        let bearer = format!("Bearer {token}");
        let answer = self.post(&[("authorization", &bearer)], &initialize().to_string());
        assert_eq!(answer.status, 200, "{answer:?}");
        let session = answer.header("mcp-session-id").unwrap().to_owned();
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string();
        let answer = self.post(&[("authorization", &bearer), ("mcp-session-id", &session)], &ready);
        assert_eq!(answer.status, 202, "{answer:?}");
        session
    }

    /// Calls a tool, and returns its result.
    #[track_caller]
    pub(super) fn call(&self, token: &str, session: &str, tool: &str, arguments: &Value) -> Value {
        let answer = self.ask(token, session, "tools/call", &json!({"name": tool, "arguments": arguments}));
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.message()["result"].clone()
    }

    /// Ends it, and returns its exit code.
    pub(super) fn end(mut self) -> Option<i32> {
        let mut child = self.child.take().unwrap();
        rustix::process::kill_process(
            rustix::process::Pid::from_child(&child),
            rustix::process::Signal::TERM,
        )
        .unwrap();
        child.wait().unwrap().code()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            drop(child.kill());
            drop(child.wait());
        }
    }
}

/// The first message of a client.
pub(super) fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
    }})
}

/// Writes a request; headers that are given win over the usual ones.
pub(super) fn request(method: &str, port: u16, headers: &[(&str, &str)], body: &str) -> String {
    let host = format!("127.0.0.1:{port}");
    let length = body.len().to_string();
    let usual = [
        ("host", host.as_str()),
        ("accept", "application/json, text/event-stream"),
        ("content-type", "application/json"),
        ("connection", "close"),
        ("content-length", length.as_str()),
    ];
    let mut text = format!("{method} /mcp HTTP/1.1\r\n");
    let given = |name: &str| headers.iter().any(|(known, _)| *known == name);
    for (name, value) in usual.iter().filter(|(name, _)| !given(name)).chain(headers) {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    text.push_str(body);
    text
}

/// Reads an answer to its end.
pub(super) fn read(stream: &mut TcpStream) -> Answer {
    let mut bytes = Vec::new();
    // A connection that was cut holds what arrived before.
    drop(stream.read_to_end(&mut bytes));
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|code| code.parse().ok());
    let headers = lines.filter_map(|line| line.split_once(": "));
    let headers = headers.map(|(name, value)| (name.to_lowercase(), value.to_owned())).collect();
    Answer { status: status.unwrap_or(0), headers, body: body.to_owned() }
}
