//! How names and moments are written in a stored record.

pub(super) mod session_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use ghost_base::SessionId;

    pub(in crate::approval) fn serialize<S: Serializer>(id: &SessionId, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(id.as_str())
    }

    pub(in crate::approval) fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<SessionId, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

pub(super) mod moment {
    use serde::{Deserialize, Deserializer, Serializer};

    use ghost_base::Timestamp;

    pub(in crate::approval) fn serialize<S: Serializer>(at: &Timestamp, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_i64(at.as_millis())
    }

    pub(in crate::approval) fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Timestamp, D::Error> {
        i64::deserialize(from).map(Timestamp::from_millis)
    }
}
