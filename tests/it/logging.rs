//! What the bot tells on standard error: a span for each arrival, JSON where that is wanted, and nothing secret.

use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;

use crate::lab::stage::{NETWORK, Stage, quick};
use crate::session::world::{conclude, suppose};

/// The program, with its most verbose log.
struct Bot {
    child: Child,
    folder: tempfile::TempDir,
    log: Arc<Mutex<String>>,
    reading: JoinHandle<()>,
}

const TOKENS: [&str; 3] = ["SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "SLACK_SIGNING_SECRET"];

impl Bot {
    fn start(slack: &Stage, config: &str, tokens: &[(&str, &str)]) -> Self {
        Self::begin(tempfile::tempdir().unwrap(), slack, config, tokens)
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the test starts the program under test, and reads what it says"
    )]
    fn begin(folder: tempfile::TempDir, slack: &Stage, config: &str, tokens: &[(&str, &str)]) -> Self {
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("script"), [suppose(), conclude("REFUTED")].join("\n")).unwrap();
        std::fs::write(path("ghost.toml"), config).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_ghost"))
            .arg("bot")
            .arg("--config")
            .arg(path("ghost.toml"))
            .arg("--data-dir")
            .arg(path("data"))
            .arg("--script")
            .arg(path("script"))
            .env_clear()
            .env("SLACK_API_URL", slack.name("SLACK_API_URL"))
            .env("GHOST_LOG_LEVEL", "debug")
            .envs(tokens.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let log = Arc::new(Mutex::new(String::new()));
        let (mut error, log_lines) = (BufReader::new(child.stderr.take().unwrap()), Arc::clone(&log));
        let reading = tokio::spawn(async move {
            let mut line = String::new();
            while error.read_line(&mut line).await.is_ok_and(|length| length > 0) {
                log_lines.lock().unwrap().push_str(&std::mem::take(&mut line));
            }
        });
        Self { child, folder, log, reading }
    }

    fn says(&self, part: &str) -> bool {
        self.log.lock().unwrap().contains(part)
    }

    /// Ends it as an operator does; returns everything that it said.
    async fn end(mut self) -> String {
        if let Some(id) = self.child.id() {
            let id = rustix::process::Pid::from_raw(i32::try_from(id).unwrap()).unwrap();
            // It may have ended by itself.
            let _ = rustix::process::kill_process(id, rustix::process::Signal::TERM);
        }
        let mut out = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut out).await.unwrap();
        self.child.wait().await.unwrap();
        self.reading.await.unwrap();
        out + &self.log.lock().unwrap()
    }
}

async fn look(slack: &Stage, what: &str) -> Value {
    let url = format!("{}lab/{what}", slack.name("SLACK_WORKSPACE_URL"));
    slack.http.get(url).send().await.unwrap().json().await.unwrap()
}

