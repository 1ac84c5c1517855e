//! The Redis store behind sentinels: the facts, and a master that is killed.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ghost_store::{
    Delivered, Dispatch as _, Inbox as _, Item, Leases as _, Ledger as _, RedisConfig, RedisStore, StoreError,
};

use super::server::Server;
use super::{LONG, PATIENCE, SHORT, every_fact, id, lines, quick, redis, until};

/// A master, what copies it, and who watches it.
pub(crate) struct Watched {
    pub(crate) master: Server,
    pub(crate) replicas: Vec<Server>,
    pub(crate) sentinels: Vec<Server>,
}

impl Watched {
    fn by_one() -> Option<Self> {
        Self::by(1, 1)
    }

    /// Starts a master with so many replicas, watched by so many sentinels.
    pub(crate) fn by(count: usize, copies: usize) -> Option<Self> {
        let master = Server::with(&["--repl-diskless-sync-delay", "0"])?;
        let port = master.port.to_string();
        let replicas: Vec<Server> =
            (0..copies).map_while(|_| Server::with(&["--replicaof", "127.0.0.1", &port])).collect();
        for replica in &replicas {
            replica.wait_for("INFO replication", "master_link_status:up");
            master.wait_for("INFO replication", &format!("port={},state=online", replica.port));
        }
        let rules = format!(
            "sentinel monitor main 127.0.0.1 {port} {}\nsentinel down-after-milliseconds main 500\n\
             sentinel failover-timeout main 4000\n",
            count / 2 + 1
        );
        let sentinels: Vec<Server> = (0..count).map_while(|_| Server::sentinel(&rules)).collect();
        for sentinel in &sentinels {
            for replica in &replicas {
                sentinel.wait_for("SENTINEL REPLICAS main", &replica.port.to_string());
            }
            sentinel.wait_for("SENTINEL CKQUORUM main", &format!("OK {count} usable"));
        }
        Some(Self { master, replicas, sentinels })
    }

    fn replica(&self) -> &Server {
        self.replicas.first().unwrap()
    }

    pub(crate) fn url(&self) -> String {
        let hosts: Vec<String> =
            self.sentinels.iter().map(|sentinel| format!("127.0.0.1:{}", sentinel.port)).collect();
        format!("redis-sentinel://{}/main", hosts.join(","))
    }
}

every_fact!(together, self::Watched::by_one, redis::shared);

#[tokio::test]
async fn a_failover_keeps_what_the_replica_has_and_no_stale_lease_writes_after_it() {
    let Some(mut servers) = Watched::by(3, 1) else { return };
    let store = RedisStore::connect(&RedisConfig::new(servers.url(), "ghost"), quick()).await.unwrap();
    store.deliver(&id("s2"), "k", "one").await.unwrap();
    let stale = store.acquire(&id("s1"), "worker-a", SHORT).await.unwrap().unwrap();
    let owner =
        until("the lease ends", async || store.acquire(&id("s1"), "worker-b", LONG).await.unwrap()).await;
    store.append(&owner, 0, &lines(&["a"]), 0).await.unwrap();
    servers.replica().wait_for("LLEN ghost:{s1}:events", ":1");
    servers.master.kill();

    // An answer may get lost while the sentinels change the server over.
    let length = until("it is promoted", async || match store.append(&owner, 1, &lines(&["b"]), 0).await {
        Ok(length) | Err(StoreError::LengthMismatch { length }) => Some(length),
        Err(error) => {
            assert!(matches!(error, StoreError::Unavailable { .. }), "{error:?}");
            None
        }
    })
    .await;
    assert_eq!(length, 2);
    assert_eq!(until("it answers", async || store.read(&id("s1"), 0).await.ok()).await, ["a", "b"]);
    let refused = store.append(&stale, 2, &lines(&["stale"]), 0).await;
    assert!(matches!(refused, Err(StoreError::Fenced)), "{refused:?}");
    assert!(matches!(store.renew(&stale).await, Err(StoreError::Fenced)));
    assert_eq!(store.deliver(&id("s2"), "k", "one").await.unwrap(), Delivered::Seen);
    assert_eq!(store.next_work("worker-b", LONG).await.unwrap(), Some(id("s2")));
    store.release(&owner).await.unwrap();
    let next = store.acquire(&id("s1"), "worker-c", LONG).await.unwrap().unwrap();
    assert!(next.epoch() > owner.epoch());
    // A new client learns the new master as well.
    let other = RedisStore::connect(&RedisConfig::new(servers.url(), "ghost"), quick()).await.unwrap();
    assert_eq!(other.read(&id("s1"), 0).await.unwrap(), ["a", "b"]);
}

#[tokio::test]
async fn a_name_that_no_sentinel_knows_is_said() {
    let Some(servers) = Watched::by_one() else { return };
    let place = RedisConfig::new(servers.url().replace("/main", "/other"), "ghost");
    let refused = RedisStore::connect(&place, quick()).await.unwrap_err();
    assert!(refused.to_string().contains("no sentinel knows"), "{refused}");
}

