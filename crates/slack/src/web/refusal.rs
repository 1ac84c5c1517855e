//! What is done when Slack refuses a call: one plan for each of its documented words.

use crate::web::error::CallError;

/// What is done about a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Plan {
    /// It is done already.
    Fine,
    /// The same call later: Slack has trouble of its own, or wants fewer calls.
    Again,
    /// The same words without blocks.
    Plain,
    /// The words go to the person directly, as the place takes nothing.
    Direct,
    /// The message is gone or closed to changes: a new one takes its place if it still asks for something.
    Anew,
    /// Nothing can be done but to log and count it.
    GiveUp,
    /// An operator has to act: a token, a scope, an installation.
    Operator,
}

impl Plan {
    /// Every plan, for the table in the documents.
    pub const ALL: [Self; 7] =
        [Self::Fine, Self::Again, Self::Plain, Self::Direct, Self::Anew, Self::GiveUp, Self::Operator];

    /// Returns the word for logs and documents.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Fine => "fine",
            Self::Again => "again",
            Self::Plain => "plain",
            Self::Direct => "direct",
            Self::Anew => "anew",
            Self::GiveUp => "give-up",
            Self::Operator => "operator",
        }
    }
}

/// The plans, by Slack's words. What a word means does not depend on the method, except where a row below says so.
pub const PLANS: &[(Plan, &[&str])] = &[
    (
        Plan::Fine,
        &[
            "already_reacted",
            "no_reaction",
            "already_in_channel",
            "already_pinned",
            "message_not_in_streaming_state",
        ],
    ),
    (
        Plan::Again,
        &[
            "ratelimited",
            "rate_limited",
            "message_limit_exceeded",
            "internal_error",
            "fatal_error",
            "service_unavailable",
            "request_timeout",
            "team_added_to_org",
            "org_login_required",
        ],
    ),
    (
        Plan::Plain,
        &[
            "invalid_blocks",
            "invalid_blocks_format",
            "msg_blocks_too_long",
            "block_mismatch",
            "invalid_attachments",
            "too_many_attachments",
            "attachment_payload_limit_exceeded",
            "invalid_metadata_format",
            "invalid_metadata_schema",
            "metadata_too_large",
            "metadata_must_be_sent_from_app",
            "msg_too_long",
            "markdown_text_conflict",
            "slack_connect_blocked_file_type",
            "slack_connect_file_link_sharing_blocked",
            "unfurl_conflict",
        ],
    ),
    (
        Plan::Direct,
        &[
            "not_in_channel",
            "channel_not_found",
            "is_archived",
            "thread_not_found",
            "cannot_reply_to_message",
            "restricted_action",
            "restricted_action_read_only_channel",
            "restricted_action_thread_only_channel",
            "restricted_action_non_threadable_channel",
            "restricted_action_thread_locked",
            "ekm_access_denied",
            "no_permission",
            "not_allowed",
            "is_inactive",
            "user_not_in_channel",
            "external_channel_migrating",
            "posting_to_general_channel_denied",
            "free_team_not_allowed",
        ],
    ),
    (Plan::Anew, &["message_not_found", "cant_update_message", "edit_window_closed", "cant_delete_message"]),
    (
        Plan::GiveUp,
        &[
            "user_not_found",
            "user_disabled",
            "user_not_visible",
            "users_not_found",
            "user_is_bot",
            "user_is_restricted",
            "cannot_dm_bot",
            "messages_tab_disabled",
            "no_text",
            "too_many_reactions",
            "bad_timestamp",
            "invalid_name",
            "team_access_not_granted",
            "team_not_found",
            "as_user_not_supported",
            "duplicate_channel_not_found",
            "duplicate_message_not_found",
            "expired_trigger_id",
            "exchanged_trigger_id",
            "invalid_trigger_id",
            "trigger_expired",
            "used_url",
            "expired_url",
            "hash_conflict",
            "not_found",
            "view_too_large",
            "duplicate_external_id",
            "push_limit_reached",
            "storage_limit_reached",
            "file_uploads_disabled",
            "file_upload_size_restricted",
            "invalid_arguments",
            "invalid_arg_name",
            "invalid_array_arg",
            "invalid_charset",
            "invalid_form_data",
            "invalid_post_type",
            "missing_post_type",
            "missing_charset",
            "superfluous_charset",
            "missing_file_data",
            "invalid_cursor",
            "invalid_limit",
            "invalid_ts_latest",
            "invalid_ts_oldest",
            "invalid_thread_ts",
            "missing_recipient_user_id",
            "missing_recipient_team_id",
            "unknown_method",
        ],
    ),
    (
        Plan::Operator,
        &[
            "invalid_auth",
            "not_authed",
            "account_inactive",
            "token_revoked",
            "token_expired",
            "missing_scope",
            "not_allowed_token_type",
            "no_such_subteam",
            "subteam_not_found",
            "access_denied",
            "two_factor_setup_required",
            "accesslimited",
            "deprecated_endpoint",
            "method_deprecated",
            "enterprise_is_restricted",
            "missing_agent_session_stopped_event_subscription",
        ],
    ),
];

