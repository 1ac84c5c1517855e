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
        /// Why the server refused the write, if it answered that it takes no writes.
        refusal: Option<WriteRefusal>,
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

/// Why a server that answers takes no writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WriteRefusal {
    /// Its memory is full (`OOM`).
    OutOfMemory,
    /// It cannot write to its disk (`MISCONF`).
    Disk,
    /// It is a replica (`READONLY`).
    ReadOnly,
    /// Too few replicas are connected to it (`NOREPLICAS`).
    TooFewReplicas,
}

impl WriteRefusal {
    /// Reads the word with which Redis begins an error.
    pub(super) fn from_code(code: &str) -> Option<Self> {
        match code {
            "OOM" => Some(Self::OutOfMemory),
            "MISCONF" => Some(Self::Disk),
            "READONLY" => Some(Self::ReadOnly),
            "NOREPLICAS" => Some(Self::TooFewReplicas),
            _ => None,
        }
    }

    /// Returns the reason in words.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OutOfMemory => "the store refuses writes: its memory is full (OOM)",
            Self::Disk => "the store refuses writes: it cannot write to its disk (MISCONF)",
            Self::ReadOnly => "the store refuses writes: it is a read-only replica (READONLY)",
            Self::TooFewReplicas => "the store refuses writes: too few replicas are connected (NOREPLICAS)",
        }
    }
}

impl StoreError {
    /// Returns why the server takes no writes, if that is the error.
    #[must_use]
    pub fn refusal(&self) -> Option<WriteRefusal> {
        match self {
            Self::Unavailable { refusal, .. } => *refusal,
            Self::Fenced
            | Self::LengthMismatch { .. }
            | Self::InboxTooShort { .. }
            | Self::Address { .. }
            | Self::InUse { .. }
            | Self::Newer { .. }
            | Self::Corrupt { .. }
            | Self::TooLarge { .. } => None,
        }
    }

    pub(super) fn unavailable(
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
        hint: impl Into<String>,
    ) -> Self {
        Self::Unavailable { source: source.into(), hint: hint.into(), refusal: None }
    }

    /// The error of a server that answers with an error of its own, which the hint quotes.
    pub(super) fn unavailable_with_message(
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        let source = source.into();
        let hint = format!("Redis answered: {source}");
        Self::Unavailable { source, hint, refusal: None }
    }

    /// The error of a server that answers and takes no writes.
    pub(super) fn refused(
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
        refusal: WriteRefusal,
    ) -> Self {
        Self::Unavailable { source: source.into(), hint: refusal.as_str().to_owned(), refusal: Some(refusal) }
    }

    pub(super) fn address(what: impl Into<String>) -> Self {
        Self::Address { what: what.into() }
    }

    pub(super) fn corrupt(what: impl Into<String>) -> Self {
        Self::Corrupt { what: what.into() }
    }
}
