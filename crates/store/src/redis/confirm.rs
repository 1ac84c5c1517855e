//! Decides whether a write survives the next failover: from what the server says of its replicas and, where a replica is missing,
//! from what the sentinels say. Pure.
//!
//! A failover may promote any replica that follows the server and is in sync. So a write is confirmed when every such replica has
//! it. A count alone proves nothing: while a planned failover runs, the old master still has replicas that answer `WAIT`, and the
//! replica that the sentinels promoted has left it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use redis::Value;

/// A server as sentinels and masters name it: host and port.
pub(super) type Server = (String, u16);

/// What a master says of itself: where its stream of writes ends, and how far each replica has followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Role {
    pub(super) offset: u64,
    pub(super) replicas: BTreeMap<Server, u64>,
}

impl Role {
    /// Reads the answer to `ROLE`; `None` where the server is not a master.
    pub(super) fn parse(answer: &Value) -> Option<Self> {
        let (kind, offset, replicas): (String, u64, Vec<(String, String, String)>) =
            redis::from_redis_value_ref(answer).ok()?;
        let row = |(host, port, offset): (String, String, String)| {
            Some(((host, port.parse().ok()?), offset.parse().ok()?))
        };
        let replicas = replicas.into_iter().map(row).collect::<Option<_>>()?;
        (kind == "master").then_some(Self { offset, replicas })
    }
}

/// Whether a sentinel could promote a replica now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    InSync,
    /// When the sentinel asked last, it did not follow yet.
    Behind,
    /// The sentinel cannot reach it, or its priority is zero.
    NotPromotable,
    /// It says that it is a master itself: the old master after a failover, or the new one during it.
    ReportsMaster,
}

/// What one sentinel says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Testimony {
    /// The server that it calls the master, unless it is down or a failover runs.
    pub(super) master: Option<Server>,
    pub(super) replicas: BTreeMap<Server, Standing>,
}

fn server(fields: &HashMap<String, String>) -> Option<Server> {
    Some((fields.get("ip")?.clone(), fields.get("port")?.parse().ok()?))
}

impl Testimony {
    /// Reads the answers to `SENTINEL MASTER` and `SENTINEL REPLICAS`.
    pub(super) fn of(master: &HashMap<String, String>, replicas: &[HashMap<String, String>]) -> Self {
        let is_settled = master.get("flags").is_some_and(|flags| flags == "master");
        let row = |fields: &HashMap<String, String>| Some((server(fields)?, standing(fields)));
        Self {
            master: server(master).filter(|_| is_settled),
            replicas: replicas.iter().filter_map(row).collect(),
        }
    }
}

fn standing(fields: &HashMap<String, String>) -> Standing {
    let field = |name: &str| fields.get(name).map(String::as_str).unwrap_or_default();
    let is_down = |flag: &str| matches!(flag, "s_down" | "o_down" | "disconnected");
    if field("flags").split(',').any(is_down) || field("slave-priority") == "0" {
        Standing::NotPromotable
    } else if field("role-reported") == "master" {
        Standing::ReportsMaster
    } else if field("master-link-status") == "ok" {
        Standing::InSync
    } else {
        Standing::Behind
    }
}

/// The replicas of one master, as far as they were asked about.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Followers {
    /// Those that a failover could promote.
    pub(super) promotable: BTreeSet<Server>,
    /// Whether the sentinels know others, which may become promotable.
    pub(super) has_others: bool,
}

/// Why a write is not confirmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unconfirmed {
    /// A replica that a failover could promote has left the server, or there are too few.
    TooFewReplicas,
    /// The number of connected replicas, not all of which have the write yet.
    Lagging(u32),
    /// The sentinels do not agree that the server is the master.
    NotTheMaster,
}

impl Unconfirmed {
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::TooFewReplicas | Self::Lagging(_) => {
                "a replica that a failover could promote does not have the write"
            }
            Self::NotTheMaster => "the sentinels do not confirm that this server is the master",
        }
    }
}

