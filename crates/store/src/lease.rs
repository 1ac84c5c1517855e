//! The right to write a session, for a while.

use std::time::Duration;

use ghost_base::{SessionId, Timestamp};

/// The right of one owner to write one session. Only a store makes one; it proves nothing by itself, each write checks it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    pub(super) session: SessionId,
    pub(super) owner: String,
    pub(super) epoch: u64,
    pub(super) ttl: Duration,
    pub(super) until: Timestamp,
    pub(super) orphans: bool,
}

impl Lease {
    /// Returns the session that may be written.
    #[must_use]
    pub fn session(&self) -> &SessionId {
        &self.session
    }

    /// Returns who may write it.
    #[must_use]
    pub fn owner(&self) -> &str {
        &self.owner
    }

    /// Returns the fencing number: a later owner has a larger one.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Tells whether the owner before went away without giving the session back. It says nothing where that was the same one.
    #[must_use]
    pub fn is_orphans(&self) -> bool {
        self.orphans
    }

    /// Returns when the lease ended if it was never renewed, by the store's clock.
    #[must_use]
    pub fn until(&self) -> Timestamp {
        self.until
    }
}
