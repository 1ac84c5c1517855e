//! Running a file task that a tool asks for, and recording what comes of it.

use serde_json::json;

use crate::session::owned::{OwnedSession, hold_lease};
use crate::session::{Engine, EngineError};
use ghost_investigate::event::Event;
use ghost_investigate::step::observed_chore;
use ghost_investigate::tool::Chore;

impl Engine {
    /// Runs a file task, keeps its result, and records it.
    pub(super) async fn chore(
        &self,
        owned: &mut OwnedSession<'_>,
        call: &str,
        chore: &Chore,
    ) -> Result<(), EngineError> {
        let Some(state) = owned.state().cloned() else { return Ok(()) };
        let (done, lease) = hold_lease(owned, self.file_tasks.run(&state, chore)).await?;
        owned.lease = lease;
        let text = done.unwrap_or_else(|why| json!({ "error": why.to_string() }).to_string());
        let digest = self.evidence.keep(&text).map_err(EngineError::Evidence)?;
        let Some(call) = state.call_named(call) else { return Ok(()) };
        let bytes = u64::try_from(text.len()).unwrap_or(u64::MAX);
        let observed = observed_chore(&state, call, chore, digest, bytes);
        owned.record(&[Event::Observed(observed)], 0).await
    }
}
