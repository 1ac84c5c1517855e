//! What needs consent is asked about in Slack: a real bot, a workspace, a server of the protocol, and people who press buttons.

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::talk::Client;

pub(super) const TOKEN: &str = "machine-0123456789abcdef0123456789abcdef";

/// Nothing here takes longer, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(120);

/// A process that ends with its owner.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// A workspace, a bot, and the folder of a machine on which an agent works.
pub(super) struct Stage {
    names: HashMap<String, String>,
    channel: String,
    pub(super) folder: tempfile::TempDir,
    pub(super) work: tempfile::TempDir,
    pub(super) port: u16,
    bot: Option<Process>,
    _slack: Process,
}

impl Stage {
    pub(super) fn start() -> Self {
        Self::start_with("")
    }

    /// Starts one whose bot has more in its configuration.
    pub(super) fn start_with(more: &str) -> Self {
        let (slack, names) = workspace();
        let (folder, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let made = api(&names, "conversations.create", &json!({"name": "agents"}));
        let channel = made["channel"]["id"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned();
        api(
            &names,
            "conversations.invite",
            &json!({"channel": channel, "users": "U0LABALICE,U0LABBOB01,U0LABCHLOE"}),
        );
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let token = folder.path().join("token");
        fs::write(&token, TOKEN).unwrap();
        fs::set_permissions(&token, fs::Permissions::from_mode(0o600)).unwrap();
        let bot = format!(
            "slack.pace = 1000\n[approval]\nchange.users = ['U0LABBOB01', 'U0LABCHLOE']\nmeasurement.users = ['U0LABBOB01']\n\
             [http]\nlisten = '127.0.0.1:{port}'\n[outside]\nchannel = '{channel}'\n[outside.callers.build-3]\ntoken_file = '{}'\n{more}",
            token.display()
        );
        fs::write(folder.path().join("bot.toml"), bot).unwrap();
        let machine =
            format!("[outside]\nurl = 'http://127.0.0.1:{port}'\ntoken_file = '{}'\n", token.display());
        fs::write(folder.path().join("machine.toml"), machine).unwrap();
        let mut stage = Self { names, channel, folder, work, port, bot: None, _slack: slack };
        stage.wake_bot();
        stage
    }

    #[expect(clippy::disallowed_methods, reason = "only a process of its own can be killed")]
    fn wake_bot(&mut self) {
        let names = ["SLACK_API_URL", "SLACK_APP_TOKEN", "SLACK_BOT_TOKEN"];
        let log = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.folder.path().join("bot.log"))
            .unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_ghost"))
            .arg("--config")
            .arg(self.folder.path().join("bot.toml"))
            .arg("--data-dir")
            .arg(self.folder.path().join("bot"))
            .arg("bot")
            .env_clear()
            .envs(names.map(|name| (name, &self.names[name])))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        self.bot = Some(Process(child));
        // Slack delivers a click once: to a bot that is connected.
        self.until("the bot is ready", || is_ready(self.port).then_some(()));
    }

    /// Starts a server of the protocol on the agent's machine, and its client.
    pub(super) fn client(&self) -> Client {
        self.client_with("")
    }

    /// Starts one with more in the configuration of its machine.
    pub(super) fn client_with(&self, more: &str) -> Client {
        let config = self.folder.path().join("machine.toml");
        let text = fs::read_to_string(&config).unwrap();
        fs::write(&config, text + more).unwrap();
        let data = self.folder.path().join("machine");
        Client::ready(self.work.path(), &data, &["--config", config.to_str().unwrap(), "--approve", "slack"])
    }

    /// Waits until something is there.
    #[track_caller]
    pub(super) fn until<T>(&self, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(found) = look() {
                return found;
            }
            if Instant::now() > deadline {
                let log = fs::read_to_string(self.folder.path().join("bot.log")).unwrap_or_default();
                panic!("{what}: not within {PATIENCE:?}\n{log}");
            }
            std::thread::yield_now();
            std::thread::park_timeout(Duration::from_millis(50));
        }
    }

    /// Returns every message of the channel and its threads.
    pub(super) fn messages(&self) -> Vec<Value> {
        let roots = api(&self.names, "conversations.history", &json!({"channel": self.channel}));
        let mut all = Vec::new();
        for root in roots["messages"].as_array().into_iter().flatten() {
            let replies = api(
                &self.names,
                "conversations.replies",
                &json!({"channel": self.channel, "ts": root["ts"]}),
            );
            all.extend(replies["messages"].as_array().into_iter().flatten().cloned());
        }
        all
    }

    /// Waits for the card of a command that is open.
    #[track_caller]
    pub(super) fn card(&self, command: &str) -> Value {
        self.until(&format!("a card about {command}"), || {
            let open = |card: &Value| {
                let text = card.to_string();
                card["text"].as_str().is_some_and(|text| text.starts_with("Approval needed"))
                    && text.contains(command)
                    && text.contains("\"approve\"")
            };
            self.messages().into_iter().find(open)
        })
    }

