//! The transit of one direction of a conversation: packets sent, arrived and lost, and their delays.

use std::collections::BTreeMap;

use super::capture::{CaptureSide, Captures, NONE, PacketRecord};
use super::clock::Clock;
use super::fingerprint::TCP;
use super::matching::PacketMatches;
use super::overlap::Overlap;
use super::rewrite::{FIELDS, REFRAGMENTED, changed};

/// Copies of a packet that a mirror made follow within this time, in nanoseconds.
const MAX_MIRROR_DELAY: u64 = 1_000_000;
/// How far back copies are looked for.
const COPY_SEARCH_RANGE: usize = 4;
/// Maximum number of evidence frames.
const MAX_EVIDENCE_FRAMES: usize = 3;

/// What became of the packets of one direction.
#[derive(Debug, Clone, Default)]
pub(super) struct Transit {
    /// Passed the first place while the second one captured.
    pub(super) sent: u64,
    /// Of those, arrived.
    pub(super) arrived: u64,
    /// Of those, did not.
    pub(super) lost: u64,
    /// Lost, sent again, arrived then.
    pub(super) recovered: u64,
    /// Sent again by TCP.
    pub(super) again: u64,
    /// Passed the first place when the second one did not capture, or not any more.
    pub(super) outside: u64,
    /// Copies that a mirror made at the first place.
    pub(super) copies: u64,
    /// Arrived more than once.
    pub(super) duplicated: u64,
    /// Arrived without having passed the first place, though it captured.
    pub(super) unseen: u64,
    /// Arrived after one that was sent later.
    pub(super) reordered: u64,
    /// Arrived in other segments.
    pub(super) resegmented: u64,
    /// How many were rewritten, by field.
    pub(super) changed: [u64; FIELDS.len()],
    /// SYN and RST: sent, arrived, and arrived without having been sent.
    pub(super) turns: ControlCounts,
    /// Routers between, of the last packet.
    pub(super) hops: Option<u8>,
    /// How long they took, in nanoseconds.
    pub(super) delays: Vec<i64>,
    /// The first frames that were lost, at the first place.
    pub(super) frames: Vec<u32>,
    /// When the last one arrived.
    pub(super) last: u64,
}

/// Packets that open or end a conversation.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ControlCounts {
    /// SYNs, with or without acknowledgment.
    pub(super) syns: u64,
    /// Of those, arrived.
    pub(super) syns_arrived: u64,
    /// Resets that passed the first place.
    pub(super) resets: u64,
    /// Resets that arrived and did not pass the first place.
    pub(super) resets_unseen: u64,
    /// The frame of the first one, at the second place.
    pub(super) reset_frame: Option<u32>,
    /// Segments that acknowledge something and are neither SYN nor RST.
    pub(super) acknowledging: u64,
}

/// The packets of one direction, in order of time: those of the first place, and those of the second.
pub(super) type PacketCounts<'x> = (&'x [u32], &'x [u32]);

/// What a trip is measured with.
#[derive(Debug, Clone, Copy)]
pub(super) struct TransitContext<'x> {
    /// Both captures.
    pub(super) captures: &'x Captures,
    /// Who is whose partner.
    pub(super) join: &'x PacketMatches,
    pub(super) clock: &'x Clock,
    /// When which place captured.
    pub(super) window: &'x Overlap,
}

impl Transit {
    /// Follows the packets of one direction to a place.
    pub(super) fn new(
        with: &TransitContext<'_>,
        toward: CaptureSide,
        (left, arrived): PacketCounts<'_>,
        protocol: u8,
    ) -> Self {
        let mut transit = Self::default();
        transit.departures(with, toward, left, protocol);
        transit.arrivals(with, toward, arrived, protocol);
        transit.delays.sort_unstable();
        transit
    }

