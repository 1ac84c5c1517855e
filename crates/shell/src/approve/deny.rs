//! The approver that stands where no human does.

use async_trait::async_trait;

use crate::{Approver, Choice, Decision, Request, Reviewer};

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
