//! Sets of packets as products of fields, merged as far as they go.

use std::collections::{BTreeMap, HashMap};

use crate::netfilter::logic::{Field, Names, Spans, Test};
use crate::netfilter::walk::Path;

/// A set of packets: what each field can be, and under which conditions.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Region {
    /// One entry a field; absent where it can be anything.
    fields: Vec<Option<Spans>>,
    /// What no description tells, in words, and whether it holds.
    pub(super) conditions: BTreeMap<String, bool>,
}

impl Region {
    /// Takes the packets that followed a path, compared with those that began it.
    pub(super) fn of(start: &Path, path: &Path, names: &Names) -> Self {
        let fields = Field::ALL.iter().map(|field| {
            let (before, after) = (start.entry(*field), path.entry(*field));
            let is_protocol = matches!(field, Field::Family | Field::Protocol);
            after
                .filter(|after| is_protocol || Some(*after) != before)
                .filter(|_| *field != Field::State)
                .cloned()
        });
        let mut conditions: BTreeMap<String, bool> =
            path.atoms().map(|(atom, holds)| (names.text(atom).to_owned(), holds)).collect();
        conditions.extend(path.facts().map(|(test, holds)| (fact(test), holds)));
        Self { fields: fields.collect(), conditions }
    }

    /// Returns what a field can be; nothing where it can be anything.
    pub(super) fn field(&self, field: Field) -> Option<&Spans> {
        Field::ALL.iter().position(|own| *own == field).and_then(|at| self.fields.get(at))?.as_ref()
    }
}

impl Region {
    /// Forgets a field that can be anything again.
    fn simplify(&mut self, last_device: u128) {
        let six = self.field(Field::Family).and_then(Spans::single) == Some(6);
        for (field, own) in Field::ALL.into_iter().zip(&mut self.fields) {
            let whole = match field {
                Field::Source | Field::Destination if six => (0, u128::MAX),
                Field::Source | Field::Destination => (0, u128::from(u32::MAX)),
                Field::In | Field::Out => (1, last_device),
                Field::Sport
                | Field::Dport
                | Field::IcmpType
                | Field::IcmpCode
                | Field::TcpFlags
                | Field::Mark => (0, field.last()),
                Field::Family | Field::Protocol | Field::State => continue,
            };
            if own.as_ref().is_some_and(|spans| Spans::run(whole.0, whole.1).within(spans)) {
                *own = None;
            }
        }
    }
}

fn fact(test: &Test) -> String {
    let values = |spans: &Spans| {
        let runs = spans.runs().iter().take(4);
        let one = |(from, to): &(u128, u128)| {
            if from == to { format!("{from:#x}") } else { format!("{from:#x}-{to:#x}") }
        };
        runs.map(one).collect::<Vec<_>>().join(",")
    };
    match test {
        Test::Is(field, spans) => format!("{} is {}", field.name(), values(spans)),
        Test::Mask(field, mask, spans) => format!("{} has {}/{:#x}", field.name(), values(spans), **mask),
        Test::Atom(_) | Test::Always | Test::Never | Test::All(_) | Test::Any(_) | Test::Not(_) => {
            "it is in a large set".to_owned()
        }
    }
}

/// Puts together regions that differ in one field or in one condition alone; the number is that of the last device.
pub(super) fn merge(mut regions: Vec<Region>, last_device: u128) -> Vec<Region> {
    loop {
        let before = regions.len();
        regions.iter_mut().for_each(|region| region.simplify(last_device));
        regions = conditions(regions);
        for at in 0..Field::ALL.len() {
            regions = along(regions, at);
        }
        if regions.len() == before {
            return regions;
        }
    }
}

/// Runs of values of a field.
type Runs = Vec<(u128, u128)>;

/// Joins along one field, in the order of the first of those that are joined.
fn along(regions: Vec<Region>, at: usize) -> Vec<Region> {
    let mut places: HashMap<Region, usize> = HashMap::new();
    let mut joined: Vec<(Region, Option<Runs>)> = Vec::new();
    for mut region in regions {
        let own = region.fields.get_mut(at).and_then(Option::take);
        let place = *places.entry(region.clone()).or_insert_with(|| {
            joined.push((region, Some(Vec::new())));
            joined.len() - 1
        });
        if let Some((_, runs)) = joined.get_mut(place) {
            match own {
                // Anything, joined with something, is anything.
                None => *runs = None,
                Some(spans) => {
                    if let Some(runs) = runs {
                        runs.extend(spans.runs().iter().copied());
                    }
                }
            }
        }
    }
    joined
        .into_iter()
        .map(|(mut region, runs)| {
            if let Some(field) = region.fields.get_mut(at) {
                *field = runs.map(Spans::of);
            }
            region
        })
        .collect()
}

/// Drops a condition where the packets take the same path whether it holds or not.
fn conditions(regions: Vec<Region>) -> Vec<Region> {
    let mut kept: Vec<Option<Region>> = Vec::new();
    let mut places: HashMap<Region, usize> = HashMap::new();
    for region in regions {
        let mut region = region;
        // A joined region may fit another one.
        while let Some((place, without)) = twin(&region, &places) {
            if let Some(slot) = kept.get_mut(place)
                && let Some(old) = slot.take()
            {
                places.remove(&old);
            }
            region = without;
        }
        if !places.contains_key(&region) {
            places.insert(region.clone(), kept.len());
            kept.push(Some(region));
        }
    }
    kept.into_iter().flatten().collect()
}

fn twin(region: &Region, places: &HashMap<Region, usize>) -> Option<(usize, Region)> {
    for (condition, holds) in &region.conditions {
        let mut other = region.clone();
        other.conditions.insert(condition.clone(), !holds);
        if let Some(place) = places.get(&other) {
            other.conditions.remove(condition);
            return Some((*place, other));
        }
    }
    None
}
