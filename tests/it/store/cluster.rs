//! The Redis store on a cluster of three masters: the facts, and a node that is lost and comes back.
//!
//! Other tests let a replica follow each master.

use std::time::Duration;

use futures_util::future::join_all;
use ghost_base::SessionId;
use ghost_store::{Delivered, Inbox as _, RedisConfig, RedisStore};

use super::server::Server;
use super::{every_fact, id, quick, redis, until};

const SLOTS: u16 = 16_384;

/// Where a replica waits no longer than it has to, however long it was stopped.
const NODE: [&str; 8] = [
    "--cluster-enabled",
    "yes",
    "--cluster-node-timeout",
    "1000",
    "--cluster-replica-validity-factor",
    "0",
    "--repl-diskless-sync-delay",
    "0",
];

/// Three masters, and the replicas of them in the same order if there are any.
pub(crate) struct Cluster {
    pub(crate) nodes: Vec<Server>,
    pub(crate) replicas: Vec<Server>,
}

impl Cluster {
    fn start() -> Option<Self> {
        let nodes: Vec<Server> = (0..3).map_while(|_| Server::with(&NODE)).collect();
        let first = nodes.first()?;
        for (number, node) in (0_u16..).zip(&nodes) {
            let part = SLOTS / 3;
            let end = if number == 2 { SLOTS } else { (number + 1) * part };
            let slots: Vec<String> = (number * part..end).map(|slot| slot.to_string()).collect();
            assert!(node.say(&format!("CLUSTER ADDSLOTS {}", slots.join(" "))).starts_with("+OK"));
            assert!(node.say(&format!("CLUSTER SET-CONFIG-EPOCH {}", number + 1)).starts_with("+OK"));
            assert!(node.say(&format!("CLUSTER MEET 127.0.0.1 {}", first.port)).starts_with("+OK"));
        }
        let cluster = Self { nodes, replicas: Vec::new() };
        cluster.wait();
        Some(cluster)
    }

    /// Starts one in which every master has a replica.
    pub(crate) fn with_replicas() -> Option<Self> {
        let mut cluster = Self::start()?;
        let first = cluster.nodes.first()?.port;
        for node in &cluster.nodes {
            let replica = Server::with(&NODE)?;
            assert!(replica.say(&format!("CLUSTER MEET 127.0.0.1 {first}")).starts_with("+OK"));
            let answer = node.say("CLUSTER MYID");
            let name = answer.lines().nth(1).unwrap();
            replica.wait_for("CLUSTER NODES", name);
            assert!(replica.say(&format!("CLUSTER REPLICATE {name}")).starts_with("+OK"));
            replica.wait_for("INFO replication", "master_link_status:up");
            node.wait_for("INFO replication", "state=online");
            cluster.replicas.push(replica);
        }
        cluster.wait();
        // Who does not know yet that one is a replica of another would not vote for it.
        for node in cluster.nodes.iter().chain(&cluster.replicas) {
            for master in &cluster.nodes {
                let answer = master.say("CLUSTER MYID");
                node.wait_for("CLUSTER NODES", &format!("slave {}", answer.lines().nth(1).unwrap()));
            }
        }
        Some(cluster)
    }

    /// Waits until every node knows where every slot is.
    fn wait(&self) {
        let count = self.nodes.len() + self.replicas.len();
        for node in self.nodes.iter().chain(&self.replicas) {
            node.wait_for("CLUSTER INFO", "cluster_slots_ok:16384");
            node.wait_for("CLUSTER INFO", &format!("cluster_known_nodes:{count}"));
            node.wait_for("CLUSTER INFO", "cluster_state:ok");
        }
    }

    pub(crate) fn url(&self) -> String {
        let nodes: Vec<String> = self.nodes.iter().map(|node| format!("127.0.0.1:{}", node.port)).collect();
        format!("redis-cluster://{}", nodes.join(","))
    }
}

every_fact!(together, self::Cluster::start, redis::shared);

#[tokio::test]
async fn a_cluster_whose_node_was_killed_goes_on_with_everything_when_it_is_back() {
    let Some(mut cluster) = Cluster::start() else { return };
    let store = RedisStore::connect(&RedisConfig::new(cluster.url(), "ghost"), quick()).await.unwrap();
    let sessions: Vec<_> = (0..12).map(|number| id(&format!("s{number}"))).collect();
    for session in &sessions {
        assert_eq!(store.deliver(session, "k", "one").await.unwrap(), Delivered::New);
    }
    for node in &cluster.nodes {
        assert!(!node.say("DBSIZE").starts_with(":0"), "a node without keys tests nothing");
    }
    let node = cluster.nodes.first_mut().unwrap();
    node.kill();
    let refused = until("somebody notices", async || {
        let mut refused = None;
        for session in &sessions {
            refused = refused.or(store.deliver(session, "k", "two").await.err());
        }
        refused
    });
    assert!(refused.await.to_string().contains("not available"));
    cluster.nodes.first_mut().unwrap().restart();
    cluster.wait();
    for session in &sessions {
        let again = until("it answers", async || store.deliver(session, "k", "two").await.ok()).await;
        assert_eq!(again, Delivered::Seen);
        let inbox = until("it answers", async || store.inbox(session).await.ok()).await;
        assert_eq!(inbox.len(), 1);
    }
}

/// So many ask at once: more than the client of a cluster gives a turn to at a time.
const CROWD: usize = 300;

impl Cluster {
    /// Gives the slot of a session without data to the next node.
    fn move_slot(&self, session: &SessionId) {
        let name = |node: &Server| node.say("CLUSTER MYID").lines().nth(1).unwrap().to_owned();
        let slot = self.nodes.first().unwrap().say(&format!("CLUSTER KEYSLOT {session}"));
        let slot: u16 = slot.trim().trim_start_matches(':').parse().unwrap();
        let from =
            self.nodes.iter().position(|node| !node.say(&format!("EXISTS {{{session}}}")).starts_with('-'));
        let from = from.unwrap();
        let next = (from + 1) % self.nodes.len();
        let (from, to) = (self.nodes.get(from).unwrap(), self.nodes.get(next).unwrap());
        for (node, what) in [
            (to, format!("IMPORTING {}", name(from))),
            (from, format!("MIGRATING {}", name(to))),
            (to, format!("NODE {}", name(to))),
            (from, format!("NODE {}", name(to))),
        ] {
            assert!(node.say(&format!("CLUSTER SETSLOT {slot} {what}")).starts_with("+OK"), "{what}");
        }
    }
}

#[tokio::test]
async fn a_crowd_that_asks_while_slots_move_is_answered_afterwards() {
    let Some(cluster) = Cluster::start() else { return };
    let place =
        RedisConfig { answer: Duration::from_millis(500), ..RedisConfig::new(cluster.url(), "ghost") };
    let store = RedisStore::connect(&place, quick()).await.unwrap();
    let sessions: Vec<_> = (0..CROWD).map(|number| id(&format!("s{number}"))).collect();
    let ask = async || {
        let asked = sessions.iter().map(|session| store.inbox(session));
        join_all(asked).await.iter().all(Result::is_ok)
    };
    for moved in sessions.iter().take(3) {
        cluster.move_slot(moved);
        ask().await;
    }
    until("everybody is answered", async || ask().await.then_some(())).await;
}
