//! One message of a sender: alerts of one group.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Flow;
use ghost_base::{Digest, Timestamp};
use ghost_investigate::event::AlertStatus;

/// Which program sends alerts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sender {
    /// Prometheus' Alertmanager, webhooks of version 4.
    Alertmanager,
    /// Azure Monitor, the common alert schema.
    AzureMonitor,
    /// PagerDuty, webhooks of version 3.
    Pagerduty,
    /// Grafana's contact point for webhooks.
    Grafana,
    /// Whatever else can sign a small document.
    Generic,
}

impl Sender {
    /// Every sender.
    pub const ALL: [Self; 5] =
        [Self::Alertmanager, Self::AzureMonitor, Self::Pagerduty, Self::Grafana, Self::Generic];

    /// Returns the word by which it is configured and addressed.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Alertmanager => "alertmanager",
            Self::AzureMonitor => "azure-monitor",
            Self::Pagerduty => "pagerduty",
            Self::Grafana => "grafana",
            Self::Generic => "generic",
        }
    }

    /// Returns the sender of a word.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|sender| sender.word() == word)
    }
}

/// What a request holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reading {
    /// Alerts.
    Alerts(Box<Notification>),
    /// Something else that this sender tells, such as a test of the connection or that somebody acknowledged.
    Other(String),
}

/// What a message of a sender says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notification {
    pub sender: Sender,
    /// The sender's own key of the group; whatever it is, it names the group and nothing else.
    pub group: String,
    pub status: AlertStatus,
    /// Names what the message says: a repetition has the same.
    pub content: Digest,
    /// The trace that it belongs to, where its sender says so in a header.
    pub traceparent: Option<String>,
    /// How many alerts it is about.
    pub alerts: u64,
    /// On one line.
    pub title: String,
    /// In lines.
    pub text: String,
    pub severity: Option<String>,
    pub labels: BTreeMap<String, String>,
    /// When the youngest of its alerts began, in the sender's spelling.
    pub started_at: Option<String>,
    /// When it ended.
    pub ended_at: Option<String>,
    pub links: Vec<String>,
    /// The flows that it names.
    pub flows: Vec<Flow>,
    /// The machines that it names.
    pub machines: Vec<String>,
}

impl Notification {
    /// Returns when the youngest of its alerts began, by the sender's clock.
    #[must_use]
    pub fn began(&self) -> Option<Timestamp> {
        self.started_at.as_deref().and_then(moment)
    }

    /// Returns when it ended, by the sender's clock.
    #[must_use]
    pub fn ended(&self) -> Option<Timestamp> {
        self.ended_at.as_deref().and_then(moment)
    }
}

/// Reads a moment in any spelling of RFC 3339. One that stands for none, as the year 1, is none.
#[must_use]
pub(super) fn moment(text: &str) -> Option<Timestamp> {
    let read = time::OffsetDateTime::parse(text, &time::format_description::well_known::Rfc3339).ok()?;
    let millis = i64::try_from(read.unix_timestamp_nanos().div_euclid(1_000_000)).ok()?;
    (millis > 0).then(|| Timestamp::from_millis(millis))
}
