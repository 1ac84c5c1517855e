//! Load balancers, as `az network lb list` prints them, with the public addresses of their frontends.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde_json::Value;

use super::flow::Protocol;
use super::topology::{Decoded, Listed, PublicOf, has, inner, last_of, part_after, rows};
use crate::net::{DocumentError, Fields};

/// A load balancer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Balancer {
    pub(super) name: String,
    pub(super) frontends: Vec<Frontend>,
    pub(super) pools: Vec<Pool>,
    pub(super) rules: Vec<Rule>,
    pub(super) probes: Vec<Probe>,
    /// The pools that an outbound rule serves.
    pub(super) outbound: Vec<String>,
    /// Rules that cannot be read: each may take any port.
    pub(super) unread: Vec<String>,
    /// Ports at a frontend that lead to the machines of a scale set, which no list shows.
    pub(super) spread: Vec<Spread>,
    pub(super) sku: Sku,
}

/// Decides what Azure lets in from the internet where no security group exists: everything by a Basic address or load balancer, nothing
/// by a Standard one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(super) enum Sku {
    Basic,
    /// Standard and what came after it.
    Standard,
    /// It was not read, or is newer than this list. Old versions of the API do not print it.
    #[default]
    Unknown,
}

impl Sku {
    /// Reads the `sku` of a public address or a load balancer.
    pub(super) fn of(row: &Value) -> Self {
        let sku = row.field("sku").or_else(|| inner(row).field("sku"));
        let word = sku.and_then(|sku| sku.text("name").or_else(|| sku.as_str()));
        match word.unwrap_or_default().to_ascii_lowercase().as_str() {
            "basic" => Self::Basic,
            "standard" | "standardv2" => Self::Standard,
            _ => Self::Unknown,
        }
    }

    /// Returns the one that several share; Azure lets no interface have addresses of two.
    pub(super) fn common(all: &[Self]) -> Self {
        match all.split_first() {
            Some((first, others)) if others.iter().all(|other| other == first) => *first,
            Some(_) | None => Self::Unknown,
        }
    }

    /// Returns it, or another one where it was not read.
    pub(super) fn or(self, other: impl FnOnce() -> Self) -> Self {
        if self == Self::Unknown { other() } else { self }
    }
}

/// Ports of a frontend of which each leads to one machine of a scale set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spread {
    pub(super) name: String,
    pub(super) frontend: String,
    pub(super) ports: (u16, u16),
}

/// An address at which it takes connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frontend {
    pub(super) name: String,
    pub(super) address: Option<IpAddr>,
    /// Whether that is an address on the internet.
    pub(super) is_public: bool,
    /// The network in which it stands, where it is none on the internet.
    pub(super) network: Option<String>,
    /// Whether what comes to it passes the appliances of another load balancer first.
    pub(super) is_chained: bool,
    /// That of its public address.
    pub(super) sku: Sku,
}

/// Those among whom it chooses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pool {
    pub(super) name: String,
    pub(super) members: Vec<Member>,
}

/// One of them, by its interface or by its address.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Member {
    pub(super) nic: Option<String>,
    pub(super) address: Option<IpAddr>,
    /// The network that the address is of, where that is said.
    pub(super) network: Option<String>,
    /// Somebody took it out of use.
    pub(super) is_drained: bool,
    /// The ports of the frontend that lead to it alone: the rule, the port there, the port here.
    pub(super) mapped: Vec<(String, u16, u16)>,
}

/// A rule: what comes to a port of a frontend goes to a port of a pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) name: String,
    pub(super) frontend: String,
    pub(super) to: Target,
    /// All protocols where none is named.
    pub(super) protocol: Option<Protocol>,
    /// All ports where it is 0.
    pub(super) port: u16,
    /// The last one of several.
    pub(super) last_port: u16,
    /// Whether each of its ports leads to one member alone.
    pub(super) is_spread: bool,
    pub(super) backend_port: u16,
    /// The machine has to hold the address of the frontend itself.
    pub(super) is_floating: bool,
    pub(super) probe: Option<String>,
    /// Its pool does not leave by it.
    pub(super) is_outbound_off: bool,
}

/// Where a rule leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    Pool(String),
    /// One interface alone.
    Nic(String),
    /// It has neither a pool nor an interface.
    Nowhere,
}

