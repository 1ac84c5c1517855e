//! JSON whose members keep their order and stand there once: a change to settings shows as it is, and no two readers differ in which of
//! two members of one name counts.

use std::fmt;

use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap as _, SerializeSeq as _, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::Number;

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Returns a member.
    pub fn get(&self, name: &str) -> Option<&Self> {
        let Self::Object(members) = self else { return None };
        members.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// Sets a member, behind the others where it is new. A value that has no members stays as it is.
    pub fn set(&mut self, name: &str, value: Self) {
        let Self::Object(members) = self else { return };
        match members.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = value,
            None => members.push((name.to_owned(), value)),
        }
    }

    /// Returns the text, where it is one.
    pub fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// Returns the whole number, where it is one.
    pub fn number(&self) -> Option<u64> {
        if let Self::Number(value) = self { value.as_u64() } else { None }
    }

    /// Returns the elements, where it is an array.
    pub fn array(&self) -> Option<&[Self]> {
        if let Self::Array(values) = self { Some(values) } else { None }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Json;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a value")
            }

            fn visit_unit<E>(self) -> Result<Json, E> {
                Ok(Json::Null)
            }

            fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
                Ok(Json::Bool(value))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
                Ok(Json::Number(value.into()))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
                Ok(Json::Number(value.into()))
            }

            fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Json, E> {
                Number::from_f64(value).map(Json::Number).ok_or_else(|| E::custom("it is no number"))
            }

            fn visit_str<E>(self, value: &str) -> Result<Json, E> {
                Ok(Json::Text(value.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Json, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = from.next_element()? {
                    values.push(value);
                }
                Ok(Json::Array(values))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Json, A::Error> {
                let mut members: Vec<(String, Json)> = Vec::new();
                while let Some((name, value)) = from.next_entry::<String, Json>()? {
                    if members.iter().any(|(known, _)| *known == name) {
                        return Err(serde::de::Error::custom(format_args!("{name:?} stands there twice")));
                    }
                    members.push((name, value));
                }
                Ok(Json::Object(members))
            }
        }
        from.deserialize_any(Reader)
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => to.serialize_unit(),
            Self::Bool(value) => to.serialize_bool(*value),
            Self::Number(value) => value.serialize(to),
            Self::Text(value) => to.serialize_str(value),
            Self::Array(values) => {
                let mut out = to.serialize_seq(Some(values.len()))?;
                for value in values {
                    out.serialize_element(value)?;
                }
                out.end()
            }
            Self::Object(members) => {
                let mut out = to.serialize_map(Some(members.len()))?;
                for (name, value) in members {
                    out.serialize_entry(name, value)?;
                }
                out.end()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_keep_their_order() {
        let text = r#"{"z":1,"a":[null,true,-2,0.5,"é"],"m":{"y":{},"b":[]}}"#;
        let value: Json = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&value).unwrap(), text);
    }

    #[test]
    fn a_member_that_stands_twice_is_an_error() {
        assert!(serde_json::from_str::<Json>(r#"{"a":1,"a":2}"#).is_err());
    }
}
