//! Which rules of a chain a packet can match at all, found without asking each.
//!
//! Every rule stands in one tree: that of the field which few packets share with it. What a rule demands of no single field
//! stands in none, and is asked always.

use std::collections::HashMap;

use super::program::{CodeRule, ProgramStep};
use super::span::Spans;
use super::test::{Field, Test};

/// Chains that are shorter than this are asked rule by rule.
const MIN_INDEXED_RULES: usize = 12;
/// A demand of more runs than this is no help.
const MAX_RUNS: usize = 16;
const FIELDS: [Field; 9] = [
    Field::Source,
    Field::Destination,
    Field::Dport,
    Field::Sport,
    Field::In,
    Field::Out,
    Field::IcmpType,
    Field::Protocol,
    Field::State,
];

/// The rules of a chain by what they demand.
#[derive(Debug)]
pub(in crate::netfilter) struct Index {
    trees: Vec<(Field, Tree)>,
    always: Vec<u32>,
}

impl Index {
    /// Sorts the rules of a chain; nothing where that would not help.
    pub(super) fn of(rules: &[CodeRule]) -> Option<Self> {
        if rules.len() < MIN_INDEXED_RULES {
            return None;
        }
        // Every demand is looked up once; `found` holds those of all rules, and where each rule's begin.
        let (mut found, mut begins) = (Vec::with_capacity(2 * rules.len()), Vec::with_capacity(rules.len()));
        let mut places: HashMap<(Field, &Spans), usize> = HashMap::with_capacity(rules.len());
        let mut shared: Vec<(Field, &Spans, u32)> = Vec::new();
        let mut of_rule = Vec::new();
        for rule in rules {
            begins.push(found.len());
            of_rule.clear();
            demands(rule, &mut of_rule);
            for (field, spans) in of_rule.drain(..) {
                let at = *places.entry((field, spans)).or_insert(shared.len());
                match shared.get_mut(at) {
                    Some((.., count)) => *count += 1,
                    None => shared.push((field, spans, 1)),
                }
                found.push(at);
            }
        }
        drop(places);
        let total = f64::from(u32::try_from(rules.len()).ok()?);
        let weight = |(field, spans, count): &(Field, &Spans, u32)| {
            (f64::from(*count) / total).max(share(*field, spans))
        };
        let weights: Vec<f64> = shared.iter().map(weight).collect();
        let mut items: HashMap<Field, Vec<Item>> = HashMap::new();
        let mut always = Vec::new();
        for (rule, begin) in begins.iter().enumerate() {
            let end = begins.get(rule + 1).copied().unwrap_or(found.len());
            let rule = u32::try_from(rule).ok()?;
            let weigh = |at: &usize| weights.get(*at).copied().unwrap_or(1.0);
            let own = found.get(*begin..end).unwrap_or_default().iter();
            let best = own.min_by(|a, b| weigh(a).total_cmp(&weigh(b))).and_then(|at| shared.get(*at));
            match best {
                Some((field, spans, _)) => {
                    let runs =
                        spans.runs().iter().map(|(from, to)| Item { from: *from, to: *to, reach: *to, rule });
                    items.entry(*field).or_default().extend(runs);
                }
                None => always.push(rule),
            }
        }
        let trees = items.into_iter().map(|(field, items)| (field, Tree::of(items))).collect();
        Some(Self { trees, always })
    }

