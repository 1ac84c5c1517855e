//! All connections together.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use tokio::sync::{Mutex, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::arrive::Arrival;
use crate::socket::error::SocketError;
use crate::socket::open::Shared;
use crate::socket::slot::keep;
use crate::socket::watch::Watch;
use crate::web::{CallError, Roots, Web};

/// The connections of Socket Mode.
pub struct Socket {
    opener: Arc<dyn Opener>,
    roots: Roots,
    handler: Arc<dyn Handler>,
    settings: Settings,
    watch: Arc<Watch>,
}

impl Socket {
    /// Prepares connections that are opened through the Web API.
    #[must_use]
    pub fn new(web: &Web, handler: Arc<dyn Handler>, settings: Settings) -> Self {
        Self::with_opener(Arc::new(web.clone()), web.roots().clone(), handler, settings)
    }

    /// Prepares connections that are opened by somebody else.
    #[must_use]
    pub fn with_opener(
        opener: Arc<dyn Opener>,
        roots: Roots,
        handler: Arc<dyn Handler>,
        settings: Settings,
    ) -> Self {
        Self { opener, roots, handler, settings, watch: Arc::new(Watch::default()) }
    }

    /// Returns what can be seen of the connections, also while they stand.
    #[must_use]
    pub fn watch(&self) -> Arc<Watch> {
        Arc::clone(&self.watch)
    }

    /// Keeps the connections until `stop` is ready. Then nothing more is read, handlers that were begun may end and are
    /// acknowledged, and the connections are closed. Dropping the future instead cuts them off.
    ///
    /// # Errors
    /// Fails where Slack will not have us before somebody changes something.
    pub async fn run(self, stop: impl Future<Output = ()> + Send) -> Result<(), SocketError> {
        let Self { opener, roots, handler, settings, watch } = self;
        let connections = settings.connections.max(1);
        let gate = Mutex::new(Instant::now());
        let shared = Arc::new(Shared {
            opener,
            roots,
            handler,
            settings,
            watch,
            stop: watch::Sender::new(false),
            gate,
        });
        let mut slots = JoinSet::new();
        for _ in 0..connections {
            slots.spawn(keep(Arc::clone(&shared)));
        }
        let mut ended = tokio::select! {
            () = stop => Ok(()),
            // A slot ends by itself only for good.
            slot = slots.join_next() => outcome(slot),
        };
        shared.stop.send_replace(true);
        while let Some(slot) = slots.join_next().await {
            ended = ended.and(outcome(Some(slot)));
        }
        ended
    }
}

fn outcome(slot: Option<Result<Result<(), SocketError>, tokio::task::JoinError>>) -> Result<(), SocketError> {
    match slot {
        Some(Ok(ended)) => ended,
        Some(Err(_)) => Err(SocketError::Broken),
        None => Ok(()),
    }
}

/// The acknowledgement of an arrival.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// It is safe with us: Slack may forget it.
    Done,
    /// It is safe with us, and this is the answer: what is wrong with a form, for instance. Arrivals that take no answer are
    /// acknowledged without one.
    With(Value),
    /// It is not: Slack may send it again. Events come again, clicks as a rule do not.
    Refuse,
}

/// Takes what arrives.
#[async_trait]
pub trait Handler: Send + Sync {
    /// Takes one arrival. What arrives over one connection is begun in its order; then many run side by side. Slack waits for
    /// three seconds, so that this should end as soon as the arrival is durable. A panic counts as [`Answer::Refuse`].
    async fn take(&self, arrival: Arrival) -> Answer;
}

/// Opens sockets.
#[async_trait]
pub trait Opener: Send + Sync {
    /// Returns the address of a new socket.
    ///
    /// # Errors
    /// Fails where Slack refuses or cannot be reached.
    async fn open(&self) -> Result<String, CallError>;
}

#[async_trait]
impl Opener for Web {
    async fn open(&self) -> Result<String, CallError> {
        self.connections_open().await
    }
}

/// How connections are kept.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How many connections; Slack allows ten for each app, over all replicas.
    pub connections: usize,
    /// How long opening may take, until Slack says hello.
    pub handshake: Duration,
    /// How often a connection is pinged.
    pub ping: Duration,
    /// After how long without a sign of life a connection counts as dead.
    pub silence: Duration,
    /// How long an old connection is still read when a new one stands in its place.
    pub drain: Duration,
    /// How long handlers may take to end when everything stops.
    pub farewell: Duration,
    /// The first pause between attempts; each is twice as long as the one before.
    pub first_pause: Duration,
    /// The longest pause between attempts.
    pub longest_pause: Duration,
    /// After how long a connection counts as a good one, so that the next attempt needs no pause.
    pub settled: Duration,
    /// How many handlers may run at once; what comes beyond is refused, so that Slack sends it again.
    pub at_once: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            connections: 2,
            handshake: Duration::from_secs(10),
            ping: Duration::from_secs(10),
            silence: Duration::from_secs(30),
            drain: Duration::from_secs(15),
            farewell: Duration::from_secs(10),
            first_pause: Duration::from_millis(200),
            longest_pause: Duration::from_secs(30),
            settled: Duration::from_secs(20),
            at_once: 4096,
        }
    }
}
