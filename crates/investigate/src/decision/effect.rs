//! The effects that a driver performs, and what a decision needs.

use crate::event::{ApprovalRequested, Event, ModelAsked, StepId};
use crate::model::{Ask, Investigator};
use crate::state::State;
use crate::tool::{Evidence, FileTask, Registry};
use ghost_base::{Digest, Timestamp};
use ghost_shell::Policy;

/// One thing to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Record these.
    Record(Vec<Event>),
    /// Record that a model is asked, ask it, record its answer.
    Ask { asked: ModelAsked, ask: Box<Ask> },
    /// Record that a human is asked, then open the question.
    Request(ApprovalRequested),
    /// Use the consent up where one is named, record the intent unless it is recorded, record that it executes, run it,
    /// record its end.
    Execute {
        step: StepId,
        /// The question whose answer is used up.
        consumes: Option<String>,
        /// Whether the intent is recorded already.
        intended: bool,
    },
    /// Run these side by side, a bounded number at once: use the consent up where there is one, record the intent unless it is
    /// recorded, and that it executes, run it, record its end. All of them only read, or all of them were approved.
    ExecuteTogether { steps: Vec<StepId> },
    /// Use the consent up where one is named, let the gate note that somebody else runs it, record that they have it.
    HandOver {
        step: StepId,
        /// The question whose answer is used up.
        consumes: Option<String>,
        /// Who gets it.
        key: String,
    },
    /// Let the gate note that nothing ran, record the end.
    Refuse { step: StepId },
    /// Close the question with a no: the session is being stopped.
    Withdraw { approval: String },
    /// Do this on files of this machine, store the result as a text, record it as an observation of the call.
    FileTask { call: String, task: FileTask },
    /// Wait for what arrives, at most until then.
    Wait {
        /// When to look again by oneself.
        until: Option<Timestamp>,
    },
    /// Bring the report to whoever waits for it, record that.
    Deliver,
    /// There is nothing left to do.
    Rest,
}

/// What a decision needs beside the state.
#[derive(Clone, Copy)]
pub struct DecisionContext<'a> {
    /// By which commands are judged.
    pub policy: &'a Policy,
    pub tools: &'a Registry,
    pub evidence: &'a dyn Evidence,
    /// Who is going to be asked.
    pub investigator: &'a Investigator,
    /// What the operator adds to the system prompt.
    pub site: Option<&'a str>,
}

/// Returns the name of the question that is asked next about a step: opaque, and the same whoever computes it.
#[must_use]
pub fn approval_name(state: &State, step: StepId) -> String {
    let asked =
        state.step(step).map_or(0, |step| step.rounds.iter().map(|round| round.approvals.len()).sum());
    let (number, attempt) = (step.to_string(), asked.to_string());
    let digest =
        Digest::of_fields(["approval", state.session.as_str(), &state.opened.nonce, &number, &attempt])
            .to_string();
    digest.chars().take(24).collect()
}
