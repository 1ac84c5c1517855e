//! Several models in a row: where one cannot go on, the next one does.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;

use crate::agent::model::{Answer, Ask, Brain, Listener, Model, ModelError};

/// A model that moves on to the next one where asking again does not help, and stays there.
///
/// One belongs to one session: what one conversation has moved away from may be fine for another. The carry of the model
/// before is ignored by the next one, as the port says.
pub struct Fallback {
    first: Arc<dyn Model>,
    others: Vec<Arc<dyn Model>>,
    /// How many were left behind.
    left: AtomicUsize,
}

impl Fallback {
    /// Begins with the first.
    #[must_use]
    pub fn new(first: Arc<dyn Model>, others: Vec<Arc<dyn Model>>) -> Self {
        Self { first, others, left: AtomicUsize::new(0) }
    }

    /// Moves to whom a session that goes on was with; changes nothing where that one is not among them.
    pub fn resume(&self, brain: &Brain) {
        let at = |model: &Arc<dyn Model>| {
            let other = model.brain();
            other.provider == brain.provider && other.model == brain.model
        };
        if let Some(found) = std::iter::once(&self.first).chain(&self.others).position(at) {
            self.left.store(found, Ordering::Relaxed);
        }
    }

    fn at(&self, left: usize) -> Option<&Arc<dyn Model>> {
        match left.checked_sub(1) {
            None => Some(&self.first),
            Some(other) => self.others.get(other),
        }
    }
}

/// Tells whether another model may do what this one could not.
fn moves_on(error: &ModelError) -> bool {
    match error {
        // Whoever asks shortens the conversation; another model would be no reason to keep all of it.
        ModelError::TooLong { .. } | ModelError::ScriptOver { .. } => false,
        // Of these, those that pass were asked again before they came here.
        ModelError::RateLimited { .. }
        | ModelError::Unavailable { .. }
        | ModelError::Timeout { .. }
        | ModelError::Unauthorized { .. }
        | ModelError::Rejected { .. }
        | ModelError::Unreadable { .. } => true,
    }
}

#[async_trait]
impl Model for Fallback {
    fn brain(&self) -> Brain {
        self.at(self.left.load(Ordering::Relaxed)).unwrap_or(&self.first).brain()
    }

    async fn answer(&self, ask: &Ask, listener: &dyn Listener) -> Result<Answer, ModelError> {
        let mut left = self.left.load(Ordering::Relaxed);
        loop {
            let model = self.at(left).unwrap_or(&self.first);
            let error = match model.answer(ask, listener).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            if !moves_on(&error) || self.at(left + 1).is_none() {
                return Err(error);
            }
            left += 1;
            self.left.fetch_max(left, Ordering::Relaxed);
            listener.retry(&error, Duration::ZERO);
        }
    }
}
