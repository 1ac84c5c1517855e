//! A workspace that listens, an app's connection, and a person's calls.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use ghost_base::SystemClock;
use ghost_lab_slack::{Settings, Timing, Workspace};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

pub(crate) const NETWORK: &str = "C0LAB0NETW";

/// Times short enough for a test that waits for a missed acknowledgement.
pub(crate) fn quick() -> Timing {
    Timing {
        acknowledge: Duration::from_millis(200),
        retries: [Duration::ZERO; 3],
        view: Duration::from_secs(3),
        ..Timing::compressed(1000)
    }
}

/// A workspace that listens.
pub(crate) struct Stage {
    names: HashMap<&'static str, String>,
    pub(crate) http: reqwest::Client,
    stop: oneshot::Sender<()>,
    served: JoinHandle<()>,
}

impl Stage {
    pub(crate) async fn new(timing: Timing) -> Self {
        Self::open(timing, None).await
    }

    #[expect(clippy::disallowed_methods, reason = "the test owns the server's task and waits for it")]
    pub(crate) async fn open(timing: Timing, folder: Option<&Path>) -> Self {
        let settings =
            Settings { port: 0, folder: folder.map(Path::to_owned), timing, clock: Arc::new(SystemClock) };
        let workspace = Workspace::open(settings).await.unwrap();
        let names = workspace.exports().into_iter().collect();
        let (stop, stopped) = oneshot::channel::<()>();
        let served =
            tokio::spawn(async move { workspace.serve(async { drop(stopped.await) }).await.unwrap() });
        let http = reqwest::Client::builder().no_proxy().tls_certs_only([]).build().unwrap();
        Self { names, http, stop, served }
    }

    pub(crate) fn name(&self, name: &str) -> &str {
        self.names.get(name).unwrap()
    }

    pub(crate) async fn end(self) {
        self.stop.send(()).unwrap();
        self.served.await.unwrap();
    }

    /// Calls a method of the Web API.
    pub(crate) async fn api(&self, method: &str, args: Value) -> Value {
        let token = if method.starts_with("apps.") { "SLACK_APP_TOKEN" } else { "SLACK_BOT_TOKEN" };
        let request = self.http.post(format!("{}{method}", self.name("SLACK_API_URL"))).json(&args);
        request.bearer_auth(self.name(token)).send().await.unwrap().json().await.unwrap()
    }

    /// Does something as a person.
    pub(crate) async fn person(&self, act: &str, args: Value) -> Value {
        let request = self.http.post(format!("{}lab/{act}", self.name("SLACK_WORKSPACE_URL")));
        request.json(&args).send().await.unwrap().json().await.unwrap()
    }

    pub(crate) async fn says(&self, user: &str, text: &str) -> Value {
        self.person("message", json!({"user": user, "channel": NETWORK, "text": text}))
            .await
            .get("ts")
            .unwrap()
            .clone()
    }

    pub(crate) async fn connect(&self) -> Socket {
        self.connect_as(self.name("SLACK_APP_TOKEN")).await
    }

    /// Connects as the app of a token.
    pub(crate) async fn connect_as(&self, token: &str) -> Socket {
        let request = self.http.post(format!("{}apps.connections.open", self.name("SLACK_API_URL")));
        let open: Value = request.bearer_auth(token).send().await.unwrap().json().await.unwrap();
        let (stream, _) = connect_async(open.get("url").and_then(Value::as_str).unwrap()).await.unwrap();
        Socket(stream)
    }
}

/// A connection of the app.
pub(crate) struct Socket(WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Socket {
    /// Returns the next frame that is not a ping; nothing where the connection ended.
    pub(crate) async fn frame(&mut self) -> Option<Value> {
        loop {
            match self.0.next().await? {
                Ok(Message::Text(text)) => return Some(serde_json::from_str(&text).unwrap()),
                Ok(Message::Close(_)) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }

    pub(crate) async fn next(&mut self) -> Value {
        self.frame().await.unwrap()
    }

    /// Closes the connection; returns whether the other end closed too, as two ends should.
    pub(crate) async fn leave(mut self) -> bool {
        self.0.send(Message::Close(None)).await.unwrap();
        loop {
            match self.0.next().await {
                Some(Ok(Message::Close(_))) => return true,
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return false,
            }
        }
    }

    pub(crate) async fn acknowledge(&mut self, envelope: &Value, payload: Value) {
        let frame = json!({"envelope_id": envelope.get("envelope_id"), "payload": payload}).to_string();
        self.0.send(Message::text(frame)).await.unwrap();
    }
}
