//! Everything that is known about an estate, parsed and made ready.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

use super::app_gateway::{self, AppGateway, Health};
use super::balancer::{self, Balancer, Sku};
use super::bastion::{self, Bastion};
use super::bundle::Bundle;
use super::cluster::{self, Cluster};
use super::configured;
use super::context::Context;
use super::document::{Known, Reading};
use super::egress::{self, Failed, Gateway};
use super::filter::Filters;
use super::firewall::{self, Firewall};
use super::flow::Protocol;
use super::flow_log::{self, FlowLogs};
use super::gateway::{self, VirtualGateways};
use super::health::{self, Availability, Event};
use super::naming::{self, Names, ServerAnswer};
use super::needed::Closed;
use super::page::Page;
use super::place::{self, Places};
use super::routing::{Addresses, Links, Routing};
use super::shaping::Shaping;
use super::socket::{Bound, Listener};
use super::topology::{self, Listed, Network, PublicOf};
use super::unknown::{self, UnknownField};
use crate::measured::Probe;
use crate::net::{Family, Inventory, Tags, parse_prefix};
use crate::nsg::Ruleset;
use crate::route::Table;

/// A program that waits for connections on a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listening {
    /// The protocol.
    pub protocol: Protocol,
    /// The one address that it is bound to; `None` where it takes what comes for any.
    pub address: Option<IpAddr>,
    /// The port.
    pub port: u16,
    /// The program, where it is reported.
    pub program: Option<String>,
}

/// Connections of a machine with one peer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    /// The other end.
    pub peer: IpAddr,
    /// Its port.
    pub port: u16,
    /// `ESTAB`, `TIME-WAIT`, `SYN-SENT` …
    pub state: String,
}

/// An estate, ready to judge flows.
///
/// It is built from documents of which each may be absent, partial or failed; what is not known stays not known.
#[derive(Debug)]
pub struct Estate {
    pub(super) machines: Vec<Machine>,
    pub(super) nics: Vec<Nic>,
    pub(super) networks: Known<Vec<Network>>,
    pub(super) interfaces: Known<()>,
    pub(super) balancers: Known<Vec<Balancer>>,
    pub(super) app_gateways: Known<Vec<AppGateway>>,
    pub(super) backend_health: Known<Vec<Health>>,
    pub(super) bastions: Vec<Bastion>,
    pub(super) clusters: Known<Vec<Cluster>>,
    /// Whether the list of bastion hosts was read.
    pub(super) bastion_list: Known<()>,
    pub(super) names: Known<Names>,
    pub(super) firewalls: Known<Vec<Firewall>>,
    pub(super) gateways: Known<Vec<Gateway>>,
    pub(super) failed: Known<Vec<Failed>>,
    pub(super) virtual_gateways: Known<VirtualGateways>,
    /// The events of the platform that last.
    pub(super) events: Known<Vec<Event>>,
    /// How the platform sees machines.
    pub(super) availability: Known<Vec<Availability>>,
    pub(super) flow_logs: Known<FlowLogs>,
    /// The route tables that keep out what gateways learned.
    pub(super) unpropagated: Vec<String>,
    /// The other resource groups that somebody tried to read.
    pub(super) places: Places,
    /// The fields of its documents that nobody here knows.
    pub(super) unknown: Vec<UnknownField>,
    owners: HashMap<IpAddr, Vec<usize>>,
    /// The interface behind each public address, and the private one that it leads to.
    publics: HashMap<IpAddr, (usize, Option<IpAddr>)>,
    warnings: Vec<String>,
}

