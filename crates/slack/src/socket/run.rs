//! All connections together.

use std::sync::Arc;

use tokio::sync::{Mutex, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::socket::error::SocketError;
use crate::socket::open::Shared;
use crate::socket::port::{Handler, Opener};
use crate::socket::settings::Settings;
use crate::socket::slot::keep;
use crate::socket::watch::Watch;
use crate::web::{Roots, Web};

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