/// How it asks whether a member answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Probe {
    pub(super) name: String,
    pub(super) port: u16,
    /// The page that has to answer with 200, where it asks for one: whether encrypted, and its path.
    pub(super) page: Option<(bool, String)>,
    /// Where no member answers it takes all to answer.
    pub(super) takes_all: bool,
}

impl Balancer {
    /// Returns the rule for a port of a frontend: one for this port before one for all.
    pub(super) fn rule(&self, frontend: &str, protocol: Protocol, port: u16) -> Option<&Rule> {
        let own = self.rules.iter().filter(|rule| {
            rule.frontend.eq_ignore_ascii_case(frontend)
                && rule.protocol.is_none_or(|own| own == protocol)
                && (rule.port == 0 || (rule.port..=rule.last_port).contains(&port))
        });
        own.min_by_key(|rule| rule.port == 0)
    }

    /// Tells whether a frontend is one on the internet.
    pub(super) fn is_public(&self, frontend: &str) -> bool {
        self.frontends.iter().any(|own| own.is_public && own.name.eq_ignore_ascii_case(frontend))
    }

    pub(super) fn pool(&self, name: &str) -> Option<&Pool> {
        self.pools.iter().find(|pool| pool.name.eq_ignore_ascii_case(name))
    }

    pub(super) fn probe(&self, name: &str) -> Option<&Probe> {
        self.probes.iter().find(|probe| probe.name.eq_ignore_ascii_case(name))
    }
}

/// A public address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PublicAddress {
    /// Absent until the platform gives it one.
    pub(super) address: Option<IpAddr>,
    pub(super) sku: Sku,
}

/// Public addresses by the name of their resource, which no other one has here.
pub(super) type PublicAddresses = BTreeMap<String, PublicAddress>;

/// Returns the public address that a reference means.
pub(super) fn listed_public(reference: Option<&Value>, publics: &PublicAddresses) -> Option<PublicAddress> {
    publics.get(&last_of(reference)?.to_ascii_lowercase()).copied()
}

/// A row of a list of public addresses.
fn is_public_row(map: &serde_json::Map<String, Value>) -> bool {
    has(map, "publicIPAllocationMethod") || has(map, "ipAddress")
}

/// Reads what `az network public-ip list` prints.
pub(super) fn public_addresses(text: &str) -> Result<PublicAddresses, DocumentError> {
    let (found, _) = rows(text, "public addresses", is_public_row, |row, _| {
        let address = inner(row).text("ipAddress").and_then(|text| text.parse::<IpAddr>().ok());
        Some((row.text("name")?.to_ascii_lowercase(), PublicAddress { address, sku: Sku::of(row) }))
    })?;
    Ok(found.into_iter().collect())
}

/// Gives interfaces the public addresses that they name, or that name them.
pub(super) fn join_publics(nics: &mut [Listed], publics: &PublicAddresses, text: &str) {
    let read = rows(text, "public addresses", is_public_row, |row, _| {
        let body = inner(row);
        let address = body.text("ipAddress")?.parse::<IpAddr>().ok()?;
        let by = body.field("ipConfiguration")?.text("id")?;
        let holder = part_after(by, "networkInterfaces")?;
        let configuration = part_after(by, "ipConfigurations");
        Some((holder, configuration, PublicAddress { address: Some(address), sku: Sku::of(row) }))
    });
    let held = read.map(|(found, _)| found).unwrap_or_default();
    for nic in nics {
        let named = nic
            .public_names
            .iter()
            .filter_map(|(name, private)| Some((*publics.get(&name.to_ascii_lowercase())?, *private)));
        let holding = held.iter().filter(|(holder, ..)| holder.eq_ignore_ascii_case(&nic.name));
        let holding = holding.map(|(_, configuration, own)| {
            let is_it = |(name, _): &&(String, IpAddr)| {
                configuration.as_deref().is_some_and(|own| own.eq_ignore_ascii_case(name))
            };
            (*own, nic.configurations.iter().find(is_it).map(|(_, private)| *private))
        });
        let own: Vec<(PublicAddress, Option<IpAddr>)> = named.chain(holding).collect();
        for (address, private) in own.iter().filter_map(|(own, private)| Some((own.address?, *private))) {
            if !nic.publics.iter().any(|known| known.public == address) {
                nic.publics.push(PublicOf { public: address, private });
            }
        }
        let skus: Vec<Sku> = own.iter().map(|(own, _)| own.sku).collect();
        nic.sku = nic.sku.or(|| Sku::common(&skus));
        nic.has_public |= !nic.publics.is_empty();
    }
}

