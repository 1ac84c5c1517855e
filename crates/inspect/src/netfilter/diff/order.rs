//! The longest common subsequence: what stayed in its place.

use std::collections::HashMap;

/// Above this many pairs of equal entries, only the first with the first, the second with the second … are considered.
const MAX_PAIRS: usize = 2_000_000;

/// Returns the pairs of places that a longest common subsequence joins, in order.
pub(in crate::netfilter) fn common<T: Eq + std::hash::Hash>(a: &[T], b: &[T]) -> Vec<(usize, usize)> {
    let head = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (a_rest, b_rest) = (a.get(head..).unwrap_or_default(), b.get(head..).unwrap_or_default());
    let tail = a_rest.iter().rev().zip(b_rest.iter().rev()).take_while(|(x, y)| x == y).count();
    let a_middle = a_rest.get(..a_rest.len() - tail).unwrap_or_default();
    let b_middle = b_rest.get(..b_rest.len() - tail).unwrap_or_default();
    let mut pairs: Vec<(usize, usize)> = (0..head).map(|at| (at, at)).collect();
    pairs.extend(middle(a_middle, b_middle).into_iter().map(|(x, y)| (x + head, y + head)));
    pairs.extend((0..tail).map(|at| (a.len() - tail + at, b.len() - tail + at)));
    pairs
}

/// Hunt and Szymanski: a longest rising run through the places of equal entries.
fn middle<T: Eq + std::hash::Hash>(a: &[T], b: &[T]) -> Vec<(usize, usize)> {
    let mut places: HashMap<&T, Vec<usize>> = HashMap::new();
    for (at, entry) in b.iter().enumerate() {
        places.entry(entry).or_default().push(at);
    }
    let pairs: usize = a.iter().filter_map(|entry| places.get(entry)).map(Vec::len).sum();
    let paired = pairs > MAX_PAIRS;
    let mut seen: HashMap<&T, usize> = HashMap::new();
    // For every length the smallest end in `b`, and the link that leads back.
    let mut ends: Vec<(usize, usize)> = Vec::new();
    let mut links: Vec<(usize, usize, Option<usize>)> = Vec::new();
    for (x, entry) in a.iter().enumerate() {
        let Some(all) = places.get(entry) else { continue };
        let count = seen.entry(entry).or_insert(0);
        let candidates = if paired { all.get(*count..=*count).unwrap_or_default() } else { all.as_slice() };
        *count += 1;
        // From the last to the first, so that one entry of `a` is used once.
        for y in candidates.iter().rev().copied() {
            let length = ends.partition_point(|(end, _)| *end < y);
            let before = length.checked_sub(1).and_then(|at| ends.get(at)).map(|(_, link)| *link);
            let link = links.len();
            match ends.get_mut(length) {
                Some(end) if end.0 == y => continue,
                Some(end) => *end = (y, link),
                None => ends.push((y, link)),
            }
            links.push((x, y, before));
        }
    }
    let mut found = Vec::new();
    let mut next = ends.last().map(|(_, link)| *link);
    while let Some((x, y, before)) = next.and_then(|at| links.get(at)) {
        found.push((*x, *y));
        next = *before;
    }
    found.reverse();
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn slow(a: &[u8], b: &[u8]) -> usize {
        let mut row = vec![0; b.len() + 1];
        for x in a {
            let mut left = 0;
            for (at, y) in b.iter().enumerate() {
                let above = row[at + 1];
                let here = if x == y { left + 1 } else { above.max(row[at]) };
                left = above;
                row[at + 1] = here;
            }
        }
        row[b.len()]
    }

    proptest! {
        #[test]
        fn it_is_as_long_as_the_slow_algorithm_finds(
            a in proptest::collection::vec(0_u8..6, 0..24),
            b in proptest::collection::vec(0_u8..6, 0..24),
        ) {
            let pairs = common(&a, &b);
            prop_assert_eq!(pairs.len(), slow(&a, &b));
            prop_assert!(pairs.iter().all(|(x, y)| a[*x] == b[*y]));
            prop_assert!(pairs.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1));
        }
    }
}
