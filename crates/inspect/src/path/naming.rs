//! Private endpoints, private zones of names with their links and records, and who may come to an account by its public address, as
//! `az` lists them.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde_json::Value;

use super::bundle::Cloud;
use super::document::Known;
use super::topology::{has, inner, last_of, part_after, rows};
use crate::net::{DocumentError, Fields};

/// A service of the platform that a private endpoint may lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Service {
    /// What an endpoint calls the part of the resource that it leads to.
    group: &'static str,
    /// The end of its public names.
    suffix: &'static str,
    /// The zone of its private ones.
    pub(super) zone: &'static str,
    port: u16,
}

const fn service(group: &'static str, suffix: &'static str, zone: &'static str, port: u16) -> Service {
    Service { group, suffix, zone, port }
}

/// The services that are known by their names.
const SERVICES: [Service; 16] = [
    service("blob", "blob.core.windows.net", "privatelink.blob.core.windows.net", 443),
    service("file", "file.core.windows.net", "privatelink.file.core.windows.net", 445),
    service("queue", "queue.core.windows.net", "privatelink.queue.core.windows.net", 443),
    service("table", "table.core.windows.net", "privatelink.table.core.windows.net", 443),
    service("dfs", "dfs.core.windows.net", "privatelink.dfs.core.windows.net", 443),
    service("web", "web.core.windows.net", "privatelink.web.core.windows.net", 443),
    service("sqlServer", "database.windows.net", "privatelink.database.windows.net", 1433),
    service("vault", "vault.azure.net", "privatelink.vaultcore.azure.net", 443),
    service("sites", "azurewebsites.net", "privatelink.azurewebsites.net", 443),
    service("registry", "azurecr.io", "privatelink.azurecr.io", 443),
    service("namespace", "servicebus.windows.net", "privatelink.servicebus.windows.net", 5671),
    service("Sql", "documents.azure.com", "privatelink.documents.azure.com", 443),
    service(
        "postgresqlServer",
        "postgres.database.azure.com",
        "privatelink.postgres.database.azure.com",
        5432,
    ),
    service("mysqlServer", "mysql.database.azure.com", "privatelink.mysql.database.azure.com", 3306),
    service("redisCache", "redis.cache.windows.net", "privatelink.redis.cache.windows.net", 6380),
    service("configurationStores", "azconfig.io", "privatelink.azconfig.io", 443),
];

impl Service {
    /// Returns the service of a public name with the name of the resource.
    pub(super) fn of(name: &str) -> Option<(&'static Self, String)> {
        let name = plain(name);
        SERVICES.iter().find_map(|own| {
            let label = name.strip_suffix(own.suffix)?.strip_suffix('.')?;
            (!label.is_empty() && !label.contains('.')).then(|| (own, label.to_owned()))
        })
    }
}

/// Returns the port of the service that a name of the platform stands for; `None` where it is no such name.
#[must_use]
pub fn service_port(name: &str) -> Option<u16> {
    Service::of(name).map(|(own, _)| own.port)
}

/// A name in small letters, without the point at its end.
pub(super) fn plain(name: &str) -> String {
    name.trim().trim_end_matches('.').to_ascii_lowercase()
}

/// What was read about names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Names {
    pub(super) endpoints: Vec<Endpoint>,
    pub(super) zones: Known<Vec<Zone>>,
    accounts: Vec<Account>,
}

/// A private endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Endpoint {
    pub(super) name: String,
    /// The network in which it has its address.
    pub(super) network: Option<String>,
    pub(super) addresses: Vec<IpAddr>,
    /// Its network interfaces.
    pub(super) nics: Vec<String>,
    /// `Approved`, `Pending`, `Rejected` or `Disconnected`.
    pub(super) status: String,
    /// The resource that it leads to.
    pub(super) service: String,
    groups: Vec<String>,
    /// The names that it answers to, each with its addresses.
    names: Vec<(String, Vec<IpAddr>)>,
}

impl Endpoint {
    /// Tells whether somebody let it in.
    pub(super) fn is_approved(&self) -> bool {
        self.status.eq_ignore_ascii_case("approved")
    }

    fn serves(&self, name: &str) -> bool {
        let by_service = Service::of(name).is_some_and(|(own, label)| {
            let group = |group: &String| group.eq_ignore_ascii_case(own.group);
            self.service.eq_ignore_ascii_case(&label) && self.groups.iter().any(group)
        });
        by_service || self.named(name).is_some()
    }

