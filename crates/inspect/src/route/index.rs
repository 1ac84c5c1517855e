//! Finds every prefix that contains an address, and which of their routes carry a packet there.

use std::net::IpAddr;
use std::ops::Range;

use super::row::{Route, Source};
use crate::net::Family;

/// How many prefixes are searched through after the coarse search.
const STRIDE: usize = 64;

/// Stands for "none" among the places of nodes.
const NONE: u32 = u32::MAX;

/// The prefixes of both families, each with the next wider one that contains it.
///
/// What is chosen depends on the innermost prefix alone, so building the index decides it once for each of them.
#[derive(Debug, Clone, Default)]
pub(super) struct Index {
    v4: Tree,
    v6: Tree,
}

#[derive(Debug, Clone, Default)]
struct Tree {
    firsts: Vec<u128>,
    /// Every `STRIDE`th of them, so that a search touches few lines of memory.
    coarse: Vec<u128>,
    nodes: Vec<Node>,
    /// The places of the routes, those of a node together: what is in use first, the best rank first.
    order: Vec<u32>,
}

/// One prefix.
#[derive(Debug, Clone)]
pub(super) struct Node {
    last: u128,
    parent: u32,
    rows: Range<u32>,
    /// The innermost node from here outwards with a route in use.
    active: u32,
    /// The innermost node from here outwards with a route in use that is not BGP's.
    other: u32,
    /// Whether a route here or around goes before BGP, however specific that is.
    preferred: bool,
    /// The routes in use with the best rank, and those of them that are not BGP's.
    best: Range<u32>,
    best_other: Range<u32>,
}

/// What carries packets to an address.
#[derive(Debug, Clone, Copy)]
pub(super) struct IndexMatch<'a> {
    /// The places of the best routes.
    pub(super) best: &'a [u32],
    /// The places of every route of the prefix that was chosen, what is in use first.
    pub(super) finalists: &'a [u32],
    /// Whether routes of BGP do not compete.
    pub(super) preferred: bool,
    /// Whether a longer prefix was passed over for that.
    pub(super) passed_over: bool,
}

impl Index {
    /// Builds the index; routes are named by their place.
    pub(super) fn new(routes: &[Route]) -> Self {
        let (mut v4, mut v6) = (Vec::new(), Vec::new());
        for (at, route) in routes.iter().enumerate() {
            let (first, last) =
                (Family::number(route.prefix.network()), Family::number(route.prefix.broadcast()));
            let Ok(at) = u32::try_from(at) else { break };
            let place = if route.prefix.network().is_ipv4() { &mut v4 } else { &mut v6 };
            place.push(Leaf { first, last, key: Key::of(route), at });
        }
        Self { v4: Tree::new(v4), v6: Tree::new(v6) }
    }

    fn tree(&self, address: IpAddr) -> &Tree {
        match Family::of(address) {
            Family::Ipv4 => &self.v4,
            Family::Ipv6 => &self.v6,
        }
    }

    /// Returns the places of the routes that contain an address, the longest prefix first.
    pub(super) fn containing(&self, address: IpAddr) -> impl Iterator<Item = u32> + '_ {
        let tree = self.tree(address);
        let nodes =
            std::iter::successors(tree.innermost(Family::number(address)), |node| tree.node(node.parent));
        nodes.flat_map(|node| tree.places(&node.rows)).copied()
    }

    /// Returns what carries packets to an address, where anything does.
    pub(super) fn find(&self, address: IpAddr) -> Option<IndexMatch<'_>> {
        let tree = self.tree(address);
        let innermost = tree.innermost(Family::number(address))?;
        let chosen = if innermost.preferred { innermost.other } else { innermost.active };
        let node = tree.node(chosen)?;
        Some(IndexMatch {
            best: tree.places(if innermost.preferred { &node.best_other } else { &node.best }),
            finalists: tree.places(&node.rows),
            preferred: innermost.preferred,
            passed_over: chosen != innermost.active,
        })
    }
}

/// What of a route decides, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    idle: bool,
    rank: (u8, bool),
    gateway: bool,
    preferred: bool,
}

