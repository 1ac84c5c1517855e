//! Which capture a packet passes first: told by its hops, by time, by what is known of its ends, else by who asks.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::join::Join;
use super::seen::{Both, NONE, Which};

/// For each pair of addresses, where its packets come to.
#[derive(Debug)]
pub(super) struct Toward {
    ways: Vec<(Which, bool)>,
    sides: BTreeMap<IpAddr, i64>,
}

/// What packets of a way that were seen at both places tell.
#[derive(Debug, Clone, Copy, Default)]
struct Told {
    /// How often the time to live was higher in A, less how often it was higher in B.
    hops: i64,
    /// The least that B's clock said later than A's.
    least: Option<i64>,
    /// Who sent the first packet asks: the last resort.
    asks: Option<bool>,
}

impl Toward {
    /// Looks at packets that were found at both places.
    pub(super) fn new(both: &Both, join: &Join) -> Self {
        let told = told(both, join);
        let mut found: Vec<Option<Which>> = told.iter().map(|told| by_hops(*told)).collect();
        let places: BTreeMap<(IpAddr, IpAddr), usize> =
            both.ways.iter().enumerate().map(|(at, net)| ((net.source(), net.destination()), at)).collect();
        let back = |at: usize| {
            let net = both.ways.get(at)?;
            places.get(&(net.destination(), net.source())).copied()
        };
        for at in 0..found.len() {
            let reverse = back(at).and_then(|other| told.get(other)).and_then(|told| told.least);
            let own = told.get(at).and_then(|told| told.least);
            if let (Some(place), Some(own), Some(reverse)) = (found.get_mut(at), own, reverse)
                && place.is_none()
                && own != reverse
            {
                *place = Some(if own > reverse { Which::B } else { Which::A });
            }
        }
        let sides = sides(both, &found);
        let ways = (0..found.len())
            .map(|at| {
                let sure = found.get(at).copied().flatten();
                let reverse =
                    || back(at).and_then(|other| found.get(other).copied().flatten()).map(Which::other);
                let asks = told.get(at).and_then(|told| told.asks).unwrap_or(true);
                let guess = || if asks { Which::B } else { Which::A };
                let known = sure.or_else(reverse).or_else(|| by_sides(both, at, &sides));
                (known.unwrap_or_else(guess), known.is_some())
            })
            .collect();
        Self { ways, sides }
    }

    /// Returns the capture that packets of a way come to, having passed the other one.
    pub(super) fn of(&self, way: u32) -> Which {
        self.ways.get(way as usize).map_or(Which::B, |(which, _)| *which)
    }

    /// Says whether that is more than a guess.
    pub(super) fn sure(&self, way: u32) -> bool {
        self.ways.get(way as usize).is_some_and(|(_, sure)| *sure)
    }

    /// Says whether both ends of a way are known to live on the same side: what they say passes one place at most.
    pub(super) fn same_side(&self, (source, destination): (IpAddr, IpAddr)) -> bool {
        let side = |address: IpAddr| self.sides.get(&address).copied().unwrap_or(0).signum();
        side(source) != 0 && side(source) == side(destination)
    }
}

fn told(both: &Both, join: &Join) -> Vec<Told> {
    let mut told = vec![Told::default(); both.ways.len()];
    for shot in [&both.a, &both.b] {
        for seen in &shot.seen {
            if let Some(told) = told.get_mut(seen.way as usize)
                && told.asks.is_none()
            {
                told.asks = both.lane_of(seen).map(|lane| lane.flipped == (seen.lane % 2 == 1));
            }
        }
    }
    for (one, other) in both.a.seen.iter().zip(&join.a) {
        let Some(other) = both.b.seen.get(*other as usize).filter(|_| *other != NONE) else {
            continue;
        };
        // Where addresses were rewritten, both ways are the same one.
        let places = [Some(one.way), (one.way != other.way).then_some(other.way)];
        for way in places.into_iter().flatten() {
            if let Some(told) = told.get_mut(way as usize) {
                told.hops += (i64::from(one.hops) - i64::from(other.hops)).signum();
                let later = other.time.wrapping_sub(one.time) as i64;
                told.least = Some(told.least.map_or(later, |least| least.min(later)));
            }
        }
    }
    told
}

fn by_hops(told: Told) -> Option<Which> {
    match told.hops {
        0 => None,
        1.. => Some(Which::B),
        _ => Some(Which::A),
    }
}

/// Returns on which side of both places addresses live: above zero before A.
fn sides(both: &Both, found: &[Option<Which>]) -> BTreeMap<IpAddr, i64> {
    let mut sides: BTreeMap<IpAddr, i64> = BTreeMap::new();
    for (net, toward) in both.ways.iter().zip(found) {
        if let Some(toward) = toward {
            let sign = toward.of(-1, 1);
            *sides.entry(net.source()).or_default() += sign;
            *sides.entry(net.destination()).or_default() -= sign;
        }
    }
    sides
}

fn by_sides(both: &Both, way: usize, sides: &BTreeMap<IpAddr, i64>) -> Option<Which> {
    let net = both.ways.get(way)?;
    let known = |address: IpAddr| sides.get(&address).copied().unwrap_or(0).signum();
    match known(net.source()) - known(net.destination()) {
        0 => None,
        1.. => Some(Which::B),
        _ => Some(Which::A),
    }
}
