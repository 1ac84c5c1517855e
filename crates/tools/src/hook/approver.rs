//! Who is asked about a tool call where nobody of the bot is.

use async_trait::async_trait;

use ghost_shell::{Approver, Choice, Decision, DenyAll, Request};

/// Denies everything, with the reason why it would have to be asked about.
#[derive(Debug, Clone, Copy)]
pub struct NobodyAsked;

#[async_trait]
impl Approver for NobodyAsked {
    async fn decide(&self, request: &Request) -> Decision {
        let Decision { who, .. } = DenyAll.decide(request).await;
        let reason =
            format!("it needs a human's consent ({}), and nobody is asked here", request.ruling.reason);
        Decision { choice: Choice::Deny { reason }, who }
    }
}
