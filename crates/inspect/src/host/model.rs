//! A machine as it was gathered.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::answer::{Answer, Known};
use super::container::{self, ContainerNetwork};
use super::counter::{self, Counters, Counts};
use super::gathered::{Gathered, Part, PartError};
use super::lease::{DhcpClient, DhcpServer};
use super::link::{Address, Addressed, Link, LinkCounters, Neighbor};
use super::log::{self, LogLine};
use super::resolver::{self, Resolver, ServerAnswer};
use super::route::{self, RawRoute, RawRule, Route, Routed, RoutedPacket, Rule};
use super::routing::{self, BgpPeer, BgpRoute, Daemons, OspfDevice, OspfNeighbor};
use super::row::rows;
use super::shape;
use super::socket::{self, Connection, Listener, UdpSocket};
use crate::measured::{self, Probe};
use crate::netfilter::{self, Bundle, Source};
use crate::qdisc::{self, Qdisc};

/// Something that could not be read, and was passed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// In which part.
    pub part: Part,
    /// What is odd.
    pub what: String,
}

/// Between two readings of one machine the moment of its start differs by no more seconds: both are rounded, and clocks are set.
const MAX_START_DIFFERENCE: u64 = 3;

/// A machine: what is known of it, what is not, and what was odd about the text.
#[derive(Debug, Clone)]
pub struct Host {
    /// How findings name it.
    pub name: String,
    /// Devices.
    pub links: Known<Vec<Link>>,
    /// What devices counted a moment later.
    later: BTreeMap<String, LinkCounters>,
    /// Addresses.
    pub addresses: Known<Vec<Address>>,
    /// Routes of both families.
    pub routes: Known<Vec<Route>>,
    /// Routing rules of IPv4.
    pub rules: Known<Vec<Rule>>,
    /// Routing rules of IPv6.
    pub rules6: Known<Vec<Rule>>,
    /// Neighbors.
    pub neighbors: Known<Vec<Neighbor>>,
    /// Who listens.
    pub listeners: Known<Vec<Listener>>,
    /// Connections.
    pub connections: Known<Vec<Connection>>,
    /// UDP sockets.
    pub udp: Known<Vec<UdpSocket>>,
    /// Settings of the kernel.
    pub settings: Known<BTreeMap<String, String>>,
    /// Packet filters of every kind.
    pub filters: netfilter::Host,
    /// Whether all of them were read.
    pub filters_read: Answer,
    /// Queueing disciplines, a moment later.
    pub qdiscs: Known<Vec<Qdisc>>,
    /// The text of them, with classes and filters.
    pub shaping: String,
    /// Queueing disciplines at first.
    pub qdiscs_before: Known<Vec<Qdisc>>,
    /// Counters of protocols.
    pub counters: Counters,
    /// Counters of input queues.
    pub softnet: Counters,
    /// The table of connections: `count`, `max` and what it counted.
    pub conntrack: Counters,
    /// Name servers.
    pub resolver: Known<Resolver>,
    /// Names that need no server.
    pub hosts: Vec<(String, IpAddr)>,
    /// What name servers answered.
    pub answers: Vec<ServerAnswer>,
    /// What it asks for by DHCP, and was given.
    pub dhcp_client: Known<DhcpClient>,
    /// DHCP servers that run on it.
    pub dhcp_servers: Known<Vec<DhcpServer>>,
    /// Routing daemons.
    pub daemons: Known<Daemons>,
    /// Neighbors of BGP.
    pub bgp_peers: Known<Vec<BgpPeer>>,
    /// Routes of BGP.
    pub bgp_routes: Known<Vec<BgpRoute>>,
    /// Those of them whose community asks others to throw packets away.
    pub bgp_blackholes: Known<Vec<BgpRoute>>,
    /// Devices on which OSPF speaks.
    pub ospf_devices: Known<Vec<OspfDevice>>,
    /// Neighbors of OSPF.
    pub ospf_neighbors: Known<Vec<OspfNeighbor>>,
    /// What came of trying to reach destinations.
    pub probes: Vec<Probe>,
    /// Services that have failed.
    pub failed_units: Vec<String>,
    /// What the kernel and services of the network warned of.
    pub log: Vec<LogLine>,
    /// Networks of containers, by name.
    pub container_networks: Vec<ContainerNetwork>,
    /// Whether it was read with all rights.
    pub is_root: Answer,
    /// What it calls itself, and the second at which it was started.
    started: Option<(String, i64)>,
    /// The second at which it was read, by its own clock.
    now: Option<i64>,
    /// The routes of IPv6 were not read, and why; those of IPv4 were.
    routes6_closed: Option<String>,
    /// What was not read, and why.
    pub closed: Vec<(Part, PartError)>,
    /// What was odd about the text.
    pub warnings: Vec<Warning>,
}

