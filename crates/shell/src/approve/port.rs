//! The port through which a human answers.

use async_trait::async_trait;

use crate::{Request, Reviewer};

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
}
