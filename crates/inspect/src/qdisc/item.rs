//! What a text is made of, before anything is concluded: disciplines, classes, filters.

use std::collections::BTreeSet;

use super::filter::Filter;
use super::land::same_id;
use super::sheet::{Qdisc, Warning};

/// A class of a classful discipline.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Class {
    pub(super) dev: Option<String>,
    pub(super) kind: String,
    pub(super) id: String,
    /// Absent at the root.
    pub(super) parent: Option<String>,
    pub(super) rate_bps: Option<f64>,
    pub(super) line: usize,
}

/// What a discipline does with packets that no filter chooses.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Options {
    pub(super) bands: Option<u32>,
    /// For every priority its band, from 0.
    pub(super) priomap: Vec<u32>,
    /// The minor number of the default class.
    pub(super) default: Option<u32>,
}

/// All that a text holds.
#[derive(Debug, Default)]
pub(super) struct Items {
    pub(super) qdiscs: Vec<Qdisc>,
    /// One entry a discipline, in the same order.
    pub(super) options: Vec<Options>,
    pub(super) classes: Vec<Class>,
    pub(super) filters: Vec<Filter>,
    pub(super) warnings: Vec<Warning>,
    /// The devices of which all filters were listed, be they none.
    pub(super) filters_read: BTreeSet<String>,
    /// Whether anything was said in the language of `tc`, be it an empty list.
    pub(super) recognised: bool,
}

impl Items {
    /// Returns what a discipline does with packets that no filter chooses.
    pub(super) fn options(&self, of: &Qdisc) -> Option<&Options> {
        let at = self.qdiscs.iter().position(|qdisc| std::ptr::eq(qdisc, of))?;
        self.options.get(at)
    }

    /// Whether something that names this device, or none, belongs to a discipline; nothing where it names none, and disciplines
    /// of several devices have that handle.
    fn is_of(&self, device: Option<&String>, above: &Qdisc) -> Option<bool> {
        match (device, &above.dev) {
            (one, other) if one == other.as_ref() => Some(true),
            (Some(_), Some(_)) => Some(false),
            _ => {
                let twins = self.qdiscs.iter().filter(|other| other.handle == above.handle);
                twins.clone().all(|other| other.dev == above.dev).then_some(true)
            }
        }
    }

    /// Whether a filter belongs to a discipline.
    pub(super) fn belongs(&self, filter: &Filter, above: &Qdisc) -> Option<bool> {
        self.is_of(filter.dev.as_ref(), above)
    }

    /// Returns the classes of a discipline that are certainly its own.
    fn classes_of<'a>(&'a self, above: &'a Qdisc) -> impl Iterator<Item = &'a Class> {
        self.classes.iter().filter(move |class| {
            class.kind == above.discipline
                && above.handle.as_deref().is_some_and(|handle| class.id.starts_with(handle))
                && self.is_of(class.dev.as_ref(), above) == Some(true)
        })
    }

    /// Whether a class has classes below it.
    pub(super) fn is_inner(&self, above: &Qdisc, id: &str) -> bool {
        self.classes_of(above).any(|class| class.parent.as_deref().is_some_and(|parent| same_id(parent, id)))
    }

    /// Whether a class is there; nothing where no class was given.
    pub(super) fn has_class(&self, above: &Qdisc, id: &str) -> Option<bool> {
        let below = |qdisc: &Qdisc| {
            qdisc.dev == above.dev && qdisc.parent.as_deref().is_some_and(|own| same_id(own, id))
        };
        let listed = self.classes_of(above).any(|class| same_id(&class.id, id));
        if listed || self.qdiscs.iter().any(below) {
            return Some(true);
        }
        self.classes_of(above).next().is_some().then_some(false)
    }

    /// Tells what cannot be put in its place.
    pub(super) fn tell_the_homeless(&mut self) {
        let mut found: Vec<(usize, String)> = Vec::new();
        for filter in self.filters.iter().filter(|filter| filter.is_whole()) {
            let (major, _) = filter.parent.split_once(':').unwrap_or_default();
            let handle = format!("{major}:");
            let above: Vec<&Qdisc> =
                self.qdiscs.iter().filter(|qdisc| qdisc.handle.as_deref() == Some(handle.as_str())).collect();
            let of = |qdisc: &&Qdisc| self.belongs(filter, qdisc);
            let what = if matches!(major, "" | "ffff") || above.iter().any(|qdisc| of(qdisc) == Some(true)) {
                continue;
            } else if above.iter().any(|qdisc| of(qdisc).is_none()) {
                format!(
                    "a filter below {} that names no device, and several have one with that handle: not used; show one device alone",
                    filter.parent
                )
            } else {
                format!("a filter below {}, which is not in this text: not used", filter.parent)
            };
            found.push((filter.line, what));
        }
        for class in &self.classes {
            let twins = self.qdiscs.iter().filter(|qdisc| {
                qdisc.discipline == class.kind
                    && qdisc.handle.as_deref().is_some_and(|handle| class.id.starts_with(handle))
            });
            if twins.into_iter().any(|qdisc| self.is_of(class.dev.as_ref(), qdisc).is_none()) {
                found.push((
                    class.line,
                    format!(
                        "the class {} names no device, and several have a discipline with that handle; show one device alone",
                        class.id
                    ),
                ));
            }
        }
        for (line, what) in found {
            self.warn(line, what);
        }
    }

    pub(super) fn warn(&mut self, line: usize, what: impl Into<String>) {
        self.warnings.push(Warning { line, what: what.into() });
    }
}

/// The share of packets that a two-state loss model loses in the long run, in percent.
pub(super) fn long_run_loss(p: f64, r: f64, in_bad: f64, in_good: f64) -> f64 {
    if p + r <= 0.0 {
        return in_good;
    }
    let bad = p / (p + r);
    bad * in_bad + (1.0 - bad) * in_good
}