async fn until(what: &str, mut there: impl AsyncFnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !there().await {
        assert!(Instant::now() < deadline, "never: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn connected(slack: &Stage) {
    until("it is connected", async || {
        look(slack, "state").await.pointer("/apps/0/connected") == Some(&json!(true))
    })
    .await;
}

async fn mention(slack: &Stage) -> String {
    let said = json!({"user": "alice", "channel": NETWORK, "text": "@Ghost the link is down"});
    let said = slack.person("message", said).await;
    said.get("ts").and_then(Value::as_str).unwrap().to_owned()
}

async fn thread_tells(slack: &Stage, root: &str, begins: &str) -> bool {
    let thread = look(slack, &format!("thread?user=alice&channel={NETWORK}&ts={root}")).await;
    let texts = thread.get("messages").and_then(Value::as_array).into_iter().flatten();
    let texts = texts.filter_map(|said| said.get("text")?.as_str());
    texts.into_iter().any(|text| text.starts_with(begins))
}

fn right(slack: &Stage) -> Vec<(&'static str, &str)> {
    TOKENS.iter().map(|name| (*name, slack.name(name))).collect()
}

/// Nothing of a token may be logged, nor the ticket of a socket.
#[track_caller]
fn holds_no_secret(log: &str, slack: &Stage) {
    for name in TOKENS {
        // The beginning of one would be enough to guess from.
        let token = slack.name(name).get(..12).unwrap();
        assert!(!log.contains(token), "{name} is in\n{log}");
    }
    for part in ["xoxb-0-nobody", "xoxb-0-wrong", "ticket=", "Bearer"] {
        assert!(!log.contains(part), "{part} is in\n{log}");
    }
}

#[tokio::test]
async fn an_arrival_is_a_span_and_each_line_is_a_document() {
    let slack = Stage::new(quick()).await;
    let bot = Bot::start(&slack, "[log]\nformat = 'json'\n", &right(&slack));
    connected(&slack).await;
    let root = mention(&slack).await;
    until("the report", async || thread_tells(&slack, &root, "Inconclusive").await).await;
    let log = bot.end().await;
    let lines: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    let taken = lines
        .iter()
        .find(|line| line["message"] == "slack event acknowledged" && line["span"]["event.kind"] == "mention")
        .unwrap_or_else(|| panic!("no span in\n{log}"));
    let span = &taken["span"];
    assert!(span["event.id"].as_str().is_some_and(|id| !id.is_empty()), "{taken}");
    assert!(span["session.id"].as_str().unwrap().starts_with("ghost-"), "{taken}");
    assert_eq!((&span["name"], &taken["level"]), (&json!("slack.event"), &json!("INFO")));
    assert!(!log.contains("the link is down"), "{log}");
    holds_no_secret(&log, &slack);
    slack.end().await;
}

#[tokio::test]
async fn no_token_is_logged_whatever_fails() {
    let slack = Stage::new(quick()).await;
    let (bot, app) = (slack.name("SLACK_BOT_TOKEN"), slack.name("SLACK_APP_TOKEN"));
    let broken = format!("{bot}\r\nx: y");
    for tokens in [
        [("SLACK_BOT_TOKEN", app), ("SLACK_APP_TOKEN", bot)],
        [("SLACK_BOT_TOKEN", bot), ("SLACK_APP_TOKEN", bot)],
        [("SLACK_BOT_TOKEN", "xoxb-0-nobody"), ("SLACK_APP_TOKEN", app)],
        [("SLACK_BOT_TOKEN", broken.as_str()), ("SLACK_APP_TOKEN", app)],
    ] {
        let mut bot = Bot::start(&slack, "", &tokens);
        let status = tokio::time::timeout(Duration::from_secs(30), bot.child.wait()).await.unwrap().unwrap();
        let log = bot.end().await;
        assert_eq!(status.code(), Some(78), "{log}");
        assert!(log.contains("error: "), "{log}");
        holds_no_secret(&log, &slack);
    }
    // While it runs: refusals, storms, cuts.
    let running = Bot::start(&slack, "", &right(&slack));
    connected(&slack).await;
    let fault = |fault: Value| slack.person("fault", fault);
    fault(json!({"kind": "error", "method": "chat.postMessage", "count": 1, "error": "invalid_auth"})).await;
    fault(json!({"kind": "rate_limit", "method": "chat.update", "count": 1, "retry_after": 1})).await;
    fault(json!({"kind": "error", "method": "apps.connections.open", "count": 1, "status": 503})).await;
    fault(json!({"kind": "cut"})).await;
    connected(&slack).await;
    let root = mention(&slack).await;
    until("the report", async || thread_tells(&slack, &root, "Inconclusive").await).await;
    holds_no_secret(&running.end().await, &slack);
    slack.end().await;
}

#[tokio::test]
async fn a_token_that_is_replaced_in_its_file_is_used_without_a_restart() {
    let slack = Stage::new(quick()).await;
    let folder = tempfile::tempdir().unwrap();
    let token = folder.path().join("token");
    std::fs::write(&token, slack.name("SLACK_BOT_TOKEN")).unwrap();
    let config = format!("[slack]\nbot_token_file = {token:?}\n");
    let tokens = [("SLACK_APP_TOKEN", slack.name("SLACK_APP_TOKEN"))];
    let bot = Bot::begin(folder, &slack, &config, &tokens);
    connected(&slack).await;
    // The old one was revoked, and whoever runs it puts a wrong one there first.
    std::fs::write(&token, "xoxb-0-wrong").unwrap();
    let root = mention(&slack).await;
    until("the wrong one is refused", async || bot.says("invalid_auth")).await;
    assert!(!thread_tells(&slack, &root, "Session").await);
    std::fs::write(&token, slack.name("SLACK_BOT_TOKEN")).unwrap();
    let second = mention(&slack).await;
    until("the report", async || thread_tells(&slack, &second, "Inconclusive").await).await;
    assert!(bot.folder.path().exists());
    holds_no_secret(&bot.end().await, &slack);
    slack.end().await;
}
