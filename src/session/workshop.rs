//! Who does chores: work on files of this machine that a tool asks for.

use async_trait::async_trait;
use serde_json::json;

use crate::session::desk::Desk;
use crate::session::keep::keep;
use crate::session::{Engine, EngineError};
use ghost_investigate::decision::observed_file_task;
use ghost_investigate::event::Event;
use ghost_investigate::state::State;
use ghost_investigate::tool::FileTask;

/// Does chores. The same one may be asked for twice, where an owner was cut off before it was recorded.
#[async_trait]
pub trait Workshop: Send + Sync {
    /// Does it, and returns the text that comes of it.
    ///
    /// # Errors
    /// Says why it could not; that is recorded in place of the text.
    async fn work(&self, state: &State, chore: &FileTask) -> Result<String, String>;
}

/// Does nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoWorkshop;

#[async_trait]
impl Workshop for NoWorkshop {
    async fn work(&self, _state: &State, _chore: &FileTask) -> Result<String, String> {
        Err("there are no files here".to_owned())
    }
}

impl Engine {
    /// Does a chore, keeps what came of it, and records it.
    pub(super) async fn chore(
        &self,
        desk: &mut Desk<'_>,
        call: &str,
        chore: &FileTask,
    ) -> Result<(), EngineError> {
        let Some(state) = desk.state().cloned() else { return Ok(()) };
        let (done, lease) = keep(desk, self.kitchen.workshop.work(&state, chore)).await?;
        desk.lease = lease;
        let text = done.unwrap_or_else(|why| json!({ "error": why }).to_string());
        let digest =
            self.kitchen.evidence.keep(&text).map_err(|error| EngineError::Evidence(error.to_string()))?;
        let Some(call) = state.call_named(call) else { return Ok(()) };
        let bytes = u64::try_from(text.len()).unwrap_or(u64::MAX);
        let observed = observed_file_task(&state, call, chore, digest, bytes);
        desk.record(&[Event::Observed(observed)], 0).await
    }
}
