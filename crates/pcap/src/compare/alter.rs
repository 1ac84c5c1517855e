//! Packets that were rewritten on the way: by translators of addresses, by what clamps or marks, by cards that cut and join segments.

use std::collections::BTreeMap;

use super::clock::Clock;
use super::join::{Join, groups, order};
use super::print::TCP;
use super::seen::{Both, NONE, Seen, Which};

/// Partner of a packet whose bytes arrived in other pieces.
pub(super) const PIECES: u32 = NONE - 1;
/// Packets that look the same as so many others say nothing of who was translated into whom.
const CROWD: usize = 8;
/// A datagram that carries so much looks like no other by chance.
const TELLING: u32 = 12;

/// Conversations that were translated on the way: half a conversation in A, and what it is in B.
pub(super) type Translated = BTreeMap<u32, u32>;

/// Joins what was left: first within conversations, then across them, then by the numbers of bytes.
pub(super) fn alter(both: &Both, join: &mut Join, clock: &mut Clock) -> Translated {
    let own = |seen: &Seen| mixed(seen.core, seen.lane);
    again(both, join, clock, (&own, &own));
    let translated = translated(both, join);
    if !translated.is_empty() {
        let there = |seen: &Seen| mixed(seen.core, translated.get(&seen.lane).copied().unwrap_or(NONE));
        again(both, join, clock, (&there, &own));
        // Clocks that had nothing in common may have something now.
        if clock.packets == 0 {
            *clock = Clock::new(both, join);
        }
    }
    pieces(both, join, &translated);
    translated
}