fn list<'a>(body: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    body.field(name).and_then(Value::as_array).into_iter().flatten()
}

fn number(body: &Value, name: &str) -> Option<u16> {
    body.field(name).and_then(Value::as_u64).and_then(|number| u16::try_from(number).ok())
}

fn flag(body: &Value, name: &str) -> bool {
    body.field(name).and_then(Value::as_bool).unwrap_or(false)
}

/// Reads what `az network lb list` prints.
pub(super) fn balancers(text: &str, publics: &PublicAddresses) -> Result<Decoded<Balancer>, DocumentError> {
    let is_row = |map: &serde_json::Map<String, Value>| {
        has(map, "backendAddressPools") || has(map, "loadBalancingRules") || has(map, "probes")
    };
    rows(text, "load balancers", is_row, |row, _| {
        let body = inner(row);
        let frontends =
            list(body, "frontendIPConfigurations").filter_map(|frontend| read_frontend(frontend, publics));
        let mut unread = Vec::new();
        let mut read = Vec::new();
        for (rule, own) in list(body, "loadBalancingRules")
            .map(|rule| (rule, read_rule(rule)))
            .chain(list(body, "inboundNatRules").map(|rule| (rule, read_translation(rule))))
        {
            match own {
                Some(own) => read.push(own),
                None => unread.push(rule.text("name").unwrap_or("unnamed").to_owned()),
            }
        }
        let spread = list(body, "inboundNatPools").filter_map(|pool| {
            let own = inner(pool);
            Some(Spread {
                name: pool.text("name")?.to_owned(),
                frontend: last_of(own.field("frontendIPConfiguration"))?,
                ports: (number(own, "frontendPortRangeStart")?, number(own, "frontendPortRangeEnd")?),
            })
        });
        let probes = list(body, "probes").filter_map(|probe| {
            let own = inner(probe);
            let protocol = own.text("protocol").unwrap_or_default().to_ascii_lowercase();
            let path = own.text("requestPath").unwrap_or("/").to_owned();
            Some(Probe {
                name: probe.text("name")?.to_owned(),
                port: number(own, "port")?,
                page: protocol.starts_with("http").then(|| (protocol == "https", path)),
                takes_all: own
                    .text("noHealthyBackendsBehavior")
                    .is_some_and(|word| word.eq_ignore_ascii_case("AllProbedUp")),
            })
        });
        Some(Balancer {
            name: row.text("name")?.to_owned(),
            frontends: frontends.collect(),
            pools: list(body, "backendAddressPools").filter_map(pool).collect(),
            rules: read,
            probes: probes.collect(),
            outbound: list(body, "outboundRules")
                .filter_map(|rule| last_of(inner(rule).field("backendAddressPool")))
                .collect(),
            unread,
            spread: spread.collect(),
            sku: Sku::of(row),
        })
    })
}

/// Reads an address at which a load balancer or an application gateway takes connections.
pub(super) fn read_frontend(frontend: &Value, publics: &PublicAddresses) -> Option<Frontend> {
    let own = inner(frontend);
    let private = own.text("privateIPAddress").and_then(|text| text.parse::<IpAddr>().ok());
    let public = own.field("publicIPAddress").filter(|public| !public.is_null());
    let written =
        public.and_then(|public| inner(public).text("ipAddress")).and_then(|text| text.parse().ok());
    let listed = listed_public(public, publics);
    let is = |name: &str| own.field(name).is_some_and(|value| !value.is_null());
    let sku = public.map_or(Sku::Unknown, Sku::of).or(|| listed.map_or(Sku::Unknown, |own| own.sku));
    let subnet = own.field("subnet").and_then(|subnet| subnet.text("id"));
    Some(Frontend {
        name: frontend.text("name")?.to_owned(),
        address: private.or(written).or_else(|| listed?.address),
        is_public: public.is_some() || is("publicIPPrefix"),
        // Prefixes exist as Standard alone.
        sku: if is("publicIPPrefix") { Sku::Standard } else { sku },
        network: subnet.and_then(|id| part_after(id, "virtualNetworks")),
        is_chained: is("gatewayLoadBalancer"),
    })
}