/// A machine.
#[derive(Debug)]
pub(super) struct Machine {
    pub(super) name: String,
    pub(super) nics: Vec<usize>,
    /// Whether it runs, where that is reported.
    pub(super) running: Option<bool>,
    pub(super) filters: Known<Filters>,
    pub(super) shaping: Known<Shaping>,
    pub(super) routing: Known<Routing>,
    pub(super) addresses: Known<Addresses>,
    pub(super) links: Links,
    pub(super) settings: Known<BTreeMap<String, String>>,
    pub(super) tcp: Known<Vec<Listener>>,
    pub(super) udp: Known<Vec<Listener>>,
    pub(super) connections: Known<Vec<Connection>>,
    pub(super) answers: Known<Vec<ServerAnswer>>,
    pub(super) pages: Known<Vec<Page>>,
    pub(super) probes: Known<Vec<Probe>>,
}

/// A network interface.
#[derive(Debug)]
pub(super) struct Nic {
    pub(super) name: String,
    pub(super) machine: Option<usize>,
    pub(super) addresses: Vec<IpAddr>,
    pub(super) public: Option<IpAddr>,
    /// All of them, the first one included.
    pub(super) publics: Vec<PublicOf>,
    /// Whether it has a public address, known or not.
    pub(super) has_public: bool,
    /// That of its public addresses.
    pub(super) sku: Sku,
    pub(super) network: Option<String>,
    pub(super) subnet: Option<String>,
    /// The name servers that are set for it.
    pub(super) servers: Vec<IpAddr>,
    /// Its region.
    pub(super) region: Option<String>,
    /// Its hardware address, as in `00-22-48-71-C2-05`.
    pub(super) mac: Option<String>,
    /// The route table of its subnet.
    pub(super) table: Option<String>,
    pub(super) forwards: Option<bool>,
    pub(super) routes: Known<Table>,
    pub(super) rules: Known<Ruleset>,
    /// Whether its routes, and its rules, were made from what is configured.
    pub(super) configured: (bool, bool),
    /// User routes of its table by prefix: what effective routes call otherwise, or do not name.
    pub(super) names: Vec<(ipnet::IpNet, String)>,
    /// The firewall that it stands for: one has no interface that is listed.
    pub(super) firewall: Option<usize>,
    /// Whether it stands for a gateway to other sites, which has none either.
    pub(super) is_gateway: bool,
    /// The application gateway that it stands for.
    pub(super) app_gateway: Option<usize>,
    /// The bastion host that it stands for.
    pub(super) bastion: Option<usize>,
    /// The cluster whose nodes it stands for.
    pub(super) cluster: Option<usize>,
    /// The group of its subnet, with the rules that keep the platform from what it stands for.
    pub(super) closed: Option<(String, Vec<Closed>)>,
}

