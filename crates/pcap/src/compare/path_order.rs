//! Which capture point a packet passes first: by time to live, by time, by known hosts, else by who initiated.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::capture::{CaptureSide, Captures, NONE};
use super::matching::PacketMatches;

/// For each pair of addresses, where its packets come to.
#[derive(Debug)]
pub(super) struct PathOrder {
    address_pairs: Vec<(CaptureSide, bool)>,
    sides: BTreeMap<IpAddr, i64>,
}

/// What packets of a path that were seen at both places tell.
#[derive(Debug, Clone, Copy, Default)]
struct DirectionHints {
    /// How often the time to live was higher in A, less how often it was higher in B.
    hops: i64,
    /// The least that B's clock said later than A's.
    min_delay: Option<i64>,
    /// Who sent the first packet asks: the last resort.
    asks: Option<bool>,
}

impl PathOrder {
    /// Examines packets that were found at both places.
    pub(super) fn new(captures: &Captures, join: &PacketMatches) -> Self {
        let hints = hints(captures, join);
        let mut found: Vec<Option<CaptureSide>> = hints.iter().map(|hints| by_hops(*hints)).collect();
        let places: BTreeMap<(IpAddr, IpAddr), usize> = captures
            .address_pairs
            .iter()
            .enumerate()
            .map(|(at, net)| ((net.source(), net.destination()), at))
            .collect();
        let back = |at: usize| {
            let net = captures.address_pairs.get(at)?;
            places.get(&(net.destination(), net.source())).copied()
        };
        for at in 0..found.len() {
            let reverse = back(at).and_then(|other| hints.get(other)).and_then(|hints| hints.min_delay);
            let own = hints.get(at).and_then(|hints| hints.min_delay);
            if let (Some(place), Some(own), Some(reverse)) = (found.get_mut(at), own, reverse)
                && place.is_none()
                && own != reverse
            {
                *place = Some(if own > reverse { CaptureSide::B } else { CaptureSide::A });
            }
        }
        let sides = sides(captures, &found);
        let address_pairs = (0..found.len())
            .map(|at| {
                let sure = found.get(at).copied().flatten();
                let reverse =
                    || back(at).and_then(|other| found.get(other).copied().flatten()).map(CaptureSide::other);
                let asks = hints.get(at).and_then(|hints| hints.asks).unwrap_or(true);
                let guess = || if asks { CaptureSide::B } else { CaptureSide::A };
                let known = sure.or_else(reverse).or_else(|| by_sides(captures, at, &sides));
                (known.unwrap_or_else(guess), known.is_some())
            })
            .collect();
        Self { address_pairs, sides }
    }

    /// Returns the capture that packets of a path come to, having passed the other one.
    pub(super) fn of(&self, address_pair: u32) -> CaptureSide {
        self.address_pairs.get(address_pair as usize).map_or(CaptureSide::B, |(which, _)| *which)
    }

    /// Tells whether that is more than a guess.
    pub(super) fn sure(&self, address_pair: u32) -> bool {
        self.address_pairs.get(address_pair as usize).is_some_and(|(_, sure)| *sure)
    }

    /// Tells whether both ends of a path are known to live on the same side: what they say passes one place at most.
    pub(super) fn same_side(&self, (source, destination): (IpAddr, IpAddr)) -> bool {
        let side = |address: IpAddr| self.sides.get(&address).copied().unwrap_or(0).signum();
        side(source) != 0 && side(source) == side(destination)
    }
}

fn hints(captures: &Captures, join: &PacketMatches) -> Vec<DirectionHints> {
    let mut hints = vec![DirectionHints::default(); captures.address_pairs.len()];
    for capture in [&captures.a, &captures.b] {
        for seen in &capture.seen {
            if let Some(hints) = hints.get_mut(seen.address_pair as usize)
                && hints.asks.is_none()
            {
                hints.asks = captures
                    .conversation_of(seen)
                    .map(|conversation| conversation.flipped == (seen.conversation % 2 == 1));
            }
        }
    }
    for (one, other) in captures.a.seen.iter().zip(&join.a) {
        let Some(other) = captures.b.seen.get(*other as usize).filter(|_| *other != NONE) else {
            continue;
        };
        // Where addresses were rewritten, both directions are the same one.
        let places =
            [Some(one.address_pair), (one.address_pair != other.address_pair).then_some(other.address_pair)];
        for address_pair in places.into_iter().flatten() {
            if let Some(hints) = hints.get_mut(address_pair as usize) {
                hints.hops += (i64::from(one.hops) - i64::from(other.hops)).signum();
                let later = other.time.wrapping_sub(one.time) as i64;
                hints.min_delay = Some(hints.min_delay.map_or(later, |min_delay| min_delay.min(later)));
            }
        }
    }
    hints
}

fn by_hops(hints: DirectionHints) -> Option<CaptureSide> {
    match hints.hops {
        0 => None,
        1.. => Some(CaptureSide::B),
        _ => Some(CaptureSide::A),
    }
}

/// Returns on which side of both places addresses live: above zero before A.
fn sides(captures: &Captures, found: &[Option<CaptureSide>]) -> BTreeMap<IpAddr, i64> {
    let mut sides: BTreeMap<IpAddr, i64> = BTreeMap::new();
    for (net, toward) in captures.address_pairs.iter().zip(found) {
        if let Some(toward) = toward {
            let sign = toward.of(-1, 1);
            *sides.entry(net.source()).or_default() += sign;
            *sides.entry(net.destination()).or_default() -= sign;
        }
    }
    sides
}

fn by_sides(captures: &Captures, address_pair: usize, sides: &BTreeMap<IpAddr, i64>) -> Option<CaptureSide> {
    let net = captures.address_pairs.get(address_pair)?;
    let known = |address: IpAddr| sides.get(&address).copied().unwrap_or(0).signum();
    match known(net.source()) - known(net.destination()) {
        0 => None,
        1.. => Some(CaptureSide::B),
        _ => Some(CaptureSide::A),
    }
}
