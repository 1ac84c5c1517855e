//! Statistics over all TCP streams, and the streams that are listed.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use serde::Serialize;

use super::direction::{MtuBlackHole, ZeroWindowFacts};
use super::group::{EndpointKey, EndpointStalls, Groups, HostPair, ServiceOutcomes, end, group};
use super::state::{State, state};
use super::stream::{TcpStreamFacts, trouble_score};
use crate::address_filter::AddressFilter;
use crate::histogram::Histogram;
use crate::tcp::{Flow, Origin};

/// Maximum number of listed streams.
const MAX_LISTED: usize = 20;
/// The same with `full`.
const MAX_LISTED_FULL: usize = 20_000;
/// Trouble, bytes, age.
type Rank = (u64, u64, u64);

/// How much of a connection's ends must be seen in one direction alone before the whole capture is said to be so.
const UNIDIRECTIONAL_PERCENT: u64 = 80;
const MIN_UNIDIRECTIONAL_STREAMS: u64 = 3;
/// An answer may take so long, if no handshake took longer.
const MIN_ANSWER_TIME: u64 = 1_000_000_000;
/// How much of all packets twice is the capture's own doing.
const MIRRORED_PERCENT: u64 = 20;
/// How many packets without an answer are no accident.
const MIN_UNANSWERED: u32 = 4;

/// What this capture point saw, and what it missed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Vantage {
    /// TCP packets that were there twice, byte for byte; rates and findings leave them out.
    pub copies: u64,
    /// They are so many that the capture sees the same traffic at two places.
    pub mirrored: bool,
    /// Connections of which one direction was seen in two VLANs.
    pub two_vlans: u64,
    /// Connections of which only one direction was seen.
    #[serde(rename = "one_way")]
    pub unidirectional: u64,
    /// Nearly all are so: what needs both directions is not judged.
    pub one_direction: bool,
    /// Segments that were lost before they came here: a repetition filled the gap.
    pub lost_before: u64,
    /// Segments that passed here and were sent again.
    pub lost_after: u64,
    /// Gaps that were acknowledged: the network carried them, the capture missed them.
    pub not_captured: u64,
    /// How many bytes those had.
    pub not_captured_bytes: u64,
    /// Segments that were sent again though the receiver had them.
    pub needless: u64,
    /// Segments that were late, and not lost.
    pub late: u64,
}

/// What is known of all connections.
#[derive(Debug, Clone, Default)]
pub(crate) struct FlowStats {
    /// Connections that were seen, not only quoted.
    pub(crate) streams: u64,
    /// How they came out.
    pub(crate) states: BTreeMap<State, u64>,
    /// What became of connections to services.
    pub(crate) services: Groups<SocketAddr, ServiceOutcomes>,
    /// What became of what hosts send each other.
    pub(crate) pairs: Groups<(IpAddr, IpAddr), HostPair>,
    /// Ends that hold connections up.
    pub(crate) holds: Groups<EndpointKey, EndpointStalls>,
    /// What this point saw.
    pub(crate) vantage: Vantage,
    /// How long acknowledgments took, as the reference says.
    pub(crate) acks: Histogram,
    /// The first copies.
    pub(crate) copied: Vec<u64>,
    /// Connections that were put to no group for want of room.
    pub(crate) left_out: u64,
    packets: u64,
    end: u64,
    patience: u64,
    /// Packets that carried something, and of those the ones sent again.
    pub(crate) carrying: u64,
    /// Sent again.
    pub(crate) again: u64,
    /// Handshakes that were complete.
    pub(crate) handshakes: Histogram,
    /// The listed streams, worst first.
    top: Vec<(Rank, TcpStreamFacts)>,
    floor: Option<Rank>,
    most: usize,
    focus: Option<AddressFilter>,
}

impl FlowStats {
    /// Creates an empty value.
    pub(crate) fn new(full: bool, focus: Option<AddressFilter>) -> Self {
        Self { most: if full { MAX_LISTED_FULL } else { MAX_LISTED }, focus, ..Self::default() }
    }

    /// Adds a finished stream.
    pub(crate) fn take(&mut self, flow: &Flow) {
        if flow.first_frame == 0 {
            return;
        }
        self.streams += 1;
        let state = state(flow);
        *self.states.entry(state).or_default() += 1;
        let [left, right] = &flow.sides;
        self.carrying += u64::from(left.carrying) + u64::from(right.carrying);
        self.again += u64::from(left.again) + u64::from(right.again);
        if let Some(rtt) = flow.handshake() {
            self.handshakes.add(rtt);
        }
        self.look(flow, state);
        self.service(flow, state);
        for flipped in [false, true] {
            self.direction(flow, flipped);
        }
        self.offer(flow);
    }

