//! One route or rule in the form in which it is compared.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use super::Category;

/// One prefix of a route, or one rule.
#[derive(Debug, Clone)]
pub(super) struct Row {
    /// What makes it the same row on another day.
    pub(super) key: String,
    /// The prefix; a rule has none.
    pub(super) prefix: Option<Box<str>>,
    /// What it shares with the other prefixes of its route: a list may have very many.
    pub(super) details: Arc<RowDetails>,
}

/// What a route or a rule says.
#[derive(Debug)]
pub(super) struct RowDetails {
    /// What kind of change a difference in it is.
    pub(super) category: Category,
    /// What is compared, field by field.
    pub(super) content: Vec<(&'static str, String)>,
    /// What its names stood for, where the platform said so.
    pub(super) expansion: Vec<(&'static str, BTreeSet<String>)>,
    /// Whether one of the names is a service tag.
    pub(super) tagged: bool,
    /// What it is wherever it stands, and where it stands; a route stands nowhere else.
    pub(super) place: Option<RulePosition>,
    /// What is reported and not compared.
    pub(super) aside: Vec<(&'static str, String)>,
    /// What it is in a report, but for its prefix.
    pub(super) shown: Value,
}

/// Where a rule stands.
#[derive(Debug, Clone)]
pub(super) struct RulePosition {
    /// What makes it the same rule at another place.
    pub(super) identity: String,
    /// The gate and the security group.
    pub(super) name: String,
}

impl Row {
    /// Returns the fields in which two rows differ.
    pub(super) fn differing(&self, other: &Self) -> Vec<&'static str> {
        let pairs = self.details.content.iter().zip(&other.details.content);
        pairs.filter(|(own, other)| own.1 != other.1).map(|(own, _)| own.0).collect()
    }

    /// Tells whether two rows say the same, down to what is not compared.
    pub(super) fn is_alike(&self, other: &Self) -> bool {
        let (own, others) = (&self.details, &other.details);
        self.key == other.key
            && own.content == others.content
            && own.expansion == others.expansion
            && own.aside == others.aside
    }

    /// Returns what it is in a report.
    pub(super) fn shown(&self) -> Value {
        let mut shown = self.details.shown.clone();
        if let (Value::Object(map), Some(prefix)) = (&mut shown, &self.prefix) {
            map.insert("prefix".to_owned(), Value::from(&**prefix));
        }
        shown
    }
}

/// What could not be read, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    /// The place in the document, such as `nics[0].routes.value[3]`.
    pub(super) at: String,
    /// What is wrong with it.
    pub(super) what: String,
}

/// The routes or the rules of one network interface.
#[derive(Debug, Clone, Default)]
pub(super) struct Part {
    pub(super) rows: Vec<Row>,
    pub(super) problems: Vec<Problem>,
}

impl Part {
    /// How many problems of one answer are reported.
    const MAX_PROBLEMS: usize = 20;

    /// How many rows of one answer are read: more than any interface has, and few enough to answer at once.
    const MAX_ROWS: usize = 250_000;

    /// Adds a row, or notes that there are too many; returns whether there is room for another.
    pub(super) fn push(&mut self, at: &str, row: Row) -> bool {
        let fits = self.rows.len() < Self::MAX_ROWS;
        if fits {
            self.rows.push(row);
        } else {
            self.problem(at, format!("only {} rows are read, and here are more", Self::MAX_ROWS));
        }
        fits
    }

    /// Tells whether further problems would not be reported.
    pub(super) fn is_full(&self) -> bool {
        self.problems.len() > Self::MAX_PROBLEMS
    }

    /// Notes what could not be read; from then on the part is not complete.
    pub(super) fn problem(&mut self, at: &str, what: impl Into<String>) {
        match self.problems.len() {
            ..Self::MAX_PROBLEMS => self.problems.push(Problem { at: at.to_owned(), what: what.into() }),
            Self::MAX_PROBLEMS => {
                let what = "here and further on there is more that cannot be read".to_owned();
                self.problems.push(Problem { at: at.to_owned(), what });
            }
            _ => {}
        }
    }
}

/// Bounds what a hostile document can put into a report.
pub(super) fn clipped(text: &str) -> String {
    const MAX_TEXT_CHARS: usize = 200;
    let mut kept: String = text.chars().take(MAX_TEXT_CHARS).collect();
    if kept.len() < text.len() {
        kept.push('…');
    }
    kept
}
