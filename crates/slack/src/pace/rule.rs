//! Slack's tiers.

use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);

/// So many calls in such a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// How many.
    pub most: usize,
    /// In what time.
    pub within: Duration,
    /// Whether every channel is counted by itself.
    pub by_channel: bool,
}

impl Rule {
    /// Returns the rule of a method. What is not listed has the rule of most that write.
    #[must_use]
    pub fn of(method: &str) -> Self {
        match method {
            // One a second and channel, and some at once.
            "chat.postMessage" => Self { most: 5, within: Duration::from_secs(5), by_channel: true },
            "chat.startStream"
            | "chat.stopStream"
            | "usergroups.list"
            | "usergroups.users.list"
            | "users.list"
            | "conversations.list"
            | "reactions.remove"
            | "apps.connections.open" => Self::a_minute(20),
            "auth.test"
            | "chat.appendStream"
            | "chat.getPermalink"
            | "chat.postEphemeral"
            | "conversations.members"
            | "files.completeUploadExternal"
            | "files.getUploadURLExternal"
            | "files.info"
            | "users.info"
            | "users.profile.get"
            | "views.open"
            | "views.publish"
            | "views.push"
            | "views.update"
            | "assistant.threads.setSuggestedPrompts"
            | "assistant.threads.setTitle" => Self::a_minute(100),
            _ => Self::a_minute(50),
        }
    }

    fn a_minute(most: usize) -> Self {
        Self { most, within: MINUTE, by_channel: false }
    }
}
