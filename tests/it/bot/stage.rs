//! A whole bot beside a local Slack, and people who speak with it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ghost_agent::agent::model::{Model, Scripted};
use ghost_agent::agent::tool::Registry;
use ghost_agent::agent::{Limits, RequesterMay};
use ghost_agent::base::{Clock, Secret, SystemClock};
use ghost_agent::bot::{
    Application, Approvers, Bot, Core, Directory, FlagBrake, Parts, People, Place, Presenter, Settings, Way,
    requests,
};
use ghost_agent::http::{Patience, Vitals, serve};
use ghost_agent::session::{Engine, EvidenceFolder, Kitchen, Worker};
use ghost_agent::shell::{Approver, Cancel, Policy, Shell};
use ghost_agent::slack::socket::Settings as SocketSettings;
use ghost_agent::slack::web::{FixedTokens, Roots, Settings as WebSettings, Web};
use ghost_agent::store::{EmbeddedStore, Store};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinHandle;

use crate::lab::stage::{NETWORK, Stage, quick};

/// Nothing here takes longer, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(30);

/// A local Slack, a folder and a store, which outlive bots.
pub(super) struct World {
    pub(super) slack: Stage,
    pub(super) folder: TempDir,
    pub(super) store: Arc<dyn Store>,
    pub(super) settings: Settings,
    script: Vec<String>,
}

/// A bot that runs.
pub(super) struct Running {
    cancel: Cancel,
    task: JoinHandle<()>,
}

/// Alice asks, Bob approves.
pub(super) fn settings() -> Settings {
    let bob = People { users: BTreeSet::from(["U0LABBOB01".to_owned()]), groups: BTreeSet::new() };
    let group = People { users: BTreeSet::new(), groups: BTreeSet::from(["S0LABONCAL".to_owned()]) };
    Settings {
        anywhere: Place {
            approvers: Approvers {
                measurement: group.clone(),
                change: group,
                requester: RequesterMay::Measure,
            },
            scope: None,
        },
        channels: BTreeMap::new(),
        freezers: bob,
        limits: Limits::default(),
        ..Settings::default()
    }
}

impl World {
    /// Opens a workspace; every session plays the same script, a turn a line.
    pub(super) async fn new(script: &[String]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("store.redb");
        let store: Arc<dyn Store> =
            Arc::new(EmbeddedStore::open(&file, ghost_agent::store::Settings::default()).unwrap());
        Self {
            slack: Stage::new(quick()).await,
            folder,
            store,
            settings: settings(),
            script: script.to_vec(),
        }
    }

    /// Lets every session play this.
    pub(super) fn plays(mut self, script: &[String]) -> Self {
        self.script = script.to_vec();
        self
    }

