//! Exact sets of numbers.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use ipnet::IpNet;

/// A set of numbers as closed ranges: sorted, disjoint and not adjacent. Copies share them.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Ranges(Arc<Vec<(u128, u128)>>);

impl Ranges {
    /// Returns the set without members.
    #[must_use]
    pub fn empty() -> Self {
        Self::default()
    }

    /// Returns the set of one range; it is empty where the first number is the larger one.
    #[must_use]
    pub fn one(first: u128, last: u128) -> Self {
        if first > last { Self::empty() } else { Self(Arc::new(vec![(first, last)])) }
    }

    /// Returns the union of any ranges in any order; a range that ends before it begins has no members.
    #[must_use]
    pub fn of(ranges: impl IntoIterator<Item = (u128, u128)>) -> Self {
        let mut all: Vec<_> = ranges.into_iter().filter(|(first, last)| first <= last).collect();
        all.sort_unstable();
        let mut merged: Vec<(u128, u128)> = Vec::with_capacity(all.len());
        for (first, last) in all {
            match merged.last_mut() {
                Some(open) if first <= open.1.saturating_add(1) => open.1 = open.1.max(last),
                Some(_) | None => merged.push((first, last)),
            }
        }
        Self(Arc::new(merged))
    }

    /// Tells whether there is no member.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Tells whether a number is a member.
    #[must_use]
    pub fn contains(&self, number: u128) -> bool {
        let after = self.0.partition_point(|(first, _)| *first <= number);
        after.checked_sub(1).and_then(|at| self.0.get(at)).is_some_and(|(_, last)| number <= *last)
    }

    /// Tells whether every number of a range is a member.
    #[must_use]
    pub fn covers(&self, first: u128, last: u128) -> bool {
        let after = self.0.partition_point(|(start, _)| *start <= first);
        after.checked_sub(1).and_then(|at| self.0.get(at)).is_some_and(|(_, end)| last <= *end)
    }

    /// Returns the first and the last member.
    #[must_use]
    pub fn bounds(&self) -> Option<(u128, u128)> {
        self.0.first().zip(self.0.last()).map(|((first, _), (_, last))| (*first, *last))
    }

    /// Returns how many ranges there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the ranges in order.
    pub fn iter(&self) -> impl Iterator<Item = (u128, u128)> + '_ {
        self.0.iter().copied()
    }

    /// Returns what is in either set.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self::of(self.iter().chain(other.iter()))
    }

    /// Returns what is in both sets.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let (mut ours, mut theirs) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut both = Vec::new();
        while let (Some(a), Some(b)) = (ours.peek(), theirs.peek()) {
            let (first, last) = (a.0.max(b.0), a.1.min(b.1));
            if first <= last {
                both.push((first, last));
            }
            if a.1 <= b.1 {
                ours.next();
            } else {
                theirs.next();
            }
        }
        Self(Arc::new(both))
    }

    /// Tells whether the sets share a member, without building what they share.
    #[must_use]
    pub fn meets(&self, other: &Self) -> bool {
        let (mut ours, mut theirs) = (self.0.iter().peekable(), other.0.iter().peekable());
        while let (Some(a), Some(b)) = (ours.peek(), theirs.peek()) {
            if a.0.max(b.0) <= a.1.min(b.1) {
                return true;
            }
            if a.1 <= b.1 {
                ours.next();
            } else {
                theirs.next();
            }
        }
        false
    }

    /// Returns what is in this set and not in the other.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        let mut left = Vec::new();
        let mut theirs = other.0.iter().peekable();
        for (first, last) in self.iter() {
            let mut open = Some(first);
            while let (Some(start), Some(hole)) = (open, theirs.peek()) {
                if hole.0 > last {
                    break;
                }
                if hole.1 < start {
                    theirs.next();
                    continue;
                }
                if hole.0 > start {
                    left.push((start, hole.0 - 1));
                }
                if hole.1 >= last {
                    open = None;
                } else {
                    open = Some(hole.1 + 1);
                    theirs.next();
                }
            }
            if let Some(start) = open {
                left.push((start, last));
            }
        }
        Self(Arc::new(left))
    }
}

