//! What a failed `az` means.

use std::fmt;

/// What kind of failure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureClass {
    /// Nobody is signed in.
    SignedOut,
    /// The sign-in has expired, or is not taken.
    Expired,
    /// The identity may not do that.
    Forbidden,
    /// A policy of the organization forbids it.
    Disallowed,
    /// A storage account's network rules keep us out.
    KeptOut,
    /// It does not exist.
    NotFound,
    /// Too many requests.
    Throttled,
    /// Something else is in progress there, and nothing was begun.
    Busy,
    /// What is there does not go with it, or it is there already.
    Conflict,
    /// Something uses it.
    InUse,
    /// There is no room for another.
    Quota,
    /// The machine does not run.
    Off,
    /// The machine's agent does not answer.
    Silent,
    /// The machine lacks an extension.
    NoExtension,
    /// No network watcher watches that region.
    NoWatcher,
    /// The request itself is wrong.
    Invalid,
    /// The command line is wrong.
    Usage,
    /// The service failed.
    Service,
    /// Nobody answered.
    Unreachable,
    /// What came back is no answer.
    Unreadable,
    /// `az` itself broke.
    Broken,
    /// The key of the host is not the one that is known.
    Stranger,
    /// The host takes neither the key nor the user.
    Unwelcome,
    /// The user may not act as root on the guest.
    NoRoot,
    /// The server for ssh closed the connection before it knew who asks.
    SignInsFull,
    /// None of these.
    Other,
}

impl FailureClass {
    /// Tells whether a read may be tried again: the same may go well in a moment.
    #[must_use]
    pub fn is_transient(self) -> bool {
        matches!(
            self,
            Self::Throttled
                | Self::Busy
                | Self::Service
                | Self::Unreachable
                | Self::Unreadable
                | Self::SignInsFull
        )
    }

