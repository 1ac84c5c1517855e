//! A cluster, whose connection is made anew when it stops answering.
//!
//! The client of a cluster serves all requests in one task, which stops serving them while it reads again which node has which slots.
//! For that it takes a lock. Where many requests wait at that moment, one of them may hold the lock and never get its turn to
//! give it back: from then on nobody is answered, however healthy the servers are. A request that was not answered fails; those that
//! come next go over the new connection.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use redis::aio::ConnectionLike;
use redis::cluster::{ClusterClient, ClusterClientBuilder};
use redis::cluster_async::ClusterConnection;
use redis::{Cmd, ConnectionInfo, ErrorKind, Pipeline, RedisError, RedisFuture, RedisResult, Value};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::redis::config::RedisConfig;
use crate::redis::wire::{LATEST, SOONEST};
use crate::settings::millis;

/// The connection to a cluster. Clones share it.
#[derive(Clone)]
pub(super) struct Cluster(Arc<Shared>);

struct Shared {
    client: ClusterClient,
    current: Mutex<Current>,
    /// How long a new connection may take.
    patience: Duration,
}

struct Current {
    connection: ClusterConnection,
    /// How many there were before.
    number: u64,
    /// Whoever makes a new one.
    renewal: JoinSet<()>,
}

impl Cluster {
    /// Connects.
    pub(super) async fn connect(nodes: Vec<ConnectionInfo>, servers: &RedisConfig) -> RedisResult<Self> {
        let wait = |duration| u64::try_from(millis(duration)).unwrap_or_default();
        let client = ClusterClientBuilder::new(nodes)
            .response_timeout(servers.answer)
            .overall_response_timeout(Some(2 * servers.answer))
            .connection_timeout(servers.connect)
            .min_retry_wait(wait(SOONEST))
            .max_retry_wait(wait(LATEST))
            .retries(4)
            .build()?;
        // It connects to the nodes that are named, asks one for all, and connects to those.
        let patience = 2 * (servers.answer + servers.connect);
        let connection = open(&client, patience).await?;
        let current = Mutex::new(Current { connection, number: 0, renewal: JoinSet::new() });
        Ok(Self(Arc::new(Shared { client, current, patience })))
    }

    fn current(&self) -> MutexGuard<'_, Current> {
        self.0.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the connection and its number.
    fn connection(&self) -> (ClusterConnection, u64) {
        let current = self.current();
        (current.connection.clone(), current.number)
    }

    /// Returns an answer, and has a new connection made where it makes one doubt the old one.
    fn checked<T>(&self, number: u64, answer: RedisResult<T>) -> RedisResult<T> {
        if answer.as_ref().is_err_and(is_doubtful) {
            self.renew(number);
        }
        answer
    }

    /// Has a new connection made, unless somebody does so or did so already. The old one serves until the new one is there.
    fn renew(&self, number: u64) {
        let mut current = self.current();
        drop(current.renewal.try_join_next());
        if !current.renewal.is_empty() || current.number != number {
            return;
        }
        let own = self.clone();
        current.renewal.spawn(async move {
            // Where the servers are at fault, whoever asks next and gets no answer has it tried again.
            if let Ok(connection) = open(&own.0.client, own.0.patience).await {
                let mut current = own.current();
                (current.connection, current.number) = (connection, number + 1);
                tracing::warn!("connection to the Redis cluster replaced: it did not answer any more");
            }
        });
    }
}

/// Makes a connection, which the client itself may wait for without end.
async fn open(client: &ClusterClient, patience: Duration) -> RedisResult<ClusterConnection> {
    let late = |_| Err(RedisError::from(io::Error::from(io::ErrorKind::TimedOut)));
    timeout(patience, client.get_async_connection()).await.unwrap_or_else(late)
}

/// Whether an error may come from the connection, and would come again with each request.
fn is_doubtful(error: &RedisError) -> bool {
    error.is_timeout()
        || error.is_connection_dropped()
        || error.kind() == ErrorKind::ClusterConnectionNotFound
}

impl ConnectionLike for Cluster {
    fn req_packed_command<'a>(&'a mut self, command: &'a Cmd) -> RedisFuture<'a, Value> {
        Box::pin(async move {
            let (mut connection, number) = self.connection();
            self.checked(number, connection.req_packed_command(command).await)
        })
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        pipeline: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        Box::pin(async move {
            let (mut connection, number) = self.connection();
            self.checked(number, connection.req_packed_commands(pipeline, offset, count).await)
        })
    }

    fn get_db(&self) -> i64 {
        // A cluster has only the first.
        0
    }
}
