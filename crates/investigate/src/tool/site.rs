//! What the tools know of the place where they work: from the configuration alone, never from a model.

use std::collections::BTreeMap;

use ghost_cloud::Name;
use ghost_cloud::capture::Storage;
use ghost_cloud::guest::Ssh;

/// The place.
#[derive(Debug, Clone, Default)]
pub struct Site {
    /// The subscription, where it is pinned.
    pub subscription: Option<Name>,
    /// The resource group where a call names none: the only one of the session's scope, or nothing.
    pub group: Option<Name>,
    /// How guests are reached by ssh, by the machine's name.
    pub ssh: BTreeMap<String, Ssh>,
    /// Where captures are written to; no tool takes one from a model.
    pub storage: Option<Storage>,
    /// The folder that captures are fetched into.
    pub captures: String,
}

/// Under which name something is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// Routes and rules.
    Effective,
    /// A guest's packet filter.
    Netfilter,
    /// A measurement.
    Meter,
}

impl Kept {
    /// Returns its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Effective => "effective",
            Self::Netfilter => "netfilter",
            Self::Meter => "meter",
        }
    }
}
