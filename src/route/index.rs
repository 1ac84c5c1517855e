//! Finds every prefix that contains an address, the longest first.

use std::net::IpAddr;
use std::ops::Range;

use super::Route;
use crate::net::Family;

/// Stands for "no wider prefix" among the parents.
const NONE: u32 = u32::MAX;

/// The prefixes of both families, each with the next wider one that contains it.
#[derive(Debug, Clone, Default)]
pub(super) struct Index {
    v4: Tree,
    v6: Tree,
}

#[derive(Debug, Clone, Default)]
struct Tree {
    firsts: Vec<u128>,
    nodes: Vec<Node>,
    order: Vec<u32>,
}

#[derive(Debug, Clone)]
struct Node {
    last: u128,
    parent: u32,
    rows: Range<u32>,
}

impl Index {
    /// Builds the index; routes are named by their place.
    pub(super) fn new(routes: &[Route]) -> Self {
        let tree = |family| {
            let of_family = |(at, route): (usize, &Route)| {
                let network = route.prefix.network();
                let last = Family::number(route.prefix.broadcast());
                let at = u32::try_from(at).ok()?;
                (Family::of(network) == family).then(|| (Family::number(network), last, at))
            };
            Tree::new(routes.iter().enumerate().filter_map(of_family).collect())
        };
        Self { v4: tree(Family::Ipv4), v6: tree(Family::Ipv6) }
    }

    /// Returns the places of the routes that contain an address, the longest prefix first, else in the table's order.
    pub(super) fn containing(&self, address: IpAddr) -> impl Iterator<Item = usize> + '_ {
        let tree = match Family::of(address) {
            Family::Ipv4 => &self.v4,
            Family::Ipv6 => &self.v6,
        };
        let innermost = tree.innermost(Family::number(address));
        let nodes = std::iter::successors(innermost, |node| tree.node(node.parent));
        nodes.flat_map(|node| tree.rows(node)).filter_map(|at| usize::try_from(*at).ok())
    }
}

impl Tree {
    fn new(mut found: Vec<(u128, u128, u32)>) -> Self {
        // A wider prefix that begins at the same address comes first.
        found.sort_unstable_by(|a, b| (a.0, b.1, a.2).cmp(&(b.0, a.1, b.2)));
        let mut tree = Self { order: found.iter().map(|(_, _, at)| *at).collect(), ..Self::default() };
        let mut open: Vec<(u128, u32)> = Vec::new();
        let mut start = 0_u32;
        for same in found.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let Some((first, last, _)) = same.first().copied() else { continue };
            while open.last().is_some_and(|(outer, _)| *outer < first) {
                open.pop();
            }
            let parent = open.last().map_or(NONE, |(_, node)| *node);
            let end = start.saturating_add(u32::try_from(same.len()).unwrap_or(u32::MAX));
            open.push((last, u32::try_from(tree.nodes.len()).unwrap_or(NONE)));
            tree.firsts.push(first);
            tree.nodes.push(Node { last, parent, rows: start..end });
            start = end;
        }
        tree
    }

    fn node(&self, at: u32) -> Option<&Node> {
        self.nodes.get(usize::try_from(at).ok()?)
    }

    fn rows(&self, node: &Node) -> &[u32] {
        let range = usize::try_from(node.rows.start).ok().zip(usize::try_from(node.rows.end).ok());
        range.and_then(|(start, end)| self.order.get(start..end)).unwrap_or_default()
    }

    fn innermost(&self, number: u128) -> Option<&Node> {
        let after = self.firsts.partition_point(|first| *first <= number);
        let mut node = self.nodes.get(after.checked_sub(1)?)?;
        // Everything around a prefix that contains the address contains it too.
        while node.last < number {
            node = self.node(node.parent)?;
        }
        Some(node)
    }
}
