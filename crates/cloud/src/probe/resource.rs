//! Names of resources, as the platform writes them.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::operation::Issue;
use crate::{Name, ResourceGroup};

/// A resource that another one points to.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Pointer {
    #[serde(default)]
    pub(super) id: String,
}

impl Pointer {
    /// Returns the last word of the identifier.
    pub(super) fn last(&self) -> &str {
        self.id.rsplit('/').next().unwrap_or_default()
    }
}

/// Returns what stands behind a word of an identifier, whatever its case: the `rg` of `/subscriptions/s/resourceGroups/rg/…`.
pub(super) fn behind<'a>(id: &'a str, word: &str) -> Option<&'a str> {
    let mut parts = id.split('/');
    parts.find(|part| part.eq_ignore_ascii_case(word))?;
    parts.next().filter(|part| !part.is_empty())
}

/// Returns where a resource of some kind is and its name; the subscription stays pinned as it was.
pub(super) fn placed(id: &str, kind: &str, near: &ResourceGroup) -> Option<(ResourceGroup, Name)> {
    let group = Name::parse(behind(id, "resourceGroups")?).ok()?;
    let name = Name::parse(behind(id, kind)?).ok()?;
    Some((ResourceGroup { subscription: near.subscription.clone(), group }, name))
}

/// Reads a document of `az`.
pub(super) fn document<T: DeserializeOwned>(text: &str, doing: &str) -> Result<T, Issue> {
    serde_json::from_str(text).map_err(|error| {
        let hint = "try again; `az` may have been cut off, or be another release";
        Issue::hinted(format!("{doing}: the answer cannot be read: {error}"), hint)
    })
}

/// Takes a list, and `null` for an empty one.
pub(super) fn list<'de, D: serde::Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
) -> Result<Vec<T>, D::Error> {
    Ok(Option::<Vec<T>>::deserialize(from)?.unwrap_or_default())
}
