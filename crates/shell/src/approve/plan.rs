//! Consent for the exact commands of one task.

use std::collections::VecDeque;

use crate::{Reviewer, Ruling};
use ghost_base::Digest;

/// One command of a plan, judged before anybody is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedCommand {
    /// The whole command.
    pub command: String,
    /// The gate's judgement.
    pub ruling: Ruling,
}

/// What is left of a consent to a plan: each command once at most, in order. It cannot be copied.
#[derive(Debug)]
pub struct Grant {
    digest: Digest,
    reviewer: Reviewer,
    left: VecDeque<String>,
}

impl Grant {
    /// Grants the commands of a plan. Only the gate does this, after an approval.
    pub(crate) fn new(
        digest: Digest,
        reviewer: Reviewer,
        commands: impl IntoIterator<Item = String>,
    ) -> Self {
        Self { digest, reviewer, left: commands.into_iter().collect() }
    }

    /// Uses up the consent for a command of the plan. Those before it are given up: they cannot run later.
    pub(crate) fn take(&mut self, command: &str) -> Option<Reviewer> {
        let at = self.left.iter().position(|next| next == command)?;
        self.left.drain(..=at);
        Some(self.reviewer.clone())
    }

    /// Returns the digest of the plan that was approved.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Returns how many commands are left.
    #[must_use]
    pub fn left(&self) -> usize {
        self.left.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grant_covers_each_command_once_and_in_order() {
        let mut grant =
            Grant::new(Digest::of("plan"), Reviewer::new("ana"), ["a", "b", "b"].map(str::to_owned));
        assert!(grant.take("c").is_none());
        assert!(grant.take("a").is_some());
        assert!(grant.take("a").is_none());
        assert!(grant.take("b").is_some());
        assert!(grant.take("b").is_some());
        assert_eq!(grant.left(), 0);
    }

    #[test]
    fn what_was_passed_over_cannot_run_later() {
        let mut grant =
            Grant::new(Digest::of("plan"), Reviewer::new("ana"), ["a", "b", "c"].map(str::to_owned));
        assert!(grant.take("c").is_some());
        assert!(grant.take("a").is_none() && grant.take("b").is_none() && grant.left() == 0);
    }
}
