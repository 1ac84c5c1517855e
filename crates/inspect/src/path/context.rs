//! Machines and interfaces as they are made from documents, and what stands for firewalls and gateways.

use std::collections::BTreeMap;
use std::net::IpAddr;

use ipnet::IpNet;

use super::app_gateway::{self, AppGateway};
use super::balancer::Sku;
use super::bastion::Bastion;
use super::bundle::{Bundle, Guest};
use super::cluster::Cluster;
use super::configured;
use super::document::{Known, Reading};
use super::estate::{Machine, Nic};
use super::filter::Filters;
use super::firewall::Firewall;
use super::flow::Protocol;
use super::naming;
use super::needed::{self, Needed};
use super::page;
use super::routing::{self, Routing};
use super::shaping::Shaping;
use super::socket;
use super::topology::{Listed, Network};
use crate::measured;
use crate::net::{Inventory, Tags};
use crate::nsg::{Knowledge, Ruleset};
use crate::route::Table;

/// A gateway has at most so many instances, each with an address.
const MAX_INSTANCES: usize = 128;

/// What machines and interfaces are made from.
pub(super) struct Context<'a> {
    pub(super) bundle: &'a Bundle,
    pub(super) networks: Option<&'a [Network]>,
    pub(super) tables: Option<&'a configured::Tables>,
    pub(super) groups: Option<&'a configured::Groups>,
    pub(super) tags: Option<&'a Tags>,
    pub(super) tag_text: Option<String>,
    pub(super) inventory: Option<&'a Inventory>,
    /// The addresses of sites behind gateways.
    pub(super) sites: Vec<IpNet>,
}

fn by_name<'a, T>(all: &'a BTreeMap<String, T>, name: &str) -> Option<&'a T> {
    all.get(name).or_else(|| all.iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, one)| one))
}