impl fmt::Debug for Ranges {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_set().entries(self.0.iter().map(|(first, last)| first..=last)).finish()
    }
}

/// Reads a prefix or a bare address; bits behind the prefix are masked off.
///
/// IPv4 addresses written as IPv6 ones (`::ffff:10.0.0.0/104`) are none: nothing says which packets they would match.
#[must_use]
pub fn parse_prefix(text: &str) -> Option<IpNet> {
    let text = text.trim();
    let address =
        |text: &str| text.parse().ok().filter(|address: &IpAddr| address.to_canonical() == *address);
    let Some((first, length)) = text.split_once('/') else {
        return address(text).map(IpNet::from);
    };
    let digits = !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit());
    let length = digits.then(|| length.parse().ok()).flatten()?;
    Some(IpNet::new(address(first)?, length).ok()?.trunc())
}

/// Tells whether a text has the form of a service tag's name, such as `Storage.WestEurope`.
#[must_use]
pub fn is_tag(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_set() -> impl Strategy<Value = Ranges> {
        let edge = prop_oneof![0u128..40, (u128::MAX - 40)..=u128::MAX];
        proptest::collection::vec((edge.clone(), edge), 0..6).prop_map(Ranges::of)
    }

    fn any_point() -> impl Strategy<Value = u128> {
        prop_oneof![0u128..42, (u128::MAX - 42)..=u128::MAX]
    }

    proptest! {
        #[test]
        fn every_operation_agrees_with_point_queries(a in any_set(), b in any_set(), point in any_point()) {
            let (in_a, in_b) = (a.contains(point), b.contains(point));
            prop_assert_eq!(a.union(&b).contains(point), in_a || in_b);
            prop_assert_eq!(a.intersection(&b).contains(point), in_a && in_b);
            prop_assert_eq!(a.difference(&b).contains(point), in_a && !in_b);
            prop_assert_eq!(a.meets(&b), !a.intersection(&b).is_empty());
            prop_assert_eq!(a.covers(point, point), in_a);
        }

        #[test]
        fn a_set_has_one_form(a in any_set(), b in any_set()) {
            for set in [a.union(&b), a.intersection(&b), a.difference(&b)] {
                prop_assert_eq!(&Ranges::of(set.iter()), &set);
            }
            prop_assert_eq!(a.difference(&b).union(&a.intersection(&b)), a);
        }
    }

    #[test]
    fn a_range_that_ends_before_it_begins_has_no_members() {
        assert!(Ranges::one(5, 4).is_empty());
        assert!(Ranges::of([(9, 1)]).is_empty());
    }

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(parse_prefix(text).map(|prefix| prefix.to_string()).as_deref(), expected, "{text}");
    }

    #[test]
    fn host_bits_are_masked_and_a_bare_address_is_a_host() {
        check("10.9.1.77/16", Some("10.9.0.0/16"));
        check(" 10.0.0.5 ", Some("10.0.0.5/32"));
        check("2001:db8::1/32", Some("2001:db8::/32"));
        check("::1", Some("::1/128"));
    }

    #[test]
    fn what_is_no_prefix_is_none() {
        for text in [
            "",
            "/",
            "10.0.0.0/",
            "10.0.0.0/33",
            "10.0.0.0/+8",
            "10.300.0.0/16",
            "10.0.0/8",
            "::/129",
            "a/8",
            "::ffff:10.0.0.0/104",
            "::ffff:10.0.0.1",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn a_tag_is_distinguished_from_a_broken_prefix() {
        assert!(is_tag("Storage.WestEurope") && is_tag("1AzureTag"));
        assert!(!is_tag("10.300.0.0") && !is_tag("Storage/8") && !is_tag("") && !is_tag("a b"));
    }
}