impl Estate {
    /// Parses what a bundle holds. A document that cannot be read is one that is not known, with the reason.
    #[must_use]
    pub fn of(bundle: &Bundle) -> Self {
        let mut warnings = Vec::new();
        let bundle = bundle.distinct();
        let bundle = bundle.as_ref();
        let cloud = &bundle.cloud;
        let mut keep = |of: &str, odd: Vec<String>| {
            warnings.extend(odd.into_iter().map(|what| format!("{of}: {what}")));
        };
        let listed = Known::of(cloud.interfaces.as_ref(), |text| {
            topology::interfaces(text).map_err(|error| error.to_string()).map(|(found, odd)| {
                keep("network interfaces", odd);
                found
            })
        });
        let networks = Known::of(cloud.networks.as_ref(), |text| {
            topology::networks(text).map_err(|error| error.to_string()).map(|(found, odd)| {
                keep("networks", odd);
                let mut found = found;
                place::part_names(&mut found);
                found
            })
        });
        let power = Known::of(cloud.machines.as_ref(), |text| {
            topology::machines(text).map_err(|error| error.to_string()).map(|(found, _)| found)
        });
        let views = Known::of(cloud.instance_views.as_ref(), |text| {
            topology::machines(text).map_err(|error| error.to_string()).map(|(found, _)| found)
        });
        let tables = Known::of(cloud.route_tables.as_ref(), |text| {
            configured::tables(text).map(|(found, odd)| {
                keep("route tables", odd);
                found
            })
        });
        let groups = Known::of(cloud.groups.as_ref(), configured::groups);
        let tags =
            match Known::of(cloud.tags.as_ref(), |text| Tags::parse(text).map_err(|error| error.to_string()))
            {
                Known::Read(tags) => Some(tags),
                Known::Absent => None,
                Known::Failed(why) => {
                    keep("service tags", vec![why]);
                    None
                }
            };
        let publics = Known::of(cloud.public_addresses.as_ref(), |text| {
            balancer::public_addresses(text).map_err(|error| error.to_string())
        });
        let balancers = Known::of(cloud.load_balancers.as_ref(), |text| {
            let none = balancer::PublicAddresses::new();
            let publics = publics.read().unwrap_or(&none);
            balancer::balancers(text, publics).map_err(|error| error.to_string()).map(|(found, odd)| {
                keep("load balancers", odd);
                found
            })
        });
        let gateways = Known::of(cloud.nat_gateways.as_ref(), |text| {
            egress::gateways(text, publics.read().unwrap_or(&balancer::PublicAddresses::new()))
                .map_err(|error| error.to_string())
                .map(|(found, odd)| {
                    keep("NAT gateways", odd);
                    found
                })
        });
        let failed = Known::of(cloud.failed_connections.as_ref(), |text| {
            egress::failed(text).map_err(|error| error.to_string())
        });
        let text_of = |reading: &Option<Reading>| match reading {
            Some(Reading::Text(text)) => Some(text.clone()),
            Some(Reading::Failed { .. }) | None => None,
        };
        let inventory = text_of(&cloud.interfaces).and_then(|text| Inventory::parse(&text).ok());
        let interfaces = match &listed {
            Known::Read(_) => Known::Read(()),
            Known::Absent => Known::Absent,
            Known::Failed(why) => Known::Failed(why.clone()),
        };
        let virtual_gateways = gateway::virtual_gateways(cloud);
        let context = Context {
            bundle,
            networks: networks.read().map(Vec::as_slice),
            tables: tables.read(),
            groups: groups.read(),
            tags: tags.as_ref(),
            tag_text: text_of(&cloud.tags).filter(|_| tags.is_some()),
            inventory: inventory.as_ref(),
            sites: virtual_gateways.read().map(VirtualGateways::prefixes).unwrap_or_default(),
        };
        let mut nics: Vec<Nic> = Vec::new();
        let mut machines: Vec<Machine> = Vec::new();
        let mut listed: Vec<Listed> = listed.read().cloned().unwrap_or_default();
        if let Some(publics) = publics.read() {
            let text = text_of(&cloud.public_addresses).unwrap_or_default();
            balancer::join_publics(&mut listed, publics, &text);
        }
        listed.sort_by(|a, b| (&a.name, &a.addresses).cmp(&(&b.name, &b.addresses)));
        listed.dedup();
        let state = |name: &str| {
            let rows = [&views, &power].into_iter().filter_map(Known::read).flatten();
            let mut own = rows.filter(|(own, _)| own.eq_ignore_ascii_case(name));
            own.find_map(|(_, running)| *running)
        };
        for one in listed {
            let machine = one.machine.clone().map(|name| {
                let at = machines.iter().position(|machine| machine.name.eq_ignore_ascii_case(&name));
                at.unwrap_or_else(|| {
                    machines.push(context.machine(&name, state(&name)));
                    machines.len() - 1
                })
            });
            let nic = context.nic(one, machine);
            if let Some(machine) = machine.and_then(|at| machines.get_mut(at)) {
                machine.nics.push(nics.len());
            }
            nics.push(nic);
        }
        let firewalls = {
            let none = balancer::PublicAddresses::new();
            firewall::firewalls(cloud, publics.read().unwrap_or(&none), tags.as_ref())
        };
        let firewalls = match firewalls {
            Known::Read((found, odd)) => {
                keep("firewalls", odd);
                Known::Read(found)
            }
            Known::Absent => Known::Absent,
            Known::Failed(why) => Known::Failed(why),
        };
        let app_gateways = {
            let none = balancer::PublicAddresses::new();
            app_gateway::app_gateways(cloud, publics.read().unwrap_or(&none))
        };
        let taken: Vec<IpAddr> = nics.iter().flat_map(|nic| nic.addresses.iter().copied()).collect();
        for (at, own) in app_gateways.read().into_iter().flatten().enumerate() {
            nics.extend(context.app_gateway(at, own, &taken));
        }
        let known = networks.read().map(Vec::as_slice).unwrap_or_default();
        let (bastions, bastion_list) = bastion::bastions(cloud, known);
        let taken: Vec<IpAddr> = nics.iter().flat_map(|nic| nic.addresses.iter().copied()).collect();
        for (at, own) in bastions.iter().enumerate() {
            nics.extend(context.bastion(at, own, &taken));
        }
        let clusters = cluster::clusters(cloud);
        for (at, own) in clusters.read().into_iter().flatten().enumerate() {
            let taken: Vec<IpAddr> = nics.iter().flat_map(|nic| nic.addresses.iter().copied()).collect();
            nics.extend(context.nodes(at, own, &taken));
        }
        let all = firewalls.read().map(Vec::as_slice).unwrap_or_default();
        nics.extend(all.iter().enumerate().map(|(at, own)| context.firewall(at, own)));
        let unpropagated = Known::of(cloud.route_tables.as_ref(), configured::unpropagated);
        let unpropagated = unpropagated.read().cloned().unwrap_or_default();
        for own in virtual_gateways.read().into_iter().flat_map(|own| &own.all) {
            nics.push(context.gateway(&own.name, &own.network));
        }
        for name in bundle
            .guests
            .keys()
            .filter(|name| !machines.iter().any(|own| own.name.eq_ignore_ascii_case(name)))
        {
            warnings.push(format!("the documents of the machine {name} belong to nobody who is listed"));
        }
        for name in
            bundle.nics.keys().filter(|name| !nics.iter().any(|own| own.name.eq_ignore_ascii_case(name)))
        {
            warnings.push(format!(
                "the documents of the network interface {name} belong to nobody who is listed"
            ));
        }
        let mut owners: HashMap<IpAddr, Vec<usize>> = HashMap::new();
        let mut publics = HashMap::new();
        for (at, nic) in nics.iter().enumerate() {
            nic.addresses.iter().for_each(|address| owners.entry(*address).or_default().push(at));
            publics.extend(nic.publics.iter().map(|own| (own.public, (at, own.private))));
        }
        let listed = |name: &str| {
            let own = nics.iter().find(|nic| nic.name.eq_ignore_ascii_case(name));
            own.map(|nic| nic.addresses.clone()).unwrap_or_default()
        };
        let names = naming::names(cloud, &listed);
        Self {
            machines,
            nics,
            networks,
            interfaces,
            balancers,
            app_gateways,
            backend_health: app_gateway::health(cloud),
            bastions,
            bastion_list,
            clusters,
            names,
            gateways,
            failed,
            firewalls,
            virtual_gateways,
            events: health::events(cloud),
            availability: health::availability(cloud),
            flow_logs: flow_log::flow_logs(cloud),
            unpropagated,
            places: place::places(cloud),
            unknown: unknown::unknown_fields(cloud),
            owners,
            publics,
            warnings,
        }
    }