impl Host {
    /// Reads what was gathered. Nothing in it makes this fail: what cannot be read is not known.
    #[must_use]
    pub fn read(name: &str, gathered: &Gathered) -> Self {
        let mut reader = Reader { gathered, warnings: Vec::new(), closed: Vec::new() };
        let links: Known<Vec<Link>> = reader.table(Part::Links);
        let later: Vec<Link> = reader.table(Part::LinksLater).rows().to_vec();
        let later = later.iter().filter_map(|link| Some((link.name.clone(), link.counters()?))).collect();
        let addresses: Known<Vec<Addressed>> = reader.table(Part::Addresses);
        let addresses = match addresses {
            Known::Read(devices) => Known::Read(devices.into_iter().flat_map(Addressed::addresses).collect()),
            Known::NotRead(why) => Known::NotRead(why),
        };
        let filters = reader.filters();
        let unread = filters.unread.iter().map(ToString::to_string).next();
        let filters_read = unread.map_or(Answer::Yes, Answer::NotKnown);
        let about = reader.words(Part::About);
        let seconds = |key: &str| about.get(key)?.split('.').next()?.trim().parse::<i64>().ok();
        let now = seconds("time");
        let started = now.zip(seconds("up")).map(|(now, up)| now.saturating_sub(up));
        let mut log = reader.plain(Part::UnitLog, log::units).rows().to_vec();
        // Lines of the kernel are dated from its start.
        let kernel = reader.text(Part::KernelLog).ok().zip(started);
        log.extend(kernel.into_iter().flat_map(|(text, started)| log::kernel(&text, started)));
        // Nothing is judged by these; what is missing of them is said all the same.
        for part in UNJUDGED {
            drop(reader.text(part));
        }
        for part in [Part::Bridge, Part::Fdb] {
            let _: Known<Vec<serde_json::Value>> = reader.table(part);
        }
        let networks = [
            reader.plain(Part::DockerNetworks, container::docker),
            reader.plain(Part::PodmanNetworks, container::podman),
            reader.plain(Part::CniNetworks, container::cni),
        ];
        Self {
            started: about.get("name").cloned().zip(started),
            now,
            log,
            container_networks: networks.iter().flat_map(|own| own.rows().iter().cloned()).collect(),
            name: name.to_owned(),
            links,
            later,
            addresses,
            routes: reader.routes(),
            routes6_closed: reader.why_closed(Part::Routes6),
            rules: reader.rules(Part::Rules, false),
            rules6: reader.rules(Part::Rules6, true),
            neighbors: reader.neighbors(),
            listeners: reader.listeners(),
            connections: reader.lines(Part::Connections, socket::connections),
            udp: reader.plain(Part::Udp, socket::udp),
            settings: reader.plain(Part::Settings, settings),
            filters_read,
            filters,
            shaping: reader.text(Part::QdiscsLater).unwrap_or_default(),
            qdiscs_before: reader.qdiscs(Part::Qdiscs),
            qdiscs: reader.qdiscs(Part::QdiscsLater),
            counters: reader.counters(Part::Counters, Part::CountersLater, counter::protocols),
            softnet: reader.counters(Part::Softnet, Part::SoftnetLater, counter::softnet),
            conntrack: reader.counters(Part::Conntrack, Part::ConntrackLater, counter::connections),
            resolver: reader.resolver(),
            hosts: reader.plain(Part::Hosts, resolver::hosts).rows().to_vec(),
            answers: reader.lines(Part::Answers, resolver::answers).rows().to_vec(),
            dhcp_client: reader.plain(Part::DhcpClient, DhcpClient::read),
            dhcp_servers: reader.plain(Part::DhcpServer, DhcpServer::read),
            daemons: reader.plain(Part::Routing, Daemons::read),
            bgp_peers: reader.document(Part::BgpPeers, routing::peers),
            bgp_routes: reader.document(Part::BgpRoutes, routing::routes),
            bgp_blackholes: reader.document(Part::BgpBlackholes, routing::routes),
            ospf_devices: reader.document(Part::OspfDevices, routing::devices),
            ospf_neighbors: reader.document(Part::OspfNeighbors, routing::neighbors),
            probes: reader.plain(Part::Probes, measured::read).rows().to_vec(),
            failed_units: reader.plain(Part::Units, first_words).rows().to_vec(),
            is_root: about.get("uid").map_or_else(
                || Answer::NotKnown("it does not say as whom it was read".to_owned()),
                |uid| Answer::of(uid == "0"),
            ),
            closed: reader.closed,
            warnings: reader.warnings,
        }
    }