    fn departures(&mut self, with: &TransitContext<'_>, toward: CaptureSide, places: &[u32], protocol: u8) {
        let TransitContext { captures, join, clock, window } = *with;
        let from = toward.other();
        let (here, there) = (&captures.capture(from).seen, &captures.capture(toward).seen);
        let partners = join.of(from);
        let mut lost: BTreeMap<u32, u64> = BTreeMap::new();
        let mut latest = 0;
        for (at, place) in places.iter().enumerate() {
            let Some(seen) = here.get(*place as usize) else {
                continue;
            };
            let partner = partners.get(*place as usize).copied().unwrap_or(NONE);
            if partner == NONE {
                let time = clock.common(from, seen.time);
                if copied(places, at, here, partners) {
                    self.copies += 1;
                } else if window.judges(toward, time) {
                    self.sent += 1;
                    self.lost += 1;
                    self.note(seen, protocol, false);
                    if self.frames.len() < MAX_EVIDENCE_FRAMES {
                        self.frames.push(seen.frame);
                    }
                    if seen.len > 0 && protocol == TCP {
                        *lost.entry(seen.seq).or_default() += 1;
                    }
                } else {
                    self.outside += 1;
                }
                continue;
            }
            self.sent += 1;
            self.arrived += 1;
            self.note(seen, protocol, true);
            if seen.again
                && let Some(count) = lost.remove(&seen.seq)
            {
                self.recovered += count;
            }
            if partner == REFRAGMENTED {
                self.resegmented += 1;
                continue;
            }
            let Some(other) = there.get(partner as usize) else {
                continue;
            };
            self.delays
                .push(clock.delay(toward, from.of((seen.time, other.time), (other.time, seen.time))).max(0));
            self.reordered += u64::from(other.time < latest);
            latest = latest.max(other.time);
            self.hops = seen.hops.checked_sub(other.hops);
            for (count, is) in self.changed.iter_mut().zip(changed(captures, seen, other)) {
                *count += u64::from(is);
            }
        }
    }

    fn note(&mut self, seen: &PacketRecord, protocol: u8, arrived: bool) {
        if protocol != TCP {
            return;
        }
        self.again += u64::from(seen.again);
        if seen.flags & 2 != 0 {
            self.turns.syns += 1;
            self.turns.syns_arrived += u64::from(arrived);
        } else if seen.flags & 4 != 0 {
            self.turns.resets += 1;
        } else if seen.flags & 16 != 0 {
            self.turns.acknowledging += 1;
        }
    }

    fn arrivals(&mut self, with: &TransitContext<'_>, toward: CaptureSide, places: &[u32], protocol: u8) {
        let TransitContext { captures, join, clock, window } = *with;
        let here = &captures.capture(toward).seen;
        let partners = join.of(toward);
        for (at, place) in places.iter().enumerate() {
            let Some(seen) = here.get(*place as usize) else {
                continue;
            };
            let time = clock.common(toward, seen.time);
            self.last = self.last.max(time);
            if partners.get(*place as usize) != Some(&NONE) {
                continue;
            }
            let before = places.get(at.saturating_sub(COPY_SEARCH_RANGE)..at).unwrap_or_default();
            if before.iter().filter_map(|at| here.get(*at as usize)).any(|other| other.mark == seen.mark) {
                self.duplicated += 1;
            } else if window.judges(toward.other(), time) {
                self.unseen += 1;
                if protocol == TCP && seen.flags & 4 != 0 {
                    self.turns.resets_unseen += 1;
                    self.turns.reset_frame.get_or_insert(seen.frame);
                }
            }
        }
    }

    /// Adds another one.
    pub(super) fn join(&mut self, other: &Self) {
        self.sent += other.sent;
        self.arrived += other.arrived;
        self.lost += other.lost;
        self.recovered += other.recovered;
        self.again += other.again;
        self.outside += other.outside;
        self.copies += other.copies;
        self.duplicated += other.duplicated;
        self.unseen += other.unseen;
        self.reordered += other.reordered;
        self.resegmented += other.resegmented;
        for (count, more) in self.changed.iter_mut().zip(other.changed) {
            *count += more;
        }
        self.hops = self.hops.or(other.hops);
        self.delays.extend(&other.delays);
    }
}

/// Tells whether a packet that has no partner is a copy of one that has, or of one before: a mirror showed it twice.
fn copied(places: &[u32], at: usize, here: &[PacketRecord], partners: &[u32]) -> bool {
    let of = |at: &u32| here.get(*at as usize);
    let Some(seen) = places.get(at).and_then(of).filter(|seen| seen.id != 0) else {
        return false;
    };
    let near =
        places.iter().enumerate().skip(at.saturating_sub(COPY_SEARCH_RANGE)).take(2 * COPY_SEARCH_RANGE + 1);
    near.filter(|(other, _)| *other != at).any(|(other, place)| {
        let joined = partners.get(*place as usize).is_some_and(|partner| *partner != NONE);
        (joined || other < at)
            && of(place)
                .is_some_and(|one| one.mark == seen.mark && one.time.abs_diff(seen.time) < MAX_MIRROR_DELAY)
    })
}
