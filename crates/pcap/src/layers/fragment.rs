//! Fragments that wait for the others of their packet, in bounded memory.

use std::collections::{BTreeMap, VecDeque};
use std::hash::BuildHasher;
use std::net::IpAddr;

use super::header::IpPair;
use crate::hash::Map;

/// No packet is larger than this.
const MAX_PACKET_BYTES: usize = 65_535;
/// How many packets may be incomplete at a time.
const MAX_REASSEMBLIES: usize = 4096;
/// How many bytes may wait.
const MAX_BUFFERED_BYTES: usize = 8 * 1024 * 1024;
/// How many fragments a packet may have.
const MAX_FRAGMENTS_PER_PACKET: usize = 2048;
/// What a fragment costs besides its bytes.
const OVERHEAD: usize = 64;
/// Maximum number of tracked address pairs.
const MAX_PAIRS: usize = 1024;
const MAX_EVIDENCE_FRAMES: usize = 5;
/// How many packets are remembered that need not be complete.
const REMEMBERED_EXCUSED: usize = 1024;
/// How long a fragment may be in transit, in nanoseconds.
const REASSEMBLY_TIMEOUT: u64 = 1_000_000_000;

/// Which packet a fragment belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) net: IpPair,
    pub(super) id: u32,
    pub(super) protocol: u8,
    pub(super) vlan: u16,
}

/// One fragment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fragment<'a> {
    /// Where its bytes belong.
    pub(super) start: usize,
    /// Others follow.
    pub(super) more: bool,
    /// Its bytes.
    pub(super) data: &'a [u8],
}

/// The result of the fragmented packets between two addresses.
#[derive(Debug, Clone, Default)]
pub(crate) struct FragmentCounts {
    /// Packets that were complete.
    pub(crate) whole: u64,
    /// Packets of which a fragment never came, though there was time.
    pub(crate) lost: u64,
    /// First frames of those.
    pub(crate) frames: Vec<u64>,
    /// Fragments that claim bytes of other ones, or bytes beyond the end of any packet.
    pub(crate) invalid: u64,
    /// First frames of those.
    pub(crate) invalid_frames: Vec<u64>,
}

/// The fragments that wait.
#[derive(Debug, Clone, Default)]
pub(super) struct Fragments {
    waiting: Map<Key, Reassembly>,
    /// Sets by age; a set that was completed is still named here until its turn comes.
    age: VecDeque<(Key, u64)>,
    bytes: usize,
    counter: u64,
    given_up: u64,
    /// Frame and time of what is read now.
    now: (u64, u64),
    pairs: BTreeMap<(IpAddr, IpAddr), FragmentCounts>,
    left_out: u64,
    /// Packets that need not be complete: their copies were, or not all of them was captured.
    excused: Vec<u64>,
}

#[derive(Debug, Clone, Default)]
struct Reassembly {
    parts: Vec<(usize, Vec<u8>)>,
    end: Option<usize>,
    /// Where the bytes end that are there.
    top: usize,
    bytes: usize,
    /// Room that it takes.
    cost: usize,
    born: u64,
    first: (u64, u64),
    excused: bool,
}

impl Fragments {
    /// Says which frame is read now, and when it was captured.
    pub(super) fn begin(&mut self, frame: u64, time: u64) {
        self.now = (frame, time);
    }

    /// Adds a fragment and returns the packet that it completes.
    pub(super) fn add(&mut self, key: Key, fragment: Fragment<'_>) -> Option<Vec<u8>> {
        let end = fragment.start + fragment.data.len();
        if end > MAX_PACKET_BYTES {
            self.invalid(key);
            return None;
        }
        let (now, slot) = (self.now, self.slot(key));
        let excused = self.excused.get(slot.0) == Some(&slot.1);
        let Self { counter, age, .. } = self;
        let set = self.waiting.entry(key).or_insert_with(|| {
            *counter += 1;
            age.push_back((key, *counter));
            Reassembly { born: *counter, first: now, excused, ..Reassembly::default() }
        });
        if !fragment.more && set.end.is_none() {
            set.end = Some(end);
        }
        let mut invalid = false;
        if !fragment.data.is_empty() && set.parts.len() < MAX_FRAGMENTS_PER_PACKET {
            invalid = fragment.start < set.top && set.overlaps(fragment);
            set.top = set.top.max(end);
            set.parts.push((fragment.start, fragment.data.to_vec()));
            set.bytes += fragment.data.len();
            set.cost += fragment.data.len() + OVERHEAD;
            self.bytes += fragment.data.len() + OVERHEAD;
        }
        // Only a set whose last fragment is there can be complete, and only if there are bytes enough.
        let whole = if set.end.is_some_and(|end| set.bytes >= end) { set.joined() } else { None };
        if whole.is_some()
            && let Some(set) = self.waiting.remove(&key)
        {
            self.bytes -= set.cost;
            self.excuse(key);
            if let Some(pair) = self.pair(key).filter(|_| !set.excused) {
                pair.whole += 1;
            }
        }
        if invalid {
            self.invalid(key);
        }
        self.make_room();
        whole
    }

