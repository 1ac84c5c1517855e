//! Application gateways, as `az network application-gateway list` prints them, and what each says of the servers behind it.

use std::net::IpAddr;

use serde_json::{Map, Value};

use super::balancer::{Frontend, PublicAddresses, read_frontend};
use super::bundle::Cloud;
use super::certificate;
use super::document::Known;
use super::needed::{Needed, NeededPeer};
use super::topology::{has, inner, last_of, part_after, rows};
use crate::net::{DocumentError, Fields};
use crate::nsg::Direction;

/// An application gateway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AppGateway {
    pub(super) name: String,
    /// The network and the subnet in which its instances are.
    pub(super) subnet: Option<(String, String)>,
    /// Whether it runs, where that is said.
    pub(super) is_running: Option<bool>,
    /// It is of the first version, which is managed by other ports.
    pub(super) is_first_version: bool,
    pub(super) frontends: Vec<Frontend>,
    pub(super) listeners: Vec<Listener>,
    pub(super) rules: Vec<Rule>,
    pub(super) pools: Vec<Pool>,
    pub(super) settings: Vec<Settings>,
    pub(super) probes: Vec<Probe>,
    /// What cannot be read of it, and may be what takes a connection.
    pub(super) unread: Vec<String>,
    certificates: Vec<(String, Option<String>)>,
}

/// Where it takes connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listener {
    pub(super) name: String,
    pub(super) frontend: String,
    pub(super) port: u16,
    /// Whether it passes connections on as they are, without reading requests.
    pub(super) is_plain: bool,
    pub(super) is_secure: bool,
    /// The names that it is for; all where there is none.
    pub(super) hosts: Vec<String>,
    pub(super) certificate: Option<String>,
}

/// What becomes of the requests of a listener.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) name: String,
    pub(super) listener: String,
    is_plain: bool,
    /// Where they go; the first is for all paths that no other is for.
    pub(super) targets: Vec<Target>,
    pub(super) end: End,
}

/// What becomes of requests that go to no pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The gateway itself answers with another address.
    Redirected,
    /// The rule says something that is not known here.
    Open,
    /// Nothing: it names neither a pool nor an answer.
    Nowhere,
}

/// A pool, and how it is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) pool: String,
    pub(super) settings: String,
    is_plain: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pool {
    pub(super) name: String,
    pub(super) servers: Vec<Server>,
}

/// A server, by its address, its interface or a name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Server {
    /// As the pool has it.
    pub(super) written: String,
    pub(super) address: Option<IpAddr>,
    pub(super) nic: Option<String>,
}

/// How servers are asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Settings {
    pub(super) name: String,
    is_plain: bool,
    pub(super) port: u16,
    pub(super) probe: Option<String>,
}

/// How it asks whether a server answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Probe {
    pub(super) name: String,
    pub(super) path: String,
    /// Its own port; that of the settings where there is none.
    pub(super) port: Option<u16>,
}

/// What a gateway says of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ServerHealth {
    pool: String,
    settings: String,
    /// As the gateway has it: an address or a name.
    pub(super) server: String,
    pub(super) state: ServerState,
    /// The words of the gateway about the last probe.
    pub(super) log: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ServerState {
    Up,
    Down,
    /// The gateway could not say: whoever manages it cannot reach it.
    Untold,
    /// It takes no new connections, and nothing is wrong with it.
    Draining,
    Unknown,
}

/// What a gateway says of all of its servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Health {
    gateway: String,
    /// When that was, as `2026-05-20T08:00:00Z`.
    pub(super) read_at: Option<String>,
    pub(super) servers: Result<Vec<ServerHealth>, String>,
}

/// Why a probe fails, by the words of the gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProbeFailure {
    /// Nothing came back, or nobody took the connection.
    NoAnswer,
    /// A name has no address.
    Name,
    /// A page with another status, or with another text.
    Page,
    /// The certificate is none that is trusted, is for another name, or has expired.
    Certificate,
}

