//! Texts of which there are many copies: equal ones are kept once.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde::ser::{Serialize, Serializer};

/// A text of which there can be many copies.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Text(Arc<str>);

impl Text {
    /// Whether both are one text in memory; equal texts need not be.
    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Returns where it is in memory.
    pub(super) fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Text {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl fmt::Display for Text {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self)
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

/// Texts that were met lately: the next equal one is the same. Each has one place, and makes room for another that has the same
/// place, so that no document makes this slow or large. Names and values are apart: many different values leave the names.
#[derive(Debug, Default)]
pub(super) struct Texts {
    names: Vec<Option<Text>>,
    values: Vec<Option<Text>>,
}

const PLACES: usize = 1024;

impl Texts {
    pub(super) fn name(&mut self, text: &str) -> Text {
        one(&mut self.names, text)
    }

    pub(super) fn value(&mut self, text: &str) -> Text {
        one(&mut self.values, text)
    }
}

fn one(texts: &mut Vec<Option<Text>>, text: &str) -> Text {
    texts.resize(PLACES, None);
    let mixed = text.bytes().fold(0_usize, |mixed, byte| mixed.wrapping_mul(31).wrapping_add(byte.into()));
    let Some(place) = texts.get_mut(mixed % PLACES) else { return text.into() };
    match place {
        Some(known) if known.as_str() == text => known.clone(),
        _ => place.insert(text.into()).clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_are_kept_once() {
        let mut texts = Texts::default();
        let (one, other) = (texts.name("--dport"), texts.name("--dport"));
        assert!(one.is(&other));
        assert!(!one.is(&texts.value("--dport")));
    }

    #[test]
    fn a_text_whose_place_is_taken_is_what_it_is() {
        let mut texts = Texts::default();
        let all: Vec<String> = (0..5 * PLACES).map(|number| number.to_string()).collect();
        assert!(all.iter().all(|text| texts.value(text).as_str() == text));
    }
}
