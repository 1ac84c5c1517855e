//! What went wrong, in a sentence, and what can be done about it.

use serde::{Deserialize, Serialize};

use super::answer::Answer;
use crate::guest::refused;
use crate::{Class, Failure, failure};

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trouble {
    /// What, in a sentence.
    pub text: String,
    /// What can be done about it.
    pub hint: Option<String>,
}

impl Trouble {
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

/// A command that brought nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setback {
    /// Of what kind; `None` where nothing ran.
    pub class: Option<Class>,
    /// What it was, in words.
    pub trouble: Trouble,
}

impl Setback {
    /// Says whether the same may go well in a moment.
    #[must_use]
    pub fn passes(&self) -> bool {
        self.class.is_some_and(Class::passes)
    }

    /// Says whether it is of a kind.
    #[must_use]
    pub fn is(&self, class: Class) -> bool {
        self.class == Some(class)
    }
}

/// Returns what a command printed. `doing` begins the sentence about what went wrong: "looking at web-1".
///
/// # Errors
/// Says why it brought nothing.
pub fn printed<'a>(answer: &'a Answer, doing: &str) -> Result<&'a str, Setback> {
    let (class, trouble) = match answer {
        Answer::Ran { exit: Some(0), stdout, stderr: _ } => return Ok(stdout),
        Answer::Ran { exit, stdout: _, stderr } => {
            let failure = refused(*exit, stderr).unwrap_or_else(|| failure(*exit, stderr));
            (Some(failure.class), told(doing, *exit, &failure))
        }
        Answer::Denied { reason, all: _ } => {
            let reason = if reason.is_empty() { "no reason was given" } else { reason };
            (None, Trouble::new(format!("{doing} was denied: {reason}")))
        }
        Answer::Refused { reason } => {
            (None, Trouble::new(format!("{doing}: the policy does not allow it: {reason}")))
        }
        Answer::NotRun { reason } => (None, Trouble::new(format!("{doing}: nothing ran: {reason}"))),
        Answer::Unknown { reason } => {
            (Some(Class::Unreachable), Trouble::new(format!("{doing} was cut off: {reason}")))
        }
    };
    Err(Setback { class, trouble })
}

fn told(doing: &str, exit: Option<i32>, failure: &Failure) -> Trouble {
    // A shell says 127 where a program is missing.
    if exit == Some(127) {
        let hint =
            "install it in a system folder, or name it in the configuration: [programs] az = \"/path/to/az\"";
        return Trouble::hinted(format!("{doing}: `az` cannot be started: {failure}"), hint);
    }
    let text = match failure.action() {
        Some(action) => format!("{doing}: the identity may not do {action}"),
        None => format!("{doing}: {failure}"),
    };
    Trouble { text, hint: failure.class.hint().map(str::to_owned) }
}

/// How often something that may go well in a moment is tried, and when next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Patience {
    tries: u32,
}

impl Patience {
    /// After so many tries it is given up.
    const MOST: u32 = 5;

    /// The same where somebody else is at work: that takes as long as it takes.
    const MOST_BUSY: u32 = 7;

    /// Says how many seconds to wait before it is tried again; `None` where that is no use.
    pub fn again(&mut self, setback: &Setback) -> Option<u64> {
        let busy = setback.is(Class::Busy);
        let most = if busy { Self::MOST_BUSY } else { Self::MOST };
        if !setback.passes() || self.tries + 1 >= most {
            return None;
        }
        self.tries += 1;
        let first = if setback.is(Class::Throttled) { 20 } else { 5 };
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

    fn ran(exit: i32, stderr: &str) -> Answer {
        Answer::Ran { exit: Some(exit), stdout: String::new(), stderr: stderr.to_owned() }
    }

    fn setback(answer: &Answer) -> Setback {
        printed(answer, "looking at web-1").unwrap_err()
    }

    #[test]
    fn the_missing_action_is_named() {
        let text = "ERROR: (AuthorizationFailed) The client 'a' with object id 'b' does not have authorization to perform action 'Microsoft.Network/networkWatchers/packetCaptures/write' over scope '/s'.";
        let told = setback(&ran(1, text)).trouble;
        assert_eq!(
            told.text,
            "looking at web-1: the identity may not do Microsoft.Network/networkWatchers/packetCaptures/write"
        );
        assert!(told.hint.unwrap().contains("deploy/azure"));
    }

    #[test]
    fn a_missing_az_says_where_to_name_it() {
        assert!(setback(&ran(127, "az: not found")).trouble.hint.unwrap().contains("[programs]"));
    }

    #[test]
    fn throttling_waits_longer_and_not_for_ever() {
        let throttled = setback(&ran(1, "ERROR: (TooManyRequests) The request is being throttled."));
        let mut patience = Patience::default();
        let waits: Vec<_> = std::iter::from_fn(|| patience.again(&throttled)).collect();
        assert_eq!(waits, [20, 40, 60, 60]);
    }

    #[test]
    fn somebody_elses_work_is_waited_for_two_minutes() {
        let busy = setback(&ran(1, "ERROR: (Conflict) Run command extension execution is in progress."));
        let mut patience = Patience::default();
        let waits: Vec<_> = std::iter::from_fn(|| patience.again(&busy)).collect();
        assert_eq!(waits, [20; 6]);
    }

    #[test]
    fn what_will_not_change_is_not_tried_again() {
        for text in ["ERROR: (AuthorizationFailed) no", "ERROR: Please run 'az login' to setup account."] {
            assert_eq!(Patience::default().again(&setback(&ran(1, text))), None, "{text}");
        }
    }
}
