//! Values that are kept as the text they print.

use std::fmt::Display;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize as _, Deserializer, Serializer};

pub(super) fn serialize<T: Display, S: Serializer>(value: &T, out: S) -> Result<S::Ok, S::Error> {
    out.collect_str(value)
}

pub(super) fn deserialize<'de, T, D>(source: D) -> Result<T, D::Error>
where
    T: FromStr<Err: Display>,
    D: Deserializer<'de>,
{
    String::deserialize(source)?.parse().map_err(D::Error::custom)
}

/// The same for what may be absent.
pub(super) mod option {
    use super::*;

    pub(in crate::capture) fn serialize<T: Display, S: Serializer>(
        value: &Option<T>,
        out: S,
    ) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => out.collect_str(value),
            None => out.serialize_none(),
        }
    }

    pub(in crate::capture) fn deserialize<'de, T, D>(source: D) -> Result<Option<T>, D::Error>
    where
        T: FromStr<Err: Display>,
        D: Deserializer<'de>,
    {
        let text = Option::<String>::deserialize(source)?;
        text.map(|text| text.parse().map_err(D::Error::custom)).transpose()
    }
}