impl ServerHealth {
    /// Says why its probe fails.
    pub(super) fn failure(&self) -> ProbeFailure {
        let log = self.log.to_ascii_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| log.contains(word));
        if says(&["certificate", "common name", "(cn)"]) {
            ProbeFailure::Certificate
        } else if says(&["status code", "response body", "body of the"]) {
            ProbeFailure::Page
        } else if says(&["fqdn", "resolve", "dns"]) {
            ProbeFailure::Name
        } else {
            ProbeFailure::NoAnswer
        }
    }
}

impl AppGateway {
    /// Returns the listeners for a port of a frontend: those for a name, or else those for all names.
    pub(super) fn listeners(&self, frontend: &str, port: u16, name: Option<&str>) -> Vec<&Listener> {
        let is_own = |own: &&Listener| own.port == port && own.frontend.eq_ignore_ascii_case(frontend);
        let own: Vec<&Listener> = self.listeners.iter().filter(is_own).collect();
        let named = |listener: &&&Listener| {
            name.is_some_and(|name| listener.hosts.iter().any(|host| is_host(host, name)))
        };
        let for_all = |listener: &&&Listener| listener.hosts.is_empty();
        let by_name: Vec<&Listener> = own.iter().filter(named).copied().collect();
        let by_all: Vec<&Listener> = own.iter().filter(for_all).copied().collect();
        [by_name, by_all, own].into_iter().find(|all| !all.is_empty()).unwrap_or_default()
    }

    pub(super) fn rule(&self, listener: &Listener) -> Option<&Rule> {
        let is_own = |rule: &&Rule| {
            rule.is_plain == listener.is_plain && rule.listener.eq_ignore_ascii_case(&listener.name)
        };
        self.rules.iter().find(is_own)
    }

    pub(super) fn pool(&self, name: &str) -> Option<&Pool> {
        self.pools.iter().find(|pool| pool.name.eq_ignore_ascii_case(name))
    }

    pub(super) fn settings(&self, target: &Target) -> Option<&Settings> {
        let is_own = |own: &&Settings| {
            own.is_plain == target.is_plain && own.name.eq_ignore_ascii_case(&target.settings)
        };
        self.settings.iter().find(is_own)
    }

    pub(super) fn probe(&self, name: &str) -> Option<&Probe> {
        self.probes.iter().find(|own| own.name.eq_ignore_ascii_case(name))
    }

    /// Returns when the certificate of a listener ends, where that is shown.
    pub(super) fn end_of(&self, listener: &Listener) -> Option<&str> {
        let name = listener.certificate.as_deref()?;
        let own = self.certificates.iter().find(|(own, _)| own.eq_ignore_ascii_case(name));
        own.and_then(|(_, end)| end.as_deref())
    }
}

impl Health {
    pub(super) fn is_of(&self, gateway: &str) -> bool {
        self.gateway.eq_ignore_ascii_case(gateway)
    }

    /// Returns what is said of the servers of a pool, asked with some settings.
    pub(super) fn of_target(&self, target: &Target) -> Vec<&ServerHealth> {
        let is_own = |own: &&ServerHealth| {
            own.pool.eq_ignore_ascii_case(&target.pool) && own.settings.eq_ignore_ascii_case(&target.settings)
        };
        self.servers.iter().flatten().filter(is_own).collect()
    }

    /// Tells whether some server of any pool answers.
    pub(super) fn has_up(&self) -> bool {
        self.servers.iter().flatten().any(|own| own.state == ServerState::Up)
    }
}

fn is_host(pattern: &str, name: &str) -> bool {
    match pattern.strip_prefix("*.") {
        Some(end) => {
            let name = name.to_ascii_lowercase();
            name.strip_suffix(&end.to_ascii_lowercase()).is_some_and(|rest| rest.ends_with('.'))
        }
        None => pattern.eq_ignore_ascii_case(name),
    }
}