impl Key {
    fn of(route: &Route) -> Self {
        let (gateway, preferred) = (route.row.source == Source::Gateway, route.beats_bgp());
        Self { idle: !route.is_active(), rank: route.rank(), gateway, preferred }
    }
}

/// A route's prefix as numbers.
#[derive(Debug, Clone, Copy)]
struct Leaf {
    first: u128,
    last: u128,
    key: Key,
    at: u32,
}

impl Tree {
    fn new(mut leaves: Vec<Leaf>) -> Self {
        // A wider prefix that begins at the same address comes first.
        let outside_in = |leaf: &Leaf| (leaf.first, !leaf.last, leaf.key.idle, leaf.key.rank, leaf.at);
        leaves.sort_unstable_by_key(outside_in);
        let mut tree = Self { order: leaves.iter().map(|leaf| leaf.at).collect(), ..Self::default() };
        let mut open: Vec<(u128, u32)> = Vec::new();
        let mut start = 0;
        for same in leaves.chunk_by(|a, b| (a.first, a.last) == (b.first, b.last)) {
            let Some(Leaf { first, last, .. }) = same.first().copied() else { continue };
            while open.last().is_some_and(|(outer, _)| *outer < first) {
                open.pop();
            }
            let parent = open.last().map_or(NONE, |(_, node)| *node);
            let own = u32::try_from(tree.nodes.len()).unwrap_or(NONE);
            let node = Node::new(same, start, (own, parent), tree.node(parent));
            open.push((last, own));
            start = node.rows.end;
            if tree.firsts.len().is_multiple_of(STRIDE) {
                tree.coarse.push(first);
            }
            tree.firsts.push(first);
            tree.nodes.push(node);
        }
        tree
    }

    fn node(&self, at: u32) -> Option<&Node> {
        self.nodes.get(usize::try_from(at).ok()?)
    }

    fn places(&self, range: &Range<u32>) -> &[u32] {
        let range = usize::try_from(range.start).ok().zip(usize::try_from(range.end).ok());
        range.and_then(|(start, end)| self.order.get(start..end)).unwrap_or_default()
    }

    fn innermost(&self, number: u128) -> Option<&Node> {
        let before = |firsts: &[u128]| firsts.partition_point(|first| *first <= number).checked_sub(1);
        let start = before(&self.coarse)? * STRIDE;
        let end = self.firsts.len().min(start + STRIDE);
        let mut node = self.nodes.get(start + before(self.firsts.get(start..end)?)?)?;
        // Everything around a prefix that contains the address contains it too.
        while node.last < number {
            node = self.node(node.parent)?;
        }
        Some(node)
    }
}

impl Node {
    fn new(same: &[Leaf], start: u32, (own, parent): (u32, u32), outer: Option<&Self>) -> Self {
        let place = |at: usize| start.saturating_add(u32::try_from(at).unwrap_or(u32::MAX));
        let best = |wanted: &dyn Fn(&Key) -> bool| {
            let mut among = same.iter().enumerate().filter(|(_, leaf)| !leaf.key.idle && wanted(&leaf.key));
            // Routes of one rank stand together.
            among.next().map(|(first, leaf)| {
                let last = among.take_while(|(_, other)| other.key.rank == leaf.key.rank).last();
                place(first)..place(last.map_or(first, |(at, _)| at) + 1)
            })
        };
        let (all, other) = (best(&|_| true), best(&|key| !key.gateway));
        let active = same.iter().filter(|leaf| !leaf.key.idle);
        Self {
            last: same.first().map_or(0, |leaf| leaf.last),
            parent,
            rows: start..place(same.len()),
            active: if all.is_some() { own } else { outer.map_or(NONE, |outer| outer.active) },
            other: if other.is_some() { own } else { outer.map_or(NONE, |outer| outer.other) },
            preferred: outer.is_some_and(|outer| outer.preferred)
                || active.into_iter().any(|leaf| leaf.key.preferred),
            best: all.unwrap_or_default(),
            best_other: other.unwrap_or_default(),
        }
    }
}