/// Words that mean something else for one method: in a stream, blocks cannot be sent again as text.
const BY_METHOD: &[(&str, &str, Plan)] = &[
    ("chat.appendStream", "msg_too_long", Plan::Anew),
    ("chat.update", "msg_too_long", Plan::Plain),
    ("chat.postEphemeral", "channel_not_found", Plan::Direct),
    ("chat.postEphemeral", "user_not_in_channel", Plan::Direct),
    ("views.open", "not_found", Plan::GiveUp),
    ("users.info", "user_not_found", Plan::GiveUp),
];

/// Returns what is done when a call is refused with a word of Slack's. A word that nobody documented is given up, and logged.
#[must_use]
pub fn plan(method: &str, code: &str) -> Plan {
    if let Some((_, _, plan)) = BY_METHOD.iter().find(|(of, word, _)| *of == method && *word == code) {
        return *plan;
    }
    if let Some((plan, _)) = PLANS.iter().find(|(_, words)| words.contains(&code)) {
        return *plan;
    }
    // New words for a place that is closed begin like the old ones.
    if code.starts_with("restricted_action") { Plan::Direct } else { Plan::GiveUp }
}

impl CallError {
    /// Returns what is done about it; nothing if Slack refused nothing.
    #[must_use]
    pub fn plan(&self) -> Option<Plan> {
        match self {
            Self::Refused { method, code, .. } => Some(plan(method, code)),
            Self::RateLimited { .. } | Self::Unreachable { .. } | Self::Late { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_has_one_plan() {
        let mut known: Vec<&str> = Vec::new();
        for (plan, words) in PLANS {
            assert!(Plan::ALL.contains(plan));
            for word in *words {
                assert!(!known.contains(word), "{word}");
                known.push(word);
            }
        }
        assert_eq!(PLANS.len(), Plan::ALL.len());
    }

    #[test]
    fn a_word_leads_to_its_plan() {
        for (method, code, wanted) in [
            ("chat.postMessage", "invalid_blocks", Plan::Plain),
            ("chat.postMessage", "msg_blocks_too_long", Plan::Plain),
            ("chat.postMessage", "restricted_action_thread_locked", Plan::Direct),
            ("chat.postMessage", "restricted_action_of_next_year", Plan::Direct),
            ("chat.postMessage", "ekm_access_denied", Plan::Direct),
            ("chat.update", "edit_window_closed", Plan::Anew),
            ("users.info", "user_not_found", Plan::GiveUp),
            ("chat.postMessage", "missing_scope", Plan::Operator),
            ("reactions.add", "already_reacted", Plan::Fine),
            ("chat.postMessage", "a_word_of_next_year", Plan::GiveUp),
        ] {
            assert_eq!(plan(method, code), wanted, "{method} {code}");
        }
    }
}