/// Returns what the group of a gateway's subnet has to let in, so that the platform lets the gateway work: whoever manages it, and whoever
/// asks whether it is there.
pub(super) const fn needed(is_first_version: bool) -> [Needed; 2] {
    let ports = if is_first_version { (65_503, 65_534) } else { (65_200, 65_535) };
    let direction = Direction::Inbound;
    [
        Needed { peer: NeededPeer::Manager, direction, ports },
        Needed { peer: NeededPeer::LoadBalancer, direction, ports: (0, u16::MAX) },
    ]
}

fn list<'a>(body: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    body.field(name).and_then(Value::as_array).into_iter().flatten()
}

fn number(body: &Value, name: &str) -> Option<u16> {
    body.field(name).and_then(Value::as_u64).and_then(|number| u16::try_from(number).ok())
}

/// Reads all gateways. One that cannot be read leaves all unknown: it might be the one that is called.
pub(super) fn app_gateways(cloud: &Cloud, publics: &PublicAddresses) -> Known<Vec<AppGateway>> {
    Known::of(cloud.application_gateways.as_ref(), |text| {
        let is_row = |map: &Map<String, Value>| {
            has(map, "httpListeners") || has(map, "listeners") || has(map, "gatewayIPConfigurations")
        };
        let read = rows(text, "application gateways", is_row, |row, _| gateway(row, publics));
        let (found, odd) = read.map_err(|error: DocumentError| error.to_string())?;
        odd.into_iter().next().map_or(Ok(found), Err)
    })
}

fn gateway(row: &Value, publics: &PublicAddresses) -> Option<AppGateway> {
    let body = inner(row);
    let place = list(body, "gatewayIPConfigurations").map(inner).find_map(|one| {
        let id = one.field("subnet")?.text("id")?;
        Some((part_after(id, "virtualNetworks")?, part_after(id, "subnets")?))
    });
    let frontends =
        list(body, "frontendIPConfigurations").filter_map(|frontend| read_frontend(frontend, publics));
    let port = |id: Option<String>| {
        let id = id?;
        let own = list(body, "frontendPorts")
            .find(|port| port.text("name").is_some_and(|name| name.eq_ignore_ascii_case(&id)))?;
        number(inner(own), "port")
    };
    let mut unread: Vec<String> = Vec::new();
    let mut listeners: Vec<Listener> = Vec::new();
    let mut rules: Vec<Rule> = Vec::new();
    let mut settings: Vec<Settings> = Vec::new();
    let mut keep = |row: &Value, is_read: bool| {
        if !is_read {
            unread.push(row.text("name").unwrap_or("unnamed").to_owned());
        }
    };
    for (name, is_plain) in [("httpListeners", false), ("listeners", true)] {
        for listener in list(body, name) {
            let own = inner(listener);
            let several = list(own, "hostNames").filter_map(Value::as_str);
            let protocol = own.text("protocol").unwrap_or_default().to_ascii_lowercase();
            let known = if is_plain { ["tcp", "tls"] } else { ["http", "https"] };
            let read = || {
                Some(Listener {
                    name: listener.text("name")?.to_owned(),
                    frontend: last_of(own.field("frontendIPConfiguration"))?,
                    port: port(last_of(own.field("frontendPort")))?,
                    is_plain,
                    is_secure: ["https", "tls"].contains(&protocol.as_str()),
                    hosts: several
                        .chain(own.text("hostName"))
                        .filter(|name| !name.is_empty())
                        .map(str::to_owned)
                        .collect(),
                    certificate: last_of(own.field("sslCertificate")),
                })
            };
            let is_known = protocol.is_empty() || known.contains(&protocol.as_str());
            let read = read().filter(|_| is_known);
            keep(listener, read.is_some());
            listeners.extend(read);
        }
    }
    for (name, field, is_plain) in
        [("requestRoutingRules", "httpListener", false), ("routingRules", "listener", true)]
    {
        for rule in list(body, name) {
            let own = inner(rule);
            let (targets, end) = targets(body, own, is_plain);
            let read = || {
                let (name, listener) = (rule.text("name")?.to_owned(), last_of(own.field(field))?);
                Some(Rule { name, listener, is_plain, targets, end })
            };
            let read = read();
            keep(rule, read.is_some());
            rules.extend(read);
        }
    }
    for (name, is_plain) in [("backendHttpSettingsCollection", false), ("backendSettingsCollection", true)] {
        for one in list(body, name) {
            let own = inner(one);
            let read = || {
                Some(Settings {
                    name: one.text("name")?.to_owned(),
                    is_plain,
                    port: number(own, "port")?,
                    probe: last_of(own.field("probe")),
                })
            };
            settings.push(read()?);
        }
    }
    let probes = list(body, "probes").filter_map(|probe| {
        let own = inner(probe);
        Some(Probe {
            name: probe.text("name")?.to_owned(),
            path: own.text("path").unwrap_or("/").to_owned(),
            port: number(own, "port").filter(|port| *port != 0),
        })
    });
    let certificates = list(body, "sslCertificates").filter_map(|own| {
        let end = inner(own).text("publicCertData").and_then(certificate::end);
        Some((own.text("name")?.to_owned(), end))
    });
    let sku = body.field("sku").and_then(|sku| sku.text("tier").or_else(|| sku.text("name")));
    Some(AppGateway {
        name: row.text("name")?.to_owned(),
        subnet: place,
        is_running: body.text("operationalState").and_then(|word| match word.to_ascii_lowercase().as_str() {
            "running" => Some(true),
            "stopped" | "stopping" => Some(false),
            _ => None,
        }),
        is_first_version: sku.is_some_and(|tier| !tier.to_ascii_lowercase().contains("v2")),
        frontends: frontends.collect(),
        listeners,
        rules,
        pools: list(body, "backendAddressPools").map(pool).collect::<Option<_>>()?,
        settings,
        probes: probes.collect(),
        unread,
        certificates: certificates.collect(),
    })
}