    /// Takes note of a packet of which not everything was captured.
    pub(super) fn excuse(&mut self, key: Key) {
        if self.excused.is_empty() {
            self.excused.resize(REMEMBERED_EXCUSED, 0);
        }
        let (context, mark) = self.slot(key);
        if let Some(slot) = self.excused.get_mut(context) {
            *slot = mark;
        }
        if let Some(set) = self.waiting.get_mut(&key) {
            set.excused = true;
        }
    }

    /// Returns how many incomplete packets were given up for want of room, and how many between pairs without any.
    pub(super) fn given_up(&self) -> (u64, u64) {
        (self.given_up, self.left_out)
    }

    /// Ends the waiting at a time; returns the result of the packets between each pair of addresses.
    pub(super) fn finish(&mut self, end: u64) -> BTreeMap<(IpAddr, IpAddr), FragmentCounts> {
        let mut left: Vec<(Key, Reassembly)> = self.waiting.drain().collect();
        left.sort_by_key(|(_, set)| set.born);
        for (key, set) in left {
            if set.excused || end.saturating_sub(set.first.1) < REASSEMBLY_TIMEOUT {
                continue;
            }
            if let Some(pair) = self.pair(key) {
                pair.lost += 1;
                if pair.frames.len() < MAX_EVIDENCE_FRAMES {
                    pair.frames.push(set.first.0);
                }
            }
        }
        std::mem::take(&mut self.pairs)
    }

    fn invalid(&mut self, key: Key) {
        let frame = self.now.0;
        if let Some(pair) = self.pair(key) {
            pair.invalid += 1;
            if pair.invalid_frames.len() < MAX_EVIDENCE_FRAMES {
                pair.invalid_frames.push(frame);
            }
        }
    }

    fn pair(&mut self, key: Key) -> Option<&mut FragmentCounts> {
        let pair = (key.net.source(), key.net.destination());
        if self.pairs.len() >= MAX_PAIRS && !self.pairs.contains_key(&pair) {
            self.left_out += 1;
            return None;
        }
        Some(self.pairs.entry(pair).or_default())
    }

    fn slot(&self, key: Key) -> (usize, u64) {
        let mark = self.waiting.hasher().hash_one(key);
        (mark as usize % REMEMBERED_EXCUSED, mark | 1)
    }

    fn make_room(&mut self) {
        while self.waiting.len() > MAX_REASSEMBLIES
            || self.bytes > MAX_BUFFERED_BYTES
            || self.age.len() > 4 * MAX_REASSEMBLIES
        {
            let Some((key, born)) = self.age.pop_front() else {
                return;
            };
            if self.waiting.get(&key).is_some_and(|set| set.born == born)
                && let Some(set) = self.waiting.remove(&key)
            {
                self.bytes -= set.cost;
                self.given_up += 1;
            }
        }
    }
}

impl Reassembly {
    /// Tells whether a fragment claims bytes that another one has; the same fragment again claims nothing new.
    fn overlaps(&self, fragment: Fragment<'_>) -> bool {
        let end = fragment.start + fragment.data.len();
        let meets = |start: usize, data: &[u8]| {
            start < end
                && fragment.start < start + data.len()
                && (start, data) != (fragment.start, fragment.data)
        };
        self.parts.iter().any(|(start, data)| meets(*start, data))
    }

