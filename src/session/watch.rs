//! Who looks on, and who brings the report.

use std::time::Duration;

use async_trait::async_trait;

use crate::session::{EngineError, Rest};
use ghost_base::{SessionId, Timestamp};
use ghost_investigate::event::{Delivered, Recorded, StepId};
use ghost_investigate::state::State;

/// Looks on while a session is driven. Nothing depends on it.
pub trait Watcher: Send + Sync {
    /// Sees an event, and the state that it led to.
    fn recorded(&self, state: &State, event: &Recorded);
    /// Hears the model while it writes.
    fn words(&self, words: &str);
    /// Hears what keeps the session from going on: a provider that is asked again, a store that does not answer.
    fn trouble(&self, what: &str);
    /// Hears that a command still runs.
    fn running(&self, state: &State, step: StepId, since: Duration);
    /// Sees that this owner has a session now; `orphaned` where the owner before it went away without giving it back.
    fn began(&self, _session: &SessionId, _orphaned: bool) {}
    /// Sees that this owner is done with a session for now, and how that came; nothing where it was cut off.
    fn ended(&self, _session: &SessionId, _how: Option<&Result<Rest, EngineError>>) {}
    /// Sees when the incident reached Ghost that a session is about to be opened with.
    fn arrived(&self, _session: &SessionId, _at: Timestamp) {}
}

/// Looks at nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Quiet;

impl Watcher for Quiet {
    fn recorded(&self, _state: &State, _event: &Recorded) {}
    fn words(&self, _words: &str) {}
    fn trouble(&self, _what: &str) {}
    fn running(&self, _state: &State, _step: StepId, _since: Duration) {}
}

/// Tells whether commands may begin.
#[async_trait]
pub trait Brake: Send + Sync {
    /// Says why none may, if so. Who cannot find out says that, too.
    async fn held(&self) -> Option<String>;
}

/// Holds nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Free;

#[async_trait]
impl Brake for Free {
    async fn held(&self) -> Option<String> {
        None
    }
}

/// Brings the report to whoever waits for it. It may be asked twice for the same one.
#[async_trait]
pub trait Courier: Send + Sync {
    /// Brings it, and says where to.
    ///
    /// # Errors
    /// Says why it could not; it is asked again when the session is driven again.
    async fn deliver(&self, state: &State, report: &str) -> Result<String, String>;

    /// Makes what people are shown agree with the state, and returns what is now shown where it was not before. It is asked
    /// when an owner takes a session up, and before it gives the session back.
    ///
    /// # Errors
    /// Says why people are not shown it; it is asked again when the session is driven again.
    async fn settle(&self, _state: &State) -> Result<Vec<Delivered>, String> {
        Ok(Vec::new())
    }
}