    pub(super) fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_string_lossy().into_owned()
    }

    /// Starts a bot that takes signed requests in place of sockets.
    #[expect(clippy::disallowed_methods, reason = "the test owns the server's task and waits for it")]
    pub(super) async fn bot_over_requests(&self) -> Running {
        let application = self.application(Way::Requests).await;
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/slack/events", listener.local_addr().unwrap());
        let secret = self.slack.name("SLACK_SIGNING_SECRET").to_owned();
        let bot = Bot { core: Arc::clone(&application.core), measures: application.vitals.measures.clone() };
        let router = requests(Arc::new(bot), Arc::new(move || Secret::new(&secret)), Arc::new(SystemClock));
        let (cancel, stop) = Cancel::new();
        let (vitals, mut stopped) = (application.vitals.clone(), stop.clone());
        let task = tokio::spawn(async move {
            let serving =
                serve(listener, router, vitals, Patience::default(), async move { stopped.canceled().await });
            let (ended, ()) = tokio::join!(application.run(stop), serving);
            ended.unwrap();
        });
        let answer = self.slack.person("app", json!({"request_url": url})).await;
        assert_eq!(answer.pointer("/transport"), Some(&json!("http")), "{answer}");
        Running { cancel, task }
    }

    /// Starts a bot; several can run side by side.
    #[expect(clippy::disallowed_methods, reason = "the test owns the bot's task and waits for it")]
    pub(super) async fn bot(&self) -> Running {
        let application = self.application(Way::Sockets(SocketSettings::default())).await;
        let (cancel, stop) = Cancel::new();
        let task = tokio::spawn(async move { application.run(stop).await.unwrap() });
        self.until("the bot is connected", async || {
            let state = self.look("state", &[]).await;
            (state.pointer("/apps/0/connected") == Some(&json!(true))).then_some(())
        })
        .await;
        Running { cancel, task }
    }

    pub(super) async fn application(&self, way: Way) -> Application {
        drop(rustls::crypto::ring::default_provider().install_default());
        let token = |name: &str| Secret::new(self.slack.name(name));
        let tokens = FixedTokens { bot: token("SLACK_BOT_TOKEN"), app: token("SLACK_APP_TOKEN") };
        let url = Some(self.slack.name("SLACK_API_URL").to_owned());
        let web = Web::new(WebSettings { url, ..WebSettings::new(Roots::none().unwrap()) }, Arc::new(tokens));
        let identity = web.auth_test().await.unwrap();
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let data = self.folder.path().join("data");
        let audit = data.join("audit");
        let presenter = Arc::new(Presenter::new(
            web.clone(),
            &identity.user,
            Arc::clone(&self.store),
            Arc::clone(&clock),
            Arc::new(move |session| std::fs::read(audit.join(format!("{session}.jsonl"))).ok()),
            Arc::new(Nowhere),
            self.settings.broadcast,
        ));
        let model: Arc<dyn Model> = Arc::new(Scripted::parse(&self.script.join("\n")).unwrap());
        let policy = Arc::new(Policy::builtin().unwrap().clone());
        let core = Arc::new(Core::new(Parts {
            settings: self.settings.clone(),
            store: Arc::clone(&self.store),
            clock: Arc::clone(&clock),
            directory: Directory::new(&web, identity),
            web,
            policy: Arc::clone(&policy),
            brain: model.brain(),
            nonce: Arc::new(|| "0123456789abcdef".to_owned()),
            warnings: Vec::new(),
            trail: Arc::new(|_, _, _| {}),
        }));
        let worker = Worker { engine: self.engine(model, policy, &presenter, &data), most: 16 };
        let sweep = || -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>> { Box::pin(async {}) };
        Application { core, presenter, worker, way, sweep: Arc::new(sweep), vitals: Vitals::default() }
    }

    fn engine(
        &self,
        model: Arc<dyn Model>,
        policy: Arc<Policy>,
        presenter: &Arc<Presenter>,
        data: &Path,
    ) -> Engine {
        let evidence = data.join("evidence");
        let (data, cwd) = (data.to_owned(), self.folder.path().to_owned());
        Engine {
            store: Arc::clone(&self.store),
            clock: Arc::new(SystemClock),
            owner: format!("bot-{:p}", Arc::as_ptr(presenter)),
            ttl: Duration::from_secs(5),
            kitchen: Kitchen {
                model,
                tools: Arc::new(Registry::default()),
                policy,
                evidence: Arc::new(EvidenceFolder::new(evidence)),
                courier: Arc::clone(presenter) as _,
                brake: Arc::new(FlagBrake(Arc::clone(&self.store))),
                prices: Arc::new(|_, _| None),
                site: None,
                shells: Arc::new(move |state, approver: Arc<dyn Approver>| {
                    let shell = Shell::builder(state.session.clone(), &data).approver(approver);
                    let shell = shell.scope(state.opened.scope.clone()).cwd(cwd.clone());
                    shell.build().map_err(|error| error.to_string())
                }),
            },
            watcher: Arc::clone(presenter) as _,
        }
    }

    /// Looks at something as a person.
    pub(super) async fn look(&self, what: &str, query: &[(&str, &str)]) -> Value {
        let url = format!("{}lab/{what}", self.slack.name("SLACK_WORKSPACE_URL"));
        let pairs: Vec<String> = query.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let answer = self.slack.http.get(format!("{url}?{}", pairs.join("&"))).send().await.unwrap();
        answer.json().await.unwrap()
    }

    /// Asks again until there is an answer.
    pub(super) async fn until<T>(&self, what: &str, mut ask: impl AsyncFnMut() -> Option<T>) -> T {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(answer) = ask().await {
                return answer;
            }
            assert!(Instant::now() < deadline, "never: {what}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Mentions the bot in the network channel; returns the root of the thread.
    pub(super) async fn mention(&self, user: &str, text: &str) -> String {
        let said = json!({"user": user, "channel": NETWORK, "text": format!("@Ghost {text}")});
        ts(&self.slack.person("message", said).await)
    }

    /// Says something in a thread.
    pub(super) async fn reply(&self, user: &str, root: &str, text: &str) -> String {
        let said = json!({"user": user, "channel": NETWORK, "thread_ts": root, "text": text});
        ts(&self.slack.person("message", said).await)
    }

    /// Returns the messages of a thread as a person sees them.
    pub(super) async fn thread(&self, user: &str, root: &str) -> Vec<Value> {
        let seen = self.look("thread", &[("user", user), ("channel", NETWORK), ("ts", root)]).await;
        seen.get("messages").and_then(Value::as_array).cloned().unwrap_or_default()
    }

    /// Waits for a message in a thread.
    pub(super) async fn sees(
        &self,
        user: &str,
        root: &str,
        what: &str,
        wanted: impl Fn(&Value) -> bool,
    ) -> Value {
        self.until(what, async || self.thread(user, root).await.into_iter().find(|message| wanted(message)))
            .await
    }

    /// Waits for a message whose text begins so.
    pub(super) async fn reads(&self, user: &str, root: &str, begins: &str) -> Value {
        self.sees(user, root, begins, |message| text(message).starts_with(begins)).await
    }

    /// Waits for the card of an open question.
    pub(super) async fn card(&self, root: &str) -> Value {
        self.sees("bob", root, "an open card", |message| has_button(message, "approve")).await
    }

    /// Presses a button on a message.
    pub(super) async fn press(&self, user: &str, message: &Value, action: &str) -> Value {
        let press = json!({"user": user, "channel": NETWORK, "ts": message["ts"], "action_id": action});
        self.slack.person("press", press).await
    }

    /// Sends a dialog off.
    pub(super) async fn submit(&self, user: &str, view: &Value, values: Value) -> Value {
        self.slack.person("submit", json!({"user": user, "view_id": view["id"], "values": values})).await
    }

    pub(super) async fn fault(&self, fault: Value) {
        let answer = self.slack.person("fault", fault).await;
        assert_eq!(answer.get("ok"), Some(&json!(true)), "{answer}");
    }

    pub(super) async fn end(self) {
        self.slack.end().await;
    }
}

impl Running {
    /// Stops it as an operator does.
    pub(super) async fn stop(self) {
        self.cancel.cancel();
        self.task.await.unwrap();
    }

    /// Stops it as a power cut does.
    pub(super) async fn die(self) {
        self.task.abort();
        drop(self.task.await);
    }
}

/// Brings reports of sessions nowhere that did not begin in Slack.
struct Nowhere;

#[async_trait::async_trait]
impl ghost_agent::session::Courier for Nowhere {
    async fn deliver(&self, _: &ghost_agent::agent::state::State, _: &str) -> Result<String, String> {
        Err("there is no place for it".to_owned())
    }
}

/// Returns the name of a message.
pub(super) fn ts(message: &Value) -> String {
    message.get("ts").and_then(Value::as_str).unwrap_or_else(|| panic!("no message: {message}")).to_owned()
}

pub(super) fn text(message: &Value) -> &str {
    message["text"].as_str().unwrap_or_default()
}

/// Tells whether a message has a button.
pub(super) fn has_button(message: &Value, action: &str) -> bool {
    message["blocks"].to_string().contains(&format!("\"action_id\":\"{action}\""))
}

/// Tells whether a message is one that only its reader sees.
pub(super) fn is_private(message: &Value) -> bool {
    message["is_ephemeral"] == true
}