    /// True if a part was read.
    #[must_use]
    pub fn has_read(&self, part: Part) -> bool {
        !self.closed.iter().any(|(closed, _)| *closed == part)
    }

    /// Returns a device.
    #[must_use]
    pub fn link(&self, name: &str) -> Option<&Link> {
        self.links.rows().iter().find(|link| link.name == name)
    }

    /// Returns by how much the counters of a device grew while it was read.
    #[must_use]
    pub fn growth(&self, device: &str) -> Option<LinkCounters> {
        let before = self.link(device)?.counters()?;
        let after = self.later.get(device)?;
        Some(LinkCounters {
            received: after.received.saturating_sub(before.received),
            errors: after.errors.saturating_sub(before.errors),
            missed: after.missed.saturating_sub(before.missed),
            carrier_changes: after.carrier_changes.saturating_sub(before.carrier_changes),
        })
    }

    /// Tells whether an address is one of its own.
    #[must_use]
    pub fn owns(&self, ip: IpAddr) -> Answer {
        self.addresses.ask(|all| all.iter().any(|address| address.ip() == ip) || ip.is_loopback())
    }

    /// Tells whether another one is this machine, read under another name: it calls itself the same, was started at the same
    /// moment, and has the same devices with the same addresses of both kinds. Machines in containers of one kernel share the first two.
    #[must_use]
    pub fn is_same_machine(&self, other: &Self) -> bool {
        let devices = |host: &Self| -> BTreeMap<String, String> {
            host.links.rows().iter().map(|link| (link.name.clone(), link.address.clone())).collect()
        };
        let addresses =
            |host: &Self| -> BTreeSet<IpAddr> { host.addresses.rows().iter().map(Address::ip).collect() };
        let (Some((own, begun)), Some((there, begun_there))) = (&self.started, &other.started) else {
            return false;
        };
        own == there
            && begun.abs_diff(*begun_there) <= MAX_START_DIFFERENCE
            && !self.links.rows().is_empty()
            && devices(self) == devices(other)
            && addresses(self) == addresses(other)
    }

    /// Returns the second at which it was read, by its own clock.
    #[must_use]
    pub const fn now(&self) -> Option<i64> {
        self.now
    }