    fn named(&self, name: &str) -> Option<&[IpAddr]> {
        let own = self.names.iter().find(|(own, _)| plain(own) == plain(name));
        own.map(|(_, addresses)| addresses.as_slice())
    }

    /// Returns the addresses to which a name leads: its own, where it says which of them.
    pub(super) fn addresses_for(&self, name: &str) -> Vec<IpAddr> {
        let own = self.named(name).filter(|all| !all.is_empty()).map(<[IpAddr]>::to_vec);
        own.unwrap_or_else(|| self.addresses.clone())
    }
}

/// A private zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Zone {
    pub(super) name: String,
    /// Its group: two groups may have zones of one name.
    pub(super) group: String,
    links: Vec<Link>,
    records: BTreeMap<String, Vec<IpAddr>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Link {
    network: String,
    /// What it does not know is asked outside.
    is_open: bool,
}

impl Zone {
    /// Returns the name of a record below it; `@` is the zone itself.
    pub(super) fn label(&self, name: &str) -> Option<String> {
        let (name, own) = (plain(name), plain(&self.name));
        if name == own {
            return Some("@".to_owned());
        }
        let label = name.strip_suffix(&own)?.strip_suffix('.')?;
        (!label.is_empty()).then(|| label.to_owned())
    }

    pub(super) fn record(&self, label: &str) -> Option<&[IpAddr]> {
        let own = self.records.get(label).or_else(|| self.records.get("*"));
        own.map(Vec::as_slice).filter(|all| !all.is_empty())
    }

    /// Tells whether machines of a network see it, and whether what it does not know is asked outside.
    pub(super) fn link(&self, network: &str) -> Option<bool> {
        self.links.iter().find(|link| link.network.eq_ignore_ascii_case(network)).map(|link| link.is_open)
    }
}

/// Who may come to a storage account by its public address.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Account {
    name: String,
    /// Anybody.
    is_open: bool,
    /// Subnets, as network and name.
    subnets: Vec<(String, String)>,
}

