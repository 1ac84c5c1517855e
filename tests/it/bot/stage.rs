//! A whole bot beside a local Slack, and people who speak with it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ghost_agent::bot::{
    Application, Approvers, Bot, COMMAND, ChannelRules, Core, CoreServices, Directory, EVENTS, EventSource,
    NoLeftovers, OwnApp, People, Presenter, SCOPES, SLACK, Settings, StoreFreezeCheck, requests,
};
use ghost_agent::http::{Measures, Patience, Vitals, serve};
use ghost_agent::telemetry::{Collector, Exporter};
use ghost_base::{Clock, Secret, SystemClock, Timestamp};
use ghost_investigate::event::Origin;
use ghost_investigate::model::{Model, Scripted};
use ghost_investigate::playbook::Playbook;
use ghost_investigate::state::State;
use ghost_investigate::tool::{Registry, Site};
use ghost_investigate::{Limits, SelfApproval};
use ghost_lab_slack::Timing;
use ghost_session::outside::{OutsideRoom, opened};
use ghost_session::{DeliveryError, Engine, Worker};
use ghost_shell::{Cancel, Policy, Programs, Shell};
use ghost_slack::socket::Settings as SocketSettings;
use ghost_slack::web::{FixedTokens, Roots, Settings as WebSettings, Web};
use ghost_store::{EmbeddedStore, Store};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinHandle;

use super::strict::{Guard, Seen};
use crate::lab::stage::{NETWORK, Stage};
use crate::session::mortal::{Answer, Mortal};
use crate::session::world::{conclude, run, suppose};

/// A local Slack, a folder and a store, which outlive bots.
pub(super) struct World {
    pub(super) slack: Stage,
    pub(super) folder: TempDir,
    pub(super) store: Arc<dyn Store>,
    pub(super) clock: Arc<Ahead>,
    pub(super) settings: Settings,
    /// What somebody looked at.
    pub(super) seen: Mutex<Seen>,
    /// What the bots counted.
    pub(super) counted: Mutex<Vec<Measures>>,
    pub(super) guard: Guard,
    /// Where a bot takes requests.
    pub(super) request_url: Mutex<String>,
    script: Vec<String>,
    /// Who takes traces and metrics, if anybody does.
    pub(super) collector: Option<String>,
}

/// The present moment, moved ahead by hand.
#[derive(Default)]
pub(super) struct Ahead(AtomicI64);

impl Ahead {
    pub(super) fn by(&self, minutes: i64) {
        self.0.fetch_add(minutes * 60_000, Ordering::SeqCst);
    }
}

impl Clock for Ahead {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(SystemClock.now().as_millis() + self.0.load(Ordering::SeqCst))
    }
}

/// How what happens reaches a bot.
#[derive(Debug, Clone, Copy)]
pub(super) enum Over {
    Sockets,
    Requests,
}

