//! What a human is asked, what the answer may be, and the port through which it comes.

use async_trait::async_trait;

use crate::{PlannedCommand, Reviewer, Ruling};
use ghost_base::{Digest, SessionId};

/// One question: may this command, or these commands, run exactly as they stand here?
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The investigation that asks.
    pub session: SessionId,
    /// The whole command; for a plan, what it is for.
    pub command: String,
    /// Why the agent wants it, in its own words.
    pub reasoning: String,
    /// The gate's judgement. Its reason is the risk that is shown.
    pub ruling: Ruling,
    /// Which round this is, from 1: every modification is a new one.
    pub round: u32,
    /// The commands of a plan, in order; empty for a single command.
    pub plan: Vec<PlannedCommand>,
    /// An earlier run of this command was cut off by a crash, so that nobody knows whether it took effect.
    pub outcome_unknown: bool,
    /// As whom it will run, where that is known.
    pub identity: Option<String>,
    /// What it would do, as far as somebody has judged that: lines of text, the first of them the sum.
    pub forecast: Vec<String>,
}

impl Request {
    /// Returns the digest that binds an approval to exactly what was shown.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Self::bind(&self.command, &self.ruling, self.plan.iter().map(|step| step.command.as_str()))
    }

    /// Returns the digest that a request for this one command will have.
    #[must_use]
    pub fn digest_of(command: &str, ruling: &Ruling) -> Digest {
        Self::bind(command, ruling, std::iter::empty())
    }

    fn bind<'a>(command: &'a str, ruling: &'a Ruling, plan: impl Iterator<Item = &'a str>) -> Digest {
        let words = ruling.argv.iter().flatten().map(String::as_str);
        let form = if ruling.argv.is_some() { "words" } else { "text" };
        Digest::of_fields([form, command].into_iter().chain(words).chain(["plan"]).chain(plan))
    }

    /// Tells whether only a shell can run the command.
    #[must_use]
    pub fn needs_shell(&self) -> bool {
        self.plan.is_empty() && self.ruling.argv.is_none()
    }
}

/// What a human can answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// Run exactly what was shown, once.
    Approve,
    /// Run nothing.
    Deny {
        /// Why, in one line; it reaches whoever proposed the command.
        reason: String,
    },
    /// Judge this command instead, from the start.
    Modify {
        /// The whole new command.
        command: String,
    },
    /// Nobody answered in time.
    Expired,
}

/// An answer and who gave it. The gate notes the moment at which it arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// What was answered.
    pub choice: Choice,
    /// Who answered.
    pub who: Reviewer,
}

/// Asks a human. The gate treats an error, a panic and silence as a denial.
#[async_trait]
pub trait Approver: Send + Sync {
    /// Shows a request and waits for the answer.
    async fn decide(&self, request: &Request) -> Decision;

    /// Names the question whose approval lets this request run, for the audit; `None` if the approver names none.
    fn question(&self, _request: &Request) -> Option<String> {
        None
    }
}

/// Denies everything.
#[derive(Debug, Clone, Copy, Default)]
pub struct DenyAll;

#[async_trait]
impl Approver for DenyAll {
    async fn decide(&self, _request: &Request) -> Decision {
        let reason = "no human is there to approve".to_owned();
        Decision { choice: Choice::Deny { reason }, who: Reviewer::new("nobody") }
    }
}
