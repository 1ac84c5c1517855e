//! Follows every case that unknown items leave open.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::rule::Access;
use crate::net::Ranges;

/// How many rules are looked at for one answer before it is "not decided".
const MAX_STEPS: usize = 200_000;

/// How many items are assumed at once.
const MAX_ASSUMED: usize = 64;

/// Stands among what an answer depends on where not every case was followed.
const TOO_MANY: &str = "more cases than can be distinguished";

/// Something that nobody knows, and on which it depends whether a rule matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Item {
    /// It is the same thing wherever it is named.
    Shared(String),
    /// It is about this one rule, whatever other rules are called.
    Own(String),
}

impl Item {
    /// Returns it as words.
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Shared(text) | Self::Own(text) => text,
        }
    }
}

/// What may be needed for a rule to match: of every clause at least one item must hold.
pub(super) type Clauses = Vec<Vec<Item>>;

/// What a gate may say, and which rules may be the ones that say it.
#[derive(Debug, Clone, Default)]
pub(super) struct GateAnswer {
    /// The possible results; nothing stands for "no rule matched".
    pub(super) by: BTreeMap<Access, BTreeSet<Option<usize>>>,
    /// The items on which it depends.
    pub(super) open: BTreeSet<String>,
    /// The first rule that certainly matches: whatever stands behind it is not tried.
    pub(super) last: Option<usize>,
}

impl GateAnswer {
    pub(super) fn add(&mut self, access: Option<Access>, rule: Option<usize>) {
        let both = [Access::Allow, Access::Deny];
        for access in access.as_ref().map_or(both.as_slice(), std::slice::from_ref) {
            self.by.entry(*access).or_default().insert(rule);
        }
    }

    /// Returns the only possible result.
    pub(super) fn certain(&self) -> Option<Access> {
        let mut results = self.by.keys();
        results.next().filter(|_| results.next().is_none()).copied()
    }

    /// Returns the rule that decides, where there is one.
    pub(super) fn rule(&self) -> Option<usize> {
        let mut rules = self.by.get(&self.certain()?)?.iter();
        rules.next().filter(|_| rules.next().is_none()).copied().flatten()
    }
}

/// The rules that may match, in order, and what each of them needs for it.
#[derive(Debug, Default)]
pub(super) struct Cases {
    live: Vec<Live>,
    names: Vec<String>,
    /// The places of the items; those of one rule are distinguished from those of another.
    known: HashMap<(Option<usize>, String), usize>,
}

#[derive(Debug)]
struct Live {
    at: usize,
    access: Option<Access>,
    /// Of every clause at least one item must hold; items are named by their place.
    clauses: Vec<Vec<usize>>,
    ports: Option<Ranges>,
}

impl Cases {
    /// Adds a rule, and tells whether it certainly matches.
    pub(super) fn add(
        &mut self,
        at: usize,
        access: Option<Access>,
        clauses: Clauses,
        ports: Option<Ranges>,
    ) -> bool {
        let certain = clauses.is_empty() && ports.is_none();
        let place = |clause: Vec<Item>| clause.into_iter().map(|item| self.place(at, item)).collect();
        let clauses = clauses.into_iter().map(place).collect();
        self.live.push(Live { at, access, clauses, ports });
        certain
    }

    fn place(&mut self, at: usize, item: Item) -> usize {
        let key = match item {
            Item::Shared(text) => (None, text),
            Item::Own(text) => (Some(at), text),
        };
        *self.known.entry(key).or_insert_with_key(|(_, text)| {
            self.names.push(text.clone());
            self.names.len() - 1
        })
    }

    /// Answers over all cases; `end` is what happens where no rule matches.
    pub(super) fn answer(&self, end: Access) -> GateAnswer {
        let mut answer = GateAnswer::default();
        let misses = self.live.last().is_none_or(|live| !live.clauses.is_empty() || live.ports.is_some());
        let mut results = self.live.iter().map(|live| live.access).chain(misses.then_some(Some(end)));
        let first = results.next().flatten();
        if self.live.len() > 1 && first.is_some() && results.all(|access| access == first) {
            // Whichever of them matches, the answer is the same.
            self.live.iter().for_each(|live| answer.add(live.access, Some(live.at)));
            return answer;
        }
        let assumed = vec![None; self.names.len()];
        let mut walk = Walk { cases: self, end, answer, assumed, steps: 0 };
        if walk.from(0, &Ranges::one(0, u128::from(u16::MAX)), 0).is_err() {
            walk.answer.add(None, None);
            walk.answer.open.insert(TOO_MANY.to_owned());
        }
        if walk.answer.certain().is_some() {
            walk.answer.open.clear();
        }
        walk.answer
    }
}

/// There are more cases than are followed.
struct TooMany;

struct Walk<'a> {
    cases: &'a Cases,
    end: Access,
    answer: GateAnswer,
    assumed: Vec<Option<bool>>,
    steps: usize,
}

impl<'a> Walk<'a> {
    fn from(&mut self, start: usize, ports: &Ranges, depth: usize) -> Result<(), TooMany> {
        let mut denied = Vec::new();
        let done = self.follow(start, ports.clone(), depth, &mut denied);
        denied.into_iter().for_each(|item| self.assume(item, None));
        done
    }

    fn follow(
        &mut self,
        start: usize,
        mut ports: Ranges,
        depth: usize,
        denied: &mut Vec<usize>,
    ) -> Result<(), TooMany> {
        let cases = self.cases;
        for (at, rule) in cases.live.iter().enumerate().skip(start) {
            self.steps += 1;
            if self.steps > MAX_STEPS {
                return Err(TooMany);
            }
            let hit = rule.ports.as_ref().map_or_else(|| ports.clone(), |own| ports.intersection(own));
            if hit.is_empty() || !self.holds(at, rule, &ports, depth, denied)? {
                continue;
            }
            self.answer.add(rule.access, Some(rule.at));
            ports = ports.difference(&hit);
            if ports.is_empty() {
                return Ok(());
            }
            self.answer.open.insert("the source port".to_owned());
        }
        self.answer.add(Some(self.end), None);
        Ok(())
    }

    /// Tells whether every clause of a rule holds under what is assumed.
    ///
    /// Where that is open, the cases in which an item holds are followed first; from then on it does not.
    fn holds(
        &mut self,
        at: usize,
        rule: &'a Live,
        ports: &Ranges,
        depth: usize,
        denied: &mut Vec<usize>,
    ) -> Result<bool, TooMany> {
        loop {
            let mut open = None;
            for clause in &rule.clauses {
                if clause.iter().any(|item| self.is(*item) == Some(true)) {
                    continue;
                }
                match clause.iter().find(|item| self.is(**item).is_none()) {
                    Some(item) => open = open.or(Some(*item)),
                    None => return Ok(false),
                }
            }
            let Some(item) = open else { return Ok(true) };
            self.answer.open.extend(self.cases.names.get(item).cloned());
            if depth >= MAX_ASSUMED {
                return Err(TooMany);
            }
            self.assume(item, Some(true));
            self.from(at, ports, depth + 1)?;
            self.assume(item, Some(false));
            denied.push(item);
        }
    }

    fn is(&self, item: usize) -> Option<bool> {
        self.assumed.get(item).copied().flatten()
    }

    fn assume(&mut self, item: usize, case: Option<bool>) {
        if let Some(assumed) = self.assumed.get_mut(item) {
            *assumed = case;
        }
    }
}
