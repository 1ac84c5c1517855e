//! One direction of one conversation between both places: what was sent, what arrived, what was lost, what took how long.

use std::collections::BTreeMap;

use super::alter::{FIELDS, PIECES, changed};
use super::clock::Clock;
use super::join::Join;
use super::print::TCP;
use super::seen::{Both, NONE, Seen, Which};
use super::window::Window;

/// Copies of a packet that a mirror made follow within this time, in nanoseconds.
const MIRRORED: u64 = 1_000_000;
/// So far back copies are looked for.
const NEAR: usize = 4;
/// How many frames are kept as evidence.
const EVIDENCE: usize = 3;

/// What became of the packets of one direction.
#[derive(Debug, Clone, Default)]
pub(super) struct Trip {
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
    /// Arrived in other pieces.
    pub(super) pieces: u64,
    /// How many were rewritten, by field.
    pub(super) changed: [u64; FIELDS.len()],
    /// SYN and RST: sent, arrived, and arrived without having been sent.
    pub(super) turns: Turns,
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
pub(super) struct Turns {
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
pub(super) type Packets<'x> = (&'x [u32], &'x [u32]);

/// What a trip is measured with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measure<'x> {
    /// Both captures.
    pub(super) both: &'x Both,
    /// Who is whose partner.
    pub(super) join: &'x Join,
    /// The clocks.
    pub(super) clock: &'x Clock,
    /// When which place captured.
    pub(super) window: &'x Window,
}

impl Trip {
    /// Follows the packets of one direction to a place.
    pub(super) fn new(with: &Measure<'_>, toward: Which, (left, arrived): Packets<'_>, protocol: u8) -> Self {
        let mut trip = Self::default();
        trip.departures(with, toward, left, protocol);
        trip.arrivals(with, toward, arrived, protocol);
        trip.delays.sort_unstable();
        trip
    }

    fn departures(&mut self, with: &Measure<'_>, toward: Which, places: &[u32], protocol: u8) {
        let Measure { both, join, clock, window } = *with;
        let from = toward.other();
        let (here, there) = (&both.shot(from).seen, &both.shot(toward).seen);
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
                    if self.frames.len() < EVIDENCE {
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
            if partner == PIECES {
                self.pieces += 1;
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
            for (count, is) in self.changed.iter_mut().zip(changed(both, seen, other)) {
                *count += u64::from(is);
            }
        }
    }

    fn note(&mut self, seen: &Seen, protocol: u8, arrived: bool) {
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

    fn arrivals(&mut self, with: &Measure<'_>, toward: Which, places: &[u32], protocol: u8) {
        let Measure { both, join, clock, window } = *with;
        let here = &both.shot(toward).seen;
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
            let before = places.get(at.saturating_sub(NEAR)..at).unwrap_or_default();
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
        self.pieces += other.pieces;
        for (count, more) in self.changed.iter_mut().zip(other.changed) {
            *count += more;
        }
        self.hops = self.hops.or(other.hops);
        self.delays.extend(&other.delays);
    }
}

/// Says whether a packet that has no partner is a copy of one that has, or of one before: a mirror showed it twice.
fn copied(places: &[u32], at: usize, here: &[Seen], partners: &[u32]) -> bool {
    let of = |at: &u32| here.get(*at as usize);
    let Some(seen) = places.get(at).and_then(of).filter(|seen| seen.id != 0) else {
        return false;
    };
    let near = places.iter().enumerate().skip(at.saturating_sub(NEAR)).take(2 * NEAR + 1);
    near.filter(|(other, _)| *other != at).any(|(other, place)| {
        let joined = partners.get(*place as usize).is_some_and(|partner| *partner != NONE);
        (joined || other < at)
            && of(place).is_some_and(|one| one.mark == seen.mark && one.time.abs_diff(seen.time) < MIRRORED)
    })
}
