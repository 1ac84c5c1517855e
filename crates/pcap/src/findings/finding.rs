//! What a finding is.

use std::collections::BTreeMap;

use serde::Serialize;

/// How bad something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Somebody is attacked, or a service is not there.
    Critical,
    /// Somebody notices.
    Warning,
    /// Good to know.
    Info,
}

impl Severity {
    /// Returns its name in answers.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Critical => "critical",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

/// Something that is wrong, with what shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// Its name, for ever the same.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, with whom.
    pub title: String,
    /// What shows it.
    pub evidence: Evidence,
    /// What this capture point can and cannot show.
    pub vantage: &'static str,
}

/// What shows a finding.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evidence {
    /// The first few frames.
    pub frames: Vec<u64>,
    /// A display filter that shows them, and others of the kind.
    pub filter: String,
    /// The figures behind the severity.
    pub numbers: BTreeMap<&'static str, f64>,
}
