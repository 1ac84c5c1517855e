//! The start of the bot while something that it needs is away, refuses, or was set up wrongly.

use std::net::SocketAddr;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};
use tokio::process::{Child, Command};

use crate::store::server::Server;

/// What a Slack of the test answers to `auth.test`.
#[derive(Clone, Copy)]
enum Answers {
    /// 503 that many times, then the bot's identity.
    Unavailable(usize),
    Refused(&'static str),
}

/// A Slack that knows `auth.test` alone.
struct Slack {
    url: String,
    _serving: tokio::task::JoinSet<()>,
}

async fn slack(answers: Answers) -> Slack {
    let asked = Arc::new(AtomicUsize::new(0));
    let answer = move || -> Response {
        let before = asked.fetch_add(1, Ordering::SeqCst);
        match answers {
            Answers::Unavailable(times) if before < times => StatusCode::SERVICE_UNAVAILABLE.into_response(),
            Answers::Unavailable(_) => axum::Json(json!({
                "ok": true, "url": "https://w.example/", "team": "w", "user": "ghost",
                "team_id": "T0TEST", "user_id": "U0GHOST", "bot_id": "B0GHOST",
            }))
            .into_response(),
            Answers::Refused(code) => axum::Json(json!({"ok": false, "error": code})).into_response(),
        }
    };
    let router = Router::new().fallback(async move || answer());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut serving = tokio::task::JoinSet::new();
    serving.spawn(async move { axum::serve(listener, router).await.unwrap() });
    Slack { url: format!("http://{address}/api/"), _serving: serving }
}

fn free_address() -> SocketAddr {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

struct Bot {
    child: Child,
    probes: SocketAddr,
    listen: SocketAddr,
    http: reqwest::Client,
    folder: tempfile::TempDir,
}

impl Bot {
    #[expect(clippy::disallowed_methods, reason = "the test starts the program under test")]
    fn start(slack: &Slack, more: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (probes, listen) = (free_address(), free_address());
        let config = format!(
            "{more}\n[slack]\ntransport = 'http'\n[http]\nlisten = '{listen}'\nprobes = '{probes}'\n"
        );
        std::fs::write(folder.path().join("ghost.toml"), config).unwrap();
        let log = std::fs::File::create(folder.path().join("log")).unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_ghost"))
            .arg("bot")
            .arg("--config")
            .arg(folder.path().join("ghost.toml"))
            .arg("--data-dir")
            .arg(folder.path().join("data"))
            .env_clear()
            .env("SLACK_API_URL", &slack.url)
            .env("SLACK_BOT_TOKEN", "xoxb-test")
            .env("SLACK_SIGNING_SECRET", "of-the-test")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let http = reqwest::Client::builder().no_proxy().tls_certs_only([]).build().unwrap();
        Self { child, probes, listen, http, folder }
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap()
    }

    async fn status(&self, address: SocketAddr, path: &str) -> Option<u16> {
        let answer = self.http.get(format!("http://{address}{path}")).send().await.ok()?;
        Some(answer.status().as_u16())
    }

    /// Returns why a part is not ready, by what `/ready` says.
    async fn missing(&self, part: &str) -> Option<String> {
        let answer = self.http.get(format!("http://{}/ready", self.probes)).send().await.ok()?;
        let report: Value = answer.json().await.ok()?;
        let text = |found: &Value, name: &str| found.get(name).and_then(Value::as_str).map(str::to_owned);
        let parts = report.get("parts")?.as_array()?;
        let found = parts.iter().find(|found| text(found, "name").as_deref() == Some(part))?;
        text(found, "why")
    }

    async fn until(&mut self, what: &str, mut there: impl AsyncFnMut(&Self) -> bool) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !there(self).await {
            assert!(Instant::now() < deadline, "never: {what}\n{}", self.log());
            assert!(self.child.try_wait().unwrap().is_none(), "{what}: it ended\n{}", self.log());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn until_ready(&mut self) {
        let probes = self.probes;
        self.until("it is ready", async |bot| bot.status(probes, "/ready").await == Some(200)).await;
    }
}

#[tokio::test]
async fn a_bot_waits_for_slack_and_says_so_meanwhile() {
    let slack = slack(Answers::Unavailable(2)).await;
    let mut bot = Bot::start(&slack, "");
    let why = "Slack cannot be reached";
    bot.until("it says what is away", async |bot| bot.missing("slack").await.as_deref() == Some(why)).await;
    assert_eq!(bot.status(bot.probes, "/live").await, Some(200));
    assert_eq!(bot.status(bot.listen, "/slack/events").await, Some(503));
    bot.until_ready().await;
    assert_eq!(bot.missing("slack").await, None);
    // Health is shown where it was configured, and nowhere else.
    assert_eq!(bot.status(bot.listen, "/live").await, Some(404));
    assert_eq!(bot.status(bot.listen, "/metrics").await, Some(404));
    assert_eq!(bot.status(bot.probes, "/metrics").await, Some(200));
    assert!(bot.log().lines().all(|line| line.starts_with("20")), "a line without its time\n{}", bot.log());
}

#[tokio::test]
async fn a_bot_waits_for_its_store_and_says_so_meanwhile() {
    let Some(mut redis) = Server::start() else { return };
    redis.kill();
    let slack = slack(Answers::Unavailable(0)).await;
    let mut bot = Bot::start(&slack, &format!("store.url = '{}'", redis.url()));
    let why = "the store cannot be reached";
    bot.until("it says what is away", async |bot| bot.missing("store").await.as_deref() == Some(why)).await;
    redis.restart();
    bot.until_ready().await;
}

#[tokio::test]
async fn a_mistake_that_only_a_person_can_correct_ends_the_start_with_code_78() {
    let slack = slack(Answers::Refused("invalid_auth")).await;
    let mut bot = Bot::start(&slack, "");
    let ended = tokio::time::timeout(Duration::from_secs(60), bot.child.wait()).await.unwrap().unwrap();
    assert_eq!(ended.code(), Some(78), "{}", bot.log());
    assert!(bot.log().contains("error: auth.test: Slack refused with invalid_auth"), "{}", bot.log());
    assert!(bot.log().contains("hint: "), "{}", bot.log());
    let mut bot = Bot::start(&slack, "bot.nothing = 1");
    let ended = tokio::time::timeout(Duration::from_secs(60), bot.child.wait()).await.unwrap().unwrap();
    assert_eq!(ended.code(), Some(78), "{}", bot.log());
}

#[tokio::test]
async fn a_store_that_refuses_writes_is_not_ready_and_says_why() {
    let Some(redis) = Server::start() else { return };
    let slack = slack(Answers::Unavailable(0)).await;
    let mut bot = Bot::start(&slack, &format!("store.url = '{}'", redis.url()));
    bot.until_ready().await;
    for (refuse, accept, why) in [
        ("CONFIG SET maxmemory 1", "CONFIG SET maxmemory 0", "OOM"),
        ("CONFIG SET min-replicas-to-write 1", "CONFIG SET min-replicas-to-write 0", "NOREPLICAS"),
    ] {
        assert!(redis.say(refuse).starts_with("+OK"));
        bot.until(why, async |bot| bot.missing("store").await.is_some_and(|found| found.contains(why))).await;
        let metrics = bot.http.get(format!("http://{}/metrics", bot.probes)).send().await.unwrap();
        let metrics = metrics.text().await.unwrap();
        assert!(metrics.contains("ghost_ready{part=\"store\"} 0"), "{metrics}");
        assert!(redis.say(accept).starts_with("+OK"));
        bot.until_ready().await;
    }
}