/// Returns where the requests of a rule go, to one pool, or by their path to several, and what becomes of those that go to none.
fn targets(gateway: &Value, rule: &Value, is_plain: bool) -> (Vec<Target>, End) {
    let settings = if is_plain { "backendSettings" } else { "backendHttpSettings" };
    let is_there = |of: &Value, name: &str| of.field(name).is_some_and(|value| !value.is_null());
    let target = |of: &Value, pool: &str, settings: &str| {
        Some(Target { pool: last_of(of.field(pool))?, settings: last_of(of.field(settings))?, is_plain })
    };
    let end = |of: &Value, part: &[&str]| {
        let known = ["redirectConfiguration", "defaultRedirectConfiguration"];
        if known.iter().any(|name| is_there(of, name)) {
            End::Redirected
        } else if part.iter().any(|name| is_there(of, name)) {
            End::Open
        } else {
            End::Nowhere
        }
    };
    let Some(map) = rule.field("urlPathMap").filter(|map| !map.is_null()) else {
        let found = target(rule, "backendAddressPool", settings);
        let halves = ["backendAddressPool", settings, "loadDistributionPolicy"];
        return (found.into_iter().collect(), end(rule, &halves));
    };
    let name = last_of(Some(map)).unwrap_or_default();
    let mut maps = list(gateway, "urlPathMaps");
    let map = maps.find(|map| map.text("name").is_some_and(|own| own.eq_ignore_ascii_case(&name)));
    let Some(map) = map.map(inner) else { return (Vec::new(), End::Open) };
    let usual = target(map, "defaultBackendAddressPool", "defaultBackendHttpSettings");
    let by_path = list(map, "pathRules").map(inner);
    let by_path = by_path.filter_map(|own| target(own, "backendAddressPool", "backendHttpSettings"));
    let mut found: Vec<Target> = Vec::new();
    for one in usual.into_iter().chain(by_path) {
        if !found.contains(&one) {
            found.push(one);
        }
    }
    let halves = ["defaultBackendAddressPool", "defaultBackendHttpSettings", "defaultLoadDistributionPolicy"];
    let end = match end(map, &halves) {
        End::Nowhere if list(map, "pathRules").next().is_some() => End::Open,
        other @ (End::Nowhere | End::Redirected | End::Open) => other,
    };
    (found, end)
}