/// Which replicas count for a write.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    /// How many at least; with none a replica need only be connected.
    pub(super) replicas: u32,
    /// Where the write ended in the stream.
    pub(super) offset: u64,
}

impl Wanted {
    /// Returns the replicas that have the write.
    fn having<'a>(&self, role: &'a Role) -> BTreeSet<&'a Server> {
        let has = |offset: u64| self.replicas == 0 || offset >= self.offset;
        role.replicas.iter().filter(|(_, offset)| has(**offset)).map(|(server, _)| server).collect()
    }

    fn is_enough(&self, count: usize) -> bool {
        u32::try_from(count).unwrap_or(u32::MAX) >= self.replicas
    }

    /// True if the known replicas confirm the write, so that no sentinel needs to be asked.
    pub(super) fn is_met(&self, role: &Role, known: &Followers) -> bool {
        let having = self.having(role);
        let is_known = role.replicas.keys().all(|server| known.promotable.contains(server));
        let all = known.promotable.iter().all(|server| having.contains(server));
        !known.has_others && is_known && all && self.is_enough(having.len())
    }

    /// Decides with what the sentinels say, of which there are `sentinels`; returns the replicas of the master as they know them.
    pub(super) fn decide(
        &self,
        role: &Role,
        master: &Server,
        testimonies: &[Testimony],
        sentinels: usize,
    ) -> Result<Followers, Unconfirmed> {
        let agrees = |testimony: &Testimony| testimony.master.as_ref() == Some(master);
        // A failover needs a majority of the sentinels. One that says otherwise may be the one that leads it.
        let is_minority = testimonies.len() * 2 <= sentinels;
        if !testimonies.iter().all(agrees) || (is_minority && self.replicas > 0) {
            return Err(Unconfirmed::NotTheMaster);
        }
        if self.replicas == 0 {
            // Nothing was promised of replicas; that they leave is a reason to ask again.
            let promotable = role.replicas.keys().cloned().collect();
            return Ok(Followers { promotable, has_others: false });
        }
        let listed: BTreeSet<&Server> = testimonies.iter().flat_map(|one| one.replicas.keys()).collect();
        let may_be_promoted = |server: &&Server| {
            testimonies.iter().filter_map(|one| one.replicas.get(*server)).any(|standing| match standing {
                Standing::InSync => true,
                // The old master after a failover, where no sentinel is left that could lead another.
                Standing::ReportsMaster => testimonies.len() < sentinels,
                Standing::Behind | Standing::NotPromotable => false,
            })
        };
        // A sentinel learns within ten seconds that a replica follows; the master knows at once.
        let may_count = |server: &Server| {
            let mut standings = testimonies.iter().filter_map(|one| one.replicas.get(server));
            standings.any(|standing| *standing != Standing::NotPromotable)
        };
        let promotable: BTreeSet<&Server> = listed.iter().copied().filter(may_be_promoted).collect();
        let having = self.having(role);
        // Sentinels may name replicas by address that the master names by host: then only their number can be compared.
        let is_named = role.replicas.keys().any(|server| listed.contains(server));
        let counts = |server: &Server| !is_named || may_count(server);
        let is_met = |there: &BTreeSet<&Server>| {
            let count = there.iter().filter(|server| counts(server)).count();
            let has_all = !is_named || promotable.iter().all(|server| there.contains(server));
            has_all && count >= promotable.len() && self.is_enough(count)
        };
        let connected: BTreeSet<&Server> = role.replicas.keys().collect();
        if !is_met(&connected) {
            return Err(Unconfirmed::TooFewReplicas);
        }
        if !is_met(&having) {
            return Err(Unconfirmed::Lagging(u32::try_from(connected.len()).unwrap_or(u32::MAX)));
        }
        let has_others = listed.len() > promotable.len();
        Ok(Followers { promotable: promotable.into_iter().cloned().collect(), has_others })
    }
}

