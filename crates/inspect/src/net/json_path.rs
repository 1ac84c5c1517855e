//! Where in a document something stands, and what is said about it.

use std::fmt;
use std::sync::Arc;

use serde::{Serialize, Serializer};

/// How many warnings are kept; the others are counted.
const MAX_WARNINGS: usize = 1_000;

/// The path to a value of a document, such as `value[3].addressPrefix`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JsonPath {
    within: Option<Arc<str>>,
    at: Option<usize>,
}

impl JsonPath {
    /// Returns the place of an item of a list.
    #[must_use]
    pub const fn item(within: Arc<str>, at: usize) -> Self {
        Self { within: Some(within), at: Some(at) }
    }

    /// Returns the place of a field of what stands here.
    #[must_use]
    pub fn field(&self, name: &str) -> Self {
        let indexes = if *self == Self::default() { name.to_owned() } else { format!("{self}.{name}") };
        Self { within: Some(indexes.into()), at: None }
    }

    /// Returns the place of an item of the lists that stand here.
    #[must_use]
    pub fn items(&self, indexes: &[usize]) -> Self {
        indexes.iter().fold(self.clone(), |place, at| Self::item(place.shared(), *at))
    }

    /// Returns the path as a text that the items of a list here can share.
    #[must_use]
    pub fn shared(&self) -> Arc<str> {
        self.to_string().into()
    }
}

impl fmt::Display for JsonPath {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.within.as_deref().unwrap_or_default())?;
        self.at.iter().try_for_each(|at| write!(out, "[{at}]"))
    }
}

/// What could not be read, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// The row, counted from one over the whole document, where it is about one.
    pub row: Option<usize>,
    /// The path to it in the document, where it is about one place.
    pub place: Option<String>,
    /// What is wrong, naming the text that is.
    pub what: String,
}

impl Warning {
    /// Warns about a row, or about something in it.
    #[must_use]
    pub fn at(row: usize, place: impl fmt::Display, what: impl Into<String>) -> Self {
        let place = place.to_string();
        Self { row: Some(row), place: (!place.is_empty()).then_some(place), what: what.into() }
    }

    /// Warns about something that is no row.
    #[must_use]
    pub fn within(place: impl fmt::Display, what: impl Into<String>) -> Self {
        Self { place: Some(place.to_string()), ..Self::whole(what) }
    }

    /// Warns about the document.
    #[must_use]
    pub fn whole(what: impl Into<String>) -> Self {
        Self { row: None, place: None, what: what.into() }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.row, &self.place) {
            (Some(row), Some(place)) => write!(out, "row {row}, {place}: {}", self.what),
            (Some(row), None) => write!(out, "row {row}: {}", self.what),
            (None, Some(place)) => write!(out, "{place}: {}", self.what),
            (None, None) => out.write_str(&self.what),
        }
    }
}

impl Serialize for Warning {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Warnings as they come up: the first of them, and how many there are.
#[derive(Debug, Clone, Default)]
pub struct Warnings {
    kept: Vec<Warning>,
    more: usize,
}

impl Warnings {
    /// Keeps a warning, or counts it.
    pub fn push(&mut self, warning: impl FnOnce() -> Warning) {
        if self.kept.len() < MAX_WARNINGS {
            self.kept.push(warning());
        } else {
            self.more += 1;
        }
    }

    /// Returns what was kept, and how many more there are.
    #[must_use]
    pub fn into_vec(mut self) -> Vec<Warning> {
        if self.more > 0 {
            self.kept.push(Warning::whole(format!("{} more things could not be read", self.more)));
        }
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_written_as_a_path_from_the_top() {
        let row = JsonPath::item(JsonPath::default().field("value").shared(), 3);
        assert_eq!(row.to_string(), "value[3]");
        let prefix = JsonPath::item(row.field("addressPrefix").shared(), 1);
        assert_eq!(
            Warning::at(4, prefix, "`x` is no prefix").to_string(),
            "row 4, value[3].addressPrefix[1]: `x` is no prefix"
        );
        assert_eq!(JsonPath::default().field("name").to_string(), "name");
        assert_eq!(JsonPath::default().to_string(), "");
    }

    #[test]
    fn many_warnings_are_counted() {
        let mut warnings = Warnings::default();
        (0..MAX_WARNINGS + 7).for_each(|row| warnings.push(|| Warning::at(row, "", "odd")));
        let warning_texts = warnings.into_vec();
        assert_eq!(warning_texts.len(), MAX_WARNINGS + 1);
        assert_eq!(warning_texts.last().unwrap().to_string(), "7 more things could not be read");
    }
}
