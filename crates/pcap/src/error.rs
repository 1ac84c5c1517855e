//! Errors of captures that cannot be read at all.

use std::io;

/// Why there is no answer. What is merely cut off or damaged further on is a warning of the answer, not an error.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is not a single byte.
    #[error("it is empty")]
    Empty,
    /// Neither a classic capture nor pcapng.
    #[error("it is neither pcap nor pcapng")]
    NotACapture,
    /// The header of the file ends too early.
    #[error("it ends within its header")]
    HeaderCut,
    /// What is packed with gzip cannot be unpacked.
    #[error("its gzip data is damaged at the very beginning")]
    Packed(#[source] io::Error),
    /// It is packed, and read as it is.
    #[error("it is packed with gzip, and read without being unpacked")]
    StillPacked,
    /// The bytes cannot be had.
    #[error("it cannot be read")]
    Read(#[source] io::Error),
}
