//! Who asked for an address, who gave one, and who else would have.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

use super::message::{Kind, Lease, newer};
use crate::hash::Map;
use crate::layers::View;
use crate::talk::tally::At;
use crate::talk::times::Times;

const MOST: usize = 4096;
const MOST_SERVERS: usize = 256;
const EVIDENCE: usize = 5;
/// How long an offer may take, in nanoseconds: many servers look first whether the address is free.
const PATIENCE: u64 = 3_000_000_000;
/// What comes again so soon, in nanoseconds, is the same.
const TWICE: u64 = 100_000_000;

/// What a server did.
#[derive(Debug, Clone, Default)]
pub(crate) struct Server {
    /// Offers.
    pub(crate) offers: u64,
    /// Addresses that it gave.
    pub(crate) acks: u64,
    /// Addresses that it refused.
    pub(crate) naks: Times,
    /// The router that it names.
    pub(crate) router: Option<Ipv4Addr>,
    /// The resolver that it names.
    pub(crate) resolver: Option<Ipv4Addr>,
}

/// Two servers that offered something to the same client at the same time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rivals {
    /// How often.
    pub(crate) count: u64,
    /// They name other routers or resolvers.
    pub(crate) differ: bool,
    /// Offers of both.
    pub(crate) frames: Vec<u64>,
}

/// A client that looks for servers.
#[derive(Debug, Clone, Default)]
struct Client {
    waiting: u64,
    time: u64,
    latest: u64,
    frames: Vec<u64>,
    /// The latest question, and the first offer that it got.
    id: u32,
    offer: Option<(Lease, Ipv4Addr, u64)>,
}

impl Client {
    fn asked(&mut self, at: At) {
        // Captures on several interfaces, and relays, show the same question twice.
        if self.waiting > 0 && at.time.saturating_sub(self.latest) < TWICE {
            return;
        }
        if self.waiting == 0 {
            self.time = at.time;
        }
        self.latest = at.time;
        self.waiting += 1;
        if self.frames.len() < EVIDENCE {
            self.frames.push(at.frame);
        }
    }

    fn answered(&mut self) {
        self.waiting = 0;
        self.frames.clear();
    }
}

/// All of DHCP.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    /// Messages of the older version.
    pub(crate) messages: BTreeMap<&'static str, u64>,
    /// Messages of the newer one.
    pub(crate) newer: BTreeMap<&'static str, u64>,
    /// Servers.
    pub(crate) servers: BTreeMap<Ipv4Addr, Server>,
    /// Servers that offer to the same clients.
    pub(crate) rivals: BTreeMap<(Ipv4Addr, Ipv4Addr), Rivals>,
    /// Searches of clients that there was no room for.
    pub(crate) left_out: u64,
    clients: Map<[u8; 6], Client>,
    newer_clients: Map<IpAddr, Client>,
}

/// Questions that nothing answered: how many, of how many clients, and the first of them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Silence {
    /// Questions.
    pub(crate) questions: u64,
    /// Who asked.
    pub(crate) clients: u64,
    /// The first frames.
    pub(crate) frames: Vec<u64>,
}

impl Tally {
    /// Takes a message of the older version.
    pub(in crate::talk) fn take(&mut self, view: View<'_>, at: At, from: IpAddr) {
        let Some(lease) = Lease::read(view) else {
            return;
        };
        *self.messages.entry(lease.kind.name()).or_default() += 1;
        match lease.kind {
            Kind::Discover => {
                let Some(client) = client(&mut self.clients, lease.client) else {
                    self.left_out += 1;
                    return;
                };
                client.asked(at);
                if client.id != lease.id {
                    client.id = lease.id;
                    client.offer = None;
                }
            }
            Kind::Offer | Kind::Ack | Kind::Nak => self.answered(lease, at, from),
            Kind::Request | Kind::Decline | Kind::Release | Kind::Inform => {}
        }
    }

    fn answered(&mut self, lease: Lease, at: At, from: IpAddr) {
        let IpAddr::V4(from) = from else {
            return;
        };
        let name = lease.server.unwrap_or(from);
        if lease.kind != Kind::Nak
            && let Some(client) = client(&mut self.clients, lease.client)
        {
            client.answered();
            if lease.kind == Kind::Offer {
                match client.offer {
                    Some((first, other, frame)) if client.id == lease.id && other != name => {
                        let pair = (other.min(name), other.max(name));
                        if self.rivals.len() < MOST_SERVERS || self.rivals.contains_key(&pair) {
                            let rivals = self.rivals.entry(pair).or_default();
                            rivals.count += 1;
                            rivals.differ |= first.router != lease.router || first.resolver != lease.resolver;
                            if rivals.frames.len() < EVIDENCE {
                                rivals.frames.extend([frame, at.frame]);
                            }
                        }
                    }
                    _ => {
                        client.id = lease.id;
                        client.offer = Some((lease, name, at.frame));
                    }
                }
            }
        }
        if self.servers.len() >= MOST_SERVERS && !self.servers.contains_key(&name) {
            return;
        }
        let server = self.servers.entry(name).or_default();
        match lease.kind {
            Kind::Offer => server.offers += 1,
            Kind::Ack => server.acks += 1,
            Kind::Nak => {
                server.naks.add(at.frame);
            }
            Kind::Discover | Kind::Request | Kind::Decline | Kind::Release | Kind::Inform => {}
        }
        server.router = lease.router.or(server.router);
        server.resolver = lease.resolver.or(server.resolver);
    }

    /// Takes a message of the newer version.
    pub(in crate::talk) fn take_newer(&mut self, view: View<'_>, at: At, from: IpAddr, to: IpAddr) {
        let Some((kind, name)) = view.u8(0).and_then(|kind| newer(kind).map(|name| (kind, name))) else {
            return;
        };
        *self.newer.entry(name).or_default() += 1;
        let known = match kind {
            1 => client(&mut self.newer_clients, from),
            2 | 7 => client(&mut self.newer_clients, to),
            _ => None,
        };
        match (kind, known) {
            (1, Some(client)) => client.asked(at),
            (_, Some(client)) => client.answered(),
            (_, None) => {}
        }
    }

    /// Returns what nothing answered, of the older version.
    pub(crate) fn silence(&self, end: u64) -> Silence {
        silence(self.clients.values(), end)
    }

    /// Returns what nothing answered, of the newer one.
    pub(crate) fn newer_silence(&self, end: u64) -> Silence {
        silence(self.newer_clients.values(), end)
    }
}

fn client<K: Eq + std::hash::Hash>(clients: &mut Map<K, Client>, key: K) -> Option<&mut Client> {
    if clients.len() >= MOST && !clients.contains_key(&key) {
        return None;
    }
    Some(clients.entry(key).or_default())
}

fn silence<'a>(clients: impl Iterator<Item = &'a Client>, end: u64) -> Silence {
    let mut all = Silence::default();
    for client in clients.filter(|client| client.waiting > 0 && end.saturating_sub(client.time) >= PATIENCE) {
        all.questions += client.waiting;
        all.clients += 1;
        all.frames.extend(&client.frames);
    }
    all.frames.sort_unstable();
    all.frames.truncate(EVIDENCE);
    all
}