    /// Joins the fragments where nothing is missing between them; of what came twice the first is kept.
    fn joined(&mut self) -> Option<Vec<u8>> {
        let end = self.end?;
        self.parts.sort_by_key(|(start, _)| *start);
        let mut covered = 0;
        for (start, data) in &self.parts {
            if *start > covered {
                return None;
            }
            covered = covered.max(start + data.len());
        }
        let mut whole = Vec::with_capacity(end);
        for (start, data) in &self.parts {
            let known = whole.len().checked_sub(*start)?;
            whole.extend_from_slice(data.get(known..).unwrap_or_default());
        }
        (whole.len() >= end).then(|| {
            whole.truncate(end);
            whole
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(id: u32) -> Key {
        Key { net: IpPair::Four([10, 0, 0, 1], [10, 0, 0, 2]), id, protocol: 17, vlan: 0 }
    }

    #[test]
    fn the_last_fragment_to_arrive_completes_the_packet_in_any_order() {
        let mut fragments = Fragments::default();
        assert!(fragments.add(key(1), Fragment { start: 8, more: false, data: b"late" }).is_none());
        assert!(fragments.add(key(2), Fragment { start: 0, more: true, data: b"another!" }).is_none());
        let whole = fragments.add(key(1), Fragment { start: 0, more: true, data: b"at first" });
        assert_eq!(whole.as_deref(), Some(&b"at firstlate"[..]));
    }

    #[test]
    fn of_what_came_twice_the_first_is_kept() {
        let mut fragments = Fragments::default();
        assert!(fragments.add(key(1), Fragment { start: 0, more: true, data: b"AAAAAAAA" }).is_none());
        assert!(fragments.add(key(1), Fragment { start: 0, more: true, data: b"BBBBBBBB" }).is_none());
        let whole = fragments.add(key(1), Fragment { start: 8, more: false, data: b"C" });
        assert_eq!(whole.as_deref(), Some(&b"AAAAAAAAC"[..]));
    }

    #[test]
    fn a_flood_of_first_fragments_is_given_up_in_bounded_memory() {
        let mut fragments = Fragments::default();
        for id in 0..20_000 {
            assert!(fragments.add(key(id), Fragment { start: 0, more: true, data: &[0; 1400] }).is_none());
        }
        assert!(fragments.bytes <= MAX_BUFFERED_BYTES);
        assert!(fragments.age.len() <= 4 * MAX_REASSEMBLIES);
        assert!(fragments.given_up().0 > 10_000);
    }

    #[test]
    fn fragments_without_bytes_or_beyond_the_end_take_no_room() {
        let mut fragments = Fragments::default();
        for id in 0..20_000 {
            assert!(fragments.add(key(id), Fragment { start: 65_528, more: true, data: &[0; 8] }).is_none());
            assert!(fragments.add(key(7), Fragment { start: 8, more: true, data: b"" }).is_none());
        }
        assert_eq!((fragments.waiting.len(), fragments.age.len(), fragments.bytes), (1, 1, 0));
        let pairs = fragments.finish(0);
        assert_eq!(pairs.values().map(|pair| pair.invalid).sum::<u64>(), 20_000);
    }

    #[test]
    fn a_fragment_that_never_comes_is_lost_unless_it_was_just_sent() {
        let mut fragments = Fragments::default();
        let first = Fragment { start: 0, more: true, data: b"at first" };
        for (frame, time) in [(1, 0), (2, 9_500_000_000)] {
            fragments.begin(frame, time);
            assert!(fragments.add(key(frame as u32), first).is_none());
        }
        let pairs = fragments.finish(10_000_000_000);
        let pair = pairs.values().next().unwrap();
        assert_eq!((pair.lost, &pair.frames[..], pair.whole), (1, &[1][..], 0));
    }

    #[test]
    fn a_packet_that_was_captured_twice_is_lost_neither_time() {
        let mut fragments = Fragments::default();
        let parts = [
            Fragment { start: 0, more: true, data: b"at first" },
            Fragment { start: 8, more: false, data: b"late" },
        ];
        for fragment in parts {
            for _ in 0..2 {
                drop(fragments.add(key(1), fragment));
            }
        }
        let pairs = fragments.finish(10_000_000_000);
        let pair = pairs.values().next().unwrap();
        assert_eq!((pair.lost, pair.whole, pair.invalid), (0, 1, 0));
    }

    #[test]
    fn a_fragment_that_claims_the_bytes_of_another_is_odd() {
        let mut fragments = Fragments::default();
        fragments.begin(7, 0);
        assert!(fragments.add(key(1), Fragment { start: 0, more: true, data: &[1; 24] }).is_none());
        assert!(fragments.add(key(1), Fragment { start: 16, more: true, data: &[2; 24] }).is_none());
        let pairs = fragments.finish(0);
        assert_eq!(pairs.values().next().unwrap().invalid_frames, [7]);
    }
}
