//! Who asks, and what they may.

use serde::Deserialize;
use serde_json::Value;

use super::sign;
use super::trouble::{BAD_TOKEN, BlobError, NO_KEYS, NO_RIGHT, NOBODY};
use crate::azure::arm::keys;
use crate::azure::cloud::Cloud;
use crate::azure::identity;
use crate::azure::request::Request;
use ghost_base::Timestamp;

/// What whoever is signed in may do with blobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Nothing.
    None,
    /// Read and list.
    Reader,
    /// Everything.
    #[default]
    Contributor,
}

/// What a request does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Right {
    Read,
    List,
    Write,
    Delete,
    /// Containers are made and removed.
    Manage,
}

/// What somebody may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Access {
    /// Whatever a role gives.
    Role(Role),
    /// Everything: the account's key.
    Key,
    /// What a signed address gives: its letters.
    Letters(String),
}

impl Access {
    /// Refuses what is not given.
    pub(super) fn demand(&self, right: Right) -> Result<(), BlobError> {
        let may = match self {
            Self::Key | Self::Role(Role::Contributor) => true,
            Self::Role(Role::Reader) => matches!(right, Right::Read | Right::List),
            Self::Role(Role::None) => false,
            Self::Letters(letters) => match right {
                Right::Read => letters.contains('r'),
                Right::List => letters.contains('l'),
                Right::Write => letters.contains('w') || letters.contains('c'),
                Right::Delete => letters.contains('d'),
                Right::Manage => false,
            },
        };
        if may { Ok(()) } else { Err(NO_RIGHT.into()) }
    }
}

/// Finds out who asks: by a token, by a key, by a signed address.
pub(super) fn who(
    cloud: &Cloud,
    account: &Value,
    request: &Request,
    now: Timestamp,
) -> Result<Access, BlobError> {
    let name = account.get("name").and_then(Value::as_str).unwrap_or_default();
    let shared = account.pointer("/properties/allowSharedKeyAccess").and_then(Value::as_bool).unwrap_or(true);
    let Some(sent) = request.header("authorization") else {
        if request.parameter("sig").is_none() {
            return Err(NOBODY.into());
        }
        if !shared {
            return Err(NO_KEYS.into());
        }
        return sign::letters(&keys(cloud, name), name, request, now).map(Access::Letters);
    };
    let (scheme, rest) = sent.trim().split_once(' ').unwrap_or((sent, ""));
    if scheme.eq_ignore_ascii_case("bearer") {
        let known = identity::who(cloud, rest.trim(), now);
        return known.map(|_| Access::Role(cloud.blob_role)).map_err(|_| BAD_TOKEN.into());
    }
    if !scheme.eq_ignore_ascii_case("sharedkey") {
        return Err(BAD_TOKEN.into());
    }
    if !shared {
        return Err(NO_KEYS.into());
    }
    sign::check(&keys(cloud, name), name, request, rest.trim())?;
    Ok(Access::Key)
}