#[tokio::test]
async fn a_write_that_too_few_replicas_have_does_not_count() {
    let Some(servers) = Watched::by_one() else { return };
    let place = RedisConfig { replicas: 1, answer: PATIENCE, ..RedisConfig::new(servers.url(), "ghost") };
    let store = RedisStore::connect(&place, quick()).await.unwrap();
    // Who soon gives up comes to its refusal soon; on a busy machine it may also give up where nothing is wrong.
    let soon = RedisConfig { answer: Duration::from_millis(500), ..place };
    let hurried =
        until("the hurried one is in", async || RedisStore::connect(&soon, quick()).await.ok()).await;
    // On a busy machine a sentinel may take a slow replica for one that is down, and the store refuses until it sees it again.
    let lease = until("a write is confirmed", async || {
        store.acquire(&id("s1"), "worker-a", LONG).await.ok().flatten()
    })
    .await;
    let appended =
        until("the first event counts", async || match store.append(&lease, 0, &lines(&["a"]), 0).await {
            Ok(length) | Err(StoreError::LengthMismatch { length }) => Some(length),
            Err(_) => None,
        });
    assert_eq!(appended.await, 1);
    // What counted is there, without a wait.
    assert!(servers.replica().say("LLEN ghost:{s1}:events").starts_with(":1"));
    servers.replica().pause();
    let refused = hurried.append(&lease, 1, &lines(&["b"]), 0).await.unwrap_err();
    assert!(matches!(refused, StoreError::Unavailable { .. }), "{refused:?}");
    assert!(store.read(&id("s1"), 0).await.is_ok(), "reading needs no replica");
    servers.replica().resume();
    let again =
        until("the replica is back", async || match store.append(&lease, 1, &lines(&["b"]), 0).await {
            Ok(length) | Err(StoreError::LengthMismatch { length }) => Some(length),
            Err(_) => None,
        });
    assert_eq!(again.await, 2);
}

/// Delivers one item after the other until it has to stop; returns those that were acknowledged.
async fn deliver_until(store: &RedisStore, session: &str, stop: &AtomicBool) -> Vec<String> {
    let mut acknowledged = Vec::new();
    for number in 0.. {
        if stop.load(Ordering::SeqCst) {
            break;
        }
        let key = number.to_string();
        if store.deliver(&id(session), &key, &key).await.is_ok() {
            acknowledged.push(key);
        }
    }
    acknowledged
}

#[tokio::test]
async fn what_counted_while_another_server_was_promoted_by_plan_is_on_the_one_that_was() {
    let Some(servers) = Watched::by(3, 2) else { return };
    let place = RedisConfig { replicas: 1, ..RedisConfig::new(servers.url(), "ghost") };
    let store = RedisStore::connect(&place, quick()).await.unwrap();
    let before = until("it counts", async || store.deliver(&id("s0"), "k", "one").await.ok()).await;
    assert_eq!(before, Delivered::New);
    let stop = AtomicBool::new(false);
    let writers =
        async { tokio::join!(deliver_until(&store, "s1", &stop), deliver_until(&store, "s2", &stop)) };
    let moving = async {
        assert!(servers.sentinels.first().unwrap().say("SENTINEL FAILOVER main").starts_with("+OK"));
        // The old master takes writes until a sentinel makes a replica of it.
        until("the old master follows", async || servers.master.say("ROLE").contains("slave").then_some(()))
            .await;
        until("writes count again", async || store.deliver(&id("s0"), "after", "two").await.ok()).await;
        stop.store(true, Ordering::SeqCst);
    };
    let ((first, second), ()) = tokio::join!(writers, moving);
    for (session, acknowledged) in [("s1", first), ("s2", second)] {
        let there = until("it answers", async || store.inbox(&id(session)).await.ok()).await;
        let there: HashSet<String> = there.into_iter().map(|item| format!("{item:?}")).collect();
        let is_lost = |key: &&String| !there.contains(&format!("{:?}", Item::Delivered((*key).clone())));
        let lost: Vec<&String> = acknowledged.iter().filter(is_lost).collect();
        assert!(lost.is_empty(), "{session}: {} of {} are lost", lost.len(), acknowledged.len());
        assert!(!acknowledged.is_empty());
    }
}

#[tokio::test]
async fn a_replica_that_is_down_stops_writes_until_the_sentinels_say_so() {
    let Some(mut servers) = Watched::by(3, 2) else { return };
    let place = RedisConfig { replicas: 1, ..RedisConfig::new(servers.url(), "ghost") };
    let store = RedisStore::connect(&place, quick()).await.unwrap();
    until("it counts", async || store.deliver(&id("s1"), "0", "one").await.ok()).await;
    servers.replicas.pop().unwrap().kill();
    until("it counts without the dead one", async || store.deliver(&id("s1"), "1", "two").await.ok()).await;
    assert_eq!(store.inbox(&id("s1")).await.unwrap().len(), 2);
}
