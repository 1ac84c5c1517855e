//! The line about a session that every replica can read.

use serde::Deserialize;

use ghost_investigate::memory::Memory;
use ghost_investigate::report::Summary;
use ghost_investigate::usage::Usage;

/// The line about a session that every replica can read. It is gone when the session is erased.
#[derive(Debug, Deserialize)]
pub(super) struct PostedLine {
    pub(super) summary: Summary,
    pub(super) channel: Option<String>,
    pub(super) thread: Option<String>,
    pub(super) requester: String,
    /// What it found; nothing in lines of earlier versions.
    #[serde(default)]
    pub(super) memory: Memory,
    /// What it used; nothing in lines of earlier versions.
    #[serde(default)]
    pub(super) usage: Usage,
}
