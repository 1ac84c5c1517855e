//! One path through a ruleset: a packet with some open fields, and what was assumed about them.

use super::answer::Carried;
use crate::netfilter::logic::{Change, Field, Known, Spans, Test};

/// A packet in transit.
#[derive(Debug, Clone)]
pub(in crate::netfilter) struct Path {
    /// What the fields can be, as the packet entered the hook; one entry a field, in the order of [`Field::ALL`].
    entry: Vec<Spans>,
    /// What rules of this hook made of them.
    now: Vec<Option<Option<u128>>>,
    /// The bits of the mark that are known, and their values.
    mark: (u128, u128),
    /// How often something was replaced by something unknown: what was assumed before is then about another value.
    version: u32,
    /// What was assumed about values that are no sets of numbers.
    facts: Vec<(u32, Test, bool)>,
    /// What was assumed about things that no description tells, and after how many rewritings of addresses or ports.
    atoms: Vec<(u32, bool, u32)>,
    /// How often addresses or ports were rewritten: what was known of the packet before then describes another one.
    rewritten: u32,
    /// Whether it is not tracked; nothing where that is not known.
    untracked: Option<bool>,
    /// Whether its connection is looked up in another zone.
    zoned: bool,
    /// Everything that had to be assumed, in words.
    pub(super) assumed: Vec<Assumed>,
}

/// What had to be assumed to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::netfilter) enum Assumed {
    Field(Field),
    Atom(u32),
}

const MARK_BITS: u128 = 0xffff_ffff;

/// How many alternatives are followed one by one.
const MAX_ALTERNATIVES: usize = 256;

impl Path {
    /// Begins with a packet that can be anything.
    pub(in crate::netfilter) fn any() -> Self {
        Self {
            entry: Field::ALL.iter().map(|field| Spans::run(0, field.last())).collect(),
            now: vec![None; Field::ALL.len()],
            mark: (0, 0),
            version: 0,
            facts: Vec::new(),
            atoms: Vec::new(),
            rewritten: 0,
            untracked: Some(false),
            zoned: false,
            assumed: Vec::new(),
        }
    }

    /// Says what a field can be.
    pub(in crate::netfilter) fn with(mut self, field: Field, spans: Spans) -> Self {
        if let Some(own) = self.entry.get_mut(place(field)) {
            *own = spans;
        }
        self
    }

    /// Says with which mark it enters.
    pub(super) fn marked(mut self, mark: Option<u32>) -> Self {
        if let Some(mark) = mark {
            self.mark = (MARK_BITS, mark.into());
        }
        self
    }

    /// Returns the packet as it entered, with everything that is assumed about it: another ruleset can judge the same.
    pub(in crate::netfilter) fn again(&self) -> Self {
        let mut path = self.clone();
        path.now = vec![None; Field::ALL.len()];
        path.mark = (0, 0);
        path.version = 0;
        path.facts.retain(|(version, ..)| *version == 0);
        path.rewritten = 0;
        path.untracked = Some(false);
        path.zoned = false;
        path.assumed.clear();
        path
    }

    /// Returns what a field can be, as the packet entered.
    pub(in crate::netfilter) fn entry(&self, field: Field) -> Option<&Spans> {
        self.entry.get(place(field))
    }

    /// Returns what was assumed about things that no description tells.
    pub(in crate::netfilter) fn atoms(&self) -> impl Iterator<Item = (u32, bool)> {
        self.atoms.iter().map(|(atom, holds, _)| (*atom, *holds))
    }

    /// Returns what the packet carries to the next hook.
    pub(super) fn carried(&self) -> Carried {
        let (known, value) = self.mark;
        let mark = (known == MARK_BITS).then(|| u32::try_from(value).ok()).flatten();
        Carried { mark, untracked: self.untracked, zoned: self.zoned }
    }

    /// Returns roughly how much it costs to copy this.
    pub(super) fn weight(&self) -> usize {
        self.entry.iter().map(|spans| spans.runs().len()).sum::<usize>() / 64
    }

    /// Returns what was assumed about values that are no sets of numbers.
    pub(in crate::netfilter) fn facts(&self) -> impl Iterator<Item = (&Test, bool)> {
        self.facts.iter().map(|(_, test, holds)| (test, *holds))
    }

