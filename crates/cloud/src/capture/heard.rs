//! What an answer means. An answer that nobody waits for any more, or a second time, changes nothing.

use std::time::Duration;

use super::end::{Check, Phase};
use super::step::What;
use super::task::Task;
use crate::errand::Answer;
use crate::errand::Setback;
use ghost_base::Timestamp;

impl Task {
    /// Takes what came of a command.
    pub fn heard(&mut self, what: &What, at: usize, answer: &Answer, now: Timestamp) {
        if at >= self.ends.len() {
            return;
        }
        match what {
            What::Machine => self.on_check(at, &Check::Machine, answer, now),
            What::Extensions => self.on_check(at, &Check::Extensions, answer, now),
            What::Captures => self.on_check(at, &Check::Captures, answer, now),
            What::Taken => self.on_check(at, &Check::Taken, answer, now),
            What::Rival(name) => self.heard_rival(at, name, answer, now),
            What::Watchers => self.heard_watchers(answer, now),
            What::Account => self.heard_account(answer, now),
            What::Container => self.heard_container(answer, now),
            What::Create => self.heard_create(at, answer, now),
            What::Look => self.heard_look(at, answer, now),
            What::Status => self.heard_status(at, answer, now),
            What::Stop => self.heard_stop(at, answer, now),
            What::Size => self.heard_size(at, answer, now),
            What::Fetch => self.heard_fetch(at, answer, now),
            What::Delete => self.heard_delete(at, false, answer),
            What::DeleteBlob => self.heard_delete(at, true, answer),
            What::Confirm => self.heard_confirm(at, answer, now),
            What::ConfirmBlob => self.heard_confirm_blob(at, answer, now),
        }
    }

    fn on_check(&mut self, at: usize, check: &Check, answer: &Answer, now: Timestamp) {
        let expected = Phase::Checking { check: check.clone() };
        if self.ends.get(at).is_none_or(|end| end.phase != expected) {
            return;
        }
        let done = match check {
            Check::Machine => self.heard_machine(at, answer),
            Check::Extensions => self.heard_extensions(at, answer),
            Check::Captures => self.heard_captures(at, answer),
            Check::Taken => self.heard_taken(at, answer),
            Check::Rivals(_) | Check::Passed => Ok(()),
        };
        if let Err(setback) = done {
            self.stumble(at, setback, now);
        }
    }

    /// Waits where that may help, and gives the end up where it does not.
    pub(super) fn stumble(&mut self, at: usize, setback: Setback, now: Timestamp) {
        let Some(end) = self.ends.get_mut(at) else { return };
        match end.patience.again(&setback) {
            Some(seconds) => end.wait(now.plus(Duration::from_secs(seconds))),
            None => end.fail(setback.trouble),
        }
    }
}
