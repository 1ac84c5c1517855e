//! What a caller can do something about.

use std::path::PathBuf;

use crate::MAX_LINE_BYTES;

/// Why the store did not do it.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The lease has ended or the session has another owner: stop working on it.
    #[error("the session has another owner or the lease ended")]
    Fenced,
    /// The ledger is not as long as the caller thought: read it again.
    #[error("the ledger has {length} events")]
    LengthMismatch {
        /// How many events there are.
        length: u64,
    },
    /// More inbox items were said to be used up than there are: a mistake of the caller.
    #[error("the inbox holds only {held} items")]
    InboxTooShort {
        /// How many items there are.
        held: u64,
    },
    /// The store cannot be reached or did not answer in time. Whether a write happened is not known.
    #[error("the store is not available ({hint})")]
    Unavailable {
        /// What went wrong below.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
        /// What a human can look at.
        hint: String,
    },
    /// The address of a server, or the prefix of its keys, cannot be used as it was written.
    #[error("the store cannot be there: {what}")]
    Address {
        /// What is wrong with it; never a password.
        what: String,
    },
    /// Another process has the file open.
    #[error("another process holds {}; one process owns an embedded store, use Redis to share one", path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// The store was written by a later version of this program.
    #[error("the store has format {found}, this program knows formats up to {known}")]
    Newer {
        /// The format of the store.
        found: u64,
        /// The latest format that this program reads.
        known: u64,
    },
    /// What is stored cannot be understood.
    #[error("the store is damaged: {what}")]
    Corrupt {
        /// Where, and what was found.
        what: String,
    },
    /// A line is longer than [`MAX_LINE_BYTES`].
    #[error("a line of {bytes} bytes does not fit, the longest has {MAX_LINE_BYTES}")]
    TooLarge {
        /// Its length.
        bytes: usize,
    },
}

impl StoreError {
    pub(super) fn unavailable(
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
        hint: impl Into<String>,
    ) -> Self {
        Self::Unavailable { source: source.into(), hint: hint.into() }
    }

    pub(super) fn address(what: impl Into<String>) -> Self {
        Self::Address { what: what.into() }
    }

    pub(super) fn corrupt(what: impl Into<String>) -> Self {
        Self::Corrupt { what: what.into() }
    }
}