    /// Returns what could not be read and names no document of its own.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Returns the names of the machines.
    pub fn machines(&self) -> impl Iterator<Item = &str> {
        self.machines.iter().map(|machine| machine.name.as_str())
    }

    /// Returns the addresses of a machine, that of its first interface first.
    #[must_use]
    pub fn addresses_of(&self, machine: &str) -> Vec<IpAddr> {
        let own = self.machine_named(machine);
        let nics = own.into_iter().flat_map(|own| &own.nics).filter_map(|at| self.nics.get(*at));
        nics.flat_map(|nic| nic.addresses.iter().copied()).collect()
    }

    /// Returns the addresses at which a load balancer of a name takes connections.
    #[must_use]
    pub fn frontend_addresses(&self, balancer: &str) -> Vec<IpAddr> {
        let own = self.balancers().filter(|(name, ..)| name.eq_ignore_ascii_case(balancer));
        own.flat_map(|(_, addresses, _)| addresses).collect()
    }

    /// Tells whether a name is that of a load balancer without an address on the internet.
    #[must_use]
    pub fn is_inner_balancer(&self, name: &str) -> bool {
        let balancers = self.balancers.read().into_iter().flatten().map(|own| (&own.name, &own.frontends));
        let gateways = self.app_gateways.read().into_iter().flatten().map(|own| (&own.name, &own.frontends));
        balancers.chain(gateways).any(|(own, frontends)| {
            own.eq_ignore_ascii_case(name) && frontends.iter().all(|frontend| !frontend.is_public)
        })
    }

