//! Where the servers are, as a caller says it.

use std::fmt;
use std::time::Duration;

/// Where the servers are and how long to wait for them.
#[derive(Clone)]
pub struct RedisConfig {
    /// One of
    /// - `redis://USER:PASSWORD@HOST:PORT/DATABASE`, or `rediss://` for TLS, whose certificate has to be valid;
    /// - `redis-cluster://USER:PASSWORD@HOST:PORT,HOST:PORT`;
    /// - `redis-sentinel://USER:PASSWORD@HOST:PORT,HOST:PORT/SERVICE/DATABASE`: hosts are those of the sentinels, which are asked
    ///   without a password, user and password those of the servers.
    ///
    /// User, password and database may be missing; a port is 6379, a sentinel's 26379.
    pub url: String,
    /// The password, if it does not stand in the address; it wins over one that does.
    pub password: Option<String>,
    /// What all keys begin with.
    pub prefix: String,
    /// How many replicas have to have a write before it counts, behind sentinels only (default: none). With fewer, every write is
    /// [`StoreError::Unavailable`](crate::StoreError::Unavailable). More have to have it if a failover could promote more.
    pub replicas: u32,
    /// How long an answer may take.
    pub answer: Duration,
    /// How long a connection may take to be made.
    pub connect: Duration,
}

impl RedisConfig {
    /// Names a server, with two seconds for an answer and for a connection.
    #[must_use]
    pub fn new(url: impl Into<String>, prefix: impl Into<String>) -> Self {
        let second = Duration::from_secs(1);
        Self {
            url: url.into(),
            password: None,
            prefix: prefix.into(),
            replicas: 0,
            answer: 2 * second,
            connect: 2 * second,
        }
    }

    /// Returns the address without user, password and options, for people to read.
    #[must_use]
    pub fn address(&self) -> String {
        let (scheme, rest) = self.url.split_once("://").unwrap_or_default();
        // A password may hold what it should not, a slash for instance: nothing before the last `@` is shown.
        let hosts = rest.rsplit_once('@').map_or(rest, |(_, hosts)| hosts);
        format!("{scheme}://{}", hosts.split(['?', '#']).next().unwrap_or_default())
    }
}

/// Prints no password.
impl fmt::Debug for RedisConfig {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("RedisConfig")
            .field("address", &self.address())
            .field("prefix", &self.prefix)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_for_people_holds_no_password() {
        for (url, shown) in [
            ("redis://h:1/2", "redis://h:1/2"),
            ("redis://u:hunter2@h/", "redis://h/"),
            ("redis://:hunter2/@h", "redis://h"),
            ("redis://:hunt#er2@h", "redis://h"),
            ("redis://:hunt@er2@h", "redis://h"),
            ("redis://h?password=hunter2", "redis://h"),
            ("redis://h?password=hunter2@x", "redis://x"),
            ("redis-sentinel://:p@a,b/main", "redis-sentinel://a,b/main"),
            ("hunter2", "://"),
            ("", "://"),
        ] {
            assert_eq!(RedisConfig::new(url, "ghost").address(), shown, "{url}");
        }
        let config =
            RedisConfig { password: Some("hunter2".to_owned()), ..RedisConfig::new("redis://h", "ghost") };
        assert!(!format!("{config:?}").contains("hunter2"));
    }
}
