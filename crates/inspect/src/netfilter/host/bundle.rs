//! What each tool of a guest printed, or why it printed nothing.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The sources of a bundle. `tables` and `tables6` are the texts of `/proc/net/ip_tables_names` and `ip6_tables_names`.
pub const SOURCES: [&str; 9] = [
    "iptables-legacy",
    "ip6tables-legacy",
    "iptables-nft",
    "ip6tables-nft",
    "nft",
    "ipset",
    "alternatives",
    "tables",
    "tables6",
];

/// What was gathered on a host, by source.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bundle {
    /// By source: one of [`SOURCES`], or something that nobody here knows.
    pub sources: BTreeMap<String, Source>,
}

/// What a source gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Source {
    /// What it printed; nothing is a text too.
    Text(String),
    /// Why it could not be read.
    Failed {
        /// The words of whoever tried.
        error: String,
    },
}

/// Why a document is no bundle.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BundleError {
    /// It is no object of known sources.
    #[error("it is JSON, but neither has a list `nftables` nor names a source such as `iptables-nft`")]
    Foreign,
    /// A source holds something that is neither a text nor an error.
    #[error("the source `{source_name}` is neither a text nor an object with `error`")]
    Source {
        /// Its name.
        source_name: String,
    },
}

impl Bundle {
    /// Reads an object from source to text or error.
    ///
    /// # Errors
    /// Fails where it is no object, names no known source, or a source is neither a text nor an error.
    pub fn read(value: &Value) -> Result<Self, BundleError> {
        let object = value.as_object().ok_or(BundleError::Foreign)?;
        if !object.keys().any(|key| SOURCES.contains(&key.as_str())) {
            return Err(BundleError::Foreign);
        }
        let mut sources = BTreeMap::new();
        for (name, value) in object {
            let source = match value {
                Value::String(text) => Source::Text(text.clone()),
                Value::Null => Source::Failed { error: "nothing was gathered".to_owned() },
                // What `nft -j` printed may stand there as it is.
                Value::Object(inner) if inner.contains_key("nftables") => Source::Text(value.to_string()),
                Value::Object(inner) => match inner.get("error") {
                    Some(Value::String(error)) => Source::Failed { error: error.clone() },
                    Some(Value::Null) | None => {
                        return Err(BundleError::Source { source_name: name.clone() });
                    }
                    Some(other) => Source::Failed { error: other.to_string() },
                },
                // Beside the sources there may be whatever a collector noted.
                Value::Bool(_) | Value::Number(_) | Value::Array(_) if !SOURCES.contains(&name.as_str()) => {
                    continue;
                }
                Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
                    return Err(BundleError::Source { source_name: name.clone() });
                }
            };
            sources.insert(name.clone(), source);
        }
        Ok(Self { sources })
    }

    /// Returns a source's text.
    #[must_use]
    pub fn text(&self, source: &str) -> Option<&str> {
        match self.sources.get(source) {
            Some(Source::Text(text)) => Some(text),
            Some(Source::Failed { .. }) | None => None,
        }
    }

    /// Returns why a source could not be read.
    #[must_use]
    pub fn error(&self, source: &str) -> Option<&str> {
        match self.sources.get(source) {
            Some(Source::Failed { error }) => Some(error),
            Some(Source::Text(_)) | None => None,
        }
    }
}
