//! `[approval]`: who may say yes to what.

use serde::Deserialize;

/// `[approval]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Approval {
    /// What whoever asked for an investigation may approve in it. Unless said: everything in a terminal, where nobody else is
    /// there, and captures and measurements anywhere else.
    pub requester: Option<RequesterMay>,
}

/// What a requester may approve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RequesterMay {
    /// Captures and measurements.
    Measure,
    /// Everything.
    Everything,
    /// Nothing.
    Nothing,
}
