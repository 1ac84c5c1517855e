//! All connections together: how they came out, and the few that are told of.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use serde::Serialize;

use super::group::{End, Groups, Hold, Pair, Service, end, group};
use super::state::{State, state};
use super::told::{Told, weight};
use super::way::{Shut, Stuck};
use crate::figure::Spread;
use crate::focus::Focus;
use crate::tcp::{Flow, Origin};

/// How many connections are told of.
const TOLD: usize = 20;
/// How many with `--full`.
const TOLD_FULL: usize = 20_000;
/// Trouble, bytes, age.
type Rank = (u64, u64, u64);

/// How much of a connection's ends must be seen in one direction alone before the whole capture is said to be so.
const ONE_WAY_PERCENT: u64 = 80;
const FEW_STREAMS: u64 = 3;
/// An answer may take so long, if no handshake took longer.
const PATIENCE: u64 = 1_000_000_000;
/// So much of all packets twice is the capture's own doing.
const MIRRORED_PERCENT: u64 = 20;
/// So many packets without an answer are no accident.
const UNANSWERED: u32 = 4;

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
    pub one_way: u64,
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
pub(crate) struct Overview {
    /// Connections that were seen, not only quoted.
    pub(crate) streams: u64,
    /// How they came out.
    pub(crate) states: BTreeMap<State, u64>,
    /// What became of connections to services.
    pub(crate) services: Groups<SocketAddr, Service>,
    /// What became of what hosts send each other.
    pub(crate) pairs: Groups<(IpAddr, IpAddr), Pair>,
    /// Ends that hold connections up.
    pub(crate) holds: Groups<End, Hold>,
    /// What this point saw.
    pub(crate) vantage: Vantage,
    /// How long acknowledgments took, as the reference says.
    pub(crate) acks: Spread,
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
    pub(crate) trips: Spread,
    /// The ones that are told of, the worst first.
    top: Vec<(Rank, Told)>,
    floor: Option<Rank>,
    most: usize,
    focus: Option<Focus>,
}

impl Overview {
    /// Begins.
    pub(crate) fn new(full: bool, focus: Option<Focus>) -> Self {
        Self { most: if full { TOLD_FULL } else { TOLD }, focus, ..Self::default() }
    }

    /// Takes a connection that is over.
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
        if let Some(trip) = flow.handshake() {
            self.trips.add(trip);
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
        let longest = flows.filter_map(Flow::handshake).max().unwrap_or(0).max(self.trips.most());
        self.end = now;
        self.patience = longest.saturating_mul(3).max(PATIENCE);
    }

    /// Returns the connections that are told of, the worst first.
    pub(crate) fn told(&mut self) -> Vec<Told> {
        self.prune();
        self.top.drain(..).map(|(_, told)| told).collect()
    }

    /// Sums up what was seen from here.
    fn look(&mut self, flow: &Flow, state: State) {
        let vantage = &mut self.vantage;
        let copies: u64 = flow.sides.iter().map(|side| u64::from(side.copies)).sum();
        self.packets += flow.sides.iter().map(|side| side.packets).sum::<u64>();
        vantage.copies += copies;
        vantage.mirrored = vantage.copies * 100 >= self.packets * MIRRORED_PERCENT && copies > 0;
        vantage.two_vlans += u64::from(flow.vlans.is_some());
        vantage.one_way += u64::from(state == State::OneWay);
        let few = vantage.one_way < FEW_STREAMS;
        vantage.one_direction = !few && vantage.one_way * 100 >= self.streams * ONE_WAY_PERCENT;
        for way in flow.depth.iter().flat_map(|depth| &depth.ways) {
            vantage.lost_before += u64::from(way.losses.before);
            vantage.lost_after += u64::from(way.losses.after);
            vantage.not_captured += u64::from(way.losses.missed);
            vantage.not_captured_bytes += way.losses.missed_bytes;
            vantage.needless += u64::from(way.losses.needless);
            vantage.late += u64::from(way.losses.late);
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
        if !turns.asked && !failed && state != State::OneWay {
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
            State::OneWay => service.one_way += 1,
            State::Established | State::Closing | State::Closed | State::Reset => service.answered += 1,
        }
        service.barred = service.barred.or(turns.barred);
        if let Some(reset) = cut {
            service.cut.add(u64::from(reset.times), reset.frame);
            service.reset = service.reset.or(Some(*reset));
        }
    }

    /// Puts what an end sent to what its host sent to the other one.
    fn direction(&mut self, flow: &Flow, flipped: bool) {
        let ([one, other], (low, high)) = (&flow.sides, flow.ends.sockets());
        let (own, peer, from, to) = if flipped { (other, one, high, low) } else { (one, other, low, high) };
        let (Some(way), run) = (flow.way(flipped), flow.run(flipped)) else {
            return;
        };
        let (heard, asked) = (peer.packets > 0, flow.flipped == flipped);
        if own.bytes > 0
            && let Some(pair) = group(&mut self.pairs, (from.ip(), to.ip()), own.again == 0)
        {
            pair.take(own, way, flow.first_frame, run.frame);
            if run.doubles() && heard {
                pair.doubling.add(u64::from(run.times), run.frame);
                pair.pause = pair.pause.max(run.pauses().iter().copied().max().unwrap_or(0));
            }
            if let Some(stuck) = Stuck::of(way).filter(|_| heard) {
                pair.stick(stuck);
            }
        }
        // The window of this end, and whether the other one answers it.
        if let Some(shut) = Shut::of(way, flow.last_time)
            && let Some(hold) = group(&mut self.holds, end(from, asked), false)
        {
            hold.closed.add(u64::from(shut.periods), shut.first_frame);
            hold.total_ms += shut.total_ms;
            hold.longest_ms = hold.longest_ms.max(shut.longest_ms);
            hold.probes += u64::from(shut.probes);
        }
        if way.unanswered >= UNANSWERED
            && heard
            && let Some(hold) = group(&mut self.holds, end(to, !asked), false)
        {
            hold.gone.add(u64::from(way.unanswered), way.unanswered_frame);
        }
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