    /// Returns with whom a machine has connections; `None` where that was not read.
    #[must_use]
    pub fn connections(&self, machine: &str) -> Option<&[Connection]> {
        let own = self.machine_named(machine)?;
        own.connections.read().map(Vec::as_slice)
    }

    /// Returns the network interfaces of a machine.
    #[must_use]
    pub fn nics_of(&self, machine: &str) -> Vec<String> {
        let own = self.machine_named(machine);
        let nics = own.into_iter().flat_map(|own| &own.nics).filter_map(|at| self.nics.get(*at));
        nics.map(|nic| nic.name.clone()).collect()
    }

    /// Returns who listens on a machine; `None` where that was not read.
    #[must_use]
    pub fn listeners(&self, machine: &str) -> Option<Vec<Listening>> {
        let own = self.machine_named(machine)?;
        let tcp = own.tcp.read()?.iter();
        let all = tcp.chain(own.udp.read().into_iter().flatten());
        let listening = |listener: &Listener| Listening {
            protocol: listener.protocol,
            address: match listener.address {
                Bound::At(address) => Some(address),
                Bound::Any | Bound::AnyV4 | Bound::AnyV6 => None,
            },
            port: listener.port,
            program: listener.program.clone(),
        };
        Some(all.map(listening).collect())
    }

    /// Returns each public address of an interface with the private one that it leads to, that one first.
    pub fn publics(&self) -> impl Iterator<Item = (IpAddr, IpAddr)> {
        let all = self.nics.iter().flat_map(|nic| &nic.publics);
        all.filter_map(|own| Some((self.behind_public(own.public)?, own.public)))
    }

    /// Returns the security rules of every interface of which they are known, with its name.
    pub fn security_rules(&self) -> impl Iterator<Item = (&str, &Ruleset)> {
        let listed = self.nics.iter().filter(|nic| !nic.is_instance());
        listed.filter_map(|nic| Some((nic.name.as_str(), nic.rules.read()?)))
    }

    /// Returns the first address of an interface.
    #[must_use]
    pub fn first_address(&self, nic: &str) -> Option<IpAddr> {
        self.nics.iter().find(|own| own.name.eq_ignore_ascii_case(nic))?.addresses.first().copied()
    }

    /// Returns the machine that has an address, where it is one.
    #[must_use]
    pub fn machine_at(&self, address: IpAddr) -> Option<&str> {
        match self.owners(address) {
            [one] => self.machine_of(*one).map(|(_, machine)| machine.name.as_str()),
            _ => None,
        }
    }

    /// Returns what came of trying to reach destinations from the machine that has an address.
    pub(super) fn probes_at(&self, address: IpAddr) -> Option<(&str, &[Probe])> {
        let [own] = self.owners(address) else { return None };
        let (_, machine) = self.machine_of(*own)?;
        Some((machine.name.as_str(), machine.probes.read()?))
    }

    /// Returns the firewall that an interface stands for.
    pub(super) fn firewall_at(&self, nic: usize) -> Option<&Firewall> {
        self.firewalls.read()?.get(self.nics.get(nic)?.firewall?)
    }