impl Context<'_> {
    pub(super) fn nic(&self, listed: Listed, machine: Option<usize>) -> Nic {
        let readings = by_name(&self.bundle.nics, &listed.name);
        let routes = Known::of(readings.and_then(|own| own.routes.as_ref()), |text| {
            Table::parse(text, self.tags).map_err(|error| error.to_string())
        });
        let rules = Known::of(readings.and_then(|own| own.rules.as_ref()), |text| {
            let knowledge = Knowledge { tags: self.tags, inventory: self.inventory };
            Ruleset::parse(text, knowledge).map_err(|error| error.to_string())
        });
        let (network, subnet) = match listed.subnet {
            Some((network, subnet)) => (Some(network), Some(subnet)),
            None => (None, None),
        };
        let configured = (routes.read().is_none(), rules.read().is_none());
        let place = network.as_deref().zip(subnet.as_deref());
        let found = self.networks.zip(place);
        let routes = match (routes, found) {
            (Known::Read(table), _) => Known::Read(table),
            (other, None) => other,
            (other, Some((networks, (network, subnet)))) => {
                match configured::routes(networks, network, subnet, self.tables) {
                    Ok(table) => Known::Read(table),
                    Err(why) => Known::Failed(format!("{}; by its configuration: {why}", other.why_not())),
                }
            }
        };
        let rules = match (rules, found) {
            (Known::Read(rules), _) => Known::Read(rules),
            (other, None) => other,
            (other, Some((networks, place))) => {
                let group = listed.group.as_deref();
                let help = (self.tag_text.as_deref(), self.inventory, self.sites.as_slice());
                match configured::rules(networks, place, group, self.groups, routes.read(), help) {
                    Ok(rules) => Known::Read(rules),
                    Err(why) => Known::Failed(format!("{}; by its configuration: {why}", other.why_not())),
                }
            }
        };
        let own = found.and_then(|(networks, (network, subnet))| {
            let own = networks.iter().find(|own| own.name.eq_ignore_ascii_case(network))?;
            own.subnets.iter().find(|one| one.name.eq_ignore_ascii_case(subnet))
        });
        let table = own.and_then(|subnet| subnet.table.clone());
        let names = table.as_ref().zip(self.tables).and_then(|(name, tables)| {
            let (_, routes) = tables.iter().find(|(own, _)| own.eq_ignore_ascii_case(name))?;
            Some(routes.iter().map(|route| (route.prefix, route.name.clone())).collect())
        });
        Nic {
            machine,
            public: listed.publics.first().map(|own| own.public),
            publics: listed.publics,
            has_public: listed.has_public,
            sku: listed.sku,
            addresses: listed.addresses,
            network,
            subnet,
            servers: listed.servers,
            region: listed.region,
            mac: listed.mac,
            table,
            forwards: listed.forwards,
            routes,
            rules,
            configured,
            names: names.unwrap_or_default(),
            firewall: None,
            is_gateway: false,
            app_gateway: None,
            bastion: None,
            cluster: None,
            closed: None,
            name: listed.name,
        }
    }

    /// Makes what stands for an application gateway. Nothing where the subnet was not read.
    pub(super) fn app_gateway(&self, at: usize, own: &AppGateway, taken: &[IpAddr]) -> Option<Nic> {
        let frontends = own.frontends.iter().filter_map(|one| one.address);
        let taken: Vec<IpAddr> = taken.iter().copied().chain(frontends).collect();
        let needed = app_gateway::needed(own.is_first_version);
        let nic = self.instance(&own.name, own.subnet.as_ref()?, &taken, &needed)?;
        Some(Nic { app_gateway: Some(at), ..nic })
    }

    /// Makes what stands for a bastion host. Nothing where the subnet was not read.
    pub(super) fn bastion(&self, at: usize, own: &Bastion, taken: &[IpAddr]) -> Option<Nic> {
        let nic = self.instance(&own.name, own.subnet.as_ref()?, taken, own.needed())?;
        Some(Nic { bastion: Some(at), ..nic })
    }

    /// Makes what stands for the nodes of a cluster, of each pool whose subnet was read: their interfaces are in a group of the platform's.
    pub(super) fn nodes(&self, at: usize, own: &Cluster, taken: &[IpAddr]) -> Vec<Nic> {
        let mut taken = taken.to_vec();
        let mut found = Vec::new();
        for (pool, place) in &own.pools {
            let nic = self.instance(&format!("{}/{pool}", own.name), place, &taken, &[]);
            taken.extend(nic.iter().flat_map(|nic| nic.addresses.clone()));
            found.extend(nic.map(|nic| Nic { cluster: Some(at), ..nic }));
        }
        found
    }

    /// Makes what stands for an instance of a service in a subnet of its own: an interface with an address that nobody else has, and with
    /// the group and the routes of the subnet.
    fn instance(
        &self,
        name: &str,
        (network, subnet): &(String, String),
        taken: &[IpAddr],
        needed: &[Needed],
    ) -> Option<Nic> {
        let network_of = self.networks?.iter().find(|one| one.name.eq_ignore_ascii_case(network))?;
        let place = network_of.subnets.iter().find(|one| one.name.eq_ignore_ascii_case(subnet))?;
        // The platform keeps the first four addresses of a subnet.
        let free = place.prefixes.iter().find_map(|prefix| {
            let mut hosts = prefix.hosts().filter(|host| host.is_ipv4()).skip(3).take(MAX_INSTANCES);
            hosts.find(|host| !taken.contains(host))
        })?;
        let listed = Listed {
            name: name.to_owned(),
            machine: None,
            addresses: vec![free],
            publics: Vec::new(),
            has_public: true,
            public_names: Vec::new(),
            configurations: Vec::new(),
            sku: Sku::Unknown,
            subnet: Some((network.clone(), subnet.clone())),
            group: None,
            forwards: Some(false),
            servers: Vec::new(),
            region: None,
            mac: None,
        };
        let routes = configured::firewall_routes(self.networks?, (network, subnet), self.tables);
        let closed = place.group.as_ref().zip(self.groups).and_then(|(name, groups)| {
            let (_, group) = groups.iter().find(|(own, _)| own.eq_ignore_ascii_case(name))?;
            Some((name.clone(), needed::closed(&configured::listed(group), needed)))
        });
        Some(Nic {
            routes: routes.map_or_else(Known::Failed, Known::Read),
            configured: (true, true),
            closed,
            ..self.nic(listed, None)
        })
    }

    /// Makes what stands for a firewall: an interface without groups whose routes are those of its subnet.
    pub(super) fn firewall(&self, at: usize, own: &Firewall) -> Nic {
        let (network, subnet) = own.subnet.clone().unzip();
        let listed = Listed {
            name: own.name.clone(),
            machine: None,
            addresses: vec![own.address],
            publics: Vec::new(),
            has_public: !own.publics.is_empty(),
            public_names: Vec::new(),
            configurations: Vec::new(),
            sku: Sku::Unknown,
            subnet: own.subnet.clone(),
            group: None,
            forwards: Some(true),
            servers: Vec::new(),
            region: None,
            mac: None,
        };
        let place = network.as_deref().zip(subnet.as_deref());
        let routes = match self.networks.zip(place) {
            Some((networks, place)) => configured::firewall_routes(networks, place, self.tables)
                .map_or_else(Known::Failed, Known::Read),
            None => Known::Absent,
        };
        Nic {
            routes,
            rules: Known::Absent,
            firewall: Some(at),
            configured: (true, true),
            ..self.nic(listed, None)
        }
    }

    /// Makes what stands for a gateway: an interface without an address whose routes are those of its subnet.
    pub(super) fn gateway(&self, name: &str, network: &str) -> Nic {
        let place = (network, "GatewaySubnet");
        let listed = Listed {
            name: name.to_owned(),
            machine: None,
            addresses: Vec::new(),
            publics: Vec::new(),
            has_public: true,
            public_names: Vec::new(),
            configurations: Vec::new(),
            sku: Sku::Unknown,
            subnet: Some((place.0.to_owned(), place.1.to_owned())),
            group: None,
            forwards: Some(true),
            servers: Vec::new(),
            region: None,
            mac: None,
        };
        let routes = match self.networks {
            Some(networks) => configured::firewall_routes(networks, place, self.tables)
                .map_or_else(Known::Failed, Known::Read),
            None => Known::Absent,
        };
        Nic {
            routes,
            rules: Known::Absent,
            is_gateway: true,
            configured: (true, true),
            ..self.nic(listed, None)
        }
    }

    pub(super) fn machine(&self, name: &str, running: Option<bool>) -> Machine {
        let none = Guest::default();
        let guest = by_name(&self.bundle.guests, name).unwrap_or(&none);
        let filters = if guest.filters.is_empty() {
            Known::Absent
        } else {
            Filters::read(&guest.filters).map_or_else(Known::Failed, Known::Read)
        };
        let routing = Known::of(guest.routes.as_ref(), |text| {
            let mut routing = Routing::read(text)?;
            if let Some(Reading::Text(text)) = &guest.routes6 {
                routing.add(text, true)?;
            }
            match &guest.rules {
                Some(Reading::Text(text)) => routing.with_rules(text),
                Some(Reading::Failed { .. }) | None => Ok(routing),
            }
        });
        Machine {
            name: name.to_owned(),
            nics: Vec::new(),
            running,
            filters,
            shaping: Known::of(guest.shaping.as_ref(), Shaping::read),
            routing,
            addresses: Known::of(guest.addresses.as_ref(), routing::addresses),
            links: match &guest.addresses {
                Some(Reading::Text(text)) => routing::links(text),
                Some(Reading::Failed { .. }) | None => routing::Links::default(),
            },
            settings: Known::of(guest.settings.as_ref(), routing::settings),
            tcp: Known::of(guest.tcp.as_ref(), |text| socket::read(text, Protocol::Tcp)),
            udp: Known::of(guest.udp.as_ref(), |text| socket::read(text, Protocol::Udp)),
            connections: Known::of(guest.connections.as_ref(), |text| Ok(socket::connections(text))),
            answers: Known::of(guest.answers.as_ref(), |text| Ok(naming::answered(text))),
            pages: Known::of(guest.pages.as_ref(), |text| Ok(page::pages(text))),
            probes: Known::of(guest.probes.as_ref(), |text| Ok(measured::read(text))),
        }
    }
}
