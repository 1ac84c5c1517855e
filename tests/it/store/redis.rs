//! The Redis store on one server: the facts.

use std::sync::Arc;

use ghost_store::{RedisConfig, RedisStore};

use super::server::Server;
use super::{World, every_fact, quick};

async fn single() -> Option<World> {
    let server = Server::start()?;
    let store = RedisStore::connect(&RedisConfig::new(server.url(), "ghost:test"), quick()).await.unwrap();
    Some(World { store: Arc::new(store), _keep: Box::new(server) })
}

/// Returns a store of its own, under its own prefix, on servers that others use too.
pub(super) async fn shared(url: String, prefix: &str) -> World {
    let store = RedisStore::connect(&RedisConfig::new(url, prefix), quick()).await.unwrap();
    World { store: Arc::new(store), _keep: Box::new(()) }
}

every_fact!(holds, super::redis::single);
