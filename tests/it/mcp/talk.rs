//! A client that sends lines and reads lines.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// No answer takes longer, however busy the machine is.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(120);

/// A running server.
pub(super) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    next: u64,
}

impl Client {
    /// Starts a server that works in a folder, and says nothing yet.
    #[expect(clippy::disallowed_methods, reason = "the test starts the program under test")]
    pub(super) fn start(folder: &Path, data: &Path, more: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_ghost"))
            .args(["mcp", "--data-dir", data.to_str().unwrap()])
            .args(more)
            .env_clear()
            // Who sets the environment has no say in the rules.
            .env("GHOST_CONFIG", "/nonexistent.toml")
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = channel();
        thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| send.send(line)));
        Self { input: child.stdin.take(), child, lines, next: 100 }
    }

    /// Starts a server and initializes it.
    pub(super) fn ready(folder: &Path, data: &Path, more: &[&str]) -> Self {
        let mut client = Self::start(folder, data, more);
        client.hello();
        client
    }

    /// Initializes the session.
    pub(super) fn hello(&mut self) {
        let hello = json!({
            "protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}, "clientInfo": {"name": "test", "version": "1"},
        });
        let answer = self.ask("initialize", &hello);
        assert_eq!(answer["result"]["serverInfo"]["name"], "ghost", "{answer}");
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
    }

    /// Sends a line as it is.
    pub(super) fn send(&mut self, line: &str) {
        self.send_bytes(format!("{line}\n").as_bytes());
    }

    /// Sends bytes as they are.
    pub(super) fn send_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).unwrap();
        input.flush().unwrap();
    }

    /// Returns the next message. Whatever is no message fails.
    pub(super) fn read(&mut self) -> Value {
        let line = self.lines.recv_timeout(ANSWER_TIMEOUT).unwrap();
        // Standard output carries the protocol alone.
        let message: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        message
    }

    /// Asks, and returns the answer; what else arrives is passed over.
    pub(super) fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
        loop {
            let message = self.read();
            if message["id"] == id {
                return message;
            }
        }
    }

    /// Calls a tool, and returns its result.
    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let answer = self.ask("tools/call", &json!({"name": tool, "arguments": arguments}));
        assert!(answer["error"].is_null(), "{answer}");
        answer["result"].clone()
    }

    /// Lists the tools.
    pub(super) fn tools(&mut self) -> Vec<Value> {
        self.ask("tools/list", &json!({}))["result"]["tools"].as_array().unwrap().clone()
    }

    /// Goes away, and waits until the server has ended; returns its exit code.
    pub(super) fn leave(mut self) -> Option<i32> {
        drop(self.input.take());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Returns the text of a result, which is what clients without structured content show.
#[track_caller]
pub(super) fn text(result: &Value) -> String {
    result["content"][0]["text"].as_str().unwrap().to_owned()
}
