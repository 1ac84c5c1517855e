//! A human in Slack as the approver of a gate.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;

use super::client::{Client, OutsideAnswer};
use ghost_investigate::event::{Impact, OutsideKind, OutsideRequest};
use ghost_investigate::outside::Granted;
use ghost_shell::{Approver, Choice, Decision, Request, Reviewer};

/// Whose request it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// The name of the agent, such as `Claude Code`.
    pub agent: String,
    /// The machine that it runs on.
    pub machine: String,
    /// The folder that it works in.
    pub folder: String,
    /// The agent's own name of its conversation; empty where it has none.
    pub conversation: String,
    /// What it wants to do.
    pub kind: OutsideKind,
    /// Why, in the agent's words.
    pub reasoning: String,
}

/// Asks a human in Slack, for one command. What could not be asked, or was not answered in time, is a no.
pub struct OutsideApprover {
    client: Client,
    about: About,
    patience: Duration,
    came: Mutex<Option<OutsideAnswer>>,
}

impl OutsideApprover {
    /// Asks for somebody, and waits for as long as `patience`.
    #[must_use]
    pub fn new(client: Client, about: About, patience: Duration) -> Self {
        Self { client, about, patience, came: Mutex::default() }
    }

    /// Returns what came of asking; nothing where nobody was asked, or could be.
    #[must_use]
    pub fn answer(&self) -> Option<OutsideAnswer> {
        self.came.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn request(&self, asked: &Request) -> OutsideRequest {
        let About { agent, machine, folder, conversation, kind, reasoning } = self.about.clone();
        OutsideRequest {
            agent,
            machine,
            folder,
            conversation,
            kind,
            text: asked.command.clone(),
            reasoning,
            rule: asked.ruling.rule.clone().into_owned(),
            reason: asked.ruling.reason.clone().into_owned(),
            impact: asked.ruling.impact.unwrap_or(Impact::Change),
        }
    }

    /// Answers about a text that a human put in the place of the one that was asked about.
    fn again(&self, asked: &Request) -> Decision {
        match self.answer() {
            Some(OutsideAnswer::Granted(granted)) if granted.changed && granted.text == asked.command => {
                Decision { choice: Choice::Approve, who: Reviewer::new(granted.by) }
            }
            Some(_) | None => deny("this is not what was approved"),
        }
    }
}

#[async_trait]
impl Approver for OutsideApprover {
    async fn decide(&self, asked: &Request) -> Decision {
        if asked.round > 1 {
            return self.again(asked);
        }
        let answer = match self.client.decide(&self.request(asked), self.patience).await {
            Ok(answer) => answer,
            Err(error) => return deny(&error.to_string()),
        };
        *self.came.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer.clone());
        match answer {
            OutsideAnswer::Granted(Granted { text, by, changed: false }) if text == asked.command => {
                Decision { choice: Choice::Approve, who: Reviewer::new(by) }
            }
            OutsideAnswer::Granted(Granted { text, by, changed: true }) => {
                Decision { choice: Choice::Modify { command: text }, who: Reviewer::new(by) }
            }
            OutsideAnswer::Granted(Granted { .. }) => deny("this is not what was approved"),
            OutsideAnswer::Denied { by, reason } => {
                let because = if reason.trim().is_empty() { String::new() } else { format!(": {reason}") };
                let reason = format!("denied by {by}{because}");
                Decision { choice: Choice::Deny { reason }, who: Reviewer::new(by) }
            }
            OutsideAnswer::Refused { reason } => deny(&reason),
            OutsideAnswer::Expired { .. } | OutsideAnswer::Pending { .. } => {
                Decision { choice: Choice::Expired, who: Reviewer::new("nobody") }
            }
        }
    }
}

fn deny(reason: &str) -> Decision {
    Decision { choice: Choice::Deny { reason: reason.to_owned() }, who: Reviewer::new("nobody") }
}