/// What the platform's own server answers in a network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer<'a> {
    /// An address of a private zone.
    Private(IpAddr, &'a Zone),
    /// A zone that is linked has no such record, so that no name exists.
    NoRecord(&'a Zone, String),
    /// The same, and the link says to ask outside.
    Redirected(&'a Zone, String),
    /// What is known outside.
    Public,
}

impl Names {
    /// Returns the endpoints that a name may be meant to lead to, those that somebody let in first: those that say so, or else those whose
    /// address a private zone has for it.
    pub(super) fn endpoints_of(&self, name: &str) -> Vec<&Endpoint> {
        let mut found: Vec<&Endpoint> = self.endpoints.iter().filter(|own| own.serves(name)).collect();
        if found.is_empty() {
            let recorded = self.recorded_links(name);
            let has = |own: &&Endpoint| own.addresses.iter().any(|address| recorded.contains(address));
            found.extend(self.endpoints.iter().filter(has));
        }
        found.sort_by_key(|own| !own.is_approved());
        found
    }

    /// Returns the private zones that may hold a name of the platform under `privatelink`, each with the name that is asked for there. Which
    /// part of a name the platform puts it into differs from service to service: the zones that are there say it.
    fn links(&self, name: &str) -> Vec<(&Zone, String)> {
        let name = plain(name);
        let zones = self.zones.read().map(Vec::as_slice).unwrap_or_default();
        let linked = zones.iter().filter_map(|zone| {
            let own = plain(&zone.name);
            let label = name.strip_suffix(own.strip_prefix("privatelink.")?)?.strip_suffix('.')?;
            (!label.is_empty()).then(|| (zone, format!("{label}.{own}")))
        });
        linked.collect()
    }

    /// Returns the addresses that private zones have for a name under `privatelink`.
    fn recorded_links(&self, name: &str) -> Vec<IpAddr> {
        let own = self.links(name).into_iter().filter_map(|(zone, question)| {
            let label = zone.label(&question)?;
            zone.records.get(&label).cloned()
        });
        own.flatten().collect()
    }

    /// Tells whether a zone that a network sees has an address of an endpoint, under whichever name.
    pub(super) fn holds(&self, network: &str, addresses: &[IpAddr]) -> bool {
        let zones = self.zones.read().map(Vec::as_slice).unwrap_or_default();
        let mut seen = zones.iter().filter(|zone| zone.link(network).is_some());
        seen.any(|zone| zone.records.values().flatten().any(|own| addresses.contains(own)))
    }

    /// Returns every name that is asked for on the path to an answer: the name, and that of its private link.
    pub(super) fn questions(&self, name: &str) -> Vec<String> {
        let linked = Service::of(name).map(|(own, label)| format!("{label}.{}", own.zone));
        let mut found: Vec<String> = std::iter::once(plain(name)).chain(linked).collect();
        // Only what an endpoint serves is known to be led on.
        if Service::of(name).is_none() && !self.endpoints_of(name).is_empty() {
            let mut links = self.links(name);
            // Of several zones that might hold it the one that does.
            links.sort_by_key(|(zone, question)| {
                zone.label(question).is_none_or(|label| zone.record(&label).is_none())
            });
            found.extend(links.into_iter().map(|(_, question)| question));
        }
        found
    }

    /// Says what the platform's own server answers in a network.
    pub(super) fn answer(&self, name: &str, network: &str) -> Answer<'_> {
        let zones = self.zones.read().map(Vec::as_slice).unwrap_or_default();
        let mut open = None;
        for question in self.questions(name) {
            let linked = zones.iter().filter_map(|zone| {
                let is_open = zone.link(network)?;
                Some((zone, is_open, zone.label(&question)?))
            });
            let Some((zone, is_open, label)) = linked.max_by_key(|(zone, ..)| zone.name.len()) else {
                continue;
            };
            match zone.record(&label).and_then(|all| all.first()) {
                Some(address) => return Answer::Private(*address, zone),
                None if is_open => open = Some(Answer::Redirected(zone, label)),
                None => return Answer::NoRecord(zone, label),
            }
        }
        open.unwrap_or(Answer::Public)
    }

    /// Returns the address that some private zone has for a name, linked or not.
    pub(super) fn recorded(&self, name: &str) -> Option<(IpAddr, &Zone)> {
        let zones = self.zones.read().map(Vec::as_slice).unwrap_or_default();
        let questions = self.questions(name);
        let found = questions.iter().flat_map(|question| {
            zones.iter().filter_map(move |zone| {
                let address = zone.record(&zone.label(question)?)?.first()?;
                Some((*address, zone))
            })
        });
        found.max_by_key(|(_, zone)| zone.name.len())
    }

    /// Returns the zone that should hold a name: one that is there, a linked one last.
    pub(super) fn zone_of(&self, name: &str, network: &str) -> Option<&Zone> {
        let zones = self.zones.read().map(Vec::as_slice).unwrap_or_default();
        let questions = self.questions(name);
        let holding =
            zones.iter().filter(|zone| questions.iter().any(|question| zone.label(question).is_some()));
        holding.min_by_key(|zone| (zone.link(network).is_some(), std::cmp::Reverse(zone.name.len())))
    }

    /// Tells whether the service of a name takes whoever comes from a subnet to its public address; `None` where that is not known.
    pub(super) fn is_open(&self, name: &str, subnet: Option<(&str, &str)>) -> Option<bool> {
        let (_, label) = Service::of(name).filter(|(own, _)| own.suffix.ends_with("core.windows.net"))?;
        let account = self.accounts.iter().find(|own| own.name.eq_ignore_ascii_case(&label))?;
        let is_named = subnet.is_some_and(|(network, subnet)| {
            let mut all = account.subnets.iter();
            all.any(|(own, name)| own.eq_ignore_ascii_case(network) && name.eq_ignore_ascii_case(subnet))
        });
        Some(account.is_open || is_named)
    }
}

fn list<'a>(body: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    body.field(name).and_then(Value::as_array).into_iter().flatten()
}

fn addresses<'a>(texts: impl Iterator<Item = &'a Value>) -> impl Iterator<Item = IpAddr> {
    texts.filter_map(|text| text.as_str()?.parse::<IpAddr>().ok())
}

