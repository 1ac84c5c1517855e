//! A message, and a file beside it.

use serde_json::{Value, json};

/// The fallback is what a notification shows; more than this nobody reads there.
pub(super) const MAX_FALLBACK_LEN: usize = 600;

/// A message of Slack.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// The fallback, which notifications show. It is escaped.
    pub text: String,
    pub blocks: Vec<Value>,
}

impl Message {
    /// Returns the members of a call that posts or updates it, without the place.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "text": self.text,
            "blocks": self.blocks,
            "mrkdwn": false,
            "unfurl_links": false,
            "unfurl_media": false,
        })
    }
}

/// A file that goes with a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    pub name: String,
    /// What it is, for people.
    pub title: String,
    /// What it shows, for whoever cannot see it.
    pub alt: Option<String>,
    /// What it holds.
    pub bytes: Vec<u8>,
}
