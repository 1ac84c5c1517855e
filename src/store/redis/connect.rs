//! The connection: how it is made, how long it waits, and what its errors mean.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{Client, Cmd, FromRedisValue, RedisError, ScriptInvocation};
use tokio::sync::Notify;

use crate::base::SessionId;
use crate::store::redis::key::Keys;
use crate::store::redis::script::Scripts;
use crate::store::settings::millis;
use crate::store::{Settings, StoreError};

/// The format of the keys.
const FORMAT: u64 = 1;

/// Where the server is and how long to wait for it.
#[derive(Clone)]
pub struct Place {
    /// `redis://user:password@host:port/database`.
    pub url: String,
    /// What all keys begin with.
    pub prefix: String,
    /// How long an answer may take.
    pub answer: Duration,
    /// How long a connection may take to be made.
    pub connect: Duration,
}

impl Place {
    /// Names a server, with two seconds for an answer and for a connection.
    #[must_use]
    pub fn new(url: impl Into<String>, prefix: impl Into<String>) -> Self {
        let second = Duration::from_secs(1);
        Self { url: url.into(), prefix: prefix.into(), answer: 2 * second, connect: 2 * second }
    }
}

/// Prints no address: it may hold a password.
impl fmt::Debug for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Place").field("prefix", &self.prefix).finish_non_exhaustive()
    }
}

/// The Redis backend. Clones share one connection, which is made again whenever it breaks.
#[derive(Clone)]
pub struct Store {
    connection: ConnectionManager,
    pub(super) keys: Arc<Keys>,
    pub(super) scripts: Arc<Scripts>,
    pub(super) settings: Settings,
    pub(super) wake: Arc<Notify>,
}

impl Store {
    /// Connects, and refuses what was written by a later version of this program.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] where nobody answers in time.
    pub async fn connect(place: &Place, settings: Settings) -> Result<Self, StoreError> {
        let keys = Keys::new(&place.prefix)?;
        let client = Client::open(place.url.as_str()).map_err(unavailable)?;
        let config = ConnectionManagerConfig::new()
            .set_response_timeout(Some(place.answer))
            .set_connection_timeout(Some(place.connect))
            .set_min_delay(Duration::from_millis(50))
            .set_max_delay(Duration::from_secs(1))
            .set_number_of_retries(2);
        let connection = ConnectionManager::new_with_config(client, config).await.map_err(unavailable)?;
        let (keys, scripts) = (Arc::new(keys), Arc::new(Scripts::new()));
        let store = Self { connection, keys, scripts, settings, wake: Arc::new(Notify::new()) };
        let format = store.keys.format();
        store.ask::<()>(redis::cmd("SET").arg(&format).arg(FORMAT).arg("NX")).await?;
        let found: u64 = store.ask(redis::cmd("GET").arg(&format)).await?;
        if found > FORMAT {
            return Err(StoreError::Newer { found, known: FORMAT });
        }
        Ok(store)
    }

    /// Sends one command.
    pub(super) async fn ask<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, StoreError> {
        command.query_async(&mut self.connection.clone()).await.map_err(unavailable)
    }

    /// Runs one script, by its digest where the server knows it.
    pub(super) async fn run<T: FromRedisValue>(
        &self,
        script: &ScriptInvocation<'_>,
    ) -> Result<T, StoreError> {
        script.invoke_async(&mut self.connection.clone()).await.map_err(unavailable)
    }

    /// Puts a session into the index, to be looked at no later than `within` from now.
    pub(super) async fn mark(&self, session: &SessionId, within: Duration) -> Result<(), StoreError> {
        self.index(session, within, "LT").await
    }

    /// Puts a session into the index, to be looked at no sooner than `within` from now.
    pub(super) async fn postpone(&self, session: &SessionId, within: Duration) -> Result<(), StoreError> {
        self.index(session, within, "GT").await
    }

    async fn index(&self, session: &SessionId, within: Duration, which: &str) -> Result<(), StoreError> {
        let mut script = self.scripts.mark.prepare_invoke();
        script.key(self.keys.work()).key(self.keys.sessions());
        script.arg(session.as_str()).arg(millis(within)).arg(which);
        self.run(&script).await
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Store").field("settings", &self.settings).finish_non_exhaustive()
    }
}

fn unavailable(error: RedisError) -> StoreError {
    let hint = if error.is_timeout() {
        "Redis did not answer in time; is it busy or paused?"
    } else if error.is_io_error() {
        "Redis cannot be reached; is it running, and is the address right?"
    } else {
        "Redis refused; its message says why"
    };
    StoreError::unavailable(error, hint)
}
