//! What came of checking a report's findings once more.

use serde::{Deserialize, Serialize};

use crate::event::ObservationId;

/// Who is said to have answered where code alone decided what runs.
pub const BRAIN: &str = "recheck";

/// A fault before and now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rechecked {
    /// The fault code.
    pub code: String,
    /// What is at fault.
    pub object: String,
    /// What was seen when it was reported; empty where it was not there then.
    pub before: String,
    /// What was seen now, or why nothing was.
    pub after: String,
    /// What it came to.
    pub now: Now,
    /// What was observed now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<ObservationId>,
}

/// What a fault is like now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Now {
    /// The same look was taken, whole, and does not show it any more.
    Fixed,
    /// Nobody can tell.
    Unknown,
    /// It is still there.
    Broken,
    /// It was not there before.
    New,
}
