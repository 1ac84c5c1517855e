//! What the bot asks of a workspace. A test compares this with `manifest.yaml`, which people paste into Slack.

/// The slash command.
pub const COMMAND: &str = "/ghost";

/// The callback ids of message shortcuts.
pub const SHORTCUTS: &[&str] = &["investigate"];

/// What the bot's token has to be allowed.
pub const SCOPES: &[&str] = &[
    "app_mentions:read",
    "assistant:write",
    "channels:history",
    "channels:read",
    "chat:write",
    "commands",
    "files:write",
    "groups:history",
    "groups:read",
    "im:history",
    "im:read",
    "im:write",
    "mpim:history",
    "reactions:write",
    "usergroups:read",
    "users:read",
];

/// The events that the app is subscribed to.
pub const EVENTS: &[&str] = &[
    "agent_session_stopped",
    "app_home_opened",
    "app_mention",
    "message.channels",
    "message.groups",
    "message.im",
    "message.mpim",
];
