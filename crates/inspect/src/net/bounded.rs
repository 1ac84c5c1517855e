//! Reads JSON into values, and no more of them than fit.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::DocumentError;

/// How much a document may hold: a hundred thousand routes need little more than half of it.
const MAX_VALUES: usize = 8_000_000;

/// What an object takes beside its fields.
const OBJECT: usize = 12;

/// Reads one value. The time and the memory are bounded whatever the text is made of.
pub(super) fn read(text: &str) -> Result<Value, DocumentError> {
    read_up_to(text, MAX_VALUES)
}

fn read_up_to(text: &str, most: usize) -> Result<Value, DocumentError> {
    let (left, twice) = (Cell::new(Some(most)), Cell::new(false));
    let mut reader = serde_json::Deserializer::from_str(text);
    let part = Part { left: &left, twice: &twice };
    let value = part.deserialize(&mut reader).and_then(|value| reader.end().map(|()| value));
    value.map_err(|error| match left.get() {
        Some(_) if twice.get() => DocumentError::Twice { line: error.line() },
        Some(_) => DocumentError::NotJson(error),
        None => DocumentError::TooMuch { line: error.line() },
    })
}

/// One value, and what is left for it.
#[derive(Clone, Copy)]
struct Part<'a> {
    left: &'a Cell<Option<usize>>,
    /// Whether a field was given twice.
    twice: &'a Cell<bool>,
}

impl Part<'_> {
    fn take<E: Error>(self, parts: usize) -> Result<(), E> {
        self.left.set(self.left.get().and_then(|left| left.checked_sub(parts)));
        self.left.get().map(|_| ()).ok_or_else(|| E::custom("too much"))
    }

    fn text<E: Error>(self, text: &str) -> Result<(), E> {
        // A text with commas is read as a list.
        self.take(1 + text.len() / 32 + text.bytes().filter(|byte| *byte == b',').count())
    }
}

impl<'de> DeserializeSeed<'de> for Part<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Part<'_> {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        self.take(1).map(|()| Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        self.take(1).map(|()| Value::from(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        self.take(1).map(|()| Value::from(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        self.take(1).map(|()| Value::from(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        self.take(1).map(|()| Value::from(value))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        self.text(value).map(|()| Value::from(value))
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        self.text(&value).map(|()| Value::from(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        self.take(1)?;
        let mut items = Vec::new();
        while let Some(item) = from.next_element_seed(self)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        self.take(OBJECT)?;
        let mut fields = Map::new();
        while let Some(name) = from.next_key::<String>()? {
            self.text(&name)?;
            let value = from.next_value_seed(self)?;
            // Other readers take the first or the last one: it is unclear which one is meant.
            if fields.get(&name).is_some_and(|before| *before != value) {
                self.twice.set(true);
                return Err(A::Error::custom("twice"));
            }
            fields.insert(name, value);
        }
        Ok(Value::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_document_is_measured_by_what_it_is_made_of() {
        for (text, parts) in [("[]", 1), ("[1,null]", 3), (r#"["a,b"]"#, 3), ("{}", 12), (r#"{"a":[]}"#, 14)]
        {
            assert!(read_up_to(text, parts).is_ok(), "{text}");
            assert!(matches!(read_up_to(text, parts - 1), Err(DocumentError::TooMuch { line: 1 })), "{text}");
        }
    }

    #[test]
    fn many_small_things_are_refused_before_they_fill_the_memory() {
        for unit in ["1,", "[],", "{},", "\"\","] {
            let text = format!("[{}1]", unit.repeat(9_000_000));
            assert!(matches!(read(&text), Err(DocumentError::TooMuch { .. })), "{unit}");
        }
        let text = format!("[\"{}\"]", ",".repeat(9_000_000));
        assert!(matches!(read(&text), Err(DocumentError::TooMuch { .. })));
    }

    proptest! {
        #[test]
        fn every_text_is_read_as_others_read_it(text in r#"[\[\]{}",:0-9eE.\-a-c \\]{0,40}"#) {
            let read = read(&text);
            if !matches!(read, Err(DocumentError::Twice { .. })) {
                prop_assert_eq!(read.ok(), serde_json::from_str::<Value>(&text).ok());
            }
        }
    }
}
