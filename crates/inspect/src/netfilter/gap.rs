//! Where something stood that could not be read: a rule that is left out would leave a hole that nobody sees.

use super::ruleset::{Table, Unread};

/// What could not be read of one table, beside where its rules were.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    /// For every chain the places of its rules, ascending.
    rules: Vec<Vec<u32>>,
    /// What may belong to any chain, by its place.
    anywhere: Vec<(u32, String)>,
    /// What belongs to a chain, and how many of its rules are before it.
    known: Vec<(usize, Unread)>,
}

impl Gaps {
    /// Notes where a rule of a chain stands.
    pub(super) fn rule(&mut self, chain: usize, place: usize) {
        if self.rules.len() <= chain {
            self.rules.resize_with(chain + 1, Vec::new);
        }
        if let Some(rules) = self.rules.get_mut(chain) {
            rules.push(number(place));
        }
    }

    /// Notes what may be a rule of any chain.
    pub(super) fn anywhere(&mut self, place: usize, what: String) {
        self.anywhere.push((number(place), what));
    }

    /// Notes what belongs to a chain.
    pub(super) fn within(&mut self, chain: usize, before: usize, what: String) {
        self.known.push((chain, Unread { before, what }));
    }

    /// Writes it into the chains.
    pub(super) fn close(self, table: &mut Table) {
        let Self { rules, anywhere, known } = self;
        for (chain, gap) in known {
            if let Some(chain) = table.chains.get_mut(chain) {
                chain.unread.push(gap);
            }
        }
        if !anywhere.is_empty() {
            for (at, chain) in table.chains.iter_mut().enumerate() {
                let places = rules.get(at).map(Vec::as_slice).unwrap_or_default();
                let mut from = 0;
                for before in 0..=places.len() {
                    let next = places.get(before).copied().unwrap_or(u32::MAX);
                    let to = anywhere.partition_point(|(place, _)| *place < next);
                    if let Some((_, what)) = anywhere.get(from).filter(|_| from < to) {
                        let more = to - from - 1;
                        let what = if more == 0 {
                            what.clone()
                        } else {
                            format!("{what}, and {more} more behind it")
                        };
                        chain.unread.push(Unread { before, what });
                    }
                    from = to.max(from);
                }
            }
        }
        for chain in &mut table.chains {
            chain.unread.sort_by_key(|gap| gap.before);
        }
    }
}

fn number(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}
