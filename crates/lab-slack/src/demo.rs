//! The demo's control panel beside the conversation: pick a case, add faults to it.

use async_trait::async_trait;
use serde_json::Value;

/// What became of an order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OrderOutcome {
    /// What was done, for whoever ordered it.
    pub summary: String,
    /// What is said to the app at once, in the name of whoever ordered it.
    pub mention: Option<String>,
    /// What could be said to the app next.
    pub suggested: Option<String>,
}

/// Why an order was not carried out, in words for people.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct OrderError(String);

impl From<String> for OrderError {
    fn from(why: String) -> Self {
        Self(why)
    }
}

/// Something that is played in a workspace, beside what people say there. The page shows it, and takes orders for it.
#[async_trait]
pub trait DemoControl: Send + Sync {
    /// Returns what a newcomer could say first to the app.
    fn opening(&self) -> Option<String>;

    /// Returns what whoever reads a thread should know about the place, in a sentence; `None` where there is nothing.
    fn note(&self) -> Option<String> {
        None
    }

    /// Tells what can be ordered, and what is on.
    async fn look(&self) -> Value;

    /// Does what somebody ordered.
    ///
    /// # Errors
    /// Says in words for people why it was not done.
    async fn order(&self, order: &Value) -> Result<OrderOutcome, OrderError>;
}
