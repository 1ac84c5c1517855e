//! The server that sentinels call master, asked for again whenever the last one did not do.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use redis::aio::{ConnectionLike, MultiplexedConnection};
use redis::sentinel::{SentinelClient, SentinelNodeConnectionInfo, SentinelServerType};
use redis::{
    Arg, AsyncConnectionConfig, Cmd, ConnectionInfo, ErrorKind, Pipeline, RedisConnectionInfo, RedisError,
    RedisFuture, RedisResult, Value,
};
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::redis::config::RedisConfig;
use crate::settings::millis;

/// A master and those who watch it.
#[derive(Clone)]
pub(super) struct Watched {
    state: Arc<Mutex<State>>,
    config: AsyncConnectionConfig,
    patience: Duration,
    database: i64,
    /// How many replicas have to have a write, and for how long they are waited for.
    replicas: u32,
    lag: Duration,
}

struct State {
    sentinels: SentinelClient,
    /// The connection to the last master, and how many there were before.
    master: Option<MultiplexedConnection>,
    number: u64,
}

impl Watched {
    /// Asks who the master is, and connects to it.
    pub(super) async fn connect(
        sentinels: Vec<ConnectionInfo>,
        service: String,
        login: RedisConnectionInfo,
        servers: &RedisConfig,
    ) -> RedisResult<Self> {
        let database = login.db();
        let node = SentinelNodeConnectionInfo::default().set_redis_connection_info(login);
        let sentinels = SentinelClient::build(sentinels, service, Some(node), SentinelServerType::Master)?;
        let config = AsyncConnectionConfig::new()
            .set_response_timeout(Some(servers.answer))
            .set_connection_timeout(Some(servers.connect));
        let state = State { sentinels, master: None, number: 0 };
        let watched = Self {
            state: Arc::new(Mutex::new(state)),
            config,
            patience: servers.answer + servers.connect,
            database,
            replicas: servers.replicas,
            lag: servers.answer / 2,
        };
        watched.master().await?;
        Ok(watched)
    }

    /// Returns the connection to the master, and its number.
    async fn master(&self) -> RedisResult<(MultiplexedConnection, u64)> {
        let find = async {
            let mut state = self.state.lock().await;
            if let Some(master) = &state.master {
                return Ok((master.clone(), state.number));
            }
            let client = state.sentinels.async_get_client().await?;
            let master = client.get_multiplexed_async_connection_with_config(&self.config).await?;
            state.number += 1;
            state.master = Some(master.clone());
            Ok((master, state.number))
        };
        let late = |_| Err(RedisError::from(io::Error::from(io::ErrorKind::TimedOut)));
        timeout(self.patience, find).await.unwrap_or_else(late)
    }

    /// Sends a command, and waits on the same connection until enough replicas have what it wrote.
    async fn send(&self, master: &mut MultiplexedConnection, command: &Cmd) -> RedisResult<Value> {
        let answer = master.req_packed_command(command).await?;
        if self.replicas == 0 || matches!(answer, Value::ServerError(_)) || only_reads(command) {
            return Ok(answer);
        }
        // No time at all would mean without end.
        let lag = millis(self.lag).max(1);
        let have: u32 = redis::cmd("WAIT").arg(self.replicas).arg(lag).query_async(master).await?;
        if have < self.replicas {
            return Err((ErrorKind::Client, "fewer replicas than asked for have the write").into());
        }
        Ok(answer)
    }

    /// Makes the next command ask for the master again, unless somebody did so already.
    async fn forget(&self, number: u64) {
        let mut state = self.state.lock().await;
        if state.number == number {
            state.master = None;
        }
    }
}

/// Whether a command of ours writes nothing. Of scripts it is not known.
fn only_reads(command: &Cmd) -> bool {
    let reads = [
        &b"EXISTS"[..],
        b"GET",
        b"HEXISTS",
        b"HGET",
        b"HMGET",
        b"LLEN",
        b"LRANGE",
        b"SCRIPT",
        b"ZRANGE",
        b"ZRANGEBYLEX",
        b"ZRANGEBYSCORE",
    ];
    command.args_iter().next().is_some_and(|name| matches!(name, Arg::Simple(name) if reads.contains(&name)))
}

/// Whether an answer says that the server may not be the master any longer. Only what every server says at times does not.
fn is_doubtful(answer: &RedisResult<Value>) -> bool {
    match answer {
        Ok(Value::ServerError(error)) => error.code() != "NOSCRIPT",
        Ok(_) => false,
        Err(error) => error.code() != Some("NOSCRIPT"),
    }
}

impl ConnectionLike for Watched {
    fn req_packed_command<'a>(&'a mut self, command: &'a Cmd) -> RedisFuture<'a, Value> {
        Box::pin(async move {
            let (mut master, number) = self.master().await?;
            let answer = self.send(&mut master, command).await;
            if is_doubtful(&answer) {
                self.forget(number).await;
            }
            answer
        })
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        pipeline: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        Box::pin(async move {
            let (mut master, number) = self.master().await?;
            let answers = master.req_packed_commands(pipeline, offset, count).await;
            if answers.is_err() {
                self.forget(number).await;
            }
            answers
        })
    }

    fn get_db(&self) -> i64 {
        self.database
    }
}
