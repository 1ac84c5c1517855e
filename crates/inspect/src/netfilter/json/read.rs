//! Reading a document part by part.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

use super::share::Objects;
use super::value::Value;
use crate::netfilter::text::{Text, Texts};

/// Reads a document and passes on every entry of the list with this name; false where it has no such list.
///
/// # Errors
/// Fails where the text is no JSON, or goes on behind its end.
pub(in crate::netfilter) fn each(
    text: &str,
    name: &str,
    mut entry: impl FnMut(Value),
) -> Result<bool, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let mut kept = SharedValues::default();
    let found = DocumentSeed { name, entry: &mut entry, kept: &mut kept }.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(found)
}

/// What was met and may come again.
#[derive(Default)]
struct SharedValues {
    texts: Texts,
    objects: Objects,
    /// Where pairs and values stand until all of an object or list are there: every one would else ask for memory twice.
    pairs: Vec<Vec<(Text, Value)>>,
    values: Vec<Vec<Value>>,
}

/// Longer lists are taken as they are.
const MAX_SHARED_LIST: usize = 64;

/// Accepts what is no object or list, and makes nothing of it.
macro_rules! nothing {
    ($value:expr) => {
        fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
            Ok($value)
        }
        fn visit_i64<E: Error>(self, _: i64) -> Result<Self::Value, E> {
            Ok($value)
        }
        fn visit_u64<E: Error>(self, _: u64) -> Result<Self::Value, E> {
            Ok($value)
        }
        fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
            Ok($value)
        }
        fn visit_str<E: Error>(self, _: &str) -> Result<Self::Value, E> {
            Ok($value)
        }
        fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
            Ok($value)
        }
    };
}

struct DocumentSeed<'a, F> {
    name: &'a str,
    entry: &'a mut F,
    kept: &'a mut SharedValues,
}

impl<'de, F: FnMut(Value)> DeserializeSeed<'de> for DocumentSeed<'_, F> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, F: FnMut(Value)> Visitor<'de> for DocumentSeed<'_, F> {
    type Value = bool;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }

    nothing!(false);

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<bool, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(false)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        let mut found = false;
        while let Some(key) = map.next_key::<String>()? {
            if key == self.name {
                found |= map.next_value_seed(List { entry: &mut *self.entry, kept: &mut *self.kept })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

struct List<'a, F> {
    entry: &'a mut F,
    kept: &'a mut SharedValues,
}

impl<'de, F: FnMut(Value)> DeserializeSeed<'de> for List<'_, F> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, F: FnMut(Value)> Visitor<'de> for List<'_, F> {
    type Value = bool;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }

    nothing!(false);

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(false)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<bool, A::Error> {
        while let Some(value) = list.next_element_seed(ValueSeed(&mut *self.kept))? {
            (self.entry)(value);
        }
        Ok(true)
    }
}

/// One value.
struct ValueSeed<'a>(&'a mut SharedValues);

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_> {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        Ok(Value::String(self.0.texts.value(text)))
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut values = self.0.values.pop().unwrap_or_default();
        while let Some(value) = list.next_element_seed(ValueSeed(&mut *self.0))? {
            values.push(value);
        }
        if values.len() > MAX_SHARED_LIST {
            return Ok(Value::Array(values.into()));
        }
        let list = values.drain(..).collect();
        self.0.values.push(values);
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut pairs = self.0.pairs.pop().unwrap_or_default();
        while let Some(key) = map.next_key_seed(Key(&mut *self.0))? {
            pairs.push((key, map.next_value_seed(ValueSeed(&mut *self.0))?));
        }
        let object = self.0.objects.one(&mut pairs);
        if pairs.capacity() <= MAX_SHARED_LIST {
            self.0.pairs.push(pairs);
        }
        Ok(Value::Object(object))
    }
}

/// The name of a pair.
struct Key<'a>(&'a mut SharedValues);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = Text;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Text, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = Text;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a name")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Text, E> {
        Ok(self.0.texts.name(text))
    }
}