#[cfg(test)]
mod tests {
    use super::Standing::{Behind, InSync, NotPromotable, ReportsMaster};
    use super::Unconfirmed::{Lagging, NotTheMaster, TooFewReplicas};
    use super::*;

    fn at(port: u16) -> Server {
        ("10.0.0.1".to_owned(), port)
    }

    fn role(replicas: &[(u16, u64)]) -> Role {
        Role { offset: 100, replicas: replicas.iter().map(|(port, offset)| (at(*port), *offset)).collect() }
    }

    fn says(master: Option<u16>, replicas: &[(u16, Standing)]) -> Testimony {
        let replicas = replicas.iter().map(|(port, standing)| (at(*port), *standing)).collect();
        Testimony { master: master.map(at), replicas }
    }

    fn decide(replicas: u32, role: &Role, testimonies: &[Testimony]) -> Result<Vec<u16>, Unconfirmed> {
        let found = Wanted { replicas, offset: 100 }.decide(role, &at(1), testimonies, 3);
        found.map(|found| found.promotable.into_iter().map(|(_, port)| port).collect())
    }

    #[test]
    fn every_replica_that_could_be_promoted_has_to_have_the_write_though_fewer_were_asked_for() {
        let healthy = says(Some(1), &[(2, InSync), (3, InSync)]);
        let all = [healthy.clone(), healthy.clone(), healthy];
        assert_eq!(decide(1, &role(&[(2, 100), (3, 120)]), &all), Ok(vec![2, 3]));
        assert_eq!(decide(1, &role(&[(2, 100), (3, 99)]), &all), Err(Lagging(2)), "one lags");
        assert_eq!(decide(1, &role(&[(3, 100)]), &all), Err(TooFewReplicas), "one has left");
        assert_eq!(decide(0, &role(&[(3, 0)]), &all), Ok(vec![3]), "no replica was asked for");
    }

    #[test]
    fn a_replica_that_is_down_or_does_not_follow_yet_is_not_waited_for() {
        let one_down = says(Some(1), &[(2, InSync), (3, NotPromotable)]);
        let all = [one_down.clone(), one_down.clone(), one_down];
        assert_eq!(decide(1, &role(&[(2, 100)]), &all), Ok(vec![2]));
        assert_eq!(decide(2, &role(&[(2, 100)]), &all), Err(TooFewReplicas));
        // What cannot be promoted does not count.
        assert_eq!(decide(2, &role(&[(2, 100), (3, 100)]), &all), Err(TooFewReplicas));
    }

    #[test]
    fn a_replica_that_follows_counts_before_the_sentinels_know_it() {
        let after = says(Some(1), &[(2, Behind), (3, Behind)]);
        let all = [after.clone(), after.clone(), after];
        assert_eq!(decide(1, &role(&[(2, 100)]), &all), Ok(vec![]));
        assert_eq!(decide(1, &role(&[(2, 99)]), &all), Err(Lagging(1)));
        assert_eq!(decide(1, &role(&[(4, 100)]), &all), Ok(vec![]), "named otherwise");
        assert_eq!(decide(1, &role(&[]), &all), Err(TooFewReplicas));
    }

    #[test]
    fn a_server_that_any_sentinel_does_not_call_the_master_confirms_nothing() {
        let healthy = says(Some(1), &[(2, InSync)]);
        let has = role(&[(2, 100)]);
        let (failing, other) = (says(None, &[(2, InSync)]), says(Some(2), &[(1, InSync)]));
        assert_eq!(decide(1, &has, &[healthy.clone(), healthy.clone(), failing]), Err(NotTheMaster));
        assert_eq!(decide(1, &has, &[healthy.clone(), healthy.clone(), other]), Err(NotTheMaster));
        assert_eq!(decide(1, &has, std::slice::from_ref(&healthy)), Err(NotTheMaster), "a minority");
        assert_eq!(decide(0, &has, &[says(None, &[])]), Err(NotTheMaster));
        assert_eq!(decide(0, &has, &[]), Ok(vec![2]));
        assert_eq!(decide(1, &has, &[healthy.clone(), healthy]), Ok(vec![2]));
    }

