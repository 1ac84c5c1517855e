//! The server that sentinels call master, asked for again whenever the last one did not do.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex as SyncMutex, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use redis::aio::{ConnectionLike, MultiplexedConnection};
use redis::sentinel::{SentinelClient, SentinelNodeConnectionInfo, SentinelServerType};
use redis::{
    Arg, AsyncConnectionConfig, Client, Cmd, ConnectionInfo, ErrorKind, Pipeline, RedisConnectionInfo,
    RedisError, RedisFuture, RedisResult, Value,
};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use crate::redis::config::RedisConfig;
use crate::redis::confirm::{Followers, Role, Server, Testimony, Unconfirmed, Wanted};
use crate::settings::millis;

/// How long what the sentinels said holds while no replica is missing: far less than they take to get to know a new one.
const SURVEY_AGE: Duration = Duration::from_secs(1);

/// A master and those who watch it.
#[derive(Clone)]
pub(super) struct Watched {
    state: Arc<Mutex<State>>,
    witnesses: Arc<[Witness]>,
    service: Arc<str>,
    config: AsyncConnectionConfig,
    patience: Duration,
    database: i64,
    /// How many replicas have to have a write, and for how long they are waited for.
    replicas: u32,
    lag: Duration,
}

struct State {
    sentinels: SentinelClient,
    /// The last master, and how many there were before.
    master: Option<Master>,
    number: u64,
}

/// A connection to a master, and its known replicas.
#[derive(Clone)]
struct Master {
    connection: MultiplexedConnection,
    address: Server,
    followers: Arc<SyncMutex<Option<(Instant, Followers)>>>,
}

impl Master {
    /// Returns the replicas that are known, unless that was long ago.
    fn followers(&self) -> Option<Followers> {
        let followers = self.followers.lock().unwrap_or_else(PoisonError::into_inner);
        followers.as_ref().filter(|(at, _)| at.elapsed() < SURVEY_AGE).map(|(_, known)| known.clone())
    }

    /// Returns how many replicas a write is waited for.
    fn count(&self) -> u32 {
        let followers = self.followers.lock().unwrap_or_else(PoisonError::into_inner);
        let count = followers.as_ref().map_or(0, |(_, known)| known.promotable.len());
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    fn learn(&self, known: Followers) {
        *self.followers.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), known));
    }
}

/// What a sentinel says of one server.
type Fields = HashMap<String, String>;

/// A sentinel that is asked whether a master is still the master.
struct Witness {
    place: ConnectionInfo,
    connection: Mutex<Option<MultiplexedConnection>>,
}

impl Witness {
    /// Returns a connection, which many may use at the same time.
    async fn connection(&self, config: &AsyncConnectionConfig) -> RedisResult<MultiplexedConnection> {
        let mut held = self.connection.lock().await;
        if let Some(connection) = held.as_ref() {
            return Ok(connection.clone());
        }
        let client = Client::open(self.place.clone())?;
        let connection = client.get_multiplexed_async_connection_with_config(config).await?;
        Ok(held.insert(connection).clone())
    }