    /// Returns what stands for the firewall that has a public address.
    pub(super) fn public_firewall(&self, address: IpAddr) -> Option<usize> {
        let own = self.firewalls.read()?.iter().position(|own| own.publics.contains(&address))?;
        self.nics.iter().position(|nic| nic.firewall == Some(own))
    }

    /// Tells whether a name is that of a firewall or a gateway of the platform: nobody can ask it for the state of an interface.
    #[must_use]
    pub fn is_of_platform(&self, name: &str) -> bool {
        self.nics.iter().any(|nic| nic.is_of_platform() && nic.name == name)
    }

    /// Tells whether an address that nobody has may be at another site: there is a gateway.
    #[must_use]
    pub fn may_be_elsewhere(&self, address: IpAddr) -> bool {
        let has_gateway = self.networks.read().into_iter().flatten().any(Network::has_gateway);
        let is_nobodys = self.owners(address).is_empty()
            && self.frontend(address).is_none()
            && self.app_frontend(address).is_none()
            && self.beyond(address).is_none();
        has_gateway && is_nobodys && is_private(address)
    }

    /// Tells whether it is: a site holds it, or no network that was read does.
    #[must_use]
    pub fn is_elsewhere(&self, address: IpAddr) -> bool {
        let is_at_site = self.virtual_gateways.read().is_some_and(|known| known.holds(address));
        self.may_be_elsewhere(address) && (is_at_site || self.network_of(address).is_none())
    }

    /// Returns the network whose gateway an interface uses: its own, or the one that a connected network lends.
    pub(super) fn gateway_network(&self, nic: &Nic) -> Option<&Network> {
        let own = self.network(nic.network.as_deref()?)?;
        if own.has_gateway() {
            return Some(own);
        }
        let lent = |peering: &topology::Peering| {
            let hub = self.network(&peering.remote)?;
            let back = hub.peering_with(&own.name);
            back.is_none_or(|back| back.transit != Some(false)).then_some(hub)
        };
        own.peerings.iter().filter(|peering| peering.is_connected() && peering.remote_gateway).find_map(lent)
    }

    /// Returns what stands for the gateway through which a site that holds an address comes in.
    pub(super) fn gateway_towards(&self, address: IpAddr) -> Option<usize> {
        let known = self.virtual_gateways.read().filter(|known| known.holds(address))?;
        let networks = self.networks.read().map(Vec::as_slice).unwrap_or_default();
        let holds = |nic: &Nic| {
            let network = nic.network.as_deref().filter(|_| nic.is_gateway);
            network
                .is_some_and(|own| matches!(known.towards(own, address, networks), gateway::Towards::Held(_)))
        };
        self.nics.iter().position(holds)
    }

    /// Tells whether an address lies where the platform puts its own appliances.
    pub(super) fn is_managed(&self, address: IpAddr) -> bool {
        let subnet = self.network_of(address).and_then(|network| network.subnet_of(address));
        // Where nobody read the firewalls nobody knows whether one is there.
        subnet.is_some_and(|subnet| {
            let is_there = subnet.is_used || self.firewalls.read().is_none();
            is_there && subnet.name.eq_ignore_ascii_case("AzureFirewallSubnet")
        })
    }

    /// Returns the interfaces that have an address.
    pub(super) fn owners(&self, address: IpAddr) -> &[usize] {
        self.owners.get(&address).map_or(&[], Vec::as_slice)
    }

    /// Returns the interface behind a public address.
    pub(super) fn public(&self, address: IpAddr) -> Option<usize> {
        self.publics.get(&address).map(|(nic, _)| *nic)
    }

    /// Returns the private address to which a public one leads.
    pub(super) fn behind_public(&self, address: IpAddr) -> Option<IpAddr> {
        let (nic, private) = self.publics.get(&address)?;
        let first = || self.nic(*nic)?.addresses.iter().find(|own| own.is_ipv4() == address.is_ipv4());
        private.or_else(|| first().copied())
    }

