//! Telling a ruleset, a bundle and a snapshot apart by their content.

use serde_json::Value;

use super::bundle::{Bundle, BundleError};
use super::snapshot::{Snapshot, SnapshotError};
use super::view::Host;
use crate::netfilter::ruleset::ReadError;
use crate::netfilter::ruleset::Ruleset;
use crate::netfilter::ruleset::{MAX_TEXT_BYTES, read};

/// What a file holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Document {
    /// One ruleset.
    Ruleset(Ruleset),
    /// A whole host.
    Host(Box<Host>),
}

/// Reads a ruleset, a bundle or a snapshot. The digests of a snapshot are checked first.
///
/// # Errors
/// Fails where the text is none of them, where nothing of a host could be read, or where a snapshot is not what was written.
pub fn open(text: &str) -> Result<Document, ReadError> {
    let start = text.strip_prefix('\u{feff}').unwrap_or(text).trim_start();
    if text.len() > MAX_TEXT_BYTES || !start.starts_with('{') {
        return read(text).map(Document::Ruleset);
    }
    // A ruleset is by far the largest of the three; it is gone through once.
    let ruleset = read(text);
    if !matches!(ruleset, Err(ReadError::OtherJson)) {
        return ruleset.map(Document::Ruleset);
    }
    let value: Value = serde_json::from_str(start).map_err(|error| ReadError::Json { line: error.line() })?;
    let (bundle, snapshot) = if value.get("bundle").is_some_and(|bundle| !bundle.is_null()) {
        let snapshot = Snapshot::read(value).map_err(ReadError::Snapshot)?;
        (snapshot.bundle.clone(), Some(snapshot))
    } else {
        let bundle = Bundle::read(&value).map_err(|error| match error {
            BundleError::Foreign => ReadError::OtherJson,
            BundleError::Source { .. } => ReadError::Bundle(error),
        })?;
        (bundle, None)
    };
    let mut host = Host::read(&bundle);
    if let Some(snapshot) = snapshot {
        if host.digest().to_string() != snapshot.content_sha256 {
            return Err(ReadError::Snapshot(SnapshotError::Changed));
        }
        host.snapshot = Some(snapshot.about());
    }
    Ok(Document::Host(Box::new(host)))
}
