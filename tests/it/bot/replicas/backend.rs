//! What the replicas share: one server, a master that sentinels watch, or a cluster. How its primary is lost, and another server promoted.

use std::time::Instant;

use ghost_base::SessionId;

use super::people::PATIENCE;
use crate::store::cluster::Cluster;
use crate::store::sentinel::Watched;
use crate::store::server::Server;

/// The servers.
pub(super) enum Backend {
    One(Server),
    /// With the value of `[store] replicas`.
    Sentinels(Watched, u32),
    Cluster(Cluster),
}

impl Backend {
    /// Returns the lines of the configuration that lead there.
    pub(super) fn configuration(&self) -> String {
        let url = format!("store.url = '{}'\n", self.url());
        match self {
            Self::One(_) | Self::Cluster(_) => url,
            // What counted is on a second server.
            Self::Sentinels(_, replicas) => format!("{url}store.replicas = {replicas}\n"),
        }
    }

    pub(super) fn url(&self) -> String {
        match self {
            Self::One(server) => server.url(),
            Self::Sentinels(watched, _) => watched.url(),
            Self::Cluster(cluster) => cluster.url(),
        }
    }

    /// Returns a port that nobody else has.
    pub(super) fn port(&self) -> u16 {
        match self {
            Self::One(server) => server.port,
            Self::Sentinels(watched, _) => watched.master.port,
            Self::Cluster(cluster) => cluster.nodes.first().unwrap().port,
        }
    }

    /// Returns all servers that hold data.
    fn servers(&self) -> Vec<&Server> {
        match self {
            Self::One(server) => vec![server],
            Self::Sentinels(watched, _) => {
                std::iter::once(&watched.master).chain(&watched.replicas).collect()
            }
            Self::Cluster(cluster) => cluster.nodes.iter().chain(&cluster.replicas).collect(),
        }
    }

    /// Asks the primary that has the key of a command; returns nothing where there is none.
    pub(super) fn ask(&self, command: &str) -> Option<String> {
        let primaries = self.servers().into_iter().filter(|server| is_primary(server));
        let mut answers = primaries.map(|server| server.say(command));
        answers.find(|answer| !answer.is_empty() && !answer.starts_with("-MOVED"))
    }

    /// Says how it is.
    pub(super) fn is_up(&self) -> bool {
        self.servers().into_iter().any(|server| server.say("PING").starts_with("+PONG"))
    }

    /// Returns the number of the primary that has most of the sessions, and which these are.
    pub(super) fn most(&self, sessions: &[SessionId]) -> (usize, Vec<usize>) {
        let of = |server: &Server| {
            let has = |session: &SessionId| {
                server.say(&format!("EXISTS ghost:{{{session}}}:events")).starts_with(":1")
            };
            (0..sessions.len()).filter(|at| has(sessions.get(*at).unwrap())).collect::<Vec<_>>()
        };
        let primaries = self.servers().into_iter().enumerate().filter(|(_, server)| is_primary(server));
        primaries.map(|(at, server)| (at, of(server))).max_by_key(|(_, held)| held.len()).unwrap()
    }

    /// Lets nobody be promoted, or lets it happen.
    pub(super) fn may_promote(&self, yes: bool) {
        match self {
            Self::One(_) => panic!("one server has nobody to follow it"),
            Self::Sentinels(watched, _) => {
                let patience = if yes { 500 } else { 600_000 };
                for sentinel in &watched.sentinels {
                    let set = format!("SENTINEL SET main down-after-milliseconds {patience}");
                    assert!(sentinel.say(&set).starts_with("+OK"));
                }
            }
            Self::Cluster(cluster) => {
                let never = if yes { "no" } else { "yes" };
                for replica in &cluster.replicas {
                    let set = format!("CONFIG SET cluster-replica-no-failover {never}");
                    assert!(replica.say(&set).starts_with("+OK"));
                }
            }
        }
    }

    /// Waits until a replica of a primary has what the primary has at this moment.
    pub(super) fn copied(&self, primary: usize) {
        let offset = |server: &Server, name: &str| {
            let text = server.say("INFO replication");
            let line = text.lines().find_map(|line| line.strip_prefix(name).map(str::to_owned));
            line.and_then(|number| number.trim().parse::<u64>().ok()).unwrap_or(0)
        };
        let (servers, followers) = (self.servers(), self.followers(primary));
        let wanted = offset(servers.get(primary).unwrap(), "master_repl_offset:");
        assert!(wanted > 0);
        let deadline = Instant::now() + PATIENCE;
        while !followers.iter().any(|server| offset(server, "slave_repl_offset:") >= wanted) {
            assert!(Instant::now() < deadline, "no replica has it");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }

    fn followers(&self, primary: usize) -> Vec<&Server> {
        match self {
            Self::One(_) => Vec::new(),
            Self::Sentinels(watched, _) => watched.replicas.iter().collect(),
            Self::Cluster(cluster) => cluster.replicas.get(primary).into_iter().collect(),
        }
    }

    fn at(&mut self, primary: usize) -> &mut Server {
        match self {
            Self::One(server) => server,
            Self::Sentinels(watched, _) => &mut watched.master,
            Self::Cluster(cluster) => cluster.nodes.get_mut(primary).unwrap(),
        }
    }

    /// Has every primary hand over to a replica, as an operator does who wants to work on the servers.
    pub(super) fn fail_over(&self) {
        match self {
            Self::One(_) => panic!("one server has no replica"),
            Self::Sentinels(watched, _) => {
                let sentinel = watched.sentinels.first().unwrap();
                assert!(sentinel.say("SENTINEL FAILOVER main").starts_with("+OK"));
            }
            Self::Cluster(cluster) => {
                for replica in &cluster.replicas {
                    assert!(replica.say("CLUSTER FAILOVER").starts_with("+OK"));
                }
            }
        }
    }

    /// Returns the first primary as it was at the beginning.
    pub(super) fn first(&self) -> &Server {
        self.servers().into_iter().next().unwrap()
    }

    /// Starts the one server again on what an older copy holds.
    pub(super) fn forget_since(&mut self, copy: &tempfile::TempDir) {
        match self {
            Self::One(server) => server.restart_on(copy),
            Self::Sentinels(..) | Self::Cluster(_) => panic!("replicas remember"),
        }
    }

    /// Kills a primary.
    pub(super) fn kill(&mut self, primary: usize) {
        self.at(primary).kill();
    }

    /// Waits until another server is primary in the place of one.
    pub(super) fn promoted(&self, primary: usize) {
        let deadline = Instant::now() + PATIENCE;
        while !self.followers(primary).into_iter().any(is_primary) {
            assert!(Instant::now() < deadline, "nobody is promoted");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }

    /// Starts one again that was killed, and waits until it follows the one that was promoted.
    pub(super) fn comes_back(&mut self, primary: usize) {
        self.at(primary).restart();
        self.at(primary).wait_for("INFO replication", "master_link_status:up");
    }
}

fn is_primary(server: &Server) -> bool {
    server.say("ROLE").lines().nth(2) == Some("master")
}