/// Reads what is known about names; `listed` gives the addresses of a network interface.
pub(super) fn names(cloud: &Cloud, listed: &dyn Fn(&str) -> Vec<IpAddr>) -> Known<Names> {
    let words = |error: DocumentError| error.to_string();
    let endpoints =
        Known::of(cloud.private_endpoints.as_ref(), |text| endpoints(text, listed).map_err(words));
    let zones = Known::of(cloud.zones.as_ref(), |text| zones(text).map_err(words));
    let links = Known::of(cloud.zone_links.as_ref(), |text| links(text).map_err(words));
    let records = Known::of(cloud.zone_records.as_ref(), |text| records(text).map_err(words));
    let accounts = Known::of(cloud.accounts.as_ref(), |text| accounts(text).map_err(words));
    let zones = match (zones, links, records) {
        (Known::Read(mut zones), Known::Read(links), Known::Read(records)) => {
            for zone in &mut zones {
                let own = |(name, group): &(String, String)| {
                    name.eq_ignore_ascii_case(&zone.name) && group.eq_ignore_ascii_case(&zone.group)
                };
                let mine = links.iter().filter(|(place, _)| own(place));
                zone.links = mine.map(|(_, link)| link.clone()).collect();
                let mine = records.iter().filter(|(place, ..)| own(place));
                zone.records = mine.map(|(_, label, all)| (plain(label), all.clone())).collect();
            }
            Known::Read(zones)
        }
        (Known::Failed(why), ..) | (_, Known::Failed(why), _) | (.., Known::Failed(why)) => {
            Known::Failed(why)
        }
        (Known::Absent | Known::Read(_), ..) => Known::Absent,
    };
    match endpoints {
        Known::Read(endpoints) => {
            let accounts = accounts.read().cloned().unwrap_or_default();
            Known::Read(Names { endpoints, zones, accounts })
        }
        Known::Absent => Known::Absent,
        Known::Failed(why) => Known::Failed(why),
    }
}

/// Reads what `az network private-endpoint list` prints.
fn endpoints(text: &str, listed: &dyn Fn(&str) -> Vec<IpAddr>) -> Result<Vec<Endpoint>, DocumentError> {
    let is_row = |map: &serde_json::Map<String, Value>| {
        has(map, "privateLinkServiceConnections") || has(map, "manualPrivateLinkServiceConnections")
    };
    let (found, _) = rows(text, "private endpoints", is_row, |row, _| {
        let body = inner(row);
        let both = list(body, "privateLinkServiceConnections")
            .chain(list(body, "manualPrivateLinkServiceConnections"));
        let connection = both.map(inner).next()?;
        let state = connection.field("privateLinkServiceConnectionState");
        let nics: Vec<String> =
            list(body, "networkInterfaces").filter_map(|nic| last_of(Some(nic))).collect();
        let named: Vec<&Value> = list(body, "customDnsConfigs").collect();
        let own = list(body, "ipConfigurations").map(inner);
        let mut all: Vec<IpAddr> = named
            .iter()
            .flat_map(|one| addresses(list(one, "ipAddresses")))
            .chain(own.filter_map(|one| one.text("privateIPAddress")?.parse::<IpAddr>().ok()))
            .chain(nics.iter().flat_map(|nic| listed(nic)))
            .collect();
        all.sort_unstable();
        all.dedup();
        let subnet = body.field("subnet").and_then(|subnet| subnet.text("id"));
        Some(Endpoint {
            name: row.text("name")?.to_owned(),
            network: subnet.and_then(|id| part_after(id, "virtualNetworks")),
            addresses: all,
            nics,
            status: state.and_then(|state| state.text("status")).unwrap_or("unknown").to_owned(),
            service: connection.text("privateLinkServiceId").and_then(|id| id.rsplit('/').next())?.to_owned(),
            groups: list(connection, "groupIds").filter_map(Value::as_str).map(str::to_owned).collect(),
            names: named
                .iter()
                .filter_map(|one| {
                    Some((one.text("fqdn")?.to_owned(), addresses(list(one, "ipAddresses")).collect()))
                })
                .collect(),
        })
    })?;
    Ok(found)
}

/// A zone and its group.
type ZonePlace = (String, String);

/// The zone and the group in which something of it stands, by its id.
fn place_of(row: &Value) -> Option<ZonePlace> {
    let id = row.text("id")?;
    Some((part_after(id, "privateDnsZones")?, part_after(id, "resourceGroups").unwrap_or_default()))
}

/// Reads what `az network private-dns zone list` prints.
fn zones(text: &str) -> Result<Vec<Zone>, DocumentError> {
    let is_row = |map: &serde_json::Map<String, Value>| has(map, "numberOfRecordSets") || has(map, "id");
    let (found, _) = rows(text, "private zones", is_row, |row, _| {
        let (name, group) = place_of(row)?;
        Some(Zone { name, group, links: Vec::new(), records: BTreeMap::new() })
    })?;
    Ok(found)
}

