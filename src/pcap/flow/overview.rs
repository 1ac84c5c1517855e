//! All connections together: how they came out, and the few that are told of.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use super::state::{State, state};
use super::told::{Told, weight};
use crate::pcap::figure::Spread;
use crate::pcap::focus::Focus;
use crate::pcap::tcp::Flow;

/// How many connections are told of.
const TOLD: usize = 20;
/// How many with `--full`.
const TOLD_FULL: usize = 20_000;
/// How many services are told apart.
const MOST_SERVICES: usize = 4096;
const EVIDENCE: usize = 5;

/// How connections to a service failed.
#[derive(Debug, Clone, Default)]
pub(in crate::pcap) struct Failures {
    /// How many.
    pub(in crate::pcap) flows: u64,
    /// SYNs that were sent.
    pub(in crate::pcap) syns: u64,
    /// The first frames of the first ones.
    pub(in crate::pcap) frames: Vec<u64>,
}

/// Trouble, bytes, age.
type Rank = (u64, u64, u64);

/// A reset that took another way than its sender's packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::pcap) struct Foreign {
    /// Its frame.
    pub(in crate::pcap) frame: u64,
    /// The time to live of its sender's packets.
    pub(in crate::pcap) usual: u8,
    /// Its own.
    pub(in crate::pcap) hops: u8,
}

/// What is known of all connections.
#[derive(Debug, Clone, Default)]
pub(in crate::pcap) struct Overview {
    /// Connections that were seen, not only quoted.
    pub(in crate::pcap) streams: u64,
    /// How they came out.
    pub(in crate::pcap) states: BTreeMap<State, u64>,
    /// Services that never answered a SYN.
    pub(in crate::pcap) silent: BTreeMap<SocketAddr, Failures>,
    /// Services that refused.
    pub(in crate::pcap) refused: BTreeMap<SocketAddr, Failures>,
    /// Resets that took another way than their sender's packets, and the first of them.
    pub(in crate::pcap) foreign: (u64, Vec<Foreign>),
    /// Packets that carried something, and of those the ones sent again.
    pub(in crate::pcap) carrying: u64,
    /// Sent again.
    pub(in crate::pcap) again: u64,
    /// Handshakes that were complete.
    pub(in crate::pcap) trips: Spread,
    /// The ones that are told of, the worst first.
    top: Vec<(Rank, Told)>,
    floor: Option<Rank>,
    most: usize,
    focus: Option<Focus>,
}

impl Overview {
    /// Begins.
    pub(in crate::pcap) fn new(full: bool, focus: Option<Focus>) -> Self {
        Self { most: if full { TOLD_FULL } else { TOLD }, focus, ..Self::default() }
    }

    /// Takes a connection that is over.
    pub(in crate::pcap) fn take(&mut self, flow: &Flow) {
        if flow.first_frame == 0 {
            return;
        }
        self.streams += 1;
        let state = state(flow);
        *self.states.entry(state).or_default() += 1;
        let [left, right] = &flow.sides;
        self.carrying += u64::from(left.carrying) + u64::from(right.carrying);
        self.again += u64::from(left.again) + u64::from(right.again);
        if flow.trip > 0 {
            self.trips.add(flow.trip);
        }
        let failures = match state {
            State::SynSent => Some(&mut self.silent),
            State::Refused => Some(&mut self.refused),
            State::HalfOpen
            | State::Established
            | State::Closing
            | State::Closed
            | State::Reset
            | State::OneWay => None,
        };
        if let Some(failures) = failures {
            note(failures, flow);
        }
        if let Some((usual, hops)) = flow.turns.foreign {
            self.foreign.0 += 1;
            if self.foreign.1.len() < EVIDENCE {
                self.foreign.1.push(Foreign { frame: flow.turns.reset_frame, usual, hops });
            }
        }
        self.offer(flow);
    }

    /// Returns the connections that are told of, the worst first.
    pub(in crate::pcap) fn told(&mut self) -> Vec<Told> {
        self.prune();
        self.top.drain(..).map(|(_, told)| told).collect()
    }

    fn offer(&mut self, flow: &Flow) {
        let (first, second) = flow.ends.sockets();
        if self.focus.is_some_and(|focus| !focus.meets(first) && !focus.meets(second)) {
            return;
        }
        let bytes: u64 = flow.sides.iter().map(|side| side.bytes).sum();
        // Of equal ones the earlier stands first.
        let rank = (weight(flow), bytes, u64::MAX - flow.stream);
        if self.floor.is_some_and(|floor| rank < floor) {
            return;
        }
        self.top.push((rank, Told::of(flow)));
        if self.top.len() >= 4 * self.most {
            self.prune();
        }
    }

    fn prune(&mut self) {
        self.top.sort_by(|(one, _), (other, _)| other.cmp(one));
        self.top.truncate(self.most);
        if self.top.len() == self.most {
            self.floor = self.top.last().map(|(rank, _)| *rank);
        }
    }
}

fn note(failures: &mut BTreeMap<SocketAddr, Failures>, flow: &Flow) {
    let (first, second) = flow.ends.sockets();
    let service = if flow.flipped { first } else { second };
    if failures.len() >= MOST_SERVICES && !failures.contains_key(&service) {
        return;
    }
    let failed = failures.entry(service).or_default();
    failed.flows += 1;
    failed.syns += u64::from(flow.turns.syns);
    if failed.frames.len() < EVIDENCE {
        failed.frames.push(flow.first_frame);
    }
}
