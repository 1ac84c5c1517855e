//! The processes: a Redis, a workspace, replicas of the bot.
#![expect(clippy::indexing_slicing, reason = "an answer without the field stops the test")]

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use ghost_base::SessionId;
use ghost_store::{RedisConfig, RedisStore, Settings};
use redis::aio::MultiplexedConnection;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::backend::Backend;
use super::brain::{Brain, NUMBER};
use super::people::PATIENCE;
use crate::lab::stage::NETWORK;
use crate::store::server::Server;

/// What senders of alerts prove themselves by.
pub(super) const SECRET: &str = "a-secret-of-enough-letters";

/// How many replicas there are.
pub(super) const REPLICAS: usize = 3;

/// A process that ends with its owner.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Everything that runs.
pub(super) struct Stage {
    replicas: Vec<Process>,
    _slack: Process,
    names: HashMap<String, String>,
    pub(super) store: RedisStore,
    /// Asks many things at once, where there is one server.
    redis: Option<MultiplexedConnection>,
    pub(super) backend: Backend,
    pub(super) http: reqwest::Client,
    pub(super) channels: Vec<String>,
    pub(super) folder: TempDir,
    _brain: Brain,
}

impl Stage {
    /// Starts everything; nothing where the tests run without Redis. `rooms` is the number of channels. What sessions ask a
    /// human for leaves their number in a file.
    pub(super) async fn start(rooms: usize, context: usize, thinks: Duration) -> Option<Self> {
        let command = |folder: &Path| format!("echo {NUMBER} | tee -a {}", folder.join("ran").display());
        Self::start_with(rooms, context, thinks, command).await
    }

    /// Does so with another command, which may lie in the folder.
    pub(super) async fn start_with(
        rooms: usize,
        context: usize,
        thinks: Duration,
        command: impl FnOnce(&Path) -> String,
    ) -> Option<Self> {
        let backend = Backend::One(Server::start()?);
        Some(Self::start_at(backend, rooms, context, thinks, command).await)
    }

    /// Does so with other servers behind it.
    pub(super) async fn start_at(
        backend: Backend,
        rooms: usize,
        context: usize,
        thinks: Duration,
        command: impl FnOnce(&Path) -> String,
    ) -> Self {
        Self::start_until(backend, rooms, context, thinks, 60, command).await
    }

