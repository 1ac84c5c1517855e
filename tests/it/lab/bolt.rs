//! An app on one of Slack's own SDKs, as a process that a workspace and a person meet.
#![expect(clippy::indexing_slicing, reason = "an answer without the field stops the test")]

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ghost_lab_slack::Timing;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, ChildStderr, Command};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::lab::stage::{NETWORK, Stage};

/// How long a slow machine may take to do what never takes long.
const PATIENCE: Duration = Duration::from_secs(90);

/// The SDKs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sdk {
    Python,
    JavaScript,
}

/// How events reach the app.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transport {
    Sockets,
    Requests,
}

impl Sdk {
    /// Tells whether the tests run without it, because somebody said so.
    #[expect(clippy::disallowed_methods, reason = "the test reads what it may leave out")]
    pub(super) fn is_left_out(self) -> bool {
        let without = std::env::var("GHOST_TEST_WITHOUT").unwrap_or_default();
        without.split(',').any(|name| name == self.name())
    }

    fn name(self) -> &'static str {
        match self {
            Self::Python => "python-sdk",
            Self::JavaScript => "js-sdk",
        }
    }

    /// What runs the app, and the words behind it.
    fn command(self) -> (PathBuf, Vec<PathBuf>) {
        let installed = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("sdk");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sdk");
        let (program, words, needed) = match self {
            Self::Python => {
                let program = installed.join("python/bin/python");
                (program.clone(), vec![source.join("python/app.py")], program)
            }
            Self::JavaScript => {
                // A link beside the packages: where the app seems to lie is where Node searches for them.
                let app = installed.join("javascript/app.mjs");
                ("node".into(), vec!["--preserve-symlinks-main".into(), app.clone()], app)
            }
        };
        assert!(
            needed.exists(),
            "Slack's SDK is not installed: run tests/sdk/install, or set GHOST_TEST_WITHOUT={}",
            self.name()
        );
        (program, words)
    }
}

/// A workspace, and an app that is connected with it.
pub(super) struct Bolt {
    pub(super) stage: Stage,
    child: Child,
    log: Arc<Mutex<Vec<String>>>,
    reading: JoinSet<()>,
}

impl Bolt {
    /// Starts an app that knows what the workspace exports, and connects the two.
    pub(super) async fn start(sdk: Sdk, transport: Transport, timing: Timing) -> Self {
        let stage = Stage::new(timing).await;
        // What a manifest would say.
        stage.person("app", json!({"events": ["app_home_opened", "app_mention", "message.im"]})).await;
        let secret = stage.name("SLACK_SIGNING_SECRET").to_owned();
        let (bolt, url) = Self::run(stage, sdk, transport, &secret).await;
        if let Some(url) = url {
            let set = bolt.stage.person("app", json!({"request_url": url})).await;
            assert_eq!(set["transport"], "http", "{set}\n{}", bolt.said());
        }
        bolt
    }

    /// Starts an app; returns the address at which it takes requests.
    #[expect(clippy::disallowed_methods, reason = "the test starts the app, and knows where programs are")]
    pub(super) async fn run(
        stage: Stage,
        sdk: Sdk,
        transport: Transport,
        secret: &str,
    ) -> (Self, Option<String>) {
        let (program, mut words) = sdk.command();
        if transport == Transport::Requests {
            words.push("--http".into());
        }
        let names = ["SLACK_API_URL", "SLACK_APP_TOKEN", "SLACK_BOT_TOKEN"];
        let mut child = Command::new(&program)
            .args(words)
            // Nothing of this machine, above all no proxy.
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .envs(names.map(|name| (name, stage.name(name))))
            .env("SLACK_SIGNING_SECRET", secret)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", program.display()));
        let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
        let log = Arc::new(Mutex::new(Vec::new()));
        let mut reading = JoinSet::new();
        reading.spawn(keep(child.stderr.take().unwrap(), Arc::clone(&log)));
        let bolt = Self { stage, child, log, reading };
        let ready = timeout(PATIENCE, said.next_line()).await.ok().and_then(Result::unwrap);
        let ready = ready.unwrap_or_else(|| panic!("the app did not start\n{}", bolt.said()));
        let port = ready.strip_prefix("ready ");
        (bolt, port.map(|port| format!("http://127.0.0.1:{port}/slack/events")))
    }

    fn said(&self) -> String {
        self.log.lock().unwrap().join("\n")
    }

    /// Reads again whenever something changed, until `found` finds something.
    pub(super) async fn until<T>(&self, user: &str, look: &str, found: impl Fn(&Value) -> Option<T>) -> T {
        let url = |path: &str| format!("{}lab/{path}", self.stage.name("SLACK_WORKSPACE_URL"));
        let mut changes = self.stage.http.get(url(&format!("events?user={user}"))).send().await.unwrap();
        let mut last = Value::Null;
        let waited = timeout(PATIENCE, async {
            loop {
                last = self.stage.http.get(url(look)).send().await.unwrap().json().await.unwrap();
                if let Some(value) = found(&last) {
                    return value;
                }
                changes.chunk().await.unwrap().unwrap();
            }
        });
        let waited = waited.await;
        waited.unwrap_or_else(|_| panic!("in vain, at {look}: {last:#}\n{}", self.said()))
    }

    /// Mentions the app; returns the message's `ts`.
    pub(super) async fn mention(&self, words: &str) -> String {
        self.stage.says("alice", &format!("@Ghost {words}")).await.as_str().unwrap().to_owned()
    }

    /// Waits for a reply of the app in a thread.
    pub(super) async fn reply(&self, user: &str, root: &str, text: &str) -> Value {
        self.until(user, &format!("thread?user={user}&channel={NETWORK}&ts={root}"), |thread| {
            let messages = thread["messages"].as_array().unwrap();
            messages.iter().skip(1).find(|message| message["text"] == text).cloned()
        })
        .await
    }

    /// Returns the texts below the root of a thread.
    pub(super) async fn replies(&self, user: &str, root: &str) -> Vec<String> {
        self.until(user, &format!("thread?user={user}&channel={NETWORK}&ts={root}"), |thread| {
            let messages = thread["messages"].as_array()?;
            Some(messages.iter().skip(1).map(|one| one["text"].as_str().unwrap().to_owned()).collect())
        })
        .await
    }

    /// Does something as a person that has to succeed.
    pub(super) async fn does(&self, act: &str, args: Value) -> Value {
        let done = self.stage.person(act, args).await;
        assert_eq!(done["ok"], true, "{act}: {done}\n{}", self.said());
        done
    }

    /// Ends both, and returns what the SDK complained about.
    pub(super) async fn end(self) -> Vec<String> {
        let Self { stage, mut child, log, mut reading } = self;
        child.kill().await.unwrap();
        while reading.join_next().await.is_some() {}
        stage.end().await;
        let signs = ["WARNING ", "ERROR ", "CRITICAL ", "Traceback ", "(node:", "Unhandled"];
        let complains = |line: &&String| signs.iter().any(|sign| line.starts_with(sign));
        let log = log.lock().unwrap();
        assert!(log.iter().any(|line| line.starts_with("DEBUG ")), "the app's log is missing");
        log.iter().filter(complains).cloned().collect()
    }
}

async fn keep(stderr: ChildStderr, log: Arc<Mutex<Vec<String>>>) {
    let mut lines = BufReader::new(stderr).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        log.lock().unwrap().push(line);
    }
}