/// Reads what `az network private-dns link vnet list` prints, of several zones.
fn links(text: &str) -> Result<Vec<(ZonePlace, Link)>, DocumentError> {
    let is_row = |map: &serde_json::Map<String, Value>| has(map, "virtualNetwork");
    let (found, _) = rows(text, "links of private zones", is_row, |row, _| {
        let body = inner(row);
        let policy = body.text("resolutionPolicy").unwrap_or_default();
        let link = Link {
            network: last_of(body.field("virtualNetwork"))?,
            is_open: policy.eq_ignore_ascii_case("NxDomainRedirect"),
        };
        Some((place_of(row)?, link))
    })?;
    Ok(found)
}

/// A zone with its group, a record of it, and the addresses of that.
type Record = (ZonePlace, String, Vec<IpAddr>);

/// Reads what `az network private-dns record-set a list` prints, of several zones.
fn records(text: &str) -> Result<Vec<Record>, DocumentError> {
    let is_row = |map: &serde_json::Map<String, Value>| has(map, "aRecords") || has(map, "ttl");
    let (found, _) = rows(text, "records of private zones", is_row, |row, _| {
        let all = list(inner(row), "aRecords").filter_map(|one| one.field("ipv4Address"));
        Some((place_of(row)?, row.text("name")?.to_owned(), addresses(all).collect()))
    })?;
    Ok(found)
}

/// Reads what `az storage account list` prints.
fn accounts(text: &str) -> Result<Vec<Account>, DocumentError> {
    let is_row = |map: &serde_json::Map<String, Value>| {
        has(map, "networkRuleSet") || has(map, "networkAcls") || has(map, "primaryEndpoints")
    };
    let (found, _) = rows(text, "storage accounts", is_row, |row, _| {
        let body = inner(row);
        let rules = body.field("networkRuleSet").or_else(|| body.field("networkAcls"));
        let is = |value: Option<&str>, word: &str| value.is_some_and(|own| own.eq_ignore_ascii_case(word));
        let is_closed = is(body.text("publicNetworkAccess"), "Disabled");
        let denies = is(rules.and_then(|rules| rules.text("defaultAction")), "Deny");
        let named = rules.into_iter().flat_map(|rules| list(rules, "virtualNetworkRules"));
        let subnets = named.filter_map(|rule| {
            let id = rule.text("virtualNetworkResourceId").or_else(|| rule.text("id"))?;
            Some((part_after(id, "virtualNetworks")?, part_after(id, "subnets")?))
        });
        Some(Account {
            name: row.text("name")?.to_owned(),
            is_open: !is_closed && !denies,
            subnets: if is_closed { Vec::new() } else { subnets.collect() },
        })
    })?;
    Ok(found)
}

/// What a name server answered to a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ServerAnswer {
    pub(super) server: IpAddr,
    pub(super) name: String,
    /// `NOERROR`, `NXDOMAIN` …; nothing where no answer came.
    pub(super) status: Option<String>,
    pub(super) addresses: Vec<IpAddr>,
}

/// Reads what `dig @SERVER NAME A` printed, once or more often.
pub(super) fn answered(text: &str) -> Vec<ServerAnswer> {
    let mut found: Vec<ServerAnswer> = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [";", "<<>>", "DiG", _, "<<>>", rest @ ..] => {
                let server = rest.iter().find_map(|word| word.strip_prefix('@')?.parse::<IpAddr>().ok());
                let mut names = rest.iter().filter(|word| !word.starts_with(['@', '+']) && **word != "A");
                let name = names.next().map(|name| plain(name)).unwrap_or_default();
                found.extend(server.map(|server| ServerAnswer {
                    server,
                    name,
                    status: None,
                    addresses: Vec::new(),
                }));
            }
            [";;", "->>HEADER<<-", rest @ ..] => {
                let mut rest = rest.iter().skip_while(|word| **word != "status:");
                let status = rest.nth(1).map(|word| word.trim_end_matches(',').to_owned());
                if let Some(last) = found.last_mut() {
                    last.status = status;
                }
            }
            [_, _, "IN", "A", address] => {
                let address = address.parse::<IpAddr>().ok();
                if let Some(last) = found.last_mut() {
                    last.addresses.extend(address);
                }
            }
            _ => {}
        }
    }
    found
}
