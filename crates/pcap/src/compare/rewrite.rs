//! Packets rewritten on the path: by NAT, by MSS clamping or marking, by segmentation offload.

use std::collections::BTreeMap;

use super::capture::{CaptureSide, Captures, NONE, PacketRecord};
use super::clock::Clock;
use super::fingerprint::TCP;
use super::matching::{PacketMatches, groups, order};

/// Partner of a packet whose bytes arrived in other segments.
pub(super) const REFRAGMENTED: u32 = NONE - 1;
/// Packets that look the same as so many others say nothing of who was translated into whom.
const MAX_CANDIDATES: usize = 8;
/// A datagram that carries this much equals no other by chance.
const MIN_DISTINCT_PAYLOAD: u32 = 12;

/// Conversations that were translated on the path: half a conversation in A, and what it is in B.
pub(super) type Translated = BTreeMap<u32, u32>;

/// Joins what was left: first within conversations, then across them, then by the numbers of bytes.
pub(super) fn alter(captures: &Captures, join: &mut PacketMatches, clock: &mut Clock) -> Translated {
    let own = |seen: &PacketRecord| mixed(seen.core, seen.conversation);
    again(captures, join, clock, (&own, &own));
    let translated = translated(captures, join);
    if !translated.is_empty() {
        let there = |seen: &PacketRecord| {
            mixed(seen.core, translated.get(&seen.conversation).copied().unwrap_or(NONE))
        };
        again(captures, join, clock, (&there, &own));
        // Clocks that had nothing in common may have something now.
        if clock.packets == 0 {
            *clock = Clock::new(captures, join);
        }
    }
    resegmented(captures, join, &translated);
    translated
}

fn mixed(core: u64, conversation: u32) -> u64 {
    core.wrapping_add(u64::from(conversation).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// A fingerprint of a packet.
type Key<'k> = &'k dyn Fn(&PacketRecord) -> u64;

/// Joins what has no partner yet by other fingerprints.
fn again(captures: &Captures, join: &mut PacketMatches, clock: &Clock, (there, here): (Key<'_>, Key<'_>)) {
    let free = |partners: &[u32], place: usize| partners.get(place) == Some(&NONE);
    let ones = order(&captures.a.seen, there, |place, _| free(&join.a, place));
    let others = order(&captures.b.seen, here, |place, _| free(&join.b, place));
    groups((&captures.a.seen, &captures.b.seen), (&ones, &others), (there, here), &mut |group| {
        join.nearest(captures, group, clock);
    });
}

/// Finds out which conversation of A is which one of B: both have to think so, and neither is known at the other place.
fn translated(captures: &Captures, join: &PacketMatches) -> Translated {
    let core = |seen: &PacketRecord| seen.core;
    let mut met = vec![false; captures.conversations.len() * 2];
    for (seen, partner) in captures.a.seen.iter().zip(&join.a) {
        if let Some(met) = met.get_mut(seen.conversation as usize) {
            *met |= *partner != NONE;
        }
    }
    let lonely = |seen: &PacketRecord| met.get(seen.conversation as usize) == Some(&false);
    let free = |partners: &[u32], place: usize| partners.get(place) == Some(&NONE);
    let ones = order(&captures.a.seen, core, |place, seen| free(&join.a, place) && lonely(seen));
    let others = order(&captures.b.seen, core, |place, seen| free(&join.b, place) && lonely(seen));
    let mut votes: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    groups((&captures.a.seen, &captures.b.seen), (&ones, &others), (&core, &core), &mut |(left, right)| {
        if left.len() > MAX_CANDIDATES || right.len() > MAX_CANDIDATES {
            return;
        }
        for one in left.iter().filter_map(|at| captures.a.seen.get(*at as usize)) {
            for other in right.iter().filter_map(|at| captures.b.seen.get(*at as usize)) {
                let protocols = (captures.conversation_of(one), captures.conversation_of(other));
                let (Some(known), Some(new)) = protocols else {
                    continue;
                };
                if known.protocol == new.protocol && one.conversation != other.conversation {
                    let telling = known.protocol == TCP || one.len >= MIN_DISTINCT_PAYLOAD;
                    *votes.entry((one.conversation, other.conversation)).or_default() +=
                        if telling { 2 } else { 1 };
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
fn resegmented(captures: &Captures, join: &mut PacketMatches, translated: &Translated) {
    let mut open: BTreeMap<u32, (Vec<u32>, Vec<u32>)> = BTreeMap::new();
    for which in [CaptureSide::A, CaptureSide::B] {
        for ((place, seen), partner) in (0_u32..).zip(&captures.capture(which).seen).zip(join.of(which)) {
            let tcp = captures.conversation_of(seen).is_some_and(|conversation| conversation.protocol == TCP);
            if *partner != NONE || seen.len == 0 || !tcp {
                continue;
            }
            let conversation = match which {
                CaptureSide::A => translated.get(&seen.conversation).copied().unwrap_or(seen.conversation),
                CaptureSide::B => seen.conversation,
            };
            let (ones, others) = open.entry(conversation).or_default();
            which.of(ones, others).push(place);
        }
    }
    for (ones, others) in open.values().filter(|(ones, others)| !ones.is_empty() && !others.is_empty()) {
        let Some(base) = ones.first().and_then(|at| captures.a.seen.get(*at as usize)).map(|seen| seen.seq)
        else {
            continue;
        };
        let (one, other) =
            (stretches(&captures.a.seen, ones, base), stretches(&captures.b.seen, others, base));
        let (held, met) = (covered(&one, &other), covered(&other, &one));
        for place in held {
            if let Some(partner) = join.a.get_mut(place as usize) {
                *partner = REFRAGMENTED;
            }
        }
        for place in met {
            if let Some(partner) = join.b.get_mut(place as usize) {
                *partner = REFRAGMENTED;
            }
        }
    }
}

fn stretches(seen: &[PacketRecord], places: &[u32], base: u32) -> Vec<Stretch> {
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

/// What can be rewritten on the path.
pub(super) const FIELDS: [&str; 9] =
    ["address", "port", "vlan", "dscp", "ecn", "mss", "identification", "header", "checksum"];

/// Returns which fields of a packet were rewritten between two places, in the order of their names.
pub(super) fn changed(captures: &Captures, one: &PacketRecord, other: &PacketRecord) -> [bool; FIELDS.len()] {
    let ports = |seen: &PacketRecord| {
        captures.conversation_of(seen).map(|conversation| {
            let (first, second) = conversation.ends.sockets();
            if seen.conversation % 2 == 1 {
                (second.port(), first.port())
            } else {
                (first.port(), second.port())
            }
        })
    };
    let address = one.address_pair != other.address_pair;
    let port = one.conversation != other.conversation && ports(one) != ports(other);
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
