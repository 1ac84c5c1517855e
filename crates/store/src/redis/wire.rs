//! The connection to the servers, whichever there are.

use std::time::Duration;

use redis::aio::{ConnectionLike, ConnectionManager, ConnectionManagerConfig};
use redis::{Client, Cmd, Pipeline, RedisFuture, RedisResult, Value};

use crate::redis::address::Address;
use crate::redis::cluster::Cluster;
use crate::redis::config::RedisConfig;
use crate::redis::sentinel::Watched;

/// How soon a broken connection is made again, at first and at last.
pub(super) const SOONEST: Duration = Duration::from_millis(50);
pub(super) const LATEST: Duration = Duration::from_secs(1);

/// A connection to the servers. Clones share it; it reconnects by itself.
#[derive(Clone)]
pub(super) enum Wire {
    Single(ConnectionManager),
    Cluster(Cluster),
    Sentinel(Watched),
}

impl Wire {
    /// Connects.
    pub(super) async fn open(address: Address, config: &RedisConfig) -> RedisResult<Self> {
        if address.is_encrypted() {
            // Where the program chose another cryptography before, that one is used.
            drop(rustls::crypto::ring::default_provider().install_default());
        }
        match address {
            Address::Single(server) => {
                let config = ConnectionManagerConfig::new()
                    .set_response_timeout(Some(config.answer))
                    .set_connection_timeout(Some(config.connect))
                    .set_min_delay(SOONEST)
                    .set_max_delay(LATEST)
                    .set_number_of_retries(2);
                let client = Client::open(server)?;
                ConnectionManager::new_with_config(client, config).await.map(Self::Single)
            }
            Address::Cluster(nodes) => Cluster::connect(nodes, config).await.map(Self::Cluster),
            Address::Sentinel { sentinels, service, login } => {
                Watched::connect(sentinels, service, login, config).await.map(Self::Sentinel)
            }
        }
    }
}

impl ConnectionLike for Wire {
    fn req_packed_command<'a>(&'a mut self, command: &'a Cmd) -> RedisFuture<'a, Value> {
        match self {
            Self::Single(connection) => connection.req_packed_command(command),
            Self::Cluster(connection) => connection.req_packed_command(command),
            Self::Sentinel(connection) => connection.req_packed_command(command),
        }
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        pipeline: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        match self {
            Self::Single(connection) => connection.req_packed_commands(pipeline, offset, count),
            Self::Cluster(connection) => connection.req_packed_commands(pipeline, offset, count),
            Self::Sentinel(connection) => connection.req_packed_commands(pipeline, offset, count),
        }
    }

    fn get_db(&self) -> i64 {
        match self {
            Self::Single(connection) => connection.get_db(),
            Self::Cluster(connection) => connection.get_db(),
            Self::Sentinel(connection) => connection.get_db(),
        }
    }
}
