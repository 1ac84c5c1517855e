//! Addresses: one server, a cluster, or what sentinels watch over.

use redis::{ConnectionAddr, ConnectionInfo, IntoConnectionInfo as _, RedisConnectionInfo};

use crate::StoreError;
use crate::redis::config::RedisConfig;

/// Where the servers are.
#[derive(Debug)]
pub(super) enum Address {
    /// One server.
    Single(ConnectionInfo),
    /// Some nodes of a cluster; they know the others.
    Cluster(Vec<ConnectionInfo>),
    /// The sentinels, the name of what they watch, and how to log in there.
    Sentinel { sentinels: Vec<ConnectionInfo>, service: String, login: RedisConnectionInfo },
}

const KNOWN: &str = "an address begins with redis://, rediss://, redis-cluster:// or redis-sentinel://";
const SENTINEL_PORT: u16 = 26379;

impl Address {
    /// Reads the address of a place.
    pub(super) fn parse(config: &RedisConfig) -> Result<Self, StoreError> {
        let (scheme, rest) = config.url.split_once("://").ok_or_else(|| StoreError::address(KNOWN))?;
        // Among the options of an address is one that lets any certificate pass.
        if rest.contains(['?', '#']) {
            return Err(StoreError::address(
                "an address has no `?` and no `#`; in a password they are %3F and %23",
            ));
        }
        if config.replicas > 0 && scheme != "redis-sentinel" {
            return Err(StoreError::address("replicas are counted behind sentinels only"));
        }
        let password = config.password.as_deref();
        match scheme {
            "redis" | "rediss" => Ok(Self::Single(server(&config.url, password)?)),
            "redis-cluster" => {
                let (login, hosts) = login(rest);
                let hosts = hosts.strip_suffix('/').unwrap_or(hosts);
                if hosts.contains('/') {
                    return Err(StoreError::address("a cluster has no databases: nothing follows its hosts"));
                }
                let node = |host: &str| server(&format!("redis://{login}{host}"), password);
                hosts.split(',').map(node).collect::<Result<_, _>>().map(Self::Cluster)
            }
            "redis-sentinel" => sentinel(rest, password),
            _ => Err(StoreError::address(KNOWN)),
        }
    }

    /// Whether TLS is spoken there.
    pub(super) fn is_encrypted(&self) -> bool {
        match self {
            Self::Single(server) => matches!(server.addr(), ConnectionAddr::TcpTls { .. }),
            Self::Cluster(_) | Self::Sentinel { .. } => false,
        }
    }
}

/// Parts user and password, with the sign behind them, from what follows.
fn login(rest: &str) -> (&str, &str) {
    let at = rest.rfind('@').map_or(0, |at| at + 1);
    rest.split_at_checked(at).unwrap_or(("", rest))
}

fn sentinel(rest: &str, password: Option<&str>) -> Result<Address, StoreError> {
    let (login, rest) = login(rest);
    let (hosts, path) = rest.split_once('/').unwrap_or((rest, ""));
    let (service, database) = path.split_once('/').unwrap_or((path, ""));
    if service.is_empty() {
        return Err(StoreError::address(
            "the name of the service follows the sentinels: redis-sentinel://HOST/SERVICE",
        ));
    }
    let sentinels = hosts.split(',').map(|host| {
        let port = if has_port(host) { String::new() } else { format!(":{SENTINEL_PORT}") };
        server(&format!("redis://{host}{port}"), None)
    });
    Ok(Address::Sentinel {
        sentinels: sentinels.collect::<Result<_, _>>()?,
        service: service.to_owned(),
        // The host is never asked: it only carries how to log in.
        login: server(&format!("redis://{login}server/{database}"), password)?.redis_settings().clone(),
    })
}

fn has_port(host: &str) -> bool {
    host.rsplit_once(':').is_some_and(|(_, port)| port.chars().all(|char| char.is_ascii_digit()))
}

