//! Pings: which request got which reply, by addresses, identifier and sequence number.

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;

use crate::hash::Map;
use crate::histogram::Histogram;
use crate::layers::{IpPair, View};

/// How many requests are remembered at a time.
const MAX_OPEN_REQUESTS: usize = 32_768;
/// Maximum number of tracked targets.
const MAX_TARGETS: usize = 1024;
const MAX_EVIDENCE_FRAMES: usize = 5;
/// A reply that takes longer is late: who pings has counted it as lost.
const LATE_REPLY: u64 = 1_000_000_000;
/// The same request so soon is the same packet at another place.
const MAX_COPY_DELAY: u64 = 100_000_000;
/// A request with fewer hops left is to find a router, and nobody expects its target to answer.
const MIN_PING_TTL: u8 = 30;
const SECOND: u64 = 1_000_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    /// From who asks to who is asked.
    net: IpPair,
    id: u16,
    seq: u16,
}

#[derive(Debug, Clone)]
struct OpenRequest {
    time: u64,
    frame: u64,
    born: u64,
    done: bool,
}

/// What is known of a target.
#[derive(Debug, Clone, Default)]
pub(crate) struct Target {
    /// Requests to it.
    pub(crate) requests: u64,
    /// Requests that it answered.
    pub(crate) replies: u64,
    /// Requests that it did not answer, though there was time.
    pub(crate) unanswered: u64,
    /// First frames of those.
    pub(crate) frames: Vec<u64>,
    /// Requests about which somebody complained.
    pub(crate) refused: u64,
    /// Replies after more than a second.
    pub(crate) late: u64,
    /// Further replies to one request.
    pub(crate) again: u64,
    /// How long replies took.
    pub(crate) rtts: Histogram,
    /// The slowest replies.
    pub(crate) slowest: Vec<(u64, u64)>,
    second: u64,
    now: u32,
    fewest: u32,
    most: u32,
    seconds: u32,
}

/// All pings.
#[derive(Debug, Clone, Default)]
pub(crate) struct Echo {
    /// Targets, by address.
    pub(crate) targets: BTreeMap<IpAddr, Target>,
    /// Replies to no request that was seen.
    pub(crate) unasked: u64,
    /// Requests to targets for which there was no room.
    pub(crate) left_out: u64,
    open: Map<Key, OpenRequest>,
    age: VecDeque<(Key, u64)>,
    born: u64,
}

impl Echo {
    /// Takes a header of either version; what is no ping is passed over.
    pub(crate) fn take(
        &mut self,
        six: bool,
        view: View<'_>,
        net: IpPair,
        hops: u8,
        (frame, time): (u64, u64),
    ) {
        let (Some(kind), Some(id), Some(seq)) = (view.u8(0), view.u16(4), view.u16(6)) else {
            return;
        };
        match (six, kind) {
            (false, 8) | (true, 128) if hops >= MIN_PING_TTL && !group(net.destination()) => {
                self.asked(Key { net, id, seq }, frame, time);
            }
            (false, 0) | (true, 129) => self.answered(Key { net: back(net), id, seq }, frame, time),
            _ => {}
        }
    }

    /// Takes the header of a request that an error quotes: whoever pings has an answer, if not the one expected.
    pub(crate) fn quoted(&mut self, six: bool, view: View<'_>, net: IpPair) {
        let (Some(kind), Some(id), Some(seq)) = (view.u8(0), view.u16(4), view.u16(6)) else {
            return;
        };
        if kind == if six { 128 } else { 8 }
            && let Some(open) = self.open.get_mut(&Key { net, id, seq })
            && !open.done
        {
            open.done = true;
            if let Some(target) = self.targets.get_mut(&net.destination()) {
                target.refused += 1;
            }
        }
    }

