//! Who asked for an address, who gave one, and who else would have.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

use super::message::{DhcpMessage, MessageType, v6};
use crate::hash::Map;
use crate::layers::View;
use crate::protocol::occurrences::Occurrences;
use crate::protocol::stats::PacketContext;

const MAX_CLIENTS: usize = 4096;
const MAX_SERVERS: usize = 256;
const MAX_EVIDENCE_FRAMES: usize = 5;
/// How long an offer may take, in nanoseconds: many servers look first whether the address is free.
const ANSWER_TIMEOUT: u64 = 3_000_000_000;
/// What comes again so soon, in nanoseconds, is the same.
const MAX_COPY_DELAY: u64 = 100_000_000;

/// What a server did.
#[derive(Debug, Clone, Default)]
pub(crate) struct DhcpServer {
    pub(crate) offers: u64,
    /// Addresses that it gave.
    pub(crate) acks: u64,
    /// Addresses that it refused.
    pub(crate) naks: Occurrences,
    /// The router that it names.
    pub(crate) router: Option<Ipv4Addr>,
    /// The resolver that it names.
    pub(crate) resolver: Option<Ipv4Addr>,
}

/// Two servers that offered something to the same client at the same time.
#[derive(Debug, Clone, Default)]
pub(crate) struct CompetingOffers {
    /// How often.
    pub(crate) count: u64,
    /// They name other routers or resolvers.
    pub(crate) differ: bool,
    /// Offers of both.
    pub(crate) frames: Vec<u64>,
}

/// A client that searches for servers.
#[derive(Debug, Clone, Default)]
struct DhcpClient {
    waiting: u64,
    time: u64,
    latest: u64,
    frames: Vec<u64>,
    /// The latest question, and the first offer that it got.
    id: u32,
    offer: Option<(DhcpMessage, Ipv4Addr, u64)>,
}

impl DhcpClient {
    fn asked(&mut self, at: PacketContext) {
        // Captures on several interfaces, and relays, show the same question twice.
        if self.waiting > 0 && at.time.saturating_sub(self.latest) < MAX_COPY_DELAY {
            return;
        }
        if self.waiting == 0 {
            self.time = at.time;
        }
        self.latest = at.time;
        self.waiting += 1;
        if self.frames.len() < MAX_EVIDENCE_FRAMES {
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
pub(crate) struct DhcpStats {
    /// Messages of the older version.
    pub(crate) messages: BTreeMap<&'static str, u64>,
    /// Messages of the newer one.
    pub(crate) v6: BTreeMap<&'static str, u64>,
    pub(crate) servers: BTreeMap<Ipv4Addr, DhcpServer>,
    /// Servers that offer to the same clients.
    pub(crate) competing: BTreeMap<(Ipv4Addr, Ipv4Addr), CompetingOffers>,
    /// Searches of clients that there was no room for.
    pub(crate) left_out: u64,
    clients: Map<[u8; 6], DhcpClient>,
    v6_clients: Map<IpAddr, DhcpClient>,
}

/// Questions that nothing answered: how many, of how many clients, and the first of them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct UnansweredClients {
    pub(crate) questions: u64,
    /// Who asked.
    pub(crate) clients: u64,
    /// The first frames.
    pub(crate) frames: Vec<u64>,
}

impl DhcpStats {
    /// Takes a message of the older version.
    pub(in crate::protocol) fn take(&mut self, view: View<'_>, at: PacketContext, from: IpAddr) {
        let Some(lease) = DhcpMessage::read(view) else {
            return;
        };
        *self.messages.entry(lease.kind.name()).or_default() += 1;
        match lease.kind {
            MessageType::Discover => {
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
            MessageType::Offer | MessageType::Ack | MessageType::Nak => self.answered(lease, at, from),
            MessageType::Request | MessageType::Decline | MessageType::Release | MessageType::Inform => {}
        }
    }

    fn answered(&mut self, lease: DhcpMessage, at: PacketContext, from: IpAddr) {
        let IpAddr::V4(from) = from else {
            return;
        };
        let name = lease.server.unwrap_or(from);
        if lease.kind != MessageType::Nak
            && let Some(client) = client(&mut self.clients, lease.client)
        {
            client.answered();
            if lease.kind == MessageType::Offer {
                match client.offer {
                    Some((first, other, frame)) if client.id == lease.id && other != name => {
                        let pair = (other.min(name), other.max(name));
                        if self.competing.len() < MAX_SERVERS || self.competing.contains_key(&pair) {
                            let competing = self.competing.entry(pair).or_default();
                            competing.count += 1;
                            competing.differ |=
                                first.router != lease.router || first.resolver != lease.resolver;
                            if competing.frames.len() < MAX_EVIDENCE_FRAMES {
                                competing.frames.extend([frame, at.frame]);
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
        if self.servers.len() >= MAX_SERVERS && !self.servers.contains_key(&name) {
            return;
        }
        let server = self.servers.entry(name).or_default();
        match lease.kind {
            MessageType::Offer => server.offers += 1,
            MessageType::Ack => server.acks += 1,
            MessageType::Nak => {
                server.naks.add(at.frame);
            }
            MessageType::Discover
            | MessageType::Request
            | MessageType::Decline
            | MessageType::Release
            | MessageType::Inform => {}
        }
        server.router = lease.router.or(server.router);
        server.resolver = lease.resolver.or(server.resolver);
    }

    /// Takes a message of the newer version.
    pub(in crate::protocol) fn take_v6(
        &mut self,
        view: View<'_>,
        at: PacketContext,
        from: IpAddr,
        to: IpAddr,
    ) {
        let Some((kind, name)) = view.u8(0).and_then(|kind| v6(kind).map(|name| (kind, name))) else {
            return;
        };
        *self.v6.entry(name).or_default() += 1;
        let known = match kind {
            1 => client(&mut self.v6_clients, from),
            2 | 7 => client(&mut self.v6_clients, to),
            _ => None,
        };
        match (kind, known) {
            (1, Some(client)) => client.asked(at),
            (_, Some(client)) => client.answered(),
            (_, None) => {}
        }
    }

    /// Returns what nothing answered, of the older version.
    pub(crate) fn unanswered(&self, end: u64) -> UnansweredClients {
        unanswered(self.clients.values(), end)
    }

    /// Returns what nothing answered, of the newer one.
    pub(crate) fn v6_unanswered(&self, end: u64) -> UnansweredClients {
        unanswered(self.v6_clients.values(), end)
    }
}

fn client<K: Eq + std::hash::Hash>(clients: &mut Map<K, DhcpClient>, key: K) -> Option<&mut DhcpClient> {
    if clients.len() >= MAX_CLIENTS && !clients.contains_key(&key) {
        return None;
    }
    Some(clients.entry(key).or_default())
}

fn unanswered<'a>(clients: impl Iterator<Item = &'a DhcpClient>, end: u64) -> UnansweredClients {
    let mut all = UnansweredClients::default();
    for client in
        clients.filter(|client| client.waiting > 0 && end.saturating_sub(client.time) >= ANSWER_TIMEOUT)
    {
        all.questions += client.waiting;
        all.clients += 1;
        all.frames.extend(&client.frames);
    }
    all.frames.sort_unstable();
    all.frames.truncate(MAX_EVIDENCE_FRAMES);
    all
}