    /// Returns what a field can be by now.
    pub(super) fn known(&self, field: Field) -> Known<'_> {
        match self.now.get(place(field)) {
            Some(Some(Some(value))) => Known::Value(*value),
            Some(Some(None)) => Known::Nothing,
            _ => match self.entry.get(place(field)) {
                Some(spans) => spans.single().map_or(Known::OneOf(spans), Known::Value),
                None => Known::Nothing,
            },
        }
    }

    /// Tells whether a test holds, where that is known.
    pub(in crate::netfilter) fn holds(&self, test: &Test) -> Option<bool> {
        match test {
            Test::Always => Some(true),
            Test::Never => Some(false),
            Test::Atom(atom) => {
                let mut known = self.atoms.iter().filter(|(.., rewritten)| *rewritten == self.rewritten);
                known.find(|(own, ..)| own == atom).map(|(_, holds, _)| *holds)
            }
            Test::Not(inner) => self.holds(inner).map(|holds| !holds),
            Test::All(tests) => {
                let mut open = false;
                for test in tests {
                    match self.holds(test) {
                        Some(true) => {}
                        Some(false) => return Some(false),
                        None => open = true,
                    }
                }
                (!open).then_some(true)
            }
            Test::Any(tests) => {
                let mut open = false;
                for test in tests {
                    match self.holds(test) {
                        Some(false) => {}
                        Some(true) => return Some(true),
                        None => open = true,
                    }
                }
                if open && tests.len() > MAX_ALTERNATIVES {
                    self.fact(test)
                } else {
                    (!open).then_some(false)
                }
            }
            Test::Is(Field::Mark, spans) => self.mark_holds(test, MARK_BITS, spans),
            Test::Mask(Field::Mark, mask, spans) => self.mark_holds(test, **mask, spans),
            Test::Is(field, spans) => match self.known(*field) {
                Known::Value(value) => Some(spans.contains(value)),
                Known::OneOf(own) if own.within(spans) => Some(true),
                Known::OneOf(own) if own.intersect(spans).is_empty() => Some(false),
                Known::OneOf(_) => None,
                Known::Nothing => self.fact(test),
            },
            Test::Mask(field, mask, spans) => match self.known(*field) {
                Known::Value(value) => Some(spans.contains(value & **mask)),
                Known::OneOf(own) => match masked(*field, **mask, spans, own) {
                    Some(chosen) if chosen.is_empty() => Some(false),
                    Some(chosen) if chosen == *own => Some(true),
                    Some(_) => None,
                    None => self.fact(test),
                },
                Known::Nothing => self.fact(test),
            },
        }
    }

    fn mark_holds(&self, test: &Test, mask: u128, spans: &Spans) -> Option<bool> {
        let (known, value) = self.mark;
        if mask & !known == 0 {
            return Some(spans.contains(value & mask));
        }
        if let Some(wanted) = spans.single()
            && (wanted ^ value) & known & mask != 0
        {
            return Some(false);
        }
        self.fact(test)
    }

    fn fact(&self, test: &Test) -> Option<bool> {
        let found = self.facts.iter().find(|(version, own, _)| *version == self.version && own == test);
        found.map(|(.., holds)| *holds)
    }

    /// Splits into the paths of both outcomes of a test that is not known.
    pub(in crate::netfilter) fn split(self, test: &Test) -> Vec<(Self, bool)> {
        if let Some(holds) = self.holds(test) {
            return vec![(self, holds)];
        }
        match test {
            Test::Always | Test::Never => Vec::new(),
            Test::Not(inner) => self.split(inner).into_iter().map(|(path, holds)| (path, !holds)).collect(),
            Test::All(tests) => self.each(tests, true),
            // One path for every element of a large set would be too many: it is assumed as a whole.
            Test::Any(tests) if tests.len() > MAX_ALTERNATIVES => self.whole(test),
            Test::Any(tests) => self.each(tests, false),
            Test::Atom(atom) => [true, false]
                .into_iter()
                .map(|holds| {
                    let mut path = self.clone();
                    path.atoms.push((*atom, holds, path.rewritten));
                    path.assume(Assumed::Atom(*atom));
                    (path, holds)
                })
                .collect(),
            Test::Is(field, spans) | Test::Mask(field, _, spans) => {
                let chosen = match (test, self.known(*field)) {
                    (_, Known::Value(_) | Known::Nothing) => None,
                    _ if *field == Field::Mark => None,
                    (Test::Mask(_, mask, _), Known::OneOf(own)) => masked(*field, **mask, spans, own),
                    (_, Known::OneOf(own)) => Some(own.intersect(spans)),
                };
                match chosen {
                    Some(chosen) => self.narrow(*field, &chosen),
                    None => self.suppose(*field, test, spans),
                }
            }
        }
    }

    /// Asks tests one after another until one is not `expected`.
    fn each(self, tests: &[Test], expected: bool) -> Vec<(Self, bool)> {
        let mut open = vec![self];
        let mut done = Vec::new();
        for test in tests {
            let mut next = Vec::new();
            for path in open {
                for (path, holds) in path.split(test) {
                    if holds == expected {
                        next.push(path);
                    } else {
                        done.push((path, holds));
                    }
                }
            }
            open = next;
        }
        done.extend(open.into_iter().map(|path| (path, expected)));
        done
    }

    fn narrow(mut self, field: Field, chosen: &Spans) -> Vec<(Self, bool)> {
        self.assume(Assumed::Field(field));
        let mut other = self.clone();
        if let (Some(own), Some(rest)) = (self.entry.get_mut(place(field)), other.entry.get_mut(place(field)))
        {
            *rest = own.subtract(chosen);
            *own = chosen.clone();
        }
        vec![(self, true), (other, false)]
    }

    fn whole(mut self, test: &Test) -> Vec<(Self, bool)> {
        self.assume(Assumed::Field(first_field(test)));
        let mut other = self.clone();
        other.facts.push((self.version, test.clone(), false));
        self.facts.push((self.version, test.clone(), true));
        vec![(self, true), (other, false)]
    }

    fn suppose(mut self, field: Field, test: &Test, spans: &Spans) -> Vec<(Self, bool)> {
        self.assume(Assumed::Field(field));
        let mut other = self.clone();
        other.facts.push((self.version, test.clone(), false));
        self.facts.push((self.version, test.clone(), true));
        let mask = if let Test::Mask(_, mask, _) = test { **mask } else { MARK_BITS };
        if let (Field::Mark, Some(value)) = (field, spans.single()) {
            self.mark = (self.mark.0 | mask, (self.mark.1 & !mask) | (value & mask));
        }
        vec![(self, true), (other, false)]
    }

    fn assume(&mut self, what: Assumed) {
        if !self.assumed.contains(&what) {
            self.assumed.push(what);
        }
    }

    /// Changes the packet.
    pub(super) fn change(&mut self, change: &Change) {
        match change {
            Change::Mark { clear, flip } => {
                let (clear, flip) = (u128::from(*clear), u128::from(*flip));
                let (known, value) = self.mark;
                let known = known | clear;
                self.mark = (known, ((value & !clear) ^ flip) & known);
                self.version += 1;
            }
            Change::MarkUnknown => {
                self.mark = (0, 0);
                self.version += 1;
            }
            Change::Untrack => self.untracked = Some(true),
            Change::TrackingUnknown => self.untracked = None,
            Change::Zone => self.zoned = true,
            Change::Set(field, value) => {
                if let Some(now) = self.now.get_mut(place(*field)) {
                    *now = Some(value.map(u128::from));
                }
                self.version += 1;
                self.rewritten += u32::from(!matches!(field, Field::State | Field::Mark));
            }
        }
    }

    /// Shows the state that a chain sees: before the connection table is asked there is none.
    pub(super) fn show_state(&mut self, before_tracking: bool) {
        let seen = if self.untracked == Some(true) {
            Some(Some(4))
        } else if self.untracked.is_none() {
            Some(None)
        } else if before_tracking {
            Some(Some(3))
        } else {
            None
        };
        if let Some(now) = self.now.get_mut(place(Field::State)) {
            *now = seen;
        }
    }
}

/// Returns the first field that a test asks for.
fn first_field(test: &Test) -> Field {
    match test {
        Test::Is(field, _) | Test::Mask(field, ..) => *field,
        Test::All(tests) | Test::Any(tests) => tests.first().map_or(Field::Source, first_field),
        Test::Not(inner) => first_field(inner),
        Test::Atom(_) | Test::Always | Test::Never => Field::Source,
    }
}

fn place(field: Field) -> usize {
    field as usize
}

/// Returns the values of a small field whose masked value is among these.
fn masked(field: Field, mask: u128, spans: &Spans, own: &Spans) -> Option<Spans> {
    if field.last() > 255 {
        return None;
    }
    let fits = |value: &u128| own.contains(*value) && spans.contains(value & mask);
    Some(Spans::of((0..=field.last()).filter(fits).map(|value| (value, value))))
}
