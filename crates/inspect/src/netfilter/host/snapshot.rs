//! A bundle that was put away: with digests of what it says and of all that stands in the file.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::bundle::{Bundle, Source};
use super::view::Host;
use ghost_base::Digest;

/// The version of the form of a snapshot.
pub const SNAPSHOT_FORMAT: u32 = 1;

/// A bundle with its digests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Snapshot {
    /// The version of this form.
    pub format: u32,
    /// Always `netfilter-snapshot`.
    pub kind: String,
    /// The program that wrote it, with its version.
    pub tool: String,
    /// The session in which it was taken.
    pub session: String,
    /// What it is of: the name of a host.
    pub scope: String,
    /// When it was taken, in UTC.
    pub taken_at: String,
    /// Who took it.
    pub taken_by: String,
    /// Whether it was taken to compare with.
    pub is_baseline: bool,
    /// The digest of what the rules say, without counters.
    pub content_sha256: String,
    /// What was gathered.
    pub bundle: Bundle,
    /// The digest of everything else in this file.
    pub sha256: String,
}

/// What a snapshot says about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct About {
    /// The program that wrote it.
    pub tool: String,
    /// The session in which it was taken.
    pub session: String,
    /// What it is of.
    pub scope: String,
    /// When it was taken.
    pub taken_at: String,
    /// Who took it.
    pub taken_by: String,
    /// Whether it was taken to compare with.
    pub is_baseline: bool,
    /// The digest of what the rules say.
    pub content_sha256: String,
    /// The digest of everything in the file.
    pub sha256: String,
}

/// Why a snapshot is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// It is not in the form of a snapshot.
    #[error("it has a bundle, but not all that a snapshot of this version has")]
    Form,
    /// Something in it is not what was written.
    #[error("the snapshot was changed since it was taken: its digest does not fit")]
    Changed,
    /// Nothing of the host was read.
    #[error("no source of rules in it could be read")]
    Nothing,
}

impl Snapshot {
    /// Takes a snapshot. Time and person come from the caller.
    ///
    /// # Errors
    /// Fails where no source of rules could be read: a snapshot of nothing would later look like an empty host.
    pub fn take(
        bundle: Bundle,
        session: &str,
        scope: &str,
        taken_at: &str,
        taken_by: &str,
        is_baseline: bool,
    ) -> Result<Self, SnapshotError> {
        let host = Host::read(&bundle);
        if host.rulesets().next().is_none() {
            return Err(SnapshotError::Nothing);
        }
        let mut snapshot = Self {
            format: SNAPSHOT_FORMAT,
            kind: "netfilter-snapshot".to_owned(),
            tool: format!("ghost {}", env!("CARGO_PKG_VERSION")),
            session: session.to_owned(),
            scope: scope.to_owned(),
            taken_at: taken_at.to_owned(),
            taken_by: taken_by.to_owned(),
            is_baseline,
            content_sha256: host.digest().to_string(),
            bundle,
            sha256: String::new(),
        };
        snapshot.sha256 = snapshot.sum().to_string();
        Ok(snapshot)
    }

    /// Reads a snapshot and checks the digest of the file.
    ///
    /// # Errors
    /// Fails where it has another form, or is not what was written.
    pub fn read(value: Value) -> Result<Self, SnapshotError> {
        let snapshot: Self = serde_json::from_value(value).map_err(|_| SnapshotError::Form)?;
        if snapshot.format != SNAPSHOT_FORMAT || snapshot.kind != "netfilter-snapshot" {
            return Err(SnapshotError::Form);
        }
        if snapshot.sum().to_string() != snapshot.sha256 {
            return Err(SnapshotError::Changed);
        }
        Ok(snapshot)
    }

    /// Returns all of it but the bundle.
    #[must_use]
    pub fn about(&self) -> About {
        About {
            tool: self.tool.clone(),
            session: self.session.clone(),
            scope: self.scope.clone(),
            taken_at: self.taken_at.clone(),
            taken_by: self.taken_by.clone(),
            is_baseline: self.is_baseline,
            content_sha256: self.content_sha256.clone(),
            sha256: self.sha256.clone(),
        }
    }

    /// Digests every field but the digest itself; how the JSON is laid out does not matter.
    fn sum(&self) -> Digest {
        let format = self.format.to_string();
        let mut fields = vec![
            format.as_str(),
            &self.kind,
            &self.tool,
            &self.session,
            &self.scope,
            &self.taken_at,
            &self.taken_by,
            if self.is_baseline { "baseline" } else { "" },
            &self.content_sha256,
        ];
        for (name, source) in &self.bundle.sources {
            let (kind, text) = match source {
                Source::Text(text) => ("text", text),
                Source::Failed { error } => ("error", error),
            };
            fields.extend([name.as_str(), kind, text.as_str()]);
        }
        Digest::of_fields(fields)
    }
}
