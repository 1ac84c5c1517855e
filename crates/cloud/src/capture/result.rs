//! What an answer means. An answer that nobody waits for any more, or a second time, changes nothing.

use std::time::Duration;

use ghost_base::Timestamp;

use super::step::StepKind;
use super::target::{Check, Phase};
use super::task::CaptureTask;
use crate::operation::{CommandError, CommandOutcome};

impl CaptureTask {
    /// Takes the result of a command.
    pub fn on_result(&mut self, what: &StepKind, at: usize, answer: &CommandOutcome, now: Timestamp) {
        if at >= self.ends.len() {
            return;
        }
        match what {
            StepKind::Machine => self.on_check(at, &Check::Machine, answer, now),
            StepKind::Extensions => self.on_check(at, &Check::Extensions, answer, now),
            StepKind::Captures => self.on_check(at, &Check::Captures, answer, now),
            StepKind::Taken => self.on_check(at, &Check::Taken, answer, now),
            StepKind::Rival(name) => self.on_rival(at, name, answer, now),
            StepKind::Watchers => self.on_watchers(answer, now),
            StepKind::Account => self.on_account(answer, now),
            StepKind::Container => self.on_container(answer, now),
            StepKind::Create => self.on_create(at, answer, now),
            StepKind::Look => self.on_look(at, answer, now),
            StepKind::Status => self.on_status(at, answer, now),
            StepKind::Stop => self.on_stop(at, answer, now),
            StepKind::Size => self.on_size(at, answer, now),
            StepKind::Fetch => self.on_fetch(at, answer, now),
            StepKind::Delete => self.on_delete(at, false, answer),
            StepKind::DeleteBlob => self.on_delete(at, true, answer),
            StepKind::Confirm => self.on_confirm(at, answer, now),
            StepKind::ConfirmBlob => self.on_confirm_blob(at, answer, now),
        }
    }

    fn on_check(&mut self, at: usize, check: &Check, answer: &CommandOutcome, now: Timestamp) {
        let expected = Phase::Checking { check: check.clone() };
        if self.ends.get(at).is_none_or(|end| end.phase != expected) {
            return;
        }
        let done = match check {
            Check::Machine => self.on_machine(at, answer),
            Check::Extensions => self.on_extensions(at, answer),
            Check::Captures => self.on_captures(at, answer),
            Check::Taken => self.on_taken(at, answer),
            Check::Rivals(_) | Check::Passed => Ok(()),
        };
        if let Err(setback) = done {
            self.stumble(at, setback, now);
        }
    }

    /// Waits where that may help, and gives the end up where it does not.
    pub(super) fn stumble(&mut self, at: usize, setback: CommandError, now: Timestamp) {
        let Some(end) = self.ends.get_mut(at) else { return };
        match end.patience.again(&setback) {
            Some(seconds) => end.wait(now.plus(Duration::from_secs(seconds))),
            None => end.fail(setback.trouble),
        }
    }
}
