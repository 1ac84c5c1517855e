//! What a text is made of, before anything is concluded: disciplines, classes, filters.

use super::filter::Filter;
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
}

/// All that a text holds.
#[derive(Debug, Default)]
pub(super) struct Items {
    pub(super) qdiscs: Vec<Qdisc>,
    pub(super) classes: Vec<Class>,
    pub(super) filters: Vec<Filter>,
    pub(super) warnings: Vec<Warning>,
    /// Whether anything was said in the language of `tc`, be it an empty list.
    pub(super) recognised: bool,
}

impl Items {
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
