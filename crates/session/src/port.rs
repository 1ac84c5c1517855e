//! What an engine needs from outside: somebody who delivers reports, does work on files, freezes commands, waits and observes.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use crate::{DriveOutcome, EngineError};
use ghost_base::{Clock, SessionId, Timestamp};
use ghost_investigate::event::{Delivered, Recorded, StepId};
use ghost_investigate::state::State;
use ghost_investigate::tool::FileTask;

/// Is notified of what happens while a session is driven. Nothing depends on it.
pub trait Observer: Send + Sync {
    /// An event was recorded, and led to this state.
    fn recorded(&self, state: &State, event: &Recorded);
    /// The model wrote some words.
    fn words(&self, words: &str);
    /// Something keeps the session from going on: a provider that is asked again, a store that does not answer.
    fn trouble(&self, what: &str);
    /// A command still runs.
    fn running(&self, state: &State, step: StepId, since: Duration);
    /// A model still thinks about its turn.
    fn thinking(&self, _state: &State, _since: Duration) {}
    /// This owner has the session now; `orphaned` where the owner before it ended without giving it back.
    fn began(&self, _session: &SessionId, _orphaned: bool) {}
    /// This owner is done with the session for now; `how` is nothing where it was cut off.
    fn ended(&self, _session: &SessionId, _how: Option<&Result<DriveOutcome, EngineError>>) {}
    /// The incident that a session is about to be opened with reached Ghost at this moment.
    fn arrived(&self, _session: &SessionId, _at: Timestamp) {}
}

/// Ignores everything.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoObserver;

impl Observer for NoObserver {
    fn recorded(&self, _state: &State, _event: &Recorded) {}
    fn words(&self, _words: &str) {}
    fn trouble(&self, _what: &str) {}
    fn running(&self, _state: &State, _step: StepId, _since: Duration) {}
}

/// Tells whether commands may begin.
#[async_trait]
pub trait FreezeCheck: Send + Sync {
    /// Returns why no command may begin, if so. Where that cannot be found out, that is the reason.
    async fn frozen(&self) -> Option<String>;
}

#[derive(Debug, Clone, Copy, Default)]
pub struct NeverFrozen;

#[async_trait]
impl FreezeCheck for NeverFrozen {
    async fn frozen(&self) -> Option<String> {
        None
    }
}

/// Why a report, or what people are shown, did not arrive.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeliveryError {
    /// The service refused it, or did not answer.
    #[error("{0}")]
    Service(Box<dyn std::error::Error + Send + Sync>),
    /// A file could not be written.
    #[error("writing {}: {cause}", path.display())]
    File {
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// The engine delivers nowhere.
    #[error("there is nowhere to deliver reports to")]
    Nowhere,
}

impl DeliveryError {
    /// Makes an error of what a service answered.
    pub fn service(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Service(error.into())
    }
}

/// Delivers the report to whoever waits for it. It may be asked twice for the same one.
#[async_trait]
pub trait ReportDelivery: Send + Sync {
    /// Delivers it, and returns where to.
    ///
    /// # Errors
    /// Says why it could not; it is asked again when the session is driven again.
    async fn deliver(&self, state: &State, report: &str) -> Result<String, DeliveryError>;

    /// Makes what people are shown agree with the state, and returns what is now shown where it was not before. It is asked
    /// when an owner takes a session up, and before it gives the session back.
    ///
    /// # Errors
    /// Says why people are not shown it; it is asked again when the session is driven again.
    async fn reconcile(&self, _state: &State) -> Result<Vec<Delivered>, DeliveryError> {
        Ok(Vec::new())
    }
}

/// Delivers nothing: a session of an engine without a delivery stays undelivered.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoDelivery;

#[async_trait]
impl ReportDelivery for NoDelivery {
    async fn deliver(&self, _state: &State, _report: &str) -> Result<String, DeliveryError> {
        Err(DeliveryError::Nowhere)
    }
}

/// Why a file task failed. The text is recorded in place of a result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FileTaskError(String);

impl From<String> for FileTaskError {
    fn from(why: String) -> Self {
        Self(why)
    }
}

/// Does work on files of this machine that a tool asks for. The same task may be asked for twice, where an owner was cut off
/// before it was recorded.
#[async_trait]
pub trait FileTasks: Send + Sync {
    /// Does it, and returns the text that comes of it.
    ///
    /// # Errors
    /// Says why it could not; that is recorded in place of the text.
    async fn run(&self, state: &State, task: &FileTask) -> Result<String, FileTaskError>;
}

/// Refuses every task.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoFileTasks;

#[async_trait]
impl FileTasks for NoFileTasks {
    async fn run(&self, _state: &State, _task: &FileTask) -> Result<String, FileTaskError> {
        Err("there are no files here".to_owned().into())
    }
}

/// Waits for a moment. The wait may be given up before it comes.
#[async_trait]
pub trait Sleep: Send + Sync {
    /// Returns when it has come.
    async fn until(&self, at: Timestamp);
}

/// Waits as long as a clock says.
#[derive(Clone)]
pub struct ClockSleep(Arc<dyn Clock>);

impl ClockSleep {
    /// Takes the clock.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self(clock)
    }
}

#[async_trait]
impl Sleep for ClockSleep {
    async fn until(&self, at: Timestamp) {
        tokio::time::sleep(at.since(self.0.now())).await;
    }
}