fn server(url: &str, password: Option<&str>) -> Result<ConnectionInfo, StoreError> {
    let has_host = url.rsplit(['@', '/']).any(|part| !part.is_empty());
    let info = url.into_connection_info();
    let info = info.map_err(|error| StoreError::address(format!("its address cannot be read: {error}")))?;
    if !has_host || matches!(info.addr(), ConnectionAddr::Tcp(host, _) if host.is_empty()) {
        return Err(StoreError::address("a host is missing"));
    }
    let Some(password) = password else { return Ok(info) };
    let login = info.redis_settings().clone().set_password(password);
    Ok(info.set_redis_settings(login))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str) -> Result<Address, StoreError> {
        Address::parse(&RedisConfig::new(url, "ghost"))
    }

    fn hosts(servers: &[ConnectionInfo]) -> Vec<String> {
        servers.iter().map(|server| server.addr().to_string()).collect()
    }

    #[test]
    fn a_single_server_may_have_a_login_a_database_and_tls() {
        let Address::Single(server) = parse("rediss://ana:p%40ss@cache.example:7000/3").unwrap() else {
            panic!("it is one server")
        };
        assert_eq!(server.addr().to_string(), "cache.example:7000");
        let login = server.redis_settings();
        assert_eq!((login.username(), login.password(), login.db()), (Some("ana"), Some("p@ss"), 3));
        assert!(parse("rediss://h").unwrap().is_encrypted());
        assert!(!parse("redis://h").unwrap().is_encrypted());
    }

    #[test]
    fn every_node_of_a_cluster_is_logged_in_to_alike() {
        let Address::Cluster(nodes) = parse("redis-cluster://:secret@a:1,b,[::1]:3/").unwrap() else {
            panic!("it is a cluster")
        };
        assert_eq!(hosts(&nodes), ["a:1", "b:6379", "::1:3"]);
        assert!(nodes.iter().all(|node| node.redis_settings().password() == Some("secret")));
    }

    #[test]
    fn sentinels_have_a_port_of_their_own_and_no_password() {
        let Address::Sentinel { sentinels, service, login } =
            parse("redis-sentinel://ana:secret@a,b:7,[::1]/main/2").unwrap()
        else {
            panic!("it is watched by sentinels")
        };
        assert_eq!(hosts(&sentinels), ["a:26379", "b:7", "::1:26379"]);
        assert!(sentinels.iter().all(|sentinel| sentinel.redis_settings().password().is_none()));
        assert_eq!(
            (service.as_str(), login.username(), login.password(), login.db()),
            ("main", Some("ana"), Some("secret"), 2)
        );
    }

    #[test]
    fn a_password_that_was_given_apart_wins() {
        for url in ["redis://:old@h", "redis-cluster://:old@h", "redis-sentinel://:old@h/main"] {
            let config = RedisConfig { password: Some("n/e@w".to_owned()), ..RedisConfig::new(url, "ghost") };
            let found = match Address::parse(&config).unwrap() {
                Address::Single(server) => server.redis_settings().clone(),
                Address::Cluster(nodes) => nodes[0].redis_settings().clone(),
                Address::Sentinel { login, .. } => login,
            };
            assert_eq!(found.password(), Some("n/e@w"), "{url}");
        }
    }

    #[test]
    fn replicas_are_counted_behind_sentinels_only() {
        for (url, fits) in
            [("redis://h", false), ("redis-cluster://h", false), ("redis-sentinel://h/main", true)]
        {
            let config = RedisConfig { replicas: 1, ..RedisConfig::new(url, "ghost") };
            assert_eq!(Address::parse(&config).is_ok(), fits, "{url}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused_without_its_password() {
        for url in [
            "",
            "h:1",
            "http://h",
            "redis://",
            "redis://:hunter2@",
            "redis://h:99999",
            "redis://h/x",
            "redis://h?protocol=9",
            "rediss://h#insecure",
            "redis+unix:///s?pass=hunter2",
            "redis-cluster://",
            "redis-cluster://:hunter2@a,,b",
            "redis-cluster://a/1",
            "redis-sentinel://",
            "redis-sentinel://:hunter2@a",
            "redis-sentinel://a/",
            "redis-sentinel:///main",
            "redis-sentinel://a/main/x",
            "redis-sentinel://a/main/1/2",
            "rediss-cluster://a",
            "redis://hunt/er2@h/",
        ] {
            let refused = parse(url).unwrap_err();
            assert!(matches!(refused, StoreError::Address { .. }), "{url}: {refused:?}");
            assert!(!format!("{refused:?}").contains("hunter2"), "{refused:?}");
        }
    }
}
