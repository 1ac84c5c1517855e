//! Load balancers, as `az network lb list` prints them, with the public addresses of their frontends.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde_json::Value;

use super::flow::Protocol;
use super::topology::{Decoded, has, inner, last_of, part_after, rows};
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
}

/// An address at which it takes connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frontend {
    pub(super) name: String,
    pub(super) address: Option<IpAddr>,
    /// Whether that is an address on the internet.
    pub(super) is_public: bool,
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
    /// Somebody took it out of use.
    pub(super) is_drained: bool,
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
                && (rule.port == 0 || rule.port == port)
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

/// Public addresses by the name of their resource.
pub(super) type PublicAddresses = BTreeMap<String, IpAddr>;

/// Reads what `az network public-ip list` prints.
pub(super) fn public_addresses(text: &str) -> Result<PublicAddresses, DocumentError> {
    let is_row =
        |map: &serde_json::Map<String, Value>| has(map, "publicIPAllocationMethod") || has(map, "ipAddress");
    let (found, _) = rows(text, "public addresses", is_row, |row, _| {
        let address = inner(row).text("ipAddress").and_then(|text| text.parse::<IpAddr>().ok());
        Some((row.text("name")?.to_ascii_lowercase(), address))
    })?;
    Ok(found.into_iter().filter_map(|(name, address)| Some((name, address?))).collect())
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
        let frontends = list(body, "frontendIPConfigurations").filter_map(|frontend| {
            let own = inner(frontend);
            let private = own.text("privateIPAddress").and_then(|text| text.parse::<IpAddr>().ok());
            let public = own.field("publicIPAddress");
            let written =
                public.and_then(|public| inner(public).text("ipAddress")).and_then(|text| text.parse().ok());
            let listed = || last_of(public).and_then(|name| publics.get(&name.to_ascii_lowercase()).copied());
            Some(Frontend {
                name: frontend.text("name")?.to_owned(),
                address: private.or(written).or_else(listed),
                is_public: public.is_some_and(|public| !public.is_null()),
            })
        });
        let rules = list(body, "loadBalancingRules").filter_map(|rule| {
            let own = inner(rule);
            let pool = last_of(own.field("backendAddressPool"))
                .or_else(|| list(own, "backendAddressPools").find_map(|pool| last_of(Some(pool))));
            Some(Rule {
                name: rule.text("name")?.to_owned(),
                frontend: last_of(own.field("frontendIPConfiguration"))?,
                to: Target::Pool(pool.unwrap_or_default()),
                protocol: protocol(own),
                port: number(own, "frontendPort").unwrap_or(0),
                backend_port: number(own, "backendPort").unwrap_or(0),
                is_floating: flag(own, "enableFloatingIP"),
                probe: last_of(own.field("probe")),
                is_outbound_off: flag(own, "disableOutboundSnat"),
            })
        });
        let translated = list(body, "inboundNatRules").filter_map(|rule| {
            let own = inner(rule);
            let id = own.field("backendIPConfiguration")?.text("id")?;
            Some(Rule {
                name: rule.text("name")?.to_owned(),
                frontend: last_of(own.field("frontendIPConfiguration"))?,
                to: Target::Nic(part_after(id, "networkInterfaces")?),
                protocol: protocol(own),
                port: number(own, "frontendPort")?,
                backend_port: number(own, "backendPort")?,
                is_floating: flag(own, "enableFloatingIP"),
                probe: None,
                is_outbound_off: false,
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
            rules: rules.chain(translated).collect(),
            probes: probes.collect(),
            outbound: list(body, "outboundRules")
                .filter_map(|rule| last_of(inner(rule).field("backendAddressPool")))
                .collect(),
        })
    })
}

fn protocol(rule: &Value) -> Option<Protocol> {
    match rule.text("protocol").unwrap_or_default().to_ascii_lowercase().as_str() {
        "tcp" => Some(Protocol::Tcp),
        "udp" => Some(Protocol::Udp),
        _ => None,
    }
}

fn pool(pool: &Value) -> Option<Pool> {
    let own = inner(pool);
    // A member of a scale set is not among the interfaces that are listed.
    let nic =
        |id: &str| part_after(id, "networkInterfaces").filter(|_| !id.contains("virtualMachineScaleSets"));
    let mut members: Vec<Member> = list(own, "loadBalancerBackendAddresses")
        .map(|address| {
            let own = inner(address);
            let by = own.field("networkInterfaceIPConfiguration").and_then(|by| by.text("id"));
            Member {
                nic: by.and_then(nic),
                address: own.text("ipAddress").and_then(|text| text.parse().ok()),
                is_drained: own.text("adminState").is_some_and(|word| word.eq_ignore_ascii_case("down")),
            }
        })
        .collect();
    for id in list(own, "backendIPConfigurations").filter_map(|by| by.text("id")) {
        let nic = nic(id);
        if nic.is_none() || !members.iter().any(|known| known.nic == nic) {
            members.push(Member { nic, address: None, is_drained: false });
        }
    }
    members.sort();
    members.dedup();
    Some(Pool { name: pool.text("name")?.to_owned(), members })
}
