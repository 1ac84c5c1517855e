//! The Redis store: the facts on a single server and on a cluster that refuses keys of two slots.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use ghost_agent::store::{RedisPlace, RedisStore};

use super::server::Server;
use super::{World, every_fact, quick};

async fn single() -> Option<World> {
    let server = Server::start()?;
    let store = RedisStore::connect(&RedisPlace::new(server.url(), "ghost:test"), quick()).await.unwrap();
    Some(World { store: Arc::new(store), _keep: Box::new(server) })
}

every_fact!(holds, super::redis::single);

mod cluster {
    use super::*;

    thread_local! {
        static CLUSTER: RefCell<Option<Rc<Server>>> = const { RefCell::new(None) };
    }

    /// Returns a store of its own on the cluster of this test.
    async fn world(fact: &str) -> Option<World> {
        let running = CLUSTER.with_borrow(Clone::clone);
        let server = match running {
            Some(server) => server,
            None => Rc::new(Server::cluster()?),
        };
        CLUSTER.set(Some(Rc::clone(&server)));
        let store = RedisStore::connect(&RedisPlace::new(server.url(), fact), quick()).await.unwrap();
        Some(World { store: Arc::new(store), _keep: Box::new(server) })
    }

    every_fact!(together, self::world);
}
