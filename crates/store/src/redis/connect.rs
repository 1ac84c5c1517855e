//! The connection: how it is made, how long it waits, and what its errors mean.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use redis::{Cmd, ErrorKind, FromRedisValue, RedisError, ScriptInvocation};
use tokio::sync::Notify;

use crate::redis::address::Address;
use crate::redis::config::RedisConfig;
use crate::redis::key::Keys;
use crate::redis::script::Scripts;
use crate::redis::wire::Wire;
use crate::settings::millis;
use crate::{Settings, StoreError, WriteRefusal};
use ghost_base::SessionId;

/// The format of the keys.
const FORMAT: u64 = 1;

/// The Redis backend. Clones share one connection, which is made again whenever it breaks.
#[derive(Clone)]
pub struct Store {
    wire: Wire,
    pub(super) keys: Arc<Keys>,
    pub(super) scripts: Arc<Scripts>,
    pub(super) settings: Settings,
    pub(super) wake: Arc<Notify>,
}

impl Store {
    /// Connects, and refuses what was written by a later version of this program.
    ///
    /// # Errors
    /// [`StoreError::Address`] where the address cannot be read, [`StoreError::Unavailable`] where nobody answers in time.
    pub async fn connect(config: &RedisConfig, settings: Settings) -> Result<Self, StoreError> {
        let keys = Keys::new(&config.prefix)?;
        let address = Address::parse(config)?;
        let wire = Wire::open(address, config).await.map_err(unavailable)?;
        let (keys, scripts) = (Arc::new(keys), Arc::new(Scripts::new()));
        let store = Self { wire, keys, scripts, settings, wake: Arc::new(Notify::new()) };
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
        command.query_async(&mut self.wire.clone()).await.map_err(unavailable)
    }

    /// Runs one script, by its digest where the server knows it.
    pub(super) async fn run<T: FromRedisValue>(
        &self,
        script: &ScriptInvocation<'_>,
    ) -> Result<T, StoreError> {
        script.invoke_async(&mut self.wire.clone()).await.map_err(unavailable)
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
    if let Some(refusal) = error.code().and_then(WriteRefusal::from_code) {
        return StoreError::refused(error, refusal);
    }
    let hint = if error.kind() == ErrorKind::MasterNameNotFoundBySentinel {
        "no sentinel knows a living master of that name; is the name right, or is a failover going on?"
    } else if error.kind() == ErrorKind::AuthenticationFailed {
        "Redis does not accept the password"
    } else if error.kind() == ErrorKind::Parse {
        "what answers there is no Redis, or it speaks TLS and the address does not begin with rediss://"
    } else if error.is_timeout() {
        "Redis did not answer in time; is it busy or paused?"
    } else if error.is_io_error() {
        "Redis cannot be reached; is it running, and is the address right?"
    } else {
        return StoreError::unavailable_with_message(error);
    };
    StoreError::unavailable(error, hint)
}
