//! The Redis store: the facts on a single server and on a cluster that refuses keys of two slots.

use std::sync::Arc;

use ghost_agent::store::{RedisPlace, RedisStore};

use super::server::Server;
use super::{World, quick};

async fn over(server: Server) -> World {
    let store = RedisStore::connect(&RedisPlace::new(server.url(), "ghost:test"), quick()).await.unwrap();
    World { store: Arc::new(store), _keep: Box::new(server) }
}

mod single {
    use crate::store::World;
    use crate::store::every_fact;
    use crate::store::server::Server;

    async fn world() -> Option<World> {
        Some(super::over(Server::start()?).await)
    }

    every_fact!(self::world);
}

mod cluster {
    use crate::store::World;
    use crate::store::every_fact;
    use crate::store::server::Server;

    async fn world() -> Option<World> {
        Some(super::over(Server::cluster()?).await)
    }

    every_fact!(self::world);
}
