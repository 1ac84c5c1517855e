//! Streams grouped by service, by pair of hosts, and by the endpoint that stalls them.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use super::direction::MtuBlackHole;
use crate::tcp::{DirectionState, Reset, SenderState, SynRejection, WaitReason};

/// Maximum number of groups of a kind.
const MAX_GROUPS: usize = 4096;
/// Maximum number of healthy groups of a kind.
const MAX_HEALTHY_GROUPS: usize = 2048;
/// Maximum number of evidence frames of each.
const MAX_EVIDENCE_FRAMES: usize = 5;

/// Groups by some key, up to a limit.
pub(crate) type Groups<K, V> = BTreeMap<K, V>;

/// Returns the group, unless there are too many already.
pub(super) fn group<K: Ord, V: Default>(groups: &mut Groups<K, V>, key: K, well: bool) -> Option<&mut V> {
    let most = if well { MAX_HEALTHY_GROUPS } else { MAX_GROUPS };
    if groups.len() >= most && !groups.contains_key(&key) {
        return None;
    }
    Some(groups.entry(key).or_default())
}

/// Connections that have something in common.
#[derive(Debug, Clone, Default)]
pub(crate) struct FlowCases {
    /// How many.
    pub(crate) flows: u64,
    /// How many packets it is about.
    pub(crate) packets: u64,
    /// The first frames.
    pub(crate) frames: Vec<u64>,
}

impl FlowCases {
    pub(super) fn add(&mut self, packets: u64, frame: u64) {
        self.flows += 1;
        self.packets += packets;
        if self.frames.len() < MAX_EVIDENCE_FRAMES {
            self.frames.push(frame);
        }
    }
}

/// What became of connections to a service.
#[derive(Debug, Clone, Default)]
pub(crate) struct ServiceOutcomes {
    /// It answered.
    pub(crate) answered: u64,
    /// Only one direction was seen.
    pub(crate) unidirectional: u64,
    /// Nothing came back yet when the capture ended.
    pub(crate) pending: u64,
    /// Nothing came back; packets are SYNs.
    pub(crate) silent: FlowCases,
    /// It refused.
    pub(crate) refused: FlowCases,
    /// A filter forbids it.
    pub(crate) filtered: FlowCases,
    /// There is no route.
    pub(crate) unreachable: FlowCases,
    /// The first ICMP error behind either.
    pub(crate) rejection: Option<SynRejection>,
    /// Its answer was never acknowledged; packets are those answers.
    pub(crate) half_open: FlowCases,
    /// Somebody in between reset them, and the first such reset.
    pub(crate) cut: FlowCases,
    /// That one.
    pub(crate) reset: Option<Reset>,
}

/// What became of what one host sends to another.
#[derive(Debug, Clone, Default)]
pub(crate) struct HostPair {
    /// Packets that carried something.
    pub(crate) carrying: u64,
    /// Those that were sent again.
    pub(crate) again: FlowCases,
    /// Lost before this point.
    pub(crate) before: u64,
    /// Lost behind it.
    pub(crate) after: u64,
    /// The receiver had it.
    pub(crate) needless: u64,
    /// The same segment, after pauses that double; packets are repetitions.
    pub(crate) doubling: FlowCases,
    /// The longest pause of those, in microseconds.
    pub(crate) pause: u32,
    /// The largest segment that was acknowledged.
    pub(crate) passed: u32,
    /// Segments that did not pass though smaller ones did.
    pub(crate) black_hole: FlowCases,
    /// The smallest of them.
    pub(crate) smallest: Option<MtuBlackHole>,
    /// The receiver was alive meanwhile, or the sender went on with less.
    pub(crate) alive: bool,
    /// For what it waited, in nanoseconds: data, window, lost, acknowledgments.
    pub(crate) waited: [u64; 4],
    /// Where its longest connection begins, and how long the window kept that up.
    pub(crate) longest: (u64, u64),
}

impl HostPair {
    pub(super) fn take(
        &mut self,
        side: &SenderState,
        direction: &DirectionState,
        first_frame: u64,
        frame: u64,
    ) {
        self.carrying += u64::from(side.carrying);
        if side.again > 0 {
            self.again.add(u64::from(side.again), frame);
        }
        self.before += u64::from(direction.losses.before);
        self.after += u64::from(direction.losses.after);
        self.needless += u64::from(direction.losses.needless);
        self.passed = self.passed.max(u32::from(direction.flight.passed));
        let limits = [WaitReason::Application, WaitReason::Window, WaitReason::Loss, WaitReason::Path];
        for (waited, limit) in self.waited.iter_mut().zip(limits) {
            *waited = waited.saturating_add(direction.limits.of(limit));
        }
        let window = direction.limits.of(WaitReason::Window);
        if window > self.longest.1 {
            self.longest = (first_frame, window);
        }
    }

    pub(super) fn stick(&mut self, black_hole: MtuBlackHole) {
        self.black_hole.add(u64::from(black_hole.times), black_hole.first_frame);
        self.alive |= black_hole.alive || black_hole.cut_to.is_some();
        if self.smallest.is_none_or(|known| black_hole.size < known.size) {
            self.smallest = Some(black_hole);
        }
    }
}

/// An end that holds connections up. A client's ports are all one.
pub(crate) type EndpointKey = (IpAddr, Option<u16>);

/// What an end does to others.
#[derive(Debug, Clone, Default)]
pub(crate) struct EndpointStalls {
    /// It takes nothing more; packets are the times that its window closed.
    pub(crate) closed: FlowCases,
    /// For how long in all, in milliseconds.
    pub(crate) total_ms: f64,
    /// At a stretch.
    pub(crate) longest_ms: f64,
    /// Probes into its closed window.
    pub(crate) probes: u64,
    /// It does not answer any more; packets are what was sent to it in vain.
    pub(crate) gone: FlowCases,
}

/// Returns an end as it is listed; the port of whoever asked says nothing.
pub(super) fn end(socket: SocketAddr, asked: bool) -> EndpointKey {
    (socket.ip(), (!asked).then_some(socket.port()))
}
