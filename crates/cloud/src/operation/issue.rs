//! Failures in a sentence, what can be done about them, and when to retry.

use serde::{Deserialize, Serialize};

use super::port::CommandOutcome;
use crate::guest::refused;
use crate::{Failure, FailureClass, failure};

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Issue {
    /// What, in a sentence.
    pub text: String,
    /// What can be done about it.
    pub hint: Option<String>,
}

impl Issue {
    /// Says what went wrong.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), hint: None }
    }

    /// Says what went wrong, and what can be done about it.
    #[must_use]
    pub fn hinted(text: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { text: text.into(), hint: Some(hint.into()) }
    }
}

/// A command that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandError {
    /// Of what kind; `None` where nothing ran.
    pub class: Option<FailureClass>,
    /// What it was, in words.
    pub trouble: Issue,
}

impl CommandError {
    /// Tells whether a retry may succeed.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        self.class.is_some_and(FailureClass::is_transient)
    }

    /// Tells whether it is of a kind.
    #[must_use]
    pub fn is(&self, class: FailureClass) -> bool {
        self.class == Some(class)
    }
}

/// Returns what a command printed. `doing` begins the sentence about what went wrong: "looking at web-1".
///
/// # Errors
/// Says why it brought nothing.
pub fn printed<'a>(answer: &'a CommandOutcome, doing: &str) -> Result<&'a str, CommandError> {
    let (class, trouble) = match answer {
        CommandOutcome::Ran { exit: Some(0), stdout, stderr: _ } => return Ok(stdout),
        CommandOutcome::Ran { exit, stdout: _, stderr } => {
            let failure = refused(*exit, stderr).unwrap_or_else(|| failure(*exit, stderr));
            (Some(failure.class), describe(doing, *exit, &failure))
        }
        CommandOutcome::Denied { reason, all: _ } => {
            let reason = if reason.is_empty() { "no reason was given" } else { reason };
            (None, Issue::new(format!("{doing} was denied: {reason}")))
        }
        CommandOutcome::Refused { reason } => {
            (None, Issue::new(format!("{doing}: the policy does not allow it: {reason}")))
        }
        CommandOutcome::NotRun { reason } => (None, Issue::new(format!("{doing}: nothing ran: {reason}"))),
        CommandOutcome::Unknown { reason } => {
            (Some(FailureClass::Unreachable), Issue::new(format!("{doing} was cut off: {reason}")))
        }
    };
    Err(CommandError { class, trouble })
}

fn describe(doing: &str, exit: Option<i32>, failure: &Failure) -> Issue {
    // A shell says 127 where a program is missing.
    if exit == Some(127) {
        let hint =
            "install it in a system folder, or name it in the configuration: [programs] az = \"/path/to/az\"";
        return Issue::hinted(format!("{doing}: `az` cannot be started: {failure}"), hint);
    }
    let text = match failure.action() {
        Some(action) => format!("{doing}: the identity may not do {action}"),
        None => format!("{doing}: {failure}"),
    };
    Issue { text, hint: failure.class.hint().map(str::to_owned) }
}

/// How often a transient failure is retried, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RetryPolicy {
    tries: u32,
}

impl RetryPolicy {
    /// Maximum number of tries.
    const MAX_TRIES: u32 = 5;

    /// The same where somebody else is at work: that takes as long as it takes.
    const MAX_TRIES_BUSY: u32 = 7;

    /// Says how many seconds to wait before it is tried again; `None` where that is no use.
    pub fn again(&mut self, setback: &CommandError) -> Option<u64> {
        let busy = setback.is(FailureClass::Busy);
        let most = if busy { Self::MAX_TRIES_BUSY } else { Self::MAX_TRIES };
        if !setback.is_transient() || self.tries + 1 >= most {
            return None;
        }
        self.tries += 1;
        let first = if setback.is(FailureClass::Throttled) { 20 } else { 5 };
        Some(if busy { 20 } else { (first << (self.tries - 1).min(6)).min(60) })
    }

    /// Returns how often it was tried.
    #[must_use]
    pub fn tries(self) -> u32 {
        self.tries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(exit: i32, stderr: &str) -> CommandOutcome {
        CommandOutcome::Ran { exit: Some(exit), stdout: String::new(), stderr: stderr.to_owned() }
    }

    fn setback(answer: &CommandOutcome) -> CommandError {
        printed(answer, "looking at web-1").unwrap_err()
    }

    #[test]
    fn the_missing_action_is_named() {
        let text = "ERROR: (AuthorizationFailed) The client 'a' with object id 'b' does not have authorization to perform action 'Microsoft.Network/networkWatchers/packetCaptures/write' over scope '/s'.";
        let describe = setback(&ran(1, text)).trouble;
        assert_eq!(
            describe.text,
            "looking at web-1: the identity may not do Microsoft.Network/networkWatchers/packetCaptures/write"
        );
        assert!(describe.hint.unwrap().contains("deploy/azure"));
    }

    #[test]
    fn a_missing_az_says_where_to_name_it() {
        assert!(setback(&ran(127, "az: not found")).trouble.hint.unwrap().contains("[programs]"));
    }

    #[test]
    fn throttling_waits_longer_and_not_for_ever() {
        let throttled = setback(&ran(1, "ERROR: (TooManyRequests) The request is being throttled."));
        let mut patience = RetryPolicy::default();
        let waits: Vec<_> = std::iter::from_fn(|| patience.again(&throttled)).collect();
        assert_eq!(waits, [20, 40, 60, 60]);
    }

    #[test]
    fn somebody_elses_work_is_waited_for_two_minutes() {
        let busy = setback(&ran(1, "ERROR: (Conflict) Run command extension execution is in progress."));
        let mut patience = RetryPolicy::default();
        let waits: Vec<_> = std::iter::from_fn(|| patience.again(&busy)).collect();
        assert_eq!(waits, [20; 6]);
    }

    #[test]
    fn what_will_not_change_is_not_tried_again() {
        for text in ["ERROR: (AuthorizationFailed) no", "ERROR: Please run 'az login' to setup account."] {
            assert_eq!(RetryPolicy::default().again(&setback(&ran(1, text))), None, "{text}");
        }
    }
}