    /// Does so with questions that expire after some minutes.
    pub(super) async fn start_until(
        backend: Backend,
        rooms: usize,
        context: usize,
        thinks: Duration,
        minutes: u32,
        command: impl FnOnce(&Path) -> String,
    ) -> Self {
        drop(rustls::crypto::ring::default_provider().install_default());
        let folder = tempfile::tempdir().unwrap();
        let brain = Brain::start(context, thinks, &command(folder.path())).await;
        let (slack, names) = workspace();
        // The pace is not what is tested: in truth Slack would have everybody wait.
        let text = format!(
            "slack.pace = 1000\nbot.sessions = 400\n{}[model]\nbrain = 'openai'\n[model.openai]\n\
             model = 'm'\nbase_url = '{}'\n[approval]\nchange.users = ['U0LABBOB01']\n\
             measurement.users = ['U0LABBOB01']\n[shell]\napproval_minutes = {minutes}\n[log]\nlevel = 'info'\n\
             [outside]\nchannel = '{NETWORK}'\n[alerts.alertmanager]\nchannel = '{NETWORK}'\nsecret_file = '{}'\n",
            backend.configuration(),
            brain.url,
            folder.path().join("alerts").display(),
        );
        std::fs::write(folder.path().join("alerts"), SECRET).unwrap();
        for at in 0..REPLICAS {
            let listens = format!("{text}[http]\nlisten = '{}'\n", address(&backend, at));
            std::fs::write(folder.path().join(format!("ghost-{at}.toml")), listens).unwrap();
        }
        let redis = match &backend {
            Backend::One(server) => {
                let redis = redis::Client::open(server.url()).unwrap();
                Some(redis.get_multiplexed_async_connection().await.unwrap())
            }
            Backend::Sentinels(..) | Backend::Cluster(_) => None,
        };
        let place =
            RedisConfig { answer: Duration::from_secs(10), ..RedisConfig::new(backend.url(), "ghost") };
        let deadline = Instant::now() + PATIENCE;
        let store = loop {
            // On a busy machine sentinels may take the primary for dead for a moment.
            match RedisStore::connect(&place, Settings::default()).await {
                Ok(store) => break store,
                Err(error) => assert!(Instant::now() < deadline, "{error}"),
            }
        };
        let http = reqwest::Client::builder().no_proxy().tls_certs_only([]).build().unwrap();
        let mut stage = Self {
            replicas: Vec::new(),
            _slack: slack,
            names,
            store,
            redis,
            backend,
            http,
            channels: Vec::new(),
            folder,
            _brain: brain,
        };
        for room in 0..rooms {
            let made = stage.api("conversations.create", json!({"name": format!("crowd-{room}")})).await;
            let id = made["channel"]["id"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned();
            let users = "U0LABALICE,U0LABBOB01";
            stage.api("conversations.invite", json!({"channel": id, "users": users})).await;
            stage.channels.push(id);
        }
        for at in 0..REPLICAS {
            let replica = stage.replica(at);
            stage.replicas.push(replica);
        }
        stage
    }

    #[expect(clippy::disallowed_methods, reason = "only a process of its own can be killed")]
    fn replica(&self, at: usize) -> Process {
        let log = self.folder.path().join(format!("replica-{at}.log"));
        let log = std::fs::OpenOptions::new().create(true).append(true).open(log).unwrap();
        let names = ["SLACK_API_URL", "SLACK_APP_TOKEN", "SLACK_BOT_TOKEN"];
        let child = Command::new(env!("CARGO_BIN_EXE_ghost"))
            .arg("--config")
            .arg(self.folder.path().join(format!("ghost-{at}.toml")))
            .arg("--data-dir")
            .arg(self.folder.path().join("data"))
            .arg("bot")
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .envs(names.map(|name| (name, &self.names[name])))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        Process(child)
    }

    /// Starts the hook of an agent on another machine: nothing is shared with the replicas but the store.
    #[expect(clippy::disallowed_methods, reason = "the test starts the program under test")]
    pub(super) fn hook(&self, call: &Value) -> Child {
        let home = self.folder.path().join("agent");
        std::fs::create_dir_all(home.join("project")).unwrap();
        let text = format!(
            "store.url = '{}'\n[hook]\napprove = 'slack'\nwait_seconds = 60\n[outside]\nname = 'build-3'\n",
            self.backend.url()
        );
        std::fs::write(home.join("ghost.toml"), text).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_ghost"))
            .args(["hook", "claude", "--config"])
            .arg(home.join("ghost.toml"))
            .arg("--data-dir")
            .arg(home.join("data"))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        write!(child.stdin.take().unwrap(), "{call}").unwrap();
        child
    }

    /// Kills a replica as the kernel does, and starts it again; returns when it was dead, and which sessions it held then.
    pub(super) async fn kill(&mut self, at: usize, sessions: &[SessionId]) -> (u64, Vec<SessionId>) {
        let process = self.replicas.get_mut(at).unwrap();
        assert_eq!(process.0.try_wait().unwrap(), None, "replica {at} ended by itself\n{}", self.log(at));
        let process = self.replicas.get_mut(at).unwrap();
        let id = process.0.id();
        process.0.kill().unwrap();
        process.0.wait().unwrap();
        let died = millis();
        let held = self.held_by(&format!("bot-{id}-"), sessions).await;
        *self.replicas.get_mut(at).unwrap() = self.replica(at);
        (died, held)
    }

    /// Sends a signal to a replica, which must live.
    pub(super) fn signal(&mut self, at: usize, signal: Signal) {
        let process = self.replicas.get_mut(at).unwrap();
        assert_eq!(process.0.try_wait().unwrap(), None, "replica {at} ended by itself\n{}", self.log(at));
        let process = self.replicas.get_mut(at).unwrap();
        kill_process(Pid::from_child(&process.0), signal).unwrap();
    }

    /// Returns which replica holds a session.
    pub(super) async fn holder(&self, session: &SessionId) -> usize {
        let one = std::slice::from_ref(session);
        for at in 0..REPLICAS {
            let id = self.replicas.get(at).unwrap().0.id();
            if !self.held_by(&format!("bot-{id}-"), one).await.is_empty() {
                return at;
            }
        }
        panic!("nobody holds {session}");
    }

    /// Returns which sessions an owner held last; a lease outlives its owner.
    pub(super) async fn held_by(&self, owner: &str, sessions: &[SessionId]) -> Vec<SessionId> {
        if sessions.is_empty() {
            return Vec::new();
        }
        let key = |session: &SessionId| format!("ghost:{{{session}}}:lease");
        let owners: Vec<Option<String>> = match self.redis.clone() {
            Some(mut redis) => {
                let mut pipe = redis::pipe();
                for session in sessions {
                    pipe.cmd("HGET").arg(key(session)).arg("owner");
                }
                pipe.query_async(&mut redis).await.unwrap()
            }
            None => {
                let ask = |session| self.backend.ask(&format!("HGET {} owner", key(session)));
                let answers = sessions.iter().map(ask);
                answers.map(|answer| answer?.lines().nth(1).map(str::to_owned)).collect()
            }
        };
        let held = sessions
            .iter()
            .zip(owners)
            .filter(|(_, name)| name.as_ref().is_some_and(|name| name.starts_with(owner)));
        held.map(|(session, _)| session.clone()).collect()
    }

    /// Returns megabytes that each replica holds.
    pub(super) fn memory(&self) -> Vec<u64> {
        let of = |process: &Process| {
            let status =
                std::fs::read_to_string(format!("/proc/{}/status", process.0.id())).unwrap_or_default();
            let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
            line.split_whitespace().next().and_then(|number| number.parse::<u64>().ok()).unwrap_or(0) / 1024
        };
        self.replicas.iter().map(of).collect()
    }

    /// Returns what a replica said last.
    pub(super) fn log(&self, at: usize) -> String {
        let text = std::fs::read_to_string(self.folder.path().join(format!("replica-{at}.log")));
        let text = text.unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines.get(lines.len().saturating_sub(20)..).unwrap_or_default().join("\n")
    }

    /// Returns how many sessions the replicas that live now say they took over from dead ones.
    pub(super) async fn taken_over(&self) -> u64 {
        let mut sum = 0;
        for at in 0..REPLICAS {
            let page = format!("http://{}/metrics", address(&self.backend, at));
            let text = self.http.get(page).send().await.unwrap().text().await.unwrap();
            let mut lines = text.lines();
            let number = lines.find_map(|line| line.strip_prefix("ghost_takeovers_total ")).unwrap();
            sum += number.parse::<u64>().unwrap();
        }
        sum
    }

    /// Sends something to the port of a replica for alerts; returns the status and the answer, or why there is none.
    pub(super) async fn alert(&self, at: usize, body: &Value) -> Result<(u16, Value), String> {
        let url = format!("http://{}/alerts/alertmanager", address(&self.backend, at));
        let sent = self.http.post(url).bearer_auth(SECRET).json(body).send().await;
        let sent = sent.map_err(|error| error.to_string())?;
        Ok((sent.status().as_u16(), sent.json().await.unwrap_or_default()))
    }

    /// Calls a method of the Web API as the bot.
    pub(super) async fn api(&self, method: &str, args: Value) -> Value {
        let request = self.http.post(format!("{}{method}", self.names["SLACK_API_URL"])).json(&args);
        request.bearer_auth(&self.names["SLACK_BOT_TOKEN"]).send().await.unwrap().json().await.unwrap()
    }

    /// Does something as a person.
    pub(super) async fn person(&self, act: &str, args: Value) -> Value {
        let request = self.http.post(format!("{}lab/{act}", self.names["SLACK_WORKSPACE_URL"]));
        request.json(&args).send().await.unwrap().json().await.unwrap()
    }

    /// Sees what a person sees.
    pub(super) async fn person_sees(&self, what: &str, query: &str) -> Value {
        let request = self.http.get(format!("{}lab/{what}?{query}", self.names["SLACK_WORKSPACE_URL"]));
        request.send().await.unwrap().json().await.unwrap()
    }

    /// Returns the lines that approved commands left.
    pub(super) fn ran(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.folder.path().join("ran")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Asks again until there is an answer; fails with what is missing then.
    pub(super) async fn until<T>(
        &self,
        limit: Duration,
        mut ask: impl AsyncFnMut() -> Result<T, String>,
    ) -> T {
        let deadline = Instant::now() + limit;
        loop {
            match ask().await {
                Ok(answer) => return answer,
                Err(missing) if Instant::now() > deadline => {
                    let logs: Vec<String> = (0..REPLICAS).map(|at| self.log(at)).collect();
                    panic!(
                        "never: {missing}\nRedis answers: {}\n{}",
                        self.backend.is_up(),
                        logs.join("\n\n")
                    );
                }
                Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            }
        }
    }
}

/// Returns where a replica tells its numbers: at the port of this Redis, which nobody else has, on an address of its own.
fn address(backend: &Backend, at: usize) -> String {
    format!("127.0.0.{}:{}", at + 2, backend.port())
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

/// Returns milliseconds of the clock that the ledgers use.
#[expect(clippy::disallowed_methods, reason = "the ledgers' clock is the machine's")]
pub(super) fn millis() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    u64::try_from(since.as_millis()).unwrap()
}