    /// Asks for the master of a name and its replicas.
    async fn testify(&self, service: &str, config: &AsyncConnectionConfig) -> RedisResult<Testimony> {
        let mut connection = self.connection(config).await?;
        let mut pipe = redis::pipe();
        for what in ["MASTER", "REPLICAS"] {
            pipe.cmd("SENTINEL").arg(what).arg(service);
        }
        let answer: RedisResult<(Fields, Vec<Fields>)> = pipe.query_async(&mut connection).await;
        if answer.is_err() {
            self.connection.lock().await.take();
        }
        answer.map(|(master, replicas)| Testimony::of(&master, &replicas))
    }
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
        let witness = |place: &ConnectionInfo| Witness { place: place.clone(), connection: Mutex::new(None) };
        let witnesses = sentinels.iter().map(witness).collect();
        let name = service.as_str().into();
        let sentinels = SentinelClient::build(sentinels, service, Some(node), SentinelServerType::Master)?;
        let config = AsyncConnectionConfig::new()
            .set_response_timeout(Some(servers.answer))
            .set_connection_timeout(Some(servers.connect));
        let state = State { sentinels, master: None, number: 0 };
        let watched = Self {
            state: Arc::new(Mutex::new(state)),
            witnesses,
            service: name,
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
    async fn master(&self) -> RedisResult<(Master, u64)> {
        let find = async {
            let mut state = self.state.lock().await;
            if let Some(master) = &state.master {
                return Ok((master.clone(), state.number));
            }
            let client = state.sentinels.async_get_client().await?;
            let connection = client.get_multiplexed_async_connection_with_config(&self.config).await?;
            let address = client.get_connection_info().addr().to_string();
            let (host, port) = address.rsplit_once(':').unwrap_or((&address, ""));
            let address = (host.to_owned(), port.parse().unwrap_or_default());
            let master = Master { connection, address, followers: Arc::default() };
            state.number += 1;
            state.master = Some(master.clone());
            Ok((master, state.number))
        };
        let late = |_| Err(RedisError::from(io::Error::from(io::ErrorKind::TimedOut)));
        timeout(self.patience, find).await.unwrap_or_else(late)
    }

    /// Sends a command; a write counts once it is confirmed on the same connection.
    async fn send(&self, master: &mut Master, command: &Cmd) -> RedisResult<Value> {
        if only_reads(command) {
            return master.connection.req_packed_command(command).await;
        }
        let mut pipe = redis::pipe();
        pipe.add_command(command.clone()).cmd("ROLE");
        if self.replicas > 0 {
            // No time at all would mean without end.
            let (count, lag) = (master.count().max(self.replicas), millis(self.lag).max(1));
            pipe.cmd("WAIT").arg(count).arg(lag).cmd("ROLE");
        }
        let answers = master.connection.req_packed_commands(&pipe, 0, pipe.len()).await?;
        let mut answers = answers.into_iter();
        let answer = answers.next().unwrap_or(Value::Nil);
        if matches!(answer, Value::ServerError(_)) {
            return Ok(answer);
        }
        let written = answers.next().as_ref().and_then(Role::parse);
        let role = answers.last().as_ref().and_then(Role::parse).or_else(|| written.clone());
        let confirmed = match (written, role) {
            (Some(written), Some(role)) => self.confirm(master, written.offset, role).await?,
            (Some(_) | None, None) | (None, Some(_)) => Err(Unconfirmed::NotTheMaster),
        };
        let refused = |why: Unconfirmed| RedisError::from((ErrorKind::Client, why.text()));
        confirmed.map(|()| answer).map_err(refused)
    }

    /// Decides whether a write survives a failover; asks the sentinels where the server alone cannot say so.
    async fn confirm(
        &self,
        master: &mut Master,
        offset: u64,
        mut role: Role,
    ) -> RedisResult<Result<(), Unconfirmed>> {
        let wanted = Wanted { replicas: self.replicas, offset };
        if master.followers().is_some_and(|known| wanted.is_met(&role, &known)) {
            return Ok(Ok(()));
        }
        // A sentinel that is away must not hold a write up for longer than a replica may.
        let ask = self
            .witnesses
            .iter()
            .map(|witness| timeout(self.lag, witness.testify(&self.service, &self.config)));
        let testimonies: Vec<Testimony> = join_all(ask).await.into_iter().flatten().flatten().collect();
        let decide = |role: &Role| wanted.decide(role, &master.address, &testimonies, self.witnesses.len());
        let mut decided = decide(&role);
        if let Err(Unconfirmed::Lagging(count)) = decided {
            // It was not known before for how many a write has to wait.
            let mut pipe = redis::pipe();
            pipe.cmd("WAIT").arg(count).arg(millis(self.lag).max(1)).cmd("ROLE");
            let answers = master.connection.clone().req_packed_commands(&pipe, 0, pipe.len()).await?;
            if let Some(now) = answers.last().and_then(Role::parse) {
                role = now;
            }
            decided = decide(&role);
        }
        Ok(decided.map(|known| master.learn(known)))
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
        b"ZCARD",
        b"ZCOUNT",
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
            let answers = master.connection.req_packed_commands(pipeline, offset, count).await;
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