    /// Presses a button of a card, as somebody.
    pub(super) fn press(&self, user: &str, card: &Value, action: &str) {
        let press = json!({"user": user, "channel": self.channel, "ts": card["ts"], "action_id": action, "wait_ms": 0});
        post(&format!("{}lab/press", self.names["SLACK_WORKSPACE_URL"]), None, &press);
    }
}

impl Stage {
    /// Opens the dialog of a card, as somebody, and sends it off; returns what the dialog answers.
    pub(super) fn fill_in(&self, user: &str, card: &Value, action: &str, field: &str, value: &str) -> Value {
        let press = json!({"user": user, "channel": self.channel, "ts": card["ts"], "action_id": action});
        let lab = |act: &str, body: &Value| {
            post(&format!("{}lab/{act}", self.names["SLACK_WORKSPACE_URL"]), None, body)
        };
        let pressed = lab("press", &press);
        let view = &pressed["view"]["id"];
        assert!(view.is_string(), "{pressed}");
        lab("submit", &json!({"user": user, "view_id": view, "values": {field: {field: value}}}))
    }

    /// Ends the bot as a supervisor does; returns its exit code.
    pub(super) fn end_bot(&mut self) -> Option<i32> {
        let mut bot = self.bot.take().unwrap();
        let bot_process = rustix::process::Pid::from_child(&bot.0);
        rustix::process::kill_process(bot_process, rustix::process::Signal::TERM).unwrap();
        bot.0.wait().unwrap().code()
    }
}

fn is_ready(port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { return false };
    let mut answer = String::new();
    let asked = stream.write_all(b"GET /ready HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
    asked.and_then(|()| stream.read_to_string(&mut answer)).is_ok() && answer.starts_with("HTTP/1.1 200")
}

pub(super) fn propose(client: &mut Client, command: &str, wait: u64) -> Value {
    let arguments = json!({"command": command, "reasoning": "the deploy needs it", "wait_seconds": wait});
    let result = client.call("run_command", &arguments);
    assert_eq!(result["isError"], false, "{result}");
    result["structuredContent"].clone()
}

pub(super) fn status(client: &mut Client, id: &Value) -> Value {
    client.call("approval_status", &json!({"id": id}))["structuredContent"].clone()
}

#[test]
fn a_human_in_slack_decides_and_the_client_only_hears_of_it() {
    let stage = Stage::start();
    let mut client = stage.client();
    let made = stage.work.path().join("made");
    let command = format!("touch {}", made.display());
    let asked = propose(&mut client, &command, 0);
    assert_eq!(
        (&asked["status"], &asked["approval"]["state"]),
        (&json!("waiting"), &json!("waiting")),
        "{asked}"
    );
    let id = asked["approval"]["id"].clone();
    assert!(id.is_string() && !made.exists(), "{asked}");
    let card = stage.card(&command);
    assert!(card.to_string().contains("The deploy needs it"), "{card}");
    assert_eq!(status(&mut client, &id)["state"], "waiting");
    // Whoever may not approve does not.
    stage.press("alice", &card, "approve");
    stage.press("bob", &card, "approve");
    let done = stage.until("the command runs", || {
        let state = status(&mut client, &id);
        (state["result"]["status"] == "completed").then_some(state)
    });
    assert_eq!(
        (&done["state"], &done["result"]["action"]),
        (&json!("used"), &json!("user_approved")),
        "{done}"
    );
    assert!(done["by"].as_str().unwrap().to_lowercase().contains("bob"), "{done}");
    assert!(made.exists());
    // Once: the same again is a new question.
    fs::remove_file(&made).unwrap();
    let again = propose(&mut client, &command, 0);
    assert_eq!(again["status"], "waiting", "{again}");
    assert_ne!(again["approval"]["id"], id);
    assert!(!made.exists());
    // Somebody else's name leads nowhere.
    let result = client.call("approval_status", &json!({"id": "ghost-abcdefghjkmn"}));
    assert_eq!(result["isError"], true, "{result}");
    let checked = client.call("audit_verify", &json!({}));
    assert_eq!(checked["structuredContent"]["ok"], true, "{checked}");
}

#[test]
fn a_no_is_an_answer_and_what_is_blocked_asks_nobody() {
    let stage = Stage::start();
    let mut client = stage.client();
    let made = stage.work.path().join("made");
    let command = format!("touch {}", made.display());
    let asked = propose(&mut client, &command, 0);
    let card = stage.card(&command);
    stage.press("bob", &card, "deny");
    let id = asked["approval"]["id"].clone();
    // The button opens a form; who does not send it has not denied.
    let state = status(&mut client, &id);
    assert!(["waiting", "denied"].contains(&state["state"].as_str().unwrap()), "{state}");
    assert!(!made.exists());
    let blocked = propose(&mut client, "reboot", 0);
    assert_eq!(blocked["approval"]["state"], "blocked", "{blocked}");
    assert!(!stage.messages().iter().any(|message| message.to_string().contains("reboot")));
}

/// The server is killed while a human is asked; then so is the bot. Nothing runs by itself, nothing is lost, and a yes counts once.
#[test]
fn a_server_and_a_bot_that_are_killed_in_the_middle_lose_nothing_and_run_nothing() {
    let mut stage = Stage::start();
    let mut client = stage.client();
    let ran = stage.work.path().join("ran");
    let command = format!("touch {}", ran.display());
    let asked = propose(&mut client, &command, 0);
    let id = asked["approval"]["id"].clone();
    stage.card(&command);
    // kill -9: nobody says a word any more.
    drop(client);
    drop(stage.bot.take());
    stage.wake_bot();
    let card = stage.card(&command);
    stage.press("bob", &card, "approve");
    let mut client = stage.client();
    stage.until("the approval is kept", || (status(&mut client, &id)["state"] == "approved").then_some(()));
    // A yes runs nothing by itself.
    assert!(!ran.exists());
    let done = propose(&mut client, &command, 100);
    assert_eq!((&done["status"], &done["action"]), (&json!("completed"), &json!("user_approved")), "{done}");
    assert!(ran.exists());
    assert_eq!(status(&mut client, &id)["state"], "used");
    let again = propose(&mut client, &command, 0);
    assert_eq!(again["status"], "waiting", "{again}");
}

#[test]
fn a_call_that_is_canceled_runs_nothing_later() {
    let stage = Stage::start();
    let mut client = stage.client();
    let made = stage.work.path().join("made");
    let command = format!("touch {}", made.display());
    let call = json!({"jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": {"name": "run_command",
        "arguments": {"command": command, "reasoning": "r", "wait_seconds": 600}}});
    client.send(&call.to_string());
    let card = stage.card(&command);
    client.send(
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 77}})
            .to_string(),
    );
    let kept = fs::read_dir(stage.folder.path().join("machine/approvals")).unwrap().next().unwrap().unwrap();
    let id = json!(kept.file_name().to_string_lossy().trim_end_matches(".json"));
    stage.until("nobody waits", || (status(&mut client, &id)["running"] == false).then_some(()));
    stage.press("bob", &card, "approve");
    assert_eq!(client.ask("ping", &json!({}))["result"], json!({}));
    assert!(!made.exists());
    // Exactly the same, proposed again, uses the yes that came late.
    let done = propose(&mut client, &command, 100);
    assert_eq!(done["status"], "completed", "{done}");
    assert!(made.exists());
}

