//! How the programs that are measured are started.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::slack::{Process, Slack};

/// What senders of alerts prove themselves by.
pub(crate) const SECRET: &str = "a-secret-of-enough-letters";

/// How one replica of the bot is set up.
pub(crate) struct Replica {
    pub(crate) pace: usize,
    pub(crate) store: String,
    /// Which of several it is.
    pub(crate) number: usize,
    /// Where it takes alerts, and for which channel.
    pub(crate) alerts: Option<(u16, String)>,
}

impl Replica {
    pub(crate) fn new(pace: usize, store: &str) -> Self {
        Self { pace, store: store.to_owned(), number: 0, alerts: None }
    }
}

/// Returns a port that was free a moment ago.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Returns the program whose bot is measured: this build's, or the one that somebody names, of a release for instance.
fn program() -> PathBuf {
    std::env::var_os("GHOST_BENCH_PROGRAM").map_or(env!("CARGO_BIN_EXE_ghost").into(), PathBuf::from)
}

/// A Redis of its own, which keeps what it acknowledged.
pub(crate) fn redis(folder: &Path) -> (Process, String) {
    let port = free_port();
    let program = std::env::var_os("GHOST_TEST_REDIS_SERVER").unwrap_or_else(|| "redis-server".into());
    let mut command = Command::new(program);
    command.args(["--save", "", "--appendonly", "yes", "--appendfsync", "always", "--bind", "127.0.0.1"]);
    command.arg("--port").arg(port.to_string()).arg("--dir").arg(folder).stdout(Stdio::null());
    let process = Process::start(&mut command);
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    (process, format!("redis://127.0.0.1:{port}/"))
}

/// Starts the bot, which asks for an approval in each session. Its files are its own: another one that starts would read half of one.
pub(crate) fn bot(folder: &Path, slack: &Slack, replica: &Replica) -> Process {
    let own = folder.join(replica.number.to_string());
    std::fs::create_dir(&own).unwrap();
    let mut text = format!(
        "slack.pace = {}\nbot.sessions = 500\nshell.approval_minutes = 1440\nstore.url = '{}'\n",
        replica.pace, replica.store
    );
    if let Some((port, channel)) = &replica.alerts {
        let secret = own.join("alerts");
        std::fs::write(&secret, SECRET).unwrap();
        text.push_str(&format!(
            "http.listen = '127.0.0.1:{port}'\n[alerts.alertmanager]\nchannel = '{channel}'\nsecret_file = '{}'\n",
            secret.display()
        ));
    }
    let config = own.join("ghost.toml");
    std::fs::write(&config, text).unwrap();
    let turn =
        |tool: &str, arguments: Value| json!({"calls": [{"tool": tool, "arguments": arguments}]}).to_string();
    let suppose = json!({"add": [{"id": "H1", "description": "the link is down"}]});
    let ask = json!({"command": "ip link set eth0 up", "reasoning": "to try it", "hypothesis_id": "H1"});
    let script = own.join("script.jsonl");
    let turns = [turn("manage_hypotheses", suppose), turn("run_shell_cmd", ask)];
    std::fs::write(&script, turns.join("\n")).unwrap();
    let mut command = Command::new(program());
    command.arg("--config").arg(&config).arg("--data-dir").arg(folder.join("data"));
    command.arg("bot").arg("--script").arg(&script).envs(&slack.names).stderr(Stdio::null());
    Process::start(&mut command)
}

/// Starts the bot on Slack's SDK for Python.
pub(crate) fn bolt_process(slack: &Slack, words: &[String]) -> Process {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().to_owned();
    let python =
        std::env::var_os("GHOST_BENCH_PYTHON").map_or(target.join("sdk/python/bin/python"), PathBuf::from);
    let mut command = Command::new(python);
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/slack_bolt_echo.py")).args(words);
    Process::start(command.env_clear().envs(&slack.names).stderr(Stdio::null()))
}
