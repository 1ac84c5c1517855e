//! A workspace that listens, and an app that is connected to it.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use ghost_base::{Secret, SystemClock};
use ghost_lab_slack::{Settings as Lab, Timing, Workspace};
use ghost_slack::arrive::{Arrival, What};
use ghost_slack::socket::{Answer, Handler, Settings, Socket, SocketError, Watch};
use ghost_slack::web::{FixedTokens, Roots, Settings as WebSettings, Web};
use serde_json::{Value, json};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

pub(super) const NETWORK: &str = "C0LAB0NETW";

/// Times short enough for a test that waits for a missed acknowledgement.
pub(super) fn quick() -> Timing {
    Timing {
        acknowledge: Duration::from_millis(400),
        retries: [Duration::from_millis(100), Duration::from_secs(1), Duration::from_secs(10)],
        view: Duration::from_secs(3),
        ..Timing::compressed(1000)
    }
}

/// Connections that give up early and come back at once.
pub(super) fn eager() -> Settings {
    Settings {
        first_pause: Duration::from_millis(20),
        longest_pause: Duration::from_millis(500),
        ..Settings::default()
    }
}

/// A workspace that listens.
pub(super) struct Stage {
    names: HashMap<&'static str, String>,
    pub(super) http: reqwest::Client,
    pub(super) port: u16,
    stop: oneshot::Sender<()>,
    served: JoinHandle<()>,
}

impl Stage {
    pub(super) async fn new() -> Self {
        Self::with(quick()).await
    }

    pub(super) async fn with(timing: Timing) -> Self {
        Self::open(timing, 0, None).await
    }

    #[expect(clippy::disallowed_methods, reason = "the test owns the server's task and waits for it")]
    pub(super) async fn open(timing: Timing, port: u16, folder: Option<&Path>) -> Self {
        let clock = Arc::new(SystemClock);
        let settings = Lab { port, folder: folder.map(Path::to_owned), timing, clock };
        // It installs the provider of cryptography, too, as the program itself does first thing.
        let workspace = Workspace::open(settings).await.unwrap();
        let names = workspace.exports().into_iter().collect();
        let port = workspace.address().port();
        let (stop, stopped) = oneshot::channel::<()>();
        let served =
            tokio::spawn(async move { workspace.serve(async { drop(stopped.await) }).await.unwrap() });
        let http = reqwest::Client::builder().no_proxy().tls_certs_only([]).build().unwrap();
        Self { names, http, port, stop, served }
    }

    pub(super) fn name(&self, name: &str) -> &str {
        self.names.get(name).unwrap()
    }

    pub(super) async fn end(self) {
        self.stop.send(()).unwrap();
        self.served.await.unwrap();
    }

    pub(super) fn tokens(&self) -> FixedTokens {
        let secret = |name| Secret::new(self.name(name));
        FixedTokens { bot: secret("SLACK_BOT_TOKEN"), app: secret("SLACK_APP_TOKEN") }
    }

    pub(super) fn web_with(&self, tokens: FixedTokens) -> Web {
        let mut settings = WebSettings::new(Roots::none().unwrap());
        settings.url = Some(self.name("SLACK_API_URL").to_owned());
        Web::new(settings, Arc::new(tokens))
    }

    pub(super) fn web(&self) -> Web {
        self.web_with(self.tokens())
    }

    /// Does something as a person.
    pub(super) async fn person(&self, act: &str, args: Value) -> Value {
        let request = self.http.post(format!("{}lab/{act}", self.name("SLACK_WORKSPACE_URL")));
        request.json(&args).send().await.unwrap().json().await.unwrap()
    }

    pub(super) async fn look(&self, what: &str) -> Value {
        let request = self.http.get(format!("{}lab/{what}", self.name("SLACK_WORKSPACE_URL")));
        request.send().await.unwrap().json().await.unwrap()
    }

    pub(super) async fn fault(&self, args: Value) {
        assert_eq!(self.person("fault", args).await.get("ok"), Some(&json!(true)));
    }

    /// Somebody writes to the app alone.
    pub(super) async fn whispers(&self, text: &str) {
        let said = self.person("message", json!({"user": "alice", "channel": "@ghost", "text": text})).await;
        assert_eq!(said.get("ok"), Some(&json!(true)), "{said}");
    }
}

