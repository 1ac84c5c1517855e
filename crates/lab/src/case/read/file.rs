//! A case as it is written.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use super::observation::RawObservation;
use crate::case::model::{BaselineKind, Change, Forbidden, Outcome, Pair, Public, Service, Traffic, Vm};

/// The whole file. Faults are read one by one, so that each error has its line.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) id: Spanned<String>,
    pub(super) title: String,
    pub(super) prompt: String,
    pub(super) outcome: Vec<Outcome>,
    #[serde(default)]
    pub(super) notes: String,
    pub(super) estate: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) vm: Vec<Spanned<Vm>>,
    #[serde(default)]
    pub(super) public: Vec<Spanned<Public>>,
    #[serde(default)]
    pub(super) change: Vec<Spanned<Change>>,
    #[serde(default)]
    pub(super) service: Vec<Spanned<Service>>,
    #[serde(default)]
    pub(super) traffic: Vec<Spanned<Traffic>>,
    #[serde(default)]
    pub(super) fault: Vec<Spanned<toml::Table>>,
    #[serde(default)]
    pub(super) baseline: Vec<Spanned<Remembered>>,
    #[serde(default)]
    pub(super) seen: Vec<Spanned<RawObservation>>,
    #[serde(default)]
    pub(super) forbidden: Vec<Spanned<Forbidden>>,
    #[serde(default)]
    pub(super) expected: Vec<Pair>,
    #[serde(default)]
    pub(super) may: Vec<Pair>,
    #[serde(default)]
    pub(super) phase: BTreeMap<String, Later>,
}

/// A baseline as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Remembered {
    pub(super) kind: BaselineKind,
    pub(super) id: String,
    pub(super) vm: String,
    #[serde(default)]
    pub(super) after: Vec<String>,
    pub(super) age: String,
}

/// A phase after the first.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Later {
    pub(super) prompt: String,
    pub(super) outcome: Vec<Outcome>,
    #[serde(default)]
    pub(super) fixes: Vec<String>,
    #[serde(default)]
    pub(super) expected: Vec<Pair>,
    #[serde(default)]
    pub(super) may: Vec<Pair>,
}
