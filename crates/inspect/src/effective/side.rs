//! One of the two things that are compared: a snapshot, or a bundle that nobody sealed.

use super::bundle::Bundle;
use super::nic::State;
use super::snapshot::{Snapshot, Taken};
use super::{Error, seal};
use crate::net::document;
use ghost_base::Digest;

/// One of the two things that are compared.
#[derive(Debug, Clone)]
pub struct Side {
    pub(super) state: State,
    /// The digest of the snapshot; of a bundle, that of its text.
    pub digest: Digest,
    /// When and by whom it was taken; a bundle does not say.
    pub taken: Option<Taken>,
}

impl Side {
    /// Reads a snapshot or a bundle. What has the marks of a sealed file is never taken for a bundle.
    ///
    /// # Errors
    /// Fails where the text is neither, or a snapshot that was changed.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let value = document(text)?;
        if seal::was_sealed(&value, text) {
            return Snapshot::of(value, text).map(Self::from);
        }
        Ok(Self { state: State::read(&Bundle::of(value)?), digest: Digest::of(text), taken: None })
    }

    /// Tells whether its digest was checked.
    #[must_use]
    pub fn is_verified(&self) -> bool {
        self.taken.is_some()
    }
}

impl From<Snapshot> for Side {
    fn from(snapshot: Snapshot) -> Self {
        Self { state: snapshot.state, digest: snapshot.digest, taken: Some(snapshot.taken) }
    }
}
