//! Pairs the rows of two parts as multisets.

use std::collections::{BTreeMap, BTreeSet};

use super::row::{Part, Row};

/// What became of a row.
#[derive(Debug, Clone, Copy)]
pub(super) enum RowOutcome<'a> {
    /// It is there on both sides, with the same content.
    Same(&'a Row, &'a Row),
    /// It is there on both sides, and its names stand for something else.
    Expanded(&'a Row, &'a Row),
    /// It is there on both sides, with another content.
    Changed(&'a Row, &'a Row),
    /// It went.
    Removed(&'a Row),
    /// It came.
    Added(&'a Row),
}

/// Tells of every row what became of it.
///
/// Rows of one key form a multiset: what is the same on both sides is taken out first, and only what is left over is a change.
pub(super) fn outcomes<'a>(before: &'a Part, after: &'a Part) -> Vec<RowOutcome<'a>> {
    let mut outcomes = Vec::new();
    let (mut old, mut new) = (before.rows.as_slice(), after.rows.as_slice());
    // Most of an answer stands where it stood.
    while let (Some((a, rest)), Some((b, others))) = (old.split_first(), new.split_first())
        && a.is_alike(b)
    {
        outcomes.push(RowOutcome::Same(a, b));
        (old, new) = (rest, others);
    }
    while let (Some((a, rest)), Some((b, others))) = (old.split_last(), new.split_last())
        && a.is_alike(b)
    {
        outcomes.push(RowOutcome::Same(a, b));
        (old, new) = (rest, others);
    }
    let mut groups: BTreeMap<&str, (Vec<&Row>, Vec<&Row>)> = BTreeMap::new();
    for row in old {
        groups.entry(&row.key).or_default().0.push(row);
    }
    for row in new {
        groups.entry(&row.key).or_default().1.push(row);
    }
    for (mut before, mut after) in groups.into_values() {
        before.sort_by(|a, b| order(a, b));
        after.sort_by(|a, b| order(a, b));
        pair(
            &mut before,
            &mut after,
            |a, b| {
                (&a.details.content, &a.details.expansion).cmp(&(&b.details.content, &b.details.expansion))
            },
            |a, b| {
                outcomes.push(RowOutcome::Same(a, b));
            },
        );
        pair(
            &mut before,
            &mut after,
            |a, b| a.details.content.cmp(&b.details.content),
            |a, b| outcomes.push(RowOutcome::Expanded(a, b)),
        );
        let both = before.len().min(after.len());
        outcomes.extend(before.iter().zip(&after).map(|(a, b)| RowOutcome::Changed(a, b)));
        outcomes.extend(before.iter().skip(both).map(|row| RowOutcome::Removed(row)));
        outcomes.extend(after.iter().skip(both).map(|row| RowOutcome::Added(row)));
    }
    outcomes
}

fn order(a: &Row, b: &Row) -> std::cmp::Ordering {
    (&a.details.content, &a.details.expansion, &a.details.aside).cmp(&(
        &b.details.content,
        &b.details.expansion,
        &b.details.aside,
    ))
}

/// Takes pairs of equal rows out of two sorted lists.
fn pair<'a>(
    before: &mut Vec<&'a Row>,
    after: &mut Vec<&'a Row>,
    compare: impl Fn(&Row, &Row) -> std::cmp::Ordering,
    mut equal: impl FnMut(&'a Row, &'a Row),
) {
    let (mut left, mut right) = (Vec::new(), Vec::new());
    let (mut first, mut second) = (before.iter().peekable(), after.iter().peekable());
    loop {
        match (first.peek(), second.peek()) {
            (Some(a), Some(b)) => match compare(a, b) {
                std::cmp::Ordering::Less => left.extend(first.next().copied()),
                std::cmp::Ordering::Greater => right.extend(second.next().copied()),
                std::cmp::Ordering::Equal => {
                    equal(a, b);
                    first.next();
                    second.next();
                }
            },
            (Some(_), None) => left.extend(first.next().copied()),
            (None, Some(_)) => right.extend(second.next().copied()),
            (None, None) => break,
        }
    }
    (*before, *after) = (left, right);
}

/// Returns what the expansions of two rows have alone, where both sides tell theirs.
pub(super) fn churn<'a>(a: &'a Row, b: &'a Row) -> Option<(BTreeSet<&'a str>, BTreeSet<&'a str>)> {
    let (mut gone, mut come) = (BTreeSet::new(), BTreeSet::new());
    for ((_, a), (_, b)) in a.details.expansion.iter().zip(&b.details.expansion) {
        if !a.is_empty() && !b.is_empty() {
            gone.extend(a.difference(b).map(String::as_str));
            come.extend(b.difference(a).map(String::as_str));
        }
    }
    (!gone.is_empty() || !come.is_empty()).then_some((gone, come))
}