    /// Returns the network of containers that hangs on a device.
    #[must_use]
    pub fn container_network(&self, device: &str) -> Option<&ContainerNetwork> {
        self.container_networks.iter().find(|own| own.device.as_deref() == Some(device))
    }

    /// Returns the device that has an address.
    #[must_use]
    pub fn device_of(&self, ip: IpAddr) -> Option<&str> {
        self.addresses.rows().iter().find(|own| own.ip() == ip).map(|own| own.device.as_str())
    }

    /// Returns its addresses for more than its own link, on devices that are no loop.
    pub fn global(&self) -> impl Iterator<Item = &Address> {
        self.addresses
            .rows()
            .iter()
            .filter(|own| own.is_global() && !self.link(&own.device).is_some_and(Link::is_loopback))
    }

    /// Asks its routing rules and tables.
    #[must_use]
    pub fn routed(&self, packet: RoutedPacket<'_>) -> Routed<'_> {
        let rules = if packet.destination.is_ipv6() { &self.rules6 } else { &self.rules };
        match &self.routes6_closed {
            Some(why) if packet.destination.is_ipv6() => Routed::NotKnown(why.clone()),
            Some(_) | None => route::routed(&self.routes, rules, packet),
        }
    }

    /// Returns a setting as a number.
    #[must_use]
    pub fn number(&self, key: &str) -> Option<u64> {
        self.settings.read()?.get(key)?.trim().parse().ok()
    }

    /// Returns a setting's numbers, such as those of `tcp_rmem`.
    #[must_use]
    pub fn numbers(&self, key: &str) -> Vec<u64> {
        let value = self.settings.read().and_then(|all| all.get(key));
        value
            .map(|value| value.split_whitespace().filter_map(|word| word.parse().ok()).collect())
            .unwrap_or_default()
    }

    /// Tells whether it passes on what comes in by a device.
    #[must_use]
    pub fn forwards(&self, device: &str, six: bool) -> Answer {
        let key = if six {
            "net.ipv6.conf.all.forwarding".to_owned()
        } else {
            format!("net.ipv4.conf.{device}.forwarding")
        };
        let own = self.number(&key).or_else(|| self.number("net.ipv4.ip_forward"));
        own.map_or_else(|| Answer::NotKnown(format!("{key} was not read")), |own| Answer::of(own == 1))
    }

    /// Tells whether somebody listens who hears an address.
    #[must_use]
    pub fn listens(&self, protocol: &str, ip: IpAddr, port: u16) -> Answer {
        self.listeners
            .ask(|all| all.iter().any(|own| own.protocol == protocol && own.port == port && own.hears(ip)))
    }

    /// Returns the neighbor entry for an address.
    #[must_use]
    pub fn neighbor(&self, ip: IpAddr) -> Option<&Neighbor> {
        self.neighbors.rows().iter().find(|own| own.ip == ip)
    }
}

/// Parts by which nothing is judged.
const UNJUDGED: [Part; 5] = [Part::Nsswitch, Part::Proxy, Part::Wireguard, Part::Processes, Part::Clock];

/// Reads parts, and remembers what was odd and what was closed.
struct Reader<'a> {
    gathered: &'a Gathered,
    warnings: Vec<Warning>,
    closed: Vec<(Part, PartError)>,
}

/// Reads the rows of a document; what is odd in it becomes a warning.
type ReadDocument<T> = fn(Part, &str, &mut Vec<Warning>) -> Result<Vec<T>, String>;

