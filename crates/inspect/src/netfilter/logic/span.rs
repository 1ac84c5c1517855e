//! Sets of numbers as sorted runs.

use std::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock};

/// A set of numbers: sorted runs that neither touch nor overlap. A copy shares them: a set of a hundred thousand addresses stands
/// in many tests and regions, and once in memory.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::netfilter) struct Spans(Arc<[(u128, u128)]>);

/// Protocols, states, types of ICMP: nearly every rule asks for one of them, so there is one of each.
static SMALL: LazyLock<Vec<Spans>> =
    LazyLock::new(|| (0..=255).map(|value| Spans(Arc::new([(value, value)]))).collect());

/// A few runs tell two sets apart almost always; all of them would be read again and again.
impl Hash for Spans {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match &*self.0 {
            // Most sets are one run of numbers that are not large.
            [(from, to)] => match (u64::try_from(*from), u64::try_from(*to)) {
                (Ok(from), Ok(to)) => (from, to).hash(state),
                _ => (from, to).hash(state),
            },
            runs => (runs.len(), runs.first(), runs.get(runs.len() / 2), runs.last()).hash(state),
        }
    }
}

impl Spans {
    pub(in crate::netfilter) fn none() -> Self {
        Self::default()
    }

    pub(in crate::netfilter) fn one(value: u128) -> Self {
        Self::run(value, value)
    }

    /// A run from one number to another, both included; nothing where they stand in the wrong order.
    pub(in crate::netfilter) fn run(from: u128, to: u128) -> Self {
        let small = usize::try_from(from).ok().filter(|_| from == to).and_then(|at| SMALL.get(at));
        match small {
            Some(small) => small.clone(),
            None if from <= to => Self(Arc::new([(from, to)])),
            None => Self::none(),
        }
    }

    pub(in crate::netfilter) fn of(runs: impl IntoIterator<Item = (u128, u128)>) -> Self {
        let mut runs: Vec<(u128, u128)> = runs.into_iter().filter(|(from, to)| from <= to).collect();
        runs.sort_unstable();
        let mut merged: Vec<(u128, u128)> = Vec::with_capacity(runs.len());
        for (from, to) in runs {
            match merged.last_mut() {
                Some(last) if from <= last.1.saturating_add(1) => last.1 = last.1.max(to),
                _ => merged.push((from, to)),
            }
        }
        match merged.as_slice() {
            [(from, to)] => Self::run(*from, *to),
            _ => Self(merged.into()),
        }
    }

    pub(in crate::netfilter) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the only number in it, if it is one.
    pub(in crate::netfilter) fn single(&self) -> Option<u128> {
        match &*self.0 {
            [(from, to)] if from == to => Some(*from),
            _ => None,
        }
    }

    pub(in crate::netfilter) fn contains(&self, value: u128) -> bool {
        let at = self.0.partition_point(|run| run.1 < value);
        self.0.get(at).is_some_and(|run| run.0 <= value)
    }

    /// Returns everything up to `last` that is not in it.
    pub(in crate::netfilter) fn complement(&self, last: u128) -> Self {
        let mut runs = Vec::with_capacity(self.0.len() + 1);
        let mut next = Some(0);
        for (from, to) in self.0.iter() {
            if let Some(start) = next
                && start < *from
                && start <= last
            {
                runs.push((start, (from - 1).min(last)));
            }
            next = to.checked_add(1);
        }
        if let Some(start) = next
            && start <= last
        {
            runs.push((start, last));
        }
        Self(runs.into())
    }

    pub(in crate::netfilter) fn intersect(&self, other: &Self) -> Self {
        let mut runs = Vec::new();
        // The shorter side is walked, the longer one searched: sets of a hundred thousand stay cheap.
        let (short, long) = if self.0.len() <= other.0.len() { (self, other) } else { (other, self) };
        for (from, to) in short.0.iter() {
            let start = long.0.partition_point(|run| run.1 < *from);
            for run in long.0.iter().skip(start).take_while(|run| run.0 <= *to) {
                runs.push((run.0.max(*from), run.1.min(*to)));
            }
        }
        Self(runs.into())
    }

    pub(in crate::netfilter) fn subtract(&self, other: &Self) -> Self {
        self.intersect(&other.complement(u128::MAX))
    }

    pub(in crate::netfilter) fn within(&self, other: &Self) -> bool {
        self.0.iter().all(|(from, to)| {
            let at = other.0.partition_point(|run| run.1 < *from);
            other.0.get(at).is_some_and(|run| run.0 <= *from && *to <= run.1)
        })
    }

    pub(in crate::netfilter) fn runs(&self) -> &[(u128, u128)] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn some() -> impl Strategy<Value = Spans> {
        proptest::collection::vec((0_u128..40, 0_u128..6), 0..6)
            .prop_map(|runs| Spans::of(runs.into_iter().map(|(from, length)| (from, from + length))))
    }

    proptest! {
        #[test]
        fn operations_agree_with_membership(a in some(), b in some(), value in 0_u128..50) {
            let (inside, other) = (a.contains(value), b.contains(value));
            prop_assert_eq!(a.intersect(&b).contains(value), inside && other);
            prop_assert_eq!(a.subtract(&b).contains(value), inside && !other);
            prop_assert_eq!(a.complement(60).contains(value), !inside);
            prop_assert_eq!(a.within(&b), a.subtract(&b).is_empty());
        }

        #[test]
        fn a_complement_of_a_complement_is_the_same(a in some()) {
            prop_assert_eq!(a.complement(u128::MAX).complement(u128::MAX), a);
        }
    }
}