    fn asked(&mut self, key: Key, frame: u64, time: u64) {
        let address = key.net.destination();
        if self.targets.len() >= MAX_TARGETS && !self.targets.contains_key(&address) {
            self.left_out += 1;
            return;
        }
        if let Some(open) = self.open.get(&key) {
            if time.abs_diff(open.time) < MAX_COPY_DELAY {
                return;
            }
            // The number is used again: whatever is answered from now on is the later one.
            if let Some(open) = self.open.remove(&key) {
                self.give_up(key, &open, u64::MAX);
            }
        }
        self.targets.entry(address).or_default().requests += 1;
        let born = self.born;
        self.born += 1;
        self.open.insert(key, OpenRequest { time, frame, born, done: false });
        self.age.push_back((key, born));
        while self.open.len() > MAX_OPEN_REQUESTS || self.age.len() > 2 * MAX_OPEN_REQUESTS {
            let Some((old, born)) = self.age.pop_front() else {
                return;
            };
            if self.open.get(&old).is_some_and(|open| open.born == born)
                && let Some(open) = self.open.remove(&old)
            {
                self.give_up(old, &open, u64::MAX);
            }
        }
    }

    fn answered(&mut self, key: Key, frame: u64, time: u64) {
        let target = self.targets.get_mut(&key.net.destination());
        let (Some(open), Some(target)) = (self.open.get_mut(&key), target) else {
            self.unasked += 1;
            return;
        };
        let Some(took) = time.checked_sub(open.time) else {
            return;
        };
        if open.done {
            target.again += 1;
            return;
        }
        open.done = true;
        target.replied(took, frame, time);
    }

    fn give_up(&mut self, key: Key, open: &OpenRequest, end: u64) {
        if open.done || end.saturating_sub(open.time) < LATE_REPLY {
            return;
        }
        if let Some(target) = self.targets.get_mut(&key.net.destination()) {
            target.unanswered += 1;
            if target.frames.len() < MAX_EVIDENCE_FRAMES {
                target.frames.push(open.frame);
            }
        }
    }

    /// Ends the waiting at a time. What was asked just before is held against nobody.
    pub(crate) fn finish(&mut self, end: u64) {
        let mut left: Vec<(Key, OpenRequest)> = self.open.drain().collect();
        left.sort_by_key(|(_, open)| open.frame);
        for (key, open) in left {
            self.give_up(key, &open, end);
        }
    }
}

impl Target {
    fn replied(&mut self, took: u64, frame: u64, time: u64) {
        self.replies += 1;
        self.late += u64::from(took >= LATE_REPLY);
        self.rtts.add(took);
        if self.slowest.len() < MAX_EVIDENCE_FRAMES
            || self.slowest.last().is_some_and(|(slow, _)| *slow < took)
        {
            self.slowest.push((took, frame));
            self.slowest.sort_by_key(|(slow, frame)| (std::cmp::Reverse(*slow), *frame));
            self.slowest.truncate(MAX_EVIDENCE_FRAMES);
        }
        let second = time / SECOND;
        if second != self.second {
            // The first second and the last are not whole ones.
            if self.second != 0 && self.seconds > 0 {
                self.fewest = if self.seconds == 1 { self.now } else { self.fewest.min(self.now) };
                self.most = self.most.max(self.now);
            }
            self.seconds += 1;
            self.second = second;
            self.now = 0;
        }
        self.now += 1;
    }

    /// Returns how many replies came each second where their number stayed the same while most requests were left
    /// unanswered: somebody limits them.
    pub(crate) fn limit(&self) -> Option<u32> {
        let steady =
            self.seconds >= 4 && self.fewest > 0 && self.most - self.fewest <= self.most.div_ceil(10);
        (steady && self.unanswered >= self.replies).then_some(self.most)
    }
}

/// Returns the return path.
fn back(net: IpPair) -> IpPair {
    match net {
        IpPair::Four(from, to) => IpPair::Four(to, from),
        IpPair::Six(from, to) => IpPair::Six(to, from),
    }
}

/// Tells whether an address is of no single host.
pub(crate) fn group(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_multicast() || address.is_broadcast() || address.is_unspecified(),
        IpAddr::V6(address) => address.is_multicast() || address.is_unspecified(),
    }
}
