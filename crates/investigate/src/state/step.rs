//! A command on its way: proposed, judged, consented to, run.

use crate::event::{Classified, DeclaredScript, Done, Reply, StepId};
use ghost_base::Timestamp;

/// A command.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Its number.
    pub id: StepId,
    /// The call that it belongs to.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// The command as it was proposed.
    pub command: String,
    /// Why it was.
    pub reasoning: String,
    /// Which hypothesis it tests.
    pub hypothesis: Option<String>,
    /// The declared script behind it, where it is one.
    pub script: Option<DeclaredScript>,
    /// All commands that one consent covers, this one among them; empty where it stands alone.
    pub plan: Vec<String>,
    /// When it was proposed.
    pub at: Timestamp,
    /// The judgements: one, and one more for each modification.
    pub rounds: Vec<Round>,
    /// Where it stands.
    pub phase: Phase,
    /// The questions whose answers were used to run it: its own, or that of the plan that it is part of.
    pub consents: Vec<String>,
    /// Whether a run of it was cut off, so that nobody knows whether it took effect.
    pub outcome_unknown: bool,
    /// How it ended.
    pub done: Option<Done>,
    /// When it ended.
    pub done_at: Option<Timestamp>,
}

/// A judgement, and what humans said to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Round {
    /// The judgement.
    pub classified: Classified,
    /// The questions that were asked about it, by name: more than one where an outcome was unknown.
    pub approvals: Vec<String>,
}

/// Where a command stands.
#[derive(Debug, Clone, PartialEq)]
pub enum Phase {
    /// It was proposed and not judged yet.
    Proposed,
    /// It was judged.
    Judged,
    /// A human is asked.
    AwaitingApproval {
        /// The question.
        approval: String,
    },
    /// A human answered.
    Decided {
        /// The question.
        approval: String,
        /// The answer.
        answer: Reply,
        /// Who gave it.
        who: String,
        /// When.
        at: Timestamp,
    },
    /// Nobody answered.
    Expired {
        /// The question.
        approval: String,
    },
    /// The consent is used up, and nothing ran yet.
    Intended {
        /// The question whose answer was used up.
        approval: Option<String>,
    },
    /// It runs, or ran when its owner went away.
    Executing {
        /// The fencing number of the owner.
        epoch: u64,
    },
    /// Nobody knows whether it had an effect.
    Unknown,
    /// It is over.
    Done,
}

/// A command that a human would not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denial {
    /// The step.
    pub step: StepId,
    /// The command as it was shown last.
    pub command: String,
    /// Which hypothesis it was for.
    pub hypothesis: Option<String>,
    /// What the human said.
    pub reason: String,
}

impl Step {
    /// Takes a judgement in. One more about the same round says what the gate found, and takes the place of the one before.
    pub(super) fn judge(&mut self, classified: Classified) {
        match self.rounds.last_mut().filter(|last| last.classified.round == classified.round) {
            Some(last) => last.classified = classified,
            None => self.rounds.push(Round { classified, approvals: Vec::new() }),
        }
        self.phase = Phase::Judged;
    }

    /// Returns the latest judgement.
    #[must_use]
    pub fn round(&self) -> Option<&Round> {
        self.rounds.last()
    }

    /// Returns the command as it stands now.
    #[must_use]
    pub fn current(&self) -> &str {
        self.round().map_or(&self.command, |round| &round.classified.command)
    }

    /// Returns the declared script behind it, as long as no human put another command in its place.
    #[must_use]
    pub fn scripted(&self) -> Option<&DeclaredScript> {
        self.script.as_ref().filter(|_| self.rounds.len() < 2)
    }

    /// Returns the question that was asked last about the command as it stands now.
    #[must_use]
    pub fn asked(&self) -> Option<&str> {
        self.round()?.approvals.last().map(String::as_str)
    }

    /// Tells whether it ran to its end, whatever it returned.
    #[must_use]
    pub fn is_completed(&self) -> bool {
        self.done.as_ref().is_some_and(|done| done.status == "completed")
    }

    /// Tells whether a human denied it.
    #[must_use]
    pub fn is_denied(&self) -> bool {
        self.done.as_ref().is_some_and(|done| done.action == "user_denied")
    }
}
