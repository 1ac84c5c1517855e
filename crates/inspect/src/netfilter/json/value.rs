//! Values.

use std::fmt;
use std::sync::Arc;

use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::Number;

use crate::netfilter::text::Text;

/// A JSON value of a ruleset.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// The value `null`.
    Null,
    /// `true` or `false`
    Bool(bool),
    /// An integer or a fraction.
    Number(Number),
    /// A text.
    String(Text),
    /// A list.
    Array(Box<[Value]>),
    /// An object, in the order in which it stood.
    Object(Object),
}

/// The pairs of an object; a copy shares them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Object(Arc<[(Text, Value)]>);

impl Value {
    /// Returns what stands under a name, where this is an object.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Self> {
        self.as_object()?.get(name)
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    /// Returns the number, where it is a whole one that is not negative.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        if let Self::Number(number) = self { number.as_u64() } else { None }
    }

    /// Returns the list.
    #[must_use]
    pub fn as_array(&self) -> Option<&[Self]> {
        if let Self::Array(list) = self { Some(list) } else { None }
    }

    /// Returns the object.
    #[must_use]
    pub fn as_object(&self) -> Option<&Object> {
        if let Self::Object(object) = self { Some(object) } else { None }
    }

    /// Whether it is `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }
}

impl Object {
    /// Returns what stands under a name; of several the last.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().rev().find(|(key, _)| key.as_str() == name).map(|(_, value)| value)
    }

    /// Returns the pairs in order.
    pub fn iter(&self) -> impl Iterator<Item = (&Text, &Value)> {
        self.0.iter().map(|(key, value)| (key, value))
    }

    /// Returns the names in order.
    pub fn keys(&self) -> impl Iterator<Item = &Text> {
        self.0.iter().map(|(key, _)| key)
    }

    /// Returns the values in order.
    pub fn values(&self) -> impl Iterator<Item = &Value> {
        self.0.iter().map(|(_, value)| value)
    }

    /// Returns how many pairs there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no pair.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the first pair, and lets its value be changed.
    pub(in crate::netfilter) fn first_mut(&mut self) -> Option<(&Text, &mut Value)> {
        Arc::make_mut(&mut self.0).first_mut().map(|(key, value)| (&*key, value))
    }

    /// Takes what stands under a name, and leaves `null`.
    pub(in crate::netfilter) fn take(&mut self, name: &str) -> Option<Value> {
        let found = Arc::make_mut(&mut self.0).iter_mut().rev().find(|(key, _)| key.as_str() == name);
        found.map(|(_, value)| std::mem::replace(value, Value::Null))
    }

    /// Whether it is kept elsewhere too.
    pub(super) fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    /// Whether both are one object in memory; equal objects need not be.
    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Returns where it is in memory.
    pub(super) fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// Returns the object without some of its pairs.
    #[must_use]
    pub fn without(&self, names: &[&str]) -> Self {
        self.0.iter().filter(|(key, _)| !names.contains(&key.as_str())).cloned().collect()
    }
}

impl FromIterator<(Text, Value)> for Object {
    fn from_iter<I: IntoIterator<Item = (Text, Value)>>(pairs: I) -> Self {
        Self(pairs.into_iter().collect())
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.into())
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Number(number.into())
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Number(number.into())
    }
}

impl<'a> IntoIterator for &'a Object {
    type Item = (&'a Text, &'a Value);
    type IntoIter = std::iter::Map<std::slice::Iter<'a, (Text, Value)>, fn(&'a (Text, Value)) -> Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter().map(|(key, value)| (key, value))
    }
}

impl PartialEq<str> for Value {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == Some(other)
    }
}

/// Writes JSON.
impl fmt::Display for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(number) => number.serialize(serializer),
            Self::String(text) => serializer.serialize_str(text),
            Self::Array(list) => serializer.collect_seq(list),
            Self::Object(object) => object.serialize(serializer),
        }
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.len()))?;
        for (key, value) in self.iter() {
            map.serialize_entry(key.as_str(), value)?;
        }
        map.end()
    }
}
