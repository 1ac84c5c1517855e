//! The packets of the connections that are in most trouble, as many as a picture can show.

use std::net::SocketAddr;

use crate::flow::trouble_score;
use crate::label::{Label, Labels};
use crate::tcp::{Flow, RST};

/// How many connections are watched at a time.
const MAX_TRACED_STREAMS: usize = 8;
/// How many packets of each; when there are more, the stretch in most trouble stays.
const MAX_TRACE_PACKETS: usize = 1024;
/// How many packets of all connections are remembered, for what came before the trouble.
const MAX_RECENT_PACKETS: usize = 4096;

/// A packet of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TracePacket {
    /// The number of the frame, from 1.
    pub frame: u64,
    /// When it passed.
    pub time: u64,
    /// Where in its direction it begins.
    pub seq: u32,
    /// How far it acknowledges the other direction.
    pub ack: u32,
    /// How much it carries.
    pub len: u32,
    /// The TCP flags as they stand in the header.
    pub flags: u8,
    /// The end that was addressed first sent it.
    pub back: bool,
    /// What the sequence analysis says of it.
    pub labels: Labels,
}

/// What makes a packet interesting, and how much.
const LABEL_WEIGHTS: [(Label, u64); 7] = [
    (Label::ZeroWindow, 5),
    (Label::Retransmission, 4),
    (Label::LostSegment, 3),
    (Label::ZeroWindowProbe, 3),
    (Label::OutOfOrder, 2),
    (Label::WindowFull, 2),
    (Label::DuplicateAck, 1),
];

impl TracePacket {
    /// Returns how much trouble a packet means.
    #[must_use]
    pub fn trouble(&self) -> u64 {
        let marked: u64 =
            LABEL_WEIGHTS.iter().filter(|(label, _)| self.labels.has(*label)).map(|(_, weight)| weight).sum();
        marked + if self.flags & RST != 0 { 5 } else { 0 }
    }
}

/// A stretch of a connection.
#[derive(Debug, Clone)]
pub struct PacketTrace {
    /// Its number.
    pub stream: u64,
    /// The end that spoke first.
    pub a: SocketAddr,
    /// The other one.
    pub b: SocketAddr,
    /// The packets, in the order of the file.
    pub events: Vec<TracePacket>,
    weight: u64,
    worst: Vec<TracePacket>,
}

impl PacketTrace {
    fn push(&mut self, event: TracePacket) {
        if self.events.len() >= MAX_TRACE_PACKETS {
            if sum(&self.events) > sum(&self.worst) || self.worst.is_empty() {
                std::mem::swap(&mut self.events, &mut self.worst);
            }
            self.events.clear();
        }
        self.events.push(event);
    }

    fn settle(mut self) -> Self {
        if sum(&self.worst) > sum(&self.events) {
            self.events = std::mem::take(&mut self.worst);
        }
        self
    }
}

fn sum(events: &[TracePacket]) -> u64 {
    events.iter().map(TracePacket::trouble).sum()
}

/// The connections that are watched.
#[derive(Debug, Clone, Default)]
pub(super) struct PacketTraces {
    recent: Vec<(u64, TracePacket)>,
    /// Where the next one goes.
    hand: usize,
    watched: Vec<PacketTrace>,
}

impl PacketTraces {
    /// Takes a packet after its connection did.
    pub(super) fn take(&mut self, flow: &Flow, event: TracePacket) {
        if let Some(trace) = self.watched.iter_mut().find(|trace| trace.stream == flow.stream) {
            trace.push(event);
            if event.trouble() > 0 {
                trace.weight = trouble_score(flow);
            }
        } else if event.trouble() > 0 {
            self.admit(flow, event);
        }
        if self.recent.len() < MAX_RECENT_PACKETS {
            self.recent.push((flow.stream, event));
        } else if let Some(place) = self.recent.get_mut(self.hand) {
            *place = (flow.stream, event);
            self.hand = (self.hand + 1) % MAX_RECENT_PACKETS;
        }
    }

    /// Returns the worst connection; of equal ones the earlier.
    pub(super) fn worst(self) -> Option<PacketTrace> {
        let rank = |trace: &PacketTrace| (trace.weight, std::cmp::Reverse(trace.stream));
        self.watched.into_iter().max_by_key(rank).map(PacketTrace::settle)
    }

    /// Watches a connection from now on, in place of one that is in less trouble.
    ///
    /// It has to be half as much again: a crowd of connections that get worse by turns is not copied each time.
    fn admit(&mut self, flow: &Flow, event: TracePacket) {
        let weight = trouble_score(flow);
        let place = if self.watched.len() < MAX_TRACED_STREAMS {
            None
        } else {
            let least = self.watched.iter().enumerate().min_by_key(|(_, trace)| trace.weight);
            match least {
                Some((place, trace)) if weight > trace.weight + trace.weight / 2 + 3 => Some(place),
                _ => return,
            }
        };
        let (newer, older) = self.recent.split_at(self.hand.min(self.recent.len()));
        let own = older.iter().chain(newer).filter(|(stream, _)| *stream == flow.stream);
        let (first, second) = flow.ends.sockets();
        let (a, b) = if flow.flipped { (second, first) } else { (first, second) };
        let mut trace =
            PacketTrace { stream: flow.stream, a, b, events: Vec::new(), weight, worst: Vec::new() };
        own.for_each(|(_, event)| trace.push(*event));
        trace.push(event);
        match place.and_then(|place| self.watched.get_mut(place)) {
            Some(place) => *place = trace,
            None => self.watched.push(trace),
        }
    }
}