impl Reader<'_> {
    fn text(&mut self, part: Part) -> Result<String, String> {
        let text = self.gathered.text(part).and_then(|text| match shape::objection(part, text) {
            Some(said) => Err(PartError::Garbage { said }),
            None => Ok(text.to_owned()),
        });
        text.map_err(|error| self.close(part, error))
    }

    /// Notes that a part was not read; returns why.
    fn close(&mut self, part: Part, error: PartError) -> String {
        let why = error.to_string();
        if !self.closed.iter().any(|(known, _)| *known == part) {
            self.closed.push((part, error));
        }
        why
    }

    fn why_closed(&self, part: Part) -> Option<String> {
        self.closed.iter().find(|(known, _)| *known == part).map(|(_, error)| error.to_string())
    }

    fn table<T: serde::de::DeserializeOwned>(&mut self, part: Part) -> Known<Vec<T>> {
        self.document(part, rows)
    }

    fn document<T>(&mut self, part: Part, read: ReadDocument<T>) -> Known<Vec<T>> {
        let text = match self.text(part) {
            Ok(text) => text,
            Err(why) => return Known::NotRead(why),
        };
        match read(part, &text, &mut self.warnings) {
            Ok(found) => Known::Read(found),
            Err(said) => Known::NotRead(self.close(part, PartError::Garbage { said })),
        }
    }

    fn plain<T>(&mut self, part: Part, read: fn(&str) -> T) -> Known<T> {
        self.text(part).map_or_else(Known::NotRead, |text| Known::Read(read(&text)))
    }

    fn lines<T>(&mut self, part: Part, read: fn(&str) -> (Vec<T>, Vec<String>)) -> Known<Vec<T>> {
        let (found, odd) = match self.plain(part, read) {
            Known::Read(read) => read,
            Known::NotRead(why) => return Known::NotRead(why),
        };
        let last =
            self.gathered.text(part).ok().and_then(|text| text.lines().rfind(|line| !line.trim().is_empty()));
        if let (Some(last), Some(odd)) = (last.map(socket::short), odd.last())
            && last == *odd
        {
            self.close(part, PartError::Garbage { said: format!("its last line is not whole: {odd}") });
        }
        self.warnings.extend(
            odd.into_iter()
                .take(20)
                .map(|line| Warning { part, what: format!("`{line}` is not understood") }),
        );
        Known::Read(found)
    }

    /// Reads who listens. Of a list whose end is missing nobody knows who does not.
    fn listeners(&mut self) -> Known<Vec<Listener>> {
        let found = self.lines(Part::Listeners, socket::listeners);
        self.why_closed(Part::Listeners).map_or(found, Known::NotRead)
    }

    /// Reads the name servers. That there is none is known of a whole file alone, and older snapshots do not say how long it was.
    fn resolver(&mut self) -> Known<Resolver> {
        match self.plain(Part::Resolver, Resolver::read) {
            Known::Read(found) if found.servers.is_empty() && !self.gathered.is_whole(Part::Resolver) => {
                let said = "no name server, in a file whose length was not kept".to_owned();
                Known::NotRead(self.close(Part::Resolver, PartError::Garbage { said }))
            }
            read @ (Known::Read(_) | Known::NotRead(_)) => read,
        }
    }

    fn words(&mut self, part: Part) -> BTreeMap<String, String> {
        let text = self.text(part).unwrap_or_default();
        let pairs = text.lines().filter_map(|line| line.split_once(' '));
        pairs.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect()
    }

    fn routes(&mut self) -> Known<Vec<Route>> {
        let mut all = Vec::new();
        let read: [(Part, bool, Known<Vec<RawRoute>>); 2] = [
            (Part::Routes, false, self.table(Part::Routes)),
            (Part::Routes6, true, self.table(Part::Routes6)),
        ];
        for (part, six, rows) in read {
            let rows = match rows {
                Known::Read(rows) => rows,
                // Those of IPv4 are known all the same.
                Known::NotRead(_) if six => continue,
                Known::NotRead(why) => return Known::NotRead(why),
            };
            for row in rows {
                match row.read(six) {
                    Ok(route) => all.push(route),
                    Err(what) => self.warnings.push(Warning { part, what }),
                }
            }
        }
        Known::Read(all)
    }

    fn rules(&mut self, part: Part, six: bool) -> Known<Vec<Rule>> {
        // A kernel without routing rules says that it does not support them: there are the usual tables alone.
        if let Err(PartError::Failed { said, .. }) = self.gathered.text(part)
            && said.contains("not supported")
        {
            return Known::Read(Vec::new());
        }
        let rows: Vec<RawRule> = match self.table(part) {
            Known::Read(rows) => rows,
            Known::NotRead(why) => return Known::NotRead(why),
        };
        let mut all = Vec::new();
        for row in rows {
            match row.read(six) {
                Ok(rule) => all.push(rule),
                Err(what) => self.warnings.push(Warning { part, what }),
            }
        }
        Known::Read(all)
    }

    /// Reads the neighbors as they were, and takes what became of them since: whoever was called and is silent is silent.
    fn neighbors(&mut self) -> Known<Vec<Neighbor>> {
        let first: Known<Vec<Neighbor>> = self.table(Part::Neighbors);
        let later: Known<Vec<Neighbor>> = self.table(Part::NeighborsLater);
        match (first, later) {
            (Known::Read(first), Known::Read(mut later)) => {
                let gone =
                    |own: &Neighbor| !later.iter().any(|one| one.ip == own.ip && one.device == own.device);
                let gone: Vec<Neighbor> = first.into_iter().filter(gone).collect();
                later.extend(gone);
                Known::Read(later)
            }
            (Known::Read(rows), Known::NotRead(_)) | (Known::NotRead(_), Known::Read(rows)) => {
                Known::Read(rows)
            }
            (Known::NotRead(why), Known::NotRead(_)) => Known::NotRead(why),
        }
    }

    fn qdiscs(&mut self, part: Part) -> Known<Vec<Qdisc>> {
        let text = match self.text(part) {
            Ok(text) => text,
            Err(why) => return Known::NotRead(why),
        };
        match qdisc::read(&text) {
            Ok(read) => {
                self.warnings.extend(read.gaps.into_iter().map(|what| Warning { part, what }));
                Known::Read(read.devices)
            }
            Err(error) => Known::NotRead(self.close(part, PartError::Garbage { said: error.to_string() })),
        }
    }

    fn counters(&mut self, first: Part, second: Part, read: fn(&str) -> Counts) -> Counters {
        let before = self.text(first).map(|text| read(&text)).unwrap_or_default();
        let after = self.text(second).map(|text| read(&text)).unwrap_or_else(|_| before.clone());
        Counters { before, after }
    }

    fn filters(&mut self) -> netfilter::Host {
        let parts = [
            Part::FilterNft,
            Part::FilterLegacy,
            Part::FilterLegacy6,
            Part::FilterIptables,
            Part::FilterIptables6,
            Part::FilterSets,
            Part::FilterAlternatives,
            Part::FilterTables,
            Part::FilterTables6,
        ];
        let mut bundle = Bundle::default();
        for part in parts {
            let name = part.as_str().trim_start_matches("filter-").to_owned();
            let source = match self.text(part) {
                Ok(text) => Source::Text(text),
                Err(error) => Source::Failed { error },
            };
            bundle.sources.insert(name, source);
        }
        let host = netfilter::Host::read(&bundle);
        for backend in &host.backends {
            let part = Part::named(&format!("filter-{}", backend.source));
            if let (Some(part), Some(said)) = (part, &backend.error) {
                self.close(part, PartError::Garbage { said: said.clone() });
            }
        }
        host
    }
}

/// Reads `NAME = VALUE` lines.
fn settings(text: &str) -> BTreeMap<String, String> {
    let pairs = text.lines().filter_map(|line| line.split_once('='));
    pairs.map(|(name, value)| (name.trim().replace('/', "."), value.trim().to_owned())).collect()
}

fn first_words(text: &str) -> Vec<String> {
    text.lines()
        .filter_map(|line| line.split_whitespace().find(|word| word.len() > 1))
        .map(str::to_owned)
        .collect()
}
