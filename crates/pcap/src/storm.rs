//! Broadcast and multicast rates per sender.

use std::collections::BTreeMap;

use super::hash::Map;
use super::read::Frame;

/// How many pairs of sender and group are distinguished.
const MAX_SENDERS: usize = 4096;
const MAX_EVIDENCE_FRAMES: usize = 5;
const SECOND: u64 = 1_000_000_000;
/// The address of everybody.
const BROADCAST: [u8; 6] = [0xff; 6];
/// What stands for a group where the link header does not name it.
const UNKNOWN_GROUP: [u8; 6] = [1, 0, 0, 0, 0, 0];

/// Frames of one sender to one group, or of all to everybody.
#[derive(Debug, Clone, Default)]
pub(super) struct FrameRate {
    /// All of them.
    pub(super) frames: u64,
    /// The most in one second of the clock.
    pub(super) most: u64,
    /// The first frames of that second.
    pub(super) first: Vec<u64>,
    second: u64,
    now: u64,
    current: Vec<u64>,
}

/// All senders.
#[derive(Debug, Clone, Default)]
pub(super) struct Storms {
    /// By sender and group.
    senders: Map<([u8; 6], [u8; 6]), FrameRate>,
    /// All senders to everybody together.
    pub(super) all: FrameRate,
    /// Frames of senders for which there was no room.
    pub(super) left_out: u64,
}

impl Storms {
    /// Takes a frame.
    #[inline]
    pub(super) fn take(&mut self, frame: &Frame<'_>) {
        match (frame.link, frame.data) {
            // The group bit is the first one on the wire.
            (1, [first, ..]) if first & 1 == 1 => self.group(frame),
            (113, [0, 1 | 2, ..]) | (276, [_, _, _, _, _, _, _, _, _, _, 1 | 2, ..]) => self.group(frame),
            _ => {}
        }
    }

    fn group(&mut self, frame: &Frame<'_>) {
        let Some((from, to)) = ends(frame) else {
            return;
        };
        if to == BROADCAST {
            self.all.add(frame);
        }
        if self.senders.len() >= MAX_SENDERS && !self.senders.contains_key(&(from, to)) {
            self.left_out += 1;
            return;
        }
        self.senders.entry((from, to)).or_default().add(frame);
    }

    /// Returns senders with their groups, the fastest first, those to everybody or the others.
    pub(super) fn fastest(&self, everybody: bool) -> Vec<([u8; 6], [u8; 6], &FrameRate)> {
        let meant = |group: &[u8; 6]| (*group == BROADCAST) == everybody;
        let found = self.senders.iter().filter(|((_, group), _)| meant(group));
        // Of equal ones the order of addresses decides.
        let sorted: BTreeMap<_, _> =
            found.map(|((from, to), rate)| ((u64::MAX - rate.most, *from, *to), rate)).collect();
        sorted.into_iter().map(|((_, from, to), rate)| (from, to, rate)).collect()
    }
}

/// Returns sender and group.
fn ends(frame: &Frame<'_>) -> Option<([u8; 6], [u8; 6])> {
    let at = |place: usize| frame.data.get(place..)?.first_chunk::<6>().copied();
    let group = |kind: u8| if kind == 1 { BROADCAST } else { UNKNOWN_GROUP };
    match frame.link {
        1 => Some((at(6)?, at(0)?)),
        113 => Some((at(6)?, group(*frame.data.get(1)?))),
        _ => Some((at(12)?, group(*frame.data.get(10)?))),
    }
}

impl FrameRate {
    fn add(&mut self, frame: &Frame<'_>) {
        self.frames += 1;
        let second = frame.time / SECOND;
        if second != self.second {
            self.second = second;
            self.now = 0;
            self.current.clear();
        }
        self.now += 1;
        if self.current.len() < MAX_EVIDENCE_FRAMES {
            self.current.push(frame.number);
        }
        if self.now > self.most {
            self.most = self.now;
            if self.first != self.current {
                self.first.clone_from(&self.current);
            }
        }
    }
}
