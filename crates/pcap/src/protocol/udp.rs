//! Datagrams between two ends: how many went in which direction, and where nothing came back.

use std::net::{IpAddr, SocketAddr};

use serde::Serialize;

use crate::address_filter::AddressFilter;
use crate::flow::ms;
use crate::hash::Map;
use crate::protocol::occurrences::Occurrences;
use crate::protocol::quic::ConnectionAttempt;
use crate::protocol::stats::PacketContext;
use crate::tcp::EndpointPair;

const MAX_LISTED: usize = 20;
const MAX_LISTED_FULL: usize = 20_000;
const MAX_SERVICES: usize = 4096;

/// A conversation in answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UdpStreamFacts {
    /// The end that spoke first.
    pub a: SocketAddr,
    /// The other one.
    pub b: SocketAddr,
    /// Only one end spoke.
    #[serde(rename = "one_way")]
    pub unidirectional: bool,
    /// Datagrams from the first end to the other.
    pub packets: u32,
    /// Bytes that they carried.
    pub bytes: u64,
    /// Datagrams on the return path.
    pub packets_back: u32,
    /// Bytes that they carried.
    pub bytes_back: u64,
    /// Where it begins.
    pub first_frame: u64,
    /// How long it was seen.
    pub duration_s: f64,
}

/// What is known of who is asked for something.
#[derive(Debug, Clone, Default)]
pub(crate) struct UdpService {
    /// Conversations with it.
    pub(crate) flows: u64,
    /// Those in which it did not answer.
    pub(crate) ignored: u64,
    /// Datagrams of those.
    pub(crate) silent: Occurrences,
}

/// Packets in trouble, bytes, age.
type Rank = (u64, u64, u64);

/// What is known of all conversations.
#[derive(Debug, Clone, Default)]
pub(crate) struct UdpStats {
    /// Conversations.
    pub(crate) streams: u64,
    /// Those in which one end spoke alone.
    pub(crate) unidirectional: u64,
    /// Those that were listed early for want of room.
    pub(crate) evicted: u64,
    /// Who was asked for something.
    pub(crate) services: Map<SocketAddr, UdpService>,
    top: Vec<(Rank, UdpStreamFacts)>,
    floor: Option<Rank>,
}

impl UdpStats {
    /// Takes a conversation that is over, at a time.
    pub(super) fn take(&mut self, flow: &Flow, now: u64, full: bool, focus: Option<AddressFilter>) {
        self.streams += 1;
        self.unidirectional += u64::from(flow.unidirectional());
        let ((a, sent), (b, back)) = flow.ends();
        let ignored = flow.ignored(now);
        self.served(b, flow, sent, ignored);
        if focus.is_some_and(|focus| !focus.meets(a) && !focus.meets(b)) {
            return;
        }
        let trouble = if ignored { u64::from(sent.packets) } else { 0 };
        let rank = (trouble, sent.bytes + back.bytes, u64::MAX - flow.first_frame);
        if self.floor.is_some_and(|floor| rank < floor) {
            return;
        }
        let listed = UdpStreamFacts {
            a,
            b,
            unidirectional: flow.unidirectional(),
            packets: sent.packets,
            bytes: sent.bytes,
            packets_back: back.packets,
            bytes_back: back.bytes,
            first_frame: flow.first_frame,
            duration_s: ms(flow.last_time.saturating_sub(flow.first_time)) / 1000.0,
        };
        self.top.push((rank, listed));
        let most = if full { MAX_LISTED_FULL } else { MAX_LISTED };
        if self.top.len() >= 4 * most {
            self.prune(most);
        }
    }

    fn served(&mut self, asked: SocketAddr, flow: &Flow, sent: SentCounts, ignored: bool) {
        if self.services.len() >= MAX_SERVICES && !self.services.contains_key(&asked) {
            return;
        }
        let service = self.services.entry(asked).or_default();
        service.flows += 1;
        if ignored {
            service.ignored += 1;
            service.silent.more(u64::from(sent.packets), flow.first_frame);
        }
    }

    /// Returns the conversations that are listed, the worst first.
    pub(crate) fn listed(&mut self, full: bool) -> Vec<UdpStreamFacts> {
        self.prune(if full { MAX_LISTED_FULL } else { MAX_LISTED });
        self.top.drain(..).map(|(_, listed)| listed).collect()
    }

    fn prune(&mut self, most: usize) {
        self.top.sort_by(|(one, _), (other, _)| other.cmp(one));
        self.top.truncate(most);
        if self.top.len() == most {
            self.floor = self.top.last().map(|(rank, _)| *rank);
        }
    }
}

/// How long an answer may take, in nanoseconds.
const ANSWER_TIMEOUT: u64 = 1_000_000_000;

/// The ports on which nothing comes back, or somebody else tells what does: names, addresses, traps, logs, flow records, samples,
/// discovery, tunnels, whose return paths use other ports.
#[rustfmt::skip]
const UNIDIRECTIONAL_PORTS: [u16; 31] = [
    9, 53, 67, 68, 69, 123, 137, 138, 162, 514, 520, 546, 547, 1900, 2055, 2152, 3544, 3702, 4341, 4739, 4754, 4789, 5353,
    5355, 6081, 6343, 6635, 8125, 9995, 9996, 12_201,
];
/// Where a trace of the route asks for answers of another kind.
const TRACEROUTE_PORTS: std::ops::RangeInclusive<u16> = 33_434..=33_534;