    /// Returns the rules that can match, in order; `known` says what a field can be, or that it can be anything.
    pub(in crate::netfilter) fn candidates<'a>(&self, known: impl Fn(Field) -> Known<'a>) -> Vec<u32> {
        let mut found = self.always.clone();
        for (field, tree) in &self.trees {
            match known(*field) {
                Known::Value(value) => tree.meeting(value, value, &mut found),
                Known::OneOf(spans) => {
                    for (from, to) in spans.runs() {
                        tree.meeting(*from, *to, &mut found);
                    }
                }
                Known::Nothing => found.extend(tree.items.iter().map(|item| item.rule)),
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// What is known about a field.
#[derive(Debug, Clone, Copy)]
pub(in crate::netfilter) enum Known<'a> {
    Value(u128),
    OneOf(&'a Spans),
    Nothing,
}

/// Collects what single fields have to be for a rule to match.
fn demands<'a>(rule: &'a CodeRule, found: &mut Vec<(Field, &'a Spans)>) {
    let tests = rule.steps.iter().map_while(|(_, step)| match step {
        ProgramStep::Match(test) => Some(test),
        ProgramStep::Change(_) | ProgramStep::Do(_) | ProgramStep::Choose(_) => None,
    });
    tests.for_each(|test| demand(test, found));
}

fn demand<'a>(test: &'a Test, found: &mut Vec<(Field, &'a Spans)>) {
    match test {
        Test::Is(field, spans) if FIELDS.contains(field) && spans.runs().len() <= MAX_RUNS => {
            found.push((*field, spans));
        }
        Test::All(tests) => tests.iter().for_each(|test| demand(test, found)),
        Test::Is(..)
        | Test::Mask(..)
        | Test::Atom(_)
        | Test::Always
        | Test::Never
        | Test::Any(_)
        | Test::Not(_) => {}
    }
}

/// Estimates which share of the values of a field some runs are. Addresses count as if they were IPv4, unless they cannot be.
fn share(field: Field, spans: &Spans) -> f64 {
    let bits = |count: u128| 128 - i32::try_from(count.leading_zeros()).unwrap_or(0);
    let size =
        spans.runs().iter().fold(0_u128, |all, (from, to)| all.saturating_add((to - from).saturating_add(1)));
    let far = spans.runs().last().is_some_and(|(_, to)| *to > u128::from(u32::MAX));
    let address = matches!(field, Field::Source | Field::Destination);
    let whole = if address && !far { 33 } else { bits(field.last()) };
    2_f64.powi((bits(size) - whole).min(0))
}

/// Runs in the order of their beginnings; the middle of every part knows how far the part reaches.
#[derive(Debug)]
struct Tree {
    items: Vec<Item>,
}

#[derive(Debug)]
struct Item {
    from: u128,
    to: u128,
    reach: u128,
    rule: u32,
}

impl Tree {
    fn of(mut items: Vec<Item>) -> Self {
        items.sort_unstable_by_key(|item| (item.from, item.to, item.rule));
        reach(&mut items);
        Self { items }
    }

    /// Adds the rules whose runs meet a run.
    fn meeting(&self, from: u128, to: u128, found: &mut Vec<u32>) {
        let mut open: Vec<&[Item]> = vec![&self.items];
        while let Some(part) = open.pop() {
            let (left, rest) = part.split_at(part.len() / 2);
            let Some((middle, right)) = rest.split_first() else { continue };
            if middle.reach < from {
                continue;
            }
            open.push(left);
            if middle.from <= to {
                if middle.to >= from {
                    found.push(middle.rule);
                }
                open.push(right);
            }
        }
    }
}

/// Tells every middle how far its part reaches.
fn reach(part: &mut [Item]) -> u128 {
    let (left, rest) = part.split_at_mut(part.len() / 2);
    let Some((middle, right)) = rest.split_first_mut() else { return 0 };
    middle.reach = middle.to.max(reach(left)).max(reach(right));
    middle.reach
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rules() -> impl Strategy<Value = Vec<CodeRule>> {
        let field = proptest::sample::select(vec![Field::Source, Field::Dport, Field::Mark]);
        let test = (field, 0_u128..60, 0_u128..20)
            .prop_map(|(field, from, length)| Test::Is(field, Spans::run(from, from + length)));
        let rule = proptest::collection::vec(test, 0..3).prop_map(|tests| CodeRule {
            steps: tests.into_iter().map(|test| (0, ProgramStep::Match(test))).collect(),
        });
        proptest::collection::vec(rule, MIN_INDEXED_RULES..60)
    }

    fn meets(rule: &CodeRule, of: &impl Fn(Field) -> Spans) -> bool {
        let mut found = Vec::new();
        demands(rule, &mut found);
        found.iter().all(|(field, spans)| !of(*field).intersect(spans).is_empty())
    }

    proptest! {
        #[test]
        fn no_rule_that_can_match_is_left_out(rules in rules(), source in 0_u128..80, port in (0_u128..80, 0_u128..9)) {
            let of = |field: Field| if field == Field::Source {
                Spans::one(source)
            } else if field == Field::Dport {
                Spans::of([(port.0, port.0 + port.1), (90, 95)])
            } else {
                Spans::run(0, field.last())
            };
            let ports = of(Field::Dport);
            let index = Index::of(&rules).unwrap();
            let found = index.candidates(|field| if field == Field::Source {
                Known::Value(source)
            } else if field == Field::Dport {
                Known::OneOf(&ports)
            } else {
                Known::Nothing
            });
            prop_assert!(found.is_sorted_by(|a, b| a < b));
            for (at, rule) in rules.iter().enumerate() {
                prop_assert!(!meets(rule, &of) || found.contains(&u32::try_from(at).unwrap()));
            }
        }
    }
}
