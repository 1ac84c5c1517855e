//! What is odd, with its proof.

use std::fmt;

use serde::Serialize;

use super::fault::Fault;
use super::gathered::Part;
use super::object::Object;

/// How certain a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Certainty {
    /// What was read proves it.
    Confirmed,
    /// What was read speaks for it; something that would decide was not read, or is not here.
    Likely,
}

/// What it means for the traffic that matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Weight {
    /// Traffic that was asked about does not pass, or the machine has no network.
    Broken,
    /// Traffic passes worse than it could.
    Degraded,
    /// It seems alarming, and nothing shows that it hurts.
    Noticed,
}

/// Words of a machine that show it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Evidence {
    /// The machine.
    pub host: String,
    /// The part of what was gathered.
    #[serde(serialize_with = "as_text")]
    pub part: Part,
    /// What stands there, or what follows from it.
    pub shows: String,
}

pub(super) fn as_text<S: serde::Serializer>(part: &Part, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(part)
}

/// A fault of an object, with its proof.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What it means.
    pub weight: Weight,
    /// The fault.
    pub fault: Fault,
    /// What has it.
    pub object: Object,
    /// How certain that is.
    pub certainty: Certainty,
    /// What shows it.
    pub evidence: Vec<Evidence>,
}

impl Finding {
    /// Makes a finding with its first proof.
    pub(super) fn new(
        (weight, certainty): (Weight, Certainty),
        fault: Fault,
        object: Object,
        (host, part, shows): (&str, Part, impl Into<String>),
    ) -> Self {
        let evidence = vec![Evidence { host: host.to_owned(), part, shows: shows.into() }];
        Self { weight, fault, object, certainty, evidence }
    }

    /// Adds a proof.
    pub(super) fn and(mut self, host: &str, part: Part, shows: impl Into<String>) -> Self {
        self.evidence.push(Evidence { host: host.to_owned(), part, shows: shows.into() });
        self
    }

    /// Says it in words.
    #[must_use]
    pub fn words(&self) -> String {
        self.fault.text().words.replace("{object}", &self.object.to_string())
    }

    /// Says what to do.
    #[must_use]
    pub const fn remedy(&self) -> &'static str {
        self.fault.text().remedy
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.fault, self.object)
    }
}
