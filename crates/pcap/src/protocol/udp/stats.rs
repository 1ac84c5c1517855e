//! All conversations together, and the few that are listed.

use std::net::SocketAddr;

use serde::Serialize;

use super::flow::{Flow, SentCounts};
use crate::address_filter::AddressFilter;
use crate::flow::ms;
use crate::hash::Map;
use crate::protocol::occurrences::Occurrences;

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
    pub(in crate::protocol) fn take(
        &mut self,
        flow: &Flow,
        now: u64,
        full: bool,
        focus: Option<AddressFilter>,
    ) {
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