    /// Says when the capture ends, and which connections were alive then.
    pub(crate) fn end<'a>(&mut self, now: u64, flows: impl Iterator<Item = &'a Flow>) {
        let longest = flows.filter_map(Flow::handshake).max().unwrap_or(0).max(self.handshakes.max());
        self.end = now;
        self.patience = longest.saturating_mul(3).max(MIN_ANSWER_TIME);
    }

    /// Returns the listed streams, worst first.
    pub(crate) fn listed(&mut self) -> Vec<TcpStreamFacts> {
        self.prune();
        self.top.drain(..).map(|(_, listed)| listed).collect()
    }

    /// Updates what this capture point saw.
    fn look(&mut self, flow: &Flow, state: State) {
        let vantage = &mut self.vantage;
        let copies: u64 = flow.sides.iter().map(|side| u64::from(side.copies)).sum();
        self.packets += flow.sides.iter().map(|side| side.packets).sum::<u64>();
        vantage.copies += copies;
        vantage.mirrored = vantage.copies * 100 >= self.packets * MIRRORED_PERCENT && copies > 0;
        vantage.two_vlans += u64::from(flow.vlans.is_some());
        vantage.unidirectional += u64::from(state == State::Unidirectional);
        let few = vantage.unidirectional < MIN_UNIDIRECTIONAL_STREAMS;
        vantage.one_direction = !few && vantage.unidirectional * 100 >= self.streams * UNIDIRECTIONAL_PERCENT;
        for direction in flow.directions.iter().flat_map(|directions| &directions.by_sender) {
            vantage.lost_before += u64::from(direction.losses.before);
            vantage.lost_after += u64::from(direction.losses.after);
            vantage.not_captured += u64::from(direction.losses.missed);
            vantage.not_captured_bytes += direction.losses.missed_bytes;
            vantage.needless += u64::from(direction.losses.needless);
            vantage.late += u64::from(direction.losses.late);
        }
    }

    /// Puts the connection to those with the same service.
    fn service(&mut self, flow: &Flow, state: State) {
        let turns = &flow.turns;
        let cut = flow.reset.as_deref().filter(|reset| reset.origin() == Origin::MiddleboxLikely);
        let failed = matches!(
            state,
            State::SynSent | State::Refused | State::Filtered | State::Unreachable | State::HalfOpen
        ) || cut.is_some();
        if !turns.asked && !failed && state != State::Unidirectional {
            return;
        }
        let (first, second) = flow.ends.sockets();
        let socket = if flow.flipped { first } else { second };
        // What was asked right before the end may still be answered.
        let young = self.end.checked_sub(flow.first_time).is_some_and(|age| age < self.patience);
        let Some(service) = group(&mut self.services, socket, !failed) else {
            self.left_out += 1;
            return;
        };
        let (syns, frame) = (u64::from(turns.syns), flow.first_frame);
        match state {
            State::SynSent if young => service.pending += 1,
            State::SynSent => service.silent.add(syns, frame),
            State::Refused => service.refused.add(syns, turns.reset_frame),
            State::Filtered => service.filtered.add(syns, frame),
            State::Unreachable => service.unreachable.add(syns, frame),
            State::HalfOpen => service.half_open.add(u64::from(turns.accepts), frame),
            State::Unidirectional => service.unidirectional += 1,
            State::Established | State::Closing | State::Closed | State::Reset => service.answered += 1,
        }
        service.rejection = service.rejection.or(turns.rejection);
        if let Some(reset) = cut {
            service.cut.add(u64::from(reset.times), reset.frame);
            service.reset = service.reset.or(Some(*reset));
        }
    }

    /// Puts what an end sent to what its host sent to the other one.
    fn direction(&mut self, flow: &Flow, flipped: bool) {
        let ([one, other], (low, high)) = (&flow.sides, flow.ends.sockets());
        let (own, peer, from, to) = if flipped { (other, one, high, low) } else { (one, other, low, high) };
        let (Some(direction), retransmissions) = (flow.direction(flipped), flow.retransmissions(flipped))
        else {
            return;
        };
        let (peer_seen, asked) = (peer.packets > 0, flow.flipped == flipped);
        if own.bytes > 0
            && let Some(pair) = group(&mut self.pairs, (from.ip(), to.ip()), own.again == 0)
        {
            pair.take(own, direction, flow.first_frame, retransmissions.frame);
            if retransmissions.doubles() && peer_seen {
                pair.doubling.add(u64::from(retransmissions.times), retransmissions.frame);
                pair.pause = pair.pause.max(retransmissions.pauses().iter().copied().max().unwrap_or(0));
            }
            if let Some(black_hole) = MtuBlackHole::of(direction).filter(|_| peer_seen) {
                pair.stick(black_hole);
            }
        }
        // The window of this end, and whether the other one answers it.
        if let Some(zero_window) = ZeroWindowFacts::of(direction, flow.last_time)
            && let Some(hold) = group(&mut self.holds, end(from, asked), false)
        {
            hold.closed.add(u64::from(zero_window.periods), zero_window.first_frame);
            hold.total_ms += zero_window.total_ms;
            hold.longest_ms = hold.longest_ms.max(zero_window.longest_ms);
            hold.probes += u64::from(zero_window.probes);
        }
        if direction.unanswered >= MIN_UNANSWERED
            && peer_seen
            && let Some(hold) = group(&mut self.holds, end(to, !asked), false)
        {
            hold.gone.add(u64::from(direction.unanswered), direction.unanswered_frame);
        }
    }

    fn offer(&mut self, flow: &Flow) {
        let (first, second) = flow.ends.sockets();
        if self.focus.is_some_and(|focus| !focus.meets(first) && !focus.meets(second)) {
            return;
        }
        let bytes: u64 = flow.sides.iter().map(|side| side.bytes).sum();
        // Of equal ones the earlier stands first.
        let rank = (trouble_score(flow), bytes, u64::MAX - flow.stream);
        if self.floor.is_some_and(|floor| rank < floor) {
            return;
        }
        self.top.push((rank, TcpStreamFacts::of(flow)));
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