/// An app that is connected.
pub(super) struct App {
    pub(super) watch: Arc<Watch>,
    stop: oneshot::Sender<()>,
    ran: JoinHandle<Result<(), SocketError>>,
}

impl App {
    pub(super) async fn connect(stage: &Stage, handler: Arc<dyn Handler>, settings: Settings) -> Self {
        let connections = settings.connections;
        let app = Self::run(Socket::new(&stage.web(), handler, settings));
        app.watch.until(|counts| counts.connected == connections).await;
        app
    }

    #[expect(clippy::disallowed_methods, reason = "the test owns the connections' task and waits for it")]
    pub(super) fn run(socket: Socket) -> Self {
        let watch = socket.watch();
        let (stop, stopped) = oneshot::channel::<()>();
        let ran = tokio::spawn(socket.run(async { drop(stopped.await) }));
        Self { watch, stop, ran }
    }

    /// Asks it to stop; it does so when its handlers have ended.
    pub(super) fn stopping(self) -> JoinHandle<Result<(), SocketError>> {
        self.stop.send(()).unwrap();
        self.ran
    }

    pub(super) async fn end(self) {
        self.stopping().await.unwrap().unwrap();
    }

    /// Waits until it ends by itself.
    pub(super) async fn fails(self) -> SocketError {
        self.ran.await.unwrap().unwrap_err()
    }
}

type Replies = dyn FnMut(&Arrival) -> Answer + Send;

/// A handler that keeps what arrives, and does with it what the test says.
pub(super) struct Taken {
    all: watch::Sender<Vec<Arrival>>,
    answer: Mutex<Box<Replies>>,
    /// What says this waits for the gate.
    held: Option<&'static str>,
    pub(super) gate: watch::Sender<bool>,
}

impl Taken {
    pub(super) fn all() -> Arc<Self> {
        Self::answering(None, |_| Answer::Done)
    }

    pub(super) fn holding(text: &'static str) -> Arc<Self> {
        Self::answering(Some(text), |_| Answer::Done)
    }

    pub(super) fn answering(
        held: Option<&'static str>,
        answer: impl FnMut(&Arrival) -> Answer + Send + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            all: watch::Sender::new(Vec::new()),
            answer: Mutex::new(Box::new(answer)),
            held,
            gate: watch::Sender::new(false),
        })
    }

    /// Waits until what arrived is as wanted; returns it.
    pub(super) async fn until(&self, wanted: impl FnMut(&Vec<Arrival>) -> bool) -> Vec<Arrival> {
        self.all.subscribe().wait_for(wanted).await.unwrap().clone()
    }
}

#[async_trait]
impl Handler for Taken {
    async fn take(&self, arrival: Arrival) -> Answer {
        let holds = self.held.is_some_and(|text| said(&arrival).contains(text));
        self.all.send_modify(|all| all.push(arrival.clone()));
        if holds {
            drop(self.gate.subscribe().wait_for(|open| *open).await);
        }
        // A test may want it to panic.
        let mut answer = self.answer.lock().unwrap_or_else(PoisonError::into_inner);
        answer(&arrival)
    }
}

/// What an arrival says in words.
pub(super) fn said(arrival: &Arrival) -> String {
    if let What::Mention(words) | What::Message(words) = &arrival.what {
        return words.text.clone();
    }
    if let What::Command(command) = &arrival.what {
        return command.text.clone();
    }
    let What::Press(press) = &arrival.what else { return String::new() };
    press.action.value.clone().unwrap_or_default()
}

/// Posts a card with one button and returns its name.
pub(super) async fn card(stage: &Stage, value: &str) -> String {
    use ghost_slack::block::{Button, actions};
    use ghost_slack::web::{Address, Message};
    let blocks = vec![actions("card", vec![Button::new("approve", "Approve", value)])];
    let message = Message::text("Approval needed").with_blocks(blocks);
    stage.web().post(&Address::channel(NETWORK), &message).await.unwrap().ts
}

/// Somebody presses the card's button; returns whether it was acknowledged, or why not.
pub(super) async fn press(stage: &Stage, ts: &str) -> Value {
    let press = json!({"user": "bob", "channel": NETWORK, "ts": ts, "action_id": "approve", "wait_ms": 0});
    stage.person("press", press).await
}