/// Reads a rule; nothing where it says what is not known here.
fn read_rule(rule: &Value) -> Option<Rule> {
    let own = inner(rule);
    let pool = last_of(own.field("backendAddressPool"))
        .or_else(|| list(own, "backendAddressPools").find_map(|pool| last_of(Some(pool))));
    let port = number(own, "frontendPort").unwrap_or(0);
    Some(Rule {
        name: rule.text("name")?.to_owned(),
        frontend: last_of(own.field("frontendIPConfiguration"))?,
        to: pool.map_or(Target::Nowhere, Target::Pool),
        protocol: protocol(own)?,
        port,
        last_port: port,
        is_spread: false,
        backend_port: number(own, "backendPort").unwrap_or(0),
        is_floating: flag(own, "enableFloatingIP"),
        probe: last_of(own.field("probe")),
        is_outbound_off: flag(own, "disableOutboundSnat"),
    })
}

/// Reads a rule that leads a port to one interface, or each of several ports to one member of a pool.
fn read_translation(rule: &Value) -> Option<Rule> {
    let own = inner(rule);
    let nic = own.field("backendIPConfiguration").and_then(|by| by.text("id"));
    let pool = last_of(own.field("backendAddressPool"));
    let several = number(own, "frontendPortRangeStart").zip(number(own, "frontendPortRangeEnd"));
    let several = several.filter(|(first, _)| *first != 0);
    let one = number(own, "frontendPort").filter(|port| *port != 0).map(|port| (port, port));
    let to = match (nic, pool) {
        (Some(id), _) => Target::Nic(part_after(id, "networkInterfaces")?),
        (None, Some(pool)) => Target::Pool(pool),
        (None, None) => Target::Nowhere,
    };
    let (port, last_port) = one.or(several)?;
    Some(Rule {
        name: rule.text("name")?.to_owned(),
        frontend: last_of(own.field("frontendIPConfiguration"))?,
        is_spread: matches!(to, Target::Pool(_)),
        to,
        protocol: protocol(own)?,
        port,
        last_port,
        backend_port: number(own, "backendPort")?,
        is_floating: flag(own, "enableFloatingIP"),
        probe: None,
        is_outbound_off: false,
    })
}

/// Returns the protocol of a rule, none for all of them; nothing where the word is not known.
fn protocol(rule: &Value) -> Option<Option<Protocol>> {
    match rule.text("protocol").unwrap_or("all").to_ascii_lowercase().as_str() {
        "tcp" => Some(Some(Protocol::Tcp)),
        "udp" => Some(Some(Protocol::Udp)),
        "all" | "*" => Some(None),
        _ => None,
    }
}

fn pool(pool: &Value) -> Option<Pool> {
    let own = inner(pool);
    // A member of a scale set is not among the interfaces that are listed.
    let nic =
        |id: &str| part_after(id, "networkInterfaces").filter(|_| !id.contains("virtualMachineScaleSets"));
    let network = |of: &Value| {
        let within = |name: &str| part_after(of.field(name)?.text("id")?, "virtualNetworks");
        within("virtualNetwork").or_else(|| within("subnet"))
    };
    let mut members: Vec<Member> = list(own, "loadBalancerBackendAddresses")
        .map(|address| {
            let one = inner(address);
            let by = one.field("networkInterfaceIPConfiguration").and_then(|by| by.text("id"));
            let mapped = list(one, "inboundNatRulesPortMapping").filter_map(|map| {
                let rule = map.text("inboundNatRuleName")?.to_owned();
                Some((rule, number(map, "frontendPort")?, number(map, "backendPort")?))
            });
            Member {
                nic: by.and_then(nic),
                address: one.text("ipAddress").and_then(|text| text.parse().ok()),
                network: network(one).or_else(|| network(own)),
                is_drained: one.text("adminState").is_some_and(|word| word.eq_ignore_ascii_case("down")),
                mapped: mapped.collect(),
            }
        })
        .collect();
    for id in list(own, "backendIPConfigurations").filter_map(|by| by.text("id")) {
        let nic = nic(id);
        if nic.is_none() || !members.iter().any(|known| known.nic == nic) {
            members.push(Member { nic, address: None, network: None, is_drained: false, mapped: Vec::new() });
        }
    }
    members.sort();
    members.dedup();
    Some(Pool { name: pool.text("name")?.to_owned(), members })
}