    pub(super) fn nic(&self, at: usize) -> Option<&Nic> {
        self.nics.get(at)
    }

    pub(super) fn machine_of(&self, nic: usize) -> Option<(usize, &Machine)> {
        let at = self.nics.get(nic)?.machine?;
        self.machines.get(at).map(|machine| (at, machine))
    }

    /// Tells whether a machine has an address.
    pub(super) fn owns(&self, machine: &Machine, address: IpAddr) -> bool {
        let of_nic = machine.nics.iter().filter_map(|at| self.nics.get(*at));
        let listed = of_nic.flat_map(|nic| &nic.addresses).any(|own| *own == address);
        let inside =
            machine.addresses.read().is_some_and(|all| all.values().flatten().any(|own| *own == address));
        listed || inside || address.is_loopback()
    }

    /// Returns the network of which an address is, if it is one that was read.
    pub(super) fn network_of(&self, address: IpAddr) -> Option<&Network> {
        self.networks.read()?.iter().find(|network| network.contains(address))
    }

    pub(super) fn network(&self, name: &str) -> Option<&Network> {
        self.networks.read()?.iter().find(|network| network.name.eq_ignore_ascii_case(name))
    }

    /// Tells whether an address is one of the estate, or at least none of the Internet.
    pub(super) fn is_inside(&self, address: IpAddr) -> bool {
        !self.owners(address).is_empty()
            || self.network_of(address).is_some()
            || self.frontend(address).is_some_and(|(_, frontend)| !frontend.is_public)
            || self.beyond(address).is_some()
            || is_private(address)
    }
}

impl Nic {
    /// Tells whether it stands for a service in a subnet of its own, whose group is asked: what comes back to it is there.
    pub(super) const fn is_instance(&self) -> bool {
        self.app_gateway.is_some() || self.bastion.is_some() || self.cluster.is_some()
    }

    /// Tells whether it stands for something of the platform's, which has no group and nothing inside.
    pub(super) fn is_of_platform(&self) -> bool {
        self.firewall.is_some() || self.is_gateway || self.is_instance()
    }
}

impl Machine {
    /// Returns the device that has an address.
    pub(super) fn device(&self, address: IpAddr) -> Option<String> {
        let all = self.addresses.read()?;
        all.iter().find(|(_, own)| own.contains(&address)).map(|(device, _)| device.clone())
    }

    /// Returns who listens.
    pub(super) fn listeners(&self, protocol: Protocol) -> &Known<Vec<Listener>> {
        match protocol {
            Protocol::Tcp | Protocol::Icmp => &self.tcp,
            Protocol::Udp => &self.udp,
        }
    }

    /// Tells whether it passes on what is not for it, as far as its kernel goes.
    pub(super) fn forwards(&self, six: bool) -> Option<bool> {
        let key = if six { "net.ipv6.conf.all.forwarding" } else { "net.ipv4.ip_forward" };
        match self.settings.read()?.get(key)?.as_str() {
            "1" => Some(true),
            "0" => Some(false),
            _ => None,
        }
    }

    /// Tells whether a device refuses what it would answer by another one.
    pub(super) fn is_strict(&self, device: &str) -> Option<bool> {
        let settings = self.settings.read()?;
        let value = |of: &str| settings.get(&format!("net.ipv4.conf.{of}.rp_filter"))?.parse::<u8>().ok();
        Some(value("all")?.max(value(device)?) == 1)
    }
}

/// Tells whether an address is none of the Internet.
pub(super) fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(own) => {
            let shared = parse_prefix("100.64.0.0/10").is_some_and(|prefix| prefix.contains(&address));
            own.is_private() || own.is_link_local() || shared
        }
        IpAddr::V6(own) => own.is_unique_local() || own.is_unicast_link_local(),
    }
}

/// Returns the family of an address, for what is read by family.
pub(super) fn is_six(address: IpAddr) -> bool {
    Family::of(address) == Family::Ipv6
}
