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

/// What it may be allowed besides. Nothing fails without these; what they are for is switched on, or said to be missing.
pub const OPTIONAL_SCOPES: &[&str] = &["channels:join", "files:read", "reactions:read"];

/// The events that the app is subscribed to.
pub const EVENTS: &[&str] = &[
    "agent_session_stopped",
    "app_home_opened",
    "app_mention",
    "app_uninstalled",
    "message.channels",
    "message.groups",
    "message.im",
    "message.mpim",
    "tokens_revoked",
];

/// The manifest, in which each scope says what it is for.
const MANIFEST: &str = include_str!("../../manifest.yaml");

/// Says what a scope is needed for, in the words of the manifest; nothing where it is none of ours.
#[must_use]
pub fn reason(scope: &str) -> Option<&'static str> {
    MANIFEST.lines().find_map(|line| {
        let (name, why) = line.trim().strip_prefix("- ")?.split_once('#')?;
        (name.trim() == scope).then_some(why.trim())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scope_says_what_it_is_for() {
        let silent: Vec<_> = SCOPES
            .iter()
            .chain(OPTIONAL_SCOPES)
            .filter(|scope| reason(scope).is_none_or(str::is_empty))
            .collect();
        assert_eq!(silent, Vec::<&&str>::new());
        assert_eq!(reason("admin"), None);
    }
}
