//! Matches the packets of both captures: same fingerprint, nearest time.

use super::capture::{CaptureSide, Captures, NONE, PacketRecord};
use super::clock::Clock;

/// The partner of each packet in the other capture.
#[derive(Debug)]
pub(super) struct PacketMatches {
    /// Of the first capture's packets.
    pub(super) a: Vec<u32>,
    /// Of the second one's.
    pub(super) b: Vec<u32>,
}

/// Packets of the first capture, and packets of the second, that look the same.
pub(super) type Group<'x> = (&'x [u32], &'x [u32]);

impl PacketMatches {
    /// Joins packets with the same fingerprint; the clocks are compared by those that look like no other.
    pub(super) fn new(captures: &Captures) -> (Self, Clock) {
        let mut join = Self { a: vec![NONE; captures.a.seen.len()], b: vec![NONE; captures.b.seen.len()] };
        let all = |seen: &[PacketRecord]| order(seen, |seen| seen.mark, |_, _| true);
        let (ones, others) = (all(&captures.a.seen), all(&captures.b.seen));
        let each = |with: &mut dyn FnMut(Group<'_>)| {
            let mark = |seen: &PacketRecord| seen.mark;
            groups((&captures.a.seen, &captures.b.seen), (&ones, &others), (&mark, &mark), with);
        };
        each(&mut |(left, right)| {
            if let ([one], [other]) = (left, right) {
                join.link(*one, *other);
            }
        });
        let mut clock = Clock::new(captures, &join);
        each(&mut |(left, right)| {
            if left.len() > 1 || right.len() > 1 {
                join.nearest(captures, (left, right), &clock);
            }
        });
        // A mirror that shows everything twice leaves no packet alone.
        if clock.packets == 0 {
            clock = Clock::new(captures, &join);
        }
        (join, clock)
    }

    /// Joins two packets.
    pub(super) fn link(&mut self, one: u32, other: u32) {
        if let (Some(left), Some(right)) = (self.a.get_mut(one as usize), self.b.get_mut(other as usize))
            && *left == NONE
            && *right == NONE
        {
            (*left, *right) = (other, one);
        }
    }

    /// Returns the partners of a capture's packets.
    pub(super) fn of(&self, which: CaptureSide) -> &[u32] {
        which.of(&self.a, &self.b)
    }

    /// Joins as many as there are on the side that has fewer, in order, each with the nearest in time.
    pub(super) fn nearest(&mut self, captures: &Captures, (left, right): Group<'_>, clock: &Clock) {
        let swapped = left.len() > right.len();
        let (few, many) = if swapped { (right, left) } else { (left, right) };
        let (which_few, which_many) =
            if swapped { (CaptureSide::B, CaptureSide::A) } else { (CaptureSide::A, CaptureSide::B) };
        let at = |which: CaptureSide, place: u32| {
            captures.capture(which).seen.get(place as usize).map_or(0, |seen| clock.common(which, seen.time))
        };
        let mut next = 0;
        for (done, one) in few.iter().enumerate() {
            let last = many.len() - (few.len() - done);
            let time = at(which_few, *one);
            let far = |place: usize| {
                many.get(place).map_or(u64::MAX, |other| at(which_many, *other).abs_diff(time))
            };
            while next < last && far(next + 1) < far(next) {
                next += 1;
            }
            if let Some(other) = many.get(next) {
                if swapped { self.link(*other, *one) } else { self.link(*one, *other) }
            }
            next += 1;
        }
    }
}

/// Returns the places of packets in the order of a fingerprint, and of their times where that is equal.
pub(super) fn order(
    seen: &[PacketRecord],
    key: impl Fn(&PacketRecord) -> u64,
    wanted: impl Fn(usize, &PacketRecord) -> bool,
) -> Vec<u32> {
    let mut keyed: Vec<(u64, u64, u32)> = (0_u32..)
        .zip(seen)
        .filter(|(place, seen)| wanted(*place as usize, seen))
        .map(|(place, seen)| (key(seen), seen.time, place))
        .collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, _, place)| place).collect()
}

/// A fingerprint of a packet.
type Key<'k> = &'k dyn Fn(&PacketRecord) -> u64;

/// Walks two lists in step and passes on what is equal in both.
pub(super) fn groups(
    (a, b): (&[PacketRecord], &[PacketRecord]),
    (mut ones, mut others): (&[u32], &[u32]),
    (there, here): (Key<'_>, Key<'_>),
    with: &mut dyn FnMut(Group<'_>),
) {
    let head = |seen: &[PacketRecord], list: &[u32], key: Key<'_>| {
        list.first().and_then(|at| seen.get(*at as usize)).map(key)
    };
    while let (Some(left), Some(right)) = (head(a, ones, there), head(b, others, here)) {
        let first = if left <= right { same(a, ones, left, there) } else { 0 };
        let second = if right <= left { same(b, others, right, here) } else { 0 };
        if left == right {
            with((ones.get(..first).unwrap_or_default(), others.get(..second).unwrap_or_default()));
        }
        ones = ones.get(first..).unwrap_or_default();
        others = others.get(second..).unwrap_or_default();
    }
}

/// Returns how many at the beginning have this key.
fn same(seen: &[PacketRecord], list: &[u32], wanted: u64, key: Key<'_>) -> usize {
    let has = |at: &u32| seen.get(*at as usize).is_some_and(|seen| key(seen) == wanted);
    list.iter().position(|at| !has(at)).unwrap_or(list.len())
}
