//! Several models in a row: where one cannot go on, the next one does.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::Instant;

use crate::model::{Answer, Ask, Investigator, Listener, Model, ModelError};

/// A model that failed so often in a row is left behind.
const FAILURES: u32 = 3;

/// For so long a session asks a model only once that failed another session, before it moves on: all of them need not wait for
/// what just did not come.
const ASKED_ONCE_FOR: Duration = Duration::from_secs(60);

/// A question that was shortened so often and is still called too long is another model's.
const SHORTENED: u32 = 2;

/// The least room for an answer, in tokens: a model that has less behind the fixed part of a request calls nothing.
const LEAST_ANSWER: u64 = 256;

/// A model that moves on to the next one where the first fails three times in a row, and stays there. Where asking again cannot help,
/// once is enough. Turns that call nothing that could be done are failures, too. A model whose window does not hold what every request holds
/// is not asked at all.
///
/// What moves on is one session: [`Model::for_session`] begins the next one with the first model. The carry of the model
/// before is ignored by the next one, as the port says. The first turn of the next one begins with a sentence that says so: it
/// stands in the record, and people read it.
pub struct Fallback {
    first: Arc<Candidate>,
    others: Vec<Arc<Candidate>>,
    /// How many were left behind.
    left: AtomicUsize,
}

/// One of several models, and what all sessions know about it.
struct Candidate {
    model: Arc<dyn Model>,
    /// When a session moved on because it failed; `None` once it has answered again.
    failed_at: Mutex<Option<Instant>>,
}

impl Candidate {
    fn new(model: Arc<dyn Model>) -> Arc<Self> {
        Arc::new(Self { model, failed_at: Mutex::default() })
    }

    fn note(&self, failed_at: Option<Instant>) {
        *self.failed_at.lock().unwrap_or_else(PoisonError::into_inner) = failed_at;
    }

    fn has_just_failed(&self) -> bool {
        let failed_at = *self.failed_at.lock().unwrap_or_else(PoisonError::into_inner);
        failed_at.is_some_and(|at| at.elapsed() < ASKED_ONCE_FOR)
    }
}

impl Fallback {
    /// Begins with the first.
    #[must_use]
    pub fn new(first: Arc<dyn Model>, others: Vec<Arc<dyn Model>>) -> Self {
        let others = others.into_iter().map(Candidate::new).collect();
        Self { first: Candidate::new(first), others, left: AtomicUsize::new(0) }
    }

    /// Finds how many stand before one; none where it is not among them.
    fn before(&self, investigator: &Investigator) -> Option<usize> {
        std::iter::once(&self.first).chain(&self.others).position(|candidate| {
            let other = candidate.model.investigator();
            other.provider == investigator.provider && other.model == investigator.model
        })
    }

    fn at(&self, left: usize) -> Option<&Arc<Candidate>> {
        match left.checked_sub(1) {
            None => Some(&self.first),
            Some(other) => self.others.get(other),
        }
    }

    /// Says why the model that stands at a place cannot take a question, however it is shortened.
    fn too_small(&self, left: usize, ask: &Ask) -> Option<String> {
        let window = u64::from(self.at(left)?.model.investigator().window);
        let fixed = ask.fixed_tokens();
        (fixed + LEAST_ANSWER > window).then(|| {
            format!("was not asked: every request has about {fixed} tokens, and its window holds {window}")
        })
    }

    /// Asks the model that stands at a place, again where that may help. Returns how often it failed, and how at last.
    async fn asked(
        &self,
        left: usize,
        ask: &Ask,
        listener: &dyn Listener,
    ) -> Result<Answer, (u32, ModelError)> {
        let candidate = self.at(left).unwrap_or(&self.first);
        // The last one has nobody behind it: whoever drives the session asks it again.
        let once = self.at(left + 1).is_none() || candidate.has_just_failed();
        let most = if once { 1 } else { FAILURES };
        let mut failures = 0;
        loop {
            let error = match candidate.model.answer(ask, listener).await {
                Ok(answer) => {
                    candidate.note(None);
                    return Ok(answer);
                }
                Err(error) => error,
            };
            failures += 1;
            if failures >= most || !may_pass(&error) {
                // What is too long for one session need not be for another.
                if moves_on(&error, ask) && !matches!(error, ModelError::TooLong { .. }) {
                    candidate.note(Some(Instant::now()));
                }
                return Err((failures, error));
            }
            listener.retry(&error, Duration::ZERO);
        }
    }
}

/// Tells whether another model may do what this one could not.
fn moves_on(error: &ModelError, ask: &Ask) -> bool {
    match error {
        // Whoever asks shortens the conversation first, where there is something to leave out.
        ModelError::TooLong { .. } => !ask.can_be_shorter() || ask.shortened >= SHORTENED,
        ModelError::ScriptOver { .. } => false,
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
fn announcement(gone: &Investigator, why: &str, next: &Investigator) -> String {
    format!("{} {why}. From here on {} goes on.", named(gone), named(next))
}

#[async_trait]
impl Model for Fallback {
    fn investigator(&self) -> Investigator {
        self.at(self.left.load(Ordering::Relaxed)).unwrap_or(&self.first).model.investigator()
    }

    fn for_session(&self, last: Option<&Investigator>) -> Option<Arc<dyn Model>> {
        let left = last.and_then(|last| self.before(last)).unwrap_or(0);
        let (first, others) = (Arc::clone(&self.first), self.others.clone());
        Some(Arc::new(Self { first, others, left: AtomicUsize::new(left) }))
    }

    async fn answer(&self, ask: &Ask, listener: &dyn Listener) -> Result<Answer, ModelError> {
        let mut left = self.left.load(Ordering::Relaxed);
        let mut moves: Vec<String> = Vec::new();
        let leave = |left: usize, why: &str, moves: &mut Vec<String>| {
            let (gone, next) = (self.at(left)?.model.investigator(), self.at(left + 1)?.model.investigator());
            moves.push(announcement(&gone, why, &next));
            self.left.fetch_max(left + 1, Ordering::Relaxed);
            Some(left + 1)
        };
        if ask.fruitless >= FAILURES {
            let why = format!("called nothing that could be done {} in a row", times(ask.fruitless));
            left = leave(left, &why, &mut moves).unwrap_or(left);
        }
        while let Some(next) = self.too_small(left, ask).and_then(|why| leave(left, &why, &mut moves)) {
            left = next;
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
            let last = if failures == 1 { "" } else { "the last time " };
            let why = format!("failed {}, {last}because {error}", times(failures));
            match moves_on(&error, ask).then(|| leave(left, &why, &mut moves)).flatten() {
                Some(next) => left = next,
                None => return Err(error),
            }
            while let Some(next) = self.too_small(left, ask).and_then(|why| leave(left, &why, &mut moves)) {
                left = next;
            }
            listener.retry(&error, Duration::ZERO);
        }
    }
}