/// An acknowledgement may take as long as in Slack, and what was missed comes again at once.
fn timing() -> Timing {
    let retries = [Duration::ZERO, Duration::from_millis(500), Duration::from_secs(1)];
    Timing { retries, drain: Duration::from_secs(2), ..Timing::compressed(1000) }
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
        anywhere: ChannelRules {
            approvers: Approvers {
                measurement: group.clone(),
                outage: group.clone(),
                change: group,
                own: SelfApproval::default(),
            },
            ..ChannelRules::default()
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
        let clock = Arc::new(Ahead::default());
        let kept = ghost_store::Settings::default();
        let store = EmbeddedStore::with_clock(&file, kept, Arc::clone(&clock) as _).unwrap();
        Self::on(folder, Arc::new(store), clock, Stage::new(timing()).await).await.plays(script)
    }

    /// Does so in a workspace that was kept in a folder, with a store of its own.
    pub(super) async fn kept(folder: TempDir, workspace: &Path, store: Arc<dyn Store>) -> Self {
        let slack = Stage::open(timing(), Some(workspace)).await;
        Self::on(folder, store, Arc::default(), slack).await
    }

    async fn on(folder: TempDir, store: Arc<dyn Store>, clock: Arc<Ahead>, slack: Stage) -> Self {
        // The app receives and may do what its manifest says, and no more.
        let app = json!({"events": EVENTS, "scopes": SCOPES, "command": COMMAND});
        let answer = slack.person("app", app).await;
        assert!(answer.get("error").is_none(), "{answer}");
        Self {
            slack,
            folder,
            store,
            clock,
            settings: settings(),
            seen: Mutex::default(),
            counted: Mutex::default(),
            guard: Guard::default(),
            request_url: Mutex::default(),
            script: Vec::new(),
            collector: None,
        }
    }

    /// Opens a workspace in which every session asks once before it runs a command that leaves a line in a file.
    pub(super) async fn asking() -> Self {
        let world = Self::new(&[]).await;
        let command = format!("echo ran | tee -a {}", world.path("ran"));
        world.plays(&[suppose(), run(&command), conclude("REFUTED")])
    }

    /// Lets the app do more than its manifest says, or no more than that.
    pub(super) async fn may_manage(&self, yes: bool) {
        let more = ["channels:manage", "groups:write"];
        let scopes: Vec<&str> = SCOPES.iter().copied().chain(more.into_iter().filter(|_| yes)).collect();
        self.slack.person("app", json!({"scopes": scopes})).await;
    }

    /// Counts how often that command ran.
    pub(super) fn runs(&self) -> usize {
        std::fs::read_to_string(self.path("ran")).map(|text| text.lines().count()).unwrap_or(0)
    }

    /// Lets every session play this.
    pub(super) fn plays(mut self, script: &[String]) -> Self {
        self.script = script.to_vec();
        self
    }

    pub(super) fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_string_lossy().into_owned()
    }

    /// Starts a bot; several can run side by side.
    pub(super) async fn bot(&self) -> Running {
        self.bot_over(Over::Sockets).await
    }

    /// Starts a bot with one source of events or the other.
    pub(super) async fn bot_over(&self, over: Over) -> Running {
        match over {
            Over::Sockets => self.bot_over_sockets().await,
            Over::Requests => self.bot_over_requests().await,
        }
    }

    /// Starts a bot that takes signed requests in place of sockets.
    #[expect(clippy::disallowed_methods, reason = "the test owns the server's task and waits for it")]
    async fn bot_over_requests(&self) -> Running {
        let application = self.application(EventSource::Requests).await;
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/slack/events", listener.local_addr().unwrap());
        let secret = self.slack.name("SLACK_SIGNING_SECRET").to_owned();
        let bot = Bot { core: Arc::clone(&application.core), measures: application.vitals.measures.clone() };
        let router = requests(
            Arc::new(bot),
            OwnApp::default(),
            Arc::new(move || Secret::new(&secret)),
            Arc::new(SystemClock),
        );
        let (cancel, stop) = Cancel::new();
        let (vitals, mut stopped) = (application.vitals.clone(), stop.clone());
        let task = tokio::spawn(async move {
            let serving =
                serve(listener, router, vitals, Patience::default(), async move { stopped.canceled().await });
            let (ended, ()) = tokio::join!(application.run(stop), serving);
            ended.unwrap();
        });
        self.request_url.lock().unwrap().clone_from(&url);
        let answer = self.slack.person("app", json!({"request_url": url})).await;
        assert_eq!(answer.pointer("/transport"), Some(&json!("http")), "{answer}");
        Running { cancel, task }
    }

    async fn bot_over_sockets(&self) -> Running {
        self.connected(self.application(EventSource::Sockets(SocketSettings::default())).await).await
    }

    /// Starts a bot that only takes what people do: its workers reach no store.
    pub(super) async fn listener(&self) -> Running {
        let mut application = self.application(EventSource::Sockets(SocketSettings::default())).await;
        let cut = Mortal::new(Arc::clone(&self.store), |_| Answer::Delivered);
        cut.away(true);
        application.worker.engine.store = Arc::new(cut);
        self.connected(application).await
    }

    /// Starts a bot that hears nothing of people: it goes on with what others took.
    pub(super) async fn driver(&self) -> Running {
        Running::begin(self.application(EventSource::Requests).await)
    }

    async fn connected(&self, application: Application) -> Running {
        let running = Running::begin(application);
        self.until("the bot is connected", async || {
            let state = self.look("state", &[]).await;
            (state.pointer("/apps/0/connected") == Some(&json!(true))).then_some(())
        })
        .await;
        running
    }

    pub(super) async fn application(&self, event_source: EventSource) -> Application {
        drop(rustls::crypto::ring::default_provider().install_default());
        let token = |name: &str| Secret::new(self.slack.name(name));
        let tokens = FixedTokens { bot: token("SLACK_BOT_TOKEN"), app: token("SLACK_APP_TOKEN") };
        let url = Some(self.slack.name("SLACK_API_URL").to_owned());
        let web = Web::new(WebSettings { url, ..WebSettings::new(Roots::none().unwrap()) }, Arc::new(tokens));
        let identity = web.auth_test().await.unwrap();
        let clock: Arc<dyn Clock> = Arc::clone(&self.clock) as _;
        let data = self.folder.path().join("data");
        let audit = data.join("audit");
        let presenter = Presenter::new(
            web.clone(),
            &identity.user,
            Arc::clone(&self.store),
            Arc::clone(&clock),
            Arc::new(move |session| std::fs::read(audit.join(format!("{session}.jsonl"))).ok()),
            Arc::new(Nowhere),
            self.settings.broadcast,
        );
        let modifier = self.settings.anywhere.approvers.own.modifier;
        let rules = self.settings.clone();
        let presenter = presenter
            .decided_by(Arc::new(move |channel| rules.rules(channel).map(|rules| rules.approvers.clone())));
        let presenter = Arc::new(presenter.modifier_may_approve(modifier));
        // Machines are read by the playbook, by words that the configuration has.
        let (model, policy): (Arc<dyn Model>, _) = match self.reads_machines() {
            true => (Arc::new(Playbook), Policy::builtin().unwrap().clone().carried_here()),
            false => (
                Arc::new(Scripted::parse(&self.script.join("\n")).unwrap()),
                Policy::builtin().unwrap().clone(),
            ),
        };
        let policy = Arc::new(policy);
        let engine = self.engine(Arc::clone(&model), Arc::clone(&policy), &presenter, &data);
        let core = Arc::new(Core::new(CoreServices {
            settings: self.settings.clone(),
            store: Arc::clone(&self.store),
            clock: Arc::clone(&clock),
            directory: Directory::new(&web, identity),
            web,
            policy,
            open_shell: Arc::clone(&engine.open_shell),
            evidence: Arc::clone(&engine.evidence),
            tools: Arc::clone(&engine.tools),
            investigator: model.investigator(),
            nonce: Arc::new(|| "0123456789abcdef".to_owned()),
            warnings: Vec::new(),
            checks: Arc::new(|| {
                Box::pin(async {
                    vec!["✔ store: answers".to_owned(), "✘ model: no key. Set one".to_owned()]
                })
            }),
            leftovers: Arc::new(NoLeftovers),
            trail: Arc::new(|_, _, _| {}),
        }));
        let worker = Worker { engine, max_sessions: 16 };
        let sweep = || -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>> { Box::pin(async {}) };
        let vitals = Vitals::default();
        self.counted.lock().unwrap().push(vitals.measures.clone());
        let telemetry = self.collector.as_deref().map(|url| {
            let collector = Collector::new(url, Some(Secret::new("collector-token"))).unwrap();
            Exporter::new(collector, "replica-1", Some(Duration::from_millis(200)), Arc::clone(&clock))
        });
        Application { core, presenter, worker, event_source, sweep: Arc::new(sweep), vitals, telemetry }
    }

    fn engine(
        &self,
        model: Arc<dyn Model>,
        policy: Arc<Policy>,
        presenter: &Arc<Presenter>,
        data: &Path,
    ) -> Engine {
        let (data, cwd) = (data.to_owned(), self.folder.path().to_owned());
        // Where a test puts an `az` of its own, that is the one.
        let az = [("az".to_owned(), cwd.join("az"))].into_iter().filter(|(_, path)| path.exists());
        let programs = Programs::new(az.collect()).unwrap();
        let begun = Engine::builder(Arc::clone(&self.store), model, Arc::clone(&policy), &data);
        let begun = if self.reads_machines() { begun.tools(Registry::with(Site::default())) } else { begun };
        begun
            .clock(Arc::clone(&self.clock) as _)
            .lease_ttl(Duration::from_secs(5))
            .delivery(Arc::clone(presenter) as _)
            .open_outside({
                let room = OutsideRoom {
                    origin: Some(Origin {
                        place: SLACK.to_owned(),
                        team: None,
                        channel: Some(NETWORK.to_owned()),
                        thread: None,
                    }),
                    scope: None,
                    limits: self.settings.limits,
                    surroundings: self.settings.surroundings.clone(),
                };
                move |asked| opened(&room, asked, "0123456789abcdef".to_owned())
            })
            .freeze(Arc::new(StoreFreezeCheck(Arc::clone(&self.store))))
            .observer(Arc::clone(presenter) as _)
            .open_shell({
                let data = data.clone();
                move |state: &State| {
                    let shell = Shell::builder(state.session.clone(), &data).policy(Arc::clone(&policy));
                    Ok(shell.scope(state.opened.scope.clone()).cwd(cwd.clone()).programs(programs.clone()))
                }
            })
            .build(format!("bot-{:p}", Arc::as_ptr(presenter)))
    }
}