/// What one end sent.
#[derive(Debug, Clone, Copy, Default)]
struct SentCounts {
    /// Datagrams.
    pub(crate) packets: u32,
    /// Bytes that they carried.
    pub(crate) bytes: u64,
}

/// A conversation.
#[derive(Debug, Clone)]
pub(super) struct Flow {
    ends: EndpointPair,
    /// The first datagram came from the second end.
    flipped: bool,
    touched: bool,
    first_frame: u64,
    first_time: u64,
    last_time: u64,
    /// In the order of the ends.
    sides: [SentCounts; 2],
    /// What was said of QUIC.
    pub(super) quic: Option<Box<ConnectionAttempt>>,
}

impl Flow {
    fn new(ends: EndpointPair, flipped: bool, frame: u64, time: u64) -> Self {
        Self {
            ends,
            flipped,
            touched: false,
            first_frame: frame,
            first_time: time,
            last_time: time,
            sides: [SentCounts::default(); 2],
            quic: None,
        }
    }

    /// Tells whether a datagram was taken.
    fn used(&self) -> bool {
        self.sides.iter().any(|side| side.packets > 0)
    }

    fn take(&mut self, flipped: bool, wire: usize, time: u64) {
        let [first, second] = &mut self.sides;
        let own = if flipped { second } else { first };
        own.packets = own.packets.saturating_add(1);
        own.bytes += wire as u64;
        self.last_time = time;
    }

    /// Returns the end that spoke first, the other one, and what each sent.
    fn ends(&self) -> ((SocketAddr, SentCounts), (SocketAddr, SentCounts)) {
        let (first, second) = self.ends.sockets();
        let [one, two] = self.sides;
        if self.flipped { ((second, two), (first, one)) } else { ((first, one), (second, two)) }
    }

    /// Returns the first or the second end.
    pub(super) fn end(&self, second: bool) -> SocketAddr {
        let (first, other) = self.ends.sockets();
        if second { other } else { first }
    }

    /// Tells whether only one end spoke.
    pub(super) fn unidirectional(&self) -> bool {
        self.sides.iter().any(|side| side.packets == 0)
    }

    /// Tells whether one end alone spoke, though there was time for an answer; returns how often.
    pub(super) fn silence(&self, now: u64) -> Option<u32> {
        let waited = self.unidirectional() && now.saturating_sub(self.first_time) >= ANSWER_TIMEOUT;
        waited.then(|| self.sides.iter().map(|side| side.packets).sum())
    }

    /// Tells whether somebody asked one other host for something, and got no answer though there was time.
    fn ignored(&self, now: u64) -> bool {
        let ((asker, _), (asked, _)) = self.ends();
        self.silence(now).is_some()
            // Services have the lower port: a lower one that speaks alone answers, and the questions were not captured.
            && asked.port() <= asker.port()
            && UNIDIRECTIONAL_PORTS.binary_search(&asked.port()).is_err()
            && !TRACEROUTE_PORTS.contains(&asked.port())
            && single(asked.ip())
    }
}

/// Tells whether an address is that of one host, as far as it tells.
fn single(address: IpAddr) -> bool {
    match address {
        // A network of usual size calls all of its hosts by the last address.
        IpAddr::V4(four) => !four.is_multicast() && !matches!(four.octets(), [.., 0 | 255]),
        IpAddr::V6(six) => !six.is_multicast(),
    }
}

/// How many conversations are followed at a time. One more, and one that was silent for long is listed and forgotten.
const MAX_FLOWS: usize = 32_768;

/// The conversations.
#[derive(Debug, Clone, Default)]
pub(super) struct Table {
    places: Map<EndpointPair, u32>,
    flows: Vec<Flow>,
    hand: usize,
}

impl Table {
    /// Takes a datagram; returns its conversation, and one that had to go.
    pub(super) fn take(&mut self, at: PacketContext, wire: usize) -> (Option<&mut Flow>, Option<Flow>) {
        let mut gone = None;
        let place = match self.places.get(&at.ends) {
            Some(place) => *place as usize,
            None => {
                let flow = Flow::new(at.ends, at.flipped, at.frame, at.time);
                let place = if self.flows.len() < MAX_FLOWS {
                    self.flows.push(flow);
                    self.flows.len() - 1
                } else {
                    let (place, old) = self.replace_idle(flow);
                    gone = Some(old);
                    place
                };
                self.places.insert(at.ends, place as u32);
                place
            }
        };
        let flow = self.flows.get_mut(place);
        if let Some(flow) = flow {
            // What is used again is kept longer than what was there once.
            flow.touched = flow.used();
            flow.take(at.flipped, wire, at.time);
            return (Some(flow), gone);
        }
        (None, gone)
    }

    /// Returns what is left.
    pub(super) fn into_flows(self) -> Vec<Flow> {
        self.flows
    }

    /// Goes round for a conversation that was silent since the last time the hand passed it.
    fn replace_idle(&mut self, mut flow: Flow) -> (usize, Flow) {
        loop {
            self.hand = (self.hand + 1) % self.flows.len().max(1);
            if let Some(old) = self.flows.get_mut(self.hand) {
                if std::mem::take(&mut old.touched) {
                    continue;
                }
                std::mem::swap(old, &mut flow);
            }
            self.places.remove(&flow.ends);
            return (self.hand, flow);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ports_can_be_searched() {
        assert!(UNIDIRECTIONAL_PORTS.is_sorted());
    }
}