    /// Says what a person can do about it.
    #[must_use]
    pub fn hint(self) -> Option<&'static str> {
        Some(match self {
            Self::SignedOut => "sign in with `az login`, or give the bot an identity in its configuration",
            Self::Expired => "sign in again; a service principal's secret may have run out",
            Self::Forbidden => "give the identity that action on that scope; `deploy/azure` has the roles",
            Self::Disallowed => "ask who owns the policy that is named",
            Self::KeptOut => {
                "let this machine's network in at the storage account's network rules, or run where it is let in"
            }
            Self::NotFound => "look at the spelling, the resource group and the subscription",
            Self::Throttled => "wait a minute: the subscription has sent too many requests",
            Self::Busy => "wait until the other operation there is done",
            Self::Conflict => "look at what is there: it may be done already, or conflict with this",
            Self::InUse => "take it off what uses it first",
            Self::Quota => "remove what is not needed any more, or ask for a higher limit",
            Self::Off => "start the machine",
            Self::Silent => "the machine's agent does not reach 168.63.129.16, or is down; try ssh",
            Self::NoExtension => "install the extension on the machine: az vm extension set",
            Self::NoWatcher => "enable Network Watcher for the region of the machine",
            Self::Usage => {
                "this release of `az` may not know the command; `ghost config check` tells its version"
            }
            Self::Service | Self::Unreachable | Self::Unreadable => {
                "try again; look at the state of the platform if it stays"
            }
            Self::Broken => "repair or update `az`",
            Self::Stranger => {
                "ask who runs the host whether its key changed, then put the right one into the known hosts"
            }
            Self::Unwelcome => "look at the user and the key; the guest's authorized_keys has to hold it",
            Self::NoRoot => {
                "let that user run commands as root without a password (sudo -n), or reach the guest as root"
            }
            Self::SignInsFull => {
                "try again in a moment: its sshd takes so many sign-ins at once (MaxStartups), or holds this address back \
                 (PerSourcePenalties)"
            }
            Self::Invalid | Self::Other => return None,
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What kind it is.
    pub class: FailureClass,
    /// The service's code, where it gave one.
    pub code: Option<String>,
    /// What was said, in one line.
    pub message: String,
}

impl Failure {
    /// Returns the action that was missing, as in `Microsoft.Network/networkInterfaces/effectiveRouteTable/action`.
    #[must_use]
    pub fn action(&self) -> Option<&str> {
        let rest = self.message.split_once("perform action '")?.1;
        rest.split_once('\'').map(|(action, _)| action)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.code {
            Some(code) if !self.message.contains(code.as_str()) => write!(out, "{} ({code})", self.message),
            Some(_) | None => out.write_str(&self.message),
        }
    }
}

impl std::error::Error for Failure {}

/// Codes and what they mean; the first that fits.
const CODES: &[(&str, FailureClass)] = &[
    ("ExpiredAuthenticationToken", FailureClass::Expired),
    ("InvalidAuthenticationToken", FailureClass::Expired),
    ("AuthenticationFailed", FailureClass::Expired),
    ("AuthorizationFailed", FailureClass::Forbidden),
    ("LinkedAuthorizationFailed", FailureClass::Forbidden),
    ("AuthorizationPermissionMismatch", FailureClass::Forbidden),
    ("AuthorizationFailure", FailureClass::KeptOut),
    ("RequestDisallowedByPolicy", FailureClass::Disallowed),
    ("NetworkWatcherNotFound", FailureClass::NoWatcher),
    ("ParentResourceNotFound", FailureClass::NotFound),
    ("TooManyRequests", FailureClass::Throttled),
    ("SubscriptionRequestsThrottled", FailureClass::Throttled),
    ("OperationNotAllowedByThrottling", FailureClass::Throttled),
    ("ServerBusy", FailureClass::Throttled),
    ("AnotherOperationInProgress", FailureClass::Busy),
    ("Conflict", FailureClass::Conflict),
    ("SecurityRuleConflict", FailureClass::Conflict),
    ("BlobAlreadyExists", FailureClass::Conflict),
    ("QuotaExceeded", FailureClass::Quota),
    ("VMAgentStatusCommunicationError", FailureClass::Silent),
    ("InternalServerError", FailureClass::Service),
    ("ServiceUnavailable", FailureClass::Service),
    ("GatewayTimeout", FailureClass::Service),
];

/// Beginnings and ends of codes.
const PARTS: &[(&str, &str, FailureClass)] = &[
    ("RetryableError", "", FailureClass::Throttled),
    ("InUse", "CannotBeDeleted", FailureClass::InUse),
    ("", "LimitReached", FailureClass::Quota),
    ("", "QuotaExceeded", FailureClass::Quota),
    ("", "NotFound", FailureClass::NotFound),
    ("Invalid", "", FailureClass::Invalid),
];

/// Words where there is no code; the first that are there.
const WORDS: &[(&str, FailureClass)] = &[
    ("run 'az login' to setup account", FailureClass::SignedOut),
    ("run \"az login\" to access", FailureClass::SignedOut),
    ("AADSTS", FailureClass::Expired),
    ("None, None", FailureClass::Expired),
    ("az logout", FailureClass::Expired),
    ("Signing in failed", FailureClass::Expired),
    ("traceback", FailureClass::Broken),
    ("blocked by network rules of storage account", FailureClass::KeptOut),
    ("do not have the required permissions", FailureClass::Forbidden),
    ("Authentication failure", FailureClass::Expired),
    ("network watcher is not enabled for region", FailureClass::NoWatcher),
    ("The specified blob already exists", FailureClass::Conflict),
    ("Too Many Requests", FailureClass::Throttled),
    ("Unauthorized(", FailureClass::Expired),
    ("Forbidden(", FailureClass::Forbidden),
    ("Not Found", FailureClass::NotFound),
    ("does not exist", FailureClass::NotFound),
    ("JSON is invalid", FailureClass::Unreadable),
    ("Failed to establish a new connection", FailureClass::Unreachable),
    ("CERTIFICATE_VERIFY_FAILED", FailureClass::Unreachable),
    ("Read timed out", FailureClass::Unreachable),
    ("invalid status '", FailureClass::Service),
    ("usage error", FailureClass::Usage),
    ("Missing required field", FailureClass::Usage),
    ("not found.", FailureClass::NotFound),
];

/// Says what a failed `az` means, from its exit code and what it printed on standard error.
#[must_use]
pub fn failure(exit: Option<i32>, stderr: &str) -> Failure {
    let reported = stderr.lines().skip_while(|line| !line.starts_with("ERROR:"));
    let mut reported = reported
        .map(|line| line.strip_prefix("ERROR:").unwrap_or(line).trim())
        .filter(|line| !line.is_empty());
    let first = reported.next().or_else(|| stderr.lines().map(str::trim).find(|line| !line.is_empty()));
    let message = first.unwrap_or("it printed nothing").to_owned();
    let code = code(&message, stderr);
    let class =
        code.as_deref().and_then(|code| by_code(code, &message)).or_else(|| by_words(stderr)).unwrap_or(
            match exit {
                Some(2) => FailureClass::Usage,
                Some(3) => FailureClass::NotFound,
                _ => FailureClass::Other,
            },
        );
    Failure { class, code, message: message.chars().take(1_000).collect() }
}

/// Finds the service's code: `(Code) message`, `Code: Code`, `ErrorCode:Code`, or that of a raw body.
fn code(message: &str, stderr: &str) -> Option<String> {
    let name = |text: &str| {
        let name: String = text.chars().take_while(char::is_ascii_alphanumeric).collect();
        (name.len() > 2 && name.len() < 100).then_some(name)
    };
    let brackets = message
        .strip_prefix('(')
        .and_then(|rest| rest.split_once(')'))
        .and_then(|(code, _)| name(code).filter(|name| name == code));
    let line = || {
        stderr
            .lines()
            .find_map(|line| line.trim().strip_prefix("ErrorCode:").and_then(|rest| name(rest.trim())))
    };
    let raw = || {
        let rest = message.split_once("\"code\":")?.1.trim_start().strip_prefix('"')?;
        name(rest)
    };
    brackets.or_else(line).or_else(raw).filter(|code| code != "None")
}

fn by_code(code: &str, message: &str) -> Option<FailureClass> {
    if code == "OperationNotAllowed" {
        // The platform uses this one for everything that a machine's state forbids, and for quotas.
        let lower = message.to_lowercase();
        return Some(if lower.contains("extension") {
            FailureClass::NoExtension
        } else if lower.contains("quota") {
            FailureClass::Quota
        } else if lower.contains("running") {
            FailureClass::Off
        } else {
            FailureClass::Conflict
        });
    }
    // The platform runs one script a machine, and says so with its word for everything that does not go together.
    if code == "Conflict" && message.contains("in progress") {
        return Some(FailureClass::Busy);
    }
    let whole = CODES.iter().find(|(known, _)| *known == code).map(|(_, class)| *class);
    whole.or_else(|| {
        let part = PARTS.iter().find(|(begin, end, _)| code.starts_with(begin) && code.ends_with(end));
        part.map(|(_, _, class)| *class)
    })
}

fn by_words(stderr: &str) -> Option<FailureClass> {
    let lower = stderr.to_lowercase();
    WORDS.iter().find(|(words, _)| lower.contains(&words.to_lowercase())).map(|(_, class)| *class)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(exit: i32, text: &str) -> FailureClass {
        failure(Some(exit), text).class
    }

    #[test]
    fn a_code_says_what_it_is() {
        for (exit, text, expected) in [
            (
                1,
                "ERROR: (TooManyRequests) The request is being throttled.\nCode: TooManyRequests\n",
                FailureClass::Throttled,
            ),
            (
                1,
                "ERROR: (AuthorizationFailed) The client 'x' does not have authorization\n",
                FailureClass::Forbidden,
            ),
            (
                3,
                "ERROR: (ResourceGroupNotFound) Resource group 'nope' could not be found.\n",
                FailureClass::NotFound,
            ),
            (1, "ERROR: (InUseRouteTableCannotBeDeleted) Route table x is in use\n", FailureClass::InUse),
            (1, "ERROR: (PacketCaptureCountLimitReached) Cannot create more than 1\n", FailureClass::Quota),
            (
                1,
                "ERROR: (OperationNotAllowed) The operation requires the VM to be running (or set to run).\n",
                FailureClass::Off,
            ),
            (
                1,
                "ERROR: (OperationNotAllowed) Network Watcher extension is not installed on x.\n",
                FailureClass::NoExtension,
            ),
            (
                1,
                "ERROR: (Conflict) Run command extension execution is in progress. Please wait for completion before invoking a run command.\nCode: Conflict\n",
                FailureClass::Busy,
            ),
            (
                1,
                "ERROR: (AnotherOperationInProgress) Another operation on this resource is in progress\n",
                FailureClass::Busy,
            ),
            (1, "ERROR: (Conflict) Zone cannot be changed\n", FailureClass::Conflict),
            (
                1,
                "ERROR: (VMAgentStatusCommunicationError) VM 'x' has not reported status\n",
                FailureClass::Silent,
            ),
            (
                1,
                "ERROR: Too Many Requests({\"error\": {\"code\": \"TooManyRequests\"}})\n",
                FailureClass::Throttled,
            ),
            (
                3,
                "ERROR: The specified blob does not exist.\nErrorCode:BlobNotFound\n",
                FailureClass::NotFound,
            ),
        ] {
            assert_eq!(class(exit, text), expected, "{text}");
        }
    }

    #[test]
    fn words_do_where_there_is_no_code() {
        for (exit, text, expected) in [
            (1, "ERROR: Please run 'az login' to setup account.\n", FailureClass::SignedOut),
            (
                1,
                "ERROR: AADSTS7000222: The provided client secret keys are expired.\naz logout\naz login\n",
                FailureClass::Expired,
            ),
            (1, "ERROR: None, None\nRun the command below\naz logout\naz login\n", FailureClass::Expired),
            (
                1,
                "ERROR: \nThe request may be blocked by network rules of storage account. Please\n",
                FailureClass::KeptOut,
            ),
            (1, "ERROR: network watcher is not enabled for region westus.\n", FailureClass::NoWatcher),
            (1, "ERROR: JSON is invalid: Expecting\n", FailureClass::Unreadable),
            (2, "ERROR: 'frobnicate' is misspelled or not recognized by the system.\n", FailureClass::Usage),
            (
                1,
                "ERROR: The command failed with an unexpected error. Here is the traceback:\n",
                FailureClass::Broken,
            ),
            (1, "", FailureClass::Other),
        ] {
            assert_eq!(class(exit, text), expected, "{text}");
        }
    }

    #[test]
    fn the_missing_action_is_reported() {
        let text = "ERROR: (AuthorizationFailed) The client 'a' with object id 'b' does not have authorization to perform action 'Microsoft.Network/x/action' over scope '/s'.\n";
        assert_eq!(failure(Some(1), text).action(), Some("Microsoft.Network/x/action"));
    }

    #[test]
    fn a_warning_before_the_error_is_passed_over() {
        let reported = failure(
            Some(1),
            "WARNING: Subscription 'nope' not recognized.\nERROR: Subscription 'nope' not found. Check the spelling.\n",
        );
        assert_eq!(
            (reported.class, reported.message.as_str()),
            (FailureClass::NotFound, "Subscription 'nope' not found. Check the spelling.")
        );
    }

    #[test]
    fn only_what_may_go_well_in_a_moment_is_tried_again() {
        assert!(
            FailureClass::Throttled.is_transient()
                && FailureClass::Service.is_transient()
                && FailureClass::Busy.is_transient()
        );
        assert!(
            !FailureClass::Conflict.is_transient()
                && !FailureClass::Forbidden.is_transient()
                && !FailureClass::Other.is_transient()
        );
    }
}