#[test]
fn without_a_bot_nothing_runs() {
    let (work, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let token = data.path().join("token");
    fs::write(&token, TOKEN).unwrap();
    let config = data.path().join("ghost.toml");
    fs::write(
        &config,
        format!("[outside]\nurl = 'http://127.0.0.1:9'\ntoken_file = '{}'\n", token.display()),
    )
    .unwrap();
    let mut client = Client::ready(
        work.path(),
        data.path(),
        &["--config", config.to_str().unwrap(), "--approve", "slack"],
    );
    let answer = propose(&mut client, "touch made", 100);
    assert_eq!(answer["status"], "denied", "{answer}");
    assert!(answer["reason"].as_str().unwrap().contains("cannot be reached"), "{answer}");
    assert!(!work.path().join("made").exists());
}

/// Starts a workspace; returns what it says to export.
#[expect(clippy::disallowed_methods, reason = "the workspace is a process like any other")]
fn workspace() -> (Process, HashMap<String, String>) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_ghost"))
        .args(["lab", "slack", "--compress", "60"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let names = lines.take_while(|line| line != "# ready").filter_map(|line| {
        let (name, value) = line.strip_prefix("export ")?.split_once('=')?;
        Some((name.to_owned(), value.to_owned()))
    });
    let names = names.collect();
    (Process(child), names)
}

fn api(names: &HashMap<String, String>, method: &str, arguments: &Value) -> Value {
    post(&format!("{}{method}", names["SLACK_API_URL"]), Some(&names["SLACK_BOT_TOKEN"]), arguments)
}

/// Posts a document to a server on this machine.
fn post(url: &str, token: Option<&str>, body: &Value) -> Value {
    let rest = url.strip_prefix("http://").unwrap();
    let (host, path) = rest.split_once('/').unwrap();
    let body = body.to_string();
    let bearer = token.map(|token| format!("authorization: Bearer {token}\r\n")).unwrap_or_default();
    let mut stream = TcpStream::connect(host).unwrap();
    let head = format!(
        "POST /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-type: application/json\r\n{bearer}content-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let body = text.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    serde_json::from_str(body).unwrap_or(Value::Null)
}