impl World {
    fn reads_machines(&self) -> bool {
        !self.settings.anywhere.hosts.is_empty()
    }

    /// Holds a conversation with one bot, and checks what is left of it.
    pub(super) async fn talk(self, talk: impl AsyncFnOnce(&Self)) {
        self.talk_over(Over::Sockets, talk).await;
    }

    pub(super) async fn talk_over(self, over: Over, talk: impl AsyncFnOnce(&Self)) {
        let bot = self.bot_over(over).await;
        talk(&self).await;
        bot.stop().await;
        self.end().await;
    }
}

impl Running {
    #[expect(clippy::disallowed_methods, reason = "the test owns the bot's task and waits for it")]
    fn begin(application: Application) -> Self {
        let (cancel, stop) = Cancel::new();
        let task = tokio::spawn(async move { application.run(stop).await.unwrap() });
        Self { cancel, task }
    }

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
impl ghost_session::ReportDelivery for Nowhere {
    async fn deliver(&self, _: &ghost_investigate::state::State, _: &str) -> Result<String, DeliveryError> {
        Err(DeliveryError::Nowhere)
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

/// A session that reads once and ends.
pub(super) fn look_once() -> Vec<String> {
    vec![suppose(), run("cat /proc/net/dev"), conclude("REFUTED")]
}

/// Tells whether a message is one that only its reader sees.
pub(super) fn is_private(message: &Value) -> bool {
    message["is_ephemeral"] == true
}
