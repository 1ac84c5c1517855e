//! What ends all connections for good.

use crate::web::CallError;

/// What ends all connections for good: asking again would not help before somebody changes something.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SocketError {
    /// Socket Mode is switched off.
    #[error(
        "Socket Mode is switched off for this app: switch it on in the app's settings, or let Slack send signed requests"
    )]
    Disabled,
    /// Slack refuses to open a socket.
    #[error("Slack opens no socket: {code}: {hint}")]
    Refused {
        /// Slack's word for it.
        code: String,
        /// What to do.
        hint: &'static str,
    },
    /// A part of ours broke.
    #[error("a connection's task ended in a panic")]
    Broken,
}

impl SocketError {
    /// Returns the error that a failed call stands for, unless asking again may help.
    pub(crate) fn of(error: &CallError) -> Option<Self> {
        let code = error.code()?;
        let hint = match code {
            "invalid_auth" | "not_authed" | "token_revoked" | "token_expired" => {
                "the app-level token is wrong or was revoked; make one with the scope connections:write"
            }
            "not_allowed_token_type" => "an app-level token is wanted, one that begins with xapp-",
            "missing_scope" | "no_permission" => "the app-level token lacks the scope connections:write",
            "account_inactive" | "app_uninstalled" | "team_access_not_granted" | "access_denied" => {
                "the app is no longer installed in this workspace, or may not be used there"
            }
            "socket_mode_not_enabled" | "socket_mode_disabled" => return Some(Self::Disabled),
            "org_login_required"
            | "ekm_access_denied"
            | "enterprise_is_restricted"
            | "two_factor_setup_required" => "the workspace's administrators do not allow it at present",
            "unknown_method" | "method_deprecated" => {
                "this address does not speak for Slack; check SLACK_API_URL"
            }
            _ => return None,
        };
        Some(Self::Refused { code: code.to_owned(), hint })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_asking_again_may_cure_is_not_fatal() {
        for code in
            ["internal_error", "service_unavailable", "fatal_error", "request_timeout", "something_new"]
        {
            assert_eq!(SocketError::of(&CallError::refused("apps.connections.open", code)), None, "{code}");
        }
        let fatal = SocketError::of(&CallError::refused("apps.connections.open", "invalid_auth")).unwrap();
        assert!(fatal.to_string().contains("connections:write"));
    }
}