fn pool(pool: &Value) -> Option<Pool> {
    let own = inner(pool);
    let named = list(own, "backendAddresses").filter_map(|server| {
        let written = server.text("ipAddress").or_else(|| server.text("fqdn"))?.to_owned();
        Some(Server { address: written.parse().ok(), nic: None, written })
    });
    let by_nic = list(own, "backendIPConfigurations").filter_map(|by| {
        let id = by.text("id")?;
        let nic = part_after(id, "networkInterfaces")?;
        // A member of a scale set is not among the interfaces that are listed.
        let is_listed = !id.contains("virtualMachineScaleSets");
        Some(Server { written: nic.clone(), address: None, nic: is_listed.then_some(nic) })
    });
    let mut servers: Vec<Server> = named.chain(by_nic).collect();
    servers.sort();
    servers.dedup();
    Some(Pool { name: pool.text("name")?.to_owned(), servers })
}

/// Reads what gateways say of their servers.
pub(super) fn health(cloud: &Cloud) -> Known<Vec<Health>> {
    Known::of(cloud.backend_health.as_ref(), |text| {
        let is_row = |map: &Map<String, Value>| has(map, "backendAddressPools") || has(map, "error");
        let read = rows(text, "what gateways say of their servers", is_row, |row, _| {
            let servers = match row.text("error") {
                Some(error) => Err(error.to_owned()),
                None => Ok(servers(row)),
            };
            Some(Health {
                gateway: row.text("gateway")?.to_owned(),
                read_at: row.text("readAt").map(str::to_owned),
                servers,
            })
        });
        let (found, _) = read.map_err(|error: DocumentError| error.to_string())?;
        Ok(found)
    })
}

/// Tells whether a gateway says that it could not be asked about a server: what it says of it then is no more than that.
fn is_untold(server: &Value) -> bool {
    let log = server.text("healthProbeLog").unwrap_or_default().to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().all(|word| log.contains(word));
    says(&["health", "could not be retrieved"])
        || says(&["health", "cannot be retrieved"])
        || says(&["unable to retrieve", "health"])
        || (says(&["65200"]) && says(&["65535"]))
        || (says(&["65503"]) && says(&["65534"]))
}

fn servers(row: &Value) -> Vec<ServerHealth> {
    let mut found = Vec::new();
    for pool in list(row, "backendAddressPools") {
        let name = last_of(pool.field("backendAddressPool")).unwrap_or_default();
        let both = ["backendHttpSettingsCollection", "backendSettingsCollection"];
        for asked in both.iter().flat_map(|name| list(pool, name)) {
            let settings = asked.field("backendHttpSettings").or_else(|| asked.field("backendSettings"));
            let settings = last_of(settings).unwrap_or_default();
            found.extend(list(asked, "servers").filter_map(|server| {
                let state = match server.text("health").unwrap_or_default().to_ascii_lowercase().as_str() {
                    // Some of the instances reach it.
                    "up" | "healthy" | "partial" => ServerState::Up,
                    "down" | "unhealthy" if is_untold(server) => ServerState::Untold,
                    "down" | "unhealthy" => ServerState::Down,
                    "draining" => ServerState::Draining,
                    _ => ServerState::Unknown,
                };
                Some(ServerHealth {
                    pool: name.clone(),
                    settings: settings.clone(),
                    server: server.text("address")?.to_owned(),
                    state,
                    log: server.text("healthProbeLog").unwrap_or_default().to_owned(),
                })
            }));
        }
    }
    found
}
