//! Asking in Slack about one call. Nothing is opened before somebody has to be asked: most calls are answered without.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;

use super::run::explained;
use crate::reach::Reach;
use ghost_session::outside::{About, OutsideAnswer, OutsideApprover};
use ghost_shell::{Approver, Choice, Decision, Request, Reviewer};

/// Asks in Slack, once somebody has to be asked.
pub(super) struct AsksInSlack {
    reach: Reach,
    about: About,
    patience: Duration,
    approver: Mutex<Option<Arc<OutsideApprover>>>,
}

impl AsksInSlack {
    /// Asks about something, and waits for as long as `patience`.
    pub(super) fn new(reach: Reach, about: About, patience: Duration) -> Self {
        Self { reach, about, patience, approver: Mutex::default() }
    }

    /// Says, for the model, what there is to do where nobody answered.
    pub(super) fn advice(&self) -> Option<String> {
        match self.opened()?.answer()? {
            OutsideAnswer::Pending { until, .. } => {
                let until = if until.is_empty() { String::new() } else { format!(" until {until}") };
                Some(format!(
                    "nobody answered in Slack within {} s; a human can still answer{until}, and a yes then counts once: do something else, and later propose exactly the same again",
                    self.patience.as_secs()
                ))
            }
            OutsideAnswer::Expired { reason } => Some(reason),
            OutsideAnswer::Granted(_) | OutsideAnswer::Denied { .. } | OutsideAnswer::Refused { .. } => None,
        }
    }

    fn opened(&self) -> Option<Arc<OutsideApprover>> {
        self.approver.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn open(&self) -> anyhow::Result<Arc<OutsideApprover>> {
        if let Some(approver) = self.opened() {
            return Ok(approver);
        }
        let client = self.reach.client().await?;
        let approver = Arc::new(OutsideApprover::new(client, self.about.clone(), self.patience));
        *self.approver.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&approver));
        Ok(approver)
    }
}

#[async_trait]
impl Approver for AsksInSlack {
    async fn decide(&self, request: &Request) -> Decision {
        match self.open().await {
            Ok(approver) => approver.decide(request).await,
            Err(error) => {
                let reason = format!("nobody can be asked in Slack: {}", explained(&error));
                Decision { choice: Choice::Deny { reason }, who: Reviewer::new("nobody") }
            }
        }
    }
}
