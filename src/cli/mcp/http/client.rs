//! Clients that come over HTTP: each has sessions, files and a store of its own, and knows of no other.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::sync::Semaphore;

use super::limit::RateLimit;
use crate::cli::mcp::server::Server;
use ghost_base::{Clock as _, SystemClock};

/// So many clients are served by one process.
const MAX_CLIENTS: usize = 512;

/// So many sessions of the protocol has a client at once.
pub(super) const MAX_SESSIONS: usize = 128;

/// So many requests of a client are answered at once, streams included: no client takes all connections.
const MAX_OPEN: usize = 64;

/// A session in which nothing happens ends after so long.
const SESSION_IDLE: Duration = Duration::from_secs(2 * 3_600);

/// Makes the server of a client.
pub(super) type Make = dyn Fn(&str) -> anyhow::Result<Server> + Send + Sync;

/// A client, and the sessions of the protocol that it has. Their names are random, and none of another client's is known here.
pub(super) struct Client {
    /// Answers its requests.
    pub(super) service: StreamableHttpService<Server, LocalSessionManager>,
    /// How much it may ask for.
    pub(super) limit: RateLimit,
    /// Whoever is answered holds one of these.
    pub(super) open: Arc<Semaphore>,
    sessions: Arc<LocalSessionManager>,
    server: Server,
}

impl Client {
    /// Tells whether it may begin another session.
    pub(super) async fn has_room(&self) -> bool {
        self.sessions.sessions.read().await.len() < MAX_SESSIONS
    }
}

/// All clients of this process.
pub(super) struct Clients {
    make: Box<Make>,
    config: StreamableHttpServerConfig,
    per_minute: u32,
    all: Mutex<HashMap<String, Arc<Client>>>,
}

impl Clients {
    /// Begins without any.
    pub(super) fn new(make: Box<Make>, config: StreamableHttpServerConfig, per_minute: u32) -> Self {
        Self { make, config, per_minute, all: Mutex::default() }
    }

    /// Returns a client, who is known from here on.
    pub(super) fn get(&self, name: &str) -> anyhow::Result<Arc<Client>> {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = all.get(name) {
            return Ok(Arc::clone(client));
        }
        if self.config.cancellation_token.is_cancelled() {
            anyhow::bail!("the server ends");
        }
        if all.len() >= MAX_CLIENTS {
            anyhow::bail!("{MAX_CLIENTS} clients are served already");
        }
        let server = (self.make)(name)?;
        let mut manager = LocalSessionManager::default();
        let mut session = SessionConfig::default();
        session.keep_alive = Some(SESSION_IDLE);
        manager.session_config = session;
        let sessions = Arc::new(manager);
        let each = server.clone();
        let service =
            StreamableHttpService::new(move || Ok(each.clone()), Arc::clone(&sessions), self.config.clone());
        let client = Arc::new(Client {
            service,
            limit: RateLimit::new(self.per_minute, SystemClock.now()),
            open: Arc::new(Semaphore::new(MAX_OPEN)),
            sessions,
            server,
        });
        all.insert(name.to_owned(), Arc::clone(&client));
        Ok(client)
    }

    /// Ends every session, stops what runs, and lets what can go on later pause.
    pub(super) async fn leave(&self) {
        self.config.cancellation_token.cancel();
        let all: Vec<_> = {
            let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
            all.drain().map(|(_, client)| client).collect()
        };
        futures_util::future::join_all(all.iter().map(|client| client.server.leave())).await;
    }
}
