//! Connections put together: by the service that was asked, by who sends to whom, by the end that holds something up.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use super::way::Stuck;
use crate::tcp::{Barred, Limit, Reset, Side, Way};

/// How many groups of a kind are told apart.
const MOST: usize = 4096;
/// How many of them may be in order.
const MOST_WELL: usize = 2048;
/// How many frames are kept of each.
const EVIDENCE: usize = 5;

/// Groups by some key, up to a limit.
pub(crate) type Groups<K, V> = BTreeMap<K, V>;

/// Returns the group, unless there are too many already.
pub(super) fn group<K: Ord, V: Default>(groups: &mut Groups<K, V>, key: K, well: bool) -> Option<&mut V> {
    let most = if well { MOST_WELL } else { MOST };
    if groups.len() >= most && !groups.contains_key(&key) {
        return None;
    }
    Some(groups.entry(key).or_default())
}

/// Connections that have something in common.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cases {
    /// How many.
    pub(crate) flows: u64,
    /// How many packets it is about.
    pub(crate) packets: u64,
    /// The first frames.
    pub(crate) frames: Vec<u64>,
}

impl Cases {
    pub(super) fn add(&mut self, packets: u64, frame: u64) {
        self.flows += 1;
        self.packets += packets;
        if self.frames.len() < EVIDENCE {
            self.frames.push(frame);
        }
    }
}

/// What became of connections to a service.
#[derive(Debug, Clone, Default)]
pub(crate) struct Service {
    /// It answered.
    pub(crate) answered: u64,
    /// Only one direction was seen.
    pub(crate) one_way: u64,
    /// Nothing came back yet when the capture ended.
    pub(crate) pending: u64,
    /// Nothing came back; packets are SYNs.
    pub(crate) silent: Cases,
    /// It refused.
    pub(crate) refused: Cases,
    /// A filter forbids it.
    pub(crate) filtered: Cases,
    /// There is no way.
    pub(crate) unreachable: Cases,
    /// The first ICMP error behind either.
    pub(crate) barred: Option<Barred>,
    /// Its answer was never acknowledged; packets are those answers.
    pub(crate) half_open: Cases,
    /// Somebody in between reset them, and the first such reset.
    pub(crate) cut: Cases,
    /// That one.
    pub(crate) reset: Option<Reset>,
}

/// What became of what one host sends to another.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pair {
    /// Packets that carried something.
    pub(crate) carrying: u64,
    /// Those that were sent again.
    pub(crate) again: Cases,
    /// Lost before this point.
    pub(crate) before: u64,
    /// Lost behind it.
    pub(crate) after: u64,
    /// The receiver had it.
    pub(crate) needless: u64,
    /// The same segment, after pauses that double; packets are repetitions.
    pub(crate) doubling: Cases,
    /// The longest pause of those, in microseconds.
    pub(crate) pause: u32,
    /// The largest segment that was acknowledged.
    pub(crate) passed: u32,
    /// Segments that did not pass though smaller ones did.
    pub(crate) stuck: Cases,
    /// The smallest of them.
    pub(crate) smallest: Option<Stuck>,
    /// The receiver was alive meanwhile, or the sender went on with less.
    pub(crate) alive: bool,
    /// For what it waited, in nanoseconds: data, window, lost, acknowledgments.
    pub(crate) waited: [u64; 4],
    /// Where its longest connection begins, and how long the window kept that up.
    pub(crate) longest: (u64, u64),
}

impl Pair {
    pub(super) fn take(&mut self, side: &Side, way: &Way, first_frame: u64, frame: u64) {
        self.carrying += u64::from(side.carrying);
        if side.again > 0 {
            self.again.add(u64::from(side.again), frame);
        }
        self.before += u64::from(way.losses.before);
        self.after += u64::from(way.losses.after);
        self.needless += u64::from(way.losses.needless);
        self.passed = self.passed.max(u32::from(way.flight.passed));
        let limits = [Limit::Application, Limit::Window, Limit::Loss, Limit::Path];
        for (waited, limit) in self.waited.iter_mut().zip(limits) {
            *waited = waited.saturating_add(way.limits.of(limit));
        }
        let window = way.limits.of(Limit::Window);
        if window > self.longest.1 {
            self.longest = (first_frame, window);
        }
    }

    pub(super) fn stick(&mut self, stuck: Stuck) {
        self.stuck.add(u64::from(stuck.times), stuck.first_frame);
        self.alive |= stuck.alive || stuck.cut_to.is_some();
        if self.smallest.is_none_or(|known| stuck.size < known.size) {
            self.smallest = Some(stuck);
        }
    }
}

/// An end that holds connections up. A client's ports are all one.
pub(crate) type End = (IpAddr, Option<u16>);

/// What an end does to others.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hold {
    /// It takes nothing more; packets are the times that its window closed.
    pub(crate) closed: Cases,
    /// For how long in all, in milliseconds.
    pub(crate) total_ms: f64,
    /// At a stretch.
    pub(crate) longest_ms: f64,
    /// Probes into its closed window.
    pub(crate) probes: u64,
    /// It does not answer any more; packets are what was sent to it in vain.
    pub(crate) gone: Cases,
}

/// Returns an end as it is told of; the port of whoever asked says nothing.
pub(super) fn end(socket: SocketAddr, asked: bool) -> End {
    (socket.ip(), (!asked).then_some(socket.port()))
}
