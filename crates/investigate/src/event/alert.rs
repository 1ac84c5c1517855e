//! An alert that opened a session by itself, and what its sender said of it later. All of it is data of somebody else's program.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What an alert said when it opened a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alert {
    /// The name that the configuration gives to its sender.
    pub source: String,
    /// What the sender is: `alertmanager`, `pagerduty` …
    pub sender: String,
    /// The sender's own name of the group that it belongs to, shortened.
    pub group: String,
    pub title: String,
    /// Its words, as they are shown.
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Since when, in the sender's spelling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<String>,
    /// How many alerts the first message held.
    pub alerts: u64,
    /// The trace that the alert belongs to, as its sender named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<String>,
}

/// What the sender says of its alert.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AlertStatus {
    Firing,
    /// It is over, as far as the sender can see.
    Resolved,
}

impl AlertStatus {
    /// Returns the word for people.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Firing => "firing",
            Self::Resolved => "resolved",
        }
    }
}

/// The sender said something more of its alert.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alerted {
    pub status: AlertStatus,
    /// What it says, in a few words of the sender.
    pub text: String,
    /// How many alerts of the group it is about.
    pub alerts: u64,
    /// When, in the sender's spelling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

impl Alert {
    /// What begins the name of whoever asks where no person does: their words make no destination known.
    pub const NOBODY: &'static str = "bot ";

    /// Returns who counts as the requester: nobody of the messenger.
    #[must_use]
    pub fn requester(&self) -> String {
        format!("{}{}", Self::NOBODY, self.source)
    }
}
