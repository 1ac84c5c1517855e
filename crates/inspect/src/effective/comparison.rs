//! What a comparison comes to.

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::nic::{Nic, State};
use super::row::Problem;

/// What a comparison comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Status {
    /// Everything was read on both sides, and nothing changed.
    Clean,
    /// Something certainly changed.
    Drift,
    /// Nothing certainly changed, and not everything was read.
    Inconclusive,
}

impl Status {
    /// Returns the word of the contract.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Clean => "CLEAN",
            Self::Drift => "DRIFT",
            Self::Inconclusive => "INCONCLUSIVE",
        }
    }

    /// Tells whether there is drift, where that is known.
    #[must_use]
    pub const fn drift(self) -> Option<bool> {
        match self {
            Self::Clean => Some(false),
            Self::Drift => Some(true),
            Self::Inconclusive => None,
        }
    }
}

/// What kind of thing changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Category {
    /// A network interface came or went.
    Nic,
    /// A user-defined route.
    UdrRoute,
    /// A route from the virtual network gateway.
    BgpRoute,
    /// A route of the platform, or of anybody else.
    SystemRoute,
    /// An effective security rule of a gate.
    SecurityRule,
}

impl Category {
    /// Returns the word of the contract.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Nic => "nic_change",
            Self::UdrRoute => "udr_route_change",
            Self::BgpRoute => "bgp_route_change",
            Self::SystemRoute => "system_route_change",
            Self::SecurityRule => "security_rule_change",
        }
    }
}

impl Serialize for Category {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// What happened to a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// It was not there before.
    Added,
    /// It is not there now.
    Removed,
    /// It is there with other content.
    Changed,
}

/// One certain change.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// The network interface.
    pub nic: String,
    /// What kind of thing changed.
    pub category: Category,
    /// What happened to it.
    pub kind: Kind,
    /// What makes it the same thing on both sides.
    pub key: String,
    /// What it was; null where it was not there.
    pub before: Value,
    /// What it is; null where it is not there.
    pub after: Value,
    /// The fields that differ, for what is there on both sides.
    pub fields: Vec<&'static str>,
    /// The same rule at another place, where it was moved.
    pub moved: Option<String>,
}

/// Which of the two sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Which {
    /// The earlier one.
    Baseline,
    /// The later one.
    Current,
}

impl Which {
    /// Returns its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Current => "current",
        }
    }
}

/// What could not be read of a network interface.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct NicError {
    /// The network interface; none where it is about the list of them.
    pub nic: Option<String>,
    /// Which of the two sides could not be read.
    pub side: Which,
    /// The place in the document, such as `nics[0].routes.value[3]`.
    pub at: String,
    /// What is wrong there.
    pub error: String,
}

impl NicError {
    /// Returns everything that could not be read of one side.
    pub(super) fn all(state: &State, side: Which) -> Vec<Self> {
        let of = |nic: &Nic, problem: &Problem| {
            let (at, error) = (problem.at.clone(), problem.what.clone());
            Self { nic: Some(nic.name.clone()), side, at, error }
        };
        let mut all: Vec<Self> =
            state.entries().flat_map(|nic| nic.problems().map(|problem| of(nic, problem))).collect();
        let list = |error: &str| Self { nic: None, side, at: "nics".to_owned(), error: error.to_owned() };
        all.extend(state.incomplete.iter().map(|why| list(why)));
        if state.entries().next().is_none() {
            all.push(list("no network interface is listed"));
        }
        all
    }
}

/// What is worth a word and no change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RemarkKind {
    /// A service tag stands for other prefixes; the rule that names it is the same.
    TagChurn,
    /// What a service tag stands for is reported on one side only.
    TagUntold,
    /// A route has another name, or another propagation flag.
    RouteAside,
}

/// What is worth a word and no change.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Remark {
    /// The network interface.
    pub nic: String,
    /// What it is about.
    pub kind: RemarkKind,
    /// The row.
    pub key: String,
    /// What is the case.
    pub what: String,
}

/// What a comparison comes to, and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// What it comes to.
    pub status: Status,
    /// Whether there is drift, null where that is not known.
    pub drift_detected: Option<bool>,
    /// Every certain change.
    pub changes: Vec<Change>,
    /// Everything that could not be read.
    pub nic_errors: Vec<NicError>,
    /// What is worth a word and no change.
    pub remarks: Vec<Remark>,
    /// The names of the network interfaces that are on both sides.
    pub nics: Vec<String>,
    /// The digest of the earlier side.
    pub baseline_sha256: String,
    /// The digest of the later side.
    pub current_sha256: String,
    /// Whether both digests stood in the files and were checked.
    pub verified: bool,
}