fn mixed(core: u64, lane: u32) -> u64 {
    core.wrapping_add(u64::from(lane).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// A fingerprint of a packet.
type Key<'k> = &'k dyn Fn(&Seen) -> u64;

/// Joins what has no partner yet by other fingerprints.
fn again(both: &Both, join: &mut Join, clock: &Clock, (there, here): (Key<'_>, Key<'_>)) {
    let free = |partners: &[u32], place: usize| partners.get(place) == Some(&NONE);
    let ones = order(&both.a.seen, there, |place, _| free(&join.a, place));
    let others = order(&both.b.seen, here, |place, _| free(&join.b, place));
    groups((&both.a.seen, &both.b.seen), (&ones, &others), (there, here), &mut |group| {
        join.nearest(both, group, clock);
    });
}

/// Finds out which conversation of A is which one of B: both have to think so, and neither is known at the other place.
fn translated(both: &Both, join: &Join) -> Translated {
    let core = |seen: &Seen| seen.core;
    let mut met = vec![false; both.lanes.len() * 2];
    for (seen, partner) in both.a.seen.iter().zip(&join.a) {
        if let Some(met) = met.get_mut(seen.lane as usize) {
            *met |= *partner != NONE;
        }
    }
    let lonely = |seen: &Seen| met.get(seen.lane as usize) == Some(&false);
    let free = |partners: &[u32], place: usize| partners.get(place) == Some(&NONE);
    let ones = order(&both.a.seen, core, |place, seen| free(&join.a, place) && lonely(seen));
    let others = order(&both.b.seen, core, |place, seen| free(&join.b, place) && lonely(seen));
    let mut votes: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    groups((&both.a.seen, &both.b.seen), (&ones, &others), (&core, &core), &mut |(left, right)| {
        if left.len() > CROWD || right.len() > CROWD {
            return;
        }
        for one in left.iter().filter_map(|at| both.a.seen.get(*at as usize)) {
            for other in right.iter().filter_map(|at| both.b.seen.get(*at as usize)) {
                let protocols = (both.lane_of(one), both.lane_of(other));
                let (Some(known), Some(new)) = protocols else {
                    continue;
                };
                if known.protocol == new.protocol && one.lane != other.lane {
                    let telling = known.protocol == TCP || one.len >= TELLING;
                    *votes.entry((one.lane, other.lane)).or_default() += if telling { 2 } else { 1 };
                }
            }
        }
    });
    let best = |of: fn(&(u32, u32)) -> (u32, u32)| {
        let mut best: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
        for (pair, count) in &votes {
            let (key, value) = of(pair);
            let known = best.entry(key).or_insert((value, 0));
            if *count > known.1 {
                *known = (value, *count);
            }
        }
        best
    };
    let (there, back) = (best(|pair| *pair), best(|(one, other)| (*other, *one)));
    there
        .into_iter()
        .filter(|(one, (other, count))| {
            *count >= 2 && back.get(other).is_some_and(|(mutual, _)| mutual == one)
        })
        .map(|(one, (other, _))| (one, other))
        .collect()
}

/// A stretch of bytes of one direction: where it begins, how long it is, whose it is.
type Stretch = (i64, i64, u32);

/// Cards send and take large segments that travel in small ones: what has the bytes of others arrived with them.
fn pieces(both: &Both, join: &mut Join, translated: &Translated) {
    let mut open: BTreeMap<u32, (Vec<u32>, Vec<u32>)> = BTreeMap::new();
    for which in [Which::A, Which::B] {
        for ((place, seen), partner) in (0_u32..).zip(&both.shot(which).seen).zip(join.of(which)) {
            let tcp = both.lane_of(seen).is_some_and(|lane| lane.protocol == TCP);
            if *partner != NONE || seen.len == 0 || !tcp {
                continue;
            }
            let lane = match which {
                Which::A => translated.get(&seen.lane).copied().unwrap_or(seen.lane),
                Which::B => seen.lane,
            };
            let (ones, others) = open.entry(lane).or_default();
            which.of(ones, others).push(place);
        }
    }
    for (ones, others) in open.values().filter(|(ones, others)| !ones.is_empty() && !others.is_empty()) {
        let Some(base) = ones.first().and_then(|at| both.a.seen.get(*at as usize)).map(|seen| seen.seq)
        else {
            continue;
        };
        let (one, other) = (stretches(&both.a.seen, ones, base), stretches(&both.b.seen, others, base));
        let (held, met) = (covered(&one, &other), covered(&other, &one));
        for place in held {
            if let Some(partner) = join.a.get_mut(place as usize) {
                *partner = PIECES;
            }
        }
        for place in met {
            if let Some(partner) = join.b.get_mut(place as usize) {
                *partner = PIECES;
            }
        }
    }
}

fn stretches(seen: &[Seen], places: &[u32], base: u32) -> Vec<Stretch> {
    let mut found: Vec<Stretch> = places
        .iter()
        .filter_map(|at| seen.get(*at as usize).map(|seen| (seen, *at)))
        .map(|(seen, at)| {
            let start = i64::from(seen.seq.wrapping_sub(base) as i32);
            (start, start + i64::from(seen.len), at)
        })
        .collect();
    found.sort_unstable();
    found
}

/// Returns whose bytes are all among those of others.
fn covered(these: &[Stretch], others: &[Stretch]) -> Vec<u32> {
    let mut runs: Vec<(i64, i64)> = Vec::new();
    for (start, end, _) in others {
        match runs.last_mut() {
            Some((_, last)) if *start <= *last => *last = (*last).max(*end),
            Some(_) | None => runs.push((*start, *end)),
        }
    }
    let within = |start: i64, end: i64| {
        let at = runs.partition_point(|(begin, _)| *begin <= start);
        at.checked_sub(1).and_then(|at| runs.get(at)).is_some_and(|(_, last)| end <= *last)
    };
    these.iter().filter(|(start, end, _)| within(*start, *end)).map(|(_, _, place)| *place).collect()
}

/// What can be rewritten on the way.
pub(super) const FIELDS: [&str; 9] =
    ["address", "port", "vlan", "dscp", "ecn", "mss", "identification", "header", "checksum"];

/// Returns which fields of a packet were rewritten between two places, in the order of their names.
pub(super) fn changed(both: &Both, one: &Seen, other: &Seen) -> [bool; FIELDS.len()] {
    let ports = |seen: &Seen| {
        both.lane_of(seen).map(|lane| {
            let (first, second) = lane.ends.sockets();
            if seen.lane % 2 == 1 { (second.port(), first.port()) } else { (first.port(), second.port()) }
        })
    };
    let address = one.way != other.way;
    let port = one.lane != other.lane && ports(one) != ports(other);
    let (mss, id) = (one.mss != other.mss, one.id != other.id);
    let rewritten = address || port || mss || id;
    let header = one.mark != other.mark && !rewritten;
    // Alone it says little: cards of senders compute checksums after the capture.
    let check = one.check != other.check && one.mark == other.mark;
    [
        address,
        port,
        one.vlan != other.vlan,
        one.tos >> 2 != other.tos >> 2,
        (one.tos ^ other.tos) & 3 != 0,
        mss,
        id,
        header,
        check,
    ]
}
