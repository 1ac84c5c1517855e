//! Several models in a row: where one cannot go on, the next one does.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;

use crate::model::{Answer, Ask, Investigator, Listener, Model, ModelError};

/// A model that failed so often in a row is left behind.
const FAILURES: u32 = 3;

/// A model that moves on to the next one where the first fails three times in a row, and stays there. Where asking again cannot help,
/// once is enough. Turns that call nothing that could be done are failures, too.
///
/// One belongs to one session: what one conversation has moved away from may be fine for another. The carry of the model
/// before is ignored by the next one, as the port says. The first turn of the next one begins with a sentence that says so: it
/// stands in the record, and people read it.
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
    pub fn resume(&self, investigator: &Investigator) {
        let at = |model: &Arc<dyn Model>| {
            let other = model.investigator();
            other.provider == investigator.provider && other.model == investigator.model
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

    /// Asks the model that stands at a place, again where that may help. Returns how often it failed, and how at last.
    async fn asked(
        &self,
        left: usize,
        ask: &Ask,
        listener: &dyn Listener,
    ) -> Result<Answer, (u32, ModelError)> {
        let model = self.at(left).unwrap_or(&self.first);
        // The last one has nobody behind it: whoever drives the session asks it again.
        let most = if self.at(left + 1).is_some() { FAILURES } else { 1 };
        let mut failures = 0;
        loop {
            let error = match model.answer(ask, listener).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            failures += 1;
            if failures >= most || !may_pass(&error) {
                return Err((failures, error));
            }
            listener.retry(&error, Duration::ZERO);
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

/// Tells whether the same question may be answered when it is asked again.
fn may_pass(error: &ModelError) -> bool {
    match error {
        ModelError::RateLimited { .. }
        | ModelError::Unavailable { .. }
        | ModelError::Timeout { .. }
        | ModelError::Unreadable { .. } => true,
        // A key does not become right, nor a request that is called wrong.
        ModelError::Unauthorized { .. }
        | ModelError::Rejected { .. }
        | ModelError::TooLong { .. }
        | ModelError::ScriptOver { .. } => false,
    }
}

/// Names a model for people.
fn named(investigator: &Investigator) -> String {
    match (investigator.provider.as_str(), investigator.model.as_str()) {
        ("playbook", _) => "the playbook".to_owned(),
        (provider, "") => provider.to_owned(),
        (provider, model) => format!("{provider} {model}"),
    }
}

fn times(count: u32) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        3 => "three times".to_owned(),
        more => format!("{more} times"),
    }
}

/// Says who was left behind, and why, and who goes on.
fn told(gone: &Investigator, why: &str, next: &Investigator) -> String {
    format!("{} {why}. From here on {} goes on.", named(gone), named(next))
}

#[async_trait]
impl Model for Fallback {
    fn investigator(&self) -> Investigator {
        self.at(self.left.load(Ordering::Relaxed)).unwrap_or(&self.first).investigator()
    }

    async fn answer(&self, ask: &Ask, listener: &dyn Listener) -> Result<Answer, ModelError> {
        let mut left = self.left.load(Ordering::Relaxed);
        let mut moves: Vec<String> = Vec::new();
        let leave = |left: usize, why: &str, moves: &mut Vec<String>| {
            let (gone, next) = (self.at(left)?.investigator(), self.at(left + 1)?.investigator());
            moves.push(told(&gone, why, &next));
            self.left.fetch_max(left + 1, Ordering::Relaxed);
            Some(left + 1)
        };
        if ask.fruitless >= FAILURES {
            let why = format!("called nothing that could be done {} in a row", times(ask.fruitless));
            left = leave(left, &why, &mut moves).unwrap_or(left);
        }
        loop {
            let (failures, error) = match self.asked(left, ask, listener).await {
                Ok(mut answer) if !moves.is_empty() => {
                    moves.push(std::mem::take(&mut answer.text));
                    answer.text = moves.join("\n\n").trim_end().to_owned();
                    return Ok(answer);
                }
                Ok(answer) => return Ok(answer),
                Err(failed) => failed,
            };
            let why = format!("failed {}, the last time because {error}", times(failures));
            match moves_on(&error).then(|| leave(left, &why, &mut moves)).flatten() {
                Some(next) => left = next,
                None => return Err(error),
            }
            listener.retry(&error, Duration::ZERO);
        }
    }
}