    #[test]
    fn an_old_master_is_not_waited_for_once_every_sentinel_follows_the_new_one() {
        let after = says(Some(1), &[(2, InSync), (3, ReportsMaster)]);
        let has = role(&[(2, 100)]);
        assert_eq!(decide(1, &has, &[after.clone(), after.clone(), after.clone()]), Ok(vec![2]));
        assert_eq!(decide(1, &has, &[after.clone(), after]), Err(TooFewReplicas));
    }

    #[test]
    fn where_all_known_replicas_have_the_write_no_sentinel_is_asked() {
        let wanted = Wanted { replicas: 1, offset: 100 };
        let known = Followers { promotable: [at(2), at(3)].into(), has_others: false };
        assert!(wanted.is_met(&role(&[(2, 100), (3, 100)]), &known));
        assert!(!wanted.is_met(&role(&[(2, 100)]), &known), "one has left");
        assert!(!wanted.is_met(&role(&[(2, 100), (3, 99)]), &known), "one lags");
        assert!(!wanted.is_met(&role(&[(2, 100), (3, 100), (4, 100)]), &known), "one is new");
        let more = Followers { has_others: true, ..known };
        assert!(!wanted.is_met(&role(&[(2, 100), (3, 100)]), &more));
    }

    #[test]
    fn names_that_cannot_be_compared_are_counted() {
        let healthy = says(Some(1), &[(2, InSync), (3, InSync)]);
        let all = [healthy.clone(), healthy.clone(), healthy];
        let named = |count: u16| Role {
            offset: 100,
            replicas: (0..count).map(|number| ((format!("redis-{number}"), 6379), 100)).collect(),
        };
        assert_eq!(decide(1, &named(2), &all), Ok(vec![2, 3]));
        assert_eq!(decide(1, &named(1), &all), Err(TooFewReplicas));
    }

    #[test]
    fn what_servers_and_sentinels_answer_is_read() {
        let text = |text: &str| Value::BulkString(text.as_bytes().to_vec());
        let row = Value::Array(vec![text("10.0.0.1"), text("2"), text("100")]);
        let answer = Value::Array(vec![text("master"), Value::Int(100), Value::Array(vec![row])]);
        assert_eq!(Role::parse(&answer), Some(role(&[(2, 100)])));
        let replica =
            Value::Array(vec![text("slave"), text("h"), Value::Int(1), text("connected"), Value::Int(9)]);
        assert_eq!(Role::parse(&replica), None);
        let fields = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let replica = |port: &str, flags: &str, role: &str, link: &str, priority: &str| {
            fields(&[
                ("ip", "10.0.0.1"),
                ("port", port),
                ("flags", flags),
                ("role-reported", role),
                ("master-link-status", link),
                ("slave-priority", priority),
            ])
        };
        let replicas = [
            replica("2", "slave", "slave", "ok", "100"),
            replica("3", "s_down,slave", "slave", "ok", "100"),
            replica("4", "slave", "slave", "err", "100"),
            replica("5", "slave", "master", "err", "100"),
            replica("6", "slave", "slave", "ok", "0"),
        ];
        let master = |flags| fields(&[("ip", "10.0.0.1"), ("port", "1"), ("flags", flags)]);
        let rows = [(2, InSync), (3, NotPromotable), (4, Behind), (5, ReportsMaster), (6, NotPromotable)];
        assert_eq!(Testimony::of(&master("master"), &replicas), says(Some(1), &rows));
        for flags in
            ["master,failover_in_progress,force_failover", "s_down,o_down,master", "master,disconnected"]
        {
            assert_eq!(Testimony::of(&master(flags), &[]), says(None, &[]), "{flags}");
        }
    }
}
