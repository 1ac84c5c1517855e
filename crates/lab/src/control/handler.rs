//! Orders that others add to the lab's own.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;

use super::lab::Lab;

/// Somebody who takes orders below `/lab/`.
#[async_trait]
pub trait OrderHandler: Send + Sync {
    /// Does what a call orders; nothing where it is not one of its own. It is asked before the lab itself.
    async fn call(&self, lab: &Arc<Lab>, name: &str, body: &Value) -> Option<Result<Value, OrderError>>;
}

/// An order that is not done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct OrderError {
    /// Why not.
    pub what: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl OrderError {
    /// Refuses.
    #[must_use]
    pub fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), hint: None }
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}
