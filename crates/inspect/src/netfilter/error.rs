//! Why a text is no ruleset.

use super::host::{BundleError, SnapshotError};
use super::ruleset::Warning;

/// Why nothing could be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// There is nothing in it.
    #[error("there is nothing in it")]
    Empty,
    /// It is too large.
    #[error("it has {bytes} bytes, more than {limit}")]
    TooLarge {
        /// Its length.
        bytes: usize,
        /// The most bytes that are read.
        limit: usize,
    },
    /// It begins as JSON and cannot be read.
    #[error("line {line}: this JSON cannot be read, or it was cut off")]
    Json {
        /// Where reading failed.
        line: usize,
    },
    /// Its end is missing.
    #[error("{0}")]
    CutOff(Warning),
    /// It is JSON, but no ruleset.
    #[error("it is JSON, but has no list `nftables`")]
    OtherJson,
    /// It is a bundle with something odd in it.
    #[error("{0}")]
    Bundle(BundleError),
    /// It is a snapshot that is refused.
    #[error("{0}")]
    Snapshot(SnapshotError),
    /// It is what another tool prints, or one of the other family.
    #[error("this is what another tool prints")]
    OtherTool,
    /// It is something else.
    #[error("no line of it is a table as `iptables-save` prints it, and it is no JSON")]
    Foreign,
}
